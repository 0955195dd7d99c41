"""PostgreSQL: many processes on one database, one writer at a time in a bank, all banks at once."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import ClassVar

from hindsight_memory.domain import Proof, Scope, utc_now
from hindsight_memory.settings import GraphSettings, StoreSettings, WordSettings
from hindsight_memory.store import postgres_scrub, work
from hindsight_memory.store.base import Space
from hindsight_memory.store.plan_store import PlanStore
from hindsight_memory.store.postgres_bank import PostgresReader, PostgresSnapshot, PostgresTx
from hindsight_memory.store.postgres_engine import PostgresEngine
from hindsight_memory.store.rows import Plan, Statement


class PostgresStore(PlanStore):
    """The store contract over one PostgreSQL database. Made by ``open``."""

    _skip: ClassVar[str] = " FOR NO KEY UPDATE OF m SKIP LOCKED"

    def __init__(self, engine: PostgresEngine) -> None:
        self._engine: PostgresEngine = engine

    @classmethod
    async def open(
        cls,
        url: str,
        settings: StoreSettings,
        words: WordSettings,
        clock: Callable[[], datetime] = utc_now,
        graph: GraphSettings | None = None,
    ) -> PostgresStore:
        """Connect to the database, make it ours where it is empty, and bring its schema up to date.

        Raises ``Unavailable`` when the database cannot be used, with what to do; it is then left as it was.
        """
        engine = PostgresEngine(url, settings, words, clock, graph or GraphSettings())
        await engine.open()
        return cls(engine)

    def reading(self, bank: str) -> PostgresReader:
        """See ``Store.reading``."""
        return PostgresReader(self._engine, bank)

    @asynccontextmanager
    async def snapshot(self, bank: str) -> AsyncIterator[PostgresReader]:
        """See ``Store.snapshot``."""
        async with self._engine.snapshot(bank) as (connection, held):
            yield PostgresSnapshot(self._engine, connection, bank, held)

    @asynccontextmanager
    async def transaction(self, scope: Scope) -> AsyncIterator[PostgresTx]:
        """See ``Store.transaction``."""
        async with self._engine.transaction(scope) as (connection, bank):
            yield PostgresTx(self._engine, connection, bank)

    async def scrub(self, samples: Sequence[str] = (), *, compact: bool = False) -> Proof:
        """See ``Store.scrub``."""
        return await postgres_scrub.scrub(self._engine, searched=bool(samples), compact=compact)

    async def check(self) -> list[str]:
        """See ``Store.check``."""
        return await self._engine.ask(postgres_scrub.faults)

    async def close(self) -> None:
        """See ``Store.close``."""
        await self._engine.close()

    def _use(self, spaces: Sequence[Space]) -> Plan[None]:
        # Every line of every bank may change: none is written meanwhile, so that nobody waits for anybody in a ring.
        yield Statement("LOCK TABLE banks IN EXCLUSIVE MODE")
        yield from work.use_spaces(spaces)
