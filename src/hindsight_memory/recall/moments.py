"""What a search leans to: the key it asks for; at the start of a task knowledge, when stuck the same error."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Final

from hindsight_memory.domain import Factor, Hit, Kind, Memory, Moment, Outcome
from hindsight_memory.recall.plan import Plan
from hindsight_memory.recall.pool import Pool
from hindsight_memory.recall.retrievers import Brought, agreed
from hindsight_memory.settings import RecallSettings
from hindsight_memory.store.base import Reader, Scored
from hindsight_memory.text.errors import error_tag
from hindsight_memory.text.tokens import index_words

_FAILURES: Final = 20
"""Best first findings among which failures are looked for, whose tasks may have succeeded since."""
_SOLUTIONS: Final = 20
_ERROR_LINES: Final = 3
"""Lines of an error that tell it from others: the last ones, as in a traceback."""
_READ: Final = 2_000
"""Characters of a text that are compared."""
_SURE: Final = 0.5
"""Least confidence of what is known to be asked for: by the key, or by the signature of the error."""
_SAME: Final = 0.5
"""Part of an error's words from which another text is about the same error."""
_ERROR: Final = re.compile(
    r"error|exception|fail|cannot|can't|could not|denied|refused|timed? ?out|not found|panic|fatal"
    r"|错误|报错|异常|失败|无法|超时|拒绝|找不到|崩溃",
    re.IGNORECASE,
)
_KNOWLEDGE: Final = frozenset({Kind.SEMANTIC, Kind.PROCEDURAL})


async def by_resolution(plan: Plan, first: Brought, reader: Reader) -> Brought:
    """What succeeded later in the tasks of the failures among the first findings, best failure first."""
    ids = [each.id for each in agreed(first)[:_FAILURES]]
    where = replace(plan.where, ids=tuple(ids), outcome=Outcome.FAILURE)
    failed = {m.id: m for m in await reader.find(where, len(ids))} if ids else {}
    tasks = dict.fromkeys(failed[each].task or "" for each in ids if each in failed)
    named = [task for task in tasks if task]
    if not named:
        return Brought(inactive=("resolution: no task of the first findings had failed",))
    solved = await reader.find(replace(plan.where, tasks=tuple(named), outcome=Outcome.SUCCESS), _SOLUTIONS)
    later = [each for each in solved if _solves(each, failed.values())]
    later.sort(key=lambda each: (named.index(each.task or ""), each.id))
    return Brought({"resolution": [Scored(each.id, 1 / place) for place, each in enumerate(later, start=1)]})


def leaning(pool: Pool, settings: RecallSettings) -> Mapping[str, Factor]:
    """By memory, the factor of the key it is asked for by, and of the moment the search is made at, where it is."""
    span = settings.moment_span
    match pool.plan.stage:
        case None:
            asked = (memory for memory in pool.memories if memory.key in pool.plan.sought)
            return {each.id: Factor("key", 1 + settings.key_span, f"it is asked for {each.key}") for each in asked}
        case Moment.STUCK:
            weighed = _when_stuck(pool)
            return {each: Factor("moment", 1 + span * weight, said) for each, (weight, said) in weighed.items()}
        case stage:
            return {memory.id: _as_knowledge(memory, stage, span) for memory in pool.memories}


def _as_knowledge(memory: Memory, stage: Moment, span: float) -> Factor:
    if memory.kind in _KNOWLEDGE:
        return Factor("moment", 1 + span, f"{stage}: what is so, and how to do it, comes first")
    return Factor("moment", 1.0, f"{stage}: {memory.kind} memory")


def _when_stuck(pool: Pool) -> Mapping[str, tuple[float, str]]:
    """How much each helps who is stuck, 0 to 1, and why."""
    error, tag = _words(_error_in(pool.plan.text)), error_tag(pool.plan.text)
    like = {memory.id: 1.0 if tag in memory.tags else _likeness(error, memory) for memory in pool.memories}
    same = [m for m in pool.memories if m.outcome is Outcome.FAILURE and like[m.id] >= _SAME]
    helps = {memory.id: _helps(memory, like[memory.id], same) for memory in pool.memories}
    # A lesson of this very error says what each time it happened does, and what to do besides.
    lessons = {m.id: (2.0, "stuck: a lesson of this very error") for m in pool.memories if _teaches(m, tag)}
    told = {m.id: (0.5, "stuck: a lesson tells of this error") for m in same if lessons and tag in m.tags}
    return helps | told | lessons


def recognised(hits: Sequence[Hit], plan: Plan) -> list[Hit]:
    """The hits; those of a key that is asked for are sure, and of who is stuck those of the very same error."""
    tag = error_tag(plan.text) if plan.stage is Moment.STUCK else None
    return [
        replace(hit, confidence=max(hit.confidence, _SURE))
        if tag in hit.memory.tags or hit.memory.key in plan.sought
        else hit
        for hit in hits
    ]


def _teaches(memory: Memory, tag: str | None) -> bool:
    return memory.kind is Kind.PROCEDURAL and tag in memory.tags


def _helps(memory: Memory, like: float, same: Collection[Memory]) -> tuple[float, str]:
    if memory.outcome is Outcome.SUCCESS and _solves(memory, same):
        return 1.0, "stuck: its task had failed with this error, and then succeeded"
    if memory.kind is Kind.PROCEDURAL:
        return 0.5 + 0.5 * like, f"stuck: a lesson, with {like:.0%} of the error's words"
    if memory.kind is Kind.EPISODIC and like >= _SAME:
        weight = 1.0 if memory.outcome is Outcome.FAILURE else 0.5
        return weight * like, f"stuck: it happened with {like:.0%} of the error's words"
    return 0.0, "stuck: it is neither about this error nor a lesson"


def _solves(memory: Memory, failures: Collection[Memory]) -> bool:
    """Whether a success came after one of the failures of its task."""
    return any(memory.task == each.task and each.task and memory.occurred_at >= each.occurred_at for each in failures)


def _error_in(text: str) -> str:
    """The last lines of a text that speak of an error; all of it where none does."""
    lines = [line for line in text.splitlines() if _ERROR.search(line)]
    return "\n".join(lines[-_ERROR_LINES:]) or text


def _words(text: str) -> frozenset[str]:
    """The words of a text without numbers: line numbers, addresses and times differ each time it fails."""
    return frozenset(word for word in index_words(text[:_READ]) if not any(map(str.isdecimal, word)))


def _likeness(error: frozenset[str], memory: Memory) -> float:
    """The part of an error's words that a memory has."""
    return len(error & _words(memory.content)) / len(error) if error else 0.0
