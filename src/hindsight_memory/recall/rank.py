"""From ranked candidates to results: fuse, weigh, gate; each number is kept so that it can be shown."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from hindsight_memory.domain import Factor, Hit, Memory, Share, Why, Window
from hindsight_memory.recall.plan import Plan
from hindsight_memory.recall.retrievers import Brought
from hindsight_memory.settings import RetentionSettings
from hindsight_memory.store.base import Scored
from hindsight_memory.strength import idle_days, retention

_SURE_COSINE: Final = 3.0
"""Deviations above the background at which a vector alone makes a hit as likely as not."""
_SURE_WORDS: Final = 0.35
"""Share of the query's weight in words at which words alone do."""
_IN_WINDOW: Final = 1.25
"""What happening in the span asked about is worth."""


@dataclass(frozen=True, slots=True)
class Found:
    """A candidate's id with what each signal gave it."""

    id: str
    shares: tuple[Share, ...]

    @property
    def score(self) -> float:
        """The shares together."""
        return math.fsum(share.amount for share in self.shares)


def fuse(lists: Mapping[str, Sequence[Scored]], weights: Mapping[str, float], k: int) -> list[Found]:
    """Reciprocal rank fusion: each list gives ``weight / (k + rank)``; best first, equal ones by id."""
    shares: dict[str, list[Share]] = defaultdict(list)
    for signal, ranked in lists.items():
        weight = weights[signal.partition(":")[0]]
        for rank, scored in enumerate(ranked, start=1):
            shares[scored.id].append(Share(signal, rank, scored.score, weight, weight / (k + rank)))
    found = [Found(memory_id, tuple(each)) for memory_id, each in shares.items()]
    return sorted(found, key=lambda each: (-each.score, each.id))


def weigh(
    found: Sequence[tuple[Found, Memory]], plan: Plan, brought: Brought, settings: RetentionSettings
) -> list[Hit]:
    """Multiply by recency, importance, trust, use and time; best first, equal ones by id."""
    hits = [_hit(each, memory, plan, brought, settings) for each, memory in found]
    return sorted(hits, key=lambda hit: (-hit.score, hit.memory.id))


def gate(hits: Sequence[Hit], floor: float) -> list[Hit]:
    """What is sure enough to be said."""
    return [hit for hit in hits if hit.confidence >= floor]


def _hit(found: Found, memory: Memory, plan: Plan, brought: Brought, settings: RetentionSettings) -> Hit:
    factors = tuple(_factors(memory, plan.now, plan.windows, settings))
    score = found.score * math.prod(factor.value for factor in factors)
    given = {share.signal for share in found.shares}
    absent = tuple(f"{signal}: did not bring this memory" for signal in brought.lists if signal not in given)
    sure = confidence(found.shares, {each.space: each.calibration for each in plan.embedders})
    return Hit(
        memory, score, sure, Why(_sentence(found.shares, factors), found.shares, factors, brought.inactive + absent)
    )


def _factors(memory: Memory, now: datetime, windows: Sequence[Window], settings: RetentionSettings) -> list[Factor]:
    kept = retention(memory, now, settings)
    uses = 1 - math.exp(-memory.access_count / 5)
    factors = [
        Factor("recency", 1 - settings.recency_span * (1 - kept), f"last used {idle_days(memory, now):.0f} days ago"),
        Factor("importance", 1 + settings.importance_span * (memory.importance - 0.5), f"{memory.importance:.2f}"),
        Factor("trust", 1 - settings.trust_span * (1 - memory.trust), f"{memory.trust:.2f}, from {memory.source}"),
        Factor("use", 1 + settings.use_span * uses, f"found {memory.access_count} times before"),
    ]
    within = next((w for w in windows if w.since <= memory.occurred_at < w.until), None)
    if within is not None:
        factors.append(Factor("time", _IN_WINDOW, f"happened in «{within.text}»"))
    return factors


def confidence(shares: Sequence[Share], calibration: Mapping[str, Mapping[str, float]]) -> float:
    """How sure we are that the memory answers the query, 0 to 1.

    A logistic of each signal's own measure, the cosine in deviations above its space's background, joined as
    independent evidence: ``1 - Π(1 - p)``.
    """
    doubt = 1.0
    for share in shares:
        signal, _, space = share.signal.partition(":")
        if signal == "words":
            doubt *= 1 - _logistic(10 * (share.value - _SURE_WORDS))
        background = calibration.get(space, {})
        if background.get("deviation"):
            above = (share.value - background["mean"]) / background["deviation"]
            doubt *= 1 - _logistic(1.5 * (above - _SURE_COSINE))
    return round(1 - doubt, 4)


def _logistic(x: float) -> float:
    return 1 / (1 + math.exp(-max(-50.0, min(50.0, x))))


_SAID: Final = {
    "words": "by its words (it holds {value:.0%} of the query's weight)",
    "vector": "by meaning (cosine {value:.3f})",
    "time": "by when it happened",
}


def _sentence(shares: Sequence[Share], factors: Sequence[Factor]) -> str:
    strongest = sorted(shares, key=lambda share: -share.amount)
    parts = [_said(share) for share in strongest]
    moved = [
        f"{factor.name} {factor.value:.2f} ({factor.because})" for factor in factors if round(factor.value, 2) != 1
    ]
    text = f"Found {' and '.join(parts)}"
    return f"{text}; then times {', '.join(moved)}." if moved else f"{text}."


def _said(share: Share) -> str:
    return f"{_ordinal(share.rank)} {_SAID[share.signal.partition(':')[0]].format(value=share.value)}"


def _ordinal(number: int) -> str:
    ending = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
