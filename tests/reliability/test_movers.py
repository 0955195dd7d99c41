"""A process that is killed while it moves memory leaves nothing by halves, and the next one goes on."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from hindsight_memory.domain import AuditCheck, Draft, Export, Message, Scope
from hindsight_memory.service import Service
from hindsight_memory.testing import StoppedClock, open_service

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

PROGRAMS = Path(__file__).with_name("movers.py")
USERS = ("alice", "王小明", "zoë")


@asynccontextmanager
async def opened(path: Path) -> AsyncIterator[Service]:
    service = await open_service(path, clock=StoppedClock(), embedder=[], start=False)
    try:
        yield service
    finally:
        await service.close()


async def whole(service: Service) -> bytes:
    return b"".join([piece async for piece in await service.export(Export(all_users=True), Scope())])


@pytest.fixture
async def first(tmp_path: Path) -> bytes:
    """A database of three users, and its archive beside it."""
    async with opened(tmp_path / "old.db") as service:
        for user in USERS:
            scope = Scope(user_id=user, session_id="s")
            await service.write_many(
                [Draft(content=f"{user} said {number}, 第 {number} 次") for number in range(40)], scope
            )
            await service.write_conversation([Message(content=f"turn {number}") for number in range(10)], scope)
        found = await whole(service)
    (tmp_path / "archive").write_bytes(found)
    return found


def killed(program: str, one: Path, two: Path, steps: int) -> bool:
    """Run a program and kill it after so many steps; returns whether it had ended before."""
    command = [sys.executable, str(PROGRAMS), program, str(one), str(two)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    for _ in range(steps):
        if process.stdout.readline() in ("done\n", ""):
            process.communicate()
            return True
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    return False


async def test_an_import_that_is_killed_leaves_whole_users_and_no_others(first: bytes, tmp_path: Path) -> None:
    killed_at, seen = 0, set[int]()
    for steps in (1, 3, 6, 9, 14):
        new = tmp_path / f"new{steps}.db"
        if await asyncio.to_thread(killed, "take_in", tmp_path / "archive", new, steps):
            continue
        killed_at += 1
        async with opened(new) as service:
            scopes = await service._parts.store.banks(None, None, 10)
            seen.add(len(scopes))
            for scope in scopes:
                reader = service._parts.store.reading(scope.bank)
                assert (await reader.active(), await reader.faults(9)) == (50, [])
                assert (await service.verify_audit(AuditCheck(), scope)).whole
            moved = await service.import_archive(tmp_path / "archive")
            assert [each.outcome for each in moved.banks].count("known") == len(scopes)
            assert await whole(service) == first
    assert killed_at >= 3
    assert len(seen) > 1  # in the middle of the first user, and of a later one


async def test_a_migration_that_is_killed_again_and_again_comes_to_its_end(first: bytes, tmp_path: Path) -> None:
    new = tmp_path / "new.db"
    kills = 0
    for steps in (1, 2, 3, 5, 8, 13, 1_000):
        ended = await asyncio.to_thread(killed, "move", tmp_path / "old.db", new, steps)
        if ended:
            break
        kills += 1
        async with opened(new) as service:
            assert await service._parts.store.check() == []
    assert kills >= 3
    async with opened(new) as service:
        assert await whole(service) == first
        for user in USERS:
            scope = Scope(user_id=user)
            assert await service._parts.store.reading(scope.bank).faults(9) == []
            assert (await service.verify_audit(AuditCheck(), scope)).whole
