"""A PostgreSQL database at work: its connections, and how plans are carried out on them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from datetime import datetime
from typing import Any, Final, TypeVar
from weakref import WeakValueDictionary

import psycopg
from psycopg import AsyncConnection, errors
from psycopg.rows import TupleRow
from psycopg_pool import AsyncConnectionPool

from hindsight_memory.domain import Scope
from hindsight_memory.settings import GraphSettings, StoreSettings, WordSettings
from hindsight_memory.store import sql
from hindsight_memory.store.postgres_indexes import Indexes
from hindsight_memory.store.postgres_schema import Home, prepare
from hindsight_memory.store.postgres_wire import adapters, drive, explained, place
from hindsight_memory.store.rows import Bank, Plan

T = TypeVar("T")
_CONNECT_S: Final = 10
_ALIVE: Final = {"keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3}
"""Seconds after which a machine that is gone is missed; libpq's own default is two hours."""
_PATIENCE_MS: Final = 500
"""How long work over all banks waits for one line; then it lets go of all and begins again.

Shorter than the second after which the server looks for deadlocks: of two that wait for each other, it is never the
one of a bank that is ended, which could not be begun again.
"""
_IDLE_MS: Final = 300_000
"""How long a transaction may do nothing, before the server takes it for dead."""
_SEE: Final = (
    "SELECT set_config('hindsight_memory.bank', %s, false), set_config('hindsight_memory.bank_id', %s, false),"
    " set_config('hindsight_memory.banks', %s, false)"
)
_BUSY: Final = (errors.LockNotAvailable, errors.DeadlockDetected, errors.SerializationFailure)


class Connection(AsyncConnection[TupleRow]):
    """A connection that remembers which bank's lines it sees: its number and its id, or whether it sees all."""

    seen: tuple[str, str, str] | None = None

    async def see(self, number: str = "", bank_id: str = "", banks: str = "") -> None:
        """See the lines of one bank, or of ``all``, from now on."""
        wanted = (number, bank_id, banks)
        if self.seen != wanted:
            self.seen = None
            await self.execute(_SEE, wanted)
            self.seen = wanted


class PostgresEngine:
    """Runs plans on the database's connections."""

    def __init__(
        self,
        url: str,
        settings: StoreSettings,
        words: WordSettings,
        clock: Callable[[], datetime],
        graph: GraphSettings,
    ) -> None:
        self.url = url
        self.where = place(url)
        self.settings = settings
        self.clock = clock
        self.words = words
        self.graph = graph
        self.indexes = Indexes(self.apart, settings)
        self._pool: AsyncConnectionPool[Connection]
        self._home: Home
        self._numbers: dict[str, int] = {}
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def open(self) -> None:
        """Make the database ours, and its connections.

        Raises ``Unavailable`` when it cannot be used, with what to do.
        """
        with explained(self.where):
            async with await AsyncConnection.connect(self.url, autocommit=True, **self._options()) as first:
                self._home = await prepare(first, self.settings, self.where)
            most = max(self.settings.connections, 1)
            self._pool = AsyncConnectionPool(
                self.url,
                connection_class=Connection,
                kwargs={"autocommit": True, "context": self._context(), **self._options()},
                configure=self._configure,
                min_size=1,
                max_size=most,
                timeout=self.settings.busy_timeout_ms / 1_000,
                open=False,
            )
            await self._pool.open()

    async def close(self) -> None:
        """Let go of every connection."""
        await self.indexes.close()
        await self._pool.close()

    async def look(self, bank_id: str, plan: Callable[[Bank], Plan[T]], empty: T) -> T:
        """Carry out a plan that only reads one bank; ``empty`` where there is none."""

        async def work(connection: Connection) -> T:
            bank = await self._bank(connection, bank_id)
            return empty if bank is None else await drive(connection, plan(bank))

        return await self._with(work)

    async def ask(self, plan: Callable[[], Plan[T]]) -> T:
        """See ``Engine.ask``."""

        async def work(connection: Connection) -> T:
            await connection.see(banks="all")
            return await drive(connection, plan())

        return await self._with(work)

    async def alone(self, plan: Callable[[], Plan[T]]) -> T:
        """See ``Engine.alone``."""

        async def work(connection: Connection) -> T:
            await connection.see(banks="all")
            await connection.execute(f"BEGIN; SET LOCAL lock_timeout = {_PATIENCE_MS}", prepare=False)
            result = await drive(connection, plan())
            await connection.commit()
            return result

        end = asyncio.get_running_loop().time() + self.settings.busy_timeout_ms / 1_000
        while True:
            try:
                return await self._with(work, busy=asyncio.get_running_loop().time() < end)
            except _BUSY:
                continue

    @asynccontextmanager
    async def transaction(self, scope: Scope) -> AsyncIterator[tuple[Connection, Bank]]:
        """The scope's bank, to change: by one at a time, here and in all processes, so that none meets another's half.

        Those who wait here hold no connection.
        """
        turn = self._turns.setdefault(scope.bank, asyncio.Lock())
        async with turn:
            with explained(self.where):
                connection, bank = await self._begun(scope)
            try:
                with explained(self.where):
                    yield connection, bank
                    await connection.commit()
                self._numbers[scope.bank] = bank.number
            finally:
                await self._let_go(connection)

    @asynccontextmanager
    async def snapshot(self, bank_id: str) -> AsyncIterator[tuple[Connection, Bank | None]]:
        """The bank as it is now, on a connection apart: it may take long."""
        with explained(self.where):
            connection = await self.apart()
            async with connection:
                await connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", prepare=False)
                yield connection, await self._bank(connection, bank_id)

    async def apart(self) -> Connection:
        """A connection that is none of the pool's, for what takes long. Who asks for it closes it."""
        connection = await Connection.connect(self.url, autocommit=True, context=self._context(), **self._options())
        await self._configure(connection)
        return connection

    async def _begun(self, scope: Scope) -> tuple[Connection, Bank]:
        for last in (False, True):
            connection = await self._pool.getconn()
            try:
                return connection, await self._begin(connection, scope)
            except BaseException as error:
                lost = isinstance(error, psycopg.OperationalError) and connection.closed
                await self._let_go(connection)
                if last or not lost:
                    raise
                await self._pool.check()
        raise AssertionError

    async def _begin(self, connection: Connection, scope: Scope) -> Bank:
        number = self._numbers.get(scope.bank)
        if number is not None:
            await connection.see(str(number), scope.bank)
            locked = f"BEGIN; SELECT bank FROM banks WHERE bank = {number} FOR NO KEY UPDATE"
            cursor = await connection.execute(locked, prepare=False)
            if cursor.nextset() and await cursor.fetchone():
                return Bank(scope.bank, number)
            await connection.rollback()  # the database is another than it was
            del self._numbers[scope.bank]
        await connection.see(bank_id=scope.bank)
        await connection.execute("BEGIN", prepare=False)
        number = await drive(connection, sql.open_bank(scope, self.clock()))
        await connection.execute("SELECT set_config('hindsight_memory.bank', %s, true)", [str(number)])
        await connection.execute("SELECT bank FROM banks WHERE bank = %s FOR NO KEY UPDATE", [number])
        return Bank(scope.bank, number)

    async def _let_go(self, connection: Connection) -> None:
        """Give a connection back, and take back what was not committed on it."""
        try:
            with suppress(psycopg.Error):  # one that was lost has taken it back
                await connection.rollback()
        finally:
            await self._pool.putconn(connection)

    async def _bank(self, connection: Connection, bank_id: str) -> Bank | None:
        """The bank, if it exists, and the connection sees it; numbers never change, so they are kept."""
        number = self._numbers.get(bank_id)
        if number is None:
            await connection.see(bank_id=bank_id)
            number = await drive(connection, sql.number_of(bank_id))
            if number is None:
                return None
            self._numbers[bank_id] = number
        await connection.see(str(number), bank_id)
        return Bank(bank_id, number)

    async def _with(self, work: Callable[[Connection], Awaitable[T]], *, busy: bool = False) -> T:
        """Do work on a connection; once again where that one was lost meanwhile, as after a restart of the server.

        Where ``busy`` is set, that others are at the same lines is told to the caller as it is.
        """
        try:
            with explained(self.where):
                for last in (False, True):
                    connection = await self._pool.getconn()
                    try:
                        return await work(connection)
                    except psycopg.OperationalError:
                        if last or not connection.closed:
                            raise
                    finally:
                        await self._let_go(connection)
                    await self._pool.check()
        except Exception as error:
            if busy and isinstance(error.__cause__, _BUSY):
                raise error.__cause__ from None
            raise
        raise AssertionError

    def _context(self) -> Any:
        return _Adapted(self._home.vector)

    def _options(self) -> dict[str, Any]:
        return {"connect_timeout": _CONNECT_S, "application_name": "hindsight-memory", "prepare_threshold": 1, **_ALIVE}

    async def _configure(self, connection: Connection) -> None:
        await connection.execute(
            f"SET search_path TO {self._home.path}; SET lock_timeout = {self.settings.busy_timeout_ms}; SET jit = off;"
            " SET plan_cache_mode = force_generic_plan;"  # each value is looked up in an index: one plan is as good
            f" SET idle_in_transaction_session_timeout = {_IDLE_MS}; SET hnsw.iterative_scan = relaxed_order;"
            f" SET hnsw.ef_search = {self.settings.hnsw_ef_search}",
            prepare=False,
        )


class _Adapted:
    """What the driver takes adapters from."""

    connection = None

    def __init__(self, vector: int) -> None:
        self.adapters = adapters(vector)
