"""SQLite: one file, one writer thread, several readers; several processes may share the file."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager, suppress
from datetime import datetime
from pathlib import Path
from threading import local
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from hindsight_memory.domain import Event, Memory, Relation, Scope, Window, utc_now
from hindsight_memory.errors import InvalidInput, Unavailable
from hindsight_memory.settings import GraphSettings, StoreSettings, WordSettings, WriteSettings
from hindsight_memory.store import graph, search, sql, work
from hindsight_memory.store.base import BankStats, Due, Erased, Marks, Scored, Space, Vector, Where
from hindsight_memory.store.rows import Plan
from hindsight_memory.store.sql import Bank
from hindsight_memory.store.sqlite_file import begin, commit, connect, drive, explained, prepare, roll_back
from hindsight_memory.store.vectors import Matrix, MatrixCache

T = TypeVar("T")


class SQLiteStore:
    """The store contract over one SQLite file. Made by ``open``."""

    def __init__(
        self,
        path: Path,
        settings: StoreSettings,
        words: WordSettings,
        clock: Callable[[], datetime],
        graph: GraphSettings,
    ) -> None:
        self.path = path.absolute()
        self.clock = clock
        self.words = words
        self.graph = graph
        self._settings = settings
        self._writing = ThreadPoolExecutor(1, "hindsight-memory-writer")
        self._reading = ThreadPoolExecutor(settings.readers, "hindsight-memory-reader")
        self._turn = asyncio.Lock()
        self._local = local()
        self._connections: list[sqlite3.Connection] = []
        self._writer: sqlite3.Connection | None = None
        self._file: tuple[int, int] | None = None
        self._numbers: dict[str, int] = {}
        self._matrices = MatrixCache()

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
        store = cls(path, settings, words, clock, graph or GraphSettings())
        try:
            await store.write(lambda _: None)
        except BaseException:
            await store.close()
            raise
        return store

    def reading(self, bank: str) -> SQLiteReader:
        """See ``Store.reading``."""
        return SQLiteReader(self, bank)

    @asynccontextmanager
    async def transaction(self, scope: Scope) -> AsyncIterator[SQLiteTx]:
        """See ``Store.transaction``."""
        async with self._turn:
            try:
                # Cancelled while it waits for another process, it begins all the same: so it is inside the try.
                number = await self.write(
                    lambda connection: self._begin(connection, sql.open_bank(scope, self.clock()))
                )
                yield SQLiteTx(self, Bank(scope.bank, number))
            except BaseException:
                await asyncio.shield(self.write(roll_back))
                raise
            await asyncio.shield(self.write(commit))

    async def claim_index(self, holder: str, bank: str | None, settings: WriteSettings) -> list[Due]:
        """See ``Store.claim_index``."""
        if not await self.due(settings.index_attempts):
            return []  # nothing to write, so the other processes need not wait
        return await self._alone(work.claim_index(holder, bank, settings, self.clock()))

    async def give_back(self, gone: Callable[[str], bool]) -> None:
        """See ``Store.give_back``."""
        now = self.clock()
        holders = await self.read(lambda connection: drive(connection, work.holders(now)))
        if ended := [holder for holder in holders if gone(holder)]:
            await self._alone(work.give_back(ended))

    async def use_spaces(self, spaces: Sequence[Space]) -> int:
        """See ``Store.use_spaces``."""
        held = await self.read(lambda connection: drive(connection, work.spaces()))
        if [space for _, wanted, space in held if wanted] != list(spaces):
            await self._alone(work.use_spaces(spaces))
        return await self.read(lambda connection: drive(connection, work.due(2**31)))

    async def spaces(self) -> list[Space]:
        """See ``Store.spaces``."""
        held = await self.read(lambda connection: drive(connection, work.spaces()))
        return [space for _, _, space in held]

    async def due(self, attempts: int) -> int:
        """See ``Store.due``."""
        return await self.read(lambda connection: drive(connection, work.due(attempts)))

    async def check(self) -> list[str]:
        """See ``Store.check``."""

        def look(connection: sqlite3.Connection) -> list[str]:
            faults = [row[0] for row in connection.execute("PRAGMA quick_check(20)") if row[0] != "ok"]
            faults += [
                f"a line of {row[0]} points at nothing" for row in connection.execute("PRAGMA foreign_key_check")
            ]
            return faults

        return await self.read(look)

    async def close(self) -> None:
        """See ``Store.close``."""
        await asyncio.to_thread(self._shut)

    async def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run ``work`` on a reading connection, off the event loop."""

        def call() -> T:
            with explained(self.path):
                self._must_be_there()
                return work(self._reader())

        return await self._in(self._reading, call)

    async def write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run ``work`` on the writing connection, off the event loop, one after the other."""

        def call() -> T:
            with explained(self.path):
                if self._writer is None:
                    self._writer = self._open_writer()
                return work(self._writer)

        return await self._in(self._writing, call)

    def bank(self, connection: sqlite3.Connection, bank_id: str) -> Bank | None:
        """The bank, if it exists; numbers never change, so they are kept."""
        number = self._numbers.get(bank_id)
        if number is None:
            number = drive(connection, sql.number_of(bank_id))
            if number is None:
                return None
            self._numbers[bank_id] = number
        return Bank(bank_id, number)

    def nearest(
        self, connection: sqlite3.Connection, bank: Bank, space: str, vector: Vector, limit: int
    ) -> list[tuple[int, float]]:
        """Rows of the bank nearest to a vector."""
        with self.matrix(connection, bank, space) as matrix:
            if matrix is None:
                return []
            if len(vector) != matrix.dimension:
                said = f"The vector has {len(vector)} numbers, the space {space} {matrix.dimension}."
                raise InvalidInput(said, field="vector")
            return matrix.ranked(vector, limit)

    @contextmanager
    def matrix(self, connection: sqlite3.Connection, bank: Bank, space: str) -> Iterator[Matrix | None]:
        """The bank's vectors in a space, in memory, brought up to date first; nothing for a space that is unknown."""
        known = connection.execute("SELECT space, dimension FROM spaces WHERE name = ?", (space,)).fetchone()
        if known is None:
            yield None
            return
        number, dimension = known
        matrix = self._matrices.matrix(bank.number, number, dimension)
        with matrix.lock:
            counters = "SELECT changes, erasures FROM banks WHERE bank = ?"
            changes, erasures = connection.execute(counters, (bank.number,)).fetchone()
            if erasures != matrix.erasures:
                matrix.clear()
            if changes != matrix.change:
                matrix.put(_vectors_since(connection, bank.number, number, matrix.change))
            matrix.change, matrix.erasures = changes, erasures
            yield matrix

    async def _alone(self, plan: Plan[T]) -> T:
        async with self._turn:
            return await self.write(lambda connection: self._in_transaction(connection, plan))

    async def _in(self, pool: ThreadPoolExecutor, call: Callable[[], T]) -> T:
        try:
            return await asyncio.get_running_loop().run_in_executor(pool, call)
        except RuntimeError as error:
            if "shutdown" not in str(error):
                raise
            raise Unavailable("The memory is closed.", hint="Open it again.") from error

    def _reader(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._connect()
            connection.execute("PRAGMA query_only = ON")
            self._local.connection = connection
        return connection

    def _open_writer(self) -> sqlite3.Connection:
        with suppress(OSError):
            self.path.parent.mkdir(parents=True, exist_ok=True)
        connection = self._connect()
        prepare(connection, self.path)
        self._file = self._on_disk()
        return connection

    def _begin(self, connection: sqlite3.Connection, plan: Plan[T]) -> T:
        self._must_be_there()
        return begin(connection, plan)

    def _in_transaction(self, connection: sqlite3.Connection, plan: Plan[T]) -> T:
        result = self._begin(connection, plan)
        commit(connection)
        return result

    def _on_disk(self) -> tuple[int, int] | None:
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def _must_be_there(self) -> None:
        # A file that was moved or removed takes writes until it is closed, and then they are gone.
        if self._file is not None and self._on_disk() != self._file:
            hint = "Stop this process, put the file back, and start again."
            raise Unavailable(f"The memory file {self.path} was moved or replaced while it was open.", hint=hint)

    def _connect(self) -> sqlite3.Connection:
        connection = connect(self.path, self._settings.busy_timeout_ms)
        self._connections.append(connection)
        return connection

    def _shut(self) -> None:
        self._writing.shutdown(wait=True)
        self._reading.shutdown(wait=True)
        while self._connections:
            self._connections.pop().close()


class SQLiteReader:
    """One bank, to read."""

    def __init__(self, store: SQLiteStore, bank_id: str) -> None:
        self._store = store
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
        return await self._ask(lambda bank: search.search_words(bank, words, where, limit, self._store.words), [])

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
        settings = self._store.graph
        return await self._ask(lambda bank: graph.search_graph(bank, seeds, names, where, limit, settings), [])

    async def search_vector(self, space: str, vector: Vector, where: Where, limit: int) -> list[Scored]:
        """See ``Reader.search_vector``. Sees what is committed, inside a transaction too."""

        def look(connection: sqlite3.Connection) -> list[Scored]:
            bank = self._store.bank(connection, self._bank_id)
            if bank is None:
                return []
            wide = 4 * limit
            while True:
                ranked = self._store.nearest(connection, bank, space, vector, wide)
                found = drive(connection, search.first_allowed(bank, ranked, where, limit))
                if len(found) >= limit or len(ranked) < wide:
                    return found
                wide *= 16

        return await self._store.read(look)

    async def vectors(self, space: str, ids: Sequence[str]) -> Mapping[str, Vector]:
        """See ``Reader.vectors``. Sees what is committed, inside a transaction too."""

        def look(connection: sqlite3.Connection) -> Mapping[str, Vector]:
            bank = self._store.bank(connection, self._bank_id)
            if bank is None:
                return {}
            rows = drive(connection, sql.rows_of(bank, ids))
            with self._store.matrix(connection, bank, space) as matrix:
                held = {} if matrix is None else matrix.of(rows)
            return {rows[row]: vector for row, vector in held.items()}

        return await self._store.read(look)

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
            bank = self._store.bank(connection, self._bank_id)
            return empty if bank is None else drive(connection, plan(bank))

        return await self._store.read(look)


class SQLiteTx(SQLiteReader):
    """One transaction on one bank."""

    def __init__(self, store: SQLiteStore, bank: Bank) -> None:
        super().__init__(store, bank.id)
        self._bank = bank

    async def next_turn(self, session_id: str, count: int) -> int:
        """See ``Tx.next_turn``."""
        return await self._do(sql.next_turn(self._bank, session_id, count, self._store.clock()))

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
        return await self._store.write(lambda connection: drive(connection, plan))


def _vectors_since(connection: sqlite3.Connection, bank: int, space: int, change: int) -> Iterator[tuple[int, bytes]]:
    # A row's parts are read together: those that did not change would be lost with the ones replaced.
    yield from connection.execute(
        "SELECT row, vector FROM vectors WHERE bank = :bank AND space = :space AND row IN"
        " (SELECT row FROM vectors WHERE bank = :bank AND space = :space AND change > :change) ORDER BY row, part",
        {"bank": bank, "space": space, "change": change},
    )
