"""What maintenance asks of a store: whose time has come, who leads, what was done, what happened."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from hindsight_memory.domain import Erased, Memory, Relation, RelationType, Scope, Status, Tier, Visibility, Window
from hindsight_memory.store import erasure, sqlite_file
from hindsight_memory.store.base import Aged, Done, Marks, Space, Stage, Store, Terms
from hindsight_memory.testing import StoppedClock
from samples import ALICE, BOB, NOON, a_memory, a_turn, an_event, day, put, where

SPACE = Space(name="s", spec="s", dimension=2, template="plain", calibration={})
EVERY_ONE = where(viewer="coder")
PRIVATE: dict[str, Any] = {"agent_id": "coder", "visibility": Visibility.PRIVATE}


async def paged(store: Store, asked: Aged, size: int = 1) -> list[str]:
    """All contents, a page after the other."""
    found: list[Memory] = []
    while page := await store.reading(ALICE.bank).aged(asked, size, found[-1] if found else None):
        assert len(page) <= size
        found += page
    return [memory.content for memory in found]


async def test_whose_end_has_come_whoever_may_see_it(store: Store) -> None:
    await put(
        store,
        a_memory("second", expires_at=day(2), **PRIVATE),
        a_memory("first", expires_at=day(1), status=Status.SUPERSEDED),
        a_memory("same time", expires_at=day(2), tier=Tier.COLD, id="ffff"),
        a_memory("later", expires_at=day(4)),
        a_memory("never"),
        a_memory("gone already", expires_at=day(1), status=Status.DELETED, deleted_at=day(1)),
        a_memory("under suspicion", expires_at=day(1), status=Status.QUARANTINED),
    )
    await put(store, a_memory("his", BOB, expires_at=day(1)), scope=BOB)
    for size in (1, 2, 9):
        assert await paged(store, Aged(by="expires", until=day(3)), size) == ["first", "second", "same time"]
    assert await paged(store, Aged(by="expires", until=day(2), since=day(1))) == ["second", "same time"]
    assert await store.reading(Scope(user_id="nobody").bank).aged(Aged(by="expires", until=day(9)), 9) == []


async def test_what_was_forgotten_long_ago(store: Store) -> None:
    gone = {"status": Status.DELETED}
    await put(
        store,
        a_memory("b", deleted_at=day(2), **gone),
        a_memory("a", deleted_at=day(1), **gone),
        a_memory("new", deleted_at=day(8), **gone),
        a_memory("back", deleted_at=day(1)),
    )
    assert await paged(store, Aged(by="deleted", until=day(7))) == ["a", "b"]


async def test_what_nobody_used(store: Store) -> None:
    await put(
        store,
        a_memory("learnt", at=day(1)),
        a_memory("used", last_accessed_at=day(2)),
        a_memory("fresh", last_accessed_at=day(9)),
        a_memory("pinned", pinned=True),
        a_memory("warm", tier=Tier.WARM),
        a_memory("superseded", status=Status.SUPERSEDED),
    )
    assert await paged(store, Aged(by="used", until=day(5), tier=Tier.HOT)) == ["learnt", "used"]
    assert await paged(store, Aged(by="used", until=day(5), tier=Tier.WARM)) == ["warm"]
    assert await paged(store, Aged(by="used", until=day(9), since=day(1), tier=Tier.HOT)) == ["used", "fresh"]


async def test_a_sweep_sees_all_that_is_active_in_the_order_it_was_stored(store: Store) -> None:
    await put(
        store,
        a_memory("late", at=day(9)),
        a_memory("early, stored after", at=day(-9), **PRIVATE),
        a_memory("gone", status=Status.DELETED),
        a_memory("cold", tier=Tier.COLD, expires_at=day(-1)),
    )
    reader = store.reading(ALICE.bank)
    found = await reader.sweep(0, 2)
    assert [memory.content for _, memory in found] == ["late", "early, stored after"]
    assert [memory.content for _, memory in await reader.sweep(found[-1][0], 9)] == ["cold"]
    assert await reader.active() == 3
    assert await store.reading(BOB.bank).sweep(0, 9) == []
    assert await store.reading(BOB.bank).active() == 0


async def test_a_tier_is_set_without_a_new_version(store: Store) -> None:
    one, two = await put(store, a_memory("one"), a_memory("two"))
    (his,) = await put(store, a_memory("his", BOB), scope=BOB)
    async with store.transaction(ALICE) as tx:
        await tx.set_tier([one.id, his.id, "unknown"], Tier.COLD)
        await tx.set_tier([], Tier.WARM)
    held = await store.reading(ALICE.bank).get([one.id, two.id])
    assert [(memory.tier, memory.version) for memory in held] == [(Tier.COLD, 1), (Tier.HOT, 1)]
    assert await store.reading(BOB.bank).get([his.id]) == [his]


async def test_the_nearest_of_each_of_many(store: Store) -> None:
    await store.use_spaces([SPACE])
    (gone,) = await put(store, a_memory("gone", status=Status.DELETED, deleted_at=NOON))
    every = await put(store, *(a_memory(f"m{n}", **PRIVATE) for n in range(4)), a_memory("no vector"))
    turned = {memory.id: np.array([[np.cos(n), np.sin(n)]], np.float32) for n, memory in enumerate(every[:4])}
    turned[every[0].id] = np.array([[1, 0], [1, 0]], np.float32)  # two windows
    async with store.transaction(ALICE) as tx:
        await tx.set_vectors(SPACE.name, turned | {gone.id: turned[every[1].id]})
    reader = store.reading(ALICE.bank)
    found = await reader.alike(SPACE.name, [every[0].id, every[3].id, every[4].id, "unknown"], 2)
    assert found == {every[0].id: [every[1].id, every[2].id], every[3].id: [every[2].id, every[1].id]}
    assert await reader.alike(SPACE.name, [every[1].id], 2) == {every[1].id: [every[0].id]}, "only what came before"
    assert await reader.alike(SPACE.name, [], 2) == {}
    assert await reader.alike("unknown", [every[0].id], 2) == {}
    assert await store.reading(BOB.bank).alike(SPACE.name, [every[0].id], 2) == {}


async def test_what_was_done_is_remembered(store: Store) -> None:
    assert await store.reading(ALICE.bank).upkeep() == {}
    async with store.transaction(ALICE) as tx:
        await tx.settle_upkeep("expire", Done(day(1)))
        await tx.settle_upkeep("merge", Done(day(1), 7))
        await tx.settle_upkeep("expire", Done(day(2), 3))
    assert await store.reading(ALICE.bank).upkeep() == {"expire": Done(day(2), 3), "merge": Done(day(1), 7)}
    assert await store.reading(BOB.bank).upkeep() == {}


async def test_one_leads_until_it_resigns_or_its_lease_runs_out(engine: Any, clock: StoppedClock) -> None:
    one, two = [await engine.open(), await engine.open()]
    assert await one.lead("maintenance", "me", 60) == "me"
    assert await two.lead("maintenance", "you", 60) == "me"
    assert await two.lead("another role", "you", 60) == "you"
    clock.advance(seconds=40)
    assert await one.lead("maintenance", "me", 60) == "me"
    clock.advance(seconds=40)
    assert await two.lead("maintenance", "you", 60) == "me"
    clock.advance(seconds=21)
    assert await two.lead("maintenance", "you", 60) == "you"
    await one.resign("maintenance", "me")
    assert await one.lead("maintenance", "me", 60) == "you"
    await two.resign("maintenance", "you")
    assert await one.lead("maintenance", "me", 60) == "me"


async def test_of_many_who_want_to_lead_one_does(engine: Any) -> None:
    stores = [await engine.open() for _ in range(3)]
    said = await asyncio.gather(*(stores[n % 3].lead("maintenance", f"h{n}", 60) for n in range(9)))
    assert len(set(said)) == 1


async def test_a_clock_that_went_back_does_not_keep_the_lead_for_ever(store: Store, clock: StoppedClock) -> None:
    await store.lead("maintenance", "me", 60)
    clock.advance(days=-30)
    assert await store.lead("maintenance", "you", 60) == "you"


async def test_banks_a_page_at_a_time(store: Store) -> None:
    scopes = [ALICE, BOB, Scope(user_id=None), Scope(namespace="other", user_id="a/b%"), Scope(user_id="用户")]
    for scope in scopes:
        await put(store, a_memory("m", scope), scope=scope)
    found: list[Scope] = []
    while page := await store.banks(None, found[-1].bank if found else None, 2):
        assert len(page) <= 2
        found += page
    assert sorted(scope.bank for scope in found) == sorted(scope.bank for scope in scopes)
    assert set(found) == set(scopes)
    assert await store.banks("other", None, 9) == [scopes[3]]
    assert await store.banks("nobody's", None, 9) == []


async def test_what_happened_comes_in_time_order_a_page_at_a_time(store: Store) -> None:
    mine, his, gone = a_memory("mine"), a_memory("his", **PRIVATE), a_memory("gone")
    async with store.transaction(ALICE) as tx:
        for memory in (mine, his, gone):
            await tx.add(memory, Marks())
        events = [
            an_event(mine, "third", at=day(3)),
            an_event(mine, "first", at=day(1)),
            an_event(his, "hidden", at=day(2)),
            an_event(gone, "second", at=day(2)),
            an_event(mine, "same time", at=day(3)),
            an_event(mine, "nobody's", at=day(3), memory_id=None),
            an_event(mine, "until", at=day(4)),
        ]
        await tx.record(events)
        await tx.erase([gone.id])

    async def story(viewer: str | None, size: int) -> list[str]:
        reader, told, after = store.reading(ALICE.bank), [], None
        while page := await reader.replay(Window(day(1), day(4)), viewer, size, after):
            assert len(page) <= size
            told += [event.verb for _, event in page]
            after = page[-1][0]
        return told

    for size in (1, 2, 9):
        assert await story(None, size) == ["first", "second", "third", "same time", "nobody's"]
        assert await story("coder", size) == ["first", "hidden", "second", "third", "same time", "nobody's"]
    assert await store.reading(BOB.bank).replay(Window(day(0), day(9)), "coder", 9) == []


async def test_no_table_and_no_byte_holds_what_a_bank_held(engine: Any) -> None:
    secret = "xylophonequartz"
    store = await engine.open()
    await store.use_spaces([SPACE])
    turns = [
        a_turn(f"{secret} {number}", number, session=secret, key=f"{secret}.{number}", tags=(secret,))
        for number in range(3)
    ]
    (his,) = await put(store, a_memory("his", BOB), scope=BOB)
    async with store.transaction(ALICE) as tx:
        await tx.next_turn(secret, 3)
        for turn in turns:
            await tx.add(turn, Marks((secret, "word"), (secret,), (Window(day(1), day(2)),)))
        await tx.set_vectors(SPACE.name, {turn.id: np.eye(2, dtype=np.float32) for turn in turns})
        await tx.relate(Relation(type=RelationType.MENTIONS, from_id=turns[0].id, to_id=secret, created_at=NOON))
        await tx.record([an_event(turns[0], reason=secret), an_event(turns[0], memory_id=None, reason=secret)])
        await tx.settle_upkeep(secret, Done(NOON))
    await store.claim(Stage.INDEX, "me", Terms(batch=9, lease_s=60, attempts=2))
    reader = store.reading(ALICE.bank)
    assert await reader.search_vector(SPACE.name, np.array([1, 0], np.float32), EVERY_ONE, 9)

    async with store.transaction(ALICE) as tx:
        erased = await tx.erase_bank()
    assert erased == Erased(memories=3, words=6, vectors=6, relations=1, events=2, names=3, times=3, sessions=1)
    assert await reader.search_vector(SPACE.name, np.array([1, 0], np.float32), EVERY_ONE, 9) == []
    ((number,),) = engine.rows("SELECT bank FROM banks WHERE bank_id = :bank", bank=ALICE.bank)
    of_a_bank = {table for table in engine.tables() if "bank" in engine.columns(table)} - {"banks"}
    assert of_a_bank == {*erasure.OF_A_BANK, "events"}, "a new table is emptied with its bank too"
    assert not [table for table in of_a_bank if engine.rows(f"SELECT 1 FROM {table} WHERE bank = {number}")]
    assert await store.reading(BOB.bank).get([his.id]) == [his]
    assert (await store.scrub()).compacted
    assert secret.encode() not in engine.raw()
    assert await store.check() == []

    (again,) = await put(store, a_turn("word", 0, session=secret))
    assert [each.id for each in await reader.search_words(["word"], EVERY_ONE, 9)] == [again.id]


async def test_a_bank_that_was_emptied_keeps_its_number(engine: Any) -> None:
    """Another's bank with the same number would be taken for it by the caches of every process."""
    store, other = await engine.open(), await engine.open()
    await put(store, a_memory("hers"))
    assert len(await other.reading(ALICE.bank).sweep(0, 9)) == 1
    async with store.transaction(ALICE) as tx:
        await tx.erase_bank()
    await put(store, a_memory("his", BOB), scope=BOB)
    assert await other.reading(ALICE.bank).sweep(0, 9) == []


@pytest.mark.parametrize("engines", ["sqlite"], indirect=True)
async def test_every_statement_is_looked_up_in_an_index(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    (held,) = await put(store, a_memory("m", expires_at=day(1)))
    steps: list[str] = []
    run = sqlite_file._run

    def explained(connection: Any, statement: Any) -> Any:
        if statement.many is None:
            plan = connection.execute(f"EXPLAIN QUERY PLAN {statement.sql}", statement.params or {})
            steps.extend(row[3] for row in plan)
        return run(connection, statement)

    monkeypatch.setattr(sqlite_file, "_run", explained)
    reader = store.reading(ALICE.bank)
    for after in (None, held):
        await reader.aged(Aged(by="expires", until=day(9)), 9, after)
        await reader.aged(Aged(by="used", until=day(9), since=day(-9), tier=Tier.HOT), 9, after)
    await reader.aged(Aged(by="deleted", until=day(9)), 9)
    await reader.sweep(0, 9)
    await reader.upkeep()
    for mark in (None, (1, 1)):
        await reader.replay(Window(day(0), day(9)), None, 9, mark)
    async with store.transaction(ALICE) as tx:
        await tx.set_tier([held.id], Tier.WARM)
    await store.lead("r", "h", 9)
    assert len(steps) > 12
    steps = [step for step in steps if "upkeep" not in step]  # a line a routine
    assert not [step for step in steps if "SCAN" in step or "TEMP B-TREE" in step or step.endswith("(bank=?)")]


async def test_the_latest_event_that_counts(store: Store) -> None:
    reader = store.reading(ALICE.bank)
    assert await reader.last_event(0, "maintenance", ["tier"]) == 0
    held = a_memory("held")
    await put(store, held)
    async with store.transaction(ALICE) as tx:
        await tx.record([an_event(held), an_event(held)])
    first = await reader.last_event(0, "maintenance", ["tier"])
    assert first > 0
    assert await reader.last_event(first, "maintenance", ["tier"]) == 0
    async with store.transaction(ALICE) as tx:
        await tx.record([replace(an_event(held), actor="maintenance", verb="tier")])
    assert await reader.last_event(first, "maintenance", ["tier"]) == 0
    assert await reader.last_event(first, "maintenance", ["purge"]) == first + 1
    assert await reader.last_event(first, "alice", ["tier"]) == first + 1
    assert await store.reading(BOB.bank).last_event(0, "x", []) == 0


async def test_what_has_a_key_that_begins_so(store: Store) -> None:
    kept = [
        a_memory("one", key="lesson.1", id="a"),
        a_memory("two", key="lesson.2", id="b", status=Status.DELETED, deleted_at=day(1)),
        a_memory("three", key="lesson.3", id="c", **PRIVATE),
    ]
    await put(
        store,
        *kept,
        a_memory("past", key="lesson.1", status=Status.SUPERSEDED),
        a_memory("held back", key="lesson.4", status=Status.QUARANTINED),
        a_memory("other", key="lessons.1"),
        a_memory("wild", key="%.%"),
        a_memory("none"),
    )
    reader = store.reading(ALICE.bank)
    assert await reader.keyed("lesson.", 10) == kept
    assert await reader.keyed("lesson.", 1) == kept[:1]
    assert await reader.keyed("lesson.", 10, "a") == kept[1:]
    assert [each.content for each in await reader.keyed("%", 10)] == ["wild"]
    assert await store.reading(BOB.bank).keyed("lesson.", 10) == []
