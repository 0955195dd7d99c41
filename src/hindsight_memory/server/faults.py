"""What becomes of a fault of ours: a reply that tells nothing, and a line in the log that holds no memory's text."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Iterator
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hindsight_memory.errors import HindsightMemoryError
from hindsight_memory.server.problems import problem

_log: Final = logging.getLogger(__name__)


def place(error: BaseException) -> str:
    """Where an error came from and of what kind it is, without what it says: that may be what a memory says."""
    return "".join(_told(error)).rstrip()


def _told(error: BaseException) -> Iterator[str]:
    before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if before is not None:
        yield from _told(before)
    yield from traceback.format_list(traceback.extract_tb(error.__traceback__))
    yield f"{type(error).__name__}\n"
    if isinstance(error, BaseExceptionGroup):
        for each in error.exceptions:
            yield from _told(each)


def internal() -> HindsightMemoryError:
    """What a caller is told."""
    return HindsightMemoryError("Something went wrong here.", hint="The server's log says what.")


class Faults:
    """Answers where the application fails, so that nothing outside of it writes down what was in hand."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        begun = False

        async def watched(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self.app(scope, receive, watched)
        except Exception as error:  # the adapter's edge
            if scope["type"] != "http":
                raise
            _log.error("A request failed:\n%s", place(error))
            if begun:
                raise RuntimeError("A reply broke off.") from None  # the server closes the connection
            await problem(internal())(scope, receive, send)


class _Wordless(logging.Filter):
    """Takes what an error says out of a line."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Let every line pass, with the place of its error alone."""
        if record.exc_info and record.exc_info[1] is not None:
            record.exc_text = place(record.exc_info[1])
            record.exc_info = None
        return True


_WORDLESS: Final = _Wordless()


def hush(package: str) -> None:
    """Keep what errors say out of the log lines of a library: they quote what could not be read."""
    for name in list(logging.root.manager.loggerDict):
        if name == package or name.startswith(f"{package}."):
            logging.getLogger(name).addFilter(_WORDLESS)
