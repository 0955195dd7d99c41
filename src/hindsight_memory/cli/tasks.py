"""The commands of tasks: record a step of one, and look back over it."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from hindsight_memory.cli import people
from hindsight_memory.cli.options import Call, command, text_of
from hindsight_memory.cli.output import show
from hindsight_memory.domain import Outcome, Recorded, Reflection, Step

app: Final = typer.Typer()


@command(app, "step", of=Step, without=["tool", "input", "outcome"])
def step(
    at: Call,
    tool: Annotated[str, typer.Argument(help="The tool that was called.")],
    input_: Annotated[str, typer.Argument(metavar="INPUT", help="What it was given; - reads it from standard input.")],
    outcome: Annotated[Outcome, typer.Argument(help="How it ended.")],
) -> None:
    """Record a step of a task."""
    given = text_of(input_, "input")
    recorded = at.ask(lambda memory: memory.record_step(tool, given, outcome, **at.fields))
    show(recorded, _recorded, as_json=at.as_json)


@command(app, "reflect")
def reflect(
    at: Call,
    task: Annotated[str, typer.Option(help="Only the steps of this task; in all sessions without --session-id.")] = "",
) -> None:
    """Look back over a task, and keep what it teaches."""
    show(at.ask(lambda memory: memory.reflect(task=task)), _reflection, as_json=at.as_json)


def _recorded(one: Recorded) -> None:
    people.receipts([one.receipt])
    if one.stuck:
        typer.echo(f"Stuck: {one.failures} failed in a row.")
    if one.help:
        people.hits(one.help)


def _reflection(one: Reflection) -> None:
    ended = f", {one.outcome}" if one.outcome else ""
    typer.echo(f"{people.plain(one.task) or 'No task'}: {one.steps} steps, {one.failures} failed{ended}.")
    for change in one.changes:
        typer.echo(f"{change.memory_id} {change.what}: {people.plain(change.why)}")
    for lesson in one.lessons:
        typer.echo(f"\n{lesson.id}\n{people.plain(lesson.content)}")
