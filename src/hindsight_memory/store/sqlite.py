"""SQLite: one file, one writer thread, several readers; several processes may share the file."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import datetime
from pathlib import Path

from hindsight_memory.domain import Proof, Scope, utc_now
from hindsight_memory.settings import GraphSettings, StoreSettings, WordSettings
from hindsight_memory.store import sql, sqlite_scrub
from hindsight_memory.store.plan_store import PlanStore
from hindsight_memory.store.rows import Bank
from hindsight_memory.store.sqlite_bank import SQLiteReader, SQLiteTx
from hindsight_memory.store.sqlite_engine import SQLiteEngine
from hindsight_memory.store.sqlite_file import commit, roll_back
from hindsight_memory.store.sqlite_snapshot import snapshot


class SQLiteStore(PlanStore):
    """The store contract over one SQLite file. Made by ``open``."""

    def __init__(self, engine: SQLiteEngine) -> None:
        self._engine: SQLiteEngine = engine

    @classmethod
    async def open(
        cls,
        path: Path,
        settings: StoreSettings,
        words: WordSettings,
        clock: Callable[[], datetime] = utc_now,
        graph: GraphSettings | None = None,
    ) -> SQLiteStore:
        """Open the file, made when it does not exist, and bring its schema up to date.

        Raises ``Unavailable`` when the file cannot be used, with what to do; it is then left as it was.
        """
        engine = SQLiteEngine(path, settings, words, clock, graph or GraphSettings())
        try:
            await engine.write(lambda _: None)
        except BaseException:
            await engine.close()
            raise
        return cls(engine)

    def reading(self, bank: str) -> SQLiteReader:
        """See ``Store.reading``."""
        return SQLiteReader(self._engine, bank)

    def snapshot(self, bank: str) -> AbstractAsyncContextManager[SQLiteReader]:
        """See ``Store.snapshot``."""
        return snapshot(self._engine, bank)

    @asynccontextmanager
    async def transaction(self, scope: Scope) -> AsyncIterator[SQLiteTx]:
        """See ``Store.transaction``."""
        async with self._engine.turn:
            try:
                # Cancelled while it waits for another process, it begins all the same: so it is inside the try.
                number = await self._engine.write(
                    lambda connection: self._engine.begin(connection, sql.open_bank(scope, self._engine.clock()))
                )
                yield SQLiteTx(self._engine, Bank(scope.bank, number))
            except BaseException:
                await asyncio.shield(self._engine.write(roll_back))
                raise
            await asyncio.shield(self._engine.write(commit))

    async def scrub(self, samples: Sequence[str] = (), *, compact: bool = False) -> Proof:
        """See ``Store.scrub``."""
        return await sqlite_scrub.scrub(self._engine, samples, compact=compact)

    async def check(self) -> list[str]:
        """See ``Store.check``."""

        def look(connection: sqlite3.Connection) -> list[str]:
            faults = [row[0] for row in connection.execute("PRAGMA quick_check(20)") if row[0] != "ok"]
            faults += [
                f"a line of {row[0]} points at nothing" for row in connection.execute("PRAGMA foreign_key_check")
            ]
            return faults

        return await self._engine.read(look)

    async def close(self) -> None:
        """See ``Store.close``."""
        await self._engine.close()
