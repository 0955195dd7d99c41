"""Holds the results of a search against each other before they go out: what is in doubt is marked, or put last."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from hindsight_memory.domain import Hit, Source, Visibility
from hindsight_memory.guard.consensus import Bench, doubts, is_in_question
from hindsight_memory.recall.plan import Plan
from hindsight_memory.recall.signals import asks_past
from hindsight_memory.settings import Settings
from hindsight_memory.store.base import Store
from hindsight_memory.text.rivals import answers_otherwise

NAME = "consensus"
"""What switches it off, among the signals that a search may do without."""


async def compared(hits: Sequence[Hit], plan: Plan, store: Store, settings: Settings) -> list[Hit]:
    """The hits with what speaks against each; those withheld from a prompt come behind all others.

    Only the best are compared, and where all that was found comes from the user nothing is done.
    """
    best = [hit.memory for hit in hits[: settings.trust.compared]]
    if NAME in plan.off or not any(is_in_question(memory, settings.write) for memory in best):
        return list(hits)
    lessons = await store.reading(plan.bank).lessons(settings.trust.lessons)
    seen = [each for each in lessons if each.visibility is Visibility.SHARED or each.agent_id == plan.where.viewer]
    bench = Bench(plan.text, seen, settings.write, settings.trust)
    found = await asyncio.to_thread(doubts, best, bench)
    marked = [
        replace(hit, why=replace(hit.why, doubts=found[hit.memory.id])) if hit.memory.id in found else hit
        for hit in hits
    ]
    return sorted(marked, key=is_withheld)  # stable: otherwise they stay in their order


def latest_first(hits: Sequence[Hit], question: str) -> list[Hit]:
    """The hits, where of two answers of the user that differ the later one comes right before the earlier one.

    What is not read as a change may be one: whoever said something else since means that.
    """
    if asks_past(question):
        return list(hits)
    placed: list[Hit] = []
    for hit in hits:
        earlier = (place for place, each in enumerate(placed) if _is_answered_anew(each, hit, question))
        placed.insert(next(earlier, len(placed)), hit)
    return placed


def _is_answered_anew(earlier: Hit, later: Hit, question: str) -> bool:
    old, new = earlier.memory, later.memory
    mine = old.source is new.source is Source.USER and old.trust == new.trust
    return mine and old.occurred_at < new.occurred_at and answers_otherwise(question, old.content, new.content)


def is_withheld(hit: Hit) -> bool:
    """Whether a hit is to stay out of a prompt."""
    return any(doubt.withheld for doubt in hit.why.doubts)
