"""How habits are put into words, in the language of the memory."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from hindsight_memory.domain import Evidence, Window
from hindsight_memory.lifecycle.habit_words import is_chinese, line_of, said_gap, said_period, said_why
from hindsight_memory.lifecycle.periods import PERIODS
from hindsight_memory.lifecycle.rhythm import Rhythm

MONDAY = date(2026, 5, 11)
NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)


def rhythm(name: str, day: date = MONDAY, hour: float = 9.1, width: float = 1.0) -> Rhythm:
    (period,) = (each for each in PERIODS if each.name == name)
    return Rhythm(period, day.toordinal(), hour, width, (), 0.001)


@pytest.mark.parametrize(
    ("one", "english", "chinese"),
    [
        (rhythm("daily"), "every day around 09:00", "每天 9:00 左右"),
        (rhythm("weekdays"), "every weekday around 09:00", "每个工作日 9:00 左右"),
        (rhythm("weekly"), "every Monday around 09:00", "每周一 9:00 左右"),
        (rhythm("weekly", hour=24.1), "every Tuesday around 00:00", "每周二 0:00 左右"),
        (rhythm("weekly", hour=-0.3), "every Sunday around 23:45", "每周日 23:45 左右"),
        (rhythm("weekly", width=12), "every Monday", "每周一"),
        (rhythm("fortnightly"), "every other Monday around 09:00", "每隔一周的周一 9:00 左右"),
        (rhythm("monthly", width=36), "on day 11 of every month, give or take a day", "每月 11 日前后"),
        (rhythm("month's end", date(2026, 5, 31), width=12), "on the last day of every month", "每月最后一天"),
        (rhythm("month's end", date(2026, 5, 29), width=12), "2 days before the end of every month", "每月倒数第 3 天"),
        (rhythm("nth weekday", width=12), "on the second Monday of every month", "每月第二个周一"),
        (rhythm("3 days", width=3), "every 3 days around 09:00", "每 3 天 9:00 左右"),
    ],
)
def test_periods(one: Rhythm, english: str, chinese: str) -> None:
    assert said_period(one, chinese=False) == english
    assert said_period(one, chinese=True) == chinese


def test_every_period_has_words_in_both_languages() -> None:
    for period in PERIODS:
        said = [said_period(rhythm(period.name), chinese=chinese) for chinese in (False, True)]
        assert not is_chinese(said[0])
        assert is_chinese(said[1])


def test_gaps() -> None:
    assert said_gap(0.5, "The release is out", chinese=False) == "about 30 minutes after «The release is out»"
    assert said_gap(1 / 60, "x", chinese=False) == "about 1 minute after «x»"
    assert said_gap(6, "x", chinese=False) == "about 6 hours after «x»"
    assert said_gap(50, "新版本发布了", chinese=True) == "「新版本发布了」之后约 2 天"


def test_reasons() -> None:
    evidence = Evidence(memory_ids=(), times=9, met=8, of=10, p_value=0.0032, window=Window(NOON, NOON))
    assert said_why("every day", evidence, chinese=False) == (
        "It usually comes every day: 8 of the last 10 times, by chance with a probability of about 0.0032."
    )
    assert said_why("每天", evidence, chinese=True) == (
        "每天通常有这件事：最近 10 次里有 8 次，出于偶然的概率约 0.0032。"
    )


def test_the_line() -> None:
    assert line_of("\n  Plan my week \nand more") == "Plan my week"
    assert line_of("") == ""
    assert len(line_of("word " * 1_000)) < 400
    assert is_chinese("帮我写 Q3 周报")
    assert not is_chinese("Lunch with 王小明 at the usual place")
