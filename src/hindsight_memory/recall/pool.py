"""The candidates of one query with what is known of them: their memories, vectors, and what each retriever said."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hindsight_memory.domain import Memory
from hindsight_memory.recall.plan import Plan
from hindsight_memory.recall.retrievers import Brought
from hindsight_memory.store.base import Scored, Vector

Column = NDArray[np.float64]


@dataclass(frozen=True)
class Pool:
    """Candidates in a fixed order: ``memories[i]`` is row ``i`` of every column below.

    ``vectors`` are those of the memories in one embedding space, by id; ``space`` names it, ``None`` where no model
    answered.
    """

    plan: Plan
    brought: Brought
    memories: Sequence[Memory]
    space: str | None
    vectors: Mapping[str, Vector]

    def __len__(self) -> int:
        return len(self.memories)

    @cached_property
    def place(self) -> Mapping[str, int]:
        """Row by memory id."""
        return {memory.id: row for row, memory in enumerate(self.memories)}

    def beside(self, column: Column, step: int) -> Column:
        """For each candidate, the column's value at the turn ``step`` places later; NaN where that is no candidate."""
        return np.append(column, np.nan)[self._beside[step]]

    @cached_property
    def _beside(self) -> Mapping[int, NDArray[np.int64]]:
        """Rows of the turns up to two places away; one past the last row where that turn is no candidate."""
        turns = [(memory.bank_id, memory.session_id, memory.turn) for memory in self.memories]
        rows = {turn: row for row, turn in enumerate(turns) if None not in turn}
        return {
            step: np.array(
                [
                    len(self) if turn is None else rows.get((bank, session, turn + step), len(self))
                    for bank, session, turn in turns
                ],
                np.int64,
            )
            for step in (-2, -1, 1, 2)
        }

    @cached_property
    def sessions(self) -> NDArray[np.int64]:
        """A number for each candidate's session; a memory outside any is alone in its own."""
        numbers: dict[str, int] = {}
        names = [f"{memory.bank_id}\0{memory.session_id or chr(0) + memory.id}" for memory in self.memories]
        return np.array([numbers.setdefault(name, len(numbers)) for name in names], np.int64)

    @cached_property
    def texts(self) -> Sequence[str]:
        """What each says, without case."""
        return [memory.content.casefold() for memory in self.memories]

    @cached_property
    def words_held(self) -> frozenset[str]:
        """Those of the question's words that stand in any candidate."""
        asked = {word for ask in self.plan.asks for word in ask.words}
        return frozenset(word for word in asked if any(word in text for text in self.texts))

    @cached_property
    def happened(self) -> Column:
        """When each happened, in seconds."""
        return np.array([memory.occurred_at.timestamp() for memory in self.memories])

    @cached_property
    def matrix(self) -> NDArray[np.float32]:
        """The vectors as rows; NaN where a candidate has none."""
        width = len(next(iter(self.vectors.values()))) if self.vectors else 1
        none = np.full(width, np.nan, np.float32)
        return np.array([self.vectors.get(memory.id, none) for memory in self.memories], np.float32)

    def scores(self, signal: str, absent: float = 0.0) -> Column:
        """What one retriever gave each candidate; ``absent`` where it did not bring it, NaN where it did not work."""
        return self._read(signal, lambda scored: scored.score, absent)

    def own(self, signal: str) -> Column:
        """What it gave each for itself."""
        return self._read(signal, lambda scored: scored.own, 0.0)

    def ranks(self, signal: str) -> NDArray[np.int64]:
        """The place each has in one retriever's list, from 1; 0 where it is not in it."""
        found = np.zeros(len(self), np.int64)
        for rank, scored in enumerate(self.brought.lists.get(signal, ()), start=1):
            if scored.id in self.place:
                found[self.place[scored.id]] = rank
        return found

    def blank(self) -> Column:
        """A column that says nothing."""
        return np.full(len(self), np.nan)

    def _read(self, signal: str, value: Callable[[Scored], float], absent: float) -> Column:
        if signal not in self.brought.lists:
            return self.blank()
        found = np.full(len(self), absent)
        for scored in self.brought.lists[signal]:
            if scored.id in self.place:
                found[self.place[scored.id]] = value(scored)
        return found


def joined(own: Pool, other: Pool) -> Pool:
    """The candidates of two banks as one pool, measured and ranked together.

    An id that one's own bank has is one's own memory's. A share of a question's words counts as much as its bank knows
    of them: holding the one word of a question that a small bank has is not to hold all of the question.
    """
    theirs = [memory for memory in other.memories if memory.id not in own.place]
    space = own.space if own.memories else other.space
    known = own.words_held | other.words_held
    scales = [len(each.words_held) / len(known) if known else 1.0 for each in (own, other)]
    lists: dict[str, list[Scored]] = {}
    for pool, scale in zip((own, other), scales, strict=True):
        for signal, ranked in pool.brought.lists.items():
            kept = ranked if pool is own else [each for each in ranked if each.id not in own.place]
            lists.setdefault(signal, []).extend(_scaled(kept, scale) if signal in _OF_WORDS else kept)
    return Pool(
        replace(own.plan, names=Counter(own.plan.names) + Counter(other.plan.names), beside=(other.plan.bank,)),
        Brought(
            {signal: sorted(ranked, key=lambda each: (-each.score, each.id)) for signal, ranked in lists.items()},
            tuple(note for note in own.brought.inactive if note in other.brought.inactive),
            {**other.brought.vectors, **own.brought.vectors},
        ),
        [*own.memories, *theirs],
        space,
        {memory: vector for pool in (other, own) if pool.space == space for memory, vector in pool.vectors.items()},
    )


_OF_WORDS: Final = frozenset({"words", "parts:words"})


def _scaled(ranked: Sequence[Scored], scale: float) -> list[Scored]:
    return [Scored(each.id, scale * each.score, scale * each.own) for each in ranked]
