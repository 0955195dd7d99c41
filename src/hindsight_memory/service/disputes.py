"""The verbs about what changed: how a memory came to be what it is, what contradicts what, and who is right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from hindsight_memory.check import parse_text
from hindsight_memory.domain import (
    Contradiction,
    History,
    Memory,
    Relation,
    RelationType,
    Scope,
    Status,
    Tier,
)
from hindsight_memory.errors import Conflict, InvalidInput, NotAllowed
from hindsight_memory.guard.access import require
from hindsight_memory.service.base import LONGEST_ID, Verbs, may_see, seen, visible
from hindsight_memory.store.base import Reader, Where

_LONGEST_CHAIN: Final = 100
"""Versions of a memory, and events of it, that are shown."""
_MOST: Final = 200


class Disputes(Verbs):
    """Verbs about what changed."""

    async def history(self, memory_id: str, scope: Scope) -> History:
        """What a memory replaced and what replaced it, the oldest first, with the reasons and the log.

        Raises ``NotFound`` when the bank has no such memory.
        """
        require(self.principal, "get", scope)
        memory_id = parse_text("memory_id", memory_id, LONGEST_ID)
        found, reader = await self._looked_up(memory_id, scope)
        seen(found, memory_id, scope)
        ids, relations = await _chain(memory_id, reader)
        told = [memory for memory in await reader.get(ids) if may_see(memory, scope)]
        # What waits for a person is shown to who asks for it, and by nothing that it says it contradicts.
        versions = [each for each in told if each.id == memory_id or each.status is not Status.QUARANTINED]
        shown = {memory.id for memory in versions}
        return History(
            versions=tuple(sorted(versions, key=lambda memory: (memory.occurred_at, memory.id))),
            relations=tuple(edge for edge in relations if {edge.from_id, edge.to_id} <= shown),
            events=tuple(reversed(await reader.events(memory_id, _LONGEST_CHAIN))),
        )

    async def contradictions(self, scope: Scope, limit: int = 20) -> list[Contradiction]:
        """Pairs of memories that contradict each other and both still stand, the latest first: questions to ask.

        Settle one with ``resolve``.
        """
        require(self.principal, "get", scope)
        if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= _MOST:
            raise InvalidInput(f"limit must be a whole number from 1 to {_MOST}.", field="limit")
        where = Where(now=self._parts.clock(), viewer=scope.agent_id, tiers=tuple(Tier))
        reader = self._parts.store.reading(scope.bank)
        pairs = await reader.contradictions(where, limit)
        held = {memory.id: memory for memory in await reader.get([each for pair in pairs for each in pair])}
        return [Contradiction(held[new], held[old]) for new, old in pairs if new in held and old in held]

    async def resolve(self, keep: str, over: str, scope: Scope) -> Memory:
        """Settle a contradiction: the memory ``keep`` replaces the memory ``over``, which stays in its history.

        Returns the memory that is kept. Doing it twice is doing it once.

        Raises:
            NotFound: One of them is not there, or was forgotten.
            Conflict: ``over`` has been replaced by something else.
            NotAllowed: An agent decides against what is trusted more than what it keeps.
        """
        require(self.principal, "update", scope)
        keep, over = parse_text("keep", keep, LONGEST_ID), parse_text("over", over, LONGEST_ID)
        if keep == over:
            raise InvalidInput("A memory cannot replace itself.", hint="Give two ids.", field="over")
        now = self._parts.clock()
        async with self._parts.store.transaction(scope) as tx:
            kept = visible(await tx.get([keep]), keep, scope, now)
            gone = visible(await tx.get([over]), over, scope, now)
            if gone.status is Status.SUPERSEDED and gone.superseded_by == kept.id:
                return kept
            if gone.status is not Status.ACTIVE or kept.status is not Status.ACTIVE:
                message = f"Memory {(gone if gone.status is not Status.ACTIVE else kept).id} no longer stands."
                raise Conflict(message, hint="See its history.", field="over")
            if kept.trust < gone.trust and (scope.agent_id is not None or self._most(scope) < gone.trust):
                hint = "Ask the user, who settles it without an agent_id and with a key that may vouch."
                raise NotAllowed(f"Memory {gone.id} is trusted more; only the user may decide against it.", hint=hint)
            await tx.change(gone, status=Status.SUPERSEDED, superseded_by=kept.id, valid_until=now)
            edge = Relation(type=RelationType.SUPERSEDES, from_id=kept.id, to_id=gone.id, created_at=now)
            await tx.relate(edge)
            detail = {"action": "supersedes", "rule": "resolved", "related": [kept.id]}
            await tx.record([self._event("resolve", gone, scope, detail)])
        return kept


async def _chain(memory_id: str, reader: Reader) -> tuple[list[str], Sequence[Relation]]:
    """The ids that lead to a memory, or on from it, by what supersedes what; bounded."""
    known: dict[str, None] = {memory_id: None}
    edges: Mapping[tuple[str, str], Relation] = {}
    fresh = [memory_id]
    while fresh and len(known) < _LONGEST_CHAIN:
        found = [edge for edge in await reader.relations(fresh) if edge.type in _OF_HISTORY]
        edges = {**edges, **{(edge.from_id, edge.to_id): edge for edge in found}}
        ends = [end for edge in found if edge.type is RelationType.SUPERSEDES for end in (edge.from_id, edge.to_id)]
        ends += [end for edge in found if memory_id in (edge.from_id, edge.to_id) for end in (edge.from_id, edge.to_id)]
        fresh = [end for end in dict.fromkeys(ends) if end not in known][: _LONGEST_CHAIN - len(known)]
        known |= dict.fromkeys(fresh)
    return list(known), list(edges.values())


_OF_HISTORY: Final = frozenset({RelationType.SUPERSEDES, RelationType.CONTRADICTS})
