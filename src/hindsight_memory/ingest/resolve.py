"""Is it known, does it change what is known: one verdict on a new memory, and what follows from it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from hindsight_memory.domain import Action, Memory, Receipt, Relation, RelationType, Status
from hindsight_memory.ingest.enrich import words_of
from hindsight_memory.store.base import Reader, Tx


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
    if known is not None and known.status is Status.ACTIVE:
        return Verdict(Standing.SAME, known)
    old = await reader.current(memory.key) if memory.key else None
    if old is None:
        return Verdict(Standing.UNRELATED)
    if memory.trust < old.trust:
        return Verdict(Standing.CONTRADICTS, old)
    return Verdict(Standing.NEWER if memory.occurred_at >= old.occurred_at else Standing.OLDER, old)


async def settle(memory: Memory, verdict: Verdict, tx: Tx) -> Receipt:
    """Store the memory as its verdict asks."""
    match verdict:
        case Verdict(Standing.SAME, Memory() as old):
            return Receipt(id=old.id, action=Action.DUPLICATE, created=False, version=old.version)
        case Verdict(Standing.NEWER, Memory() as old):
            return await _supersede(memory, old, tx)
        case Verdict(Standing.OLDER, Memory() as old):
            return await _store_as_past(memory, old, tx)
        case Verdict(Standing.CONTRADICTS, Memory() as old):
            return await _store_beside(memory, old, tx)
        case _:
            await tx.add(memory, words_of(memory))
            return Receipt(id=memory.id, action=Action.ADDED, created=True)


async def _supersede(memory: Memory, old: Memory, tx: Tx) -> Receipt:
    new = replace(memory, version=old.version + 1)
    began = new.valid_from or new.occurred_at
    await tx.change(old, status=Status.SUPERSEDED, superseded_by=new.id, valid_until=began)
    await tx.add(new, words_of(new))
    await tx.relate(_edge(RelationType.SUPERSEDES, new, old))
    return Receipt(id=new.id, action=Action.SUPERSEDES, created=True, version=new.version, related=(old.id,))


async def _store_as_past(memory: Memory, newer: Memory, tx: Tx) -> Receipt:
    ended = newer.valid_from or newer.occurred_at
    past = replace(memory, status=Status.SUPERSEDED, superseded_by=newer.id, valid_until=ended)
    await tx.add(past, words_of(past))
    await tx.relate(_edge(RelationType.SUPERSEDES, newer, past))
    return Receipt(id=past.id, action=Action.ADDED, created=True, related=(newer.id,))


async def _store_beside(memory: Memory, old: Memory, tx: Tx) -> Receipt:
    await tx.add(memory, words_of(memory))
    await tx.relate(_edge(RelationType.CONTRADICTS, memory, old))
    return Receipt(id=memory.id, action=Action.CONTRADICTS, created=True, related=(old.id,))


def _edge(kind: RelationType, start: Memory, end: Memory) -> Relation:
    return Relation(type=kind, from_id=start.id, to_id=end.id, created_at=start.created_at)
