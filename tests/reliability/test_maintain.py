"""Maintenance among real processes: killed in the middle, two at once, and twenty thousand memories in one go."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from hindsight_memory.domain import Draft, Maintenance, Scope
from hindsight_memory.service import Service
from hindsight_memory.settings import LifecycleSettings
from hindsight_memory.testing import StoppedClock, open_service

pytestmark = pytest.mark.slow
PROGRAMS = Path(__file__).parent / "programs.py"
ALICE = Scope(user_id="alice", session_id="s")
LATER = 24 * 8


def run(program: str, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, str(PROGRAMS), program, *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


async def filled(database: Path) -> Service:
    """A bank with something to do for every routine, eight days before it is due."""
    clock = StoppedClock()
    service = await open_service(database, clock=clock, embedder=[], start=False)
    await service.write_many([Draft(content=f"desk {n}", kind="working") for n in range(300)], ALICE)
    await service.write_many([Draft(content=f"Said Twice {n}") for n in range(200)], ALICE)
    await service.write_many([Draft(content=f"said twice {n}") for n in range(200)], ALICE)
    for receipt in await service.write_many([Draft(content=f"forgotten {n}") for n in range(100)], ALICE):
        await service.forget(receipt.id, ALICE)
    return service


async def states(service: Service) -> dict[str, int]:
    """How many memories are in which state, and how many lines the log has for each verb."""
    reader = service._parts.store.reading(ALICE.bank)
    counts: dict[str, int] = {}
    for event in await reader.events(None, 100_000):
        counts[event.verb] = counts.get(event.verb, 0) + 1
    return counts | {"active": await reader.active()}


@pytest.mark.timeout(180)
async def test_killed_in_the_middle_it_loses_nothing_and_the_next_run_finishes(database: Path) -> None:
    service = await filled(database)
    await service.close()
    for batches in (1, 11, 21):
        process = run("maintain", str(database), str(LATER))
        assert process.stdout is not None
        for _ in range(batches):
            line = await asyncio.to_thread(process.stdout.readline)
            assert line.strip(), process.stderr and process.stderr.read()
        os.kill(process.pid, signal.SIGKILL)
        await asyncio.to_thread(process.communicate)
        service = await open_service(database, clock=StoppedClock(), embedder=[], start=False)
        now = await states(service)
        # What is done stands in the log, and what stands in the log is done.
        assert now["active"] == 700 - now.get("expire", 0) - now.get("merge", 0)
        assert await service._parts.store.check() == []
        await service.close()
    clock = StoppedClock(StoppedClock().now + timedelta(hours=LATER, minutes=1))
    service = await open_service(database, clock=clock, embedder=[], start=False)
    await service.maintain(Maintenance())
    now = await states(service)
    assert (now["expire"], now["merge"], now["purge"], now["active"]) == (300, 200, 100, 200)
    held = {memory.tier for _, memory in await service._parts.store.reading(ALICE.bank).sweep(0, 500)}
    assert held == {"warm"}
    assert sum((await service.maintain(Maintenance(dry_run=True))).totals.values()) == 0
    await service.close()


@pytest.mark.timeout(180)
async def test_of_several_processes_one_does_it_and_writers_get_their_turn(database: Path) -> None:
    service = await filled(database)
    processes = [run("maintain", str(database), str(LATER)) for _ in range(3)]
    written = 0
    ends = asyncio.gather(*(asyncio.to_thread(process.communicate) for process in processes))
    while not ends.done():
        await service.write(Draft(content=f"written meanwhile {written}", kind="episodic"), ALICE)
        written += 1
        await asyncio.sleep(0.05)
    said = [out.strip().split("\n")[-1] for out, _ in await ends]
    assert [process.returncode for process in processes] == [0, 0, 0], await ends
    done = [json.loads(line) for line in said if line.startswith("{")]
    assert done
    assert {line for line in said if not line.startswith("{")} <= {"Overloaded"}
    assert {name: sum(each[name] for each in done) for name in ("expire", "merge", "purge")} == {
        "expire": 300, "merge": 200, "purge": 100,
    }  # fmt: skip
    now = await states(service)
    assert (now["expire"], now["merge"], now["purge"]) == (300, 200, 100)
    assert now["active"] == 200 + written
    assert (await service._parts.store.reading(ALICE.bank).events(None, 1)) != []
    await service.close()


@pytest.mark.timeout(900)
async def test_twenty_thousand_memories_are_kept_in_bounds(database: Path) -> None:
    """Half of them nearly the same: without blocks that would be fifty million pairs."""
    command = [sys.executable, str(PROGRAMS.with_name("many.py")), str(database), "64"]
    process = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    figures = json.loads(out)
    first, second = (run["totals"] for run in figures["runs"])
    assert figures["peak_mb"] < 500
    assert figures["pairs"] <= 20_000 * 2 * LifecycleSettings().near
    assert (first["tier"], second["purge"]) == (20_000, first["merge"])
    assert first["merge"] >= 9_950
