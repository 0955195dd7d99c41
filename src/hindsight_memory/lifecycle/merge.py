"""Memories that say the same as another: found without comparing every pair, and folded into one of the two."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, Final

from hindsight_memory.domain import Kind, Memory, Status
from hindsight_memory.guard.trust import VOICES, corroborated
from hindsight_memory.ingest.enrich import owner_of
from hindsight_memory.lifecycle.bench import Bench, Planned, planned
from hindsight_memory.lifecycle.blocks import Blocks, Keys, keys_of
from hindsight_memory.settings import TrustSettings
from hindsight_memory.strength import began
from hindsight_memory.text.bearing import same
from hindsight_memory.text.tokens import index_words, normalise

_MERGED: Final = frozenset({Kind.SEMANTIC, Kind.PROCEDURAL})
"""What is so and how to do it is said once. What happened twice happened twice, and what recurs is learnt from it."""
_AGREE: Final = attrgetter("kind", "speaker", "task", "outcome", "valid_until")
_HIGHEST: Final = ("occurred_at", "access_count", "importance", "helpful", "doubted")
_LATEST: Final = ("last_accessed_at", "judged_at")
_SOURCES: Final = "merged_sources"
"""Name in the metadata under which the places are kept where a memory was said."""
_MOST_SOURCES: Final = 20
_SOURCE_CHARS: Final = 200
_TRUST: Final = TrustSettings()
_MOST: Final = 50
"""Tags, and tools, of one memory."""


def says_the_same(memory: Memory, neighbours: Sequence[Memory]) -> Memory | None:
    """The first neighbour that says the same: in the same words, or with no more between them than articles."""
    said = _plain(memory.content)
    equal = (each for each in neighbours if _plain(each.content) == said)
    return next(equal, None) or next((each for each in neighbours if same(each.content, memory.content)), None)


def _plain(text: str) -> str:
    return " ".join(normalise(text).casefold().split()).rstrip(".。")


async def merge(bench: Bench) -> AsyncIterator[Planned]:
    """Fold what repeats another memory into that one.

    What was stored since the routine was last done is compared with the few memories nearest to it by words, and by
    meaning where there is a space of vectors. What is merged already stands for all that were folded into it.
    """
    if not await bench.reader.sweep(bench.place, 1):
        return
    work, limits, after = _Merging(bench), bench.settings.lifecycle, 0
    while page := await bench.reader.sweep(after, limits.page):
        placed = [(row, memory) for row, memory in page if _may_merge(memory) and memory.id not in bench.gone]
        memories = [memory for _, memory in placed]
        fresh = [memory.id for row, memory in placed if row > bench.place]
        near = await bench.reader.alike(bench.space, fresh, limits.near) if bench.space and fresh else {}
        keys = await asyncio.to_thread(_keys, memories)
        met = _Met(memories, keys, set(fresh), near, await work.held(memories, keys, fresh, near))
        for each in await asyncio.to_thread(work.judge, met):
            yield each
        after = page[-1][0]
    bench.place = max(bench.place, after)


def _keys(memories: Sequence[Memory]) -> list[Keys]:
    return [keys_of(index_words(memory.content)) for memory in memories]


@dataclass(frozen=True, slots=True)
class _Met:
    """A page of memories with the blocks each stands in, those of them that are new, and what may be met there."""

    memories: Sequence[Memory]
    keys: Sequence[Keys]
    fresh: set[str]
    near: Mapping[str, Sequence[str]]
    held: Mapping[str, Memory]


@dataclass(slots=True)
class _Merging:
    """What is known in the middle of a run: the memories by blocks, and what was folded into what."""

    bench: Bench
    blocks: Blocks = field(default_factory=Blocks)
    into: dict[str, str] = field(default_factory=dict)
    followed: set[str] = field(default_factory=set)

    async def held(
        self, memories: Sequence[Memory], keys: Sequence[Keys], fresh: Sequence[str], near: Mapping[str, Sequence[str]]
    ) -> dict[str, Memory]:
        """The memories that may be met on a page, by id, those on it among them."""
        new = set(fresh)
        wanted = {each for met in near.values() for each in met}
        for memory, blocks in zip(memories, keys, strict=True):
            if memory.id in new:
                wanted.update(self.blocks.near(blocks, self.bench.settings.lifecycle.near))
        found = {memory.id: memory for memory in memories}
        others = {self.into.get(each, each) for each in wanted} - found.keys() - self.bench.gone
        for memory in await self.bench.reader.get(sorted(others)):
            if _may_merge(memory) and memory.status is Status.ACTIVE:
                found[memory.id] = memory
        return found

    def judge(self, met: _Met) -> list[Planned]:
        """What of a page is to be folded into what."""
        found: list[Planned] = []
        for memory, keys in zip(met.memories, met.keys, strict=True):
            if memory.id in met.fresh and memory.id not in self.into:
                other = self.repeated(memory, keys, met)
                found += self.fold(memory, other) if other is not None else []
            if memory.id not in self.into:
                self.blocks.put(memory.id, keys)
        return found

    def repeated(self, memory: Memory, keys: Keys, met: _Met) -> Memory | None:
        """The one of the memories nearest to it that a memory repeats."""
        ids = (*self.blocks.near(keys, self.bench.settings.lifecycle.near), *met.near.get(memory.id, ()))
        # What was folded into another is not compared again: the other one stands for it.
        others = [met.held[each] for each in dict.fromkeys(self.into.get(one, one) for one in ids) if each in met.held]
        comparable = [other for other in others if _comparable(memory, other)]
        return self.bench.repeats(memory, comparable) if comparable else None

    def fold(self, memory: Memory, other: Memory) -> list[Planned]:
        """The change that folds the lesser of two memories into the better one."""
        kept, repeat = sorted((other, memory), key=_standing, reverse=True)
        if repeat.id in self.followed:
            return []  # others were folded into it, and nobody has compared them with this one
        self.into[repeat.id] = kept.id
        self.followed.add(kept.id)
        harmless = says_the_same(repeat, [kept]) is not None
        into = (kept.id, kept.content_hash)
        return [planned(repeat, "merge", f"says the same as {kept.id}", harmless=harmless, into=into)]


def _may_merge(memory: Memory) -> bool:
    return memory.kind in _MERGED and memory.turn is None and not memory.context_only


def _comparable(one: Memory, two: Memory) -> bool:
    """Whether two memories could be one: what only one agent sees stays with it, and a pin is never taken away."""
    return (
        one.id != two.id
        and _AGREE(one) == _AGREE(two)
        and owner_of(one) == owner_of(two)
        and not (one.pinned and two.pinned)
        and (one.key == two.key or None in (one.key, two.key))
    )


def _standing(memory: Memory) -> tuple[bool, bool, float, float]:
    # Of two that are alike in all else the older one stays: others know its id.
    return memory.pinned, memory.key is not None, memory.trust, -memory.created_at.timestamp()


def folded(kept: Memory, repeats: Sequence[Memory], settings: TrustSettings = _TRUST) -> dict[str, Any]:
    """The fields of a memory that change when others are folded into it: newest time, highest counts, all sources."""
    every = [kept, *repeats]
    ends = [each.expires_at for each in every]
    values: dict[str, Any] = {name: max(getattr(each, name) for each in every) for name in _HIGHEST}
    values["trust"], voices = corroborated(kept, repeats, settings)
    witness = max(every, key=lambda each: each.trust)
    if witness.trust > kept.trust:  # a pin, or a key, is kept, and the better word for it
        values |= {"source": witness.source, "source_ref": witness.source_ref}
    for name in _LATEST:
        values[name] = max((getattr(each, name) for each in every if getattr(each, name)), default=None)
    for name in ("tags", "tools"):
        values[name] = tuple(dict.fromkeys(one for each in every for one in getattr(each, name)))[:_MOST]
    values["expires_at"] = None if None in ends else max(end for end in ends if end is not None)
    if values["occurred_at"] > kept.occurred_at:
        values["valid_from"] = min(map(began, every))  # said again, it has been so since the first time
    sources = list(dict.fromkeys(_said_at(every)))
    told = {_SOURCES: sources[:_MOST_SOURCES]} if len(sources) > 1 else {}
    told |= {VOICES: voices} if values["trust"] > max(each.trust for each in every) else {}
    if told:
        values["metadata"] = {**kept.metadata, **told}
    return {name: value for name, value in values.items() if getattr(kept, name) != value}


def _said_at(every: Sequence[Memory]) -> Iterable[str]:
    for each in every:
        held = each.metadata.get(_SOURCES)
        yield from (source for source in (held if isinstance(held, list) else ()) if isinstance(source, str))
        if each.source_ref:
            yield each.source_ref[:_SOURCE_CHARS]
