"""A SQLite file: connected to, made ours, written to in transactions, its errors said in words."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TypeVar

from hindsight_memory.errors import HindsightMemoryError, Overloaded, Unavailable
from hindsight_memory.store import cipher
from hindsight_memory.store.migrate import latest, pending
from hindsight_memory.store.rows import Plan, Row, Statement

T = TypeVar("T")
APPLICATION_ID: Final = 0x484D454D  # «HMEM», so that another program's database is never taken for ours
_OLDEST_SQLITE: Final = (3, 35, 0)  # RETURNING


def connect(path: Path, busy_timeout_ms: int, secret: str = "") -> sqlite3.Connection:
    """A connection as all of ours are, to an encrypted file where there is a ``secret``."""
    if secret:
        connection = cipher.connected(path, secret, busy_timeout_ms)
    else:
        timeout = busy_timeout_ms / 1_000
        connection = sqlite3.connect(path, timeout=timeout, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = FULL")  # an acknowledged write survives a power cut, not only a crash
        connection.execute("PRAGMA secure_delete = ON")  # what is erased leaves the file, not only its tables
    except BaseException:
        connection.close()
        raise
    return connection


def drive(connection: sqlite3.Connection, plan: Plan[T]) -> T:
    """Carry a plan out: run each statement it asks for and hand it the rows."""
    try:
        statement = next(plan)
        while True:
            statement = plan.send(_run(connection, statement))
    except StopIteration as end:
        result: T = end.value
        return result


def _run(connection: sqlite3.Connection, statement: Statement) -> list[Row]:
    if statement.many is not None:
        connection.executemany(statement.sql, statement.many)
        return []
    return connection.execute(statement.sql, statement.params or {}).fetchall()


def begin(connection: sqlite3.Connection, plan: Plan[T]) -> T:
    """Begin a transaction with a plan, and leave it open."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        return drive(connection, plan)
    except BaseException:
        roll_back(connection)
        raise


def commit(connection: sqlite3.Connection) -> None:
    """End the transaction; one that cannot be committed is taken back."""
    try:
        connection.execute("COMMIT")
    except BaseException:
        roll_back(connection)
        raise


def roll_back(connection: sqlite3.Connection) -> None:
    """Take the transaction back, if there is one."""
    if connection.in_transaction:  # a full disk has rolled back already
        connection.execute("ROLLBACK")


def prepare(connection: sqlite3.Connection, path: Path) -> None:
    """Make the file ours: settings that only a new file takes, then the schema."""
    if sqlite3.sqlite_version_info < _OLDEST_SQLITE:
        raise Unavailable(
            f"SQLite {sqlite3.sqlite_version} is too old; 3.35 or newer is needed.",
            hint="Use a Python built with a newer SQLite.",
        )
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if application != APPLICATION_ID and tables:
        raise Unavailable(f"{path} is another program's database.", hint="Name another file with --database.")
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > latest("sqlite"):
        raise Unavailable(
            f"{path} is of schema {version}; this program knows {latest('sqlite')} and older.",
            hint="Upgrade with: pip install --upgrade hindsight-memory. The file was not changed.",
        )
    if not tables:
        connection.execute(f"PRAGMA page_size = {cipher.PAGE}")  # five vectors a page instead of two
    connection.execute("PRAGMA journal_mode = WAL")
    if pending("sqlite", version):
        _migrate(connection)


def _migrate(connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN IMMEDIATE")  # several processes may start on an empty file: one migrates
    try:
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        for step in pending("sqlite", version):
            for statement in _statements(step.sql):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {step.number}")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        commit(connection)
    except BaseException:
        roll_back(connection)
        raise


def _statements(script: str) -> Iterator[str]:
    # executescript would commit first, and a half-applied step could then stay behind.
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


_NO_DATABASE: Final = (
    "If it is encrypted, set HINDSIGHT_MEMORY_DATABASE_KEY; else name another file, or restore a backup of this one."
)
_EXPLANATIONS: Final = (
    ("locked", Overloaded, "is held by another process", "Try again; if it stays, end the process that holds it."),
    ("full", Unavailable, "cannot grow: the disk is full", "Free some space and repeat; nothing was half-written."),
    ("readonly", Unavailable, "cannot be written to", "Make the file and its folder writable, or name another file."),
    ("unable to open", Unavailable, "cannot be opened", "Check that its folder exists and may be written to."),
    ("malformed", Unavailable, "is damaged", "Restore a backup, or save what is left with: sqlite3 FILE .recover"),
    ("not a database", Unavailable, "is not a database", _NO_DATABASE),
    ("disk i/o error", Unavailable, "cannot be read or written", "Check the disk and its free space."),
)


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Say in words what SQLite says in codes, and what to do."""
    try:
        yield
    except cipher.failures() as error:
        raise _explain(error, path) from error


def _explain(error: Exception, path: Path) -> HindsightMemoryError:
    said = str(error).lower()
    for sign, kind, what, hint in _EXPLANATIONS:
        if sign in said:
            return kind(f"The memory file {path} {what}.", hint=hint)
    return Unavailable(f"The memory file {path} failed: {error}.", hint="Run: hindsight-memory doctor")
