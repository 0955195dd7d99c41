"""Boosted trees, fitted elsewhere: a sum of small decision trees, read from a file and taken apart by measure."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Table = NDArray[np.float32]
"""One row a candidate, one column a measure; NaN where a measure has nothing to say."""


@dataclass(frozen=True, slots=True)
class Trees:
    """Trees over named measures, all their nodes in one line.

    A tree is walked from its root, one of ``roots``. A node looks at the column ``measure``; a value up to ``bound``
    leads to the first of its two ``children``, a larger one to the second, a missing one to the first where ``blank``
    is 0. A leaf leads to itself. ``value`` is what a node says by itself: a leaf's is the tree's answer, an inner
    node's the mean of the answers below it in the data the trees were fitted on.
    """

    measures: tuple[str, ...]
    roots: NDArray[np.int32]
    measure: NDArray[np.int32]
    bound: NDArray[np.float32]
    blank: NDArray[np.int32]
    children: NDArray[np.int32]
    value: NDArray[np.float64]
    depth: int

    @property
    def base(self) -> float:
        """What the trees say before they have looked at anything: their roots together."""
        return float(self.value[self.roots].sum())

    def __call__(self, table: Table) -> NDArray[np.float64]:
        """The answer for each row of a table whose columns are ``measures``."""
        *_, places = self._walk(table)
        total: NDArray[np.float64] = self.value.take(places).sum(axis=1)
        return total

    def shares(self, table: Table) -> NDArray[np.float64]:
        """What each measure did to the answer of each row; with ``base`` they sum to it.

        On its way down, a tree's value changes at each node; the change is owed to the measure the node looked at
        (Saabas, «Interpreting random forests», 2014).
        """
        width = len(self.measures)
        cells = np.arange(len(table), dtype=np.int32)[:, None] * width
        given = np.zeros(len(table) * width)
        for before, after in pairwise(self._walk(table)):
            moved = self.value.take(after) - self.value.take(before)
            looked = cells + self.measure.take(before)
            given += np.bincount(looked.ravel(), moved.ravel(), minlength=len(given))
        return given.reshape(len(table), width)

    def _walk(self, table: Table) -> Iterator[NDArray[np.int32]]:
        """The node that each row stands at in each tree, level by level, the roots first."""
        # Missing values are put below or above every bound, in two copies of the table: a node reads the one that
        # sends them where it wants them.
        missing = np.isnan(table)
        both = np.hstack([np.where(missing, -np.inf, table), np.where(missing, np.inf, table)]).ravel()
        column = self.measure + self.blank * len(self.measures)
        rows = np.arange(len(table), dtype=np.int32)[:, None] * (2 * len(self.measures))
        places = np.broadcast_to(self.roots, (len(table), len(self.roots)))
        yield places
        for _ in range(self.depth):
            above = both.take(rows + column.take(places)) > self.bound.take(places)
            places = self.children.take(2 * places + above)
            yield places


@cache
def shipped(name: str) -> Trees:
    """The trees of this name that come with the program."""
    return parse((files("hindsight_memory.recall") / "weights" / f"{name}.json").read_text(encoding="utf-8"))


def parse(text: str) -> Trees:
    """Trees from the JSON that ``hindsight_memory.evals.fit`` writes: a list of nodes a tree, the root first.

    A node is ``[value]``, or ``[value, measure, bound, low, high, blank]`` with the places of its children in its tree:
    for small and equal values, for larger ones, for missing ones.
    """
    held = json.loads(text)
    roots = np.cumsum([0, *map(len, held["trees"])], dtype=np.int32)[:-1]
    nodes = [
        (start, place, *node, *([0, np.inf, place, place, place] if len(node) == 1 else []))
        for start, tree in zip(roots.tolist(), held["trees"], strict=True)
        for place, node in enumerate(tree)
    ]
    start, _, value, measure, bound, low, high, blank = (np.array(column) for column in zip(*nodes, strict=True))
    return Trees(
        measures=tuple(held["measures"]),
        roots=roots,
        measure=measure.astype(np.int32),
        bound=bound.astype(np.float32),
        blank=(blank != low).astype(np.int32),
        children=np.stack([start + low, start + high], axis=1).ravel().astype(np.int32),
        value=value.astype(np.float64),
        depth=held["depth"],
    )
