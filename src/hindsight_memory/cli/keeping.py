"""The commands that keep memory in order over time: forget, restore, purge, replay, maintain, jobs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Final

import typer

from hindsight_memory.cli import people
from hindsight_memory.cli.options import Call, command
from hindsight_memory.cli.output import say, show
from hindsight_memory.cli.progress import Progress, bar
from hindsight_memory.domain import Consolidation, Erased, Jobs, MaintainReport, Maintenance, Span, Stop, Work
from hindsight_memory.errors import InvalidInput, Unavailable

app: Final = typer.Typer()

MemoryId = Annotated[str, typer.Argument(help="The memory's id.")]
Reason = Annotated[str, typer.Option(help="Why, for the audit log.", show_default=False)]


@command(app, "forget")
def forget(
    at: Call,
    memory_id: Annotated[str | None, typer.Argument(help="The memory's id.", show_default=False)] = None,
    all_of: Annotated[
        str | None,
        typer.Option(metavar="USER", help="Remove everything of a user for good, instead.", show_default=False),
    ] = None,
    confirm: Annotated[
        str | None, typer.Option(metavar="USER", help="The user once more, for --all-of.", show_default=False)
    ] = None,
    for_good: Annotated[
        bool, typer.Option("--purge", help="For good: the memory, or without one all of --user-id.", show_default=False)
    ] = False,
    reason: Reason = "",
) -> None:
    """Take a memory out of sight; restore brings it back."""
    if for_good and memory_id is not None:
        show(at.ask(lambda memory: memory.purge(memory_id, reason=reason)), people.erased, as_json=at.as_json)
        return
    if for_good and all_of is None:
        all_of = at.who.get("user_id")
    if all_of is not None:
        show(_forget_all(at, all_of, confirm, memory_id), people.erased, as_json=at.as_json)
        return
    if memory_id is None:
        raise InvalidInput("memory_id is missing.", hint="Give a memory's id, or --all-of USER.", field="memory_id")
    show(at.ask(lambda memory: memory.forget(memory_id, reason=reason)), people.changed, as_json=at.as_json)


def _forget_all(at: Call, user: str, confirm: str | None, memory_id: str | None) -> Erased:
    if memory_id is not None or at.who.get("user_id", user) != user:
        hint = "Give --all-of USER and --confirm USER, and nothing else."
        raise InvalidInput("all_of is everything of one user.", hint=hint, field="all_of")
    if confirm is None and sys.stdin.isatty():
        confirm = typer.prompt(f"This cannot be undone. Type {people.plain(user)} to go on", err=True)
    # Without a word it is an empty confirmation, and the service says what is missing.
    return at.ask(lambda memory: memory.forget_all(user_id=user, confirm=confirm or ""))


@command(app, "restore")
def restore(at: Call, memory_id: MemoryId) -> None:
    """Bring a forgotten memory back."""
    show(at.ask(lambda memory: memory.restore(memory_id)), people.changed, as_json=at.as_json)


@command(app, "purge")
def purge(at: Call, memory_id: MemoryId, reason: Reason = "") -> None:
    """Remove a memory for good, at once."""
    show(at.ask(lambda memory: memory.purge(memory_id, reason=reason)), people.erased, as_json=at.as_json)


@command(app, "replay", of=Span)
def replay(at: Call) -> None:
    """Show what happened to memory, oldest first."""
    show(at.ask(lambda memory: memory.replay(**at.fields)), people.replay, as_json=at.as_json)


@command(app, "maintain", of=Maintenance, who=[])
def maintain(at: Call) -> None:
    """Let go of what has had its time."""
    with _reading(quiet=at.as_json) as progress:
        report: MaintainReport = at.ask(lambda memory: memory.maintain(progress=progress, **at.fields))
    show(report, people.maintained, as_json=at.as_json)


@command(app, "jobs", of=Work)
def jobs(at: Call) -> None:
    """Show how far models have read, or have them read."""
    with _reading(quiet=at.as_json) as progress:
        found: Jobs = at.ask(lambda memory: memory.jobs(progress=progress, **at.fields))
    show(found, people.jobs, as_json=at.as_json)
    if found.stopped is Stop.MODEL:
        raise typer.Exit(Unavailable.exit_code)


@contextmanager
def _reading(*, quiet: bool) -> Iterator[Progress]:
    """A bar while language models read, and what becomes of their work when somebody stops them."""
    try:
        with bar("memories read", quiet=quiet) as progress:
            yield progress
    except KeyboardInterrupt:
        say("What was done so far is kept; what was being read waits, as before.")
        raise


@command(app, "consolidate", of=Consolidation)
def consolidate(at: Call) -> None:
    """Conclude from what came up again and again."""
    show(at.ask(lambda memory: memory.consolidate(**at.fields)), people.consolidated, as_json=at.as_json)
