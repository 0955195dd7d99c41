"""The server: REST, MCP over HTTP and the page as one ASGI application."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any

import uvicorn
from fastapi import FastAPI
from starlette.types import Receive, Scope, Send
from uvicorn.config import STARTUP_FAILURE
from uvicorn.supervisors import Multiprocess

from hindsight_memory.build import build, settings_from
from hindsight_memory.errors import Unavailable
from hindsight_memory.server.asgi import BodyLimit, Heartbeat, SecurityHeaders
from hindsight_memory.server.auth import Authentication, Gate, check_keys, check_tls
from hindsight_memory.server.faults import Faults, hush
from hindsight_memory.server.idempotency import Replies
from hindsight_memory.server.limits import Buckets, Room
from hindsight_memory.server.mcp_http import mcp_routes
from hindsight_memory.server.openapi import install_openapi
from hindsight_memory.server.rest import install_handlers, routes
from hindsight_memory.server.ui.page import page_routes
from hindsight_memory.service import Service
from hindsight_memory.settings import ServerSettings, Settings


def create_app(service: Service, *, heartbeat_s: float | None = None) -> FastAPI:
    """The application over a service, which it starts and closes.

    Args:
        service: Built and not yet started.
        heartbeat_s: How often a long-lived stream gives a sign of life; by default the settings' ``heartbeat_s``.
    """
    settings = service.settings.server
    mcp, serving = mcp_routes(service, settings.body_bytes)
    gate = Gate(service, Buckets(settings.failures_per_minute))
    hush("mcp")

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await service.start()
        try:
            await gate.open()
            async with serving():
                yield
        finally:
            await service.close()

    app = FastAPI(
        title="Hindsight Memory",
        version=version("hindsight-memory"),
        description="Long-term memory for LLM agents.",
        lifespan=lifespan,
        docs_url=None,  # its page loads scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,  # a redirect would lose a body
    )
    app.state.service, app.state.replies = service, Replies()
    app.router.routes.extend([*routes(), *mcp, *page_routes(service)])
    install_handlers(app)
    install_openapi(app)
    # The last one added is the outermost.
    app.add_middleware(Heartbeat, every=settings.heartbeat_s if heartbeat_s is None else heartbeat_s)
    app.add_middleware(
        BodyLimit,
        most=settings.body_bytes,
        within_s=settings.body_s,
        rate=Buckets(settings.bytes_per_minute),
        room=Room(settings.held_bytes, settings.at_once),
    )
    app.add_middleware(Authentication, gate=gate, requests=Buckets(settings.requests_per_minute))
    app.add_middleware(Faults)
    app.add_middleware(SecurityHeaders, tls=bool(settings.tls_cert))
    return app


async def run_server(service: Service, host: str, port: int) -> None:
    """Serve until a signal ends it; requests under way are finished and the service is closed.

    Raises ``InvalidInput`` before anything is bound when a server without a key would be open to the network.
    """
    await check_keys(service, host)
    await server_of(service, host, port).serve()


def server_of(service: Service, host: str, port: int) -> uvicorn.Server:
    """A server of the application, not yet begun. Raises ``InvalidInput`` for TLS files that cannot be used."""
    return uvicorn.Server(_config(create_app(service), service.settings.server, host, port))


def run_processes(settings: Settings, host: str, port: int, workers: int) -> None:
    """Serve with several processes, each over a service of its own; one that ends is replaced.

    Raises ``Unavailable`` when a process cannot begin: no other would.
    """
    config = _config(Opening(settings.database), settings.server, host, port, workers=workers)
    group = Multiprocess(config, [config.bind_socket()])
    group.run()
    if any(process.exitcode == STARTUP_FAILURE for process in group.processes):
        raise Unavailable("A process of the server could not begin.", hint="What it said stands above.")


class Opening:
    """The application as each of several processes opens it: over a service that is built when the process begins."""

    def __init__(self, database: str) -> None:
        self.database = database
        self._app: FastAPI | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        if self._app is None:
            self._app = create_app(await build(settings_from(database=self.database)))
        await self._app(scope, receive, send)


def _config(app: Any, settings: ServerSettings, host: str, port: int, *, workers: int = 1) -> uvicorn.Config:
    check_tls(settings)
    return uvicorn.Config(
        app,
        host=host,
        port=port,
        workers=workers,
        lifespan="on",  # so that nothing is asked of a service that has not started
        ws="none",
        access_log=False,
        log_level="warning",
        server_header=False,
        timeout_graceful_shutdown=10,
        timeout_worker_healthcheck=60,
        ssl_certfile=settings.tls_cert or None,
        ssl_keyfile=settings.tls_key or None,
    )
