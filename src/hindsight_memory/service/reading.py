"""The verbs that find and show."""

from __future__ import annotations

from dataclasses import replace

from hindsight_memory.check import parse_text
from hindsight_memory.domain import (
    Check,
    Context,
    Hit,
    Listing,
    Memory,
    Page,
    Query,
    Scope,
    Tier,
    Why,
)
from hindsight_memory.errors import InvalidInput
from hindsight_memory.guard.access import require
from hindsight_memory.recall.pack import pack
from hindsight_memory.service.base import LONGEST_ID, Verbs, visible
from hindsight_memory.store.base import Where


class Reading(Verbs):
    """Verbs that find and show."""

    async def search(self, query: Query, scope: Scope) -> list[Hit]:
        """The memories that answer a query, best first, each with its reasons in numbers and words."""
        require(self.principal, "search", scope)
        hits = await self._parts.finder(query, scope)
        self._parts.touched[scope.bank].update(hit.memory.id for hit in hits)
        return hits

    async def context(self, query: Query, scope: Scope, budget_tokens: int | None = None) -> Context:
        """What is worth knowing for a query, as one prompt block of at most ``budget_tokens``."""
        require(self.principal, "search", scope)
        budget = self.settings.pack.budget_tokens if budget_tokens is None else budget_tokens
        if isinstance(budget, bool) or not isinstance(budget, int) or budget < 1:
            raise InvalidInput("budget_tokens must be a whole number, at least 1.", field="budget_tokens")
        wide = replace(query, limit=max(query.limit, self.settings.pack.candidates))
        return pack(await self.search(wide, scope), budget, self.settings.pack)

    async def explain(self, query: Query, memory_id: str, scope: Scope) -> Hit:
        """How one memory fares with a query, whether or not it is among the results.

        Raises ``NotFound`` when the bank has no such memory.
        """
        memory = await self.get(memory_id, scope)
        found = await self._parts.finder.explain(query, memory_id, scope)
        if found is not None:
            return found
        return Hit(memory, 0.0, 0.0, Why("No signal brought it, or the filters exclude it.", (), ()))

    async def get(self, memory_id: str, scope: Scope) -> Memory:
        """One memory. Raises ``NotFound`` for an unknown, a forgotten, or another agent's private one."""
        require(self.principal, "get", scope)
        memory_id = parse_text("memory_id", memory_id, LONGEST_ID)
        return visible(await self._parts.store.reading(scope.bank).get([memory_id]), memory_id, scope)

    async def doctor(self) -> list[Check]:
        """What this service runs on, and whether it is well. Slow: it reads the whole database."""
        faults = await self._parts.store.check()
        _, *others = await self.ready()
        return [Check("database", not faults, self.settings.database, "; ".join(faults)), *others]

    async def ready(self) -> list[Check]:
        """Whether requests can be answered now; quick. Memories without a vector are found by words meanwhile."""
        due = await self._parts.store.due(self.settings.write.index_attempts)
        embedders = ", ".join(embedder.space for embedder in self._parts.embedders) or "none: words only"
        as_asked = bool(self._parts.embedders) or self.settings.embed.names == "none"
        llm, reranker = self._parts.llm, self._parts.reranker
        return [
            Check("database", True, self.settings.database),
            Check("embedder", as_asked, embedders, " ".join(self._parts.notes)),
            Check("vectors", True, f"{due} memories wait for one"),
            Check("llm", True, "none: rules only" if llm is None else llm.name),
            Check("reranker", True, "none" if reranker is None else reranker.name),
        ]

    async def list(self, listing: Listing, scope: Scope) -> Page:
        """Memories by filter, newest first, a page at a time."""
        require(self.principal, "get", scope)
        seen = {"now": self._parts.clock(), "viewer": scope.agent_id, "statuses": (listing.status,)}
        where = Where.of(listing, tiers=tuple(Tier), findable=False, **seen)
        reader = self._parts.store.reading(scope.bank)
        found = await reader.find(where, listing.limit + 1, listing.after)
        more = len(found) > listing.limit
        return Page(tuple(found[: listing.limit]), found[listing.limit - 1].id if more else None)
