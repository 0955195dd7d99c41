"""Idempotency-Key: a write repeated within ten minutes gets its first reply, and is done once."""

from __future__ import annotations

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from starlette.responses import Response

from hindsight_memory.errors import InvalidInput
from hindsight_memory.guard.access import Principal

_KEPT_S: Final = 600.0
_KEPT: Final = 1_000
_CALLERS: Final = 1_000
_KEY_CHARS: Final = 255


@dataclass(frozen=True, slots=True)
class _Answer:
    digest: bytes
    until: float
    reply: asyncio.Future[Response]


class Replies:
    """The replies that this process remembers, for each of its latest callers the latest thousand.

    A caller meets its own only: another may not do what was done, nor see what came of it.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[Principal, OrderedDict[str, _Answer]] = OrderedDict()

    async def once(
        self, caller: Principal, key: str, request: bytes, act: Callable[[], Awaitable[Response]]
    ) -> Response:
        """The first reply to this key, or that of ``act`` now. What failed is not kept and may be tried again.

        Raises ``InvalidInput`` when the key came with another request before.
        """
        if not 1 <= len(key) <= _KEY_CHARS:
            raise InvalidInput(f"Idempotency-Key must have 1 to {_KEY_CHARS} characters.", field="Idempotency-Key")
        kept = self._kept.setdefault(caller, OrderedDict())
        self._kept.move_to_end(caller)
        while len(self._kept) > _CALLERS:
            self._kept.popitem(last=False)
        loop = asyncio.get_running_loop()
        digest = hashlib.sha256(request).digest()
        known = kept.get(key)
        if known is not None and known.until > loop.time():
            if known.digest != digest:
                hint = "Use a new key for each request, or none."
                raise InvalidInput(
                    "This Idempotency-Key came with another request.", hint=hint, field="Idempotency-Key"
                )
            return await asyncio.shield(known.reply)
        # The work belongs to the key, not to the connection that asked first: when that breaks off, a repeat
        # still gets its reply.
        task = asyncio.ensure_future(act())
        task.add_done_callback(lambda done: _drop_failed(kept, key, done))
        kept[key] = _Answer(digest, loop.time() + _KEPT_S, task)
        kept.move_to_end(key)
        while len(kept) > _KEPT:
            kept.popitem(last=False)
        return await asyncio.shield(task)

    def drop(self, caller: Principal, keep: str | None) -> None:
        """Remember no reply from where this caller may act, but the one to this key of its own."""
        for other, kept in self._kept.items():
            if None in (caller.namespace, other.namespace) or caller.namespace == other.namespace:
                for key in [key for key in kept if (other, key) != (caller, keep)]:
                    del kept[key]


def _drop_failed(kept: OrderedDict[str, _Answer], key: str, reply: asyncio.Future[Response]) -> None:
    failed = reply.cancelled() or reply.exception() is not None
    if failed and key in kept and kept[key].reply is reply:
        del kept[key]
