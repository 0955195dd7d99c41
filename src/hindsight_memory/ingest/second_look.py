"""The second look: what a memory that has just been indexed does to those that say something like it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hindsight_memory.domain import (
    Event,
    Kind,
    Memory,
    Relation,
    RelationType,
    Scope,
    Source,
    Status,
    Tier,
    new_id,
)
from hindsight_memory.ingest.enrich import happened_apart, owner_of
from hindsight_memory.ingest.made import is_account
from hindsight_memory.store.base import Reader, Store, Tx, Where
from hindsight_memory.strength import began
from hindsight_memory.text.bearing import Bearing, changed, same
from hindsight_memory.text.keys import has_many
from hindsight_memory.text.lessons import is_reflected
from hindsight_memory.text.statements import statements
from hindsight_memory.text.tokens import query_words

_NEAR: Final = 6
"""Neighbours by words, and by meaning in each space, that a memory is held against."""
_WHOLE: Final = 0.5
"""Share of a fact's statements that a change concerns, from which the whole fact is out of date."""
_JUDGED: Final = frozenset({Source.USER, Source.AGENT})
_WORKER: Final = "hindsight-memory"

Vectors = Mapping[str, Mapping[str, NDArray[np.float32]]]
"""By embedding space and memory id."""


@dataclass(frozen=True, slots=True)
class Ruling:
    """That a newer memory says again what an older one says (no ``bearing``), or changes it.

    ``rule`` is who says that they are the same. Where the two are at odds and nothing says which holds, it is ``open``.
    """

    old: Memory
    new: Memory
    bearing: Bearing | None
    rule: str = "same"
    open: bool = False


@dataclass(frozen=True, slots=True)
class SecondLook:
    """Holds memories against their neighbours by words and by meaning, and settles what is the same or has changed.

    The first look, at the moment of writing, sees equal texts and equal keys; this one what only reading can tell.
    """

    store: Store
    clock: Callable[[], datetime]

    async def __call__(self, bank: str, memories: Sequence[Memory], vectors: Vectors) -> None:
        """Look at memories of one bank, the earliest first, each settled in a transaction of its own."""
        reader = self.store.reading(bank)
        for memory in sorted(memories, key=lambda each: (each.occurred_at, each.id)):
            if not speaks(memory):
                continue
            near = await self._near(memory, vectors, reader)
            for ruling in await asyncio.to_thread(_rulings, memory, near):
                await self.enact(bank, ruling)

    async def _near(self, memory: Memory, vectors: Vectors, reader: Reader) -> list[Memory]:
        where = Where(now=self.clock(), viewer=memory.agent_id, tiers=tuple(Tier))
        found = await reader.search_words(query_words(memory.content), where, _NEAR + 1)
        for space, held in vectors.items():
            if memory.id in held:
                found += await reader.search_vector(space, held[memory.id][0], where, _NEAR + 1)
        ids = tuple(dict.fromkeys(each.id for each in found if each.id != memory.id))
        return [each for each in await reader.get(ids) if comparable(memory, each)]

    async def enact(self, bank: str, ruling: Ruling) -> None:
        """Settle a ruling in a transaction of its own, unless something else happened to one of the two meanwhile."""
        async with self.store.transaction(Scope.of_bank(bank)) as tx:
            held = {memory.id: memory for memory in await tx.get([ruling.old.id, ruling.new.id])}
            old, new = held.get(ruling.old.id), held.get(ruling.new.id)
            if old is None or new is None or not _unchanged(old, ruling.old) or not _unchanged(new, ruling.new):
                return  # that is looked at when it is indexed
            if await _is_settled(replace(ruling, old=old, new=new), tx):
                return
            detail = await settle(replace(ruling, old=old, new=new), tx, self.clock())
            await tx.record([_event(old, new, detail, self.clock())])


async def settle(ruling: Ruling, tx: Tx, now: datetime) -> dict[str, Any]:
    """Apply a ruling; returns what the log says of it.

    What repeats is merged into the newer memory. A changed fact is superseded. A turn, or a text of which only a part
    has changed, stays: a relation says what replaced it there, ``superseded_by`` is the last of those, and it never
    comes before one. What is trusted more than its correction is left, and both are flagged.
    """
    old, new, bearing = ruling.old, ruling.new, ruling.bearing
    if bearing is None:
        if new.trust < old.trust:
            old, new = new, old  # the better witness stays, whoever spoke last
        await tx.change(new, **_together(old, new))
        await tx.change(old, status=Status.SUPERSEDED, superseded_by=new.id, valid_until=began(new))
        await tx.relate(_edge(RelationType.SUPERSEDES, new, old, now, {"rule": ruling.rule}))
        return {"action": "merged", "rule": ruling.rule}
    if ruling.open or new.trust < old.trust:
        await tx.relate(_edge(RelationType.CONTRADICTS, new, old, now, {"rule": bearing.rule}))
        return {"action": "contradicts", "rule": bearing.rule}
    whole = _is_whole(old, bearing)
    if whole:
        await tx.change(old, status=Status.SUPERSEDED, superseded_by=new.id, valid_until=began(new))
    else:
        await tx.change(old, superseded_by=await _replacing(old, new, tx))
    await tx.relate(_edge(RelationType.SUPERSEDES, new, old, now, {"rule": bearing.rule, "whole": whole}))
    return {"action": "supersedes", "rule": bearing.rule, "whole": whole}


async def _is_settled(ruling: Ruling, tx: Tx) -> bool:
    """Whether the question between the two is open, or what the ruling is about was replaced before.

    Each statement of a turn is replaced once in each respect: what replaces its successor is found from there.
    """
    old, new, bearing = ruling.old, ruling.new, ruling.bearing
    edges = await tx.relations([old.id])
    if any(edge.type is RelationType.CONTRADICTS and new.id in (edge.from_id, edge.to_id) for edge in edges):
        return True
    if old.superseded_by is None or bearing is None:
        return old.superseded_by is not None
    by = [edge.from_id for edge in edges if edge.type is RelationType.SUPERSEDES and edge.to_id == old.id]
    spoken = old.turn is not None
    parts = [changed(old.content, each.content, spoken=spoken or each.turn is not None) for each in await tx.get(by)]
    about = bearing.rule, bearing.old
    return not parts or any(part is None or (part.rule, part.old) == about for part in parts)


async def _replacing(old: Memory, new: Memory, tx: Tx) -> str:
    """The id of the last of what replaced a part of a memory."""
    before = await tx.get([] if old.superseded_by is None else [old.superseded_by])
    return max((*before, new), key=lambda each: (each.occurred_at, each.id)).id


def _rulings(memory: Memory, near: Sequence[Memory]) -> list[Ruling]:
    """What is so between a memory and its neighbours."""
    found = []
    for other in near:
        old, new = sorted((memory, other), key=lambda each: (each.occurred_at, each.id))
        spoken = old.turn is not None or new.turn is not None
        if not spoken and same(old.content, new.content):
            found += [] if happened_apart(old, new) else [Ruling(old, new, None)]
        elif bearing := changed(old.content, new.content, spoken=spoken):
            found.append(Ruling(old, new, bearing))
    return found


def speaks(memory: Memory) -> bool:
    """Whether a memory states something by itself that may be held against others."""
    if is_reflected(memory.key) or is_account(memory):
        return False
    said_by_us = memory.turn is not None and memory.source is Source.AGENT
    return memory.source in _JUDGED and memory.kind is not Kind.WORKING and not memory.context_only and not said_by_us


def comparable(memory: Memory, other: Memory) -> bool:
    """Whether two memories speak of the same matter with the same voice."""
    return (
        speaks(other)
        and owner_of(memory) == owner_of(other)
        and (memory.speaker or other.speaker) == (other.speaker or memory.speaker)
        and not _of_one_value(memory, other)  # the first look has seen to that
    )


def _of_one_value(memory: Memory, other: Memory) -> bool:
    return memory.key is not None and memory.key == other.key and not has_many(memory.key)


def _unchanged(now: Memory, before: Memory) -> bool:
    return now.status is Status.ACTIVE and now.content_hash == before.content_hash and now.content == before.content


def _is_whole(old: Memory, bearing: Bearing) -> bool:
    if old.turn is not None or old.kind is Kind.EPISODIC:
        return False
    every = [len(each.words) for each in statements(old.content)]
    concerned = sum(len(each.words) for each in statements(bearing.old))
    return 0 < concerned >= _WHOLE * sum(every)


def _together(old: Memory, new: Memory) -> dict[str, Any]:
    """What the newer of two memories that say the same takes over: the higher counts, every tag and detail."""
    used = [each for each in (old.last_accessed_at, new.last_accessed_at) if each is not None]
    return {
        "access_count": max(old.access_count, new.access_count),
        "importance": max(old.importance, new.importance),
        "trust": max(old.trust, new.trust),
        "pinned": old.pinned or new.pinned,
        "tags": tuple(dict.fromkeys((*new.tags, *old.tags))),
        "metadata": {**old.metadata, **new.metadata},
        "last_accessed_at": max(used, default=None),
    }


def _edge(kind: RelationType, start: Memory, end: Memory, now: datetime, metadata: Mapping[str, Any]) -> Relation:
    return Relation(type=kind, from_id=start.id, to_id=end.id, created_at=now, metadata=metadata)


def _event(old: Memory, new: Memory, detail: Mapping[str, Any], now: datetime) -> Event:
    return Event(
        id=new_id(now),
        bank_id=old.bank_id,
        at=now,
        actor=_WORKER,
        verb="resolve",
        memory_id=old.id,
        detail={**detail, "related": [new.id]},
    )
