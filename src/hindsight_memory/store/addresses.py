"""What a database's URL names: a file, which it is, or a server's database; and how it is opened."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from hindsight_memory.domain import utc_now
from hindsight_memory.errors import InvalidInput
from hindsight_memory.settings import Settings
from hindsight_memory.store import cipher
from hindsight_memory.store.base import Store
from hindsight_memory.store.sqlite import SQLiteStore

SERVERS: Final = ("postgresql://", "postgres://")
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")  # one letter is a drive
_KEY: Final = "HINDSIGHT_MEMORY_DATABASE_KEY"


async def open_store(settings: Settings, clock: Callable[[], datetime] = utc_now) -> Store:
    """The store that the database's URL names."""
    words, graph = settings.recall.words, settings.recall.graph
    if not settings.database.startswith(SERVERS):
        return await SQLiteStore.open(sqlite_path(settings.database), settings.store, words, clock, graph)
    if any(importlib.util.find_spec(package) is None for package in ("psycopg", "psycopg_pool")):
        hint = "Install it: pip install 'hindsight-memory[postgres]'"
        raise InvalidInput("PostgreSQL needs psycopg, which is not installed.", hint=hint, field="database")
    if settings.store.encrypted:
        hint = "Encrypt the server's volume, and leave out the key."
        raise InvalidInput("A key is for a SQLite file.", hint=hint, field=_KEY)
    from hindsight_memory.store.postgres import PostgresStore  # noqa: PLC0415  # an extra: a file does not need it

    return await PostgresStore.open(settings.database, settings.store, words, clock, graph)


def encrypt(settings: Settings) -> Path:
    """Encrypt the plain file that the settings name, with their key; returns which it is.

    Raises ``InvalidInput`` where there is no key, ``Unavailable`` where the file cannot be encrypted.
    """
    secret = cipher.secret_of(settings.store)
    if not secret:
        raise InvalidInput("There is no key.", hint=f"Set {_KEY}.", field=_KEY)
    path = sqlite_path(settings.database)
    cipher.encrypt(path, secret)
    return path


def sqlite_path(database: str) -> Path:
    """The file of ``sqlite:///relative``, ``sqlite:////absolute``, or of a path given as it is."""
    scheme, separator, rest = database.partition("://")
    if separator and scheme == "sqlite" and rest.startswith("/"):
        path = unquote(rest[1:])
    else:
        path = "" if separator or _SCHEME.match(database) else database
    if not path.strip() or path == ":memory:":
        hint = "Use sqlite:///PATH (a fourth slash makes it absolute), or postgresql://USER:PASSWORD@HOST/NAME."
        raise InvalidInput(f"{database!r} is not a database this version opens.", hint=hint, field="database")
    return Path(path).expanduser()
