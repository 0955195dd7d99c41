"""An encrypted database: its bytes say nothing, only its key opens it, and a plain one can be made into one."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hindsight_memory import InvalidInput, Unavailable
from hindsight_memory.build import encrypt, settings_from
from hindsight_memory.domain import AuditCheck, Draft, Query
from hindsight_memory.service import Service
from hindsight_memory.settings import Settings, StoreSettings
from hindsight_memory.testing import HashEmbedder, StoppedClock, open_service
from samples import ALICE

pytest.importorskip("sqlcipher3")
pytestmark = pytest.mark.slow  # stretching a key takes its time

SAID = "the xylophonequartz code, 木琴石英"
KEY = "correct horse 'battery' \"staple\" 电池"


def under(database: Path, key: str = KEY, **store: Any) -> Settings:
    return replace(Settings(database=str(database)), store=StoreSettings(key=key, **store))


async def opened(database: Path, clock: StoppedClock, key: str = KEY, **store: Any) -> Service:
    settings = under(database, key, **store)
    return await open_service(database, clock=clock, embedder=HashEmbedder(), settings=settings, start=False)


@pytest.fixture
async def encrypted(database: Path, clock: StoppedClock) -> AsyncIterator[Service]:
    service = await opened(database, clock)
    await service.write(Draft(content=SAID, tags=("xylophonequartz",)), ALICE)
    while await service._parts.indexer.step():
        pass
    yield service
    await service.close()


def raw(database: Path) -> bytes:
    return b"".join(path.read_bytes() for path in database.parent.glob(f"{database.name}*"))


async def test_no_byte_tells_what_it_holds(encrypted: Service, database: Path, clock: StoppedClock) -> None:
    held = raw(database)
    assert len(held) > 100_000
    for form in (b"xylophonequartz", "木琴".encode(), b"SQLite format 3", b"CREATE TABLE", b"alice", b"memories"):
        assert form not in held
    await encrypted.close()
    again = await opened(database, clock)
    (hit, *_) = await again.search(Query(text="xylophonequartz"), ALICE)
    assert hit.memory.content == SAID
    (hit, *_) = await again.search(Query(text="木琴石英"), ALICE)
    assert hit.memory.content == SAID
    assert (await again.verify_audit(AuditCheck(), ALICE)).whole
    checks = {check.name: check for check in await again.doctor()}
    assert (checks["database"].ok, checks["encryption"].note) == (True, "on")
    await again.close()


@pytest.mark.parametrize("key", ["wrong", "Correct horse", "0f" * 32])
async def test_another_key_is_said_to_be_another(
    encrypted: Service, database: Path, clock: StoppedClock, key: str
) -> None:
    await encrypted.close()
    before = raw(database)
    with pytest.raises(Unavailable, match="key does not open") as refused:
        await opened(database, clock, key)
    assert "DATABASE_KEY" in refused.value.hint
    assert key not in str(refused.value)
    assert raw(database) == before


async def test_without_a_key_it_is_said_that_one_may_be_missing(
    encrypted: Service, database: Path, clock: StoppedClock
) -> None:
    await encrypted.close()
    with pytest.raises(Unavailable) as refused:
        await opened(database, clock, "")
    assert "encrypted" in refused.value.hint


async def test_a_plain_file_is_not_opened_with_a_key_and_is_made_an_encrypted_one(
    database: Path, clock: StoppedClock
) -> None:
    plain = await opened(database, clock, "")
    receipt = await plain.write(Draft(content=SAID), ALICE)
    await plain.close()
    with pytest.raises(Unavailable, match="not encrypted") as refused:
        await opened(database, clock)
    assert "hindsight-memory encrypt" in refused.value.hint
    assert encrypt(under(database)) == database
    assert b"xylophonequartz" not in raw(database)
    assert database.stat().st_mode & 0o077 == 0
    assert [path.name for path in database.parent.glob(f"{database.name}*")] == [database.name]
    service = await opened(database, clock)
    assert (await service.get(receipt.id, ALICE)).content == SAID
    assert (await service.verify_audit(AuditCheck(), ALICE)).lines == 1
    assert await service._parts.store.check() == []
    await service.close()
    with pytest.raises(Unavailable, match="no plain memory file"):
        encrypt(under(database))
    with pytest.raises(InvalidInput):
        encrypt(under(database, ""))


async def test_a_file_that_another_process_has_open_is_not_made_another(database: Path, clock: StoppedClock) -> None:
    await (await opened(database, clock, "")).close()
    before = raw(database)
    code = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('SELECT count(*) FROM banks').fetchall()"
    code += "; print('open', flush=True); sys.stdin.read()"
    other = subprocess.Popen(  # noqa: ASYNC220
        [sys.executable, "-c", code, str(database)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert other.stdout is not None
    assert other.stdout.readline() == "open\n"
    with pytest.raises(Unavailable, match="in use"):
        encrypt(under(database))
    other.communicate("")
    assert database.read_bytes()[:16] == b"SQLite format 3\0"
    assert len(raw(database)) >= len(before) > 0
    encrypt(under(database))
    assert database.read_bytes()[:16] != b"SQLite format 3\0"


async def test_a_purge_is_proved_there_too(encrypted: Service, database: Path) -> None:
    erased = await encrypted.forget_all(ALICE, "alice")
    assert erased.proof is not None
    assert (erased.proof.found, erased.proof.note, erased.proof.compacted) == (0, "", True)
    assert erased.proof.samples >= 2


async def test_two_processes_share_it(encrypted: Service, database: Path, clock: StoppedClock) -> None:
    other = await opened(database, clock)
    await other.write(Draft(content="and another"), ALICE)
    assert (await encrypted.verify_audit(AuditCheck(), ALICE)).lines == 2
    await other.close()


async def test_a_key_comes_from_a_command(encrypted: Service, database: Path, clock: StoppedClock) -> None:
    await encrypted.close()
    with pytest.raises(InvalidInput):
        await opened(database, clock, "", key_command="false")
    with pytest.raises(InvalidInput):
        await opened(database, clock, "", key_command="true")
    script = database.parent / "key.py"
    script.write_text(f"print({KEY!r})", encoding="utf-8")
    service = await opened(database, clock, "", key_command=f"{sys.executable} -X utf8 {script}")
    assert await service.search(Query(text="xylophonequartz"), ALICE)
    await service.close()


def test_the_environment_names_the_key_and_no_repr_shows_it() -> None:
    settings = settings_from({"HINDSIGHT_MEMORY_DATABASE_KEY": "hunter2 hunter2"})
    assert settings.store.key == "hunter2 hunter2"
    assert "hunter2" not in repr(settings)


async def test_without_the_package_it_says_what_to_install(
    database: Path, clock: StoppedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(Unavailable) as refused:
        await opened(database, clock)
    assert "hindsight-memory[encryption]" in refused.value.hint
    assert not database.exists()


async def test_a_database_that_is_none_is_not_overwritten(database: Path, clock: StoppedClock) -> None:
    database.write_bytes(b"this is a text, and no database at all. " * 500)
    before = database.read_bytes()
    with pytest.raises(Unavailable):
        await opened(database, clock)
    assert database.read_bytes() == before
