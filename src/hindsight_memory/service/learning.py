"""The verbs that learn what memories turned out to be worth."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

from hindsight_memory.check import parse_text
from hindsight_memory.domain import Event, Feedback, Judgement, Memory, Query, Ranking, Scope, Source
from hindsight_memory.errors import Overloaded
from hindsight_memory.guard.access import may, require
from hindsight_memory.guard.verdicts import NEGATIVE, moved
from hindsight_memory.ingest.enrich import content_hash
from hindsight_memory.recall.tuning import COMPARING, Pair, pair_of, refit, start_over
from hindsight_memory.service.base import LONGEST_ID, Verbs, visible
from hindsight_memory.store.base import Tx
from hindsight_memory.wire import to_wire

_DAY: Final = timedelta(days=1)
_EVENTS: Final = 200
"""Events of a memory that are read to know what was said of it today."""
_MOST_GIVEN: Final = 10_000
"""Verdicts of a day that are read to count those that doubt."""


class Learning(Verbs):
    """Verbs that learn what memories turned out to be worth."""

    async def feedback(self, memory_id: str, judgement: Judgement, scope: Scope) -> Memory:
        """Say that a memory was used, helpful, wrong or outdated; returns it as it is then.

        The same verdict on the same question, said twice in a day, is said once. ``restore`` brings back what was
        taken out of recall. What was used counts in the shared bank too, if it stands there and the caller may say so.

        Raises ``NotFound`` for a memory that is not there, ``Overloaded`` when a day's verdicts are used up.
        """
        require(self.principal, "feedback", scope)
        memory_id = parse_text("memory_id", memory_id, LONGEST_ID)
        if judgement.verdict is Feedback.USED:
            scope = await self._where_it_stands(memory_id, scope)
        pair = await self._compared(memory_id, judgement, scope)
        query = None if judgement.query is None else content_hash(judgement.query)
        note = await self._parts.screener.text(judgement.note, scope.bank)
        now, actor, judge = self._parts.clock(), self._actor(scope), self._speaker(scope, judgement.source)
        async with self._parts.store.transaction(scope) as tx:
            memory = visible(await tx.get([memory_id]), memory_id, scope, now)
            today = _said(await tx.events(memory_id, _EVENTS), now - _DAY)
            same = {"verdict": judgement.verdict, "source": judge}
            mine = [each for each in today if each.actor == actor and same.items() <= each.detail.items()]
            if any(each.detail.get("query") == query for each in mine):
                return memory
            await self._refuse_flood(judgement.verdict, judge, actor, today, tx)
            counted = any(each.detail.get("after") for each in mine)  # by another question: it moves nothing again
            fields = {} if counted else moved(memory, judgement.verdict, judge, now, self.settings)
            after = await _changed(memory, judgement.verdict, fields, tx)
            detail: dict[str, Any] = same | {"query": query, "pair": pair}
            detail |= {"before": _numbers(memory, fields), "after": _numbers(after, fields)}
            await tx.record([self._event("feedback", after, scope, detail, note)])
            if pair is not None:
                await refit(tx, scope.bank, now, self.settings.feedback, actor)
        return after

    async def refit(self, scope: Scope, reset: bool = False) -> Ranking:
        """Fit this bank's ranking to its feedback now, or ``reset`` it; returns the weights that are in force."""
        require(self.principal, "refit", scope)
        now, actor = self._parts.clock(), self._actor(scope)
        async with self._parts.store.transaction(scope) as tx:
            if reset:
                return await start_over(tx, scope.bank, now, actor)
            return await refit(tx, scope.bank, now, self.settings.feedback, actor, due_only=False)

    async def _where_it_stands(self, memory_id: str, scope: Scope) -> Scope:
        """The scope's own bank, or the shared one where only that has the memory and the caller may judge there."""
        shared = replace(scope, user_id=None)
        if not may(self.principal, "feedback", shared) or await self._parts.store.reading(scope.bank).get([memory_id]):
            return scope
        return shared if await self._parts.store.reading(shared.bank).get([memory_id]) else scope

    async def _compared(self, memory_id: str, judgement: Judgement, scope: Scope) -> Pair | None:
        """What a verdict on an answer to a query says about the ranking; looked up before the transaction."""
        if judgement.query is None or judgement.verdict not in COMPARING:
            return None
        hits = await self._parts.finder.everything(Query(text=judgement.query), scope, self._beside(scope))
        return pair_of(hits, memory_id, judgement.verdict, self.settings.feedback.against)

    async def _refuse_flood(self, verdict: Feedback, judge: Source, actor: str, today: Sequence[Event], tx: Tx) -> None:
        """Raise ``Overloaded`` where a day's verdicts on a memory, or a day's doubts of who judges, are used up."""
        bounds = self.settings.feedback
        if len(today) >= bounds.memory_day:
            raise Overloaded("Enough was said of this memory today.", hint="Go on tomorrow.", field="memory_id")
        if verdict not in NEGATIVE:
            return
        most = bounds.user_day if judge is Source.USER else bounds.agent_day
        given = await tx.feedback(self._parts.clock() - _DAY, _MOST_GIVEN, actor)
        if sum(each.detail.get("verdict") in NEGATIVE for each in given) >= most:
            hint = "Go on tomorrow, or take out with forget what has to go now."
            raise Overloaded(f"{most} memories were called wrong or outdated today.", hint=hint, field="verdict")


async def _changed(memory: Memory, verdict: Feedback, fields: dict[str, Any], tx: Tx) -> Memory:
    if verdict is Feedback.USED and fields:
        await tx.touch([memory.id], fields["last_accessed_at"])  # not a new version: it says what it said
        return replace(memory, **fields)
    return await tx.change(memory, **fields) if fields else memory


def _numbers(memory: Memory, fields: Iterable[str]) -> dict[str, Any]:
    return {name: to_wire(getattr(memory, name)) for name in fields}


def _said(events: Sequence[Event], since: datetime) -> list[Event]:
    """The verdicts among a memory's events, newest first, back to a moment or to when the memory was last restored."""
    said = []
    for event in events:
        if event.at <= since or event.verb == "restore":
            break
        if event.verb == "feedback":
            said.append(event)
    return said
