"""The desk of a session: what a task is about while it runs, how it is changed, and what is answered about it."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from datetime import datetime
from enum import StrEnum
from typing import Final

from hindsight_memory.check import Checked, Limits
from hindsight_memory.domain.records import Memory
from hindsight_memory.domain.results import Receipt

_LINE: Final = Limits(most=2_000, prose=True)
_ENTRIES: Final = Limits(least=1, most=500, items=200, prose=True)


class SessionAction(StrEnum):
    """What an agent may do with its session through one tool."""

    GET = "get"
    PATCH = "patch"
    APPEND = "append"
    END = "end"


@dataclass(frozen=True, kw_only=True)
class SessionState(Checked):
    """What a task is about, and what stands: at most 200 entries a list, each of at most 500 characters."""

    task_goal: str = field(default="", metadata=_LINE)
    current_step: str = field(default="", metadata=_LINE)
    confirmed_facts: tuple[str, ...] = field(default=(), metadata=_ENTRIES)
    open_questions: tuple[str, ...] = field(default=(), metadata=_ENTRIES)
    decisions: tuple[str, ...] = field(default=(), metadata=_ENTRIES)
    discarded: tuple[str, ...] = field(default=(), metadata=_ENTRIES)


@dataclass(frozen=True, kw_only=True)
class StatePatch(Checked):
    """A change of a state: texts replace, entries are appended, those under ``remove`` leave whichever list has them.

    What is not given stays; an empty text clears. What is discarded leaves the other lists, and what is confirmed,
    asked or decided anew is no longer discarded.
    """

    task_goal: str | None = field(default=None, metadata=_LINE)
    current_step: str | None = field(default=None, metadata=_LINE)
    confirmed_facts: tuple[str, ...] = field(default=(), metadata=_ENTRIES)
    open_questions: tuple[str, ...] = field(default=(), metadata=_ENTRIES)
    decisions: tuple[str, ...] = field(default=(), metadata=_ENTRIES)
    discarded: tuple[str, ...] = field(default=(), metadata=_ENTRIES)
    remove: tuple[str, ...] = field(default=(), metadata=_ENTRIES)

    def given(self) -> tuple[str, ...]:
        """The names of the fields that say something."""
        return tuple(each.name for each in fields(self) if getattr(self, each.name) not in (None, ()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """A session's state; ``version`` counts its changes, 0 before the first.

    ``given`` names the texts of the state that a caller has set: no model changes them. ``expires_at`` is ``None``
    where no desk is open: it was never begun, or has ended.
    """

    session_id: str
    state: SessionState = field(default_factory=SessionState)
    given: tuple[str, ...] = ()
    version: int = 0
    expires_at: datetime | None = None

    def at(self, now: datetime) -> Desk:
        """The desk as it is seen at a time: one that has expired is empty."""
        if self.expires_at is None or self.expires_at > now:
            return self
        return Desk(session_id=self.session_id, version=self.version)


@dataclass(frozen=True, slots=True, kw_only=True)
class Session(Desk):
    """A desk with its latest messages, oldest first, as many as fit into a budget after the state.

    ``tokens`` is what state and messages take, ``left_out`` how many messages did not fit: they are kept, found by
    searching, and promoted with the others.
    """

    messages: tuple[Memory, ...] = ()
    left_out: int = 0
    tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Appended(Desk):
    """What became of messages, in their order, and the desk after them."""

    receipts: tuple[Receipt, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended(Desk):
    """The state a session ended with, and how many of its messages were promoted to episodic memory, or forgotten."""

    promoted: int = 0
    forgotten: int = 0
