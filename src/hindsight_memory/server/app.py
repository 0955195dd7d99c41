"""The server: REST, MCP over HTTP and the page as one ASGI application."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version

import uvicorn
from fastapi import FastAPI

from hindsight_memory.server.asgi import BodyLimit, Heartbeat, SecurityHeaders
from hindsight_memory.server.auth import Authentication, Gate, check_keys, check_tls
from hindsight_memory.server.faults import Faults, hush
from hindsight_memory.server.idempotency import Replies
from hindsight_memory.server.limits import Buckets
from hindsight_memory.server.mcp_http import mcp_routes
from hindsight_memory.server.openapi import install_openapi
from hindsight_memory.server.rest import install_handlers, routes
from hindsight_memory.server.ui.page import page_routes
from hindsight_memory.service import Service


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
    app.add_middleware(BodyLimit, most=settings.body_bytes, rate=Buckets(settings.bytes_per_minute))
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
    settings = service.settings.server
    check_tls(settings)
    config = uvicorn.Config(
        create_app(service),
        host=host,
        port=port,
        lifespan="on",
        ws="none",
        access_log=False,
        log_level="warning",
        server_header=False,
        timeout_graceful_shutdown=10,
        ssl_certfile=settings.tls_cert or None,
        ssl_keyfile=settings.tls_key or None,
    )
    return uvicorn.Server(config)
