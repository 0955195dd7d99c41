"""What goes to PostgreSQL and comes back: statements with its placeholders, values in its types, errors in words."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeVar

import numpy as np
import psycopg
from psycopg.abc import Buffer
from psycopg.adapt import AdaptersMap, Dumper, Loader
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import Format
from psycopg.types.numeric import Int8Dumper
from psycopg_pool import PoolClosed, PoolTimeout

from hindsight_memory.errors import HindsightMemoryError, InvalidInput, Overloaded, Unavailable
from hindsight_memory.store.base import Vector
from hindsight_memory.store.rows import Plan, Row, Statement
from hindsight_memory.store.vectors import Floats, to_blob

T = TypeVar("T")
_MOST_KNOWN: Final = 4_096
_ANSWERS: Final = re.compile(r"\s*(?:SELECT|WITH)\b|.*\bRETURNING\b", re.DOTALL)
_TOKEN: Final = re.compile(r"'(?:[^']|'')*'|::|%|:([a-zA-Z_]\w*)")


_known: dict[str, tuple[str, bool]] = {}
"""Statements as they were once translated. They hold no values: nothing of a memory stays here."""


def translated(text: str) -> str:
    """A statement with its parameters written as the driver wants them."""
    return _read(text)[0]


def _read(text: str) -> tuple[str, bool]:
    """A statement as the driver wants it, and whether it answers with rows."""
    found = _known.get(text)
    if found is None:
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        found = _known[text] = (_TOKEN.sub(_written, text), _ANSWERS.match(text) is not None)
    return found


def _written(found: re.Match[str]) -> str:
    name = found.group(1)
    return f"%({name})s" if name else found.group().replace("%", "%%")


async def drive(connection: psycopg.AsyncConnection[Any], plan: Plan[T]) -> T:
    """Carry a plan out: run each statement it asks for and hand it the rows."""
    try:
        statement = next(plan)
        while True:
            statement = plan.send(await run(connection, statement))
    except StopIteration as end:
        result: T = end.value
        return result


async def run(connection: psycopg.AsyncConnection[Any], statement: Statement) -> list[Row]:
    """Run one statement; returns its rows. In a pipeline one that has none is not waited for."""
    text, answers = _read(statement.sql)
    if statement.many is None:
        cursor = await connection.execute(text, statement.params or {})
        return await cursor.fetchall() if answers else []
    if statement.many:
        async with connection.cursor() as several:
            await several.executemany(text, statement.many)
    return []


class _Number(Loader):
    """A sum or a product of whole numbers, which the server counts without bounds, as a number of ours."""

    def load(self, data: Buffer) -> int | float:
        """See ``Loader.load``."""
        text = bytes(data).decode()
        return int(text) if text.lstrip("-").isdecimal() else float(text)


class _Vector(Loader):
    """A vector as both engines give it: little-endian float32."""

    def load(self, data: Buffer) -> Floats:
        """See ``Loader.load``."""
        return to_blob(np.array(bytes(data)[1:-1].split(b","), np.float32))


def adapters(vector: int) -> AdaptersMap:
    """How values are handed over: ``vector`` is the number of the vectors' type in this database."""

    class Vectors(Dumper):
        format = Format.BINARY
        oid = vector

        def dump(self, obj: Floats) -> bytes:
            numbers = np.frombuffer(obj, "<f4")
            return struct.pack(">hh", len(numbers), 0) + numbers.astype(">f4").tobytes()

    known = AdaptersMap(psycopg.adapters)
    known.register_dumper(int, Int8Dumper)  # one type, so that one statement is prepared once
    known.register_dumper(Floats, Vectors)
    known.register_loader(vector, _Vector)
    known.register_loader("numeric", _Number)
    return known


def sent_vector(sent: bytes) -> Vector:
    """A vector as ``vector_send`` gives it: a fifth of the time that reading its digits takes."""
    return np.frombuffer(sent, ">f4", offset=4).astype(np.float32)


def place(url: str) -> str:
    """Which database a URL names, without its password.

    Raises ``InvalidInput`` for a URL that cannot be read.
    """
    try:
        known = conninfo_to_dict(url)
    except psycopg.Error as error:
        hint = "Use postgresql://USER:PASSWORD@HOST/NAME."
        raise InvalidInput("The database's URL cannot be read.", hint=hint, field="database") from error
    name = known.get("dbname") or known.get("user") or "of this user"
    return f"The database {name} on {known.get('host') or known.get('hostaddr') or 'this machine'}"


_TRY_AGAIN: Final = "Try again; nothing was half-written."
_STATES: Final = {
    "55P03": (Overloaded, "is held by another process", "Try again; if it stays, end the process that holds it."),
    "40P01": (Overloaded, "is changed by several at once", _TRY_AGAIN),
    "40001": (Overloaded, "is changed by several at once", _TRY_AGAIN),
    "57014": (Overloaded, "took too long", "Try again, or raise the role's statement_timeout."),
    "53300": (Overloaded, "has no connection left", "Lower HINDSIGHT_MEMORY_CONNECTIONS, or raise max_connections."),
    "53100": (Unavailable, "cannot grow: the disk is full", "Free some space and repeat; nothing was half-written."),
    "25006": (Unavailable, "cannot be written to: it is a replica, or read only", "Name the one that takes writes."),
    "42501": (
        Unavailable,
        "refuses this to the role",
        "Grant it what docs/postgresql.md lists, or start as its owner.",
    ),
    "3D000": (Unavailable, "does not exist", "Make it: createdb NAME."),
    "28P01": (Unavailable, "refuses the password", "Check user and password in HINDSIGHT_MEMORY_DATABASE_URL."),
    "28000": (Unavailable, "refuses the role", "Check user and password in HINDSIGHT_MEMORY_DATABASE_URL."),
    "57P03": (Unavailable, "is starting or stopping", "Wait a moment and repeat."),
    "57P01": (Unavailable, "was shut down", "Start it and repeat; nothing was half-written."),
    "XX001": (Unavailable, "is damaged", "Restore a backup."),
    "XX002": (Unavailable, "has a damaged index", "Rebuild it: REINDEX DATABASE."),
}
_SIGNS: Final = (  # a connection that fails brings no state, but what the server says
    ("too many", "53300"),
    ("remaining connection slots", "53300"),
    ("password", "28P01"),
    ("pg_hba", "28000"),
    ("role", "28000"),
    ("database", "3D000"),
    ("starting up", "57P03"),
    ("shutting down", "57P03"),
)
_AWAY: Final = "Start the server, or check host and port in HINDSIGHT_MEMORY_DATABASE_URL."


@contextmanager
def explained(where: str) -> Iterator[None]:
    """Say in words what PostgreSQL says in codes, and what to do."""
    try:
        yield
    except (psycopg.Error, PoolTimeout, PoolClosed) as error:
        raise _explain(error, where) from error


def _explain(error: Exception, where: str) -> HindsightMemoryError:
    if isinstance(error, PoolClosed):
        return Unavailable("The memory is closed.", hint="Open it again.")
    if isinstance(error, PoolTimeout):
        hint = "Try again; if it stays, check that the server runs, or raise HINDSIGHT_MEMORY_CONNECTIONS."
        return Overloaded(f"{where} gave no connection in time.", hint=hint)
    if isinstance(error, psycopg.DataError):
        return InvalidInput("The database does not take this value.", hint="Leave out NUL, and numbers without bounds.")
    said = str(error).lower()
    state = getattr(error, "sqlstate", None)
    if state is None and "failed: fatal" in said:
        reason = said.partition("fatal:")[2]
        state = next((code for sign, code in _SIGNS if sign in reason), None)
    if state in _STATES:
        kind, what, hint = _STATES[state]
        return kind(f"{where} {what}.", hint=hint)
    if isinstance(error, psycopg.OperationalError) and state is None:
        return Unavailable(f"{where} does not answer.", hint=_AWAY)
    told = getattr(getattr(error, "diag", None), "message_primary", None) or type(error).__name__
    return Unavailable(f"{where} failed: {told}.", hint="Run: hindsight-memory doctor")
