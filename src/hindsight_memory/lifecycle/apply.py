"""What is planned, done: each change in the same transaction as its event, and only where the memory is as it was."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from hindsight_memory.domain import Event, Memory, Scope, Status, new_id
from hindsight_memory.ingest.enrich import marks_of
from hindsight_memory.lifecycle.bench import ACTOR, Planned
from hindsight_memory.lifecycle.derive import derive
from hindsight_memory.lifecycle.merge import folded
from hindsight_memory.store.base import Tx

_MARKED: Final = frozenset({"tags", "occurred_at"})


async def apply(batch: Sequence[Planned], tx: Tx, scope: Scope, now: datetime) -> list[Planned]:
    """Carry changes of one routine out; returns those whose memories were still as they were planned for."""
    held = {memory.id: memory for memory in await tx.get([each.change.memory_id for each in batch])}
    standing = [each for each in batch if (memory := held.get(each.change.memory_id)) and each.stands(memory)]
    details: Mapping[str, Mapping[str, Any]] = {}
    match batch[0].change.what if batch else "":
        case "tier":
            await _move(standing, tx)
        case "merge":
            standing, details = await _merge(standing, held, tx, now)
        case "episodes" | "consolidate" | "lessons":
            return await derive(batch, tx, now)
        case "purge":
            details = {each.change.memory_id: (await tx.erase([each.change.memory_id])).counted() for each in standing}
        case _:
            await _forget([held[each.change.memory_id] for each in standing], tx, now)
    await tx.record([_event(each, details.get(each.change.memory_id, {}), scope, now) for each in standing])
    return standing


async def _move(batch: Sequence[Planned], tx: Tx) -> None:
    for tier in {each.tier for each in batch}:
        if tier is not None:
            await tx.set_tier([each.change.memory_id for each in batch if each.tier is tier], tier)


async def _forget(memories: Sequence[Memory], tx: Tx, now: datetime) -> None:
    await tx.change_all(memories, status=Status.DELETED, deleted_at=now)


async def _merge(
    batch: Sequence[Planned], held: Mapping[str, Memory], tx: Tx, now: datetime
) -> tuple[list[Planned], dict[str, Mapping[str, Any]]]:
    """Fold repeats into what they repeat, all those of one memory at once."""
    groups: dict[tuple[str, str], list[Planned]] = defaultdict(list)
    for each in batch:
        if each.into is not None:
            groups[each.into].append(each)
    kept = {memory.id: memory for memory in await tx.get([memory_id for memory_id, _ in groups])}
    made: list[Planned] = []
    details: dict[str, Mapping[str, Any]] = {}
    for (memory_id, said), group in groups.items():
        memory = kept.get(memory_id)
        if memory is None or memory.status is not Status.ACTIVE or memory.content_hash != said:
            continue  # it says something else by now, or is gone: nothing stands for the repeats
        repeats = [held[each.change.memory_id] for each in group]
        if values := folded(memory, repeats):
            marks = marks_of(replace(memory, **values)) if _MARKED & values.keys() else None
            await tx.change(memory, marks, **values)
        await _hand_over(memory, repeats, tx)
        await _forget(repeats, tx, now)
        made += group
        details |= {repeat.id: {"related": [memory.id]} for repeat in repeats}
    return made, details


async def _hand_over(memory: Memory, repeats: Sequence[Memory], tx: Tx) -> None:
    """Give a memory the relations of its repeats: theirs go when they are purged."""
    ids = {repeat.id for repeat in repeats}
    for edge in await tx.relations(sorted(ids)):
        ends = [memory.id if end in ids else end for end in (edge.from_id, edge.to_id)]
        if ends[0] != ends[1]:
            await tx.relate(replace(edge, from_id=ends[0], to_id=ends[1]))


def _event(each: Planned, detail: Mapping[str, Any], scope: Scope, now: datetime) -> Event:
    change = each.change
    if each.hides:
        detail = {**detail, "before": {"status": Status.ACTIVE}, "after": {"status": Status.DELETED}}
    return Event(
        id=new_id(now),
        bank_id=scope.bank,
        at=now,
        actor=ACTOR,
        verb=change.what,
        memory_id=change.memory_id,
        reason=change.why,
        detail={**change.numbers, **detail},
    )
