"""The ways in which things recur: which days of the calendar belong together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Days: TypeAlias = NDArray[np.int64]
"""Days of the calendar by their numbers, as ``date.toordinal`` has them."""

_WORKING_DAYS: Final = 5
_WEEK: Final = 7
_LONGEST_NUMBER: Final = 30
"""Day of the month that is one by its number: the 31st is the month's end."""
_FULL_WEEKS: Final = 3
"""Weeks after the first that every month has in full."""


@dataclass(frozen=True, slots=True)
class Period:
    """A way to recur.

    ``days`` are those of a span (first and last day) that belong together with one. ``gap`` is the least number of
    days from one to the next, ``share`` the part of all chance findings that this period may make: what people live
    by may make most of them.
    """

    name: str
    gap: int
    share: float
    days: Callable[[int, int, int], Days]


def weekday(day: int) -> int:
    """Its number in the week, Monday's being 0."""
    return (day - 1) % _WEEK


def left_in_month(day: int) -> int:
    """How many days of its month come after a day."""
    ((start, length),) = _months(day, day)
    return start + length - 1 - day


def _every(count: int) -> Callable[[int, int, int], Days]:
    def days(day: int, first: int, last: int) -> Days:
        return np.arange(first + (day - first) % count, last + 1, count, dtype=np.int64)

    return days


def _weekdays(day: int, first: int, last: int) -> Days:
    every = np.arange(first, last + 1, dtype=np.int64)
    working = (every - 1) % _WEEK < _WORKING_DAYS
    return every[working] if weekday(day) < _WORKING_DAYS else every[:0]


def _monthly(day: int, first: int, last: int) -> Days:
    number = date.fromordinal(day).day
    if number > _LONGEST_NUMBER:
        return _of(iter(()), first, last)
    return _of((start + min(number, length) - 1 for start, length in _months(first, last)), first, last)


def _before_months_end(day: int, first: int, last: int) -> Days:
    left = left_in_month(day)
    if left >= _WEEK:
        return _of(iter(()), first, last)
    return _of((start + length - 1 - left for start, length in _months(first, last)), first, last)


def _nth_weekday(day: int, first: int, last: int) -> Days:
    week = (date.fromordinal(day).day - 1) // _WEEK
    if week > _FULL_WEEKS:
        return _of(iter(()), first, last)
    return _of((start + (day - start) % _WEEK + _WEEK * week for start, _ in _months(first, last)), first, last)


def _of(days: Iterator[int], first: int, last: int) -> Days:
    return np.array([day for day in days if first <= day <= last], np.int64)


@lru_cache(maxsize=1_000)
def _months(first: int, last: int) -> tuple[tuple[int, int], ...]:
    """First day and length of each month that has a day in the span."""
    found = []
    start = date.fromordinal(first).replace(day=1)
    while start.toordinal() <= last:
        following = (start + timedelta(days=31)).replace(day=1)
        found.append((start.toordinal(), (following - start).days))
        start = following
    return tuple(found)


PERIODS: Final = (
    Period("daily", 1, 0.15, _every(1)),
    Period("weekdays", 1, 0.2, _weekdays),
    Period("weekly", 7, 0.25, _every(7)),
    Period("fortnightly", 14, 0.1, _every(14)),
    Period("monthly", 28, 0.1, _monthly),
    Period("month's end", 28, 0.05, _before_months_end),
    Period("nth weekday", 28, 0.05, _nth_weekday),
    *(Period(f"{count} days", count, 0.0125, _every(count)) for count in (2, 3, 4, 5, 6, 8, 9, 10)),
)
"""What is looked for; the shares add up to 1."""
