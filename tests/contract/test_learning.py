"""What a bank learns from feedback: the verdicts it was given, the weights they led to, what is doubted."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from hindsight_memory.domain import Event, Outcome, Ranking
from hindsight_memory.store.base import Store
from samples import ALICE, BOB, NOON, a_memory, an_event, day, put, where

RANKING = Ranking(weights={"words": 1.0625, "vector": 0.8}, pairs=24, fitted_at=day(1), since=day(0))


async def tell(store: Store, *events: Event) -> None:
    async with store.transaction(ALICE) as tx:
        await tx.record(events)


async def test_verdicts_are_listed_newest_first_and_nothing_else_is(store: Store) -> None:
    (memory,) = await put(store, a_memory("coffee"))
    said = [an_event(memory, "feedback", id=f"e{n}", at=day(n), actor="ab"[n % 2], detail={"n": n}) for n in range(6)]
    await tell(store, *said, an_event(memory, "update", at=day(9)))
    reader = store.reading(ALICE.bank)
    assert await reader.feedback(None, 10) == said[::-1]
    assert await reader.feedback(None, 2) == [said[5], said[4]]
    assert await reader.feedback(day(3), 10) == [said[5], said[4]], "after that moment, and not at it"
    assert await reader.feedback(day(3) - timedelta(microseconds=1), 10) == [said[5], said[4], said[3]]
    assert await reader.feedback(None, 10, "a") == [said[4], said[2], said[0]]
    assert await store.reading(BOB.bank).feedback(None, 10) == []


async def test_verdicts_of_one_moment_keep_their_order(store: Store) -> None:
    (memory,) = await put(store, a_memory("coffee"))
    said = [an_event(memory, "feedback", id=f"e{n}") for n in (3, 1, 2)]
    await tell(store, *said)
    async with store.transaction(ALICE) as tx:
        assert [event.id for event in await tx.feedback(None, 10)] == ["e2", "e1", "e3"]


async def test_a_ranking_is_kept_as_it_was_given(store: Store, engine: Any) -> None:
    assert await store.reading(ALICE.bank).ranking() == Ranking(), "a bank that is not there has learnt nothing"
    for ranking in (RANKING, replace(RANKING, since=None, weights={}), Ranking(since=NOON), Ranking()):
        async with store.transaction(ALICE) as tx:
            await tx.set_ranking(ranking)
            assert await tx.ranking() == ranking
        assert await (await engine.open()).reading(ALICE.bank).ranking() == ranking
    assert await store.reading(BOB.bank).ranking() == Ranking()


async def test_a_ranking_that_is_not_committed_is_not_there(store: Store) -> None:
    async def fail() -> None:
        async with store.transaction(ALICE) as tx:
            await tx.set_ranking(RANKING)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()
    assert await store.reading(ALICE.bank).ranking() == Ranking()


async def test_what_was_judged_is_kept_with_the_memory(store: Store) -> None:
    (memory,) = await put(store, a_memory("coffee", helpful=3, doubted=2, judged_at=day(4)))
    reader = store.reading(ALICE.bank)
    assert await reader.get([memory.id]) == [memory]
    async with store.transaction(ALICE) as tx:
        changed = await tx.change(memory, helpful=4, doubted=0, judged_at=None)
    assert await reader.get([memory.id]) == [changed]


async def test_what_is_doubted_and_what_a_task_came_to_can_be_asked_for(store: Store) -> None:
    doubted, _, failed, solved, other = await put(
        store,
        a_memory("a", doubted=1),
        a_memory("b", helpful=1),
        a_memory("c", task="one", outcome=Outcome.FAILURE),
        a_memory("d", task="one", outcome=Outcome.SUCCESS),
        a_memory("e", task="%_*'\"", outcome=Outcome.SUCCESS),
    )
    reader = store.reading(ALICE.bank)
    assert await reader.find(where(doubted=True), 9) == [doubted]
    assert {each.id for each in await reader.find(where(tasks=("one",)), 9)} == {failed.id, solved.id}
    assert await reader.find(where(tasks=("one", "two"), outcome=Outcome.SUCCESS), 9) == [solved]
    assert await reader.find(where(tasks=("%_*'\"",)), 9) == [other]
