"""The verb of the review queue: what is in quarantine, or was called wrong, and why, until a person decides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from hindsight_memory.domain import Event, Held, Memory, Review, ReviewListing, Scope, Status, Tier
from hindsight_memory.guard.access import require
from hindsight_memory.guard.injection import weigh
from hindsight_memory.guard.verdicts import NEGATIVE
from hindsight_memory.service.base import Verbs
from hindsight_memory.store.base import Where

_EVENTS: Final = 50
"""The latest events of a memory among which stands what put it into quarantine."""


class Reviewing(Verbs):
    """The verb of the review queue."""

    async def review(self, listing: ReviewListing, scope: Scope) -> Review:
        """What waits for a person, newest first, each with what put it there and what the screen sees in it.

        That is what is in quarantine, which no search finds, and what still stands though somebody called it wrong or
        outdated who may not take it out. ``restore`` lets a memory in, or stand; ``forget`` refuses it.
        """
        require(self.principal, "get", scope)
        everything = Where(now=self._parts.clock(), viewer=scope.agent_id, tiers=tuple(Tier), findable=False)
        held_back = replace(everything, statuses=(Status.QUARANTINED,))
        called_wrong = replace(everything, doubted=True, unexpired=True)
        reader = self._parts.store.reading(scope.bank)
        pages = [await reader.find(where, listing.limit + 1, listing.after) for where in (held_back, called_wrong)]
        found = sorted((memory for page in pages for memory in page), key=lambda each: each.id, reverse=True)
        shown, more = found[: listing.limit], len(found) > listing.limit
        held = [_held(memory, await reader.events(memory.id, _EVENTS)) for memory in shown]
        return Review(tuple(held), shown[-1].id if more else None)


def _held(memory: Memory, events: Sequence[Event]) -> Held:
    """A memory with the latest event that made it wait: the write itself, where no other did."""
    event = next((each for each in events if _put(each, memory)), None)
    suspicion = weigh(memory.content, memory.source)
    return Held(
        memory=memory,
        verb="write" if event is None else event.verb,
        actor="" if event is None else event.actor,
        at=memory.created_at if event is None else event.at,
        reasons=() if event is None else _reasons(event),
        suspicion=suspicion.score,
        findings=suspicion.signals,
    )


def _put(event: Event, memory: Memory) -> bool:
    if memory.status is Status.ACTIVE:
        return event.verb == "feedback" and event.detail.get("verdict") in NEGATIVE
    after = event.detail.get("after")
    status = after.get("status") if isinstance(after, dict) else None
    return Status.QUARANTINED in (status, event.detail.get("action")) or event.verb == "write"


def _reasons(event: Event) -> tuple[str, ...]:
    """The signs by their names, or the verdict, and what whoever judged said."""
    named = [str(each) for each in event.detail.get("findings", ())]
    named += [str(event.detail["verdict"])] if "verdict" in event.detail else []
    return tuple(named + ([event.reason] if event.reason else []))
