"""What usually follows what: more often than it comes after anything else."""

from __future__ import annotations

import numpy as np
import pytest

from hindsight_memory.lifecycle.chances import DAY, Activity, Hours
from hindsight_memory.lifecycle.sequels import Sequel, sequels_of
from lifecycle.lives import LIVES, MINDS, MONDAY, SETTINGS, life


def looked_for(things: list[Hours], rest: Hours, led: frozenset[int] = frozenset()) -> list[Sequel]:
    ordered = [np.sort(each) for each in things]
    return sequels_of(ordered, led, Activity.of(np.concatenate([rest, *ordered])), SETTINGS)


def after(rng: np.random.Generator, times: Hours, hours: float, share: float = 1.0) -> Hours:
    chosen = times[rng.random(len(times)) < share]
    return chosen + hours + rng.normal(0, hours / 6, len(chosen))


@pytest.mark.parametrize("gap", [0.5, 6.0, 30.0])
@pytest.mark.parametrize("kind", ["steady", "bursty", "rare"])
def test_what_follows_is_found_with_its_gap(kind: str, gap: float) -> None:
    for seed in range(3):
        rng = np.random.default_rng(seed)
        rest = life(kind, rng, 150)
        days = np.sort(rng.choice(np.arange(3, 147), 20, replace=False))
        first = (MONDAY + days) * DAY + rng.uniform(9, 17, 20)
        then = np.sort(np.concatenate([after(rng, first, gap, 0.85), rng.choice(rest, 3)]))
        sequels = looked_for([first, then], rest)
        assert [(each.first, each.then) for each in sequels] == [(0, 1)]
        low, usual, high = sequels[0].gap
        assert low <= usual <= high
        assert usual == pytest.approx(gap, rel=0.3)


@pytest.mark.parametrize("mind", MINDS)
@pytest.mark.parametrize("kind", LIVES)
def test_noise_yields_nothing(kind: str, mind: str) -> None:
    for seed in range(3):
        rng = np.random.default_rng(seed)
        times = life(kind, rng, int(rng.choice([30, 90, 150])))
        topics = MINDS[mind](rng, times)
        assert not looked_for([times[topics == topic] for topic in np.unique(topics)], np.empty(0))


def test_what_comes_every_hour_follows_nothing() -> None:
    rng = np.random.default_rng(1)
    always = np.arange(MONDAY * DAY, (MONDAY + 60) * DAY, 1.0)
    first = np.sort(rng.choice(always, 15, replace=False)) + 0.4
    assert not looked_for([first, always], np.empty(0))


def test_what_is_said_in_one_breath_does_not_follow() -> None:
    rng = np.random.default_rng(1)
    first = np.sort((MONDAY + np.arange(0, 60, 3)) * DAY + rng.uniform(9, 17, 20))
    assert not looked_for([first, first + 0.001], life("steady", rng, 60))


def test_what_has_its_own_time_needs_no_other_reason() -> None:
    rng = np.random.default_rng(1)
    first = np.sort((MONDAY + np.arange(0, 90, 6)) * DAY + rng.uniform(9, 17, 15))
    then, rest = after(rng, first, 1.0), life("steady", rng, 90)
    assert looked_for([first, then], rest)
    assert not looked_for([first, then], rest, frozenset({1}))


def test_nothing_at_all() -> None:
    assert sequels_of([], frozenset(), Activity.of(np.empty(0)), SETTINGS) == []
