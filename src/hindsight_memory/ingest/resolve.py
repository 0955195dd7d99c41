"""Is it known, does it change what is known: one verdict on a new memory, and what follows from it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from hindsight_memory.domain import Action, Memory, Receipt, Relation, RelationType, Source, Status, Tier
from hindsight_memory.ingest.enrich import owner_of
from hindsight_memory.store.base import Marks, Reader, Tx, Where
from hindsight_memory.strength import began
from hindsight_memory.text.keys import has_many

_MOST_VALUES: Final = 1_000


class Standing(StrEnum):
    """How a new memory stands to one that is held already."""

    SAME = "same"
    NEWER = "newer"
    OLDER = "older"
    CONTRADICTS = "contradicts"
    UNRELATED = "unrelated"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The standing, and the memory it is about."""

    standing: Standing
    old: Memory | None = None


async def stand(memory: Memory, reader: Reader) -> Verdict:
    """What content and key can decide at once, with no model: the same again, or another value of the same key."""
    known = await reader.known(memory.content_hash)
    if known is not None and (known.status is Status.ACTIVE or _held_back(known, memory)):
        return Verdict(Standing.SAME, known)
    old = await value_of(memory.key, memory, reader)
    if old is None:
        return Verdict(Standing.UNRELATED)
    if memory.trust < old.trust:
        return Verdict(Standing.CONTRADICTS, old)
    return Verdict(Standing.NEWER if memory.occurred_at >= old.occurred_at else Standing.OLDER, old)


def _held_back(known: Memory, memory: Memory) -> bool:
    """Whether a text is in quarantine, and stays there when others than the user write it again."""
    return known.status is Status.QUARANTINED and memory.source is not Source.USER


async def value_of(key: str | None, memory: Memory, reader: Reader) -> Memory | None:
    """The current value of a key, for whoever sees the memory; ``None`` for keys of which many values stand."""
    return None if key is None or has_many(key) else await reader.current(key, owner_of(memory))


async def settle(memory: Memory, marks: Marks, verdict: Verdict, tx: Tx) -> Receipt:
    """Store the memory, and what it is found by, as its verdict asks."""
    match verdict:
        case Verdict(Standing.SAME, Memory() as old):
            action = Action.QUARANTINED if old.status is Status.QUARANTINED else Action.DUPLICATE
            return Receipt(id=old.id, action=action, created=False, version=old.version)
        case Verdict(Standing.NEWER, Memory() as old):
            return await _supersede(memory, marks, old, tx)
        case Verdict(Standing.OLDER, Memory() as old):
            return await _store_as_past(memory, marks, old, tx)
        case Verdict(Standing.CONTRADICTS, Memory() as old):
            return await _store_beside(memory, marks, old, tx)
        case _:
            await tx.add(memory, marks)
            return Receipt(id=memory.id, action=Action.ADDED, created=True)


async def _supersede(memory: Memory, marks: Marks, old: Memory, tx: Tx) -> Receipt:
    new = replace(memory, version=old.version + 1)
    await tx.change(old, status=Status.SUPERSEDED, superseded_by=new.id, valid_until=began(new))
    await tx.add(new, marks)
    await tx.relate(_edge(RelationType.SUPERSEDES, new, old))
    return Receipt(id=new.id, action=Action.SUPERSEDES, created=True, version=new.version, related=(old.id,))


async def _store_as_past(memory: Memory, marks: Marks, newer: Memory, tx: Tx) -> Receipt:
    # Among earlier values it ends where the next one begins, and the one before it ends where it begins itself.
    start, values = began(memory), await _past_values(memory, tx)
    ended = min((each for each in map(began, (*values, newer)) if each > start), default=began(newer))
    cut = [old for old in values if began(old) <= start and (old.valid_until is None or old.valid_until > start)]
    for old in cut:
        await tx.change(old, valid_until=start)
    past = replace(memory, status=Status.SUPERSEDED, superseded_by=newer.id, valid_until=ended)
    await tx.add(past, marks)
    await tx.relate(_edge(RelationType.SUPERSEDES, newer, past))
    related = (newer.id, *(old.id for old in cut))
    return Receipt(id=past.id, action=Action.ADDED, created=True, related=related)


async def _past_values(memory: Memory, tx: Tx) -> list[Memory]:
    """Former values of the memory's key, as its owner sees them."""
    where = Where(
        now=memory.created_at,
        viewer=memory.agent_id,
        key=memory.key,
        statuses=(Status.SUPERSEDED,),
        tiers=tuple(Tier),
        findable=False,
    )
    return [each for each in await tx.find(where, _MOST_VALUES) if owner_of(each) == owner_of(memory)]


async def _store_beside(memory: Memory, marks: Marks, old: Memory, tx: Tx) -> Receipt:
    await tx.add(memory, marks)
    await tx.relate(_edge(RelationType.CONTRADICTS, memory, old))
    return Receipt(id=memory.id, action=Action.CONTRADICTS, created=True, related=(old.id,))


def _edge(kind: RelationType, start: Memory, end: Memory) -> Relation:
    return Relation(type=kind, from_id=start.id, to_id=end.id, created_at=start.created_at)
