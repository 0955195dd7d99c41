"""Relations that callers write: read off ``TYPE:TARGET``, checked, stored with the memory they start from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from hindsight_memory.domain import Draft, Memory, Receipt, Relation, RelationType, Status
from hindsight_memory.errors import InvalidInput
from hindsight_memory.ingest.enrich import owner_of
from hindsight_memory.store.base import Tx
from hindsight_memory.text.names import MAX_NAME, fold_name

_TYPES: Final = {each.value: each for each in RelationType if each is not RelationType.SUPERSEDES}
"""What a caller may say. That one memory supersedes another follows from their key: it changes both."""

_ID: Final = re.compile("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@dataclass(frozen=True, slots=True)
class Asked:
    """A relation as a caller asked for it; ``field`` names it in errors, ``target`` is an id or a folded name."""

    field: str
    type: RelationType
    target: str

    @property
    def to_memory(self) -> bool:
        """Whether the target is a memory's id, and not a name."""
        return is_id(self.target)


def is_id(target: str) -> bool:
    """Whether the end of a relation is a memory's id, and not a name."""
    return bool(_ID.fullmatch(target))


def asked_of(draft: Draft) -> list[Asked]:
    """The relations a draft asks for, each once. Raises ``InvalidInput`` naming the first that cannot be read."""
    asked = (_read(f"relations[{place}]", text) for place, text in enumerate(draft.relations))
    return list({(each.type, each.target): each for each in asked}.values())


async def relate(asked: Sequence[Asked], memory: Memory, receipt: Receipt, tx: Tx) -> list[str]:
    """Store the relations that the stored memory lacks; returns them as ``TYPE:TARGET``.

    Raises ``InvalidInput`` for a memory that is not there: in another bank, forgotten, or private to another agent.
    """
    if not asked:
        return []
    ids = [each.target for each in asked if each.to_memory]
    there = {held.id for held in await tx.get(ids) if owner_of(held) in (None, memory.agent_id) and _stands(held)}
    for each in asked:
        if each.to_memory and each.target not in there:
            hint = "Check the id and the user; anything that is no id is taken for a name."
            raise InvalidInput(f"{each.field}: there is no memory {each.target} here.", hint=hint, field=each.field)
        if each.target == receipt.id:
            raise InvalidInput(f"{each.field}: a memory has no relation to itself.", field=each.field)
    held = {(edge.type, edge.to_id) for edge in await tx.relations([receipt.id]) if edge.from_id == receipt.id}
    missing = [each for each in asked if (each.type, each.target) not in held]
    for each in missing:
        await tx.relate(Relation(type=each.type, from_id=receipt.id, to_id=each.target, created_at=memory.created_at))
    return [f"{each.type}:{each.target}" for each in missing]


def _read(field: str, text: str) -> Asked:
    kind, colon, target = text.partition(":")
    known = _TYPES.get(kind.strip().lower())
    if not colon or known is None:
        hint = f"Write TYPE:TARGET with one of {', '.join(_TYPES)}, such as supports:MEMORY_ID or mentions:Melanie."
        raise InvalidInput(f"{field}: {kind.strip()[:60]!r} is not a type of relation.", hint=hint, field=field)
    name = target.strip()
    folded = name.lower() if _ID.fullmatch(name.lower()) else fold_name(name)
    if not folded or len(folded) > MAX_NAME:
        hint = f"The target is a memory's id or a name of at most {MAX_NAME} characters."
        raise InvalidInput(f"{field} has no target that can be kept.", hint=hint, field=field)
    return Asked(field, known, folded)


def _stands(memory: Memory) -> bool:
    return memory.status is not Status.DELETED
