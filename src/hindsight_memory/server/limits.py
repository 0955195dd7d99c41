"""How much one caller may ask for, and all of them together: token buckets, and room, in this process."""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Final

from starlette.responses import Response

from hindsight_memory.errors import Overloaded
from hindsight_memory.server.problems import problem

_MINUTE_S: Final = 60.0
_REMEMBERED: Final = 10_000


class Slower(Overloaded):
    """Too much at once; ``wait`` is in how many seconds the same call may work."""

    def __init__(self, message: str, wait: int) -> None:
        super().__init__(message, hint=f"Try again in {wait} s.")
        self.wait = wait


def refusal(error: Slower) -> Response:
    """The reply that says so, and when."""
    return problem(error, headers={"Retry-After": str(error.wait)})


class Buckets:
    """A bucket of tokens for each caller: full at first, refilled within a minute. 0 a minute is no limit.

    Of more callers than are remembered, those that were not heard of longest begin anew.
    """

    def __init__(self, a_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.size = float(a_minute)
        self._clock = clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, caller: str, tokens: float = 1.0) -> int:
        """Take tokens; returns 0, or the whole seconds to wait where there are not enough, and takes none.

        What is more than a whole bucket is let through by a full one, which it empties: a limit of bytes is one of
        their rate, and the longest request is bounded elsewhere.
        """
        if not self.size:
            return 0
        left, wanted = self._now(caller), min(tokens, self.size)
        if left < wanted:
            return max(1, math.ceil((wanted - left) * _MINUTE_S / self.size))
        self._left[caller] = (left - wanted, self._clock())
        self._left.move_to_end(caller)
        while len(self._left) > _REMEMBERED:
            self._left.popitem(last=False)
        return 0

    def empty(self, caller: str) -> int:
        """The whole seconds until there is a token, 0 where there is one; it takes none."""
        left = self._now(caller) if self.size else 1.0
        return 0 if left >= 1 else max(1, math.ceil((1 - left) * _MINUTE_S / self.size))

    def _now(self, caller: str) -> float:
        left, since = self._left.get(caller, (self.size, 0.0))
        return min(self.size, left + (self._clock() - since) * self.size / _MINUTE_S)


class Room:
    """How much the server holds at a time: bytes of requests that are being answered, and these requests.

    What finds no room is refused and not queued: a queue would hold it too, until memory runs out.
    """

    def __init__(self, most_bytes: int, requests: int) -> None:
        self.most_bytes = most_bytes
        self.requests = requests
        self._bytes = 0
        self._answering = 0

    @contextmanager
    def held(self) -> Iterator[Callable[[int], None]]:
        """A function that takes room for so many bytes more, given back at the end; it raises ``Slower``."""
        held = 0

        def take(size: int) -> None:
            nonlocal held
            if self._bytes + size > self.most_bytes:
                raise Slower("The server is reading as much as it can hold.", 1)
            self._bytes += size
            held += size

        try:
            yield take
        finally:
            self._bytes -= held

    @contextmanager
    def answering(self) -> Iterator[None]:
        """One request being answered. Raises ``Slower`` where there are as many as there may be."""
        if self._answering >= self.requests:
            raise Slower("The server is answering as many requests as it can.", 1)
        self._answering += 1
        try:
            yield
        finally:
            self._answering -= 1


def place_of(address: str) -> str:
    """Where an attempt comes from: an address, or the network of one of version 6, which a customer has to itself."""
    try:
        found = ip_address(address)
    except ValueError:
        return address[:100]
    if isinstance(found, IPv6Address) and found.ipv4_mapped is None:
        return str(ip_network((found, 64), strict=False))
    return str(found)
