"""A bank as maintenance sees it, and the changes that plans ask for."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, TypeAlias

from hindsight_memory.domain import Change, Memory, Relation, Status, Tier
from hindsight_memory.settings import Settings
from hindsight_memory.store.base import Aged, Marks, Reader, Talk

Repeats: TypeAlias = Callable[[Memory, Sequence[Memory]], Memory | None]
"""The one of its neighbours that a memory repeats, if it repeats one."""

ACTOR: Final = "maintenance"
_HIDING: Final = frozenset({"expire", "merge", "evict", "episodes", "consolidate", "lessons"})
_WEIGHING: Final = ("consolidate", "lessons", "purge", "tier")
"""What maintenance does that is no reason to weigh anew what was derived: it follows from that, or changes no word."""


@dataclass(slots=True)
class Bench:
    """A bank as a plan sees it.

    ``repeats`` says what another memory says already, ``space`` is where memories are compared by meaning, if anywhere.
    ``gone`` are active memories that a dry run would have taken out of sight by now; ``place`` is how far the routine
    has looked, for those that go on where they stopped, and ``told`` how far it has grouped sessions. ``propose`` asks
    that what is concluded be laid before a person.
    """

    bank: str
    reader: Reader
    settings: Settings
    now: datetime
    repeats: Repeats
    space: str | None
    gone: set[str] = field(default_factory=set)
    place: int = 0
    told: list[tuple[Talk, int, int]] = field(default_factory=list)
    propose: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A memory to be made of others, or the new values of one that was, and the edges that say what it rests on.

    ``sources`` are those it quotes, each with its text: where one no longer says so, nothing is made. ``instead_of``
    are memories made before, by id and version, that it takes the place of.
    """

    memory: Memory
    marks: Marks | None = None
    values: Mapping[str, Any] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)
    edges: Sequence[Relation] = ()
    instead_of: Sequence[tuple[str, int]] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A change, and the memory as it was when it was planned: one that is no longer so is left alone.

    ``hides`` is a change that takes an active memory out of sight, ``harmless`` one of these that loses nothing.
    ``tier`` is where a memory goes, ``into`` the id and the hash of the one that it repeats, ``made`` what is made.
    """

    change: Change
    version: int
    used_at: datetime | None
    hides: bool = False
    harmless: bool = False
    tier: Tier | None = None
    into: tuple[str, str] | None = None
    made: Made | None = None

    def stands(self, memory: Memory) -> bool:
        """Whether the memory is still as it was."""
        return (memory.version, memory.last_accessed_at) == (self.version, self.used_at)


def planned(memory: Memory, what: str, why: str, numbers: Mapping[str, float] | None = None, **more: Any) -> Planned:
    """A change of a memory as it is now; ``more`` are further fields of ``Planned``."""
    change = Change(memory.id, what, why, dict(numbers or {}))
    hides = what in _HIDING and memory.status is Status.ACTIVE
    return Planned(change=change, version=memory.version, used_at=memory.last_accessed_at, hides=hides, **more)


async def stirred(bench: Bench) -> int | None:
    """Up to which event to look at what was derived of a bank; ``None`` where nothing has happened since last time."""
    latest = await bench.reader.last_event(bench.place, ACTOR, _WEIGHING)
    return max(latest, bench.place) if latest or bench.gone or not bench.place else None


async def swept(bench: Bench, after: int = 0) -> AsyncIterator[Memory]:
    """The active memories of the bank, in the order they were stored."""
    while page := await bench.reader.sweep(after, bench.settings.lifecycle.page):
        for _, memory in page:
            yield memory
        after = page[-1][0]


async def aged(bench: Bench, asked: Aged) -> AsyncIterator[Memory]:
    """The memories whose time has come, the longest due first."""
    page: Sequence[Memory] = ()
    while page := await bench.reader.aged(asked, bench.settings.lifecycle.page, page[-1] if page else None):
        for memory in page:
            if memory.id not in bench.gone:
                yield memory
