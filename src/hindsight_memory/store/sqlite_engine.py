"""A SQLite file at work: one writing thread, several reading ones, and the vectors of its banks in memory."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from threading import local
from typing import TypeVar

from hindsight_memory.errors import InvalidInput, Unavailable
from hindsight_memory.settings import GraphSettings, StoreSettings, WordSettings
from hindsight_memory.store import cipher, sql
from hindsight_memory.store.base import Vector
from hindsight_memory.store.rows import Bank, Plan
from hindsight_memory.store.sqlite_file import begin, commit, connect, drive, explained, prepare
from hindsight_memory.store.vectors import Matrix, MatrixCache

T = TypeVar("T")


class SQLiteEngine:
    """Runs work on the file's connections, off the event loop."""

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
        self.settings = settings
        self._secret = cipher.secret_of(settings)
        self._writing = ThreadPoolExecutor(1, "hindsight-memory-writer")
        self._reading = ThreadPoolExecutor(settings.readers, "hindsight-memory-reader")
        self.turn = asyncio.Lock()
        self._local = local()
        self._connections: list[sqlite3.Connection] = []
        self._writer: sqlite3.Connection | None = None
        self._file: tuple[int, int] | None = None
        self._numbers: dict[str, int] = {}
        self._matrices = MatrixCache()

    async def close(self) -> None:
        """Finish what is begun, and close every connection."""
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

    def drop_vectors(self) -> None:
        """Hold no vectors in memory, until they are asked for again."""
        self._matrices.clear()

    async def ask(self, plan: Callable[[], Plan[T]]) -> T:
        """See ``Engine.ask``."""
        return await self.read(lambda connection: drive(connection, plan()))

    async def alone(self, plan: Callable[[], Plan[T]]) -> T:
        """See ``Engine.alone``."""
        async with self.turn:
            return await self.write(lambda connection: self._in_transaction(connection, plan()))

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
        if self._secret:
            cipher.installed()
        with suppress(OSError):  # what is wrong with the place is said when it is opened
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))  # nobody else's to read
        connection = self._connect()
        prepare(connection, self.path)
        self._file = self._on_disk()
        return connection

    def further(self) -> sqlite3.Connection:
        """A connection besides the others, to be closed by whoever asked for it."""
        self._must_be_there()
        return connect(self.path, self.settings.busy_timeout_ms, self._secret)

    def begin(self, connection: sqlite3.Connection, plan: Plan[T]) -> T:
        """Begin a transaction with a plan, and leave it open."""
        self._must_be_there()
        return begin(connection, plan)

    def _in_transaction(self, connection: sqlite3.Connection, plan: Plan[T]) -> T:
        result = self.begin(connection, plan)
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
        connection = connect(self.path, self.settings.busy_timeout_ms, self._secret)
        self._connections.append(connection)
        return connection

    def _shut(self) -> None:
        self._writing.shutdown(wait=True)
        self._reading.shutdown(wait=True)
        while self._connections:
            self._connections.pop().close()


def _vectors_since(
    connection: sqlite3.Connection, bank: int, space: int, change: int
) -> Iterator[tuple[int, bytes | None]]:
    # A row's parts are read together: those that did not change would be lost with the ones replaced.
    yield from connection.execute(
        "SELECT row, vector FROM vectors WHERE bank = :bank AND space = :space AND row IN"
        " (SELECT row FROM vectors WHERE bank = :bank AND space = :space AND change > :change) ORDER BY row, part",
        {"bank": bank, "space": space, "change": change},
    )
