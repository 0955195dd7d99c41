"""Boosted trees, fitted elsewhere: a sum of small decision trees, read from a file and taken apart by measure."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

Table = NDArray[np.float32]
"""One row a candidate, one column a measure; NaN where a measure has nothing to say."""


@dataclass(frozen=True, slots=True)
class Trees:
    """Trees over named measures, each node's arrays in one line a tree.

    ``measure`` is the column a node looks at, -1 at a leaf; ``bound`` sends smaller and equal values to ``low``, larger
    ones to ``high``, missing ones to ``blank``. ``value`` is what a node gives by itself: a leaf's is the tree's
    answer, an inner node's the mean of the answers below it in the data the trees were fitted on.
    """

    measures: tuple[str, ...]
    measure: NDArray[np.int64]
    bound: NDArray[np.float64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    blank: NDArray[np.int64]
    value: NDArray[np.float64]
    depth: int

    @property
    def base(self) -> float:
        """What the trees say before they have looked at anything: their roots together."""
        return float(self.value[:, 0].sum())

    def __call__(self, table: Table) -> NDArray[np.float64]:
        """The answer for each row of a table whose columns are ``measures``."""
        total: NDArray[np.float64] = self._walk(table)[-1].sum(axis=1)
        return total

    def shares(self, table: Table) -> NDArray[np.float64]:
        """What each measure did to the answer of each row; with ``base`` they sum to it exactly.

        On its way down, a tree's value changes at each node; the change is owed to the measure the node looked at
        (Saabas, «Interpreting random forests», 2014).
        """
        given = np.zeros((len(table), len(self.measures)))
        lines = np.arange(len(self.measure))
        rows = np.repeat(np.arange(len(table)), len(lines))
        places = np.zeros((len(table), len(lines)), np.int64)
        for before, after in zip(*self._pairs(table), strict=True):
            looked = self.measure[lines, places]
            np.add.at(given, (rows, np.maximum(looked, 0).ravel()), (after - before).ravel())
            places = self._next(table, places)
        return given

    def _pairs(self, table: Table) -> tuple[list[NDArray[np.float64]], list[NDArray[np.float64]]]:
        values = self._walk(table)
        return values[:-1], values[1:]

    def _walk(self, table: Table) -> list[NDArray[np.float64]]:
        """The value of the node each row stands at in each tree, level by level."""
        lines = np.arange(len(self.measure))
        places = np.zeros((len(table), len(lines)), np.int64)
        values = [self.value[lines, places]]
        for _ in range(self.depth):
            places = self._next(table, places)
            values.append(self.value[lines, places])
        return values

    def _next(self, table: Table, places: NDArray[np.int64]) -> NDArray[np.int64]:
        lines = np.arange(len(self.measure))
        looked = self.measure[lines, places]
        seen = table[np.arange(len(table))[:, None], np.maximum(looked, 0)]
        step = np.where(seen <= self.bound[lines, places], self.low[lines, places], self.high[lines, places])
        step = np.where(np.isnan(seen), self.blank[lines, places], step)
        return np.where(looked < 0, places, step)


@cache
def shipped(name: str) -> Trees:
    """The trees of this name that come with the program."""
    return parse((files("hindsight_memory.recall") / "weights" / f"{name}.json").read_text(encoding="utf-8"))


def parse(text: str) -> Trees:
    """Trees from the JSON that ``hindsight_memory.evals.fit`` writes: a list of nodes a tree, the root first.

    A node is ``[value]``, or ``[value, measure, bound, low, high, blank]`` with the places of its children.
    """
    held = json.loads(text)
    trees = held["trees"]
    shape = (len(trees), max(map(len, trees)))
    columns = {name: np.zeros(shape) for name in ("value", "measure", "bound", "low", "high", "blank")}
    columns["measure"] -= 1
    for line, nodes in enumerate(trees):
        for place, node in enumerate(nodes):
            for name, cell in zip(columns, node, strict=False):
                columns[name][line, place] = cell
    whole = {name: columns[name].astype(np.int64) for name in ("measure", "low", "high", "blank")}
    return Trees(tuple(held["measures"]), **whole, bound=columns["bound"], value=columns["value"], depth=held["depth"])
