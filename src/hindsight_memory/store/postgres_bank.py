"""One bank of a PostgreSQL database: to read, and to change within a transaction."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from hindsight_memory.store import postgres_near
from hindsight_memory.store.bank import BankReader, BankTx
from hindsight_memory.store.base import Scored, Vector, Where
from hindsight_memory.store.postgres_engine import Connection, PostgresEngine
from hindsight_memory.store.postgres_wire import drive
from hindsight_memory.store.rows import Bank, Plan

T = TypeVar("T")


class PostgresReader(BankReader):
    """One bank, to read."""

    def __init__(self, engine: PostgresEngine, bank_id: str) -> None:
        self._engine: PostgresEngine = engine
        self._bank_id = bank_id

    async def search_vector(self, space: str, vector: Vector, where: Where, limit: int) -> list[Scored]:
        """See ``Reader.search_vector``."""
        indexes = self._engine.indexes
        return await self._ask(lambda bank: postgres_near.search_vector(bank, space, vector, where, limit, indexes), [])

    async def vectors(self, space: str, ids: Sequence[str]) -> Mapping[str, Vector]:
        """See ``Reader.vectors``."""
        return await self._ask(lambda bank: postgres_near.vectors(bank, space, ids), {})

    async def alike(self, space: str, ids: Sequence[str], limit: int) -> Mapping[str, list[str]]:
        """See ``Reader.alike``."""
        indexes = self._engine.indexes
        return await self._ask(lambda bank: postgres_near.alike(bank, space, ids, limit, indexes), {})

    async def _ask(self, plan: Callable[[Bank], Plan[T]], empty: T) -> T:
        return await self._engine.look(self._bank_id, plan, empty)


class PostgresTx(BankTx, PostgresReader):
    """One transaction on one bank, on a connection of its own: what it has changed, it sees."""

    def __init__(self, engine: PostgresEngine, connection: Connection, bank: Bank) -> None:
        super().__init__(engine, bank.id)
        self._connection = connection
        self._bank = bank

    async def _do(self, plan: Plan[T]) -> T:
        async with self._connection.pipeline():
            return await drive(self._connection, plan)


class PostgresSnapshot(PostgresReader):
    """A reader whose answers are all of one moment."""

    def __init__(self, engine: PostgresEngine, connection: Connection, bank_id: str, bank: Bank | None) -> None:
        super().__init__(engine, bank_id)
        self._connection = connection
        self._bank = bank

    async def _ask(self, plan: Callable[[Bank], Plan[T]], empty: T) -> T:
        return empty if self._bank is None else await drive(self._connection, plan(self._bank))
