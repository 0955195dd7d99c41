"""The retrievers: each brings candidates by one signal; a further one is a function and a line in ``RETRIEVERS``."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from hindsight_memory.models.base import ModelFailed
from hindsight_memory.recall.plan import Plan
from hindsight_memory.store.base import Reader, Scored


@dataclass(frozen=True, slots=True)
class Brought:
    """Candidates by signal, best first; and the signals that had nothing to work with, each with its reason."""

    lists: Mapping[str, Sequence[Scored]] = field(default_factory=dict)
    inactive: tuple[str, ...] = ()


async def by_words(plan: Plan, reader: Reader) -> Brought:
    """BM25 over each memory's own words and those of the turns beside it."""
    if not plan.words:
        return Brought(inactive=("words: the query has none",))
    return Brought({"words": await reader.search_words(plan.words, plan.where, plan.wide)})


async def by_vector(plan: Plan, reader: Reader) -> Brought:
    """Nearest by meaning, each embedding space by itself: their numbers do not compare.

    A model that fails makes its signal inactive and nothing else.
    """
    if not plan.embedders:
        return Brought(inactive=("vector: no embedding model is in use",))
    lists: dict[str, Sequence[Scored]] = {}
    inactive: list[str] = []
    for embedder in plan.embedders:
        signal = f"vector:{embedder.space}"
        try:
            vector = await embedder(plan.text)
        except ModelFailed as error:
            inactive.append(f"{signal}: {error.message}")
        else:
            lists[signal] = await reader.search_vector(embedder.space, vector, plan.where, plan.wide)
    return Brought(lists, tuple(inactive))


async def by_time(plan: Plan, reader: Reader) -> Brought:
    """What happened in a span of time that the query names, nearest its middle first."""
    if not plan.windows:
        return Brought(inactive=("time: the query names no time",))
    best: dict[str, Scored] = {}
    for window in plan.windows:
        for scored in await reader.search_time(window, plan.where, plan.wide):
            held = best.get(scored.id, scored)
            best[scored.id] = max(held, scored, key=lambda each: each.score)
    return Brought({"time": sorted(best.values(), key=lambda each: (-each.score, each.id))})


RETRIEVERS: Final[Sequence[Callable[[Plan, Reader], Awaitable[Brought]]]] = (by_words, by_vector, by_time)


def together(parts: Sequence[Brought]) -> Brought:
    """What several retrievers brought, as one."""
    lists = {signal: ranked for part in parts for signal, ranked in part.lists.items()}
    return Brought(lists, tuple(note for part in parts for note in part.inactive))
