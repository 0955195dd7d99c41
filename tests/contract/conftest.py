"""The engines the contract is asked of: a further one is a subclass of ``Engine`` and a line in ``engines``."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import closing
from pathlib import Path
from typing import Any, ClassVar

import pytest

from hindsight_memory.settings import StoreSettings, WordSettings
from hindsight_memory.store.base import Store
from hindsight_memory.store.sqlite import SQLiteStore
from hindsight_memory.store.sqlite_file import connect
from hindsight_memory.testing import StoppedClock
from postgres import Server


class Engine:
    """An engine over an empty database, and a way to look at what it keeps without asking the store."""

    name: ClassVar[str]
    readable: ClassVar[bool] = True
    """Whether what is stored can be read in the files' bytes."""

    def __init__(self, clock: StoppedClock) -> None:
        self.clock = clock
        self.stores: list[Store] = []

    async def open(self, **settings: Any) -> Store:
        """Another store over the same database, as another process has."""
        self.stores.append(await self._open(StoreSettings(**{"busy_timeout_ms": 5_000} | settings)))
        return self.stores[-1]

    async def _open(self, settings: StoreSettings) -> Store:
        raise NotImplementedError

    async def close(self) -> None:
        """Close every store."""
        while self.stores:
            await self.stores.pop().close()

    def rows(self, statement: str, **params: Any) -> list[tuple[Any, ...]]:
        """What is committed."""
        raise NotImplementedError

    def tables(self) -> list[str]:
        """The names of the tables."""
        raise NotImplementedError

    def columns(self, table: str) -> set[str]:
        """The names of a table's columns."""
        raise NotImplementedError

    def raw(self) -> bytes:
        """All that is kept, as far as one can get at it: the bytes on disk, or else every row."""
        raise NotImplementedError


class SQLiteEngine(Engine):
    """A file."""

    name = "sqlite"
    key: ClassVar[str] = ""

    def __init__(self, folder: Path, clock: StoppedClock) -> None:
        super().__init__(clock)
        self.path = folder / "contract.db"

    async def _open(self, settings: StoreSettings) -> Store:
        return await SQLiteStore.open(self.path, settings, WordSettings(), self.clock)

    async def open(self, **settings: Any) -> Store:
        return await super().open(key=self.key, **settings)

    def rows(self, statement: str, **params: Any) -> list[tuple[Any, ...]]:
        with closing(connect(self.path, 5_000, self.key)) as connection:
            return connection.execute(statement, params).fetchall()

    def tables(self) -> list[str]:
        return [row[0] for row in self.rows("SELECT name FROM sqlite_master WHERE type = 'table'")]

    def columns(self, table: str) -> set[str]:
        return {row[1] for row in self.rows(f"PRAGMA table_info({table})")}

    def raw(self) -> bytes:
        return b"".join(path.read_bytes() for path in self.path.parent.glob("contract.db*"))


class EncryptedEngine(SQLiteEngine):
    """The same, encrypted; a key as it is, since stretching one takes longer than a test."""

    name = "encrypted"
    key = "0f" * 32
    readable = False


class PostgresEngine(Engine):
    """A server's database, which the store uses as a role that no wall lets through."""

    name = "postgres"

    def __init__(self, server: Server, clock: StoppedClock) -> None:
        super().__init__(clock)
        self.server = server
        server.empty()

    async def _open(self, settings: StoreSettings) -> Store:
        from hindsight_memory.store.postgres import PostgresStore

        return await PostgresStore.open(self.server.url, settings, WordSettings(), self.clock)

    async def open(self, **settings: Any) -> Store:
        return await super().open(**{"partitions": 2, "connections": 4} | settings)

    def rows(self, statement: str, **params: Any) -> list[tuple[Any, ...]]:
        return self.server.run(statement, params)

    def tables(self) -> list[str]:
        return self.server.tables()

    def columns(self, table: str) -> set[str]:
        asked = "SELECT attname FROM pg_attribute WHERE attrelid = :table ::regclass AND attnum > 0"
        return {row[0] for row in self.rows(asked, table=table)}

    def raw(self) -> bytes:
        return b"".join(repr(self.rows(f"SELECT * FROM {table}")).encode() for table in self.tables())


NAMES = ["sqlite", pytest.param("encrypted", marks=pytest.mark.slow), "postgres"]


@pytest.fixture(params=NAMES)
def engines(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, clock: StoppedClock
) -> Callable[[], Engine]:
    """Makes an engine over an empty database, as often as it is called; one at a time."""
    if request.param == "postgres":
        server = request.getfixturevalue("server")
        return lambda: PostgresEngine(server, clock)
    if request.param == "encrypted":
        pytest.importorskip("sqlcipher3")
        return lambda: EncryptedEngine(tmp_path_factory.mktemp("contract"), clock)
    return lambda: SQLiteEngine(tmp_path_factory.mktemp("contract"), clock)


@pytest.fixture
async def engine(engines: Callable[[], Engine]) -> AsyncIterator[Engine]:
    made = engines()
    yield made
    await made.close()


@pytest.fixture
async def store(engine: Engine) -> Store:
    return await engine.open()
