"""The retrievers: each brings candidates by one signal. A further one is a function and a line in ``RETRIEVERS``."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final

from hindsight_memory.recall.plan import Plan
from hindsight_memory.store.base import Reader, Scored

Ranked = Mapping[str, Sequence[Scored]]
"""Candidates by signal, best first."""


async def by_words(plan: Plan, reader: Reader) -> Ranked:
    """BM25 over each memory's own words and those of the turns beside it."""
    if not plan.words:
        return {}
    return {"words": await reader.search_words(plan.words, plan.where, plan.wide)}


async def by_vector(plan: Plan, reader: Reader) -> Ranked:
    """Nearest by meaning, each embedding space by itself: their numbers do not compare."""
    found = {}
    for space, vector in plan.vectors.items():
        found[f"vector:{space}"] = await reader.search_vector(space, vector, plan.where, plan.wide)
    return found


async def by_time(plan: Plan, reader: Reader) -> Ranked:
    """What happened in a span of time that the query names."""
    best: dict[str, Scored] = {}
    for window in plan.windows:
        for scored in await reader.search_time(window, plan.where, plan.wide):
            held = best.get(scored.id, scored)
            best[scored.id] = max(held, scored, key=lambda each: each.score)
    ranked = sorted(best.values(), key=lambda each: (-each.score, each.id))
    return {"time": ranked} if plan.windows else {}


RETRIEVERS: Final[Sequence[Callable[[Plan, Reader], Awaitable[Ranked]]]] = (by_words, by_vector, by_time)
