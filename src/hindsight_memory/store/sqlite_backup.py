"""A SQLite file copied while it is in use, and a copy put into its place: encrypted ones as they are."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from hindsight_memory.errors import Conflict, InvalidInput, Unavailable
from hindsight_memory.store import cipher
from hindsight_memory.store.migrate import latest
from hindsight_memory.store.sqlite_file import APPLICATION_ID, connect, explained

_PATIENCE_MS: Final = 30_000
_FAULTS: Final = 5
_FILES: Final = ("-wal", "-shm", "")
"""What a memory file consists of while it is open, or was not closed."""


def backup(path: Path, secret: str, into: Path) -> None:
    """Copy a file as it is at one moment, whoever writes to it; the copy has no free pages, and is looked through.

    Raises ``Conflict`` where there is a file of that name, ``Unavailable`` where one of them cannot be used.
    """
    if not path.is_file():
        raise Unavailable(f"There is no memory file {path}.", hint="Name another with --database.")
    with _made(into) as part:
        with explained(path), closing(connect(path, _PATIENCE_MS, secret)) as connection:
            _must_be_ours(connection, path)
            if secret:
                cipher.copy(connection, part, secret)  # VACUUM INTO would make one of another page size
            else:
                connection.execute("VACUUM INTO ?", (str(part),))
        check(part, secret)


def restore(path: Path, secret: str, copy: Path, *, replace: bool) -> Path | None:
    """Put a copy in the place of a file, after a look through it; returns where the file that was there is kept.

    Raises ``Conflict`` where there is one and it is not to be replaced, ``Unavailable`` where the copy is of no use or
    the file is in use; it is left as it was.
    """
    if not copy.is_file():
        raise InvalidInput(f"There is no file {copy}.", hint="Give what backup wrote.", field="file")
    check(copy, secret)
    there = path.exists()
    if there and not replace:
        hint = "Give --replace: what is there is kept beside it."
        raise Conflict(f"There is a memory file {path} already.", hint=hint, field="database")
    kept = _free(path) if there else None
    if there:
        _must_be_left(path, secret)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _made(path, beside=kept) as part:
        shutil.copyfile(copy, part)
    return kept


def check(path: Path, secret: str) -> None:
    """Look through a whole file. Raises ``Unavailable`` where it is none of ours, or damaged."""
    with explained(path), closing(connect(path, _PATIENCE_MS, secret)) as connection:
        _must_be_ours(connection, path)
        faults = [row[0] for row in connection.execute(f"PRAGMA integrity_check({_FAULTS})") if row[0] != "ok"]
        faults += [f"a line of {row[0]} points at nothing" for row in connection.execute("PRAGMA foreign_key_check")]
        version = connection.execute("PRAGMA user_version").fetchone()[0]
    if faults:
        raise Unavailable(f"{path} is damaged: {'; '.join(faults[:_FAULTS])}.", hint="Take an earlier copy.")
    if version > latest("sqlite"):
        hint = "Upgrade with: pip install --upgrade hindsight-memory."
        raise Unavailable(f"{path} is of schema {version}; this program knows {latest('sqlite')} and older.", hint=hint)


def _must_be_ours(connection: sqlite3.Connection, path: Path) -> None:
    if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        raise Unavailable(f"{path} is no memory file.", hint="Name another file.")


@contextmanager
def _made(path: Path, beside: Path | None = None) -> Iterator[Path]:
    """A file to be filled, nobody else's to read, that takes its name when it is whole and on the disk.

    What has the name by then is kept ``beside`` it, or else the file is not made.
    """
    if beside is None and path.exists():
        raise Conflict(f"There is a file {path} already.", hint="Give another name.", field="file")
    part = path.with_name(f"{path.name}.part")
    try:
        part.unlink(missing_ok=True)
        os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        yield part
        _flush(part)
        for ending in _FILES if beside is not None else ():
            if (held := Path(f"{path}{ending}")).exists():
                held.replace(f"{beside}{ending}")
        part.replace(path)
        _flush(path.parent)
    except OSError as error:
        hint = "Check the folder, and the room on its disk; nothing was changed."
        raise Unavailable(f"{path} cannot be written: {error.strerror}.", hint=hint) from error
    finally:
        part.unlink(missing_ok=True)


def _must_be_left(path: Path, secret: str) -> None:
    """Raise ``Unavailable`` where somebody has a file open; one that cannot be read is what a backup is there for."""
    try:
        with closing(connect(path, 1_000, secret)) as connection:
            mode = connection.execute("PRAGMA journal_mode = DELETE").fetchone()[0]
    except _trouble() as error:
        mode = "" if "locked" in str(error) else "delete"
    if mode != "delete":
        raise Unavailable(f"The memory file {path} is in use.", hint="End the processes that have it open.")


def _trouble() -> tuple[type[Exception], ...]:
    return (*cipher.failures(), Unavailable)


def _free(path: Path) -> Path:
    number = 1
    while (found := path.with_name(f"{path.name}.before-{number}")).exists():
        number += 1
    return found


def _flush(path: Path) -> None:
    if os.name != "posix":
        return  # elsewhere a folder cannot be opened; a file is flushed as it is closed
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
