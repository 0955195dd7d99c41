"""Is it known, does it change what is known: one verdict on a new memory, and what follows from it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from hindsight_memory.domain import Action, Kind, Memory, Receipt, Relation, RelationType, Source, Status, Tier
from hindsight_memory.ingest.enrich import is_dated, owner_of, said_of
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
    known = await _known(memory, reader)
    if known is not None:
        return Verdict(Standing.SAME, known)
    old = None if memory.status is Status.QUARANTINED else await value_of(memory.key, memory, reader)
    if old is None:
        return Verdict(Standing.UNRELATED)
    if memory.trust < old.trust:
        return Verdict(Standing.CONTRADICTS, old)
    if memory.occurred_at >= old.occurred_at:
        return Verdict(Standing.NEWER, old)
    # A later date, which anybody can write, makes what is trusted less no successor of what is trusted more.
    return Verdict(Standing.OLDER if memory.trust == old.trust else Standing.CONTRADICTS, old)


async def _known(memory: Memory, reader: Reader) -> Memory | None:
    """What says the same already; an event is the same one as long as nobody says that it happened at another time."""
    if memory.kind is not Kind.EPISODIC:
        known = await reader.known(memory.content_hash)
    else:
        known = await reader.happened(said_of(memory), memory.occurred_at if is_dated(memory) else None)
    if known is not None and (known.status is Status.ACTIVE or _held_back(known, memory) or _is_past(known, memory)):
        return known
    other = await reader.happened(said_of(memory), None) if is_dated(memory) else None
    return other if other is not None and _held_back(other, memory) else None


def _is_past(known: Memory, memory: Memory) -> bool:
    """Whether something has taken an event's place since: that it is written again, as of then, changes nothing."""
    return is_dated(memory) and known.status is Status.SUPERSEDED


def _held_back(known: Memory, memory: Memory) -> bool:
    """Whether a text in quarantine stays there: others than the user write it again, or it is suspicious again."""
    again = memory.source is not Source.USER or memory.status is Status.QUARANTINED
    return known.status is Status.QUARANTINED and again


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
            return Receipt(id=memory.id, action=added(memory), created=True)


def added(memory: Memory) -> Action:
    """What a receipt says of a memory that was stored beside the others: that it stands, or waits for a person."""
    return Action.QUARANTINED if memory.status is Status.QUARANTINED else Action.ADDED


async def _supersede(memory: Memory, marks: Marks, old: Memory, tx: Tx) -> Receipt:
    new = replace(memory, version=old.version + 1)
    gone = [old, *await _beside(old, new, tx)]
    for each in gone:
        await tx.change(each, status=Status.SUPERSEDED, superseded_by=new.id, valid_until=began(new))
    await tx.add(new, marks)
    for each in gone:
        await tx.relate(_edge(RelationType.SUPERSEDES, new, each))
    related = tuple(each.id for each in gone)
    return Receipt(id=new.id, action=Action.SUPERSEDES, created=True, version=new.version, related=related)


async def _beside(old: Memory, new: Memory, tx: Tx) -> list[Memory]:
    """Other values of a key that stand beside the one that is replaced: less trusted ones, which contradicted it."""
    where = Where(now=new.created_at, viewer=new.agent_id, key=new.key, tiers=tuple(Tier), findable=False)
    found = await tx.find(where, _MOST_VALUES)
    return [each for each in found if each.id != old.id and owner_of(each) == owner_of(new) and each.trust < old.trust]


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
