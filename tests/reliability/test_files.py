"""Files that cannot be used: the error says which, why and what to do, and nothing is changed."""

from __future__ import annotations

import asyncio
import os
import resource
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from hindsight_memory import HindsightMemoryError, Overloaded, Unavailable
from hindsight_memory.domain import Draft, Listing, Query, Scope
from hindsight_memory.service import Service
from hindsight_memory.settings import Settings, StoreSettings
from hindsight_memory.testing import StoppedClock, open_service

ALICE = Scope(user_id="alice")
PROGRAMS = Path(__file__).parent / "programs.py"


async def filled(path: Path, clock: StoppedClock, count: int = 60) -> None:
    """A database with something in it, closed."""
    service = await open_service(path, clock=clock)
    await service.write_many([Draft(content=f"memory {number} " + "and more " * 40) for number in range(count)], ALICE)
    await service.close()


def state(folder: Path) -> dict[str, bytes]:
    """What stands in a folder's files; SQLite may leave an empty one beside one it could not write to."""
    files = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    return {name: data for name, data in files.items() if data and not name.endswith("-shm")}


async def refused(path: Path, clock: StoppedClock) -> HindsightMemoryError:
    """Opening fails, says so, and leaves every file as it was."""
    before = state(path.parent)
    with pytest.raises(HindsightMemoryError) as error:
        await open_service(path, clock=clock)
    assert state(path.parent) == before
    assert str(path) in error.value.message
    assert error.value.hint
    assert error.value.exit_code == 6
    return error.value


@pytest.mark.skipif(os.name != "posix", reason="permissions are another matter there")
async def test_a_new_file_is_nobody_elses_to_read(tmp_path: Path, clock: StoppedClock) -> None:
    database = tmp_path / "made" / "memory.db"
    service = await open_service(database, clock=clock)
    await service.write(Draft(content="hers"), ALICE)
    modes = {path.name: path.stat().st_mode & 0o777 for path in database.parent.iterdir()}
    assert modes == {"memory.db": 0o600, "memory.db-wal": 0o600, "memory.db-shm": 0o600}
    assert database.parent.stat().st_mode & 0o777 == 0o700
    await service.close()


async def test_a_newer_schema(database: Path, clock: StoppedClock) -> None:
    await filled(database, clock)
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA user_version = 999")
    assert "pip install --upgrade" in (await refused(database, clock)).hint


async def test_another_programs_database(database: Path, clock: StoppedClock) -> None:
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("CREATE TABLE theirs (x)")
        connection.execute("INSERT INTO theirs VALUES (1)")
        connection.commit()
    assert "another program" in (await refused(database, clock)).message


@pytest.mark.parametrize(
    "content",
    [b"this is a text file, of some length, and no database at all. " * 50, os.urandom(20_000), b"\0" * 9_000],
)
async def test_a_file_that_is_no_database(database: Path, clock: StoppedClock, content: bytes) -> None:
    database.write_bytes(content)
    assert isinstance(await refused(database, clock), Unavailable)


async def test_a_folder(tmp_path: Path, clock: StoppedClock) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(Unavailable) as error:
        await open_service(folder, clock=clock)
    assert error.value.hint


def cut(data: bytes) -> bytes:
    return data[: len(data) // 2 // 8192 * 8192]


def scrambled(data: bytes) -> bytes:
    return data[:100] + b"\xa5" * 8_092 + data[8_192:]


def holed(data: bytes) -> bytes:
    return data[: 8_192 * 3] + os.urandom(8_192 * 4) + data[8_192 * 7 :]


@pytest.mark.parametrize("damage", [cut, scrambled, holed])
async def test_a_damaged_file_is_said_to_be_damaged(
    database: Path, clock: StoppedClock, damage: Callable[[bytes], bytes]
) -> None:
    """At the latest by ``doctor``; and no verb fails with anything but our own errors."""
    await filled(database, clock)
    database.write_bytes(damage(database.read_bytes()))
    try:
        service = await open_service(database, clock=clock, start=False)
    except Unavailable as error:
        assert "damaged" in error.message  # noqa: PT017
        assert "backup" in error.hint  # noqa: PT017
        return
    (found,) = [check for check in await _health(service) if check.name == "database"]
    assert not found.ok
    for verb in (_search, _list, _write):
        try:
            await verb(service)
        except HindsightMemoryError as error:
            assert error.hint  # noqa: PT017
    await service.close()


async def _health(service: Service) -> Any:
    return await service.doctor()


async def _search(service: Service) -> Any:
    return await service.search(Query(text="memory more"), ALICE)


async def _list(service: Service) -> Any:
    return await service.list(Listing(limit=1_000), ALICE)


async def _write(service: Service) -> Any:
    return await service.write(Draft(content="another"), ALICE)


async def test_a_full_disk(database: Path, clock: StoppedClock) -> None:
    """What does not fit is refused with what to do; what was there stays, and small things fit again."""
    await filled(database, clock)
    service = await open_service(database, clock=clock, start=False)
    store: Any = service._parts.store
    pages = await store._engine.write(lambda connection: connection.execute("PRAGMA page_count").fetchone()[0])
    await store._engine.write(lambda connection: connection.execute(f"PRAGMA max_page_count = {pages + 2}"))
    before = await service.list(Listing(limit=1_000), ALICE)
    for _ in range(2):
        with pytest.raises(Unavailable) as error:
            await service.write_many([Draft(content=f"{n} " + "long " * 10_000) for n in range(20)], ALICE)
        assert "disk is full" in error.value.message
        assert "Free some space" in error.value.hint
    assert await service.list(Listing(limit=1_000), ALICE) == before
    await store._engine.write(lambda connection: connection.execute(f"PRAGMA max_page_count = {pages + 1_000}"))
    assert (await service.write(Draft(content="fits again"), ALICE)).created
    assert await store.check() == []
    await service.close()


async def test_a_file_that_may_not_grow(database: Path, clock: StoppedClock) -> None:
    """The operating system refuses at the commit, not before."""
    await filled(database, clock)
    service = await open_service(database, clock=clock, start=False)
    before = await service.list(Listing(limit=1_000), ALICE)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, hard))
    try:
        with pytest.raises(Unavailable) as error:
            await service.write_many([Draft(content=f"{n} " + "long " * 10_000) for n in range(20)], ALICE)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert error.value.hint
    assert "within a transaction" not in str(error.value)
    assert await service.list(Listing(limit=1_000), ALICE) == before
    assert (await service.write(Draft(content="fits again"), ALICE)).created
    await service.close()


async def test_a_file_that_another_process_holds(database: Path, clock: StoppedClock) -> None:
    await filled(database, clock)
    settings = Settings(database="", store=StoreSettings(busy_timeout_ms=100))
    service = await open_service(database, clock=clock, settings=settings, start=False)
    with closing(sqlite3.connect(database, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(Overloaded) as error:
            await service.write(Draft(content="waits"), ALICE)
        assert "Try again" in error.value.hint
        assert await service.search(Query(text="memory 7"), ALICE) != [], "reading goes on"
        other.execute("ROLLBACK")
    assert (await service.write(Draft(content="waits"), ALICE)).created
    await service.close()


@pytest.mark.slow
@pytest.mark.parametrize("closed", ["file", "folder", "missing folder"])
async def test_what_may_not_be_written(tmp_path: Path, clock: StoppedClock, closed: str) -> None:
    folder = tmp_path / "kept"
    folder.mkdir()
    database = folder / "memory.db"
    if closed == "missing folder":
        database = folder / "deeper" / "memory.db"
    else:
        await filled(database, clock, 3)
    target = database if closed == "file" else folder
    target.chmod(0o444 if closed == "file" else 0o555)
    before = state(folder)
    command = [sys.executable, str(PROGRAMS), "write_one", str(database), "not to be stored"]
    done = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, check=False)
    target.chmod(0o755)
    assert done.stdout.startswith("Unavailable"), done.stdout + done.stderr
    assert str(database) in done.stdout
    assert "writ" in done.stdout
    assert done.stderr == ""
    assert state(folder) == before
