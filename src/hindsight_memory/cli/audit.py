"""The commands of the audit log: verify, export, check."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from hindsight_memory.cli.options import Call, command
from hindsight_memory.cli.output import emit, say, show
from hindsight_memory.domain import AuditCheck, Audited, AuditLine
from hindsight_memory.domain.audit import checked
from hindsight_memory.errors import InvalidInput
from hindsight_memory.wire import from_wire, to_wire

if TYPE_CHECKING:
    from hindsight_memory.client import AsyncHindsightMemory

app: Final = typer.Typer(name="audit", help="Verify or export the audit log.", no_args_is_help=True)

_PAGE: Final = 1_000
BROKEN: Final = 1
"""The exit code for a log that is not whole."""


@command(app, "verify", of=AuditCheck)
def verify(at: Call) -> None:
    """Tell whether a user's log is whole."""
    _finding(at.ask(lambda memory: memory.verify_audit(**at.fields)), as_json=at.as_json)


@command(app, "export")
def export(
    at: Call,
    out: Annotated[Path | None, typer.Option(help="A file instead of standard output.", show_default=False)] = None,
) -> None:
    """Write a user's log as JSON lines, with its seals."""

    async def write(memory: AsyncHindsightMemory) -> str:
        last = ""
        file = None if out is None else out.open("w", encoding="utf-8", newline="\n")
        try:
            async for line in _lines(memory):
                if file is None:
                    emit(line)
                else:
                    file.write(json.dumps(to_wire(line), ensure_ascii=False) + "\n")
                last = f"{line.number}:{line.seal}"
        finally:
            if file is not None:
                file.close()
        return last

    head = at.ask(write)
    say(f"Head: {head}" if head else "The log is empty.")


@command(app, "check", of=AuditCheck, who=[])
def check(at: Call, file: Annotated[Path, typer.Argument(help="What export wrote.")]) -> None:
    """Verify an exported log; no database is needed."""
    try:
        with file.open(encoding="utf-8-sig") as lines:
            finding = checked(_read(lines), at.fields.get("head"))
    except OSError as error:
        hint = "Name another file."
        raise InvalidInput(f"{file} cannot be read: {error.strerror}.", hint=hint, field="file") from error
    _finding(finding, as_json=at.as_json)


async def _lines(memory: AsyncHindsightMemory) -> AsyncIterator[AuditLine]:
    after: int | None = 0
    while after is not None:
        page = await memory.export_audit(after=after, limit=_PAGE)
        for line in page.lines:
            yield line
        after = page.next


def _read(lines: Any) -> Iterator[AuditLine]:
    for place, text in enumerate(lines, 1):
        try:
            yield from_wire(AuditLine, json.loads(text))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            hint = "Give what audit export wrote."
            raise InvalidInput(f"Line {place} of the file is no line of a log.", hint=hint, field="file") from error


def _finding(found: Audited, *, as_json: bool) -> None:
    show(found, _said, as_json=as_json)
    if not found.whole:
        raise typer.Exit(BROKEN)


def _said(found: Audited) -> None:
    if not found.whole:
        typer.echo(f"Not whole. Line {found.bad}: {found.fault}. {found.lines} lines before it are in order.")
        return
    emptied = f", {found.emptied} of them emptied by purges" if found.emptied else ""
    typer.echo(f"Whole: {found.lines} lines{emptied}.")
    if found.head:
        typer.echo(f"Head: {found.head}")
