"""The verbs that find and show."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from hindsight_memory.assist.assistant import Task
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
    Status,
    Tier,
    Why,
)
from hindsight_memory.errors import InvalidInput
from hindsight_memory.guard.access import may, require
from hindsight_memory.ingest.index import terms_of as index_terms
from hindsight_memory.ingest.reading import terms_of as read_terms
from hindsight_memory.recall.consensus import latest_first
from hindsight_memory.recall.pack import pack
from hindsight_memory.recall.pipeline import relations_of
from hindsight_memory.service.base import LONGEST_ID, Verbs, visible
from hindsight_memory.service.inspecting import WITHIN_S, inspected
from hindsight_memory.store.base import Stage, Where


class Reading(Verbs):
    """Verbs that find and show."""

    async def search(self, query: Query, scope: Scope) -> list[Hit]:
        """The memories that answer a query, best first, each with its reasons in numbers and words.

        Those of the namespace's shared bank, which all its users read, are among them: ``bank_id`` says which they are.
        """
        require(self.principal, "search", scope)
        hits = await self._parts.finder(query, scope, self._beside(scope))
        self._touch(hits)
        return hits

    async def context(self, query: Query, scope: Scope, budget_tokens: int | None = None) -> Context:
        """What is worth knowing for a query, as one prompt block of at most ``budget_tokens``."""
        require(self.principal, "search", scope)
        budget = self.settings.pack.budget_tokens if budget_tokens is None else budget_tokens
        if isinstance(budget, bool) or not isinstance(budget, int) or budget < 1:
            raise InvalidInput("budget_tokens must be a whole number, at least 1.", field="budget_tokens")
        wide = replace(query, limit=max(query.limit, self.settings.pack.candidates))
        hits = latest_first(await self.search(wide, scope), query.text)
        relations = await relations_of([hit.memory for hit in hits], self._parts.store)
        return pack(hits, budget, self.settings.pack, relations)

    async def explain(self, query: Query, memory_id: str, scope: Scope) -> Hit:
        """How one memory fares with a query, whether or not it is among the results.

        Raises ``NotFound`` when the bank has no such memory.
        """
        memory = await self.get(memory_id, scope)
        found = await self._parts.finder.explain(query, memory_id, scope, self._beside(scope))
        if found is not None:
            return found
        return Hit(memory, 0.0, 0.0, Why("No signal brought it, or the filters exclude it.", (), ()))

    async def get(self, memory_id: str, scope: Scope) -> Memory:
        """One memory, of the bank that is meant or of the shared one beside it.

        Raises ``NotFound`` for an unknown, a forgotten, an expired, or another agent's private one.
        """
        require(self.principal, "get", scope)
        memory_id = parse_text("memory_id", memory_id, LONGEST_ID)
        found, _ = await self._looked_up(memory_id, scope)
        return visible(found, memory_id, scope, self._parts.clock())

    async def doctor(self, progress: Callable[[int], None] = lambda _: None) -> list[Check]:
        """What this service runs on, and whether it is well. Slow: it reads the whole database, for a minute at most.

        Whether each log is whole and what is kept twice agrees is looked at bank by bank.

        Args:
            progress: Called with the number of banks looked at so far.
        """
        require(self.principal, "doctor", None)
        faults = await self._parts.store.check()
        _, *others = await self.ready()
        rest = "on" if self.settings.store.encrypted else "off: whoever reads the file reads the memories"
        database = Check("database", not faults, self.settings.place, "; ".join(faults))
        inside = [] if faults else await inspected(self._parts.store, WITHIN_S, progress)
        return [database, *inside, Check("encryption", True, rest), *others]

    async def ready(self) -> list[Check]:
        """Whether requests can be answered now; quick. Memories without a vector are found by words meanwhile.

        What is in use, and how much is waiting, is for those who may ask the ``doctor``; others learn what is well.
        """
        due = await self._parts.store.due(Stage.INDEX, index_terms(self.settings.write))
        embedders = ", ".join(embedder.space for embedder in self._parts.embedders) or "none: words only"
        as_asked = bool(self._parts.embedders) or self.settings.embed.names == "none"
        reranker = self._parts.reranker
        checks = [
            Check("database", True, self.settings.place),
            Check("embedder", as_asked, embedders, " ".join(self._parts.notes)),
            Check("vectors", True, f"{due} memories wait for one"),
            *await self._model(),
            Check("reranker", True, "none" if reranker is None else reranker.name),
        ]
        return checks if may(self.principal, "doctor", None) else [Check(each.name, each.ok, "") for each in checks]

    async def _model(self) -> list[Check]:
        """Which language models are asked for what, and how much they are still to read."""
        models = self._parts.assistant.models
        if not models:
            return [Check("llm", True, "none: rules only" if self._parts.llm is None else self._parts.llm.name)]
        due = await self._parts.store.due(Stage.READ, read_terms(self.settings, self._parts.clock()))
        names = set(models.values())
        shown = names.pop() if len(names) == 1 and len(models) == len(Task) else _by_task(models)
        waiting = f"{due} memories wait for it to read them"
        return [Check("llm", True, shown), Check("jobs", True, waiting, self._parts.reading.judge.note)]

    async def list(self, listing: Listing, scope: Scope) -> Page:
        """Memories by filter, newest first, a page at a time; none that has expired."""
        require(self.principal, "get", scope)
        seen: dict[str, Any] = {"now": self._parts.clock(), "viewer": scope.agent_id, "statuses": (listing.status,)}
        seen["unexpired"] = listing.status is not Status.DELETED  # there, what has expired is to be found and restored
        where = Where.of(listing, tiers=tuple(Tier), findable=False, doubted=listing.doubted, **seen)
        reader = self._parts.store.reading(scope.bank)
        found = await reader.find(where, listing.limit + 1, listing.after)
        more = len(found) > listing.limit
        return Page(tuple(found[: listing.limit]), found[listing.limit - 1].id if more else None)


def _by_task(models: Mapping[Task, str]) -> str:
    return ", ".join(f"{task}: {models.get(task, 'rules')}" for task in Task)
