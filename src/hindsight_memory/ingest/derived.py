"""What was read off a memory and may no longer stand when that one is forgotten."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from hindsight_memory.domain import Memory, RelationType, Status
from hindsight_memory.store.base import Reader, Tx
from hindsight_memory.text.clauses import sentences
from hindsight_memory.text.lessons import is_reflected
from hindsight_memory.text.steps import is_step, quoted_of

_STANDING = frozenset({Status.ACTIVE, Status.SUPERSEDED})


async def derived_from(source: Memory, tx: Reader) -> list[Memory]:
    """Memories with a ``derived_from`` edge to this one, whatever their status."""
    edges = await tx.relations([source.id])
    ids = [edge.from_id for edge in edges if edge.type is RelationType.DERIVED_FROM and edge.to_id == source.id]
    return await tx.get(list(dict.fromkeys(ids)))


async def unsupported(gone: Memory, tx: Tx) -> list[Memory]:
    """Of what is there and was derived from a memory that is forgotten: what has no other source, or quotes it."""
    return [each for each in await quoting(gone, tx) if each.status is not Status.DELETED]


async def quoting(gone: Memory, tx: Tx) -> list[Memory]:
    """What was derived from a memory, or from what was, and would keep its words alone, whatever its status."""
    found: dict[str, Memory] = {}
    left = [gone]
    while left:
        source = left.pop()
        for each in await derived_from(source, tx):
            lost = {gone.id, *found}
            if each.id not in lost and _quotes(each, source, await _others(each, lost, tx)):
                found[each.id] = each
                left.append(each)
    return list(found.values())


async def _others(derived: Memory, lost: Collection[str], tx: Tx) -> list[Memory]:
    edges = await tx.relations([derived.id])
    ids = [edge.to_id for edge in edges if edge.type is RelationType.DERIVED_FROM and edge.from_id == derived.id]
    return [each for each in await tx.get(ids) if each.id not in lost and each.status in _STANDING]


def _quotes(derived: Memory, gone: Memory, others: Sequence[Memory]) -> bool:
    """Whether a text holds a sentence of the forgotten one that no other source says too."""
    if not others:
        return True
    said = [each.strip() for each in sentences(derived.content)]
    kept = [each for each in said if each in gone.content]
    if is_step(gone) or is_reflected(derived.key):  # what tells of a task frames what it quotes
        kept += [each for each in quoted_of(gone) if each in derived.content]
    return any(not any(each in other.content for other in others) for each in kept)
