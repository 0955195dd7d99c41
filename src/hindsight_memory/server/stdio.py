"""MCP over stdin and stdout: answers before the memory is open, and finishes what it was asked before it ends."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from contextlib import redirect_stdout
from types import TracebackType
from typing import Any, Final, Self

import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from hindsight_memory.domain import Scope
from hindsight_memory.server.mcp import create_mcp

_LAST_CALLS_S: Final = 60.0


def run_stdio(open_service: Callable[[], Awaitable[Any]], scope: Scope | None = None, *, full: bool = False) -> None:
    """Serve one client until it closes stdin. Everything but the protocol goes to stderr.

    Args:
        open_service: Builds the service; it is started and closed here. Called once the client is ready, so that what
            it imports and opens does not hold up the first reply; called again after it failed.
        scope: Whose memory is meant when a call does not say.
        full: Whether further tools are listed.
    """
    opening = _Opening(open_service)
    asyncio.run(_serve(opening, create_mcp(opening, scope, full=full)))


async def _serve(opening: _Opening, server: Server[Any]) -> None:
    try:
        async with stdio_server() as (reading, writing), anyio.create_task_group() as tasks:
            # The SDK moves the descriptor; this catches what Python would still hold back and print at exit.
            with redirect_stdout(sys.stderr):
                open_calls = _OpenCalls(writing)
                sending, receiving = anyio.create_memory_object_stream[SessionMessage | Exception](0)
                tasks.start_soon(open_calls.relay, reading, sending)
                await server.run(receiving, open_calls, server.create_initialization_options())
                tasks.cancel_scope.cancel()
    finally:
        await opening.close()


class _Opening:
    """A service that is opened when it is first asked for."""

    def __init__(self, open_service: Callable[[], Awaitable[Any]]) -> None:
        self._open = open_service
        self._task: asyncio.Task[Any] | None = None

    async def __call__(self) -> Any:
        if self._task is None or (self._task.done() and self._task.exception() is not None):
            self._task = asyncio.create_task(self._started())
        return await asyncio.shield(self._task)  # a call that is given up does not end it for the others

    async def close(self) -> None:
        if self._task is not None:
            await asyncio.wait([self._task])
            if self._task.exception() is None:
                await self._task.result().close()

    async def _started(self) -> Any:
        service = await self._open()
        await service.start()
        return service


class _OpenCalls:
    """The way out to the client, which knows what is not answered yet.

    The SDK gives up what is under way when stdin ends; a client that writes its calls and closes would get no reply.
    """

    def __init__(self, writing: Any) -> None:
        self._writing = writing
        self._open: set[str | int] = set()
        self._changed = anyio.Event()

    async def relay(self, reading: Any, sending: Any) -> None:
        """Hand on what the client says, and its end when everything is answered."""
        async with sending:
            async for item in reading:
                match item:
                    case SessionMessage(message=JSONRPCRequest(id=number)):
                        self._open.add(number)
                    case SessionMessage(message=JSONRPCNotification(method="notifications/cancelled", params=params)):
                        self._close((params or {}).get("requestId"))
                await sending.send(item)
            with anyio.move_on_after(_LAST_CALLS_S):
                while self._open:
                    self._changed = anyio.Event()
                    await self._changed.wait()

    async def send(self, item: SessionMessage, /) -> None:
        """See ``WriteStream``."""
        await self._writing.send(item)
        if isinstance(item.message, JSONRPCResponse | JSONRPCError):
            self._close(item.message.id)

    async def aclose(self) -> None:
        """See ``WriteStream``."""
        await self._writing.aclose()

    async def __aenter__(self) -> Self:
        await self._writing.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        ended: bool | None = await self._writing.__aexit__(kind, error, trace)
        return ended

    def _close(self, number: Any) -> None:
        self._open.discard(number)
        self._changed.set()
