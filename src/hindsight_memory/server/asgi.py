"""Small ASGI layers around the application: size of a body, life of a stream, headers of a reply."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import ExitStack
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hindsight_memory.errors import InvalidInput
from hindsight_memory.server.limits import Buckets, Room, Slower, refusal
from hindsight_memory.server.problems import problem

_HEADERS: Final = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'self'; script-src 'none'; object-src 'none'; img-src 'self' data:;"
    " base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
_TLS_ONLY: Final = {"Strict-Transport-Security": "max-age=31536000"}


class SecurityHeaders:
    """Tells browsers to guess nothing, frame nothing, load nothing from elsewhere and keep nothing."""

    def __init__(self, app: ASGIApp, *, tls: bool = False) -> None:
        self.app = app
        self.headers = _HEADERS | (_TLS_ONLY if tls else {})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in self.headers.items():
                    headers.setdefault(name, value)
            await send(message)

        await self.app(scope, receive, guarded)


class BodyLimit:
    """Refuses a body longer than ``most`` bytes as soon as that is known, and any for which there is no ``room``.

    A body may take ``within_s`` to arrive. ``rate`` bounds what one key may send in a minute.
    """

    def __init__(self, app: ASGIApp, most: int, within_s: float, rate: Buckets, room: Room) -> None:
        self.app = app
        self.most = most
        self.within_s = within_s
        self.rate = rate
        self.room = room

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        if scope["type"] != "http" or scope["method"] in {"GET", "HEAD", "OPTIONS"}:
            await self.app(scope, receive, send)
            return
        with ExitStack() as held:
            try:
                take = held.enter_context(self.room.held())
                async with asyncio.timeout(self.within_s):
                    messages = [await self._read(scope, receive, take)]
                self._pay(scope, messages[0])
                held.enter_context(self.room.answering())
            except Slower as error:
                refused = refusal(error)
            except InvalidInput as error:
                refused = problem(error, 413)
            except TimeoutError:
                hint = "Send less at once, or over a faster line."
                refused = problem(InvalidInput(f"The request took longer than {self.within_s:g} s.", hint=hint), 408)
            else:

                async def replay() -> Message:
                    return messages.pop(0) if messages else await receive()

                await self.app(scope, replay, send)
                return
        refused.headers["Connection"] = "close"  # what is left of the body is not read
        await refused(scope, receive, send)

    async def _read(self, scope: Scope, receive: Receive, take: Callable[[int], None]) -> Message:
        declared = Headers(scope=scope).get("content-length", "")
        self._must_fit(int(declared) if declared.isdecimal() else 0)
        body = bytearray()
        while True:
            message = await receive()
            if message["type"] != "http.request":
                return message
            piece = message.get("body", b"")
            self._must_fit(len(body) + len(piece))
            take(len(piece))
            body += piece
            if not message.get("more_body", False):
                return {"type": "http.request", "body": bytes(body), "more_body": False}

    def _must_fit(self, size: int) -> None:
        if size > self.most:
            hint = "Send less at once; write_many and write_conversation may be called several times."
            raise InvalidInput(f"The request is longer than {self.most:,} bytes.", hint=hint)

    def _pay(self, scope: Scope, read: Message) -> None:
        principal = scope["state"]["principal"]
        if principal.key_id and (wait := self.rate.take(principal.key_id, len(read.get("body", b"")))):
            raise Slower("This key has sent too much in the last minute.", wait)


class Heartbeat:
    """Sends a comment on every event stream every ``every`` seconds, so that nothing between takes it for dead.

    A comment may stand between two events only. Those who write the streams send one whole event a message, and
    a lock keeps the comment from between a message's parts.
    """

    def __init__(self, app: ASGIApp, every: float) -> None:
        self.app = app
        self.every = every

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        lock = asyncio.Lock()
        beat: asyncio.Task[None] | None = None

        async def beating() -> None:
            while True:
                await asyncio.sleep(self.every)
                async with lock:
                    await send({"type": "http.response.body", "body": b": heartbeat\r\n\r\n", "more_body": True})

        async def watched(message: Message) -> None:
            nonlocal beat
            async with lock:
                if beat is not None and not message.get("more_body", False):
                    beat.cancel()
                await send(message)
            if message["type"] == "http.response.start" and _is_stream(message):
                beat = asyncio.create_task(beating())

        try:
            await self.app(scope, receive, watched)
        finally:
            if beat is not None:
                beat.cancel()
                await asyncio.gather(beat, return_exceptions=True)


def _is_stream(start: Message) -> bool:
    return Headers(raw=start["headers"]).get("content-type", "").startswith("text/event-stream")
