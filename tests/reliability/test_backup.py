"""Backups: a whole copy while others write, plain and encrypted, and nothing but a whole copy is put back."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import replace
from pathlib import Path

import pytest

from hindsight_memory import Conflict, HindsightMemoryError, InvalidInput, Unavailable
from hindsight_memory.domain import Draft, Listing, Scope
from hindsight_memory.service import Service
from hindsight_memory.settings import Settings, StoreSettings
from hindsight_memory.store.sqlite_backup import backup, restore
from hindsight_memory.testing import StoppedClock, open_service

ALICE = Scope(user_id="alice")
KEYS = ["", "0f" * 32]


@asynccontextmanager
async def opened(path: Path, key: str = "") -> AsyncIterator[Service]:
    settings = replace(Settings(database=str(path)), store=StoreSettings(key=key))
    service = await open_service(path, clock=StoppedClock(), embedder=[], settings=settings)
    try:
        yield service
    finally:
        await service.close()


async def said(path: Path, key: str = "") -> set[str]:
    async with opened(path, key) as service:
        return {memory.content for memory in (await service.list(Listing(limit=100), ALICE)).memories}


@pytest.mark.parametrize("key", KEYS, ids=["plain", "encrypted"])
async def test_a_copy_is_whole_though_it_is_written_to(tmp_path: Path, key: str) -> None:
    if key:
        pytest.importorskip("sqlcipher3")
    database, copy = tmp_path / "memory.db", tmp_path / "folder" / "copy.db"
    copy.parent.mkdir()
    async with opened(database, key) as service:
        await service.write(Draft(content="before 之前"), ALICE)
        backup(database, key, copy)  # while it is open
        await service.write(Draft(content="after"), ALICE)
        assert os.listdir(copy.parent) == ["copy.db"]  # noqa: PTH208
        assert copy.stat().st_mode & 0o777 == 0o600
        assert (b"before" in copy.read_bytes()) is not bool(key)
        assert await said(copy, key) == {"before 之前"}
        with pytest.raises(Conflict):
            backup(database, key, copy)
        with pytest.raises(Unavailable, match="in use"):
            restore(database, key, copy, replace=True)
    with pytest.raises(Conflict, match="already"):
        restore(database, key, copy, replace=False)
    for number in (1, 2):
        kept = restore(database, key, copy, replace=True)
        assert kept == tmp_path / f"memory.db.before-{number}"
    assert await said(tmp_path / "memory.db.before-1", key) == {"before 之前", "after"}
    assert await said(database, key) == {"before 之前"}
    assert restore(tmp_path / "new" / "memory.db", key, copy, replace=False) is None
    assert await said(tmp_path / "new" / "memory.db", key) == {"before 之前"}


async def test_a_damaged_file_is_replaced_and_kept(tmp_path: Path) -> None:
    database, copy = tmp_path / "memory.db", tmp_path / "copy.db"
    async with opened(database) as service:
        await service.write(Draft(content="kept"), ALICE)
    backup(database, "", copy)
    database.write_bytes(b"\x00" * 20_000)
    (tmp_path / "memory.db-wal").write_bytes(b"of another time")
    kept = restore(database, "", copy, replace=True)
    assert kept is not None
    assert kept.read_bytes() == b"\x00" * 20_000
    assert not (tmp_path / "memory.db-wal").exists()  # it would be taken for the new one's
    assert await said(database) == {"kept"}


async def test_only_a_whole_copy_of_ours_is_put_back(tmp_path: Path) -> None:
    database, copy = tmp_path / "memory.db", tmp_path / "copy.db"
    async with opened(database) as service:
        for number in range(60):
            await service.write(Draft(content=f"number {number} " * 40), ALICE)
    backup(database, "", copy)
    whole = copy.read_bytes()
    before = database.read_bytes()
    with closing(sqlite3.connect(tmp_path / "other.db")) as other:
        other.execute("CREATE TABLE a (b)")
    half = len(whole) // 2
    (tmp_path / "cut").write_bytes(whole[:half])
    (tmp_path / "changed").write_bytes(whole[:half] + b"\x55" * 8_192 + whole[half + 8_192 :])
    (tmp_path / "text").write_bytes(b"x" * 99)
    for name in ("cut", "changed", "text", "other.db", "nowhere"):
        with pytest.raises(HindsightMemoryError):
            restore(database, "", tmp_path / name, replace=True)
    assert database.read_bytes() == before
    assert not list(tmp_path.glob("*.part"))
    assert not list(tmp_path.glob("*.before-*"))
    with pytest.raises(Unavailable):
        backup(tmp_path / "nowhere.db", "", tmp_path / "x.db")
    with pytest.raises(Unavailable, match="no memory file"):
        backup(tmp_path / "other.db", "", tmp_path / "x.db")
    with pytest.raises(Unavailable):
        backup(database, "", tmp_path / "no folder" / "x.db")
    with pytest.raises(InvalidInput):
        restore(database, "", tmp_path / "nowhere", replace=True)
