"""What is answered: receipts, hits with their reasons, pages, contexts, reports."""

from __future__ import annotations

from dataclasses import dataclass

from hindsight_memory.domain.kinds import Action
from hindsight_memory.domain.records import Memory


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
