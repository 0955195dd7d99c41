"""Tells what usually follows what, more often than it comes after anything else that happened."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hindsight_memory.lifecycle.chances import Activity, Hours, chance_in, corrected, lately, one_a_day
from hindsight_memory.settings import HabitSettings

_WITHIN: Final = (2.0, 8.0, 36.0)
"""Hours within which one thing follows another."""
_AT_ONCE: Final = 1 / 60
"""Hours that it comes later at least: what is said in one breath does not follow."""
_USUAL: Final = (10.0, 50.0, 90.0)
"""Percentiles of the time between: the earliest that is usual, the middle, the latest."""


@dataclass(frozen=True, slots=True)
class Sequel:
    """One thing follows another, both by their places among what recurs.

    ``hits`` are the places of their occurrences, pair by pair; ``met`` says of each occurrence of the first whether
    the other followed. ``gap`` is the time between in hours: the earliest, the usual, the latest.
    """

    first: int
    then: int
    hits: tuple[tuple[int, int], ...]
    met: tuple[bool, ...]
    gap: tuple[float, float, float]
    p_value: float


def sequels_of(
    times: Sequence[Hours], led: frozenset[int], activity: Activity, settings: HabitSettings
) -> list[Sequel]:
    """The pairs of things of which the second usually follows the first, the surest first.

    Args:
        times: When each thing occurred, in order.
        led: Those that need no other reason for their time, and are looked at as a first one only.
        activity: All that happened, up to the moment it is asked at.
        settings: How often it must have occurred, and how surely.
    """
    drawn = [one_a_day(each) for each in times]
    able = [place for place, each in enumerate(drawn) if len(each) >= settings.least]
    best: dict[tuple[int, int], Sequel] = {}
    for first in able:
        chosen = times[first][drawn[first]]
        pools = activity.pools(chosen[0], chosen[-1])
        for then in able:
            if then == first or then in led:
                continue
            for sequel in _tried(
                _Pair(first, then, np.array(drawn[first]), chosen, times[then]), pools, activity, settings
            ):
                known = best.get((first, then))
                if known is None or sequel.p_value < known.p_value:
                    best[first, then] = sequel
    found = sorted(best.values(), key=lambda sequel: sequel.p_value)
    sure = corrected([each.p_value for each in found], len(able) * (len(able) - 1))
    told = [replace(each, p_value=p_value) for each, p_value in zip(found, sure, strict=True)]
    return [each for each in told if each.p_value <= settings.error]


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two things: the occurrences of the first that are looked at, by place and time, and when the other occurred."""

    first: int
    then: int
    places: NDArray[np.intp]
    times: Hours
    following: Hours


def _tried(pair: _Pair, pools: tuple[Hours, Hours], activity: Activity, settings: HabitSettings) -> Iterator[Sequel]:
    next_one, gaps = _next(pair.times, pair.following)
    until = activity.happenings[-1]
    for within in _WITHIN:
        met = gaps <= within
        over = met | (pair.times + within <= until)  # what may still follow is no miss
        hits = np.flatnonzero(met)
        times, of = lately(met[over].tolist())
        if len(np.unique(next_one[hits])) < settings.least or times < settings.coverage * of:
            continue
        span = max(float(pair.times[-1] - pair.times[0]), within)
        share = min(1.0, len(pair.following) * within / span)
        p_value = max(
            chance_in(_next(pool, pair.following)[1] <= within, len(hits), int(over.sum()), share) for pool in pools
        )
        low, usual, high = np.percentile(gaps[hits], _USUAL).tolist()
        yield Sequel(
            pair.first,
            pair.then,
            tuple(zip(pair.places[hits].tolist(), next_one[hits].tolist(), strict=True)),
            tuple(met[over].tolist()),
            (low, usual, high),
            min(1.0, len(_WITHIN) * p_value),
        )


def _next(times: Hours, following: Hours) -> tuple[NDArray[np.intp], Hours]:
    """What comes next after each time, by its place, and how much later it does."""
    places = np.searchsorted(following, times + _AT_ONCE)
    ahead = np.append(following, np.inf)[places]
    return places, ahead - times
