"""What the commands print: JSON as REST has it, and errors; forms for people are in ``people``."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from io import TextIOWrapper
from typing import Any, TypeVar

import typer

from hindsight_memory.errors import HindsightMemoryError
from hindsight_memory.wire import to_wire

T = TypeVar("T")

PIPE_CLOSED = 141
"""What a shell reports for a program that wrote to a closed pipe: 128 + SIGPIPE."""


def show(value: T, people: Callable[[T], None], *, as_json: bool, name: str = "") -> None:
    """Print an answer, as JSON or as people read it; ``name`` wraps a bare list, as REST does."""
    if as_json:
        emit({name: value} if name else value)
    else:
        people(value)


def emit(value: Any, *, err: bool = False) -> None:
    """One line of JSON, in UTF-8 whatever the console's encoding is."""
    text = json.dumps(to_wire(value), ensure_ascii=False)
    # Half a surrogate, from an argument that was not UTF-8, becomes its JSON escape.
    typer.echo(text.encode("utf-8", "backslashreplace"), err=err)


def say(line: str) -> None:
    """A line beside the answer, on standard error."""
    typer.echo(line, err=True)


def complain(message: str, hint: str = "", field: str | None = None, *, code: str, as_json: bool) -> None:
    """Print what went wrong, what to do, and the field that is meant."""
    if as_json:
        emit({"error": {"code": code, "message": message, "hint": hint, "field": field}}, err=True)
        return
    named = "" if field is None or field.lower() in message.lower() else f" ({field})"
    say(f"Error: {message}{named}")
    if hint:
        say(f"  {hint}")


def report(error: HindsightMemoryError, *, as_json: bool) -> int:
    """Print an error of ours; returns the exit code."""
    complain(error.message, error.hint, error.field, code=error.code, as_json=as_json)
    return error.exit_code


def forgive() -> None:
    """Let no console crash on a character it cannot show."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")


def drop_output() -> None:
    """Send what is still buffered nowhere: its reader has gone, and Python would complain of it at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
