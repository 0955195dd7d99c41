"""Real processes on one file: killed in the middle of a write, and eight of them at once."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hindsight_memory.domain import Listing, Query, Scope
from hindsight_memory.testing import HashEmbedder, StoppedClock, open_service

pytestmark = pytest.mark.slow
PROGRAMS = Path(__file__).parent / "programs.py"
ALICE = Scope(user_id="alice", session_id="s")


def run(program: str, database: Path, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, str(PROGRAMS), program, str(database), *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def acknowledged(process: subprocess.Popen[str], seconds: float) -> int:
    """Let it write for a while, kill it as a power cut would, and count what it had been told was stored."""
    assert process.stdout is not None
    first = process.stdout.readline()
    assert first == "0\n", process.stderr.read() if process.stderr else ""
    time.sleep(seconds)
    os.kill(process.pid, signal.SIGKILL)
    rest = process.communicate()[0]
    lines = (first + rest).split("\n")
    return len([line for line in lines[:-1] if line])


async def test_every_acknowledged_write_survives_kill_9_and_gets_its_vector(database: Path) -> None:
    total = 0
    for seconds in (0.05, 0.31, 0.52):
        killed = await asyncio.to_thread(lambda: acknowledged(run("write_for_ever", database), seconds))  # noqa: B023
        total = max(total, killed)
    assert total > 5
    service = await open_service(database, clock=StoppedClock(), embedder=[])
    page = await service.list(Listing(limit=1_000), ALICE)
    held = {memory.content for memory in page.memories}
    assert {f"acknowledged write number {number}" for number in range(total)} <= held
    assert await service._parts.store.check() == []
    hits = await service.search(Query(text=f"number {total - 1}"), ALICE)
    assert hits[0].memory.content == f"acknowledged write number {total - 1}"
    await service.close()


async def test_what_was_killed_while_it_embedded_is_indexed_soon_after(database: Path) -> None:
    """Nobody waits for the end of a dead process's lease."""
    await asyncio.to_thread(lambda: acknowledged(run("write_and_hang", database), 0))
    service = await open_service(database, embedder=HashEmbedder())
    reader = service._parts.store.reading(ALICE.bank)
    async with asyncio.timeout(15):
        while (await reader.stats()).unindexed:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    await service.close()


@pytest.mark.timeout(180)
async def test_eight_processes_write_one_file_and_lose_nothing(database: Path) -> None:
    processes = [run("write_many", database, str(number)) for number in range(8)]
    ends = await asyncio.gather(*(asyncio.to_thread(process.communicate) for process in processes))
    assert [process.returncode for process in processes] == [0] * 8, [error for _, error in ends if error]
    assert all(said.split() == ["True"] * 5 for said, _ in ends)
    service = await open_service(database, embedder=[])
    held: list[str] = []
    after = None
    while True:
        page = await service.list(Listing(limit=1_000, after=after), ALICE)
        held += [memory.content for memory in page.memories]
        after = page.next
        if after is None:
            break
    assert len(held) == len(set(held)) == 1_600
    turns = await service._parts.store.reading(ALICE.bank).turns("s", 0, 10_000)
    assert [turn.turn for turn in turns] == list(range(800))
    assert await service._parts.store.check() == []
    await service.close()
