"""What feedback teaches the ranking of one bank: comparisons of what was judged, and a weight a signal fitted to them.

The fit is a logistic regression over pairs (as in Burges et al., «Learning to Rank using Gradient Descent», 2005, with
a linear model) with a ridge that holds every weight at 1: it moves a little at first, and never beyond its bounds.
Before that, one number is fitted: how far the feedback agrees with the ranking as it is. Noise and lies do not agree
with it, so they teach nothing.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hindsight_memory.domain import Event, Feedback, Hit, Ranking, new_id
from hindsight_memory.recall.signals import SIGNALS
from hindsight_memory.settings import FeedbackSettings
from hindsight_memory.store.base import Tx

_LOOKED_AT: Final = 2_000
"""Verdicts among which comparisons are looked for: most verdicts bring none."""
_STEPS: Final = 200
COMPARING: Final = {Feedback.HELPFUL: 1, Feedback.WRONG: -1}
"""Verdicts that say something about an order: whether a memory belongs ahead of its neighbours, or behind."""
_SCALES: Final = np.linspace(0, 2, 41)
_LARGEST: Final = 2.0
"""Largest difference of one signal that counts: no single verdict decides."""

Pair: TypeAlias = Mapping[str, float]
"""By signal, how much more it gave the memory that should be ahead."""


def pair_of(hits: Sequence[Hit], memory_id: str, verdict: Feedback, against: int) -> Pair | None:
    """What a verdict says about the signals, from the candidates of its query, best first; ``None`` when nothing.

    A helpful memory should be ahead of those around it, ``against`` on each side, and a wrong one behind them. Those
    above alone would make every signal look bad that put them there, also where the order is as good as it can be.
    """
    place = next((place for place, hit in enumerate(hits) if hit.memory.id == memory_id), None)
    if place is None or verdict not in COMPARING:
        return None
    others = [*hits[max(place - against, 0) : place], *hits[place + 1 : place + 1 + against]]
    if not others:
        return None
    sign = COMPARING[verdict]
    own, theirs = _given(hits[place]), [_given(hit) for hit in others]
    return {
        signal: round(sign * (own[signal] - math.fsum(each[signal] for each in theirs) / len(theirs)), 4)
        for signal in SIGNALS
    }


def _given(hit: Hit) -> Mapping[str, float]:
    """What each signal gave a hit, without the weight that feedback has taught it."""
    given = defaultdict[str, float](float)
    for share in hit.why.shares:
        given[share.signal.partition(":")[0]] += share.amount / share.weight
    return given


def fitted(pairs: Sequence[Pair], settings: FeedbackSettings) -> dict[str, float]:
    """The weight of each signal that the pairs ask for, within bounds; nothing where they are too few."""
    if len(pairs) < settings.least_pairs:
        return {}
    apart = np.array([[pair.get(signal, 0.0) for signal in SIGNALS] for pair in pairs]).clip(-_LARGEST, _LARGEST)
    apart *= _agreement(apart)
    weights = np.ones(len(SIGNALS))
    rate = 1 / (settings.ridge + np.square(apart).sum() / 4)  # no longer than the curvature allows
    for _ in range(_STEPS):
        missed = 1 / (1 + np.exp(apart @ weights))
        slope = settings.ridge * (weights - 1) - missed @ apart
        weights = (weights - rate * slope).clip(settings.least_weight, settings.most_weight)
    learnt = {signal: round(float(weight), 4) for signal, weight in zip(SIGNALS, weights, strict=True)}
    return learnt if set(learnt.values()) != {1.0} else {}


def _agreement(apart: NDArray[np.float64]) -> float:
    """How far the pairs follow the ranking as it is: 0 where they might as well be thrown."""
    misfit = np.logaddexp(0, -np.outer(_SCALES, apart.sum(axis=1))).sum(axis=1)
    return float(_SCALES[misfit.argmin()])


def pairs_of(events: Sequence[Event], settings: FeedbackSettings) -> list[Event]:
    """The verdicts that count for a fit, of those given, newest first.

    Of one memory and query the newest, and of one who judges so many a day: whoever says most does not decide.
    """
    kept: dict[tuple[str | None, str | None], Event] = {}
    given: Counter[tuple[str, str]] = Counter()
    for event in events:
        what, who = (event.memory_id, event.detail.get("query")), (event.actor, f"{event.at:%Y-%m-%d}")
        if event.detail.get("pair") and what not in kept and given[who] < settings.pairs_day:
            kept[what] = event
            given[who] += 1
    return list(kept.values())[: settings.most_pairs]


async def refit(
    tx: Tx, bank: str, now: datetime, settings: FeedbackSettings, actor: str, *, due_only: bool = True
) -> Ranking:
    """Fit the bank's ranking anew, as a rule only where enough was said since the last time; returns what it is then.

    Maintenance may call it as often as it likes: it reads a bounded number of events, and records what it changes.
    """
    held = await tx.ranking()
    pairs = pairs_of(await tx.feedback(held.since, _LOOKED_AT), settings)
    fresh = sum(held.fitted_at is None or each.at > held.fitted_at for each in pairs)
    if due_only and (len(pairs) < settings.least_pairs or fresh < settings.refit_every):
        return held
    weights = fitted([each.detail["pair"] for each in pairs], settings)
    found = replace(held, weights=weights, pairs=len(pairs), fitted_at=now)
    await tx.set_ranking(found)
    await tx.record([_event(held, found, bank, now, actor)])
    return found


async def start_over(tx: Tx, bank: str, now: datetime, actor: str) -> Ranking:
    """Drop what feedback made of the bank's ranking; what was said up to now does not count any more."""
    held, blank = await tx.ranking(), Ranking(since=now)
    await tx.set_ranking(blank)
    await tx.record([_event(held, blank, bank, now, actor)])
    return blank


def _event(old: Ranking, new: Ranking, bank: str, now: datetime, actor: str) -> Event:
    detail = {"before": dict(old.weights), "after": dict(new.weights), "pairs": new.pairs}
    return Event(id=new_id(now), bank_id=bank, at=now, actor=actor, verb="refit", detail=detail)
