"""The steps of a task: what was tried, what is answered to it, and what looking back over the task has taught."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from hindsight_memory.check import Checked, Limits
from hindsight_memory.domain.kinds import Outcome, Visibility
from hindsight_memory.domain.records import Memory
from hindsight_memory.domain.results import Change, Hit, Receipt


@dataclass(frozen=True, kw_only=True)
class Step(Checked):
    """One call of a tool, and what came of it. Long texts are kept by their beginning and end.

    ``id`` is the host's own id, where it has one: the same id in the same session is the same step.
    """

    tool: str = field(metadata=Limits(least=1, most=200, prose=True))
    input: str = field(default="", metadata=Limits(most=100_000, prose=True))
    outcome: Outcome
    error: str = field(default="", metadata=Limits(most=100_000, prose=True))
    output: str = field(default="", metadata=Limits(most=100_000, prose=True))
    task: str | None = field(default=None, metadata=Limits(least=1, most=2_000))
    id: str | None = field(default=None, metadata=Limits(least=1, most=500))
    occurred_at: datetime | None = None
    visibility: Visibility = Visibility.SHARED


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """What became of a step, and whether its task is stuck.

    ``failures`` counts those in a row. ``help`` is what is remembered of the error when a task becomes stuck on it:
    lessons, and what solved it before.
    """

    receipt: Receipt
    stuck: bool = False
    failures: int = 0
    help: tuple[Hit, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reflection:
    """What a task was, how it went and what it teaches.

    ``lessons`` are those that it bears out, as they stand now, ``changes`` what reflecting has written: nothing the
    second time. ``episode`` is the memory of the task itself, ``note`` says whether a language model took part.
    """

    task: str = ""
    outcome: Outcome | None = None
    steps: int = 0
    failures: int = 0
    lessons: tuple[Memory, ...] = ()
    episode: Memory | None = None
    changes: tuple[Change, ...] = ()
    note: str = ""
