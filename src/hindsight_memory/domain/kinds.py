"""What a memory, a draft, a status can be: the words every door and every row uses."""

from __future__ import annotations

from enum import StrEnum


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
    UNKNOWN = "unknown"


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


class Feedback(StrEnum):
    """What a memory turned out to be worth, in the eyes of who used it."""

    USED = "used"
    HELPFUL = "helpful"
    WRONG = "wrong"
    OUTDATED = "outdated"


class Moment(StrEnum):
    """Where in a task a search is made: it decides which kinds of memory come first."""

    TASK_START = "task_start"
    STUCK = "stuck"
    TASK_END = "task_end"


class Stop(StrEnum):
    """Why language models were asked no further: the time was up, the day's share is spent, or none answers."""

    TIME = "time"
    DAY = "day"
    MODEL = "model"


class JobState(StrEnum):
    """How far a language model is with a memory."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


class Handling(StrEnum):
    """What becomes of personal data and secrets when they are written."""

    MASK = "mask"
    REDACT = "redact"
    REJECT = "reject"
    VAULT = "vault"
    ALLOW = "allow"
