"""What is done to whole databases, by whoever runs the program: moved, backed up, put back."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from hindsight_memory.build import SERVERS, open_store, sqlite_path
from hindsight_memory.domain import Migrated, utc_now
from hindsight_memory.errors import InvalidInput
from hindsight_memory.lifecycle import mirror
from hindsight_memory.settings import Settings
from hindsight_memory.store import cipher, sqlite_backup


async def migrate(
    source: Settings,
    target: Settings,
    progress: Callable[[int], None] = lambda _: None,
    clock: Callable[[], datetime] = utc_now,
) -> Migrated:
    """Move all that one database holds into another, of the same engine or another one, and compare both.

    It may be written to meanwhile, and a run that ended in the middle is begun again.

    Raises ``InvalidInput`` where there is no source or both are the same, ``Conflict`` where the target holds something
    else.
    """
    if not source.database.startswith(SERVERS) and not sqlite_path(source.database).is_file():
        raise InvalidInput(f"There is no database {source.database}.", hint="Name another one.", field="from")
    if source.database == target.database:
        raise InvalidInput("from and to are the same database.", hint="Give two.", field="to")
    old = await open_store(source, clock)
    try:
        new = await open_store(target, clock)
        try:
            return await mirror.migrate(old, new, progress)
        finally:
            await new.close()
    finally:
        await old.close()


def backup(settings: Settings, into: Path) -> None:
    """Copy the database's file, in use or not; it is looked through. Raises ``InvalidInput`` for a server's."""
    sqlite_backup.backup(_own_file(settings), cipher.secret_of(settings.store), into)


def restore_backup(settings: Settings, copy: Path, *, replace: bool) -> Path | None:
    """Put a copy in the place of the database's file; returns where the one before is kept, if there was one."""
    path = _own_file(settings)
    return sqlite_backup.restore(path, cipher.secret_of(settings.store), copy, replace=replace)


def _own_file(settings: Settings) -> Path:
    if settings.database.startswith(SERVERS):
        hint = "Use pg_dump --format=custom and pg_restore; see docs/moving.md."
        raise InvalidInput("The database of a server is backed up with its own tools.", hint=hint, field="database")
    return sqlite_path(settings.database)
