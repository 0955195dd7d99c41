"""Each measure against numbers worked out by hand, and against what must hold for any input."""

from __future__ import annotations

from statistics import fmean
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_memory.evals.metrics import (
    auroc,
    bootstrap,
    calibration_error,
    hit_at,
    percentile,
    recall_at,
    reciprocal_rank,
    reliability,
    session_recall_at,
    stale_first,
)

IDS = st.lists(st.sampled_from("abcdefgh"), unique=True)
SOME = st.sets(st.sampled_from("abcdefgh"), min_size=1)
NUMBERS = st.floats(min_value=0, max_value=1)


@pytest.mark.parametrize(
    ("found", "evidence", "k", "recall", "hit"),
    [
        ("abc", "a", 1, 1, 1),
        ("abc", "c", 2, 0, 0),
        ("abc", "c", 3, 1, 1),
        ("abc", "axc", 3, 2 / 3, 1),
        ("abc", "aa", 1, 1, 1),
        ("", "a", 5, 0, 0),
        ("abc", "", 3, 0, 0),
        ("abc", "abc", 0, 0, 0),
    ],
)
def test_recall_and_hit(found: str, evidence: str, k: int, recall: float, hit: float) -> None:
    assert recall_at(list(found), list(evidence), k) == recall
    assert hit_at(list(found), list(evidence), k) == hit


@pytest.mark.parametrize(("found", "evidence", "rank"), [("abc", "a", 1), ("abc", "cb", 1 / 2), ("abc", "x", 0)])
def test_reciprocal_rank(found: str, evidence: str, rank: float) -> None:
    assert reciprocal_rank(list(found), set(evidence)) == rank


def test_session_recall_counts_sessions_once() -> None:
    assert session_recall_at(["s1", "s1", None, "s2"], ["s1", "s3"], 3) == 0.5
    assert session_recall_at([None], ["s1"], 3) == 0


@pytest.mark.parametrize(
    ("found", "evidence", "stale", "expected"),
    [
        ("eo", "e", "o", 0),
        ("oe", "e", "o", 1),
        ("xo", "e", "o", 1),
        ("x", "e", "o", 0),
        ("", "e", "o", 0),
        ("b", "b", "b", 0),
    ],
)
def test_stale_first(found: str, evidence: str, stale: str, expected: float) -> None:
    assert stale_first(list(found), list(evidence), list(stale)) == expected


@pytest.mark.parametrize(
    ("positives", "negatives", "area"),
    [([1], [0], 1), ([0], [1], 0), ([1], [1], 0.5), ([3, 1], [2], 0.5), ([], [1], None), ([1], [], None)],
)
def test_auroc(positives: list[float], negatives: list[float], area: float | None) -> None:
    assert auroc(positives, negatives) == area


@given(st.lists(NUMBERS, min_size=1, max_size=20), st.lists(NUMBERS, min_size=1, max_size=20))
def test_auroc_is_the_chance_of_winning(positives: list[float], negatives: list[float]) -> None:
    won = fmean((p > n) + (p == n) / 2 for p in positives for n in negatives)
    area = auroc(positives, negatives)
    assert area == pytest.approx(won)
    assert auroc(negatives, positives) == pytest.approx(1 - won)


@given(IDS, SOME, st.integers(1, 8))
def test_what_holds_for_any_ranking(found: list[str], evidence: set[str], k: int) -> None:
    assert 0 <= recall_at(found, evidence, k) <= recall_at(found, evidence, k + 1) <= 1
    assert hit_at(found, evidence, k) == (recall_at(found, evidence, k) > 0)
    assert hit_at(found, evidence, 1) <= reciprocal_rank(found, evidence) <= hit_at(found, evidence, len(found))
    assert stale_first(found, evidence, set()) == 0


@given(st.lists(st.tuples(NUMBERS, st.booleans()), max_size=50))
def test_bins_hold_everything(pairs: list[tuple[float, bool]]) -> None:
    bins = reliability(pairs)
    assert sum(each.n for each in bins) == len(pairs)
    assert all(each.low - 1e-9 <= each.confidence <= each.high + 1e-9 and 0 <= each.right <= 1 for each in bins)
    error = calibration_error(bins)
    assert (error is None) == (not pairs)
    assert error is None or 0 <= error <= 1


def test_calibration_error_by_hand() -> None:
    pairs = [(0.95, True), (0.95, False), (0.05, False), (1.0, True)]
    assert calibration_error(reliability(pairs)) == pytest.approx((3 * abs(2 / 3 - 2.9 / 3) + 1 * 0.05) / 4)


@given(st.dictionaries(st.text(max_size=3), st.lists(NUMBERS, max_size=6), max_size=6), st.integers(0, 9))
def test_an_interval_lies_within_the_values_and_repeats(groups: dict[str, Any], seed: int) -> None:
    between = bootstrap(groups, draws=50, seed=seed)
    held = [values for values in groups.values() if values]
    if len(held) < 2:
        assert between is None
        return
    assert between == bootstrap(groups, draws=50, seed=seed)
    assert between is not None
    every = [value for values in held for value in values]
    assert min(every) - 1e-9 <= between[0] <= between[1] <= max(every) + 1e-9


@given(st.lists(NUMBERS, min_size=1, max_size=30), st.floats(0, 100))
def test_percentile_is_numpys(values: list[float], share: float) -> None:
    assert percentile(values, share) == pytest.approx(float(np.percentile(values, share)))
