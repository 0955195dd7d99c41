"""What a verdict does to a memory: whose word moves what, and how far."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from hindsight_memory.domain import Event, Feedback, Memory, Source, Status
from hindsight_memory.settings import Settings

NEGATIVE: Final = frozenset({Feedback.WRONG, Feedback.OUTDATED})
"""Verdicts that speak against a memory."""


def moved(memory: Memory, verdict: Feedback, judge: Source, now: datetime, settings: Settings) -> dict[str, Any]:
    """The fields that a verdict changes, with their new values; ``judge`` is the user or somebody else.

    Only the user's word moves trust, and only what the user calls wrong goes into quarantine. A pinned memory is
    flagged and no more, whoever judges.
    """
    match verdict:
        case Feedback.USED:
            return _used(memory, now)
        case Feedback.HELPFUL:
            return _helpful(memory, judge, now, settings)
        case Feedback.WRONG if judge is Source.USER and not memory.pinned and memory.status in _IN_RECALL:
            trust = round(memory.trust * settings.feedback.trust_left, 4)
            return _doubted(memory, now) | {"trust": trust, "status": Status.QUARANTINED}
        case Feedback.OUTDATED if memory.status is not Status.ACTIVE:
            return {}  # it is out of recall already
        case Feedback.OUTDATED if not memory.pinned and settings.write.trust[judge] >= memory.trust:
            ended = min(memory.valid_until or now, now)
            return {"status": Status.SUPERSEDED, "valid_until": ended, "judged_at": now}
    return _doubted(memory, now)


_IN_RECALL: Final = frozenset({Status.ACTIVE, Status.SUPERSEDED})


def _used(memory: Memory, now: datetime) -> dict[str, Any]:
    return {"access_count": memory.access_count + 1, "last_accessed_at": now}


def _helpful(memory: Memory, judge: Source, now: datetime, settings: Settings) -> dict[str, Any]:
    bounds = settings.feedback
    fields = _used(memory, now) | {"helpful": memory.helpful + 1, "judged_at": now}
    fields["importance"] = _nearer(memory.importance, bounds.importance_most, bounds.importance_step)
    if judge is Source.USER:
        # No further than a memory of its source starts with: praise makes no document a witness.
        fields["trust"] = _nearer(memory.trust, settings.write.trust[memory.source], bounds.trust_step)
        fields["doubted"] = 0
    return fields


def _doubted(memory: Memory, now: datetime) -> dict[str, Any]:
    return {"doubted": memory.doubted + 1, "judged_at": now}


def _nearer(value: float, most: float, step: float) -> float:
    """A step of what is missing to ``most``; what is above it stays."""
    return value if value >= most else round(value + step * (most - value), 4)


def undone(memory: Memory, events: Sequence[Event]) -> dict[str, Any] | None:
    """The fields that bring a memory back as it was before it was forgotten, or a verdict took it out of recall.

    ``events`` are the memory's own, newest first. ``None`` where neither is so: what a newer memory superseded stays.
    """
    deed = taken_out(memory, events)
    before = None if deed is None else deed.detail["before"]
    if memory.status is Status.DELETED:
        status = Status.SUPERSEDED if memory.superseded_by else Status.ACTIVE
        return {"status": status, "deleted_at": None} | _read(before or {})
    if before is None and memory.status is Status.QUARANTINED:
        return {"status": Status.ACTIVE}  # the guards put it there as it came
    return None if before is None or memory.status is Status.ACTIVE else _read(before)


def taken_out(memory: Memory, events: Sequence[Event]) -> Event | None:
    """The latest of a memory's events that took it out of sight as it is now; ``None`` where none did."""
    return next((each for each in events if _took_out(each, memory.status)), None)


_TAKING: Final = frozenset({"feedback", "forget", "expire", "merge", "evict", "episodes", "consolidate", "scan"})
"""Verbs that take a memory out of sight."""


def _took_out(event: Event, status: Status) -> bool:
    return event.verb in _TAKING and event.detail.get("after", {}).get("status") == status


def _read(held: Mapping[str, Any]) -> dict[str, Any]:
    """Fields as an event holds them, as a memory does."""
    return dict(held) | {name: read(held[name]) for name, read in _READERS.items() if held.get(name) is not None}


_READERS: Final[Mapping[str, Callable[[str], Any]]] = {
    "status": Status,
    "valid_until": datetime.fromisoformat,
    "judged_at": datetime.fromisoformat,
}
