"""Spans of time a statement mentions, seen from when it was said."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_memory.store.mentions import LONGEST_SPAN
from hindsight_memory.text.dates import LONGEST, MOST_MENTIONED, _may_name_time, find_windows, mentioned_windows

SAID = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)  # a Monday


def spans(text: str, said: datetime = SAID) -> list[str]:
    return [f"{w.since:%Y-%m-%d}/{w.until:%Y-%m-%d}" for w in mentioned_windows(text, said)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("I went to a support group yesterday and it was powerful.", ["2023-05-07/2023-05-08"]),
        ("two days ago we met", ["2023-05-06/2023-05-07"]),
        ("I painted it last year", ["2022-01-01/2023-01-01"]),
        ("I'll go next Friday", ["2023-05-12/2023-05-13"]),
        ("明天去北京", ["2023-05-09/2023-05-10"]),
        ("上周三开了会", ["2023-05-03/2023-05-04"]),
        # what may be either way lies ahead where the sentence looks ahead
        ("I saw her on Friday", ["2023-05-05/2023-05-06"]),
        ("I'll see her on Friday", ["2023-05-12/2023-05-13"]),
        ("We plan to hike on Saturday. It rained on Friday.", ["2023-05-13/2023-05-14", "2023-05-05/2023-05-06"]),
        ("We went to the beach on May 20", ["2022-05-20/2022-05-21"]),
        ("We're going to the beach on May 20", ["2023-05-20/2023-05-21"]),
        ("周五要开会", ["2023-05-12/2023-05-13"]),
        ("周五开了会", ["2023-05-05/2023-05-06"]),
        ("记得5月20日交报告", ["2023-05-20/2023-05-21"]),
        # what says no more than when it was said, or hardly anything
        ("I am tired today, this week and this month", []),
        ("I recently moved. 最近很忙", []),
        ("I have lived here since 2019, and before in the 1990s", []),
        ("no time at all, 没有时间", []),
    ],
)
def test_statements(text: str, found: list[str]) -> None:
    assert spans(text) == found


def test_a_naive_moment_is_an_error() -> None:
    with pytest.raises(ValueError, match="zone"):
        mentioned_windows("yesterday", datetime(2023, 5, 8))  # noqa: DTZ001


PIECES = [
    "yesterday",
    "on Friday",
    "I'll go",
    "May 5",
    "last year",
    "明天",
    "周五",
    "要",
    "2023-05-09",
    "5月",
    " ",
    ". ",
    "，",
]
ANY_TIME = st.datetimes(min_value=datetime(1, 1, 2), max_value=datetime(9999, 12, 30), timezones=st.just(UTC))  # noqa: DTZ001


@given(st.text() | st.lists(st.sampled_from(PIECES), max_size=20).map("".join), ANY_TIME)
def test_any_text_at_any_time_is_safe(text: str, said: datetime) -> None:
    found = mentioned_windows(text, said)
    assert len(found) <= MOST_MENTIONED
    for window in found:
        assert timedelta() < window.until - window.since <= LONGEST
        assert not window.since <= said < window.until


def test_the_longest_span_is_the_one_the_store_keeps() -> None:
    assert timedelta(microseconds=LONGEST_SPAN) == LONGEST


@pytest.mark.parametrize(
    "text",
    ["a fortnight ago", "on Christmas", "春节那天", "the 90s", "过去24小时", "three weeks ago", "the other Tuesday",
     "last fall", "in Q3", "two hours ago", "on the 5th of May", "国庆节", "上周末", "前天", "半年前", "去年"],
)  # fmt: skip
def test_a_quick_look_misses_nothing_the_tables_read(text: str) -> None:
    assert not find_windows(text, SAID) or _may_name_time(text)
