"""The numbers of the walls: what comes in where a bank has no rule of its own, and how far it is believed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from hindsight_memory.domain import Handling


@dataclass(frozen=True, slots=True)
class GuardSettings:
    """What the guards at the write path do where a bank's own policy says nothing. See docs/guard.md."""

    personal: Handling = Handling.MASK
    """What becomes of personal data: phones, e-mail addresses, numbers of identity papers, cards and accounts."""
    secrets: Handling = Handling.REDACT
    """What becomes of keys, tokens and passwords."""
    rules: Mapping[str, Handling] = field(
        default_factory=lambda: MappingProxyType({"address": Handling.ALLOW, "access_code": Handling.ALLOW})
    )
    """Types that differ from their group: where somebody lives, and the number of a locker, is what a memory is for."""
    quarantine_at: float = 0.5
    """How suspicious a text must be to wait for a person; from 0 to 1."""
    reject_at: float = 0.9
    """How suspicious it must be to be refused."""
    vault_key: str = field(default="", repr=False)
    """What the vault is encrypted with: 32 bytes in URL-safe base64."""


@dataclass(frozen=True, slots=True)
class TrustSettings:
    """How far memories are believed beyond their source (``WriteSettings.trust``), and what that keeps out.

    See docs/trust.md.
    """

    suspicious_from: float = 0.3
    """Suspicion of the screen from which a text loses as much of its trust."""
    record_of: int = 100
    """A writer's latest memories that make its record, ..."""
    record_given: int = 3
    """... so many that held taken for granted, ..."""
    record_least: float = 0.5
    """... and what a bad record leaves of its trust at least."""
    claim_most: float = 0.3
    """How far a claim of permissions, credentials or policy is believed from whom nobody has named for that."""
    authorities: frozenset[str] = frozenset({"user", "system"})
    """Who is believed in that: a source, or one document or tool, such as ``document:handbook.pdf``."""
    corroborated_most: float = 0.75
    """What independent voices together make of the trust of outsiders: less than an agent's."""
    knowledge_least: float = 0.6
    """Trust, of one or of independent voices together, from which something is concluded from memories."""
    lessons: int = 200
    """The latest of what was found to be false that a new memory is held against."""
    compared: int = 100
    """Results of a search, the best, that are held against each other; 0 for none."""
    against: int = 6
    """Better trusted ones, the most trusted, that one of them is held against."""
    withheld_from: float = 0.25
    """How much less something must be trusted than what it contradicts to be left out of a prompt, not only marked."""
