"""Search by time: what happened in a window, and what mentions a time in it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_memory.domain import Status, Visibility, Window
from hindsight_memory.store.base import Marks, Store
from samples import ALICE, NOON, a_memory, day, where

LONG_AGO = day(-1_000)


async def mention(store: Store, content: str, *windows: Window, **fields: Any) -> None:
    """Store a memory of long ago, or of another time, that mentions these spans."""
    async with store.transaction(ALICE) as tx:
        await tx.add(a_memory(content, **{"occurred_at": LONG_AGO} | fields), Marks((content,), (), windows))


async def found(store: Store, window: Window, limit: int = 10, **fields: Any) -> dict[str, float]:
    """Contents with their scores, best first."""
    reader = store.reading(ALICE.bank)
    scored = await reader.search_time(window, where(**fields), limit)
    names = {memory.id: memory.content for memory in await reader.get([each.id for each in scored])}
    assert [each.score for each in scored] == sorted((each.score for each in scored), reverse=True)
    assert len(names) == len(scored)
    return {names[each.id]: round(each.score, 3) for each in scored}


async def test_what_mentions_a_time_is_found_by_it(store: Store) -> None:
    await mention(store, "yesterday", Window(day(-1), day(0)))
    await mention(store, "happened", occurred_at=day(-1) + timedelta(hours=12))
    await mention(store, "another day", Window(day(-2), day(-1)))
    await mention(store, "next day", Window(day(0), day(1)))
    assert await found(store, Window(day(-1), day(0))) == {"yesterday": 1.0, "happened": 1.0}


async def test_smaller_spans_nearer_the_middle_score_higher(store: Store) -> None:
    await mention(store, "the day", Window(day(10), day(11)))
    await mention(store, "the week", Window(day(7), day(14)))
    await mention(store, "half outside", Window(day(-15), day(15)))
    await mention(store, "the year", Window(day(-170), day(195)))
    await mention(store, "the edge", Window(day(0), day(1)))
    scores = await found(store, Window(day(0), day(21)))
    assert list(scores) == ["the day", "the week", "the edge", "half outside", "the year"]
    assert scores["the day"] == 1.0
    assert scores["half outside"] == round((1 - 0.5 * 3 / 10.5) * 15 / 30, 3)


async def test_a_memory_is_found_once_by_its_best(store: Store) -> None:
    spans = [Window(day(2), day(3)), Window(day(4), day(6)), Window(day(4), day(5)), Window(day(0), day(10))]
    await mention(store, "many", *spans, occurred_at=day(0))
    assert await found(store, Window(day(4), day(5))) == {"many": 1.0}
    assert await found(store, Window(day(0), day(10))) == {"many": 1.0}


@pytest.mark.parametrize(
    "hidden",
    [
        {"status": Status.SUPERSEDED},
        {"context_only": True},
        {"expires_at": NOON},
        {"agent_id": "other", "visibility": Visibility.PRIVATE},
        {"tags": ()},
        {"metadata": {"a": 2}},
    ],
)
async def test_filters_come_before_the_limit(store: Store, hidden: dict[str, Any]) -> None:
    window = Window(day(0), day(2))
    seen = {"tags": ("t",), "metadata": {"a": 1}}
    for number in range(30):
        await mention(store, f"hidden {number}", window, **seen | hidden)
    for number in range(3):
        await mention(store, f"seen {number}", Window(day(-5), day(1)), **seen)
    asked = {"tags": ("t",)} if "tags" in hidden else {"metadata": {"a": 1}}
    assert set(await found(store, window, limit=3, **asked)) == {"seen 0", "seen 1", "seen 2"}


async def test_spans_too_long_to_tell_are_not_kept(store: Store, engine: Any) -> None:
    empty = Window(day(1), day(1))
    await mention(store, "old", Window(day(-5_000), day(0)), Window(day(-366), day(0)), empty, Window(day(2), day(1)))
    assert engine.rows("SELECT (until - since) / 86400000000 FROM times") == [(366,)]
    assert list(await found(store, Window(day(-1), day(0)))) == ["old"]


EDGE = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30), timezones=st.just(UTC))  # noqa: DTZ001


@given(
    spans=st.lists(st.tuples(EDGE, st.timedeltas(timedelta(1), timedelta(366))), max_size=4),
    asked=st.tuples(EDGE, EDGE),
)
async def test_overlap_is_what_is_found(store: Store, spans: list[Any], asked: Any) -> None:
    last = datetime(9999, 12, 31, tzinfo=UTC)
    windows = [Window(since, since + span) for since, span in spans if since < last - span]
    window = Window(min(asked), max(asked) + timedelta(hours=1))
    memory = a_memory("m", occurred_at=datetime(1, 1, 2, tzinfo=UTC))
    async with store.transaction(ALICE) as tx:
        await tx.add(memory, Marks(("m",), (), tuple(windows)))
    scored = {each.id: each.score for each in await store.reading(ALICE.bank).search_time(window, where(), 1_000)}
    touches = window.since <= memory.occurred_at or any(
        w.since < window.until and w.until > window.since for w in windows
    )
    assert (memory.id in scored) == touches
    assert all(0 <= score <= 1 for score in scored.values())
