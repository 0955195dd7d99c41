"""Asks every question of a set and turns what came back into the numbers of a result."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any, Final, Protocol

from hindsight_memory.evals.datasets import DataSet, Group, Question
from hindsight_memory.evals.metrics import (
    Bin,
    auroc,
    bootstrap,
    calibration_error,
    hit_at,
    percentile,
    recall_at,
    reciprocal_rank,
    reliability,
    session_recall_at,
    stale_first,
)

TOP: Final = 20
"""Results asked for: as deep as the deepest measure looks."""
_CALIBRATED: Final = 10
"""Results of a question whose confidence is held against whether they were evidence."""

Progress = Callable[[str, int, int], None]
"""Told what is being done, how much of it is, and how much there is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """What a question brought: ids of the data, best first, each with its confidence where there is such a thing.

    ``passed`` are those that the gate lets through.
    """

    ids: tuple[str, ...]
    confidences: tuple[float, ...] = ()
    passed: frozenset[str] = frozenset()
    millis: float
    embed_millis: float = 0.0


class Ranker(Protocol):
    """Something that can be asked: the memory itself, or a baseline."""

    async def __call__(self, data: str, group: Group, question: Question, *, foreign: bool) -> Ranking:
        """Ask a group of the set ``data``; the bounds of a ``foreign`` question, another group's, mean nothing here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question with what it brought from a group; ``foreign`` when it is another group's question.

    ``data`` is the name its figures are given under.
    """

    data: str
    group: str
    question: Question
    ranking: Ranking
    sessions: tuple[str | None, ...]
    foreign: bool = False

    @property
    def sure(self) -> float:
        """Confidence of the first result; 0 when nothing came."""
        return self.ranking.confidences[0] if self.ranking.confidences else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SetResult:
    """The figures of one set, as JSON has them; ``n`` is the number of questions with evidence."""

    name: str
    n: int
    metrics: Mapping[str, float]
    by: Mapping[str, Mapping[str, Mapping[str, float]]]
    latency_ms: Mapping[str, float | None]
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    reliability: tuple[Bin, ...] = ()
    groups: int = 0
    memories: int = 0
    memory_mb: float | None = None


async def ask_all(
    ranker: Ranker, data: DataSet, *, foreign: bool, progress: Progress, label: str
) -> AsyncIterator[Asked]:
    """Ask each group its own questions and, if ``foreign``, those of the other groups."""
    pairs = [(g, q, False) for g in data.groups for q in g.questions]
    if foreign:
        pairs += [(g, q, True) for g in data.groups for o in data.groups if o is not g for q in o.questions]
    sessions = {group.id: {item.id: item.session for item in group.items} for group in data.groups}
    for number, (group, question, other) in enumerate(pairs, 1):
        ranking = await ranker(data.name, group, question, foreign=other)
        yield Asked(
            data=label,
            group=group.id,
            question=question,
            ranking=ranking,
            sessions=tuple(sessions[group.id].get(each) for each in ranking.ids),
            foreign=other,
        )
        progress(f"{label}: asked", number, len(pairs))


def _recall(k: int) -> Callable[[Asked], float | None]:
    return lambda one: recall_at(one.ranking.ids, one.question.evidence, k) if one.question.evidence else None


def _hit(k: int) -> Callable[[Asked], float | None]:
    return lambda one: hit_at(one.ranking.ids, one.question.evidence, k) if one.question.evidence else None


def _rank(one: Asked) -> float | None:
    return reciprocal_rank(one.ranking.ids, one.question.evidence) if one.question.evidence else None


def _session_recall(k: int) -> Callable[[Asked], float | None]:
    def measured(one: Asked) -> float | None:
        wanted = one.question.sessions
        return session_recall_at(one.sessions, wanted, k) if wanted and not one.question.unanswerable else None

    return measured


def _gated_recall(one: Asked) -> float | None:
    if not one.question.evidence or not one.ranking.confidences:
        return None
    passed = [each for each in one.ranking.ids if each in one.ranking.passed]
    return recall_at(passed, one.question.evidence, TOP)


def _stale(one: Asked) -> float | None:
    stale = one.question.stale
    return stale_first(one.ranking.ids, one.question.evidence, stale) if stale else None


MEASURES: Final[Mapping[str, Callable[[Asked], float | None]]] = {
    **{f"recall@{k}": _recall(k) for k in (1, 5, 10, 20)},
    **{f"hit@{k}": _hit(k) for k in (1, 5, 10, 20)},
    "mrr": _rank,
    **{f"session_recall@{k}": _session_recall(k) for k in (5, 10)},
    "stale_first": _stale,
    f"gated_recall@{TOP}": _gated_recall,
}
"""Each measure of one question; ``None`` where it means nothing."""


def unit(name: str, value: float) -> float:
    """A figure as it is reported: shares in percent, MRR, AUROC and calibration error from 0 to 1."""
    return round(value, 3) if name in ("mrr", "ece") or name.endswith("auroc") else round(100 * value, 1)


def summarise(data: DataSet, asked: Sequence[Asked], *, name: str, timed: bool = True) -> SetResult:
    """The figures of a set: means over questions, never pooled with another set's."""
    own = [one for one in asked if not one.foreign]
    return SetResult(
        name=name,
        n=sum(bool(one.question.evidence) for one in own),
        metrics=_means(own) | _abstention(own) | _foreign(own, [one for one in asked if one.foreign]) | _error(own),
        by={"category": _by_category(own)},
        latency_ms=_latency(own if timed else []),
        intervals=_intervals(own),
        reliability=tuple(reliability(_pairs(own))),
        groups=len(data.groups),
        memories=sum(len(group.items) for group in data.groups),
        memory_mb=resident_mb(),
    )


def _values(asked: Sequence[Asked]) -> Iterator[tuple[str, list[tuple[str, float]]]]:
    for name, measure in MEASURES.items():
        measured = [(one.group, measure(one)) for one in asked]
        values = [(group, value) for group, value in measured if value is not None]
        if values:
            yield name, values


def _means(asked: Sequence[Asked]) -> dict[str, float]:
    return {name: unit(name, fmean(value for _, value in values)) for name, values in _values(asked)}


def _intervals(asked: Sequence[Asked]) -> dict[str, tuple[float, float]]:
    found = {}
    for name, values in _values(asked):
        groups: dict[str, list[float]] = defaultdict(list)
        for group, value in values:
            groups[group].append(value)
        between = bootstrap(groups)
        if between is not None:
            found[name] = (unit(name, between[0]), unit(name, between[1]))
    return found


def _by_category(asked: Sequence[Asked]) -> dict[str, dict[str, float]]:
    parts: dict[str, list[Asked]] = defaultdict(list)
    for one in asked:
        parts[one.question.category or "none"].append(one)
    return {
        name: {"n": sum(bool(one.question.evidence) for one in part), **_means(part)}
        for name, part in sorted(parts.items())
    }


def _abstention(own: Sequence[Asked]) -> dict[str, float]:
    """How well confidence tells questions that can be answered from those that cannot."""
    return _auroc("abstention_auroc", own, [one for one in own if one.question.unanswerable])


def _foreign(own: Sequence[Asked], foreign: Sequence[Asked]) -> dict[str, float]:
    """The same for questions of other groups, and the share of these of which anything passes the gate."""
    if not foreign:
        return {}
    passed = fmean(bool(one.ranking.passed) for one in foreign)
    return {**_auroc("foreign_auroc", own, foreign), "foreign_passed": unit("foreign_passed", passed)}


def _auroc(name: str, own: Sequence[Asked], unknown: Sequence[Asked]) -> dict[str, float]:
    if not any(one.ranking.confidences for one in own):
        return {}  # a baseline has none
    area = auroc([one.sure for one in own if one.question.evidence], [one.sure for one in unknown])
    return {} if area is None else {name: unit(name, area)}


def _pairs(own: Sequence[Asked]) -> list[tuple[float, bool]]:
    """Confidences of first results, with whether they were evidence; an unanswerable question's never were."""
    return [
        (confidence, each in one.question.evidence)
        for one in own
        if one.question.evidence or one.question.unanswerable
        for each, confidence in list(zip(one.ranking.ids, one.ranking.confidences, strict=False))[:_CALIBRATED]
    ]


def _error(own: Sequence[Asked]) -> dict[str, float]:
    error = calibration_error(reliability(_pairs(own)))
    return {} if error is None else {"ece": unit("ece", error)}


def _latency(asked: Sequence[Asked]) -> dict[str, float | None]:
    if not asked:
        return {"p50": None, "p95": None}
    whole = [one.ranking.millis for one in asked]
    embedding = [one.ranking.embed_millis for one in asked]
    times: dict[str, float | None] = {f"p{share}": round(percentile(whole, share), 2) for share in (50, 95)}
    if any(embedding):
        times |= {f"embed_p{share}": round(percentile(embedding, share), 2) for share in (50, 95)}
    return times


def line_of(one: Asked) -> dict[str, Any]:
    """A question as a line of the per-question file."""
    measured = {name: measure(one) for name, measure in MEASURES.items()} if not one.foreign else {}
    return {
        "set": one.data,
        "group": one.group,
        "id": one.question.id,
        "query": one.question.text,
        "category": one.question.category,
        "foreign": one.foreign,
        "unanswerable": one.question.unanswerable or one.foreign,
        "evidence": [] if one.foreign else one.question.evidence,
        "stale": [] if one.foreign else one.question.stale,
        "found": one.ranking.ids,
        "confidences": one.ranking.confidences,
        "ms": round(one.ranking.millis, 3),
        **{name: round(value, 4) for name, value in measured.items() if value is not None},
    }


def resident_mb() -> float | None:
    """The most memory this process has held so far, in MB; ``None`` where the system does not say (Windows)."""
    try:
        import resource  # noqa: PLC0415  # it is missing on Windows
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1 << 20 if sys.platform == "darwin" else 1 << 10), 1)
