"""The read path: what happens to a query, in order."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from hindsight_memory.domain import Hit, Memory, Moment, Query, Relation, Scope, Source, Status, Tier
from hindsight_memory.models.base import Reranker
from hindsight_memory.recall.consensus import compared
from hindsight_memory.recall.moments import by_resolution, leaning, recognised
from hindsight_memory.recall.order import apart, current, own_first, replaced
from hindsight_memory.recall.plan import Plan, Understanding
from hindsight_memory.recall.pool import Pool, joined
from hindsight_memory.recall.rank import gate, rank, reranked, weigh
from hindsight_memory.recall.retrievers import RETRIEVERS, Brought, agreed, by_graph, together
from hindsight_memory.recall.signals import asks_past
from hindsight_memory.settings import Settings
from hindsight_memory.store.base import Store, Where

_FOUND: Final = (Status.ACTIVE, Status.SUPERSEDED)
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

    async def __call__(self, query: Query, scope: Scope, beside: str | None = None) -> list[Hit]:
        """The memories that answer a query, best first, each with its reasons.

        Args:
            query: What is asked.
            scope: Whose bank is asked, and who asks.
            beside: A bank that is asked as well, the shared one; its memories and those of the scope are ranked as one.
        """
        pool = await self.pool(query, scope, beside)
        most = query.limit + _SPARE if query.moment is None else len(pool)
        hits = rank(pool, most)  # every signal measured, and added up as the fitted trees say
        hits = await reranked(hits, pool.plan.text, self.reranker, self.settings.rerank)
        hits = self.weigh(hits, pool)  # recency × importance × trust × use × feedback × key or moment
        hits = hits if asks_past(pool.plan.text) else await self.lifted(hits)  # what is newer comes first
        hits = await compared(hits, pool, self.store, self.settings)  # what contradicts the more trusted is marked
        hits = apart(hits, query.limit, self.settings.write.trust[Source.AGENT])  # what says the same again comes last
        return gate(hits, self.settings.recall.floor)

    async def explain(self, query: Query, memory_id: str, scope: Scope, beside: str | None = None) -> Hit | None:
        """How one memory fares among the candidates, before a reranker; ``None`` where it is none of them."""
        pool = await self.pool(query, scope, beside)
        hits = await compared(self._every(pool), pool, self.store, self.settings)
        return next((hit for hit in hits if hit.memory.id == memory_id), None)

    async def everything(self, query: Query, scope: Scope, beside: str | None = None) -> list[Hit]:
        """All candidates for a query, best first, before a reranker."""
        return self._every(await self.pool(query, scope, beside))

    def _every(self, pool: Pool) -> list[Hit]:
        return gate(self.weigh(rank(pool, len(pool)), pool), self.settings.recall.floor)

    def weigh(self, hits: Sequence[Hit], pool: Pool) -> list[Hit]:
        """The hits with their factors, best first."""
        weighed = weigh(hits, pool.plan.now, self.settings.retention, leaning(pool, self.settings.recall))
        return recognised(weighed, pool.plan)

    async def lifted(self, hits: Sequence[Hit]) -> list[Hit]:
        """The hits, where what replaced a part of another, or is one's own value of a shared key, comes before it."""
        parts = [hit.memory for hit in hits if hit.memory.superseded_by is not None]
        return own_first(current(hits, replaced(await relations_of(parts, self.store))))

    async def pool(self, query: Query, scope: Scope, beside: str | None = None) -> Pool:
        """The candidates for a query, with all that is measured of them; those of the bank ``beside`` too."""
        plan = await self.understand(query, scope, self.store.reading(scope.bank), self.clock())
        own = await self.gather(plan, await self.candidates(plan))
        if beside is None or not await self._is_asked(plan, beside):
            return own
        there = await self.understand.there(plan, beside, self.store.reading(beside))
        return joined(own, await self.gather(there, await self.candidates(there)))

    async def _is_asked(self, plan: Plan, bank: str) -> bool:
        """Whether another bank is worth asking too: not for what one session holds, and not where it holds nothing."""
        if plan.where.session is not None:
            return False
        anything = Where(now=plan.now, viewer=plan.where.viewer, tiers=tuple(Tier), statuses=_FOUND, findable=False)
        return bool(await self.store.reading(bank).find(anything, 1))

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


async def relations_of(memories: Sequence[Memory], store: Store) -> list[Relation]:
    """Edges that start or end at memories, each read from the bank that the memory stands in."""
    banks = dict.fromkeys(memory.bank_id for memory in memories)
    ids = {bank: [memory.id for memory in memories if memory.bank_id == bank] for bank in banks}
    return [edge for bank in banks for edge in await store.reading(bank).relations(ids[bank])]
