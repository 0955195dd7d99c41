"""What is answered: receipts, hits with their reasons, pages, contexts, reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime

from hindsight_memory.domain.kinds import Action, JobState, Kind, Source, Stop
from hindsight_memory.domain.records import Event, Memory, Relation, Window


@dataclass(frozen=True, slots=True)
class Finding:
    """What a guard saw in a text, and where: the ``field``, and offsets in its cleaned characters, end excluded.

    ``rule`` is the type of what was found, or the signal; ``note`` says what became of it.
    """

    rule: str
    start: int
    end: int
    note: str = ""
    field: str = "content"


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
    """What one signal contributed to a score; ``rank`` is 0 where its list did not hold the memory.

    ``weight`` is what this bank's feedback made of the signal: it is in ``amount`` already.
    """

    signal: str
    rank: int
    value: float
    amount: float
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Factor:
    """A number the fused score was multiplied by, and why it is what it is."""

    name: str
    value: float
    because: str


@dataclass(frozen=True, slots=True)
class Doubt:
    """What speaks against a memory when it is held against the others that were found with it.

    ``rule`` is ``contradiction``, ``otherwise`` (another answer to the question), ``authority``, ``demand``,
    ``deception`` or ``unconfirmed`` (only a document or tool says it of a person); ``against`` are the memories it is
    held against. What is ``withheld`` is left out of a context.
    """

    rule: str
    because: str
    against: tuple[str, ...] = ()
    withheld: bool = False


@dataclass(frozen=True, slots=True)
class Why:
    """Why a memory was found: ``score`` is the sum of the shares times the product of the factors.

    ``inactive`` names each signal that took no part and says why, ``doubts`` is what speaks against the memory.
    """

    sentence: str
    shares: tuple[Share, ...]
    factors: tuple[Factor, ...]
    inactive: tuple[str, ...] = ()
    doubts: tuple[Doubt, ...] = ()


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
class History:
    """What a memory replaced and what replaced it: its versions, the oldest first, the reasons, and its log."""

    versions: tuple[Memory, ...]
    relations: tuple[Relation, ...]
    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two memories that contradict each other and both still stand."""

    new: Memory
    old: Memory


@dataclass(frozen=True, slots=True)
class Citation:
    """What a number in brackets stands for in an answer to a context: the memory, and where it came from."""

    number: int
    memory_id: str
    source: Source
    source_ref: str | None
    occurred_at: datetime


@dataclass(frozen=True, slots=True)
class Context:
    """Memories as one prompt block, at most ``budget_tokens`` long; ``text`` is empty when nothing fits.

    ``citations`` say what the numbers of its lines stand for.
    """

    text: str
    tokens: int
    memory_ids: tuple[str, ...]
    citations: tuple[Citation, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """What a bank's feedback made of the ranking: a weight by signal, 1 for those it left alone.

    ``pairs`` is how many comparisons the weights rest on, ``fitted_at`` when they were made. Feedback up to
    ``since`` does not count: the ranking was reset then.
    """

    weights: Mapping[str, float] = field(default_factory=dict)
    pairs: int = 0
    fitted_at: datetime | None = None
    since: datetime | None = None


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """A search of every byte that the store keeps for texts that were removed; nothing is to be ``found``.

    Each of the ``samples`` was looked for in UTF-8 and UTF-16 in all ``files``. Where one was found, the database was
    ``compacted`` and searched again. ``note`` says what could not be done yet, and why. How many ``bytes`` there are is
    for who may ask the doctor.
    """

    files: int = 0
    bytes: int = 0
    samples: int = 0
    found: int = 0
    compacted: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class Erased:
    """What an erasure removed, counted, and the search for what may be left of it: the proof of a purge."""

    memories: int = 0
    words: int = 0
    vectors: int = 0
    relations: int = 0
    events: int = 0
    names: int = 0
    times: int = 0
    sessions: int = 0
    proof: Proof | None = None

    def counted(self) -> dict[str, int]:
        """The counts by their names."""
        return {each.name: getattr(self, each.name) for each in fields(self) if each.name != "proof"}


@dataclass(frozen=True, slots=True)
class Change:
    """What maintenance does to a memory, or would do, and why; ``what`` is the routine."""

    memory_id: str
    what: str
    why: str
    numbers: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Upkeep:
    """What one routine did in one user's bank, or would do.

    ``passed`` were planned and left alone, because they were used or changed in the meantime. ``stopped`` says why the
    routine did nothing, where it refused to. ``examples`` are the first of the changes.
    """

    user_id: str | None
    routine: str
    changes: int
    passed: int = 0
    stopped: str = ""
    examples: tuple[Change, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintainReport:
    """What a run of maintenance did, or would do: ``totals`` by routine, ``upkeep`` for each bank with something to do.

    ``more`` counts the lines of ``upkeep`` that were left out.
    """

    dry_run: bool
    banks: int
    totals: Mapping[str, int] = field(default_factory=dict)
    upkeep: tuple[Upkeep, ...] = ()
    more: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Concluded:
    """What consolidation did with one memory, or would do.

    ``action`` is ``made``, ``proposed``, ``changed``, ``retired`` or ``undone``. ``content`` is what the
    memory says, ``evidence`` what it rests on, ``support`` in how many sessions, or on how many days, that came up.
    """

    action: str
    memory_id: str
    kind: Kind
    content: str
    why: str = ""
    support: int = 0
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Consolidated:
    """What a run of consolidation did, or would do; ``run`` is its time, by which it can be undone.

    ``more`` counts the conclusions that were left out.
    """

    dry_run: bool
    run: datetime
    conclusions: tuple[Concluded, ...] = ()
    more: int = 0


@dataclass(frozen=True, slots=True)
class Line:
    """One event of a replay, with the memory it is about as far as the caller may see it."""

    event: Event
    memory: Memory | None = None


@dataclass(frozen=True, slots=True)
class Replay:
    """A page of what happened, oldest first; ``next`` is ``None`` on the last one."""

    lines: tuple[Line, ...]
    next: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What a suggestion rests on: the latest of the memories, newest first, and the counts.

    It happened ``times`` times in all, in the span of ``window``, and on ``met`` of the ``of`` latest occasions.
    ``p_value`` is how likely a habit as clear as this is to be found by chance, whatever else was tried included.
    """

    memory_ids: tuple[str, ...]
    times: int
    met: int
    of: int
    p_value: float
    window: Window


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """What usually happens soon: ``what`` is a line of its latest time, word for word, ``window`` when it is expected.

    ``memory_id`` is that latest time's memory, ``period`` says how it recurs or what it follows, ``confidence`` how
    likely it is this time.
    """

    what: str
    memory_id: str
    window: Window
    period: str
    confidence: float
    why: str
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A memory that a language model was to read, and why that went wrong; ``next`` is when it is tried again."""

    memory_id: str
    state: JobState
    attempts: int
    reason: str
    next: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Jobs:
    """How far language models are with a bank, in memories; ``latest`` are those with which something went wrong.

    ``retried`` is how many that had been given up were put back into the queue just now, ``read`` how many were read
    because that was asked for, and ``stopped`` why that came to an end before all were.
    """

    queued: int = 0
    running: int = 0
    done: int = 0
    failed: int = 0
    latest: tuple[Job, ...] = ()
    retried: int = 0
    read: int = 0
    stopped: Stop | None = None
