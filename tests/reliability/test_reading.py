"""Real processes whose language model is at work: killed in the middle of it, and several that share it."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from hindsight_memory.domain import EXTRACTED_FROM, Jobs, Listing, Message, Scope
from hindsight_memory.testing import open_service

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]
PROGRAMS = Path(__file__).parent / "programs.py"
ALICE = Scope(user_id="alice", session_id="s")


def run(program: str, database: Path) -> subprocess.Popen[str]:
    command = [sys.executable, str(PROGRAMS), program, str(database)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


async def read(database: Path, processes: int) -> list[str]:
    """Have processes read what is left; returns every text that a model was asked about."""
    running = [run("read_for_all", database) for _ in range(processes)]
    ends = await asyncio.gather(*(asyncio.to_thread(process.communicate) for process in running))
    assert [process.returncode for process in running] == [0] * processes, [error for _, error in ends]
    return sorted(line for said, _ in ends for line in said.splitlines())


async def facts(database: Path) -> list[str]:
    """What models found, in this bank of turns of which rules find nothing."""
    service = await open_service(database, embedder=[], start=False)
    page = await service.list(Listing(limit=1_000), ALICE)
    assert (await service.jobs(ALICE)) == Jobs(done=sum(memory.turn is not None for memory in page.memories))
    assert await service._parts.store.check() == []
    await service.close()
    return sorted(memory.content for memory in page.memories if EXTRACTED_FROM in memory.metadata)


async def test_what_was_killed_in_the_middle_of_a_job_is_done_by_the_next(database: Path) -> None:
    """Nobody waits for the end of a dead process's lease, which would take most of an hour here."""
    process = run("read_and_hang", database)
    assert process.stdout is not None
    assert (await asyncio.to_thread(process.stdout.readline)).startswith("Boat")
    service = await open_service(database, embedder=[], start=False)
    async with asyncio.timeout(60):
        while len((await service.list(Listing(), ALICE)).memories) < 5:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    assert (await service.jobs(ALICE)).running >= 1
    await service.close()
    os.kill(process.pid, signal.SIGKILL)
    await asyncio.to_thread(process.communicate)
    texts = [f"Boat number {number} is moored at the pier." for number in range(5)]
    assert await read(database, 1) == texts
    assert await facts(database) == [text.removesuffix(".") for text in texts]


async def test_processes_share_what_is_to_be_read(database: Path) -> None:
    texts = sorted(f"Boat number {number} is moored at the pier." for number in range(40))
    service = await open_service(database, embedder=[], start=False)
    for text in texts:
        await service.write_conversation([Message(content=text)], ALICE)
    while await service._parts.indexer.step():
        pass
    await service.close()
    assert await read(database, 3) == texts, "each was read once"
    assert await facts(database) == [text.removesuffix(".") for text in texts]
