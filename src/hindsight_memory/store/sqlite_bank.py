"""One bank of a SQLite file: to read, and to change within a transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from hindsight_memory.store import search, sql, upkeep
from hindsight_memory.store.bank import BankReader, BankTx
from hindsight_memory.store.base import Scored, Vector, Where
from hindsight_memory.store.rows import Bank, Plan
from hindsight_memory.store.sqlite_engine import SQLiteEngine
from hindsight_memory.store.sqlite_file import drive

T = TypeVar("T")


class SQLiteReader(BankReader):
    """One bank, to read."""

    def __init__(self, engine: SQLiteEngine, bank_id: str) -> None:
        self._engine: SQLiteEngine = engine
        self._bank_id = bank_id

    async def search_vector(self, space: str, vector: Vector, where: Where, limit: int) -> list[Scored]:
        """See ``Reader.search_vector``. Sees what is committed, inside a transaction too."""

        def look(connection: sqlite3.Connection) -> list[Scored]:
            bank = self._engine.bank(connection, self._bank_id)
            if bank is None:
                return []
            wide = 4 * limit
            while True:
                ranked = self._engine.nearest(connection, bank, space, vector, wide)
                found = drive(connection, search.first_allowed(bank, ranked, where, limit))
                if len(found) >= limit or len(ranked) < wide:
                    return found
                wide *= 16

        return await self._engine.read(look)

    async def vectors(self, space: str, ids: Sequence[str]) -> Mapping[str, Vector]:
        """See ``Reader.vectors``. Sees what is committed, inside a transaction too."""

        def look(connection: sqlite3.Connection) -> Mapping[str, Vector]:
            bank = self._engine.bank(connection, self._bank_id)
            if bank is None:
                return {}
            rows = drive(connection, sql.rows_of(bank, ids))
            with self._engine.matrix(connection, bank, space) as matrix:
                held = {} if matrix is None else matrix.of(rows)
            return {rows[row]: vector for row, vector in held.items()}

        return await self._engine.read(look)

    async def alike(self, space: str, ids: Sequence[str], limit: int) -> Mapping[str, list[str]]:
        """See ``Reader.alike``. Sees what is committed, inside a transaction too."""

        def look(connection: sqlite3.Connection) -> Mapping[str, list[str]]:
            bank = self._engine.bank(connection, self._bank_id)
            if bank is None:
                return {}
            rows = drive(connection, sql.rows_of(bank, ids))
            gone = drive(connection, upkeep.deleted(bank))
            with self._engine.matrix(connection, bank, space) as matrix:
                near = {} if matrix is None else matrix.alike(list(rows), limit, gone)
            known = drive(connection, upkeep.active_of(bank, list({row for found in near.values() for row in found})))
            return {rows[row]: [known[each] for each in found if each in known] for row, found in near.items()}

        return await self._engine.read(look)

    async def _ask(self, plan: Callable[[Bank], Plan[T]], empty: T) -> T:
        def look(connection: sqlite3.Connection) -> T:
            bank = self._engine.bank(connection, self._bank_id)
            return empty if bank is None else drive(connection, plan(bank))

        return await self._engine.read(look)


class SQLiteTx(BankTx, SQLiteReader):
    """One transaction on one bank."""

    def __init__(self, engine: SQLiteEngine, bank: Bank) -> None:
        super().__init__(engine, bank.id)
        self._bank = bank

    async def _do(self, plan: Plan[T]) -> T:
        return await self._engine.write(lambda connection: drive(connection, plan))
