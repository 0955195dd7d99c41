"""What maintenance makes of memories: made, changed or retired, each with its event in the same transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from hindsight_memory.domain import Event, Memory, Relation, RelationType, Status, new_id
from hindsight_memory.lifecycle.bench import ACTOR, Made, Planned
from hindsight_memory.store.base import Reader, Tx

_EVENTS: Final = 50
"""Latest events of a memory among which stands what people did to it."""
_PENDING: Final = frozenset({Status.ACTIVE, Status.QUARANTINED})
_OWN: Final = (
    "status", "deleted_at", "superseded_by", "valid_until", "metadata", "summary", "trust", "importance", "occurred_at",
    "outcome", "task", "tools", "tags", "source", "speaker", "agent_id",
)  # fmt: skip
"""What a memory that is made again takes over from what it is to be now."""


async def is_free(memory_id: str, reader: Reader) -> bool:
    """Whether something may be made under this id: it does not stand, waits for nobody, and nobody has refused it."""
    held = next(iter(await reader.get([memory_id])), None)
    if held is not None and (held.status in _PENDING or _was_replaced(held)):
        return False
    return await last_word(memory_id, reader) not in {"forget", "purge", "feedback"}


def _was_replaced(memory: Memory) -> bool:
    """Whether something that says otherwise has taken a memory's place, and not another way of saying the same."""
    return memory.status is Status.SUPERSEDED and memory.valid_until != memory.occurred_at


async def last_word(memory_id: str, reader: Reader) -> str:
    """What a person did last to a memory that would settle whether it stands; empty where nobody did."""
    events = await reader.events(memory_id, _EVENTS)
    told = (each.verb for each in events if each.actor != ACTOR and each.verb in _SETTLING)
    return next(told, "")


_SETTLING: Final = frozenset({"forget", "purge", "feedback", "restore", "update"})


async def derive(batch: Sequence[Planned], tx: Tx, now: datetime) -> list[Planned]:
    """Carry out what was planned; returns what was still to be done when its turn came."""
    return [each for each in batch if await _done(each, tx, now)]


async def _done(each: Planned, tx: Tx, now: datetime) -> bool:
    made = each.made
    if made is not None and not await _still_said(made.sources, tx):
        return False
    held = next(iter(await tx.get([each.change.memory_id])), None)
    if made is None or made.values:
        if held is None or not each.stands(held):
            return False
        values = {"status": Status.DELETED, "deleted_at": now} if made is None else dict(made.values)
        after = await tx.change(held, None if made is None else made.marks, **values)
        shown = {"before": _shown(held, values), "after": _shown(after, values)}
    elif (held is not None and held.status in _PENDING) or await _is_said(made.memory, tx):
        return False
    else:
        after = await _make(made, held, tx)
        shown = {"before": {"status": Status.ACTIVE}, "after": {"status": after.status}}
    for edge in () if made is None else made.edges:
        await tx.relate(edge)
    gone = [] if made is None else await _replace(made, tx, now)
    told = {"action": action_of(each, again=held is not None), "related": [old.id for old in gone]}
    await tx.record([_event(each.change.what, after, now, each.change.why, {**each.change.numbers, **shown, **told})])
    return True


async def _still_said(sources: Mapping[str, str], tx: Tx) -> bool:
    held = {memory.id: memory for memory in await tx.get(list(sources))}
    return all(
        each in held and held[each].status is Status.ACTIVE and held[each].content == said
        for each, said in sources.items()
    )


async def _is_said(memory: Memory, tx: Tx) -> bool:
    """Whether the same was made of other sources and stands: two groups may be told by one sentence."""
    known = await tx.known(memory.content_hash)
    return known is not None and known.status is Status.ACTIVE


async def _make(made: Made, held: Memory | None, tx: Tx) -> Memory:
    memory, marks = made.memory, made.marks
    assert marks is not None
    if held is None:
        await tx.add(memory, marks)
        return memory
    return await tx.change(held, marks, **{name: getattr(memory, name) for name in _OWN})


async def _replace(made: Made, tx: Tx, now: datetime) -> list[Memory]:
    """Supersede what a new memory takes the place of; it was no other truth, so no moment is answered from it."""
    held = {memory.id: memory for memory in await tx.get([memory_id for memory_id, _ in made.instead_of])}
    gone = [held[each] for each, version in made.instead_of if each in held and held[each].version == version]
    new = made.memory
    for old in gone:
        await tx.change(old, status=Status.SUPERSEDED, superseded_by=new.id, valid_until=old.occurred_at)
        await tx.relate(Relation(type=RelationType.SUPERSEDES, from_id=new.id, to_id=old.id, created_at=now))
        await tx.record(
            [_event(new.metadata["made_by"], old, now, "made anew", {"action": "replaced", "related": [new.id]})]
        )
    return gone


def action_of(each: Planned, *, again: bool = False) -> str:
    """What a change does, in a word; ``again`` is something that was made before and did not stand."""
    if each.made is None:
        return "retired"
    if each.made.values:
        return "changed"
    if each.made.memory.status is Status.QUARANTINED:
        return "proposed"
    return "made again" if again else "made"


def _shown(memory: Memory, names: Mapping[str, Any]) -> dict[str, Any]:
    """Fields as the log holds them: none that may hold a memory's text."""
    values = {name: getattr(memory, name) for name in names if name != "metadata"}
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in values.items()}


def _event(verb: str, memory: Memory, now: datetime, reason: str, detail: Mapping[str, Any]) -> Event:
    return Event(
        id=new_id(now),
        bank_id=memory.bank_id,
        at=now,
        actor=ACTOR,
        verb=verb,
        memory_id=memory.id,
        reason=reason,
        detail=dict(detail),
    )
