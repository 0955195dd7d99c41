"""SQLite: one file, one writer thread, several readers; several processes may share the file."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import date, datetime
from pathlib import Path
from typing import TypeVar

from hindsight_memory.domain import ApiKey, Proof, Scope, utc_now
from hindsight_memory.settings import GraphSettings, StoreSettings, WordSettings
from hindsight_memory.store import jobs, keys, sql, sqlite_scrub, upkeep, work
from hindsight_memory.store.base import Due, Space, Stage, Terms
from hindsight_memory.store.rows import Bank
from hindsight_memory.store.sqlite_bank import SQLiteReader, SQLiteTx
from hindsight_memory.store.sqlite_engine import SQLiteEngine
from hindsight_memory.store.sqlite_file import commit, drive, roll_back

T = TypeVar("T")


class SQLiteStore:
    """The store contract over one SQLite file. Made by ``open``."""

    def __init__(self, engine: SQLiteEngine) -> None:
        self._engine = engine

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

    async def claim(self, stage: Stage, holder: str, terms: Terms, bank: str | None = None) -> list[Due]:
        """See ``Store.claim``."""
        now = self._engine.clock()
        if not await self._engine.read(lambda connection: drive(connection, work.anything(stage, terms, bank, now))):
            return []  # nothing to write, so the other processes need not wait
        return await self._engine.alone(work.claim(stage, holder, terms, bank, now))

    async def renew(self, stage: Stage, holder: str, lease_s: float) -> None:
        """See ``Store.renew``."""
        await self._engine.alone(work.renew(stage, holder, lease_s, self._engine.clock()))

    async def give_back(self, gone: Callable[[str], bool]) -> None:
        """See ``Store.give_back``."""
        now = self._engine.clock()
        holders = await self._engine.read(lambda connection: drive(connection, work.holders(now)))
        if ended := [holder for holder in holders if gone(holder)]:
            await self._engine.alone(work.give_back(ended))

    async def use_spaces(self, spaces: Sequence[Space]) -> int:
        """See ``Store.use_spaces``."""
        held = await self._engine.read(lambda connection: drive(connection, work.spaces()))
        if [space for _, wanted, space in held if wanted] != list(spaces):
            await self._engine.alone(work.use_spaces(spaces))
        return await self._engine.read(lambda connection: drive(connection, work.lacking_vectors()))

    async def spaces(self) -> list[Space]:
        """See ``Store.spaces``."""
        held = await self._engine.read(lambda connection: drive(connection, work.spaces()))
        return [space for _, _, space in held]

    async def due(self, stage: Stage, terms: Terms, bank: str | None = None) -> int:
        """See ``Store.due``."""
        return await self._engine.read(lambda connection: drive(connection, work.due(stage, terms, bank)))

    async def spend(self, day: date, tokens: int, memories: int) -> tuple[int, int]:
        """See ``Store.spend``."""
        if tokens or memories:
            return await self._engine.alone(jobs.spend(day, tokens, memories))
        return await self._engine.read(lambda connection: drive(connection, jobs.spent(day)))

    async def banks(self, namespace: str | None, after: str | None, limit: int) -> list[Scope]:
        """See ``Store.banks``."""
        return await self._engine.read(lambda connection: drive(connection, upkeep.banks(namespace, after, limit)))

    async def key_of(self, digest: str) -> ApiKey | None:
        """See ``KeyStore.key_of``."""
        return await self._engine.read(lambda connection: drive(connection, keys.key_of(digest)))

    async def key(self, key_id: str) -> ApiKey | None:
        """See ``KeyStore.key``."""
        return await self._engine.read(lambda connection: drive(connection, keys.key(key_id)))

    async def keys(self, namespace: str | None, after: str | None, limit: int) -> list[ApiKey]:
        """See ``KeyStore.keys``."""
        return await self._engine.read(lambda connection: drive(connection, keys.keys(namespace, after, limit)))

    async def working_keys(self, now: datetime) -> bool:
        """See ``KeyStore.working_keys``."""
        return await self._engine.read(lambda connection: drive(connection, keys.working_keys(now)))

    async def used_keys(self, used: Mapping[str, datetime]) -> None:
        """See ``KeyStore.used_keys``."""
        await self._engine.alone(keys.used_keys(used))

    async def lead(self, role: str, holder: str, lease_s: float) -> str:
        """See ``Store.lead``."""
        now = self._engine.clock()
        held = await self._engine.read(lambda connection: drive(connection, upkeep.leader(role, now, lease_s)))
        if held not in (None, holder):
            return held  # nothing to write, so the other processes need not wait
        return await self._engine.alone(upkeep.lead(role, holder, now, lease_s))

    async def resign(self, role: str, holder: str) -> None:
        """See ``Store.resign``."""
        await self._engine.alone(upkeep.resign(role, holder))

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
