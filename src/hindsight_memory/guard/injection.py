"""How much a text looks like poison: an attempt to steer the assistant, or to claim an authority it has not."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hindsight_memory.domain import Finding, Source
from hindsight_memory.guard.injection_reading import Look, Stretch, look
from hindsight_memory.guard.injection_signals import NAMES
from hindsight_memory.guard.injection_weights import OWN, STRICT, Weights, shipped
from hindsight_memory.guard.suspicion import Suspicion

_OWN: Final = frozenset({Source.USER, Source.AGENT, Source.SYSTEM})
_NOTICED: Final = 0.3
"""Score from which it is told what was seen."""
_MOST_TOLD: Final = 20
_WORDING: Final = "wording"
"""What is told where no sign has a name: the words together."""
_SHORT: Final = 6
"""Words as many as which a shorter stretch counts."""


def weigh(text: str, source: Source = Source.DOCUMENT) -> Suspicion:
    """How suspicious a text is, from 0 to 1, and by what; from 0.5 it should wait for a person.

    Never raises, and its time grows with the length of the text.

    Args:
        text: What is to be stored.
        source: Who says it. The user's own words, and the agent's, are judged more mildly.
    """
    return suspicion_of(text, shipped()[OWN if source in _OWN else STRICT])


def suspicion_of(text: str, weights: Weights) -> Suspicion:
    """How suspicious a text is by these weights: as much as the worst stretch of it."""
    found = [_worst(each, weights) for each in look(text) if each.stretches]
    if not found:
        return Suspicion()
    height, looked, stretch = max(found, key=lambda each: each[0])
    score = _probability(height)
    return Suspicion(score, _told(looked, stretch, weights) if score >= _NOTICED else ())


def _worst(looked: Look, weights: Weights) -> tuple[float, Look, Stretch]:
    heights = measured(looked, weights)
    place = int(heights.argmax())
    return float(heights[place]), looked, looked.stretches[place]


def measured(looked: Look, weights: Weights) -> NDArray[np.float32]:
    """The suspicion of each stretch of a piece, on the scale of the weights."""
    said = np.zeros(len(looked.words) + 1, dtype=np.float32)
    said[1:] = weights.words.take(looked.words) + weights.grams.take(looked.grams)
    if looked.pairs:
        pairs, places = np.array(looked.pairs, dtype=np.intp).T
        np.add.at(said, places + 1, weights.pairs.take(pairs))
    words = np.asarray(looked.words)
    said[2:][words[1:] == words[:-1]] = 0.0  # a word said again at once says nothing more
    upto = said.cumsum(dtype=np.float64)
    first = np.array([each.first for each in looked.stretches])
    last = np.array([each.last for each in looked.stretches])
    signs = np.array([weights.signs.take(each.signs).sum() if each.signs else 0.0 for each in looked.stretches])
    heights: NDArray[np.float32] = (upto[last] - upto[first]) / length(last - first) + signs + weights.bias
    return heights


def length(words: NDArray[np.intp]) -> NDArray[np.float64]:
    """What the sum over so many words is divided by."""
    divisor: NDArray[np.float64] = np.sqrt(np.maximum(words, _SHORT))
    return divisor


def _probability(height: float) -> float:
    return round(1 / (1 + math.exp(-max(min(height, 30.0), -30.0))), 4)


def _told(looked: Look, stretch: Stretch, weights: Weights) -> tuple[Finding, ...]:
    """The signs that speak against a text, in their order; its words together where none does."""
    told = [each for each in looked.seen if weights.signs[NAMES.index(each.name)] > 0]
    if not told:
        start, end = looked.shape.starts[stretch.first], looked.shape.ends[stretch.last - 1]
        return (Finding(_WORDING, *looked.piece.span(start, end)),)
    ordered = sorted({(each.start, each.end, each.name) for each in told})
    return tuple(Finding(name, start, end) for start, end, name in ordered[:_MOST_TOLD])
