"""Erasure: no table and no byte holds what was erased, and what was removed is counted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from hindsight_memory.domain import Erased, Relation, RelationType, Window
from hindsight_memory.store.base import Space, Stage, Store
from samples import ALICE, BOB, NOON, a_memory, a_turn, an_event, day, put, where, words_in

SECRET = "xylophonequartz"
SPACE = Space(name="s", spec="s", dimension=2, template="plain", calibration={})


async def test_no_table_and_no_byte_holds_what_was_erased(engine: Any) -> None:
    store = await engine.open()
    await store.use_spaces([SPACE])
    told = a_turn(
        f"the {SECRET} code", 1, key=f"fact.{SECRET}", tags=(SECRET,), metadata={"m": SECRET}, summary=SECRET,
        source_ref=SECRET, speaker=SECRET, task=SECRET, tools=(SECRET,),
    )  # fmt: skip
    before, after = a_turn("before", 0), a_turn("after", 2)
    edge = Relation(
        type=RelationType.MENTIONS, from_id=told.id, to_id=before.id, created_at=NOON, metadata={"e": SECRET}
    )
    async with store.transaction(ALICE) as tx:
        for memory in (before, after):
            await tx.add(memory, words_in(memory.content))
        marks = replace(words_in(told.content), names=(SECRET, "code"), times=(Window(day(1), day(2)),))
        await tx.add(told, marks)
        await tx.relate(edge)
        await tx.record([an_event(told, detail={"before": SECRET}, reason=SECRET), an_event(told), an_event(before)])
        await tx.set_vectors(SPACE.name, {m.id: np.eye(2, dtype=np.float32) for m in (told, after)})
        await tx.settle(Stage.INDEX, [told.id, after.id], {})
    assert (SECRET.encode() in engine.raw()) is engine.readable

    async with store.transaction(ALICE) as tx:
        erased = await tx.erase([told.id, "unknown"])
    assert erased == Erased(memories=1, words=3, vectors=2, relations=1, events=2, names=2, times=1)
    for table in engine.tables():
        assert SECRET not in repr(engine.rows(f"SELECT * FROM {table}")), table
        assert told.id not in repr(engine.rows(f"SELECT * FROM {table}")) or table == "events"
    assert await store.check() == []
    await engine.close()
    assert SECRET.encode() not in engine.raw()


async def test_the_turn_after_it_is_embedded_anew(store: Store) -> None:
    """Its vector was made of the turn before as well."""
    await store.use_spaces([SPACE])
    told, after, last = await put(store, a_turn("told", 0), a_turn("after", 1), a_turn("last", 2))
    async with store.transaction(ALICE) as tx:
        await tx.set_vectors(SPACE.name, {m.id: np.eye(2, dtype=np.float32)[:1] for m in (told, after, last)})
        await tx.settle(Stage.INDEX, [told.id, after.id, last.id], {})
        await tx.erase([told.id])
    reader = store.reading(ALICE.bank)
    assert await reader.lacking([after.id, last.id]) == {after.id}
    found = await reader.search_vector(SPACE.name, np.array([1, 0], np.float32), where(), 5)
    assert [each.id for each in found] == [last.id]


async def test_of_two_equal_texts_one_stays(store: Store) -> None:
    one, two = await put(store, a_memory("same text"), a_memory("same text"))
    async with store.transaction(ALICE) as tx:
        await tx.erase([one.id])
    found = await store.reading(ALICE.bank).search_words(["same"], where(), 5)
    assert [each.id for each in found] == [two.id]


async def test_another_banks_memory_is_not_erased(store: Store) -> None:
    (his,) = await put(store, a_memory("his", BOB), scope=BOB)
    async with store.transaction(ALICE) as tx:
        assert await tx.erase([his.id]) == Erased()
    assert await store.reading(BOB.bank).get([his.id]) == [his]


async def test_many_are_erased_at_once(store: Store) -> None:
    """800 took another system 142 seconds, one by one; the time limit of every test guards this one."""
    every = await put(store, *(a_turn(f"w{number} common", number) for number in range(800)))
    async with store.transaction(ALICE) as tx:
        assert (await tx.erase([memory.id for memory in every])).words == 1_600
    assert (await store.reading(ALICE.bank).stats()).memories == 0
