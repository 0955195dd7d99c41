"""The store contract: what the rest of the system may ask of any engine.

Every access goes through one bank: ``reading(bank)`` and ``transaction(bank)`` are the only ways to rows.
Words and names, not text, go in and out: the store knows no language.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hindsight_memory.domain import Event, Filter, Memory, Relation, Scope, Status, Tier, Window
from hindsight_memory.settings import WriteSettings

Vector = NDArray[np.float32]


@dataclass(frozen=True, kw_only=True)
class Where(Filter):
    """Which memories, seen by whom and when; the default is what a search may see.

    ``viewer`` is the asking agent: it sees shared memories and its own private ones. ``statuses`` is widened to
    superseded memories by the store when ``as_of`` is given.
    """

    now: datetime
    viewer: str | None = None
    statuses: tuple[Status, ...] = (Status.ACTIVE,)
    tiers: tuple[Tier, ...] = (Tier.HOT, Tier.WARM)
    findable: bool = True
    """Only what may be found by itself: not a greeting kept for context, not what has expired."""
    ids: tuple[str, ...] | None = None

    @classmethod
    def of(cls, asked: Filter, **more: Any) -> Where:
        """What a caller's filter asks for, and what the system adds to it."""
        return cls(**{each.name: getattr(asked, each.name) for each in fields(Filter)}, **more)


@dataclass(frozen=True, slots=True)
class Marks:
    """What a memory is found by: its words, in order and with repeats, the names and the spans of time it mentions.

    They are read off a text together and stored together, so that none can be forgotten. Spans longer than 366 days
    are not kept: they tell no memory from another.
    """

    words: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    times: tuple[Window, ...] = ()


@dataclass(frozen=True, slots=True)
class Scored:
    """A memory's id with the score one retriever gave it: more is better.

    ``own`` is the part that the memory would have got by itself, without what stands beside it.
    """

    id: str
    score: float
    own: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """An embedding space: vectors of two spaces are never compared.

    ``spec`` names the embedder as the settings do, so that an old space can still be asked.
    """

    name: str
    spec: str
    dimension: int
    template: str
    calibration: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Due:
    """A memory that lacks a vector, the bank it stands in and how often it was tried."""

    bank: str
    memory: Memory
    attempts: int


@dataclass(frozen=True, slots=True)
class Erased:
    """What an erasure removed, counted: the proof of a purge."""

    memories: int = 0
    words: int = 0
    vectors: int = 0
    relations: int = 0
    events: int = 0
    names: int = 0
    times: int = 0


@dataclass(frozen=True, slots=True)
class BankStats:
    """Counts of one bank."""

    memories: int
    unindexed: int
    vectors: Mapping[str, int]


class Reader(Protocol):
    """What may be read of one bank. Reading never writes."""

    async def get(self, ids: Sequence[str]) -> list[Memory]:
        """The memories with these ids, whatever their status, in the order asked; unknown ids are left out."""

    async def find(self, where: Where, limit: int, after: str | None = None) -> list[Memory]:
        """Memories by filter, newest id first, those before ``after`` only."""

    async def count(self, where: Where) -> int:
        """How many memories the filter lets through."""

    async def known(self, content_hash: str) -> Memory | None:
        """The memory with this content hash, whatever its status; the active one where there are several."""

    async def current(self, key: str, owner: str | None = None) -> Memory | None:
        """The newest active memory under this key: of the shared ones, or of an agent's private ones."""

    async def turns(self, session_id: str, first: int, last: int) -> list[Memory]:
        """The turns of a session from ``first`` to ``last``, both included, whatever their status."""

    async def search_words(self, words: Sequence[str], where: Where, limit: int) -> list[Scored]:
        """Memories by BM25 over their own words and those of the turns beside them."""

    async def search_vector(self, space: str, vector: Vector, where: Where, limit: int) -> list[Scored]:
        """Memories by cosine similarity in one space, filtered before the limit is applied."""

    async def vectors(self, space: str, ids: Sequence[str]) -> Mapping[str, Vector]:
        """The vectors of these memories in one space, of length 1; a memory of several windows has their mean.

        Memories that have none are left out.
        """

    async def search_time(self, window: Window, where: Where, limit: int) -> list[Scored]:
        """Memories that happened within the window or mention a time that overlaps it, each once, best first.

        What happened in it scores ``1 - d/2``, with ``d`` the distance from its middle, 0 there and 1 at its ends. A
        mentioned span scores the same for the middle of what it shares with the window, times the share of the span
        that lies within: a day in the month asked about beats the year around it. A memory's best counts.
        """

    async def names_known(self, candidates: Sequence[str], where: Where) -> Mapping[str, int]:
        """Those of the candidates that are names of the bank, with the number of memories that mention each.

        A relation to a name mentions it too.
        A name only the asker may not see is not known; the number is the bank's own, like the statistics of words. A
        candidate that an alias stands for brings the other name too, under that name: a memory under the key
        ``alias.NAME`` makes the names it mentions stand for each other, while ``where`` lets it through.
        """

    async def search_graph(
        self, seeds: Mapping[str, float], names: Mapping[str, float], where: Where, limit: int
    ) -> list[Scored]:
        """Memories reached from others and from names by spreading activation, best first.

        Activation starts at the memories ``seeds`` (by id) and at ``names`` (folded), by their weights, and runs over
        shared names, the turns beside and typed relations; see ``GraphSettings``. The score is the share of it that
        came over edges: a seed counts only for what others pass to it. What ``where`` does not let through is neither
        returned nor passed through.
        """

    async def lacking(self, ids: Sequence[str]) -> set[str]:
        """Those of the memories that wait for a vector."""

    async def relations(self, ids: Sequence[str]) -> list[Relation]:
        """Edges that start or end at these memories."""

    async def events(self, memory_id: str | None, limit: int) -> list[Event]:
        """The newest events of the bank, or of one memory, newest first."""

    async def stats(self) -> BankStats:
        """Counts of the bank."""


class Tx(Reader, Protocol):
    """One unit of work on one bank: all of it is stored, or none."""

    async def next_turn(self, session_id: str, count: int) -> int:
        """Take the next ``count`` places in a session; returns the first."""

    async def add(self, memory: Memory, marks: Marks) -> None:
        """Store a memory and what it is found by."""

    async def change(self, memory: Memory, marks: Marks | None = None, **fields: Any) -> Memory:
        """Change fields of a memory, next version; ``marks`` replaces what it is found by.

        Raises ``Conflict`` when the stored version is not ``memory.version``.
        """

    async def relate(self, relation: Relation) -> None:
        """Add an edge, or replace its weight and metadata."""

    async def record(self, events: Sequence[Event]) -> None:
        """Append to the audit log."""

    async def set_vectors(self, space: str, vectors: Mapping[str, NDArray[np.float32]]) -> None:
        """Store the vectors (one row a window) of memories; ids that are gone are passed over."""

    async def settle_index(self, indexed: Sequence[str], failed: Mapping[str, str]) -> None:
        """End the claim on memories: done, or failed for a reason (an empty reason only gives the claim back)."""

    async def touch(self, ids: Sequence[str], at: datetime) -> None:
        """Count an access of each memory."""

    async def erase(self, ids: Sequence[str]) -> Erased:
        """Remove memories with their words, names, times, vectors, relations and the content of their events."""


class Store(Protocol):
    """An engine."""

    def reading(self, bank: str) -> Reader:
        """The bank, to read. A bank that does not exist is empty and is not made."""

    def transaction(self, scope: Scope) -> AbstractAsyncContextManager[Tx]:
        """The scope's bank, to change; made when it does not exist."""

    async def claim_index(self, holder: str, bank: str | None, settings: WriteSettings) -> list[Due]:
        """A batch of memories that lack a vector, newest first, leased to ``holder``.

        Of one bank if it is named, else of any. None that another holds, or that failed too often.
        """

    async def give_back(self, gone: Callable[[str], bool]) -> None:
        """End the claims of holders that are gone; what they held was tried once."""

    async def use_spaces(self, spaces: Sequence[Space]) -> int:
        """Make these the spaces every memory is to have a vector in; returns how many memories lack one now."""

    async def spaces(self) -> list[Space]:
        """The known embedding spaces, oldest first, present and past."""

    async def due(self, attempts: int) -> int:
        """How many memories of any bank lack a vector and were tried fewer than ``attempts`` times."""

    async def check(self) -> list[str]:
        """What is wrong with the stored data: nothing, when all is well."""

    async def close(self) -> None:
        """Let go of files and connections."""
