"""The measures: pure functions, each with its formula and where it comes from."""

from __future__ import annotations

import random
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final

SEED: Final = 20_260_501
"""Of the bootstrap: the same data give the same interval."""
_DRAWS: Final = 1_000
_BINS: Final = 10


def recall_at(found: Sequence[str], evidence: Collection[str], k: int) -> float:
    """``|evidence ∩ top k| / |evidence|``: the share of the different pieces of evidence among the first k results.

    Manning, Raghavan and Schütze, «Introduction to Information Retrieval» (2008), §8.4. 0 where there is no evidence.
    """
    wanted = set(evidence)
    return len(wanted & set(found[:k])) / len(wanted) if wanted else 0.0


def hit_at(found: Sequence[str], evidence: Collection[str], k: int) -> float:
    """1 if at least one piece of evidence is among the first k results, else 0 (success@k)."""
    return float(not set(evidence).isdisjoint(found[:k]))


def reciprocal_rank(found: Sequence[str], evidence: Collection[str]) -> float:
    """``1 / rank`` of the first piece of evidence, 0 if none was found; its mean is MRR.

    Voorhees, «The TREC-8 Question Answering Track Report» (1999).
    """
    wanted = set(evidence)
    return next((1 / rank for rank, each in enumerate(found, 1) if each in wanted), 0.0)


def session_recall_at(found: Sequence[str | None], wanted: Collection[str], k: int) -> float:
    """``|sessions of the evidence ∩ sessions of the top k| / |sessions of the evidence|``.

    ``found`` is the session of each result. The measure LongMemEval (Wu et al., 2024) reports for its retrieval.
    """
    return recall_at([each or "" for each in found], wanted, k)


def stale_first(found: Sequence[str], evidence: Collection[str], stale: Collection[str]) -> float:
    """1 if a superseded memory ranks above the first piece of evidence, else 0; 0 is right.

    A superseded memory counts too where no evidence was found at all.
    """
    current, old = set(evidence), set(stale)
    first = next((each for each in found if each in current or each in old), None)
    return float(first is not None and first not in current)


def auroc(positives: Sequence[float], negatives: Sequence[float]) -> float | None:
    """Chance that a positive scores above a negative: the Mann–Whitney statistic, ties counted half.

    ``(#{p > n} + ½ #{p = n}) / (|P| · |N|)``. Hanley and McNeil, «The meaning and use of the area under a receiver
    operating characteristic (ROC) curve» (1982). ``None`` where one side is empty.
    """
    if not positives or not negatives:
        return None
    ordered = sorted(negatives)
    won = sum(bisect_left(ordered, each) + bisect_right(ordered, each) for each in positives)
    return won / (2 * len(positives) * len(negatives))


@dataclass(frozen=True, slots=True)
class Bin:
    """Results whose confidence lies from ``low`` to ``high``: how many, their mean confidence, the share right."""

    low: float
    high: float
    n: int
    confidence: float
    right: float


def reliability(pairs: Sequence[tuple[float, bool]], bins: int = _BINS) -> list[Bin]:
    """Confidences with whether they were right, in bins of equal width; empty bins are left out.

    The reliability diagram of DeGroot and Fienberg, «The comparison and evaluation of forecasters» (1983).
    """
    held: dict[int, list[tuple[float, bool]]] = {}
    for confidence, right in pairs:
        held.setdefault(min(int(confidence * bins), bins - 1), []).append((confidence, right))
    return [
        Bin(
            low=place / bins,
            high=(place + 1) / bins,
            n=len(inside),
            confidence=fmean(confidence for confidence, _ in inside),
            right=fmean(right for _, right in inside),
        )
        for place, inside in sorted(held.items())
    ]


def calibration_error(bins: Sequence[Bin]) -> float | None:
    """``Σ n_b / N · |right_b - confidence_b|``: the expected calibration error.

    Naeini, Cooper and Hauskrecht, «Obtaining Well Calibrated Probabilities Using Bayesian Binning» (2015).
    """
    total = sum(each.n for each in bins)
    return sum(each.n * abs(each.right - each.confidence) for each in bins) / total if total else None


def bootstrap(
    groups: Mapping[str, Sequence[float]], *, draws: int = _DRAWS, seed: int = SEED
) -> tuple[float, float] | None:
    """A 95 % interval of the mean over all questions: whole groups are drawn with replacement.

    The percentile bootstrap of Efron and Tibshirani, «An Introduction to the Bootstrap» (1993), §13.3, by cluster
    since questions about one person are alike. ``None`` for fewer than two groups: there is nothing to draw.
    """
    held = [(sum(values), len(values)) for values in groups.values() if values]
    if len(held) < 2:
        return None
    chance = random.Random(seed)  # noqa: S311  # a repeatable sample, no secret
    means = []
    for _ in range(draws):
        drawn = chance.choices(held, k=len(held))
        means.append(sum(total for total, _ in drawn) / sum(count for _, count in drawn))
    return percentile(means, 2.5), percentile(means, 97.5)


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which ``share`` percent of the values lie, between two of them by linear interpolation.

    Hyndman and Fan, «Sample Quantiles in Statistical Packages» (1996), type 7: what numpy gives.
    """
    ordered = sorted(values)
    place = (len(ordered) - 1) * share / 100
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)
