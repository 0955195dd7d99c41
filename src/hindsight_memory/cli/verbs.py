"""One command a verb: parse, ask, print."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final

import typer

from hindsight_memory.cli import people
from hindsight_memory.cli.options import Call, command, text_of
from hindsight_memory.cli.output import show
from hindsight_memory.domain import Changes, Draft, Feedback, Judgement, Listing, Message, Outlook, Query, Wait
from hindsight_memory.errors import InvalidInput

app: Final = typer.Typer()

Content = Annotated[str, typer.Argument(help="What to remember; - reads it from standard input.")]
Text = Annotated[str, typer.Argument(help="What is asked; - reads it from standard input.")]
MemoryId = Annotated[str, typer.Argument(help="The memory's id.")]
WaitFor = Annotated[Wait, typer.Option("--wait", help="Return when it is stored, or when its vector is too.")]
_ABOUT_MESSAGES: Final = "JSON lines, each a message with role and content; - is standard input."


@command(app, "write", of=Draft, without=["content"])
def write(at: Call, content: Content, wait: WaitFor = Wait.STORED) -> None:
    """Remember something."""
    text = text_of(content, "content")
    receipt = at.ask(lambda memory: memory.write(text, wait=wait, **at.fields))
    show(receipt, lambda one: people.receipts([one]), as_json=at.as_json)


@command(app, "write-conversation")
def write_conversation(
    at: Call,
    path: Annotated[str, typer.Argument(metavar="FILE", help=_ABOUT_MESSAGES)] = "-",
    wait: WaitFor = Wait.STORED,
) -> None:
    """Append messages to a session, a memory each."""
    messages = list(_messages(_lines(path)))
    receipts = at.ask(lambda memory: memory.write_conversation(messages, wait=wait))
    show(receipts, people.receipts, as_json=at.as_json, name="receipts")


@command(app, "search", of=Query, without=["text"])
def search(at: Call, text: Text) -> None:
    """Find the memories that answer a query."""
    query = text_of(text, "text")
    hits = at.ask(lambda memory: memory.search(query, **at.fields))
    show(hits, people.hits, as_json=at.as_json, name="hits")


@command(app, "context", of=Query, without=["text"])
def context(
    at: Call,
    text: Text,
    budget_tokens: Annotated[int | None, typer.Option(help="Longest block, in tokens.", show_default=False)] = None,
) -> None:
    """Pack what is worth knowing into one prompt block."""
    query = text_of(text, "text")
    block = at.ask(lambda memory: memory.context(query, budget_tokens=budget_tokens, **at.fields))
    show(block, people.context, as_json=at.as_json)


@command(app, "explain", of=Query, without=["text"])
def explain(at: Call, text: Text, memory_id: MemoryId) -> None:
    """Show how one memory fares with a query, in numbers."""
    query = text_of(text, "text")
    hit = at.ask(lambda memory: memory.explain(query, memory_id, **at.fields))
    show(hit, people.explained, as_json=at.as_json)


@command(app, "suggest", of=Outlook)
def suggest(at: Call) -> None:
    """Show what usually happens about now."""
    found = at.ask(lambda memory: memory.suggest(**at.fields))
    show(found, people.suggestions, as_json=at.as_json, name="suggestions")


@command(app, "get")
def get(at: Call, memory_id: MemoryId) -> None:
    """Show one memory."""
    show(at.ask(lambda memory: memory.get(memory_id)), people.memory, as_json=at.as_json)


@command(app, "list", of=Listing)
def list_(at: Call) -> None:
    """List memories, newest first, a page at a time."""
    show(at.ask(lambda memory: memory.list(**at.fields)), people.page, as_json=at.as_json)


@command(app, "update", of=Changes)
def update(at: Call, memory_id: MemoryId) -> None:
    """Change fields of a memory."""
    changes = dict(at.fields)
    if "content" in changes:
        changes["content"] = text_of(changes["content"], "content")
    show(at.ask(lambda memory: memory.update(memory_id, **changes)), people.memory, as_json=at.as_json)


@command(app, "history")
def history(at: Call, memory_id: MemoryId) -> None:
    """Show what a memory replaced and what replaced it."""
    show(at.ask(lambda memory: memory.history(memory_id)), people.history, as_json=at.as_json)


@command(app, "contradictions")
def contradictions(
    at: Call, limit: Annotated[int, typer.Option(min=1, max=200, help="How many pairs at most.")] = 20
) -> None:
    """List memories that contradict each other."""
    found = at.ask(lambda memory: memory.contradictions(limit=limit))
    show(found, people.contradictions, as_json=at.as_json, name="contradictions")


@command(app, "resolve")
def resolve(
    at: Call,
    keep: Annotated[str, typer.Option(help="The memory that is right.")],
    over: Annotated[str, typer.Option(help="The memory it replaces.")],
) -> None:
    """Settle a contradiction: one memory replaces the other."""
    show(at.ask(lambda memory: memory.resolve(keep=keep, over=over)), people.changed, as_json=at.as_json)


@command(app, "feedback", of=Judgement, without=["verdict"])
def feedback(
    at: Call, memory_id: MemoryId, verdict: Annotated[Feedback, typer.Argument(help="What it turned out to be worth.")]
) -> None:
    """Say what a memory was worth."""
    judged = at.ask(lambda memory: memory.feedback(memory_id, verdict, **at.fields))
    show(judged, people.changed, as_json=at.as_json)


@command(app, "refit")
def refit(
    at: Call, reset: Annotated[bool, typer.Option("--reset", help="Drop what feedback made of the ranking.")] = False
) -> None:
    """Fit the ranking of a bank to its feedback."""
    show(at.ask(lambda memory: memory.refit(reset=reset)), people.ranking, as_json=at.as_json)


def _lines(path: str) -> list[str]:
    if path == "-":
        return text_of(path, "messages").split("\n")
    try:
        return Path(path).read_text(encoding="utf-8-sig").split("\n")
    except (OSError, ValueError) as error:
        hint = "Give a file of JSON lines in UTF-8."
        raise InvalidInput(f"messages could not be read: {error}.", hint=hint, field="messages") from error


def _messages(lines: list[str]) -> Iterator[Message]:
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield _message(number, line)


def _message(number: int, line: str) -> Message:
    from hindsight_memory.server.call import parse

    try:
        return parse(Message, json.loads(line))
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"messages, line {number}: not JSON ({error}).", field="messages") from error
    except InvalidInput as error:
        raise InvalidInput(f"messages, line {number}: {error.message}", hint=error.hint, field=error.field) from error
