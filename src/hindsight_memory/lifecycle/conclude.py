"""A conclusion held against what was concluded before: made, strengthened, weakened, made anew or retired."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any, Final

from hindsight_memory.domain import Kind, Memory, Outcome, Relation, RelationType, Source, Status, Visibility
from hindsight_memory.guard.trust import may_become_knowledge
from hindsight_memory.ingest.enrich import marks_of, owner_of, summary_for
from hindsight_memory.ingest.made import MADE_BY, is_made, made_hash, made_id
from hindsight_memory.lifecycle.bench import Bench, Made, Planned, planned
from hindsight_memory.lifecycle.derive import is_free, last_word

NAME: Final = "consolidate"
SUPPORT: Final = "support"
EVIDENCE: Final = "evidence"
_ALONE: Final = "importance_alone"
"""In the metadata of what somebody wrote and others support: its importance without them."""
_STEP: Final = 0.1
_SOURCES: Final = (Source.USER, Source.SYSTEM, Source.AGENT, Source.TOOL, Source.DOCUMENT, Source.UNKNOWN)
"""From the most to the least of a witness."""


@dataclass(frozen=True, slots=True)
class Times:
    """The sessions in which something came up, and the days."""

    sessions: frozenset[str] = frozenset()
    days: frozenset[date] = frozenset()

    @classmethod
    def of(cls, memories: Iterable[Memory]) -> Times:
        """When these were said or done."""
        held = list(memories)
        sessions = frozenset(each.session_id for each in held if each.session_id is not None)
        return cls(sessions, frozenset(each.occurred_at.date() for each in held))

    def __or__(self, other: Times) -> Times:
        return Times(self.sessions | other.sessions, self.days | other.days)

    @property
    def count(self) -> int:
        """How often it came up: what is said ten times in one talk came up once."""
        return max(len(self.sessions), len(self.days))


@dataclass(frozen=True, slots=True, kw_only=True)
class Conclusion:
    """Something that came up again and again, or too rarely to be sure (``holds`` is false, and ``why`` says so).

    ``content`` is word for word what ``quoted`` say, the first of them before others. ``evidence`` is all that speaks
    for it, ``standing`` what somebody has written that says it already, ``before`` what was concluded of it before.
    """

    holds: bool
    why: str
    kind: Kind = Kind.SEMANTIC
    content: str = ""
    quoted: Sequence[Memory] = ()
    evidence: Sequence[Memory] = ()
    times: Times = field(default_factory=Times)
    standing: Memory | None = None
    before: Sequence[Memory] = ()
    task: str | None = None
    tools: tuple[str, ...] = ()


async def settled(bench: Bench, conclusion: Conclusion) -> AsyncIterator[Planned]:
    """What is to be done about a conclusion; from what nobody vouches for nothing is concluded."""
    if conclusion.holds and not may_become_knowledge(conclusion.evidence, bench.settings.trust):
        conclusion = replace(conclusion, holds=False, why="nobody who says so is trusted enough")
    if not conclusion.holds:
        async for each in _given_up(bench, conclusion):
            yield each
    elif conclusion.standing is not None:
        for each in _strengthened(bench, conclusion, conclusion.standing, conclusion.before):
            yield each
    else:
        async for each in _concluded(bench, conclusion):
            yield each


async def _given_up(bench: Bench, conclusion: Conclusion) -> AsyncIterator[Planned]:
    if bench.propose:
        return
    for old in conclusion.before:
        # What somebody accepted is no longer only a conclusion.
        if not old.pinned and await last_word(old.id, bench.reader) not in {"restore", "update"}:
            yield planned(old, NAME, conclusion.why, {SUPPORT: conclusion.times.count})
    held = conclusion.standing
    if held is not None and is_supported(held):
        rest = {name: value for name, value in held.metadata.items() if name not in {SUPPORT, EVIDENCE, _ALONE}}
        values = {"metadata": rest, "importance": _alone(bench, held)}
        change = planned(held, NAME, conclusion.why, {SUPPORT: conclusion.times.count})
        yield replace(change, hides=False, made=Made(memory=held, values=values))


def _strengthened(
    bench: Bench, conclusion: Conclusion, held: Memory, instead_of: Sequence[Memory]
) -> Iterable[Planned]:
    """The changes that make a memory as important as what supports it; none where that is so already."""
    count, ours = conclusion.times.count, is_made(held, NAME) or is_supported(held)
    same = ours and held.metadata[SUPPORT] == count and not instead_of
    taken = not ours and {SUPPORT, EVIDENCE} & held.metadata.keys()  # its writer means something else by these
    if bench.propose or same or taken:
        return
    alone = _alone(bench, held)
    values: dict[str, Any] = {
        "metadata": {**held.metadata, SUPPORT: count, EVIDENCE: _ids(conclusion.evidence, bench)},
        "importance": max(alone, _importance(bench, count)),
    }
    if is_made(held, NAME):
        values["occurred_at"] = max(each.occurred_at for each in conclusion.evidence)
    else:
        values["metadata"][_ALONE] = alone
    edges = _edges(bench, held, conclusion)
    made = Made(memory=held, marks=marks_of(replace(held, **values)), values=values, edges=edges,
                instead_of=[(each.id, each.version) for each in instead_of])  # fmt: skip
    yield replace(planned(held, NAME, conclusion.why, {SUPPORT: count}), hides=False, made=made)


async def _concluded(bench: Bench, conclusion: Conclusion) -> AsyncIterator[Planned]:
    memory = _memory(bench, conclusion)
    kept = next((each for each in conclusion.before if each.content == memory.content), None)
    if kept is None and conclusion.kind is Kind.SEMANTIC:  # another of those who say it would do as well
        kept = next((each for each in conclusion.before if _is_quoted(each, conclusion)), None)
    others = [each for each in conclusion.before if each is not kept]
    if kept is not None:
        for change in _strengthened(bench, conclusion, kept, others):
            yield change
        return
    if (bench.propose and conclusion.before) or not await is_free(memory.id, bench.reader):
        return
    status = Status.QUARANTINED if bench.propose else Status.ACTIVE
    memory = replace(memory, status=status)
    made = Made(
        memory=memory,
        marks=marks_of(memory),
        sources={each.id: each.content for each in conclusion.quoted},
        edges=_edges(bench, memory, conclusion),
        instead_of=[(each.id, each.version) for each in others],
    )
    why = f"proposed: {conclusion.why}" if bench.propose else conclusion.why
    numbers = {SUPPORT: conclusion.times.count, "importance": memory.importance}
    yield replace(planned(memory, NAME, why, numbers), hides=False, made=made)


def _alone(bench: Bench, held: Memory) -> float:
    """What a memory is worth without its support; one that somebody has weighed anew since is worth what they say."""
    ours = is_made(held, NAME) or is_supported(held)
    if ours and held.importance == _importance(bench, held.metadata[SUPPORT]):
        return float(held.metadata.get(_ALONE, 0.0))
    return held.importance


def is_supported(memory: Memory) -> bool:
    """Whether a memory that somebody wrote is held more important because others support it."""
    return isinstance(memory.metadata.get(_ALONE), float | int) and isinstance(memory.metadata.get(SUPPORT), int)


def _is_quoted(made: Memory, conclusion: Conclusion) -> bool:
    return any(made.content in each.content for each in conclusion.evidence)


def _memory(bench: Bench, conclusion: Conclusion) -> Memory:
    first, evidence = conclusion.quoted[0], conclusion.evidence
    owner = owner_of(first)
    memory = Memory(
        id="",
        bank_id=bench.bank,
        content=conclusion.content,
        content_hash="",
        summary=summary_for(conclusion.content, bench.settings.write),
        kind=conclusion.kind,
        created_at=bench.now,
        occurred_at=max(each.occurred_at for each in evidence),
        valid_from=min(each.occurred_at for each in evidence),
        agent_id=owner,
        visibility=Visibility.SHARED if owner is None else Visibility.PRIVATE,
        speaker=first.speaker,
        metadata={MADE_BY: NAME, SUPPORT: conclusion.times.count, EVIDENCE: _ids(evidence, bench)},
        # No more of a witness than the weakest of those it rests on.
        source=max((each.source for each in conclusion.quoted), key=_SOURCES.index),
        trust=min(each.trust for each in evidence),
        importance=_importance(bench, conclusion.times.count),
        task=conclusion.task,
        tools=conclusion.tools,
        outcome=Outcome.SUCCESS if conclusion.kind is Kind.PROCEDURAL else None,
    )
    made = made_hash(memory)
    return replace(memory, id=made_id(made, first), content_hash=made)


def _importance(bench: Bench, support: int) -> float:
    limits = bench.settings.learning
    more = max(support - limits.support, 0)
    return round(min(limits.least_importance + _STEP * more, limits.most_importance), 4)


def _ids(evidence: Sequence[Memory], bench: Bench) -> list[str]:
    latest = sorted(evidence, key=lambda each: (each.occurred_at, each.id), reverse=True)
    return [each.id for each in latest[: bench.settings.learning.edges]]


def _edges(bench: Bench, memory: Memory, conclusion: Conclusion) -> list[Relation]:
    """Who supports a memory; and, where it was made, what it is read off: the two that quote it first among them."""
    named = [each for each in _ids(conclusion.evidence, bench) if each != memory.id]
    edges = [_edge(RelationType.SUPPORTS, each, memory.id, bench) for each in named]
    if is_made(memory, NAME):
        quoted = [each.id for each in conclusion.quoted[: bench.settings.learning.edges]]
        edges += [_edge(RelationType.DERIVED_FROM, memory.id, each, bench) for each in quoted]
    return edges


def _edge(kind: RelationType, start: str, end: str, bench: Bench) -> Relation:
    return Relation(type=kind, from_id=start, to_id=end, created_at=bench.now)


def kept_evidence(made: Memory, held: Mapping[str, Memory], seen: frozenset[str]) -> list[Memory]:
    """What a memory rested on and still stands, beyond what was looked at this time."""
    named = made.metadata.get(EVIDENCE)
    ids = [each for each in named if isinstance(each, str)] if isinstance(named, list) else []
    return [held[each] for each in ids if each in held and each not in seen]
