"""Holds the results of a search against each other before they go out: what is in doubt is marked, or put last."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace

from hindsight_memory.domain import Doubt, Hit, Memory, Source, Visibility
from hindsight_memory.guard.consensus import Bench, doubts, is_in_question, is_outsider, told_by_trusted
from hindsight_memory.recall.plan import Plan
from hindsight_memory.recall.pool import Pool
from hindsight_memory.recall.signals import asks_past
from hindsight_memory.settings import Settings
from hindsight_memory.store.base import Store
from hindsight_memory.text.claims import is_han
from hindsight_memory.text.rivals import answers_otherwise
from hindsight_memory.text.support import people_of

NAME = "consensus"
"""What switches it off, among the signals that a search may do without."""


async def compared(hits: Sequence[Hit], pool: Pool, store: Store, settings: Settings) -> list[Hit]:
    """The hits with what speaks against each; those withheld from a prompt come behind all others.

    Only the best are compared, and where all that was found comes from the user nothing is done. The best trusted
    candidates take part even where others have crowded them out of the hits.
    """
    plan = pool.plan
    best = [hit.memory for hit in hits[: settings.trust.compared]]
    if NAME in plan.off or not any(is_in_question(memory, settings.write) for memory in best):
        return list(hits)
    lessons = [each for bank in plan.banks for each in await store.reading(bank).lessons(settings.trust.lessons)]
    seen = [each for each in lessons if each.visibility is Visibility.SHARED or each.agent_id == plan.where.viewer]
    bench = Bench(plan.text, seen, settings.write, settings.trust)
    names = await _told_of(plan, store, settings)
    found = await asyncio.to_thread(_doubts, best, pool, names, bench)
    marked = [
        replace(hit, why=replace(hit.why, doubts=found[hit.memory.id])) if hit.memory.id in found else hit
        for hit in hits
    ]
    return sorted(marked, key=is_withheld)  # stable: otherwise they stay in their order


async def _told_of(plan: Plan, store: Store, settings: Settings) -> list[str]:
    """The names in a question that somebody trusted has mentioned; of those in Latin letters the pool will say."""
    trusted = replace(plan.where, trusted=settings.write.trust[Source.AGENT])
    chinese = [name for name in plan.names if is_han(name)]
    found = [await store.reading(bank).names_known(chinese, trusted) for bank in plan.banks] if chinese else []
    return [name for name in plan.names if name not in chinese or any(name in known for known in found)]


def _doubts(best: Sequence[Memory], pool: Pool, names: Sequence[str], bench: Bench) -> Mapping[str, tuple[Doubt, ...]]:
    trusted = [each for each in pool.memories if not is_outsider(each, bench.write)]
    people = people_of(bench.question, names, told_by_trusted(trusted, bench.write))
    held = {memory.id for memory in best}
    crowded_out = [each for each in trusted[: bench.settings.against] if each.id not in held]
    return doubts(best, replace(bench, people=people, witnesses=crowded_out))


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
    mine = old.source is new.source is Source.USER and old.trust == new.trust and old.bank_id == new.bank_id
    return mine and old.occurred_at < new.occurred_at and answers_otherwise(question, old.content, new.content)


def is_withheld(hit: Hit) -> bool:
    """Whether a hit is to stay out of a prompt."""
    return any(doubt.withheld for doubt in hit.why.doubts)
