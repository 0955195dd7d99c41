"""``eval guard --fit``: makes the weights of the screen from one half of the items, and from nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from hindsight_memory.evals.asking import Progress
from hindsight_memory.evals.guard_items import EMBEDDED, FIT, OURS, PAYLOAD, Row
from hindsight_memory.guard.injection import length, measured
from hindsight_memory.guard.injection_reading import GRAMS, PAIRS, WORDS, Look, look
from hindsight_memory.guard.injection_signals import NAMES, prior
from hindsight_memory.guard.injection_weights import OWN, STRICT, Weights

_FOLDS: Final = 8
_ROUNDS: Final = 2
"""Times that it is asked anew which stretch of an attack is the bad one."""
_STEPS: Final = 40
"""Steps of each fit: it stops short of the last bit, which is one more hold."""
_HOLD: Final = {"signs": 0.5, "pairs": 0.1, "words": 0.06, "grams": 0.1}
"""How firmly each kind of weight is held to what it was before the data."""
_BOUNDS: Final[Mapping[str, Mapping[str, float]]] = {
    STRICT: {"benign": 0.05, "hard": 0.03, "ours": 0.045, "turn": 0.004},
    OWN: {"benign": 0.05, "hard": 0.03, "ours": 0.02, "turn": 0.0005},
}
"""False alarms at which the threshold is set, on what was kept aside in turn."""
_STEEPNESS: Final = 0.6
"""How fast the score rises from the threshold on: so slow that what is refused lies well beyond what waits."""
_BIAS: Final = -4.0
"""The suspicion of a text with nothing in it, before the data."""
_ATTACKS: Final = {"attack": 1.0, PAYLOAD: 1.0, EMBEDDED: 0.5}
_HARMLESS: Final = {"benign": 2.0, "hard": 2.0, "turn": 0.3}
"""What an attack, and what is harmless, counts."""
_VAGUE: Final = 0.3
"""What a stray task of ours counts besides, by its kind: only its place makes it an attack."""
_STRAY: Final = ("stray task", "question from nowhere")
_KINDS: Final = ("signs", "pairs", "words", "grams")
_SIZES: Final = {"signs": len(NAMES), "pairs": PAIRS, "words": WORDS, "grams": GRAMS}

Vector = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Case:
    row: Row
    looks: Sequence[Look]
    fold: int

    @property
    def kind(self) -> str:
        return OURS if self.row.source == OURS and self.row.label == "hard" else self.row.label


def fit(rows: Sequence[Row], progress: Progress) -> Mapping[str, Weights]:
    """The weights of both ways to judge, from the rows of the half for fitting alone; the same each time.

    A threshold is found on folds kept aside in turn and taken into the weights, so that it is 0.5 in the end.
    """
    cases = [_Case(row, look(row.text), _fold(row)) for row in rows if row.half == FIT]
    heads = {}
    for number, name in enumerate((STRICT, OWN)):
        used = [each for each in cases if name == STRICT or not _asks_only(each.row)]
        heads[name] = _head(used, _BOUNDS[name])
        progress("heads", number + 1, 2)
    return heads


def _asks_only(row: Row) -> bool:
    """Whether an attack is one only because a document says it: from the user it is an ordinary wish."""
    return row.label == PAYLOAD or (row.label == EMBEDDED and row.source != OURS)


def _fold(row: Row) -> int:
    """The fold of a row: what belongs together stays together."""
    base = row.id.split(" in ")[0].removesuffix("-attack").removesuffix("-harmless")
    return crc32(base.encode()) % _FOLDS


def _head(cases: Sequence[_Case], bounds: Mapping[str, float]) -> Weights:
    """The mean of what is fitted without each fold in turn, with the threshold that was found on those folds."""
    heights: dict[str, float] = {}
    found = []
    for fold in range(_FOLDS):
        weights = _fitted([each for each in cases if each.fold != fold])
        heights |= {each.row.id: _height(each, weights) for each in cases if each.fold == fold}
        found.append(weights)
    bias = float(np.mean([each.bias for each in found])) - _threshold(cases, heights, bounds)
    parts = (np.mean([getattr(each, kind) for each in found], axis=0) * _STEEPNESS for kind in _KINDS)
    return Weights(bias * _STEEPNESS, *(part.astype(np.float32) for part in parts))


def _height(case: _Case, weights: Weights) -> float:
    return max((float(measured(each, weights).max()) for each in case.looks if each.stretches), default=-20.0)


def _threshold(cases: Sequence[_Case], heights: Mapping[str, float], bounds: Mapping[str, float]) -> float:
    """The lowest height at which no kind of harmless text raises more alarms than it may."""
    found = -20.0
    for kind, share in bounds.items():
        alarms = [heights[each.row.id] for each in cases if each.kind == kind and not each.row.hostile]
        if alarms:
            found = max(found, float(np.quantile(alarms, 1 - share)))
    return found


def _fitted(cases: Sequence[_Case]) -> Weights:
    from scipy.optimize import minimize  # noqa: PLC0415  # an extra: only who fits needs it

    start = np.concatenate([[_BIAS], [prior(name) for name in NAMES], np.zeros(PAIRS + WORDS + GRAMS)])
    hold = np.concatenate([[0.0], *(np.full(_SIZES[kind], _HOLD[kind]) for kind in _KINDS)])
    weights = _of_vector(start)
    vector = start
    harmless = [each for each in cases if not each.row.hostile]
    for _ in range(_ROUNDS):
        table, signs, counts = _table(cases, harmless, weights)
        given = (table, table.T.tocsr(), signs, counts, start, hold)
        vector = minimize(_loss, vector, given, jac=True, method="L-BFGS-B", options={"maxiter": _STEPS}).x
        weights = _of_vector(vector)
    return weights


def _loss(  # noqa: PLR0913, PLR0917  # as scipy hands it over
    values: Vector, table: Any, transposed: Any, signs: Vector, counts: Vector, start: Vector, hold: Vector
) -> tuple[float, Vector]:
    """What logistic regression loses at these weights, held to those at the start; and its slope."""
    margins = signs * (table @ values)
    away = values - start
    slope = -signs * counts / (1 + np.exp(np.clip(margins, -30, 30)))
    total = counts @ np.logaddexp(0, -margins) + 0.5 * (hold * away) @ away
    return float(total), transposed @ slope + hold * away


def _table(cases: Sequence[_Case], harmless: Sequence[_Case], weights: Weights) -> tuple[Any, Vector, Vector]:
    """A row for the worst stretch of each attack and for every stretch of a harmless text."""
    from scipy.sparse import csr_matrix  # noqa: PLC0415  # an extra: only who fits needs it

    data: list[float] = []
    columns: list[int] = []
    ends = [0]
    signs: list[float] = []
    counts: list[float] = []

    def put(looked: Look, place: int, sign: float, count: float) -> None:
        for column, value in _measures(looked, place):
            columns.append(column)
            data.append(value)
        ends.append(len(data))
        signs.append(sign)
        counts.append(count)

    for case in cases:
        if case.row.hostile:
            found = _worst(case, weights)
            if found is not None:
                put(*found, 1.0, _ATTACKS[case.row.label] * (_VAGUE if case.row.category.startswith(_STRAY) else 1.0))
    for case in harmless:
        places = [(each, place) for each in case.looks for place in range(len(each.stretches))]
        for looked, place in places:
            put(looked, place, -1.0, _HARMLESS[case.row.label] / len(places) ** 0.5)
    shape = (len(signs), 1 + sum(_SIZES.values()))
    return csr_matrix((data, columns, ends), shape=shape), np.array(signs), np.array(counts)


def _worst(case: _Case, weights: Weights) -> tuple[Look, int] | None:
    """The stretch of an attack that looks worst, of those that hold a part of the payload where that is known."""
    best: tuple[float, Look, int] | None = None
    for looked in case.looks:
        if not looked.stretches:
            continue
        heights = measured(looked, weights)
        begin = looked.piece.text.find(case.row.hidden[:40]) if case.row.hidden else -1
        end = begin + len(case.row.hidden)
        for place, stretch in enumerate(looked.stretches):
            first, last = looked.shape.starts[stretch.first], looked.shape.ends[stretch.last - 1]
            if begin >= 0 and (last <= begin or first >= end):
                continue
            if best is None or heights[place] > best[0]:
                best = float(heights[place]), looked, place
    return None if best is None else best[1:]


def _measures(looked: Look, place: int) -> list[tuple[int, float]]:
    stretch = looked.stretches[place]
    share = 1 / float(length(np.array(stretch.last - stretch.first)))
    pairs = 1 + len(NAMES)
    words, grams = pairs + PAIRS, pairs + PAIRS + WORDS
    found = [(0, 1.0), *((1 + sign, 1.0) for sign in stretch.signs)]
    found += [(pairs + pair, share) for pair, at in looked.pairs if stretch.first <= at < stretch.last]
    found += [(words + word, share) for word in looked.words[stretch.first : stretch.last]]
    return found + [(grams + gram, share) for gram in looked.grams[stretch.first : stretch.last]]


def _of_vector(vector: Vector) -> Weights:
    bounds = np.cumsum([1, *(_SIZES[kind] for kind in _KINDS)])
    parts = [vector[low:high].astype(np.float32) for low, high in pairwise(bounds)]
    return Weights(float(vector[0]), *parts)
