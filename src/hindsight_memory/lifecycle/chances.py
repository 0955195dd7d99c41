"""The arithmetic of chance: how likely it is that something is only as it is because of what else happened."""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Hours: TypeAlias = NDArray[np.float64]
"""Moments on the clock of a person's wall: hours since the calendar's first day began."""

DAY: Final = 24.0
_WAKING: Final = 16.0
"""Hours of a day in which people do things."""
_PRIOR: Final = 24
"""Happenings that are added, at any waking hour, to what is known of a person: few of them say little."""
_LATELY: Final = 12
"""The latest occasions, by which something is judged to be usual now."""
_LUCK: Final = 0.05
"""Probability below which a run of misses is no bad luck: it has ended."""


@dataclass(frozen=True, slots=True)
class Activity:
    """All that happened, in order: each happening, and of each hour in which there was one the first.

    One long talk is many happenings and few hours: what stands out in both is due to neither.
    """

    happenings: Hours
    hours: Hours

    @classmethod
    def of(cls, happenings: Hours) -> Activity:
        """The activity that these happenings are."""
        ordered = np.sort(happenings)
        _, first = np.unique(np.floor(ordered), return_index=True)
        return cls(ordered, ordered[first])

    def pools(self, first: float, last: float) -> tuple[Hours, Hours]:
        """Both, of a span; its ends belong to it."""
        return _between(self.happenings, first, last), _between(self.hours, first, last)

    def any(self, first: float, last: float) -> bool:
        """Whether anything happened in a span."""
        return len(_between(self.happenings, first, last)) > 0


def _between(times: Hours, first: float, last: float) -> Hours:
    return times[np.searchsorted(times, first) : np.searchsorted(times, last, "right")]


def chance(hits: int, drawn: int, marked: int, total: int) -> float:
    """The probability that ``hits`` or more of ``drawn`` are marked, where ``marked`` of ``total`` are.

    It is exact where there are more hits than are to be expected, and 1 where there are not: nobody wonders at those.
    """
    most = min(drawn, marked)
    if hits > most:
        return 0.0
    if hits * total <= drawn * marked:
        return 1.0
    term = math.exp(_ways(marked, hits) + _ways(total - marked, drawn - hits) - _ways(total, drawn))
    tail = term
    for each in range(hits, most):
        term *= (marked - each) * (drawn - each) / ((each + 1) * (total - marked - drawn + each + 1))
        tail += term
    return min(1.0, tail)


def _ways(total: int, taken: int) -> float:
    """The logarithm of the number of ways to take some of them."""
    return math.lgamma(total + 1) - math.lgamma(taken + 1) - math.lgamma(total - taken + 1)


def chance_in(pool: NDArray[np.bool_], hits: int, drawn: int, share: float) -> float:
    """The probability that as many hits would be drawn from all that happened.

    Args:
        pool: Of each thing that happened, whether it would be a hit.
        hits: How many there were.
        drawn: Of how many.
        share: The share of a day's 24 hours in which one happening would be a hit, if any hour were like any other.
    """
    marked = math.ceil(_PRIOR * min(1.0, share * DAY / _WAKING)) + int(pool.sum())
    return chance(hits, drawn, max(marked, hits), max(len(pool), drawn) + _PRIOR)


def corrected(p_values: Sequence[float], tried: int) -> list[float]:
    """The p-values with what was tried taken into account (Benjamini and Hochberg, 1995), in their order."""
    found, least = [1.0] * len(p_values), 1.0
    ranked = sorted(range(len(p_values)), key=lambda each: p_values[each], reverse=True)
    for rank, place in zip(range(len(p_values), 0, -1), ranked, strict=True):
        least = min(least, p_values[place] * (tried / rank))
        found[place] = least
    return found


def one_a_day(times: Hours) -> list[int]:
    """The places of one occurrence of each day, of times in order; which one is as good as chance.

    What comes up often in one day says nothing more about the days and hours it likes, and to take always the first
    would move everything into the morning.
    """
    days: dict[int, tuple[int, int]] = {}
    for place, time in enumerate(times):
        lot = (zlib.crc32(time.tobytes()), place)
        day = int(time // DAY)
        days[day] = min(days.get(day, lot), lot)
    return sorted(place for _, place in days.values())


def lately(met: Sequence[bool]) -> tuple[int, int]:
    """How often something was met on the latest occasions, and how many these are."""
    latest = met[-_LATELY:]
    return sum(latest), len(latest)


def ended(met: Sequence[bool]) -> bool:
    """Whether something that was usual is no more: it was missed as often in a row as bad luck would hardly do."""
    missed = next((count for count, each in enumerate(reversed(met)) if each), len(met))
    before = met[: len(met) - missed]
    times, of = lately(before)
    return missed >= 2 and (1 - (times + 1) / (of + 2)) ** missed < _LUCK
