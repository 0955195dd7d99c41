"""The verb that looks ahead: what usually happens about now."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from hindsight_memory.domain import Kind, Memory, Outlook, RelationType, Scope, Suggestion, Tier
from hindsight_memory.errors import InvalidInput
from hindsight_memory.guard.access import require
from hindsight_memory.lifecycle.habits import expected, habits_of, happens
from hindsight_memory.service.base import Verbs
from hindsight_memory.store.base import Reader, Where

_FAR: Final = timedelta(days=366)
_EARLIEST: Final = 1900
_MOMENT: Final = timedelta(microseconds=1)


class Foresight(Verbs):
    """The verb that looks ahead."""

    async def suggest(self, outlook: Outlook, scope: Scope) -> list[Suggestion]:
        """What usually happens soon, by the times of what happened: what recurs, and what follows what just happened.

        Each comes with its evidence. Nothing is suggested that chance, and the hours at which the person is active
        anyway, would explain, nor what was usual once and is no more, nor what has been done already this time.

        Raises:
            InvalidInput: ``at`` is more than a year ahead, or before 1900.
        """
        require(self.principal, "suggest", scope)
        clock = self._parts.clock()
        now = clock if outlook.at is None else outlook.at
        if now - clock > _FAR or now.year < _EARLIEST:
            hint = f"Give a time after {_EARLIEST}, and at most a year from now."
            raise InvalidInput("at is too far away.", hint=hint, field="at")
        memories = await self._happened(now, clock, scope)
        zone = ZoneInfo(outlook.zone or self.settings.recall.zone)
        until = now + timedelta(hours=outlook.horizon_hours)
        return (await asyncio.to_thread(self._expected, memories, now, until, zone))[: outlook.limit]

    def _expected(self, memories: Sequence[Memory], now: datetime, until: datetime, zone: ZoneInfo) -> list[Suggestion]:
        return expected(habits_of(memories, now, zone, self.settings.habits), until)

    async def _happened(self, now: datetime, clock: datetime, scope: Scope) -> list[Memory]:
        """What happened up to a moment, as far as the scope may see it."""
        settings = self.settings.habits
        where = Where(
            now=clock,
            viewer=scope.agent_id,
            kinds=(Kind.EPISODIC,),
            since=now - timedelta(days=settings.days),
            until=now + _MOMENT,
            tiers=tuple(Tier),
        )
        reader = self._parts.store.reading(scope.bank)
        found = [memory for memory in await reader.find(where, settings.looked_at) if happens(memory)]
        told = await _derived(found, reader)
        return [memory for memory in found if memory.id not in told]


async def _derived(found: Sequence[Memory], reader: Reader) -> set[str]:
    """Those that sum up others: an episode happened when its turns did, and is not one more thing."""
    alone = [memory.id for memory in found if memory.turn is None]
    relations = await reader.relations(alone) if alone else []
    return {edge.from_id for edge in relations if edge.type is RelationType.DERIVED_FROM}
