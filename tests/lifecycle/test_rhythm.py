"""What recurs is found, and noise yields nothing: over many simulated lives, the same at every run."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_memory.lifecycle.chances import DAY, Activity, chance, corrected, ended, lately, one_a_day
from hindsight_memory.lifecycle.periods import PERIODS, left_in_month, weekday
from hindsight_memory.lifecycle.rhythm import nearest, rhythm_of
from lifecycle.lives import LIVES, MINDS, MONDAY, SETTINGS, among, by_chance, found, habit, is_last, life

FALSE = 0.02
"""Share of lives without a habit in which one may be found: four times what the settings aim at, as few are tried."""

# Chance


@given(st.integers(1, 9), st.data())
def test_a_chance_is_the_share_of_all_the_ways_to_draw(total: int, data: st.DataObject) -> None:
    marked, drawn = data.draw(st.integers(0, total)), data.draw(st.integers(0, total))
    hits = data.draw(st.integers(0, total))
    draws = list(combinations(range(total), drawn))
    share = sum(sum(each < marked for each in draw) >= hits for draw in draws) / len(draws)
    wanted = share if hits * total > drawn * marked else 1.0
    assert chance(hits, drawn, marked, total) == pytest.approx(wanted, abs=1e-12)


def test_small_chances_do_not_vanish_and_large_ones_are_not_taken_for_them() -> None:
    assert 0 < chance(50, 50, 60, 4_000) < 1e-80
    assert chance(2_000, 2_000, 2_000, 4_000) < 1e-300
    assert chance(10, 2_000, 2_000, 4_000) == 1
    assert chance(4, 400, 3_990, 4_000) == 1


@given(st.lists(st.floats(0, 1), max_size=20))
def test_correcting_never_makes_anything_surer(p_values: list[float]) -> None:
    sure = corrected(p_values, len(p_values))
    assert all(after >= before for before, after in zip(p_values, sure, strict=True))
    assert sorted(sure) == [sure[each] for each in np.argsort(p_values, kind="stable")]


def test_correcting_counts_what_was_tried() -> None:
    assert corrected([0.001, 0.04, 0.03], 3) == pytest.approx([0.003, 0.04, 0.04])
    assert corrected([0.001], 100) == pytest.approx([0.1])
    assert corrected([0.5], 100) == [1.0]


def test_a_run_of_misses_ends_a_habit_and_bad_luck_does_not() -> None:
    assert not ended([True] * 8)
    assert not ended([*[True] * 8, False])
    assert ended([*[True] * 8, False, False])
    assert not ended([True, False, True, True, False, True, False, True, False, False])
    assert ended([True, False, True, False, True, *[False] * 6])
    assert ended([False] * 5)
    assert lately([True] * 20 + [False] * 3) == (9, 12)


@given(st.lists(st.floats(0, 400), min_size=1, max_size=60))
def test_each_day_counts_once(hours: list[float]) -> None:
    times = np.sort(np.array(hours))
    places = one_a_day(times)
    assert places == sorted(set(places))
    assert sorted({int(time // DAY) for time in times}) == [int(times[place] // DAY) for place in places]


def test_which_of_a_day_counts_is_as_good_as_chance() -> None:
    times = np.sort(np.random.default_rng(1).uniform(0, 24 * 400, 4_000))
    hours = times[one_a_day(times)] % DAY
    assert 11 < hours.mean() < 13


# Periods


@pytest.mark.parametrize("period", PERIODS, ids=lambda period: period.name)
@given(st.integers(MONDAY, MONDAY + 800), st.integers(0, 400))
def test_days_of_a_period_are_apart_and_a_day_belongs_to_itself(period, day: int, length: int) -> None:  # type: ignore[no-untyped-def]
    days = period.days(day, day - length, day + length)
    assert ((days >= day - length) & (days <= day + length)).all()
    assert (np.diff(days) >= period.gap).all()
    assert day in days or len(days) == 0


def test_shares_of_the_error_are_all_of_it() -> None:
    assert sum(period.share for period in PERIODS) == pytest.approx(1)


def test_days_of_the_month() -> None:
    days = {period.name: period.days for period in PERIODS}
    first, last = date(2026, 1, 1).toordinal(), date(2026, 4, 30).toordinal()

    def of(name: str, day: date) -> list[str]:
        return [f"{date.fromordinal(int(each)):%m-%d}" for each in days[name](day.toordinal(), first, last)]

    assert of("monthly", date(2026, 1, 30)) == ["01-30", "02-28", "03-30", "04-30"]
    assert of("monthly", date(2026, 1, 31)) == []
    assert of("month's end", date(2026, 1, 31)) == ["01-31", "02-28", "03-31", "04-30"]
    assert of("month's end", date(2026, 2, 26)) == ["01-29", "02-26", "03-29", "04-28"]
    assert of("month's end", date(2026, 2, 2)) == []
    assert of("nth weekday", date(2026, 1, 9)) == ["01-09", "02-13", "03-13", "04-10"]
    assert of("nth weekday", date(2026, 1, 30)) == []
    assert of("fortnightly", date(2026, 4, 28)) == [
        "01-06", "01-20", "02-03", "02-17", "03-03", "03-17", "03-31", "04-14", "04-28",
    ]  # fmt: skip
    assert len(days["weekdays"](MONDAY, MONDAY, MONDAY + 13)) == 10
    assert len(days["weekdays"](MONDAY + 5, MONDAY, MONDAY + 13)) == 0
    assert weekday(MONDAY) == 0
    assert left_in_month(date(2024, 2, 28).toordinal()) == 1


def test_the_nearest_moment() -> None:
    late, places = nearest(np.array([10.0, 20.0, 30.0]), np.array([0.0, 12.0, 15.0, 19.0, 99.0]))
    assert late.tolist() == [-10, 2, 5, -1, 69]
    assert places.tolist() == [0, 0, 0, 1, 2]


# Noise


def false_findings(kind: str, mind: str, seeds: range) -> int:
    """In how many lives without a habit one is found."""
    false = 0
    for seed in seeds:
        rng = np.random.default_rng(seed)
        times = life(kind, rng, int(rng.choice([30, 60, 120])))
        false += bool(found(times, MINDS[mind](rng, times)))
    return false


@pytest.mark.parametrize("mind", MINDS)
@pytest.mark.parametrize("kind", LIVES)
def test_noise_yields_nothing(kind: str, mind: str) -> None:
    """Whoever is active at some hours only does everything at those hours: that is no habit."""
    assert false_findings(kind, mind, range(3)) == 0


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("mind", MINDS)
@pytest.mark.parametrize("kind", LIVES)
def test_much_noise_yields_next_to_nothing(kind: str, mind: str) -> None:
    assert false_findings(kind, mind, range(100, 200)) <= FALSE * 100


def test_what_is_said_at_all_hours_has_no_hour() -> None:
    """Somebody who is only ever active at nine does everything at nine, and nothing of it on Mondays."""
    rng = np.random.default_rng(4)
    times = np.sort(np.array([(MONDAY + day) * DAY + rng.normal(9, 0.4) for day in range(120) for _ in range(4)]))
    assert not found(times, by_chance(rng, times))


# Habits

DAYS: dict[str, tuple[int, Callable[[date], bool]]] = {
    "daily": (28, lambda _: True),
    "weekdays": (35, lambda day: day.weekday() < 5),
    "weekly": (70, lambda day: day.weekday() == 0),
    "fortnightly": (182, lambda day: day.toordinal() % 14 == 3),
    "3 days": (70, lambda day: day.toordinal() % 3 == 1),
    "monthly": (330, lambda day: day.day == 5),
    "month's end": (330, is_last),
    "nth weekday": (330, lambda day: day.weekday() == 4 and 7 < day.day <= 14),
}


@pytest.mark.parametrize("kind", ["steady", "bursty", "rare"])
@pytest.mark.parametrize("name", DAYS)
def test_a_habit_is_found_and_named(name: str, kind: str) -> None:
    days, on = DAYS[name]
    for seed in range(2):
        rng = np.random.default_rng(seed)
        times = life(kind, rng, days)
        rhythms = found(*among(times, by_chance(rng, times), habit(rng, days, on)))
        assert list(rhythms) == [999]
        assert rhythms[999].period.name == name
        assert abs(rhythms[999].hour - 9.2) < 0.5


def test_most_habits_are_found_though_one_in_five_is_missed_and_an_hour_is_nothing() -> None:
    right = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        times = life("steady", rng, 84)
        days = habit(rng, 84, lambda day: day.weekday() == 0, jitter=1.0, missed=0.2)
        rhythm = found(*among(times, by_chance(rng, times), days)).get(999)
        right += rhythm is not None and rhythm.period.name == "weekly"
    assert right >= 9


def test_a_habit_is_found_by_itself() -> None:
    """Somebody asks for one thing only, every Monday at nine: nobody but them says when they are active."""
    times = np.array([(MONDAY + 7 * week) * DAY + 9 for week in range(8)], np.float64)
    rhythm = rhythm_of(times, Activity.of(times), SETTINGS)
    assert rhythm is not None
    assert (rhythm.period.name, rhythm.hour) == ("weekly", 9)
    assert rhythm.p_value < SETTINGS.error
    few = rhythm_of(times[:4], Activity.of(times[:4]), SETTINGS)
    assert few is None or few.p_value > SETTINGS.error


def test_around_midnight_is_one_time() -> None:
    rng = np.random.default_rng(2)
    days = np.array([(MONDAY + 7 * week) * DAY + rng.normal(0, 0.4) for week in range(10)])
    times = life("steady", rng, 70)
    rhythm = found(*among(times, by_chance(rng, times), days))[999]
    assert rhythm.period.name == "weekly"
    assert len(rhythm.hits) == 10


@given(st.lists(st.floats(0, 24 * 60, allow_subnormal=False), min_size=1, max_size=40))
def test_any_times_are_taken(hours: list[float]) -> None:
    times = np.sort(np.array(hours)) + MONDAY * DAY
    spaced = times[one_a_day(times)]
    rhythm = rhythm_of(spaced, Activity.of(times), SETTINGS)
    assert rhythm is None or (0 < rhythm.p_value <= 1 and len(rhythm.hits) >= SETTINGS.least)
