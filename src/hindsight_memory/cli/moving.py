"""The commands that move memory: export, migrate, backup, restore-backup."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO, Final

import typer

from hindsight_memory.cli import people
from hindsight_memory.cli.options import Call, command
from hindsight_memory.cli.output import say, show
from hindsight_memory.cli.progress import bar
from hindsight_memory.domain import Export, Migrated, Moved
from hindsight_memory.errors import InvalidInput, Unavailable

if TYPE_CHECKING:
    from hindsight_memory.client import AsyncHindsightMemory

app: Final = typer.Typer()

STILL_OPEN: Final = 1
"""The exit code for a migration whose source was being written to until the end."""

PassphraseFile = Annotated[
    Path | None, typer.Option(help="A file whose first line is the passphrase.", show_default=False)
]


@command(app, "export", of=Export, without=["all_users", "passphrase"])
def export(
    at: Call,
    out: Annotated[Path | None, typer.Option(help="A file instead of standard output.", show_default=False)] = None,
    all_users: Annotated[bool, typer.Option("--all", help="Of all users and namespaces.", show_default=False)] = False,
    encrypt: Annotated[
        bool, typer.Option("--encrypt", help="Encrypted; asks for a passphrase.", show_default=False)
    ] = False,
    passphrase_file: PassphraseFile = None,
) -> None:
    """Write all that is kept of a user to an archive."""
    passphrase = passphrase_of(passphrase_file, ask=encrypt, confirm=True)
    if out is None and sys.stdout.isatty():
        raise InvalidInput("An archive is not for a screen.", hint="Give --out FILE, or a pipe.", field="out")

    async def write(memory: AsyncHindsightMemory) -> int:
        pieces = await memory.export(all_users=all_users, passphrase=passphrase, **at.fields)
        with _opened(out) as file, bar("bytes written", quiet=at.as_json) as progress:
            size = 0
            async for piece in pieces:
                file.write(piece)
                size += len(piece)
                progress(size)
        return size

    size = at.ask(write)
    if out is not None:
        show({"file": str(out), "bytes": size}, lambda _: say(f"{out}: {size:,} bytes."), as_json=at.as_json)


def take_in(at: Call, path: Path, passphrase_file: Path | None) -> None:
    """Import an archive: of the user that was named, or all that it holds."""
    from hindsight_memory.service.moving import is_encrypted

    passphrase = passphrase_of(passphrase_file, ask=is_encrypted(path))
    users = [at.who["user_id"]] if "user_id" in at.who else []

    async def taken(memory: AsyncHindsightMemory) -> Moved:
        return await memory.import_archive(path, passphrase=passphrase, users=users, progress=progress)

    try:
        with bar("lines read, and then stored", quiet=at.as_json) as progress:
            moved = at.ask(taken)
    except KeyboardInterrupt:
        say("Users that were stored are stored whole. Run the same import again to go on.")
        raise
    show(moved, _moved, as_json=at.as_json)


def _moved(moved: Moved) -> None:
    for each in moved.banks:
        whose = "The shared bank" if each.user_id is None else people.plain(each.user_id)
        became = "stored" if each.outcome == "moved" else "known already"
        typer.echo(f"{whose} ({people.plain(each.namespace)}): {became}, {each.lines.get('memory', 0)} memories.")
        if each.note:
            typer.echo(f"  {people.plain(each.note)}")


def passphrase_of(file: Path | None, *, ask: bool, confirm: bool = False) -> str | None:
    """The passphrase in a file, or what is typed where one is asked for."""
    if file is not None:
        try:
            lines = file.read_text(encoding="utf-8-sig").splitlines()
        except (OSError, ValueError) as error:
            hint = "Give a file of text that can be read."
            raise InvalidInput(f"{file} cannot be read.", hint=hint, field="passphrase_file") from error
        if not lines or not lines[0]:
            raise InvalidInput(f"{file} has no first line.", field="passphrase_file")
        return lines[0]
    if not ask:
        return None
    if not sys.stdin.isatty():
        raise InvalidInput("Nobody is there to type it.", hint="Give --passphrase-file.", field="passphrase_file")
    typed: str = typer.prompt("Passphrase", hide_input=True, confirmation_prompt=confirm, err=True)
    return typed


@contextmanager
def _opened(out: Path | None) -> Iterator[BinaryIO]:
    """Where an archive goes; a file of its own has its name only once it is whole, and is nobody else's to read."""
    if out is None:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    part = out.with_name(f"{out.name}.part")
    try:
        part.unlink(missing_ok=True)
        with os.fdopen(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(out)
    except OSError as error:
        raise Unavailable(f"{out} cannot be written: {error.strerror}.", hint="Check folder and disk.") from error
    finally:
        part.unlink(missing_ok=True)


@command(app, "migrate", who=[])
def migrate(
    at: Call,
    to: Annotated[str, typer.Option(metavar="URL", help="The database to move to.")],
    source: Annotated[
        str | None, typer.Option("--from", metavar="URL", help="The database to move; else that in use.")
    ] = None,
) -> None:
    """Move everything into another database."""
    from hindsight_memory.build import settings_from
    from hindsight_memory.databases import migrate as migrated

    old, new = settings_from(database=source or at.database), settings_from(database=to)
    try:
        with bar("lines compared", quiet=at.as_json) as progress:
            done: Migrated = asyncio.run(migrated(old, new, progress))
    except KeyboardInterrupt:
        say("What was moved so far stays. Run the same migration again to go on.")
        raise
    show(done, _migrated, as_json=at.as_json)
    if done.open:
        raise typer.Exit(STILL_OPEN)


def _migrated(done: Migrated) -> None:
    typer.echo(f"{done.banks} users, {done.lines:,} lines, {done.changed:,} moved in {done.rounds} rounds.")
    if done.open:
        typer.echo(f"Not equal yet, since they are still written to: {', '.join(map(people.plain, done.open))}.")
        typer.echo("End what writes to the old database, and run the same migration again.")
        return
    typer.echo(f"Both are equal, line by line (sha256 {done.sha256}).")
    typer.echo("Next: end what writes to the old database and run this once more; it only moves what is new. Then set")
    typer.echo("HINDSIGHT_MEMORY_DATABASE_URL to the new one, start, run doctor, and keep the old one for a while.")


@command(app, "backup", who=[])
def backup(at: Call, file: Annotated[Path, typer.Argument(help="Where the copy goes.")]) -> None:
    """Copy the database's file, in use or not."""
    from hindsight_memory.build import settings_from
    from hindsight_memory.databases import backup as copied

    copied(settings_from(database=at.database), file)
    size = file.stat().st_size
    show({"file": str(file), "bytes": size}, lambda _: say(f"{file}: {size:,} bytes, whole."), as_json=at.as_json)


@command(app, "restore-backup", who=[])
def restore_backup(
    at: Call,
    file: Annotated[Path, typer.Argument(help="What backup wrote.")],
    replace: Annotated[
        bool, typer.Option("--replace", help="Where there is a database; it is kept.", show_default=False)
    ] = False,
) -> None:
    """Put a backup in the place of the database's file."""
    from hindsight_memory.build import settings_from
    from hindsight_memory.databases import restore_backup as put_back

    settings = settings_from(database=at.database)
    kept = put_back(settings, file, replace=replace)
    told = {"database": settings.place, "kept": None if kept is None else str(kept)}

    def shown(_: object) -> None:
        say(f"{settings.place} is what {file} holds.")
        if kept is not None:
            say(f"What was there before is {kept}.")

    show(told, shown, as_json=at.as_json)
