"""Every verb tested here is watched: what a transaction changes must stand in the log, written by the same one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import pytest

from hindsight_memory.domain import Scope
from hindsight_memory.store.sqlite import SQLiteStore


class WatchedTx:
    """A transaction that remembers what it changed and what it wrote down."""

    def __init__(self, tx: Any) -> None:
        self._tx = tx
        self.changed: set[str] = set()
        self.told: set[str] = set()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tx, name)

    async def add(self, memory: Any, marks: Any) -> None:
        self.changed.add(memory.id)
        await self._tx.add(memory, marks)

    async def change(self, memory: Any, marks: Any = None, **fields: Any) -> Any:
        self.changed.add(memory.id)
        return await self._tx.change(memory, marks, **fields)

    async def change_all(self, memories: Any, **fields: Any) -> Any:
        self.changed |= {memory.id for memory in memories}
        return await self._tx.change_all(memories, **fields)

    async def set_tier(self, ids: Any, tier: Any) -> None:
        self.changed |= set(ids)
        await self._tx.set_tier(ids, tier)

    async def erase(self, ids: Any) -> Any:
        self.changed |= set(ids)
        return await self._tx.erase(ids)

    async def record(self, events: Any) -> None:
        for event in events:
            self.told |= {event.memory_id, *event.detail.get("related", ())}
        await self._tx.record(events)


@pytest.fixture(autouse=True)
def _watched(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = SQLiteStore.transaction

    def transaction(self: SQLiteStore, scope: Scope) -> AbstractAsyncContextManager[Any]:
        @asynccontextmanager
        async def watched() -> AsyncIterator[WatchedTx]:
            async with plain(self, scope) as tx:
                seen = WatchedTx(tx)
                yield seen
                assert seen.changed <= seen.told, "a memory was changed and the log does not say so"

        return watched()

    monkeypatch.setattr(SQLiteStore, "transaction", transaction)
