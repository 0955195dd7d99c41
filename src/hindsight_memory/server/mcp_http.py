"""MCP over HTTP: streamable at /mcp, and server-sent events at /sse for older clients."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.lowlevel import Server
from mcp.server.sse import SseServerTransport
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import Receive, Scope, Send

from hindsight_memory.server.mcp import create_mcp
from hindsight_memory.service import Service


def mcp_routes(
    service: Service, body_bytes: int
) -> tuple[list[BaseRoute], Callable[[], AbstractAsyncContextManager[None]]]:
    """The routes, and what must be open while they serve. No session is kept, so any process may answer any call."""
    server = create_mcp(service)
    manager = StreamableHTTPSessionManager(server, stateless=True, max_request_body_size=body_bytes)
    streamable = StreamableHTTPASGIApp(manager)
    events = SseServerTransport("/messages/", max_request_body_size=body_bytes)
    found: list[BaseRoute] = [
        Route("/mcp", streamable),
        Route("/mcp/", streamable),
        Route("/sse", _Events(server, events), methods=["GET"]),
        Mount("/messages", _Messages(events)),
    ]
    return found, manager.run


def _owned(scope: Scope) -> Scope:
    """The connection with its key named in the SDK's way: a stream takes messages of the key that opened it alone."""
    principal = scope["state"]["principal"]
    return {**scope, "user": AuthenticatedUser(AccessToken(token="", client_id=principal.key_id, scopes=[]))}


class _Messages:
    """What older clients say."""

    def __init__(self, transport: SseServerTransport) -> None:
        self.transport = transport

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.transport.handle_post_message(_owned(scope), receive, send)


class _Events:
    """One older client: what it is told comes as events here, what it says to /messages/."""

    def __init__(self, server: Server[Any], transport: SseServerTransport) -> None:
        self.server = server
        self.transport = transport

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self.transport.connect_sse(_owned(scope), receive, send) as (reading, writing):
            await self.server.run(reading, writing, self.server.create_initialization_options())
