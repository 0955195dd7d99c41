"""From measured candidates to results: rank, rerank, weigh, gate; each number is kept to be shown."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hindsight_memory.domain import Factor, Hit, Memory, Share, Why
from hindsight_memory.models.base import ModelFailed, Reranker
from hindsight_memory.recall.pool import Column, Pool
from hindsight_memory.recall.signals import MEASURES, SIGNALS, deviations, measured
from hindsight_memory.recall.trees import Table, shipped
from hindsight_memory.settings import RerankSettings, RetentionSettings
from hindsight_memory.strength import idle_days, retention, verdict, verdict_said

_REREAD: Final = 20
"""Candidates that a reranker reads: it takes tens of milliseconds for each on a plain processor."""
_FLOOR: Final = 12.0
"""What every candidate starts with, so that no score is below 0 and factors always mean what they say."""
_NONE: Final[Mapping[str, Factor]] = MappingProxyType({})

_OWED: Final = (*SIGNALS, "question")
"""What a score is owed to: the signals, and what the question itself says of any answer."""
_BY_SIGNAL: Final = np.array([[float(each == signal) for each in _OWED] for signal in MEASURES.values()])


def rank(pool: Pool, most: int) -> list[Hit]:
    """The first ``most`` candidates by the sum of what the trees give them, best first, equal ones by id.

    What a signal gives is multiplied by the weight that the bank's feedback has taught it, where there is one.
    """
    if not len(pool):
        return []
    table = measured(pool)
    trees = shipped("rank")
    totals = trees(table)
    learnt = pool.plan.ranking.weights
    weights = np.array([learnt.get(signal, 1.0) for signal in _OWED])
    if learnt:
        totals = totals + trees.shares(table) @ _BY_SIGNAL @ (weights - 1)
    order = sorted(range(len(pool)), key=lambda row: (-totals[row], pool.memories[row].id))
    shown = order[:most]
    sure = 1 / (1 + np.exp(-shipped("confidence")(standing(table, totals, order)[: len(shown)])))
    amounts = trees.shares(table[shown]) @ _BY_SIGNAL * weights
    amounts[:, -1] += trees.base + max(_FLOOR, -totals.min())
    seen = _seen(pool)
    return [
        _hit(pool, row, _shares(amounts[place].tolist(), seen, row, learnt), round(float(sure[place]), 4))
        for place, row in enumerate(shown)
    ]


def standing(table: Table, totals: Column, order: Sequence[int]) -> Table:
    """What confidence is read from, for candidates in their order: the columns ``STANDING``.

    Only what means the same in a bank of three notes and in one of ten thousand turns: how much of the question a
    candidate holds, how near it is, how far the best stands out; then its place, and what it is behind the first and
    ahead of the next. How long or how recent a text is says which is the better one, and not whether any is right.
    """
    ranked = totals[list(order)]
    after = np.append(ranked[1:], ranked[-1:])
    stands = (np.arange(1, len(order) + 1), ranked - ranked[0], ranked - after)
    return np.hstack([table[np.ix_(order, _LOOKED_AT)], np.stack(stands, axis=1)]).astype(np.float32)


_EVIDENT: Final = (
    "words", "words_own", "words_gap", "said", "named", "numbers", "vector", "vector_gap", "inside", "outside",
    "best_words", "best_vector", "lead_vector", "asked_chinese",
)  # fmt: skip
_LOOKED_AT: Final = [list(MEASURES).index(name) for name in _EVIDENT]
STANDING: Final = (*_EVIDENT, "place", "behind", "ahead")
"""The columns of ``standing``."""


async def reranked(
    hits: Sequence[Hit], question: str, reranker: Reranker | None, settings: RerankSettings
) -> list[Hit]:
    """The best hits in the order of a model that reads them with the question; as they were when it fails or is slow.

    It orders the hits it reads among themselves; nothing is dropped, and its share says what it moved.
    """
    read, rest = list(hits[:_REREAD]), hits[_REREAD:]
    if reranker is None or len(read) < 2:
        return [*read, *rest]
    try:
        async with asyncio.timeout(settings.wait_s):
            scores = await reranker.scores(question, [hit.memory.content for hit in read])
    except (ModelFailed, TimeoutError) as error:
        note = f"rerank: {str(error) or 'it took too long'}"
        return [replace(hit, why=replace(hit.why, inactive=(*hit.why.inactive, note))) for hit in (*read, *rest)]
    order = sorted(range(len(read)), key=lambda place: (-scores[place], place))
    moved = [_moved(read[old], read[new].score, new + 1, scores[old]) for new, old in enumerate(order)]
    return [*moved, *rest]


def _moved(hit: Hit, score: float, rank: int, value: float) -> Hit:
    share = Share("rerank", rank, value, score - hit.score)
    return replace(hit, score=score, why=replace(hit.why, shares=(*hit.why.shares, share)))


def weigh(
    hits: Sequence[Hit], now: datetime, settings: RetentionSettings, further: Mapping[str, Factor] = _NONE
) -> list[Hit]:
    """Multiply by recency, importance, trust, use and feedback; best first, equal ones by id.

    ``further`` is a factor beside these, by memory.
    """
    weighed = [_weighed(hit, _factors(hit.memory, now, settings, further.get(hit.memory.id))) for hit in hits]
    return sorted(weighed, key=lambda hit: (-hit.score, hit.memory.id))


def gate(hits: Sequence[Hit], floor: float) -> list[Hit]:
    """The hits, all of them sure where the best confidence reaches the floor, and none otherwise."""
    sure = any(hit.confidence >= floor for hit in hits)
    return [replace(hit, sure=sure) for hit in hits]


def _hit(pool: Pool, row: int, shares: Sequence[Share], sure: float) -> Hit:
    brought = {share.signal for share in shares if share.rank}
    absent = tuple(
        f"{signal}: did not bring this memory"
        for signal in pool.brought.lists
        if signal not in brought and not signal.startswith("parts:")
    )
    shares = sorted(shares, key=lambda share: -abs(share.amount))
    why = Why("", tuple(shares), (), pool.brought.inactive + absent)
    return Hit(pool.memories[row], math.fsum(share.amount for share in shares), sure, why)


_LISTED: Final = ("words", "time", "graph", "resolution", "key")
_Seen = Mapping[str, tuple[str, Sequence[float], Sequence[int]]]
"""By signal: what its share is called, its own measure of each candidate, and the place each had in its list."""


def _seen(pool: Pool) -> _Seen:
    """What each signal's list says; of several embedding spaces the loudest speaks for meaning, the others beside it.

    Loudest is the one with the best candidate: where an old space is asked beside a new one, that may be either.
    """
    listed = {signal: (signal, pool.scores(signal), pool.ranks(signal)) for signal in _LISTED}
    spaces = sorted(pool.brought.vectors, key=lambda space: -_loudness(pool, space))
    for place, name in enumerate(f"vector:{space}" for space in spaces):
        listed[name if place else "vector"] = (name, pool.scores(name), pool.ranks(name))
    listed["parts"] = ("parts", pool.scores("parts:words"), _part_ranks(pool))
    return {
        signal: (name, np.nan_to_num(values).tolist(), ranks.tolist())
        for signal, (name, values, ranks) in listed.items()
    }


def _loudness(pool: Pool, space: str) -> float:
    return float(np.nan_to_num(deviations(pool, space), nan=-np.inf).max())


def _part_ranks(pool: Pool) -> NDArray[np.int64]:
    """The best place each has in a list of a question's parts; 0 where none holds it."""
    none = np.iinfo(np.int64).max
    best = np.full(len(pool), none)
    for signal in pool.brought.lists:
        if signal.startswith("parts:"):
            ranks = pool.ranks(signal)
            best = np.minimum(best, np.where(ranks > 0, ranks, none))
    return np.where(best < none, best, 0)


def _shares(amounts: Sequence[float], seen: _Seen, row: int, learnt: Mapping[str, float]) -> list[Share]:
    given = dict.fromkeys(seen, 0.0) | dict(zip(_OWED, amounts, strict=True))
    shares = []
    for signal, amount in given.items():
        name, values, ranks = seen.get(signal, (signal, None, None))
        value = 0.0 if values is None else values[row]
        rank = 0 if ranks is None else ranks[row]
        if amount or rank:
            shares.append(Share(name, rank, value, amount, learnt.get(signal, 1.0)))
    return shares


def _weighed(hit: Hit, factors: tuple[Factor, ...]) -> Hit:
    score = hit.score * math.prod(factor.value for factor in factors)
    sentence = _sentence(hit.why.shares, factors)
    return replace(hit, score=score, why=replace(hit.why, sentence=sentence, factors=factors))


def _factors(memory: Memory, now: datetime, settings: RetentionSettings, further: Factor | None) -> tuple[Factor, ...]:
    kept = retention(memory, now, settings)
    uses = 1 - math.exp(-memory.access_count / 5)
    factors = (
        Factor("recency", 1 - settings.recency_span * (1 - kept), f"last used {idle_days(memory, now):.0f} days ago"),
        Factor("importance", 1 + settings.importance_span * (memory.importance - 0.5), f"{memory.importance:.2f}"),
        Factor("trust", 1 - settings.trust_span * (1 - memory.trust), f"{memory.trust:.2f}, from {memory.source}"),
        Factor("use", 1 + settings.use_span * uses, f"found {memory.access_count} times before"),
        Factor("feedback", 1 + settings.feedback_span * verdict(memory), verdict_said(memory)),
    )
    return factors if further is None else (*factors, further)


_SAID: Final = {
    "words": "by its words (it holds {value:.0%} of the question's weight)",
    "vector": "by meaning (cosine {value:.3f})",
    "time": "by when it happened",
    "graph": "by what leads to it",
    "resolution": "as what solved its task",
    "key": "as the value of a key it asks for",
    "parts": "by a part of the question",
    "rerank": "by reading it with the question",
}
_MOVED: Final = {
    "surroundings": "what was said around it",
    "recency": "how recent it is",
    "names": "who and what it names",
    "feedback": "its likeness to the other findings",
    "form": "its form",
}
_TOLD: Final = 0.2
"""Least part of a score that is worth a word."""


def _sentence(shares: Sequence[Share], factors: Sequence[Factor]) -> str:
    found = [_said(share) for share in shares if share.rank]
    raised = [_MOVED[share.signal] for share in shares if share.signal in _MOVED and share.amount >= _TOLD]
    lowered = [_MOVED[share.signal] for share in shares if share.signal in _MOVED and share.amount <= -_TOLD]
    times = [
        f"{factor.name} {factor.value:.2f} ({factor.because})" for factor in factors if round(factor.value, 2) != 1
    ]
    parts = [
        f"found {' and '.join(found)}" if found else "",
        f"raised by {', '.join(raised)}" if raised else "",
        f"lowered by {', '.join(lowered)}" if lowered else "",
        f"then times {', '.join(times)}" if times else "",
    ]
    text = "; ".join(part for part in parts if part)
    return f"{text[:1].upper()}{text[1:]}."


def _said(share: Share) -> str:
    return f"{_ordinal(share.rank)} {_SAID[share.signal.partition(':')[0]].format(value=share.value)}"


def _ordinal(number: int) -> str:
    ending = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
