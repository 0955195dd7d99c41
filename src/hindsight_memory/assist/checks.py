"""What becomes of a model's answers: each task's form, and the tests that an answer must pass to count.

A test that fails says why in words; the caller's rules then answer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, Literal

from hindsight_memory.assist.answers import Answer
from hindsight_memory.assist.assistant import Advice, Fact, Lesson, Opinion, Standing
from hindsight_memory.assist.grounding import (
    Grounds,
    clause_around,
    contrary,
    numbers_in,
    repeats,
    same_words,
    says_nothing,
)
from hindsight_memory.domain import Draft, Kind, SessionState, Source, StatePatch
from hindsight_memory.text.bearing import changed, same
from hindsight_memory.text.names import names_in
from hindsight_memory.text.tokens import index_words

_KEY: Final = re.compile(r"[a-z][a-z0-9_]{0,40}\.[a-z][a-z0-9_.]{0,60}")
_SUMMARY_WORDS: Final = 0.5
"""Share of a summary's words that must stand in its text."""
_STATE_WORDS: Final = 0.5
"""The same of what a turn adds to a state."""
_LESSON_WORDS: Final = 0.3
"""The same of a lesson, which says more in words of its own."""


def _limits(**limits: Any) -> Mapping[str, Any]:
    return MappingProxyType(limits)


@dataclass(frozen=True, slots=True)
class FactForm:
    """One thing worth remembering."""

    content: str = field(metadata=_limits(most=500))
    quote: str = field(metadata=_limits(most=1_000))
    kind: Literal["semantic", "episodic", "procedural"] = "semantic"
    key: str = field(default="", metadata=_limits(most=100))
    importance: float = field(default=0.5, metadata=_limits(least=0, most=1))


@dataclass(frozen=True, slots=True)
class OpinionForm:
    """How two statements stand to each other."""

    standing: Standing = field(
        metadata=_limits(
            meant={"相同": "same", "一样": "same", "更新": "newer", "较新": "newer", "矛盾": "contradicts",
                   "冲突": "contradicts", "contradict": "contradicts", "contradictory": "contradicts",
                   "无关": "unrelated", "不相关": "unrelated"}
        )
    )  # fmt: skip
    reason: str = field(default="", metadata=_limits(most=500))


@dataclass(frozen=True, slots=True)
class SummaryForm:
    """A text in fewer words."""

    summary: str


@dataclass(frozen=True, slots=True)
class LessonForm:
    """What a task teaches; steps are numbered from 1."""

    trigger: str = field(metadata=_limits(most=500))
    do: str = field(metadata=_limits(most=500))
    why: str = field(metadata=_limits(most=500))
    avoid: str = field(default="", metadata=_limits(most=500))
    steps: tuple[int, ...] = field(default=(), metadata=_limits(least=1, most=10_000))


@dataclass(frozen=True, slots=True)
class StateForm:
    """What a turn adds to a session's state."""

    task_goal: str = field(default="", metadata=_limits(most=500))
    current_step: str = field(default="", metadata=_limits(most=500))
    confirmed_facts: tuple[str, ...] = field(default=(), metadata=_limits(most=400))
    open_questions: tuple[str, ...] = field(default=(), metadata=_limits(most=400))
    decisions: tuple[str, ...] = field(default=(), metadata=_limits(most=400))
    discarded: tuple[str, ...] = field(default=(), metadata=_limits(most=400))


def prose_fault(text: str, grounds: Grounds, own_words: float) -> str:
    """What is wrong with a text that should say what its source says; empty if nothing is."""
    if says_nothing(text) and not says_nothing(grounds.text):
        return "it says that it knows nothing"
    if grounds.speaks_otherwise(text):
        return "it is in another language"
    if repeats(text):
        return "it repeats itself"
    if grounds.shared(text) < own_words:
        return "it is about something else"
    return grounds.lacks(text)


def facts_of(answer: Answer[FactForm], text: str, speaker: str, source: Source) -> Advice[tuple[Fact, ...]]:
    """The facts that their text bears out; where it bears out none of those named, the model has said nothing."""
    grounds, said = Grounds(text), Grounds(f"{speaker}: {text}")
    found = [_fact(form, grounds, said, source) for form in answer.items]
    facts = tuple(each for each in found if isinstance(each, Fact))
    dropped = (*answer.dropped, *(each for each in found if isinstance(each, str)))
    if found and not facts:
        return Advice(reason=f"No fact that the model named holds: {dropped[-1]}.", dropped=dropped)
    return Advice(facts, dropped=dropped)


def _fact(form: FactForm, grounds: Grounds, said: Grounds, source: Source) -> Fact | str:
    """The fact, with the span of its text that says it; or why it is none. ``said`` is the text with its speaker."""
    span = grounds.quoted(form.quote)
    if span is None:
        return "its quote is not in the text"
    quote = grounds.text[slice(*span)]
    fault = prose_fault(form.content, said, 0)
    if not fault and not Grounds(quote).shared(form.content):
        fault = "it says something else than its quote"
    if not fault and numbers_in(form.content) - numbers_in(quote, loosely=True):
        fault = "a number of it is not in its quote"
    if not fault and contrary(form.content, clause_around(grounds.text, *span)):
        fault = "it says the contrary of its quote"
    if fault:
        return fault
    key = form.key.casefold()
    draft = Draft(
        content=form.content,
        kind=Kind(form.kind),
        key=key if _KEY.fullmatch(key) else None,
        importance=form.importance,
        source=source if source in (Source.TOOL, Source.DOCUMENT) else Source.AGENT,
    )
    return Fact(draft, quote, *span)


def obvious(old: str, new: str) -> Opinion | None:
    """What needs no model: the same words again."""
    return Opinion("same", "the same words") if same_words(old, new) or same(old, new) else None


def opinion_of(form: OpinionForm, old: str, new: str) -> Advice[Opinion]:
    """The opinion, unless something plainly speaks against it."""
    if fault := _against(form.standing, old, new):
        return Advice(reason=f"The model said «{form.standing}», but {fault}.")
    return Advice(Opinion(form.standing, form.reason))


def _against(standing: Standing, old: str, new: str) -> str:
    if standing == "same":
        if numbers_in(old) != numbers_in(new):
            return "their numbers differ"
        if set(names_in(old)) != set(names_in(new)):
            return "their names differ"
        if contrary(old, new) or changed(old, new) is not None:
            return "one says the contrary of the other"
    elif standing != "unrelated" and set(index_words(old)) == set(index_words(new)) and not contrary(old, new):
        return "they have the same words"
    return ""


def confirmed(opinion: Opinion, turned: Standing) -> Advice[Opinion]:
    """The opinion that one text replaces the other, if the model, asked the other way round, sees a conflict too."""
    if turned in ("newer", "contradicts"):
        return Advice(opinion)
    return Advice(reason=f"The model said «{opinion.standing}», and the other way round «{turned}».")


def summary_of(form: SummaryForm, text: str) -> Advice[str]:
    """The summary, if it is one of this text."""
    fault = "it is not shorter than the text" if len(form.summary) >= len(text) else ""
    fault = fault or prose_fault(form.summary, Grounds(text), _SUMMARY_WORDS)
    return Advice(reason=f"The model's summary does not hold: {fault}.") if fault else Advice(form.summary)


def lesson_of(form: LessonForm, steps: Mapping[int, str], task: str) -> Advice[Lesson]:
    """The lesson: it must name steps that show it, say what they say, and not what it says to avoid."""
    places = tuple(number - 1 for number in form.steps if number - 1 in steps)
    grounds = Grounds("\n".join((task, *steps.values())))
    said = {name: text for name in ("trigger", "do", "avoid", "why") if (text := getattr(form, name))}
    faults = (f"{name}: {fault}" for name, text in said.items() if (fault := prose_fault(text, grounds, _LESSON_WORDS)))
    if not places:
        fault = "it names no step that shows it"
    elif same_words(form.do, form.avoid):
        fault = "it says to do what it says to avoid"
    else:
        fault = next(faults, "")
    if fault:
        return Advice(reason=f"The model's lesson does not hold: {fault}.")
    return Advice(Lesson(form.trigger, form.do, form.avoid, form.why, places))


def patch_of(form: StateForm, current: SessionState, turn: str) -> Advice[StatePatch]:
    """What a turn adds to a state.

    What stands already is not said again, and what stands cannot be discarded: that would take it away. A goal is only
    filled in where there is none.
    """
    grounds, dropped = Grounds(turn), list[str]()
    held = [entry for name in _LISTS for entry in getattr(current, name)] + [getattr(current, name) for name in _LINES]

    def fits(said: str) -> bool:
        if fault := prose_fault(said, grounds, _STATE_WORDS):
            dropped.append(fault)
        return not fault and not any(same_words(said, entry) for entry in held)

    lines = _LINES[1:] if current.task_goal else _LINES
    added: dict[str, Any] = {name: said for name in lines if (said := getattr(form, name)) and fits(said)}
    added |= {name: tuple(filter(fits, getattr(form, name))) for name in _LISTS}
    return Advice(StatePatch(**added), dropped=tuple(dropped))


_LINES: Final = ("task_goal", "current_step")
_LISTS: Final = ("confirmed_facts", "open_questions", "decisions", "discarded")
