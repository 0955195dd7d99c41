"""What a memory must beat: plain BM25, plain vectors, and the two fused, with nothing known about the data."""

from __future__ import annotations

import re
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from hindsight_memory.errors import InvalidInput
from hindsight_memory.evals.asking import TOP, Progress, Ranking
from hindsight_memory.evals.banks import Kept
from hindsight_memory.evals.datasets import DataSet, Group, Item, Question

Baseline: TypeAlias = Literal["bm25", "vector", "hybrid-plain"]

BASELINES: Final[tuple[str, ...]] = get_args(Baseline)
_K1: Final = 1.2
_B: Final = 0.75
_RRF_K: Final = 60
_FUSED: Final = 100
_BATCH: Final = 32
_WORD: Final = re.compile(r"\w+")
_HAN: Final = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")

Scores: TypeAlias = NDArray[np.float64]


def words(text: str) -> Iterator[str]:
    """Lower-case words, Chinese ones cut by a dictionary; no stems, no stop list."""
    # Loading the dictionary takes 0.15 s, which English data should not pay.
    for found in _WORD.findall(text.lower()):
        if _HAN.search(found):
            from rjieba import cut  # noqa: PLC0415

            yield from cut(found)
        else:
            yield found


class Words:
    """Okapi BM25 over the contents of a group, k1 = 1.2, b = 0.75.

    ``Σ idf(w) · tf · (k1 + 1) / (tf + k1 · (1 - b + b · length / mean length))`` with
    ``idf = ln(1 + (N - n + ½) / (n + ½))``. Robertson and Zaragoza (2009).
    """

    def __init__(self, items: Sequence[Item]) -> None:
        counts = [Counter(words(item.content)) for item in items]
        lengths = np.array([sum(count.values()) for count in counts], np.float64)
        self._size = len(items)
        mean = lengths.mean() if len(items) and lengths.any() else 1.0
        self._norm = _K1 * (1 - _B + _B * lengths / mean)
        held: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for place, count in enumerate(counts):
            for word, times in count.items():
                held[word].append((place, times))
        self._postings = {word: np.array(entries) for word, entries in held.items()}

    def scores(self, text: str) -> Scores:
        """The score of every item."""
        total = np.zeros(self._size)
        for word, asked in Counter(words(text)).items():
            entries = self._postings.get(word)
            if entries is None:
                continue
            places, times = entries[:, 0], entries[:, 1]
            idf = np.log(1 + (self._size - len(entries) + 0.5) / (len(entries) + 0.5))
            total[places] += asked * idf * times * (_K1 + 1) / (times + self._norm[places])
        return total


def best(scores: Scores, items: Sequence[Item], allowed: NDArray[np.bool_], limit: int) -> list[int]:
    """Places of the highest scores among those allowed, equal ones by id."""
    places = [int(place) for place in np.flatnonzero(allowed)]
    return sorted(places, key=lambda place: (-scores[place], items[place].id))[:limit]


def fused(lists: Sequence[Sequence[int]], items: Sequence[Item], limit: int) -> list[int]:
    """Reciprocal rank fusion, ``Σ 1 / (60 + rank)``: Cormack, Clarke and Buettcher (2009)."""
    scores: dict[int, float] = defaultdict(float)
    for ranked in lists:
        for rank, place in enumerate(ranked, 1):
            scores[place] += 1 / (_RRF_K + rank)
    return sorted(scores, key=lambda place: (-scores[place], items[place].id))[:limit]


@dataclass(slots=True)
class BaselineRanker:
    """Asks a baseline, under the same bounds as the memory is asked under."""

    kind: Baseline
    embedder: Kept | None = None
    _words: dict[tuple[str, str], Words] = field(default_factory=dict)
    _vectors: dict[tuple[str, str], NDArray[np.float32]] = field(default_factory=dict)

    async def prepare(self, sets: Sequence[DataSet], progress: Progress) -> None:
        """Index every group before anything is timed."""
        if self.kind != "bm25" and self.embedder is None:
            hint = "Set HINDSIGHT_MEMORY_EMBEDDER, or take --baseline bm25."
            raise InvalidInput(f"{self.kind} needs an embedding model.", hint=hint, field="baseline")
        for data in sets:
            total, done = sum(len(group.items) for group in data.groups), 0
            for group in data.groups:
                if self.kind != "vector":
                    self._words[data.name, group.id] = Words(group.items)
                if self.embedder is None or self.kind == "bm25":
                    continue
                parts = []
                for start in range(0, len(group.items), _BATCH):
                    batch = [item.content for item in group.items[start : start + _BATCH]]
                    parts.append(await self.embedder.passages(batch))
                    progress(f"{data.name}: embedded", done + start + len(batch), total)
                done += len(group.items)
                empty = np.zeros((0, self.embedder.dimension), np.float32)
                self._vectors[data.name, group.id] = np.concatenate(parts) if parts else empty

    async def __call__(self, data: str, group: Group, question: Question, *, foreign: bool) -> Ranking:
        """See ``Ranker``."""
        before, begun = self._embedding(), time.perf_counter()
        allowed = np.array([foreign or may_be_found(item, question) for item in group.items], np.bool_)
        lists = []
        if (by_words := self._words.get((data, group.id))) is not None:
            scores = by_words.scores(question.text)
            lists.append(best(scores, group.items, allowed & (scores > 0), _FUSED))
        if self.embedder is not None and (vectors := self._vectors.get((data, group.id))) is not None:
            cosines: Scores = (vectors @ (await self.embedder.queries([question.text]))[0]).astype(np.float64)
            lists.append(best(cosines, group.items, allowed, _FUSED))
        places = fused(lists, group.items, TOP)  # of one list, its own order
        return Ranking(
            ids=tuple(group.items[place].id for place in places),
            millis=1_000 * (time.perf_counter() - begun),
            embed_millis=1_000 * (self._embedding() - before),
        )

    def _embedding(self) -> float:
        return 0.0 if self.embedder is None else self.embedder.seconds


def may_be_found(item: Item, question: Question) -> bool:
    """Whether the bounds of a question let an item be found; one without a time is not known to be old enough."""
    if question.not_from is not None and item.session == question.not_from:
        return False
    until = question.known_until
    return until is None or (item.at is not None and item.at <= until)
