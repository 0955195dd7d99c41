"""A bank of a SQLite file as it was at one moment, on a connection of its own."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import TypeVar

from hindsight_memory.store import sql
from hindsight_memory.store.rows import Bank, Plan
from hindsight_memory.store.sqlite_bank import SQLiteReader
from hindsight_memory.store.sqlite_engine import SQLiteEngine
from hindsight_memory.store.sqlite_file import drive, explained

T = TypeVar("T")


class SQLiteSnapshot(SQLiteReader):
    """A reader whose answers are all of one moment; what it is asked of vectors is of now."""

    def __init__(self, engine: SQLiteEngine, bank_id: str) -> None:
        super().__init__(engine, bank_id)
        self._thread = ThreadPoolExecutor(1, "hindsight-memory-snapshot")
        self._connection: sqlite3.Connection | None = None
        self._number: int | None = None

    async def begin(self) -> None:
        """Fix the moment."""
        await self._on_thread(self._begin)

    async def end(self) -> None:
        """Let go of it."""
        await asyncio.shield(self._on_thread(self._end))
        self._thread.shutdown(wait=False)

    def _begin(self) -> None:
        self._connection = self._engine.further()
        self._connection.execute("PRAGMA query_only = ON")
        self._connection.execute("BEGIN")
        self._number = drive(self._connection, sql.number_of(self._bank_id))

    def _end(self) -> None:
        if self._connection is not None:
            self._connection.close()

    async def _ask(self, plan: Callable[[Bank], Plan[T]], empty: T) -> T:
        def look() -> T:
            if self._number is None or self._connection is None:
                return empty
            return drive(self._connection, plan(Bank(self._bank_id, self._number)))

        return await self._on_thread(look)

    async def _on_thread(self, call: Callable[[], T]) -> T:
        def run() -> T:
            with explained(self._engine.path):
                return call()

        return await asyncio.get_running_loop().run_in_executor(self._thread, run)


@asynccontextmanager
async def snapshot(engine: SQLiteEngine, bank_id: str) -> AsyncIterator[SQLiteSnapshot]:
    """See ``Store.snapshot``."""
    reader = SQLiteSnapshot(engine, bank_id)
    try:
        await reader.begin()
        yield reader
    finally:
        await reader.end()
