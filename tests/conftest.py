"""What every test stands on: no network, no database but its own, a stopped clock, a stand-in for the model."""

from __future__ import annotations

import os
import shutil
import socket
import sqlite3
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings

from hindsight_memory import AsyncHindsightMemory
from hindsight_memory.service import Service
from hindsight_memory.settings import StoreSettings, WordSettings
from hindsight_memory.store.sqlite import SQLiteStore
from hindsight_memory.testing import HashEmbedder, StoppedClock, open_service
from postgres import Server, running

_SLOW_MACHINES = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
hypothesis_settings.register_profile("ci", max_examples=25, deadline=None, suppress_health_check=_SLOW_MACHINES)
hypothesis_settings.register_profile("long", max_examples=1_000, deadline=None, suppress_health_check=_SLOW_MACHINES)
hypothesis_settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

_MEMORY = Path("/dev/shm")  # the databases of tests are small, and a disk that flushes triples the wait
_ROOM = 4 << 30
if "TMPDIR" not in os.environ and os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free > _ROOM:
    tempfile.tempdir = str(_MEMORY)

_LOCAL = {"localhost", "127.0.0.1", "::1", "testserver", "", None}


def _guarded(connect: Callable[..., Any]) -> Callable[..., Any]:
    def call(self: socket.socket, address: Any) -> Any:
        if self.family in (socket.AF_INET, socket.AF_INET6) and address[0] not in _LOCAL:
            raise RuntimeError(f"A test reached for the network: {address}")
        return connect(self, address)

    return call


socket.socket.connect = _guarded(socket.socket.connect)  # type: ignore[method-assign]
socket.socket.connect_ex = _guarded(socket.socket.connect_ex)  # type: ignore[method-assign]


@pytest.fixture(scope="session", autouse=True)
def _only_databases_of_tests(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A test suite that can reach a real database will one day empty it."""
    allowed = tmp_path_factory.getbasetemp().resolve()
    drivers = [sqlite3, *([] if find_spec("sqlcipher3") is None else [import_module("sqlcipher3.dbapi2")])]

    def guarded(plain: Callable[..., Any], database: Any, *args: Any, **options: Any) -> Any:
        name = os.fspath(database)
        if name != ":memory:" and not Path(name).resolve().is_relative_to(allowed):
            raise RuntimeError(f"A test reached for a database outside its temporary folder: {name}")
        return plain(database, *args, **options)

    with pytest.MonkeyPatch.context() as patch:
        for driver in drivers:
            patch.setattr(driver, "connect", partial(guarded, driver.connect))
        yield


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in os.environ if name.upper().startswith("HINDSIGHT_MEMORY_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "user data"))


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    with running() as made:
        yield made


@pytest.fixture
def clock() -> StoppedClock:
    return StoppedClock()


@pytest.fixture
def embedder() -> HashEmbedder:
    return HashEmbedder()


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
async def store(database: Path, clock: StoppedClock) -> AsyncIterator[SQLiteStore]:
    opened = await SQLiteStore.open(database, StoreSettings(), WordSettings(), clock)
    yield opened
    await opened.close()


@pytest.fixture
async def service(database: Path, clock: StoppedClock, embedder: HashEmbedder) -> AsyncIterator[Service]:
    opened = await open_service(database, clock=clock, embedder=embedder)
    yield opened
    await opened.close()


@pytest.fixture
def memory(service: Service, clock: StoppedClock) -> AsyncHindsightMemory:
    """The verbs with keywords, over the stand-in."""
    face = AsyncHindsightMemory(user_id="alice", clock=clock)
    face._service = service
    return face
