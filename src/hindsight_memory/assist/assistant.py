"""The questions of judgement, and who answers them: rules alone, or a language model whose answers are checked.

An assistant never raises, and is never asked inside a transaction. It may add; nothing it says empties or deletes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Generic, Literal, Protocol, TypeAlias, TypeVar

from hindsight_memory.domain import Draft, SessionState, Source, StatePatch

T = TypeVar("T")

Standing: TypeAlias = Literal["same", "newer", "contradicts", "unrelated"]


class Task(StrEnum):
    """What a model may be chosen for."""

    EXTRACT = "extract"
    JUDGE = "judge"
    SUMMARISE = "summarise"
    REFLECT = "reflect"
    STATE = "state"


@dataclass(frozen=True, slots=True)
class Advice(Generic[T]):
    """What an assistant says. ``value`` is ``None`` where the caller's own rules must decide; ``reason`` says why.

    ``passing`` is whether asking again later may help. ``dropped`` says what a model proposed in vain, and why.
    """

    value: T | None = None
    reason: str = ""
    passing: bool = False
    dropped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Fact:
    """Something worth remembering, and where its text says so: ``quote`` is the text from ``start`` to ``end``."""

    draft: Draft
    quote: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Opinion:
    """How a new text stands to an old one, and why."""

    standing: Standing
    reason: str


@dataclass(frozen=True, slots=True)
class Lesson:
    """What one task teaches; ``steps`` are the places, from 0, of those that show it. ``avoid`` may be empty."""

    trigger: str
    do: str
    avoid: str
    why: str
    steps: tuple[int, ...]


class Assistant(Protocol):
    """Judgement, where somebody has it. No method raises; each may answer nothing."""

    @property
    def models(self) -> Mapping[Task, str]:
        """The name of each task's model, where it has one."""

    async def answers(self, task: Task) -> bool:
        """Whether a task's model answers anything at all: what failed is then the fault of what it was asked."""

    async def extract(self, text: str, speaker: str = "", source: Source = Source.USER) -> Advice[tuple[Fact, ...]]:
        """What a text of a conversation holds that is worth remembering; none is an answer too.

        Args:
            text: What was said.
            speaker: By whom, if that is known.
            source: Where it comes from: what is read out of a document is trusted no more than the document.
        """

    async def judge(self, old: str, new: str) -> Advice[Opinion]:
        """How a new text stands to an old one that is held already."""

    async def summarise(self, text: str) -> Advice[str]:
        """A text in fewer words, in its own language."""

    async def reflect(self, steps: Sequence[str], task: str = "") -> Advice[Lesson]:
        """What a finished task teaches; ``steps`` are what was tried and what came of it, in order."""

    async def state(self, current: SessionState, turn: str) -> Advice[StatePatch]:
        """What the last turn adds to a session's state. It removes nothing and clears nothing."""

    async def close(self) -> None:
        """Let go of the models."""


class Rules:
    """The assistant where there is no model: it knows nothing, so the callers' rules decide."""

    _ADVICE = "No language model is set."
    models: Mapping[Task, str] = MappingProxyType({})

    async def answers(self, task: Task) -> bool:  # noqa: ARG002
        """See ``Assistant.answers``."""
        return False

    async def extract(self, text: str, speaker: str = "", source: Source = Source.USER) -> Advice[tuple[Fact, ...]]:  # noqa: ARG002
        """See ``Assistant.extract``."""
        return Advice(reason=self._ADVICE)

    async def judge(self, old: str, new: str) -> Advice[Opinion]:  # noqa: ARG002
        """See ``Assistant.judge``."""
        return Advice(reason=self._ADVICE)

    async def summarise(self, text: str) -> Advice[str]:  # noqa: ARG002
        """See ``Assistant.summarise``."""
        return Advice(reason=self._ADVICE)

    async def reflect(self, steps: Sequence[str], task: str = "") -> Advice[Lesson]:  # noqa: ARG002
        """See ``Assistant.reflect``."""
        return Advice(reason=self._ADVICE)

    async def state(self, current: SessionState, turn: str) -> Advice[StatePatch]:  # noqa: ARG002
        """See ``Assistant.state``."""
        return Advice(reason=self._ADVICE)

    async def close(self) -> None:
        """See ``Assistant.close``."""
