"""What was read off a memory and may no longer stand when that one is forgotten."""

from __future__ import annotations

from collections.abc import Sequence

from hindsight_memory.domain import Memory, RelationType, Status
from hindsight_memory.store.base import Reader, Tx
from hindsight_memory.text.clauses import sentences

_STANDING = frozenset({Status.ACTIVE, Status.SUPERSEDED})


async def derived_from(source: Memory, tx: Reader) -> list[Memory]:
    """Memories with a ``derived_from`` edge to this one, whatever their status."""
    edges = await tx.relations([source.id])
    ids = [edge.from_id for edge in edges if edge.type is RelationType.DERIVED_FROM and edge.to_id == source.id]
    return await tx.get(list(dict.fromkeys(ids)))


async def unsupported(gone: Memory, tx: Tx) -> list[Memory]:
    """Of what stands and was derived from a memory that is forgotten: what has no other source, or still quotes it."""
    found = [each for each in await derived_from(gone, tx) if each.status in _STANDING]
    return [each for each in found if _quotes(each, gone, await _others(each, gone, tx))]


async def _others(derived: Memory, gone: Memory, tx: Tx) -> list[Memory]:
    edges = await tx.relations([derived.id])
    ids = [edge.to_id for edge in edges if edge.type is RelationType.DERIVED_FROM and edge.from_id == derived.id]
    return [each for each in await tx.get(ids) if each.id != gone.id and each.status in _STANDING]


def _quotes(derived: Memory, gone: Memory, others: Sequence[Memory]) -> bool:
    """Whether a text holds a sentence of the forgotten one that no other source says too."""
    if not others:
        return True
    said = [each.strip() for each in sentences(derived.content)]
    return any(each in gone.content and not any(each in other.content for other in others) for each in said)
