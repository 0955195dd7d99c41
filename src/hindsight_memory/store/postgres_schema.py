"""A PostgreSQL database made ours: a schema of its own, brought up to date by one process while others wait."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import psycopg

from hindsight_memory.errors import Unavailable
from hindsight_memory.settings import StoreSettings
from hindsight_memory.store.migrate import Migration, latest, pending

SCHEMA: Final = "hindsight_memory"
_LOCK: Final = 0x484D454D  # «HMEM»
_OLDEST: Final = (0, 8)
"""Of the extension for vectors: it goes on searching where a filter has taken what it found."""
_NO_EXTENSION: Final = "Have a superuser run in this database: CREATE EXTENSION vector;"
_NO_RIGHTS: Final = (
    "Start once as the role that is to own the tables, and grant this one what docs/postgresql.md lists."
)


@dataclass(frozen=True, slots=True)
class Home:
    """What a connection has to know of a database: where the vectors' type is, and its number."""

    path: str
    vector: int


async def prepare(connection: psycopg.AsyncConnection[Any], settings: StoreSettings, where: str) -> Home:
    """Make a database ours, or bring it up to date, or leave it as it is.

    Raises ``Unavailable`` for one of a newer program or of another, or that lacks what it takes.
    """
    version = await _version(connection, where)
    known = latest("postgres")
    if version > known:
        raise Unavailable(
            f"{where} is of schema {version}; this program knows {known} and older.",
            hint="Upgrade with: pip install --upgrade hindsight-memory. The database was not changed.",
        )
    if version < known:
        await _migrate(connection, settings, where)
    return await _home(connection, where)


async def _version(connection: psycopg.AsyncConnection[Any], where: str) -> int:
    asked = (
        "SELECT count(*), coalesce(bool_or(c.relname = 'versions'), false) FROM pg_class c"
        " JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = %s"
    )
    tables, ours = await _one(connection, asked, SCHEMA)
    if tables and not ours:
        raise Unavailable(f"{where} has a schema {SCHEMA} of another program.", hint="Name another database.")
    if not ours:
        return 0
    (number,) = await _one(connection, f"SELECT coalesce(max(number), 0) FROM {SCHEMA}.versions")
    return int(number)


async def _migrate(connection: psycopg.AsyncConnection[Any], settings: StoreSettings, where: str) -> None:
    async with connection.transaction():
        # Several processes may start on an empty database: one migrates, and the others find it done.
        await connection.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
        version = await _version(connection, where)
        steps = pending("postgres", version)
        if not steps:
            return
        try:
            if not version:
                await _begin(connection, where)
            await _see(connection, await _home(connection, where))
            number = str(max(settings.partitions, 1))
            await connection.execute("SELECT set_config('hindsight_memory.partitions', %s, true)", [number])
            for step in steps:
                await _apply(connection, step)
        except psycopg.errors.InsufficientPrivilege as error:
            raise Unavailable(f"{where} is to be set up, and this role may not.", hint=_NO_RIGHTS) from error


async def _begin(connection: psycopg.AsyncConnection[Any], where: str) -> None:
    (there,) = await _one(connection, "SELECT count(*) FROM pg_extension WHERE extname = 'vector'")
    if not there:
        try:
            async with connection.transaction():
                await connection.execute("CREATE EXTENSION vector")
        except (psycopg.errors.InsufficientPrivilege, psycopg.errors.FeatureNotSupported) as error:
            raise Unavailable(f"{where} lacks the extension for vectors.", hint=_NO_EXTENSION) from error
        except psycopg.errors.UndefinedFile as error:
            hint = "Install pgvector on the server: https://github.com/pgvector/pgvector"
            raise Unavailable(f"The server of {where[0].lower()}{where[1:]} has no pgvector.", hint=hint) from error
    await connection.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
    await connection.execute(
        f"CREATE TABLE {SCHEMA}.versions (number INTEGER PRIMARY KEY, name TEXT NOT NULL,"
        " applied_at TIMESTAMPTZ NOT NULL DEFAULT now())"
    )


async def _apply(connection: psycopg.AsyncConnection[Any], step: Migration) -> None:
    await connection.execute(step.sql.encode())
    await connection.execute(f"INSERT INTO {SCHEMA}.versions (number, name) VALUES (%s, %s)", [step.number, step.name])


async def _see(connection: psycopg.AsyncConnection[Any], home: Home) -> None:
    await connection.execute("SELECT set_config('search_path', %s, true)", [home.path])


async def _home(connection: psycopg.AsyncConnection[Any], where: str) -> Home:
    asked = (
        "SELECT e.extversion, quote_ident(n.nspname), t.oid FROM pg_extension e"
        " JOIN pg_namespace n ON n.oid = e.extnamespace"
        " JOIN pg_type t ON t.typnamespace = n.oid AND t.typname = 'vector' WHERE e.extname = 'vector'"
    )
    rows = await (await connection.execute(asked)).fetchall()
    if not rows:
        raise Unavailable(f"{where} lacks the extension for vectors.", hint=_NO_EXTENSION)
    version, schema, oid = rows[0]
    if tuple(int(part) for part in version.split(".")[:2]) < _OLDEST:
        hint = "Upgrade pgvector on the server, and run in this database: ALTER EXTENSION vector UPDATE;"
        raise Unavailable(f"{where} has pgvector {version}; 0.8 or newer is needed.", hint=hint)
    return Home(f"{SCHEMA}, {schema}", int(oid))


async def _one(connection: psycopg.AsyncConnection[Any], text: Any, *values: Any) -> tuple[Any, ...]:
    row = await (await connection.execute(text, values)).fetchone()
    assert row is not None
    return tuple(row)
