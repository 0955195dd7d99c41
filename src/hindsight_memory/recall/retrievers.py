"""The retrievers: each brings candidates by one signal; a further one is a function and a line in ``RETRIEVERS``."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final

from hindsight_memory.models.base import ModelFailed
from hindsight_memory.recall.plan import Plan, QueryEmbedder
from hindsight_memory.store.base import Reader, Scored, Vector

_SEEDS: Final = 8
"""Best of the first findings from which activation spreads."""
_OF_KEY: Final = 3
"""Memories of one key: of most keys one is current, and a rule that disputes it stands beside it."""


@dataclass(frozen=True, slots=True)
class Brought:
    """What the retrievers brought.

    ``lists`` holds candidates by signal, best first: ``parts:…`` those of a question's parts, each by its best part.
    ``vectors`` holds those of the wordings asked, by embedding space; ``inactive`` says which signals had nothing to
    work with, each with its reason.
    """

    lists: Mapping[str, Sequence[Scored]] = field(default_factory=dict)
    inactive: tuple[str, ...] = ()
    vectors: Mapping[str, Sequence[Vector]] = field(default_factory=dict)


async def by_words(plan: Plan, reader: Reader) -> Brought:
    """BM25 over each memory's own words and those of the turns beside it."""
    found = [await reader.search_words(ask.words, plan.where, plan.wide) for ask in plan.asks]
    further = {"parts:words": _best(found[1:])} if found[1:] else {}
    if not plan.asks[0].words:
        return Brought(further, inactive=("words: the query has none",))
    return Brought({"words": found[0]} | further)


async def by_vector(plan: Plan, reader: Reader) -> Brought:
    """Nearest by meaning, each embedding space by itself: their numbers do not compare.

    A model that fails makes its signal inactive and nothing else.
    """
    if not plan.embedders:
        return Brought(inactive=("vector: no embedding model is in use",))
    return together([await _in_space(embedder, plan, reader) for embedder in plan.embedders])


async def _in_space(embedder: QueryEmbedder, plan: Plan, reader: Reader) -> Brought:
    space = embedder.space
    try:
        vectors = await embedder([ask.text for ask in plan.asks])
    except ModelFailed as error:
        return Brought(inactive=(f"vector:{space}: {error.message}",))
    found = [await reader.search_vector(space, vector, plan.where, plan.wide) for vector in vectors]
    lists = {f"vector:{space}": found[0]} | ({f"parts:{space}": _best(found[1:])} if found[1:] else {})
    return Brought(lists, vectors={space: vectors})


async def by_time(plan: Plan, reader: Reader) -> Brought:
    """What happened in a span of time that the query names, or mentions one, nearest its middle first."""
    if not plan.windows:
        return Brought(inactive=("time: the query names no time",))
    return Brought({"time": _best([await reader.search_time(w, plan.where, plan.wide) for w in plan.windows])})


async def by_key(plan: Plan, reader: Reader) -> Brought:
    """What stands under a key that the question asks for, latest first: it need not share a word with the question."""
    keys = [key for key in plan.sought if plan.where.key in (None, key)]
    if not keys:
        return Brought(inactive=("key: the query asks for none",))
    found = [each for key in keys for each in await reader.find(replace(plan.where, key=key), _OF_KEY)]
    return Brought({"key": [Scored(each.id, 1 / place) for place, each in enumerate(found, start=1)]})


RETRIEVERS: Final[Mapping[str, Callable[[Plan, Reader], Awaitable[Brought]]]] = MappingProxyType(
    {"words": by_words, "vector": by_vector, "time": by_time, "key": by_key}
)
"""What looks at all memories, by the signal it serves."""


async def by_graph(plan: Plan, first: Brought, reader: Reader) -> Brought:
    """What names, neighbouring turns and relations lead to from the names asked about and from the first findings."""
    seeds = {each.id: 1 / place for place, each in enumerate(agreed(first)[:_SEEDS], start=1)}
    names = {name: 1 / (1 + count) for name, count in plan.names.items()}
    if not seeds and not names:
        return Brought(inactive=("graph: nothing to start from",))
    return Brought({"graph": await reader.search_graph(seeds, names, plan.where, plan.wide)})


def agreed(brought: Brought) -> list[Scored]:
    """The candidates of all lists by reciprocal rank fusion, best first, equal ones by id.

    Cormack, Clarke and Buettcher, «Reciprocal Rank Fusion» (2009), with 15 for their 60: these lists are short.
    """
    scores: dict[str, float] = {}
    for signal, ranked in brought.lists.items():
        weight = 0.5 if signal in _WEAK or signal.startswith("parts:") else 1.0
        for rank, scored in enumerate(ranked, start=1):
            scores[scored.id] = scores.get(scored.id, 0.0) + weight / (RRF_K + rank)
    return [Scored(each, score) for each, score in sorted(scores.items(), key=lambda one: (-one[1], one[0]))]


RRF_K: Final = 15
"""What is added to a rank before it is inverted: the larger, the less the first places count."""
_WEAK: Final = frozenset({"time", "graph"})


def together(parts: Sequence[Brought]) -> Brought:
    """What several retrievers brought, as one."""
    return Brought(
        {signal: ranked for part in parts for signal, ranked in part.lists.items()},
        tuple(note for part in parts for note in part.inactive),
        {space: vectors for part in parts for space, vectors in part.vectors.items()},
    )


def _best(lists: Sequence[Sequence[Scored]]) -> list[Scored]:
    """Several lists of one signal as one: each candidate by its best score."""
    best: dict[str, Scored] = {}
    for scored in (each for ranked in lists for each in ranked):
        held = best.get(scored.id, scored)
        best[scored.id] = replace(max(held, scored, key=lambda one: one.score), own=max(held.own, scored.own))
    return sorted(best.values(), key=lambda each: (-each.score, each.id))
