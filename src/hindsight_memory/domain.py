"""The nouns of the system: what is remembered, asked, found and reported; no I/O."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Final
from urllib.parse import quote, unquote

from hindsight_memory.check import Checked, Limits

SCHEMA_VERSION: Final = 1
"""Version of the memory record itself, kept with every record."""


class Kind(StrEnum):
    """What sort of knowledge a memory is."""

    WORKING = "working"
    EPISODIC = "episodic"
    SEMANTIC = "semantic"
    PROCEDURAL = "procedural"


class Source(StrEnum):
    """Who a memory comes from."""

    USER = "user"
    AGENT = "agent"
    TOOL = "tool"
    DOCUMENT = "document"
    SYSTEM = "system"


class Visibility(StrEnum):
    """Which agents of a user may see a memory."""

    SHARED = "shared"
    PRIVATE = "private"


class Outcome(StrEnum):
    """How what happened ended."""

    SUCCESS = "success"
    FAILURE = "failure"
    PENDING = "pending"


class Tier(StrEnum):
    """How close at hand a memory is kept."""

    HOT = "hot"
    WARM = "warm"
    COLD = "cold"


class Status(StrEnum):
    """Whether a memory stands."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"
    QUARANTINED = "quarantined"
    DELETED = "deleted"


class RelationType(StrEnum):
    """How one memory bears on another."""

    SUPERSEDES = "supersedes"
    CONTRADICTS = "contradicts"
    DERIVED_FROM = "derived_from"
    SUPPORTS = "supports"
    FOLLOWS = "follows"
    DEPENDS_ON = "depends_on"
    MENTIONS = "mentions"


class Action(StrEnum):
    """What became of a draft."""

    ADDED = "added"
    DUPLICATE = "duplicate"
    SUPERSEDES = "supersedes"
    CONTRADICTS = "contradicts"
    QUARANTINED = "quarantined"
    REJECTED = "rejected"


class Wait(StrEnum):
    """How much of a write to wait for: the durable record, or its vector too."""

    STORED = "stored"
    INDEXED = "indexed"


class Role(StrEnum):
    """Who speaks in a conversation."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    TOOL = "tool"


@dataclass(frozen=True, kw_only=True)
class Who(Checked):
    """Whose memory is meant, and who acts: the part of a scope that a caller says.

    ``user_id=None`` is the namespace's shared bank. ``agent_id`` is who writes or asks, ``session_id`` the
    conversation or task run it happens in.
    """

    user_id: str | None = field(default="default", metadata=Limits(least=1, most=200))
    agent_id: str | None = field(default=None, metadata=Limits(least=1, most=200))
    session_id: str | None = field(default=None, metadata=Limits(least=1, most=200))


@dataclass(frozen=True, kw_only=True)
class Scope(Who):
    """A caller's part of a scope within its namespace, the tenant. Namespace and user name the bank."""

    namespace: str = field(default="default", metadata=Limits(least=1, most=200))

    @property
    def bank(self) -> str:
        """The bank's id; two scopes have the same only when namespace and user are equal.

        Percent-encoding leaves no ``/`` in either part, so joining them cannot collide.
        """
        return f"{quote(self.namespace, safe='')}/{quote(self.user_id or '', safe='')}"

    @classmethod
    def of_bank(cls, bank: str) -> Scope:
        """The scope that a bank's id stands for."""
        namespace, _, user = bank.partition("/")
        return cls(namespace=unquote(namespace), user_id=unquote(user) if user else None)


@dataclass(frozen=True, kw_only=True)
class Draft(Checked):
    """What a caller asks to remember; ``relations`` are edges from it, each ``TYPE:TARGET`` with an id or a name."""

    content: str = field(metadata=Limits(least=1, most=100_000, prose=True))
    kind: Kind = Kind.SEMANTIC
    key: str | None = field(default=None, metadata=Limits(least=1, most=200))
    tags: tuple[str, ...] = field(default=(), metadata=Limits(most=200, items=50))
    metadata: Mapping[str, Any] = field(default_factory=dict)
    source: Source = Source.USER
    source_ref: str | None = field(default=None, metadata=Limits(most=2_000))
    visibility: Visibility = Visibility.SHARED
    importance: float = field(default=0.5, metadata=Limits(least=0, most=1))
    pinned: bool = False
    speaker: str | None = field(default=None, metadata=Limits(most=200))
    occurred_at: datetime | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    expires_at: datetime | None = None
    outcome: Outcome | None = None
    task: str | None = field(default=None, metadata=Limits(most=2_000))
    tools: tuple[str, ...] = field(default=(), metadata=Limits(most=200, items=50))
    relations: tuple[str, ...] = field(default=(), metadata=Limits(least=1, most=200, items=50))


@dataclass(frozen=True, kw_only=True)
class Message(Checked):
    """One turn of a conversation, as its host kept it.

    ``id`` is the host's own id, where it has one: the same id in the same session is the same turn.
    """

    content: str = field(metadata=Limits(least=1, most=100_000, prose=True))
    role: Role = Role.USER
    speaker: str | None = field(default=None, metadata=Limits(most=200))
    occurred_at: datetime | None = None
    id: str | None = field(default=None, metadata=Limits(most=500))
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """One stored record. Changed only through the store, which checks ``version``.

    ``turn`` is the place in its session, counted from 0. ``context_only`` marks a turn kept for what
    its neighbours mean and never found by itself (a greeting, an acknowledgement).
    """

    id: str
    bank_id: str
    content: str
    content_hash: str
    kind: Kind
    created_at: datetime
    occurred_at: datetime
    agent_id: str | None = None
    session_id: str | None = None
    turn: int | None = None
    speaker: str | None = None
    context_only: bool = False
    visibility: Visibility = Visibility.SHARED
    key: str | None = None
    summary: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    source: Source = Source.USER
    source_ref: str | None = None
    trust: float = 1.0
    importance: float = 0.5
    pinned: bool = False
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    expires_at: datetime | None = None
    outcome: Outcome | None = None
    task: str | None = None
    tools: tuple[str, ...] = ()
    last_accessed_at: datetime | None = None
    access_count: int = 0
    tier: Tier = Tier.HOT
    status: Status = Status.ACTIVE
    deleted_at: datetime | None = None
    version: int = 1
    superseded_by: str | None = None
    schema_version: int = SCHEMA_VERSION


@dataclass(frozen=True, kw_only=True)
class Filter(Checked):
    """Which memories are meant. What is not given does not restrict; ``tags`` must all be present.

    ``session`` and ``agent`` are where and by whom it was written, ``except_session`` a session left out. ``since``
    and ``until`` bound ``occurred_at`` (``until`` is excluded). ``as_of`` answers from what was valid at that moment.
    ``metadata`` must be equal, value by value, at the top level.
    """

    kinds: tuple[Kind, ...] = ()
    tags: tuple[str, ...] = field(default=(), metadata=Limits(most=200, items=50))
    key: str | None = field(default=None, metadata=Limits(least=1, most=200))
    session: str | None = field(default=None, metadata=Limits(least=1, most=200))
    except_session: str | None = field(default=None, metadata=Limits(least=1, most=200))
    agent: str | None = field(default=None, metadata=Limits(least=1, most=200))
    since: datetime | None = None
    until: datetime | None = None
    as_of: datetime | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Query(Filter):
    """What is asked of a bank: ``zone`` is where dates in it are read, ``spaces`` what embeddings are searched."""

    text: str = field(metadata=Limits(least=1, most=100_000, prose=True))
    limit: int = field(default=10, metadata=Limits(least=1, most=200))
    zone: str | None = field(default=None, metadata=Limits(least=1, most=100, zone=True))
    spaces: tuple[str, ...] = field(default=(), metadata=Limits(most=200, items=4))


@dataclass(frozen=True, kw_only=True)
class Listing(Filter):
    """A page of memories, newest first; ``after`` is the ``next`` of the page before."""

    status: Status = Status.ACTIVE
    limit: int = field(default=50, metadata=Limits(least=1, most=1_000))
    after: str | None = field(default=None, metadata=Limits(most=200))


@dataclass(frozen=True, kw_only=True)
class Changes(Checked):
    """What an update may change; what is ``None`` stays as it is."""

    content: str | None = field(default=None, metadata=Limits(least=1, most=100_000, prose=True))
    key: str | None = field(default=None, metadata=Limits(least=1, most=200))
    tags: tuple[str, ...] | None = field(default=None, metadata=Limits(most=200, items=50))
    metadata: Mapping[str, Any] | None = None
    importance: float | None = field(default=None, metadata=Limits(least=0, most=1))
    pinned: bool | None = None
    occurred_at: datetime | None = None
    valid_until: datetime | None = None
    expires_at: datetime | None = None
    outcome: Outcome | None = None
    version: int | None = field(default=None, metadata=Limits(least=1, most=2**53))

    def given(self) -> dict[str, Any]:
        """The fields to change; ``version`` is a condition, not one of them."""
        return {f.name: v for f in fields(self) if f.name != "version" and (v := getattr(self, f.name)) is not None}


@dataclass(frozen=True, slots=True)
class Finding:
    """What a guard saw in a text, and where (character offsets, end excluded)."""

    rule: str
    start: int
    end: int
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What became of a draft. ``id`` is the stored memory's, ``related`` the memories it met."""

    id: str
    action: Action
    created: bool
    indexed: bool = False
    version: int = 1
    related: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class Window:
    """A span of time, ``until`` excluded; ``text`` is the phrase it was read from."""

    since: datetime
    until: datetime
    text: str = ""


@dataclass(frozen=True, slots=True)
class Share:
    """What one signal contributed to a score; ``rank`` is 0 where its list did not hold the memory."""

    signal: str
    rank: int
    value: float
    amount: float


@dataclass(frozen=True, slots=True)
class Factor:
    """A number the fused score was multiplied by, and why it is what it is."""

    name: str
    value: float
    because: str


@dataclass(frozen=True, slots=True)
class Why:
    """Why a memory was found: ``score`` is the sum of the shares times the product of the factors.

    ``inactive`` names each signal that took no part and says why.
    """

    sentence: str
    shares: tuple[Share, ...]
    factors: tuple[Factor, ...]
    inactive: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory that may answer a query, how well, how surely, why; ``sure`` if the best confidence passes the gate."""

    memory: Memory
    score: float
    confidence: float
    why: Why
    sure: bool = True


@dataclass(frozen=True, slots=True)
class Page:
    """A page of memories; ``next`` is ``None`` on the last one."""

    memories: tuple[Memory, ...]
    next: str | None = None


@dataclass(frozen=True, slots=True)
class Context:
    """Memories as one prompt block, at most ``budget_tokens`` long; ``text`` is empty when nothing fits."""

    text: str
    tokens: int
    memory_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """A typed edge from one memory to another memory or to an entity's name."""

    type: RelationType
    from_id: str
    to_id: str
    created_at: datetime
    weight: float = 1.0
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One line of the audit log: who did what to which memory, when, why, with what numbers."""

    id: str
    bank_id: str
    at: datetime
    actor: str
    verb: str
    memory_id: str | None = None
    reason: str = ""
    detail: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Skipped:
    """A part of an imported file that was not stored, where it stands and why."""

    where: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """What an import did: sessions and turns read, stored anew, known already, skipped."""

    format: str
    sessions: int
    turns: int
    created: int
    known: int
    skipped: tuple[Skipped, ...] = ()


@dataclass(frozen=True, slots=True)
class Check:
    """One line of a health report: what was looked at, whether it is well, and what to do if not."""

    name: str
    ok: bool
    note: str
    hint: str = ""


def new_id(now: datetime) -> str:
    """A UUIDv7 (RFC 9562 §5.7) for ``now``; sub-millisecond bits keep ids of one process in order."""
    micros = int(now.timestamp() * 1_000_000)
    millis, rest = divmod(micros, 1_000)
    value = (millis & (1 << 48) - 1) << 80 | 0x7 << 76 | (rest * 4096 // 1_000) << 64
    value |= 0b10 << 62 | secrets.randbits(62)
    text = f"{value:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def utc_now() -> datetime:
    """The time; passed in as the clock, never called in a decision."""
    return datetime.now(UTC)
