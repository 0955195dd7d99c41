"""How much one caller may ask for: token buckets in this process, as many as are remembered and no more."""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable
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


def place_of(address: str) -> str:
    """Where an attempt comes from: an address, or the network of one of version 6, which a customer has to itself."""
    try:
        found = ip_address(address)
    except ValueError:
        return address[:100]
    if isinstance(found, IPv6Address) and found.ipv4_mapped is None:
        return str(ip_network((found, 64), strict=False))
    return str(found)
