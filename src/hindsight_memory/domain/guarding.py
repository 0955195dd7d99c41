"""What is asked of the guards about a bank, and what they answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from hindsight_memory.check import Checked, Limits
from hindsight_memory.domain.records import Memory
from hindsight_memory.domain.results import Finding


@dataclass(frozen=True, slots=True, kw_only=True)
class Policies:
    """What becomes of each type of personal data and secret in a bank; ``own`` are the rules that it has itself."""

    handling: Mapping[str, str]
    own: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Revealed:
    """A value out of the vault: what the policy kept apart, and its type."""

    vault_id: str
    type: str
    value: str = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class Scan(Checked):
    """A stretch of what is stored, to be screened again; ``dry_run`` only says what would be done.

    ``after`` is the ``next`` of the stretch before.
    """

    dry_run: bool = False
    limit: int = field(default=500, metadata=Limits(least=1, most=5_000))
    after: str | None = field(default=None, metadata=Limits(most=20))


@dataclass(frozen=True, slots=True, kw_only=True)
class Scanned:
    """What screening again did, or would do: ``found`` counts the types, ``next`` is ``None`` when all was looked at.

    ``memory_ids`` are the memories whose words were changed, ``quarantined`` those that now wait for a person,
    ``session_ids`` the sessions whose state was changed.
    """

    dry_run: bool
    looked: int
    found: Mapping[str, int] = field(default_factory=dict)
    memory_ids: tuple[str, ...] = ()
    quarantined: tuple[str, ...] = ()
    session_ids: tuple[str, ...] = ()
    next: str | None = None


@dataclass(frozen=True, kw_only=True)
class ReviewListing(Checked):
    """A page of what waits for a person, newest first; ``after`` is the ``next`` of the page before."""

    limit: int = field(default=50, metadata=Limits(least=1, most=200))
    after: str | None = field(default=None, metadata=Limits(most=200))


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A memory that waits for a person, and why: ``verb`` made it wait, by whom, when, and for which ``reasons``.

    ``suspicion`` and ``findings`` are what the screen sees in its text today.
    """

    memory: Memory
    verb: str
    actor: str
    at: datetime
    reasons: tuple[str, ...] = ()
    suspicion: float = 0.0
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class Review:
    """A page of memories that wait for a person; ``next`` is ``None`` on the last one."""

    held: tuple[Held, ...]
    next: str | None = None
