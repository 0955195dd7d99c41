"""The read path: what happens to a query, in order."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from hindsight_memory.domain import Hit, Memory, Query, Scope
from hindsight_memory.recall.plan import Plan, Understanding
from hindsight_memory.recall.rank import Found, fuse, gate, weigh
from hindsight_memory.recall.retrievers import RETRIEVERS, Brought, together
from hindsight_memory.settings import Settings
from hindsight_memory.store.base import Store


@dataclass(frozen=True, slots=True)
class Finder:
    """Answers queries."""

    store: Store
    understand: Understanding
    settings: Settings
    clock: Callable[[], datetime]

    async def __call__(self, query: Query, scope: Scope) -> list[Hit]:
        """The memories that answer a query, best first, each with its reasons."""
        plan = self.understand(query, scope, self.clock())
        brought = await self.candidates(plan)  # every retriever, at once
        found = fuse(brought.lists, self.settings.recall.weights, self.settings.recall.rrf_k)
        held = await self.hydrate(plan, found)  # asks the filter once more
        hits = weigh(held, plan, brought, self.settings.retention)  # recency × importance × trust × use × time
        hits = gate(hits, self.settings.recall.floor)
        return hits[: query.limit]

    async def candidates(self, plan: Plan) -> Brought:
        """What the retrievers bring. The query is embedded while its words are looked up."""
        reader = self.store.reading(plan.bank)
        return together(await asyncio.gather(*(retrieve(plan, reader) for retrieve in RETRIEVERS)))

    async def hydrate(self, plan: Plan, found: Sequence[Found]) -> list[tuple[Found, Memory]]:
        """The candidates with their memories; what has stopped matching in the meantime is left out."""
        likely = found[: plan.deep]
        where = replace(plan.where, ids=tuple(each.id for each in likely))
        memories = await self.store.reading(plan.bank).find(where, len(likely)) if likely else []
        held = {memory.id: memory for memory in memories}
        return [(each, held[each.id]) for each in likely if each.id in held]
