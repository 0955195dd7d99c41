"""The store contract: what the rest of the system may ask of any engine.

Every access goes through one bank: ``reading(bank)`` and ``transaction(bank)`` are the only ways to rows.
Words and names, not text, go in and out: the store knows no language.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, fields
from datetime import date, datetime
from enum import StrEnum
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hindsight_memory.domain import (
    Desk,
    Event,
    Filter,
    Jobs,
    Memory,
    Outcome,
    Ranking,
    Relation,
    Scope,
    Status,
    Tier,
    Window,
)
from hindsight_memory.store.keyring import KeyStore, KeyTx
from hindsight_memory.store.marks import Marks as Marks
from hindsight_memory.store.moved import MoveReader, MoveStore, MoveTx
from hindsight_memory.store.remains import ErasingStore, ErasingTx, LogReader
from hindsight_memory.store.screened import ScreenReader, ScreenTx

Vector = NDArray[np.float32]


@dataclass(frozen=True, kw_only=True)
class Where(Filter):
    """Which memories, seen by whom and when; the default is what a search may see.

    ``viewer`` is the asking agent: it sees shared memories and its own private ones. ``desk`` is the session that is
    asked from: what is findable leaves out working memory of any other. ``statuses`` is widened to
    superseded memories by the store when ``as_of`` is given.
    """

    now: datetime
    viewer: str | None = None
    desk: str | None = None
    statuses: tuple[Status, ...] = (Status.ACTIVE,)
    tiers: tuple[Tier, ...] = (Tier.HOT, Tier.WARM)
    findable: bool = True
    """Only what may be found by itself: not a greeting kept for context, not what is no longer valid or expired."""
    unexpired: bool = False
    """Only what has not expired, though it need not be findable."""
    ids: tuple[str, ...] | None = None
    tasks: tuple[str, ...] = ()
    outcome: Outcome | None = None
    doubted: bool = False
    trusted: float = 0.0
    """Only what is trusted so much at least."""

    @classmethod
    def of(cls, asked: Filter, **more: Any) -> Where:
        """What a caller's filter asks for, and what the system adds to it."""
        return cls(**{each.name: getattr(asked, each.name) for each in fields(Filter)}, **more)


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


class Stage(StrEnum):
    """What may still be done to a memory behind the write: its vector made, its text read by a language model."""

    INDEX = "index"
    READ = "read"


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """How work is claimed: at most ``batch`` at once, for ``lease_s``, nothing that was tried ``attempts`` times.

    ``since`` leaves out what was learnt before. What is to be read waits for its vector, until that was tried
    ``index_attempts`` times.
    """

    batch: int
    lease_s: float
    attempts: int
    since: datetime | None = None
    index_attempts: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Setback:
    """Why work on a memory did not come to its end, and whether that counts as a try.

    It is due again ``after`` a time, or at once; ``final`` gives it up, whatever was tried.
    """

    reason: str = ""
    tried: bool = True
    after: datetime | None = None
    final: bool = False


@dataclass(frozen=True, slots=True)
class Due:
    """A memory that has work waiting, the bank it stands in and how often it was tried."""

    bank: str
    memory: Memory
    attempts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Aged:
    """Memories whose time has come, whoever may see them: after ``since``, not after ``until``, where these are given.

    ``by`` says which time: ``expires`` the end that was named for what stands or stood, ``deleted`` when it was
    forgotten, ``used`` when an active memory of ``tier`` that nobody pinned was last found, or learnt.
    """

    by: Literal["expires", "deleted", "used"]
    since: datetime | None = None
    until: datetime | None = None
    tier: Tier | None = None


@dataclass(frozen=True, slots=True)
class Done:
    """When a routine was last done in a bank, and the place up to which it has looked."""

    at: datetime
    place: int = 0


@dataclass(frozen=True, slots=True)
class Talk:
    """A session as those see it that make episodes of it.

    ``turns`` is how many turns it has had, ``told`` how many of them were grouped, ``settled`` the first of those whose
    episode may still change. ``told`` is below 0, another number each time, when a turn was forgotten, brought back or
    corrected since: the whole session is to be grouped anew.
    """

    session_id: str
    turns: int
    told: int
    settled: int


Mark: TypeAlias = tuple[int, int]
"""Where a line of the log stands in the order of time: its time in microseconds, its number."""


@dataclass(frozen=True, slots=True)
class BankStats:
    """Counts of one bank."""

    memories: int
    unindexed: int
    vectors: Mapping[str, int]


class Reader(ScreenReader, LogReader, MoveReader, Protocol):
    """What may be read of one bank. Reading never writes."""

    async def get(self, ids: Sequence[str]) -> list[Memory]:
        """The memories with these ids, whatever their status, in the order asked; unknown ids are left out."""

    async def find(self, where: Where, limit: int, after: str | None = None) -> list[Memory]:
        """Memories by filter, newest id first, those before ``after`` only."""

    async def count(self, where: Where) -> int:
        """How many memories the filter lets through."""

    async def known(self, content_hash: str) -> Memory | None:
        """The memory with this content hash, whatever its status; the active one where there are several."""

    async def happened(self, said: str, at: datetime | None) -> Memory | None:
        """The event whose content hash begins with this and that happened then, or whenever: the active, the newest."""

    async def current(self, key: str, owner: str | None = None) -> Memory | None:
        """The most trusted active memory under this key, the newest of these: of the shared ones, or an agent's own."""

    async def record_of(self, memory: Memory, most: int) -> tuple[int, int]:
        """How many memories its writer has written, of the latest ``most``, and how many of these are in quarantine.

        The writer is its agent, or else its ``source_ref``, and what has neither is of one writer; of one source. The
        user has no record.
        """

    async def lessons(self, most: int) -> list[Memory]:
        """What was found to be false: the memories in quarantine that somebody called wrong, the latest first."""

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

    async def contradictions(self, where: Where, limit: int) -> list[tuple[str, str]]:
        """Pairs of ids, the later memory first, that contradict each other and that the filter both lets through."""

    async def events(self, memory_id: str | None, limit: int) -> list[Event]:
        """The newest events of the bank, or of one memory, newest first."""

    async def feedback(self, since: datetime | None, limit: int, actor: str | None = None) -> list[Event]:
        """The newest verdicts given in the bank after ``since``, by ``actor`` if one is named, newest first."""

    async def ranking(self) -> Ranking:
        """What feedback made of the bank's ranking."""

    async def desk(self, session_id: str) -> Desk:
        """A session's state as it was left, expired or not; an empty one where there is none."""

    async def working(self, session_id: str, limit: int) -> list[Memory]:
        """The working messages of a session, newest first, whatever their status and however old."""

    async def expired_sessions(self, now: datetime, limit: int) -> list[str]:
        """The sessions that were neither ended nor touched before they expired, the oldest first."""

    async def talks(self, before: datetime, limit: int, after: str = "") -> list[Talk]:
        """Sessions with turns that were not grouped yet, in the order of their ids, those behind ``after`` only.

        Of those that rest: the last turn was stored before ``before`` or the session has ended, and no message is left
        on its desk.
        """

    async def stats(self) -> BankStats:
        """Counts of the bank."""

    async def jobs(self, viewer: str | None, attempts: int, limit: int) -> Jobs:
        """How far language models are with what ``viewer`` sees of this bank, and what went wrong lately."""

    async def aged(self, asked: Aged, limit: int, after: Memory | None = None) -> list[Memory]:
        """Memories whose time has come, the longest due first, those behind ``after`` only."""

    async def sweep(self, after: int, limit: int) -> list[tuple[int, Memory]]:
        """Active memories, whoever may see them, in the order they were stored, each with its place, from ``after``."""

    async def last_event(self, after: int, actor: str, verbs: Sequence[str]) -> int:
        """The number of the latest event behind ``after`` that is none of these of this actor; 0 if there is none."""

    async def keyed(self, beginning: str, limit: int, after: str = "") -> list[Memory]:
        """Active and forgotten memories whose key begins so, whoever may see them, by id, those behind ``after``."""

    async def active(self) -> int:
        """How many memories are active."""

    async def alike(self, space: str, ids: Sequence[str], limit: int) -> Mapping[str, list[str]]:
        """The active memories nearest to each of these in one space, whoever may see them, at most ``limit`` each.

        None that was stored after the last of these: it finds them when it is asked about itself.
        """

    async def upkeep(self) -> Mapping[str, Done]:
        """What was last done here, by routine."""

    async def replay(
        self, span: Window, viewer: str | None, limit: int, after: Mark | None = None
    ) -> list[tuple[Mark, Event]]:
        """The events of a span in time order, those behind ``after`` only; none about others' private memories."""


class Tx(Reader, KeyTx, ScreenTx, ErasingTx, MoveTx, Protocol):
    """One unit of work on one bank: all of it is stored, or none."""

    async def next_turn(self, session_id: str, count: int) -> int:
        """Take the next ``count`` places in a session; returns the first."""

    async def take_desk(self, session_id: str) -> Desk:
        """``desk``, made where there is none, for this transaction alone until it ends."""

    async def put_desk(self, desk: Desk, now: datetime) -> None:
        """Store the state of a session that was taken; its messages that have not expired live as long as it."""

    async def add(self, memory: Memory, marks: Marks) -> None:
        """Store a memory and what it is found by."""

    async def change(self, memory: Memory, marks: Marks | None = None, **fields: Any) -> Memory:
        """Change fields of a memory, next version; ``marks`` replaces what it is found by.

        Raises ``Conflict`` when the stored version is not ``memory.version``.
        """

    async def change_all(self, memories: Sequence[Memory], **fields: Any) -> list[Memory]:
        """Change the same fields of several memories, as ``change`` does of one."""

    async def relate(self, relation: Relation) -> None:
        """Add an edge, or replace its weight and metadata."""

    async def record(self, events: Sequence[Event]) -> None:
        """Append to the audit log."""

    async def set_ranking(self, ranking: Ranking) -> None:
        """Keep what feedback made of the bank's ranking, in place of what it was."""

    async def set_vectors(self, space: str, vectors: Mapping[str, NDArray[np.float32]]) -> None:
        """Store the vectors (one row a window) of memories; ids that are gone are passed over."""

    async def settle(self, stage: Stage, done: Sequence[str], failed: Mapping[str, Setback]) -> None:
        """End the claim on memories whose work is done, or that failed. What has no work of that stage stays so."""

    async def retry(self, stage: Stage, attempts: int) -> int:
        """Make due again what was given up; returns how much that is."""

    async def touch(self, ids: Sequence[str], at: datetime) -> None:
        """Count an access of each memory."""

    async def set_tier(self, ids: Sequence[str], tier: Tier) -> None:
        """Keep these memories closer at hand, or farther off."""

    async def settle_upkeep(self, routine: str, done: Done) -> None:
        """Remember that a routine was done here."""

    async def tell(self, talk: Talk, told: int, settled: int) -> None:
        """Remember how far a session was grouped, unless one of its turns has changed since ``talk`` was read."""


class Store(KeyStore, ErasingStore, MoveStore, Protocol):
    """An engine."""

    def reading(self, bank: str) -> Reader:
        """The bank, to read. A bank that does not exist is empty and is not made."""

    def snapshot(self, bank: str) -> AbstractAsyncContextManager[Reader]:
        """The bank as it is now, to read: however long that takes, and whatever is written meanwhile."""

    def transaction(self, scope: Scope) -> AbstractAsyncContextManager[Tx]:
        """The scope's bank, to change; made when it does not exist."""

    async def claim(self, stage: Stage, holder: str, terms: Terms, bank: str | None = None) -> list[Due]:
        """A batch of memories that have work waiting, newest first, leased to ``holder``.

        Of one bank if it is named, else of any. None that another holds, or that failed too often.
        """

    async def renew(self, stage: Stage, holder: str, lease_s: float) -> None:
        """Go on holding what ``holder`` holds, for ``lease_s`` from now."""

    async def give_back(self, gone: Callable[[str], bool]) -> None:
        """End the claims of holders that are gone; what they held was tried once."""

    async def use_spaces(self, spaces: Sequence[Space]) -> int:
        """Make these the spaces every memory is to have a vector in; returns how many memories lack one now."""

    async def spaces(self) -> list[Space]:
        """The known embedding spaces, oldest first, present and past."""

    async def due(self, stage: Stage, terms: Terms, bank: str | None = None) -> int:
        """How many memories of any bank, or of this one, have work waiting or under way on these terms."""

    async def spend(self, day: date, tokens: int, memories: int) -> tuple[int, int]:
        """Add what language models took that day; returns what all processes together did, tokens and memories."""

    async def banks(self, namespace: str | None, after: str | None, limit: int) -> list[Scope]:
        """The banks of a namespace, or of all, in the order of their ids, those behind ``after`` only."""

    async def lead(self, role: str, holder: str, lease_s: float) -> str:
        """Take, or keep, a role that one process has at a time; returns who has it now."""

    async def resign(self, role: str, holder: str) -> None:
        """Give a role up, if ``holder`` has it."""

    async def check(self) -> list[str]:
        """What is wrong with the stored data: nothing, when all is well."""

    async def close(self) -> None:
        """Let go of files and connections."""
