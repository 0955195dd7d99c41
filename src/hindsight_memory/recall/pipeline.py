"""The read path: what happens to a query, in order."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from hindsight_memory.domain import Hit, Moment, Query, Scope
from hindsight_memory.models.base import Reranker
from hindsight_memory.recall.consensus import compared
from hindsight_memory.recall.moments import by_resolution, leaning, recognised
from hindsight_memory.recall.order import apart, current, replaced
from hindsight_memory.recall.plan import Plan, Understanding
from hindsight_memory.recall.pool import Pool
from hindsight_memory.recall.rank import gate, rank, reranked, weigh
from hindsight_memory.recall.retrievers import RETRIEVERS, Brought, agreed, by_graph, together
from hindsight_memory.recall.signals import asks_past
from hindsight_memory.settings import Settings
from hindsight_memory.store.base import Store

_SPARE: Final = 10
"""Candidates beyond the results asked for that factors, and repeats that step back, may bring among them."""


@dataclass(frozen=True, slots=True)
class Finder:
    """Answers queries. ``reranker`` reads the best candidates once more, where there is one."""

    store: Store
    understand: Understanding
    settings: Settings
    clock: Callable[[], datetime]
    reranker: Reranker | None = None

    async def __call__(self, query: Query, scope: Scope) -> list[Hit]:
        """The memories that answer a query, best first, each with its reasons."""
        pool = await self.pool(query, scope)
        most = query.limit + _SPARE if query.moment is None else len(pool)
        hits = rank(pool, most)  # every signal measured, and added up as the fitted trees say
        hits = await reranked(hits, pool.plan.text, self.reranker, self.settings.rerank)
        hits = self.weigh(hits, pool)  # recency × importance × trust × use × feedback × key or moment
        hits = hits if asks_past(pool.plan.text) else await self.lifted(hits, scope)  # what is newer comes first
        hits = await compared(hits, pool.plan, self.store, self.settings)  # what contradicts the more trusted is marked
        hits = apart(hits, query.limit)  # what says the same again comes last
        return gate(hits, self.settings.recall.floor)

    async def explain(self, query: Query, memory_id: str, scope: Scope) -> Hit | None:
        """How one memory fares among the candidates, before a reranker; ``None`` where it is none of them."""
        pool = await self.pool(query, scope)
        hits = await compared(self._every(pool), pool.plan, self.store, self.settings)
        return next((hit for hit in hits if hit.memory.id == memory_id), None)

    async def everything(self, query: Query, scope: Scope) -> list[Hit]:
        """All candidates for a query, best first, before a reranker."""
        return self._every(await self.pool(query, scope))

    def _every(self, pool: Pool) -> list[Hit]:
        return gate(self.weigh(rank(pool, len(pool)), pool), self.settings.recall.floor)

    def weigh(self, hits: Sequence[Hit], pool: Pool) -> list[Hit]:
        """The hits with their factors, best first."""
        weighed = weigh(hits, pool.plan.now, self.settings.retention, leaning(pool, self.settings.recall))
        return recognised(weighed, pool.plan)

    async def lifted(self, hits: Sequence[Hit], scope: Scope) -> list[Hit]:
        """The hits, where what replaced a part of another comes before it."""
        parts = [hit.memory.id for hit in hits if hit.memory.superseded_by is not None]
        relations = await self.store.reading(scope.bank).relations(parts) if parts else []
        return current(hits, replaced(relations))

    async def pool(self, query: Query, scope: Scope) -> Pool:
        """The candidates for a query, with all that is measured of them."""
        plan = await self.understand(query, scope, self.store.reading(scope.bank), self.clock())
        return await self.gather(plan, await self.candidates(plan))

    async def candidates(self, plan: Plan) -> Brought:
        """What the retrievers bring, all at once, and then what the graph leads to from there."""
        reader = self.store.reading(plan.bank)
        asked = (retrieve(plan, reader) for signal, retrieve in RETRIEVERS.items() if signal not in plan.off)
        first = together(await asyncio.gather(*asked))
        if plan.stage is Moment.STUCK:
            first = together([first, await by_resolution(plan, first, reader)])
        return first if "graph" in plan.off else together([first, await by_graph(plan, first, reader)])

    async def gather(self, plan: Plan, brought: Brought) -> Pool:
        """The candidates with their memories and vectors; what has stopped matching in the meantime is left out."""
        likely = [each.id for each in agreed(brought)[: max(self.settings.recall.looked_at, 2 * plan.limit)]]
        reader = self.store.reading(plan.bank)
        # Of several spaces the fullest: a new one may still be filling.
        space = max(brought.vectors, key=lambda each: len(brought.lists[f"vector:{each}"]), default=None)
        where = replace(plan.where, ids=tuple(likely))
        found = await reader.find(where, len(likely)) if likely else []
        vectors = await reader.vectors(space, likely) if likely and space is not None else {}
        held = {memory.id: memory for memory in found}
        return Pool(plan, brought, [held[each] for each in likely if each in held], space, vectors)
