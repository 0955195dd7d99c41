"""Simulated lives for the tests of habits: when somebody is active, what they are busy with, and what they do again."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta

import numpy as np
from numpy.typing import NDArray

from hindsight_memory.lifecycle.chances import DAY, Activity, Hours, corrected, one_a_day
from hindsight_memory.lifecycle.rhythm import Rhythm, rhythm_of
from hindsight_memory.settings import HabitSettings

MONDAY = date(2025, 6, 2).toordinal()
SETTINGS = HabitSettings()
Topics = NDArray[np.int64]
Random = np.random.Generator


def _steady(rng: Random, day: int) -> list[float]:
    """In the daytime of every day."""
    return rng.normal(14, 3, rng.poisson(5)).tolist()


def _office(rng: Random, day: int) -> list[float]:
    """On working days, around ten and around three."""
    number = rng.poisson(5) if (day - MONDAY) % 7 < 5 else 0
    return (rng.choice([10, 15], number) + rng.normal(0, 1.2, number)).tolist()


def _bursty(rng: Random, day: int) -> list[float]:
    """Now and then, and then much at once."""
    if rng.random() > 0.4:
        return []
    return (rng.normal(15, 3) + np.sort(rng.uniform(0, 1.5, rng.integers(3, 30)))).tolist()


def _mondays(rng: Random, day: int) -> list[float]:
    """Nearly all of it on Mondays at half past nine."""
    if (day - MONDAY) % 7 == 0:
        return rng.normal(9.5, 0.7, rng.poisson(30)).tolist()
    return rng.normal(14, 3, rng.poisson(1)).tolist()


def _rare(rng: Random, day: int) -> list[float]:
    """Twice a week or so."""
    return rng.normal(14, 3, rng.poisson(0.3)).tolist()


LIVES: dict[str, Callable[[Random, int], list[float]]] = {
    "steady": _steady,
    "office": _office,
    "bursty": _bursty,
    "mondays": _mondays,
    "rare": _rare,
}


def life(kind: str, rng: Random, days: int) -> Hours:
    """When somebody is active, in order."""
    times = [
        (MONDAY + day) * DAY + min(max(hour, 0.0), 23.99)
        for day in range(days)
        for hour in LIVES[kind](rng, MONDAY + day)
    ]
    return np.sort(np.array(times))


def by_chance(rng: Random, times: Hours) -> Topics:
    """Any topic at any time, some more often than others."""
    likely = 1 / np.arange(1, 60) ** 0.8
    return rng.choice(len(likely), len(times), p=likely / likely.sum())


def by_session(rng: Random, times: Hours) -> Topics:
    """A topic holds as long as a talk lasts, mostly."""
    topics, begins = by_chance(rng, times), np.diff(times, prepend=-10.0) > 1
    held = topics[np.maximum.accumulate(np.where(begins, np.arange(len(times)), 0))]
    return np.where(rng.random(len(times)) < 0.8, held, topics)


def by_project(rng: Random, times: Hours) -> Topics:
    """Topics come, keep one busy for nine days, and go for good."""
    return (times // DAY // 9).astype(np.int64) * 10 + rng.integers(0, 6, len(times))


MINDS: dict[str, Callable[[Random, Hours], Topics]] = {
    "by chance": by_chance,
    "by session": by_session,
    "by project": by_project,
}


def habit(rng: Random, days: int, on: Callable[[date], bool], *, jitter: float = 0.3, missed: float = 0.0) -> Hours:
    """Something done at nine on certain days, about."""
    chosen = [day for day in range(MONDAY, MONDAY + days) if on(date.fromordinal(day)) and rng.random() >= missed]
    return np.sort(np.array([day * DAY + 9.2 + rng.normal(0, jitter) for day in chosen]))


def found(times: Hours, topics: Topics) -> dict[int, Rhythm]:
    """The topics with a rhythm that is no chance finding."""
    activity = Activity.of(times)
    rhythms = {}
    for topic in np.unique(topics).tolist():
        own = times[topics == topic]
        own = own[one_a_day(own)]
        if len(own) >= SETTINGS.least:
            rhythms[topic] = rhythm_of(own, activity, SETTINGS)
    sure = corrected([1.0 if each is None else each.p_value for each in rhythms.values()], len(rhythms))
    named = zip(rhythms.items(), sure, strict=True)
    return {topic: each for (topic, each), p_value in named if each is not None and p_value <= SETTINGS.error}


def among(times: Hours, topics: Topics, more: Hours, topic: int = 999) -> tuple[Hours, Topics]:
    """A life with one thing more in it."""
    whole = np.concatenate([times, more])
    order = np.argsort(whole, kind="stable")
    return whole[order], np.concatenate([topics, np.full(len(more), topic)])[order]


def is_last(day: date) -> bool:
    """Whether it is the last day of its month."""
    return (day + timedelta(days=1)).day == 1
