"""What ``serve`` does around the server: where it listens, and what it tells whoever started it."""

from __future__ import annotations

import asyncio
import gc
import json
import signal
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Final

from hindsight_memory.cli.output import emit, say
from hindsight_memory.domain import Check
from hindsight_memory.errors import HindsightMemoryError, InvalidInput, Unavailable
from hindsight_memory.settings import Settings

_JSON: Final = "-H 'Content-Type: application/json'"
_KEY: Final = '-H "Authorization: Bearer $HINDSIGHT_MEMORY_API_KEY" '
_MOST_WORKERS: Final = 64
_STDIO: Final = {"mcpServers": {"hindsight-memory": {"command": "hindsight-memory", "args": ["mcp"]}}}


@dataclass(frozen=True, slots=True)
class Doors:
    """Where a server's doors are, and what stands behind them."""

    database: str
    embedder: str
    page: str
    rest: str
    mcp: str


def serve(settings: Settings, host: str, port: int, *, as_json: bool) -> None:
    """Serve until a signal ends it, after saying where."""
    from hindsight_memory.server.app import run_processes

    workers = settings.server.workers
    if not 1 <= workers <= _MOST_WORKERS:
        raise InvalidInput(f"workers is {workers}; it must be from 1 to {_MOST_WORKERS}.", field="workers")
    asyncio.run(_checked(settings, host, port, as_json=as_json))
    if workers > 1:
        run_processes(settings, host, port, workers)


async def _checked(settings: Settings, host: str, port: int, *, as_json: bool) -> None:
    """Look whether it can be served, say where, and serve if it is one process that does."""
    from hindsight_memory.build import build
    from hindsight_memory.server.app import run_server
    from hindsight_memory.server.auth import check_keys, check_tls

    check_tls(settings.server)
    _must_be_free(host, port)
    service = await build(settings)
    try:
        keyed = await check_keys(service, host)
        checks = await service.ready()
    except HindsightMemoryError:
        await service.close()
        raise
    if as_json:
        emit(_doors(settings, checks, host, port))
    else:
        for line in _welcome(_doors(settings, checks, host, port), checks, keyed=keyed):
            say(line)
    if settings.server.workers > 1:
        await service.close()  # each process opens its own
    else:
        await run_server(service, host, port)


async def work(settings: Settings) -> None:
    """Do the work behind the verbs, and answer nobody, until a signal ends it."""
    from hindsight_memory.build import build

    ended = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        with suppress(NotImplementedError):  # where there are no signals, an interrupt cancels
            asyncio.get_running_loop().add_signal_handler(number, ended.set)
    service = await build(replace(settings, write=replace(settings.write, work=True)))
    try:
        await service.start()
        say(f"Working on {settings.place}; Ctrl-C ends it.")
        await ended.wait()
    finally:
        await service.close()


@contextmanager
def quick_import() -> Iterator[None]:
    """Import a library of many pydantic models sooner: a host waits for the first reply at each start.

    Nothing is collected meanwhile, and a model is built when it is first used. Measured for the MCP SDK: 1.4 to 1.2 s.
    """
    import pydantic

    config = pydantic.BaseModel.model_config
    gc.disable()
    config["defer_build"] = True
    try:
        yield
    finally:
        del config["defer_build"]
        gc.enable()


@contextmanager
def installed(name: str) -> Iterator[None]:
    """Say which extra to install when something that belongs to it is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("hindsight_memory"):
            raise
        hint = f"Install it: pip install 'hindsight-memory[{name}]'"
        raise InvalidInput(f"This command needs {error.name}, which is not installed.", hint=hint) from error


def _must_be_free(host: str, port: int) -> None:
    if not 1 <= port <= 65_535:
        raise InvalidInput(f"port is {port}; it must be from 1 to 65535.", field="port")
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, address = found[0]
        with socket.socket(family, kind, protocol) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind(address)
    except OSError as error:
        hint = "A server may run there already. Give another one with --host or --port."
        raise Unavailable(f"{host}:{port} cannot be listened on: {error.strerror}.", hint=hint, field="port") from error


def _doors(settings: Settings, checks: Sequence[Check], host: str, port: int) -> Doors:
    scheme = "https" if settings.server.tls_cert else "http"
    base = f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}"
    embedder = next(check.note for check in checks if check.name == "embedder")
    return Doors(settings.place, embedder, f"{base}/", f"{base}/openapi.json", f"{base}/mcp")


def _welcome(doors: Doors, checks: Sequence[Check], *, keyed: bool) -> Iterator[str]:
    yield f"Database  {doors.database}"
    yield f"Embedder  {doors.embedder}"
    yield from (f"          {check.hint}" for check in checks if check.name == "embedder" and check.hint)
    yield f"Page      {doors.page}"
    yield f"REST      {doors.rest}"
    yield f"MCP       {doors.mcp}"
    yield ""
    yield "Write something and find it:"
    key = _KEY if keyed else ""
    yield f"""  curl -s {doors.page}v1/write {key}{_JSON} -d '{{"content": "I take my coffee with oat milk."}}'"""
    yield f"""  curl -s {doors.page}v1/search {key}{_JSON} -d '{{"text": "coffee"}}'"""
    yield "Give an assistant its memory, over HTTP with the MCP address above, or over stdio:"
    yield f"  {json.dumps(_STDIO)}"
    yield "Ctrl-C ends it."
