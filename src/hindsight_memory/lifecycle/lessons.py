"""Lessons held against what they rest on, as that is by now: weakened, strengthened, taken out and brought back."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from hindsight_memory.domain import Memory, Outcome, Status
from hindsight_memory.ingest.enrich import marks_of, owner_of
from hindsight_memory.lifecycle.bench import Bench, Made, Planned, planned, stirred
from hindsight_memory.lifecycle.derive import last_word
from hindsight_memory.store.base import Reader
from hindsight_memory.text.lessons import LESSON, still_supported
from hindsight_memory.text.steps import SPAN, Tried, is_step, quoted_of, shortened

NAME: Final = "lessons"
LOST: Final = "lost"
"""In the metadata of a lesson: what it rested on and has gone, so that it counts again when it comes back."""
_PAGE: Final = 100
"""Lessons looked at together, each with what it rests on."""
_MOST: Final = 50
_TAKEN_OUT: Final = frozenset({"retired", "forgotten"})


async def lessons(bench: Bench) -> AsyncIterator[Planned]:
    """Weigh the lessons of a bank anew where anything has happened there since last time."""
    until, after = await stirred(bench), ""
    if until is None:
        return
    while page := await bench.reader.keyed(LESSON, _PAGE, after):
        ids = {each for lesson in page for each in (*_ids(lesson, "evidence"), *_ids(lesson, LOST))}
        held = {each.id: each for each in await bench.reader.get(sorted(ids)) if each.id not in bench.gone}
        for lesson in page:
            weight = None if lesson.pinned or lesson.id in bench.gone else weigh(lesson, held)
            if weight is not None:
                async for each in _settled(bench, lesson, weight):
                    yield each
        after = page[-1].id
    bench.place = until


@dataclass(frozen=True, slots=True)
class Weight:
    """How much of what a lesson rests on stands, 0 to 1, before and now, and its fields then."""

    before: float
    now: float
    fields: Mapping[str, Any]


def weigh(lesson: Memory, held: Mapping[str, Memory]) -> Weight:
    """Hold a lesson against what it rests on; ``held`` are memories as they are now, by id.

    What was forgotten, replaced or is in quarantine does not stand; nor does a step that was corrected, or one that did
    not go well after all where it is to show that the advice works. Nothing is left of advice that nothing says any
    more.
    """
    known, gone = _ids(lesson, "evidence"), _ids(lesson, LOST)
    every = list(dict.fromkeys((*known, *gone)))
    worked = set(_ids(lesson, "worked"))
    standing = [each for each in every if each in held and _stands(held[each], works=each in worked)]
    share = still_supported(replace(lesson, metadata={**lesson.metadata, "evidence": every}), standing)
    if not all(_said(do, [held[each] for each in standing]) for do in _ids(lesson, "do")):
        share = 0.0
    before = len(known) / len(every) if every else 0.0
    lost = [each for each in every if each not in standing]
    metadata = {**lesson.metadata, "evidence": standing if lost else sorted(standing), LOST: lost[-_MOST:]}
    if not lost:
        del metadata[LOST]
    importance = min(lesson.importance * share / before, 1.0) if before else lesson.importance
    return Weight(before, share, {"importance": importance, "metadata": metadata})


async def is_kept(lesson: Memory, reader: Reader) -> bool:
    """Whether somebody wants a lesson whatever it rests on: they brought it back, or put it in other words."""
    return lesson.pinned or await last_word(lesson.id, reader) in {"restore", "update"}


async def _settled(bench: Bench, lesson: Memory, weight: Weight) -> AsyncIterator[Planned]:
    numbers = {"supported": round(weight.now, 4)}
    if lesson.status is Status.DELETED:
        if weight.now and await _may_return(lesson, bench.reader):
            values = {"status": Status.ACTIVE, "deleted_at": None, **weight.fields}
            made = Made(memory=lesson, marks=marks_of(lesson), values=values)
            yield replace(planned(lesson, NAME, "what it rests on is back", numbers), made=made)
    elif not weight.now:
        if not await is_kept(lesson, bench.reader):
            yield planned(lesson, NAME, "its evidence has gone", numbers)
    elif weight.now != weight.before:
        why = "part of its evidence has gone" if weight.now < weight.before else "evidence of it is back"
        made = Made(memory=lesson, values=weight.fields)
        yield replace(planned(lesson, NAME, why, numbers), hides=False, made=made)


async def _may_return(lesson: Memory, reader: Reader) -> bool:
    """Whether it was maintenance, or a look back, that took a lesson out, and nothing has taken its place."""
    last = next(iter(await reader.events(lesson.id, 1)), None)
    if last is None or last.verb not in (NAME, "reflect") or last.detail.get("action") not in _TAKEN_OUT:
        return False
    return lesson.key is not None and await reader.current(lesson.key, owner_of(lesson)) is None


def _stands(memory: Memory, *, works: bool) -> bool:
    if memory.status is not Status.ACTIVE or memory.superseded_by is not None:
        return False
    if is_step(memory) and Tried.of(memory).deed not in memory.content:
        return False  # somebody has corrected it
    return not works or Tried.of(memory).outcome is Outcome.SUCCESS


def _said(do: str, standing: list[Memory]) -> bool:
    """Whether one of the memories says what is advised."""
    return any(
        do in memory.content or do in (shortened(part, SPAN) for part in quoted_of(memory)) for memory in standing
    )


def _ids(lesson: Memory, name: str) -> list[str]:
    value = lesson.metadata.get(name)
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []
