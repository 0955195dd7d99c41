"""One bank of a SQLite file: to read, and to change within a transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from hindsight_memory.domain import Event, Memory, Relation, Window
from hindsight_memory.store import graph, search, sql, work
from hindsight_memory.store.base import BankStats, Erased, Marks, Scored, Vector, Where
from hindsight_memory.store.rows import Plan
from hindsight_memory.store.sql import Bank
from hindsight_memory.store.sqlite_engine import SQLiteEngine
from hindsight_memory.store.sqlite_file import drive

T = TypeVar("T")


class SQLiteReader:
    """One bank, to read."""

    def __init__(self, engine: SQLiteEngine, bank_id: str) -> None:
        self._engine = engine
        self._bank_id = bank_id

    async def get(self, ids: Sequence[str]) -> list[Memory]:
        """See ``Reader.get``."""
        return await self._ask(lambda bank: sql.get(bank, ids), [])

    async def find(self, where: Where, limit: int, after: str | None = None) -> list[Memory]:
        """See ``Reader.find``."""
        return await self._ask(lambda bank: sql.find(bank, where, limit, after), [])

    async def count(self, where: Where) -> int:
        """See ``Reader.count``."""
        return await self._ask(lambda bank: sql.count(bank, where), 0)

    async def known(self, content_hash: str) -> Memory | None:
        """See ``Reader.known``."""
        return await self._ask(lambda bank: sql.known(bank, content_hash), None)

    async def current(self, key: str, owner: str | None = None) -> Memory | None:
        """See ``Reader.current``."""
        return await self._ask(lambda bank: sql.current(bank, key, owner), None)

    async def turns(self, session_id: str, first: int, last: int) -> list[Memory]:
        """See ``Reader.turns``."""
        return await self._ask(lambda bank: sql.turns(bank, session_id, first, last), [])

    async def search_words(self, words: Sequence[str], where: Where, limit: int) -> list[Scored]:
        """See ``Reader.search_words``."""
        return await self._ask(lambda bank: search.search_words(bank, words, where, limit, self._engine.words), [])

    async def search_time(self, window: Window, where: Where, limit: int) -> list[Scored]:
        """See ``Reader.search_time``."""
        return await self._ask(lambda bank: search.search_time(bank, window, where, limit), [])

    async def names_known(self, candidates: Sequence[str], where: Where) -> Mapping[str, int]:
        """See ``Reader.names_known``."""
        return await self._ask(lambda bank: search.names_known(bank, candidates, where), {})

    async def search_graph(
        self, seeds: Mapping[str, float], names: Mapping[str, float], where: Where, limit: int
    ) -> list[Scored]:
        """See ``Reader.search_graph``."""
        settings = self._engine.graph
        return await self._ask(lambda bank: graph.search_graph(bank, seeds, names, where, limit, settings), [])

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

    async def lacking(self, ids: Sequence[str]) -> set[str]:
        """See ``Reader.lacking``."""
        return await self._ask(lambda bank: sql.lacking(bank, ids), set())

    async def relations(self, ids: Sequence[str]) -> list[Relation]:
        """See ``Reader.relations``."""
        return await self._ask(lambda bank: sql.relations(bank, ids), [])

    async def events(self, memory_id: str | None, limit: int) -> list[Event]:
        """See ``Reader.events``."""
        return await self._ask(lambda bank: sql.events(bank, memory_id, limit), [])

    async def stats(self) -> BankStats:
        """See ``Reader.stats``."""
        return await self._ask(sql.stats, BankStats(0, 0, {}))

    async def _ask(self, plan: Callable[[Bank], Plan[T]], empty: T) -> T:
        def look(connection: sqlite3.Connection) -> T:
            bank = self._engine.bank(connection, self._bank_id)
            return empty if bank is None else drive(connection, plan(bank))

        return await self._engine.read(look)


class SQLiteTx(SQLiteReader):
    """One transaction on one bank."""

    def __init__(self, engine: SQLiteEngine, bank: Bank) -> None:
        super().__init__(engine, bank.id)
        self._bank = bank

    async def next_turn(self, session_id: str, count: int) -> int:
        """See ``Tx.next_turn``."""
        return await self._do(sql.next_turn(self._bank, session_id, count, self._engine.clock()))

    async def add(self, memory: Memory, marks: Marks) -> None:
        """See ``Tx.add``."""
        await self._do(sql.add(self._bank, memory, marks))

    async def change(self, memory: Memory, marks: Marks | None = None, **fields: Any) -> Memory:
        """See ``Tx.change``."""
        return await self._do(sql.change(self._bank, memory, marks, fields))

    async def relate(self, relation: Relation) -> None:
        """See ``Tx.relate``."""
        await self._do(sql.relate(self._bank, relation))

    async def record(self, events: Sequence[Event]) -> None:
        """See ``Tx.record``."""
        await self._do(sql.record(self._bank, events))

    async def set_vectors(self, space: str, vectors: Mapping[str, NDArray[np.float32]]) -> None:
        """See ``Tx.set_vectors``."""
        await self._do(work.set_vectors(self._bank, space, vectors))

    async def settle_index(self, indexed: Sequence[str], failed: Mapping[str, str]) -> None:
        """See ``Tx.settle_index``."""
        await self._do(work.settle_index(self._bank, indexed, dict(failed)))

    async def touch(self, ids: Sequence[str], at: datetime) -> None:
        """See ``Tx.touch``."""
        await self._do(sql.touch(self._bank, ids, at))

    async def erase(self, ids: Sequence[str]) -> Erased:
        """See ``Tx.erase``."""
        return await self._do(sql.erase(self._bank, ids))

    async def _ask(self, plan: Callable[[Bank], Plan[T]], empty: T) -> T:  # noqa: ARG002
        return await self._do(plan(self._bank))

    async def _do(self, plan: Plan[T]) -> T:
        return await self._engine.write(lambda connection: drive(connection, plan))
