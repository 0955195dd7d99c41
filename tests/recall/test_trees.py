"""Trees: the answer is that of a plain walk, and what is owed to each measure adds up to it."""

from __future__ import annotations

import json
import math
from functools import cache
from importlib.resources import files
from typing import Any, TypeAlias

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_memory.recall.rank import _FLOOR, STANDING
from hindsight_memory.recall.signals import MEASURES, SIGNALS
from hindsight_memory.recall.trees import Table, Trees, parse, shipped

Nodes: TypeAlias = list[list[float]]

NAN = math.nan
EIGHTHS = st.integers(-80, 80).map(lambda number: number / 8)
"""Numbers whose sums are exact."""
CELLS = st.sampled_from([-1.0, 0.0, 0.5, 1.0, 2.0, NAN])
WIDTH = 3


def trees_of(*trees: Nodes, depth: int = 4, measures: tuple[str, ...] = ("a", "b", "c")) -> Trees:
    return parse(json.dumps({"measures": measures, "depth": depth, "trees": trees}))


def table_of(*rows: list[float]) -> Table:
    return np.array(rows, np.float32).reshape(-1, WIDTH)


@st.composite
def tree(draw: st.DrawFn, depth: int = 4) -> Nodes:
    """A tree in the form of the file, the root first."""
    nodes: Nodes = []

    def grow(left: int) -> int:
        place = len(nodes)
        nodes.append([draw(EIGHTHS)])
        if left and draw(st.booleans()):
            low, high = grow(left - 1), grow(left - 1)
            bound = draw(CELLS.filter(math.isfinite))
            nodes[place] += [draw(st.integers(0, WIDTH - 1)), bound, low, high, draw(st.sampled_from([low, high]))]
        return place

    grow(depth)
    return nodes


def walked(nodes: Nodes, row: list[float]) -> float:
    """What one tree says of one row, in the plainest way."""
    place = 0
    while len(nodes[place]) > 1:
        _, measure, bound, low, high, blank = nodes[place]
        seen = row[int(measure)]
        place = int(blank if math.isnan(seen) else low if seen <= bound else high)
    return nodes[place][0]


FORESTS = st.lists(tree(), min_size=1, max_size=4)
ROWS = st.lists(st.lists(CELLS, min_size=WIDTH, max_size=WIDTH), max_size=5)


@given(forest=FORESTS, rows=ROWS)
def test_the_answer_is_that_of_a_plain_walk(forest: list[Nodes], rows: list[list[float]]) -> None:
    expected = [sum(walked(nodes, row) for nodes in forest) for row in rows]
    assert trees_of(*forest)(table_of(*rows)).tolist() == expected


@given(forest=FORESTS, rows=ROWS)
def test_base_and_shares_sum_to_the_answer_exactly(forest: list[Nodes], rows: list[list[float]]) -> None:
    trees, table = trees_of(*forest), table_of(*rows)
    shares = trees.shares(table)
    assert shares.shape == table.shape
    assert (trees.base + shares.sum(axis=1)).tolist() == trees(table).tolist()


@given(forest=FORESTS, rows=ROWS)
def test_a_measure_that_no_tree_looks_at_is_owed_nothing(forest: list[Nodes], rows: list[list[float]]) -> None:
    looked = {int(node[1]) for nodes in forest for node in nodes if len(node) > 1}
    shares = trees_of(*forest).shares(table_of(*rows))
    assert not shares[:, [column for column in range(WIDTH) if column not in looked]].any()


@given(forest=FORESTS, rows=ROWS)
def test_a_row_is_judged_by_itself(forest: list[Nodes], rows: list[list[float]]) -> None:
    trees = trees_of(*forest)
    assert trees(table_of(*rows)).tolist() == [trees(table_of(row)).item() for row in rows]


def test_each_step_is_owed_to_the_measure_it_looked_at() -> None:
    # a ≤ 1: 2; else b, missing like small ones: 7 or 11
    nodes: Nodes = [[4, 0, 1, 1, 2, 2], [2], [8, 1, 0, 3, 4, 3], [7], [11]]
    trees = trees_of(nodes)
    table = table_of([1, 5, 0], [2, 5, 0], [2, 0, 0], [2, NAN, 0], [NAN, NAN, NAN])
    assert trees.base == 4
    assert trees(table).tolist() == [2, 11, 7, 7, 7]
    assert trees.shares(table).tolist() == [[-2, 0, 0], [4, 3, 0], [4, -1, 0], [4, -1, 0], [4, -1, 0]]


@pytest.mark.parametrize("extreme", [np.inf, -np.inf, 1e38, -1e38])
def test_no_number_leads_out_of_a_tree(extreme: float) -> None:
    trees = trees_of([[0, 0, 0.5, 1, 2, 1], [-1], [1]], [[3]], depth=3)
    assert trees(table_of([extreme, 0, 0])).tolist() == [4 if extreme > 0 else 2]


# The trees that come with the program

MEASURED = {"rank": tuple(MEASURES), "confidence": STANDING}


@cache
def held(name: str) -> Any:
    path = files("hindsight_memory.recall") / "weights" / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", MEASURED)
def test_shipped_trees_know_the_measures_of_the_code(name: str) -> None:
    """A column that moved would be read as another: fit the weights anew when measures change."""
    assert shipped(name).measures == MEASURED[name]


def test_every_measure_belongs_to_a_signal_or_to_the_question() -> None:
    assert set(MEASURES.values()) == {*SIGNALS, "question"}


@pytest.mark.parametrize("name", MEASURED)
def test_shipped_trees_are_whole(name: str) -> None:
    file = held(name)
    for nodes in file["trees"]:
        below = [int(child) for node in nodes if len(node) > 1 for child in node[3:5]]
        assert sorted(below) == list(range(1, len(nodes))), "each node but the root has one way to it"
        assert deepest(nodes) <= file["depth"], "no walk ends before a leaf"
        for node in nodes:
            assert len(node) in (1, 6)
            assert all(map(math.isfinite, node))
            if len(node) > 1:
                assert 0 <= node[1] < len(file["measures"])
                assert node[5] in node[3:5]


def deepest(nodes: Nodes, place: int = 0) -> int:
    return 0 if len(nodes[place]) == 1 else 1 + max(deepest(nodes, int(child)) for child in nodes[place][3:5])


@pytest.mark.parametrize("name", MEASURED)
@given(seed=st.integers(0, 2**32 - 1))
def test_shipped_trees_say_what_a_plain_walk_says(name: str, seed: int) -> None:
    file, trees, numbers = held(name), shipped(name), np.random.default_rng(seed)
    table = numbers.normal(0, 10, (2, len(file["measures"]))).astype(np.float32)
    table[numbers.random(table.shape) < 0.3] = np.nan
    expected = [math.fsum(walked(nodes, row) for nodes in file["trees"]) for row in table.tolist()]
    assert trees(table) == pytest.approx(expected)
    assert trees.base + trees.shares(table).sum(axis=1) == pytest.approx(expected)


def test_no_score_is_below_zero_whatever_is_measured() -> None:
    """Factors multiply: below zero they would say the opposite of what they mean."""
    least = sum(min(node[0] for node in nodes if len(node) == 1) for nodes in held("rank")["trees"])
    assert least + _FLOOR >= 0
