"""The engines the contract is asked of: a further one is a subclass of ``Engine`` and a line in ``ENGINES``."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from hindsight_memory.settings import StoreSettings, WordSettings
from hindsight_memory.store.base import Store
from hindsight_memory.store.sqlite import SQLiteStore
from hindsight_memory.store.sqlite_file import connect
from hindsight_memory.testing import StoppedClock


class SQLiteEngine:
    """SQLite, and a way to look at what it keeps without asking the store."""

    def __init__(self, folder: Path, clock: StoppedClock) -> None:
        self.path = folder / "contract.db"
        self.clock = clock
        self.stores: list[SQLiteStore] = []

    key = ""
    readable = True
    """Whether what is stored can be read in the files' bytes."""

    async def open(self) -> Store:
        """Another store over the same database, as another process has."""
        settings = StoreSettings(busy_timeout_ms=5_000, key=self.key)
        store = await SQLiteStore.open(self.path, settings, WordSettings(), self.clock)
        self.stores.append(store)
        return store

    async def close(self) -> None:
        """Close every store."""
        while self.stores:
            await self.stores.pop().close()

    def rows(self, statement: str, **params: Any) -> list[tuple[Any, ...]]:
        """What is committed."""
        with closing(connect(self.path, 5_000, self.key)) as connection:
            return connection.execute(statement, params).fetchall()

    def tables(self) -> list[str]:
        """The names of the tables."""
        return [row[0] for row in self.rows("SELECT name FROM sqlite_master WHERE type = 'table'")]

    def columns(self, table: str) -> set[str]:
        """The names of a table's columns."""
        return {row[1] for row in self.rows(f"PRAGMA table_info({table})")}

    def raw(self) -> bytes:
        """All bytes on disk."""
        return b"".join(path.read_bytes() for path in self.path.parent.glob("contract.db*"))


class EncryptedEngine(SQLiteEngine):
    """The same, encrypted; a key as it is, since stretching one takes longer than a test."""

    key = "0f" * 32
    readable = False


ENGINES = {"sqlite": SQLiteEngine, "encrypted": EncryptedEngine}


@pytest.fixture(params=["sqlite", pytest.param("encrypted", marks=pytest.mark.slow)])
async def engine(request: pytest.FixtureRequest, tmp_path: Path, clock: StoppedClock) -> AsyncIterator[SQLiteEngine]:
    if request.param == "encrypted":
        pytest.importorskip("sqlcipher3")
    made = ENGINES[request.param](tmp_path, clock)
    yield made
    await made.close()


@pytest.fixture
async def store(engine: SQLiteEngine) -> Store:
    return await engine.open()
