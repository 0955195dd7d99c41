"""Everything that can go wrong, as one tree: each error says what it means and what to do.

HindsightMemoryError
├── InvalidInput      422  a field of the request is wrong
├── NotAuthenticated  401  no key, or an unknown one
├── NotAllowed        403  the caller may not do this
├── NotFound          404  no such memory in this bank
├── Conflict          409  the memory changed in the meantime
├── Overloaded        429  too much at once; try again
└── Unavailable       503  the store or a model cannot answer now
"""

from __future__ import annotations

from typing import ClassVar


class HindsightMemoryError(Exception):
    """Root of all errors raised on purpose. ``hint`` says what to do, ``field`` what was wrong."""

    status: ClassVar[int] = 500
    code: ClassVar[str] = "internal"
    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, hint: str = "", field: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.field = field

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class InvalidInput(HindsightMemoryError):
    """A value of the request is wrong; ``field`` names it."""

    status = 422
    code = "invalid_input"
    exit_code = 2


class NotAuthenticated(HindsightMemoryError):
    """The caller gave no key, or one that is not known."""

    status = 401
    code = "not_authenticated"
    exit_code = 3


class NotAllowed(HindsightMemoryError):
    """The caller is known and may not do this."""

    status = 403
    code = "not_allowed"
    exit_code = 3


class NotFound(HindsightMemoryError):
    """There is no such memory in this bank."""

    status = 404
    code = "not_found"
    exit_code = 4


class Conflict(HindsightMemoryError):
    """The memory is no longer what the caller thought it was."""

    status = 409
    code = "conflict"
    exit_code = 5


class Overloaded(HindsightMemoryError):
    """Too much at once; the same call may work later."""

    status = 429
    code = "overloaded"
    exit_code = 6


class Unavailable(HindsightMemoryError):
    """The store or a model cannot answer now; nothing was half-done."""

    status = 503
    code = "unavailable"
    exit_code = 6


def told(error: BaseException) -> str:
    """What a log may say of an error: all that one of ours says, of another its kind alone. It may quote a memory."""
    return str(error) if isinstance(error, HindsightMemoryError) else type(error).__name__
