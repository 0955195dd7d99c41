"""The commands of a session while it runs: show, patch, end."""

from __future__ import annotations

from typing import Annotated, Any, Final

import typer

from hindsight_memory.cli import people
from hindsight_memory.cli.options import Call, command
from hindsight_memory.cli.output import show as answer
from hindsight_memory.domain import StatePatch

app: Final = typer.Typer(name="session", help="See, change or end the desk of a session.", no_args_is_help=True)

SessionId = Annotated[str, typer.Argument(help="The session's id.")]
_WHO: Final = ("user_id", "agent_id")


@command(app, "show", who=_WHO)
def show(
    at: Call,
    session_id: SessionId,
    budget_tokens: Annotated[
        int | None, typer.Option(help="State and messages together, in tokens.", show_default=False)
    ] = None,
) -> None:
    """Show a session's state and its latest messages."""
    session = at.ask(lambda memory: memory.get_session(budget_tokens=budget_tokens, session_id=session_id))
    answer(session, people.session, as_json=at.as_json)


@command(app, "patch", of=StatePatch, who=_WHO)
def patch(at: Call, session_id: SessionId) -> None:
    """Change a session's state; what is not said stays."""
    said: dict[str, Any] = {**at.fields, "session_id": session_id}
    answer(at.ask(lambda memory: memory.patch_session(**said)), people.desk, as_json=at.as_json)


@command(app, "end", who=_WHO)
def end(
    at: Call,
    session_id: SessionId,
    discard: Annotated[bool, typer.Option("--discard", help="Forget its messages instead of keeping them.")] = False,
) -> None:
    """End a session: its messages become episodic memory."""
    ended = at.ask(lambda memory: memory.end_session(discard=discard, session_id=session_id))
    answer(ended, people.ended, as_json=at.as_json)
