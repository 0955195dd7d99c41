"""What is kept: memories, the edges between them, and the log of what was done to them."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from hindsight_memory.domain.kinds import Kind, Outcome, RelationType, Source, Status, Tier, Visibility

SCHEMA_VERSION: Final = 1
"""Version of the memory record itself, kept with every record."""


EXTRACTED_FROM: Final = "extracted_from"
"""In the metadata of a memory that was read off a turn: the turn's id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """One stored record. Changed only through the store, which checks ``version``.

    ``turn`` is the place in its session, counted from 0. ``context_only`` marks a turn kept for what
    its neighbours mean and never found by itself (a greeting, an acknowledgement). ``helpful`` and ``doubted`` count
    the verdicts of ``feedback`` that moved it, ``judged_at`` is when the last of them came.
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
    helpful: int = 0
    doubted: int = 0
    judged_at: datetime | None = None
    tier: Tier = Tier.HOT
    status: Status = Status.ACTIVE
    deleted_at: datetime | None = None
    version: int = 1
    superseded_by: str | None = None
    schema_version: int = SCHEMA_VERSION


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
class Window:
    """A span of time, ``until`` excluded; ``text`` is the phrase it was read from."""

    since: datetime
    until: datetime
    text: str = ""


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
