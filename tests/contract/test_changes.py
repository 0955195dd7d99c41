"""Units of work: what is stored comes back as it was, all of a transaction or none of it."""

from __future__ import annotations

import asyncio
from dataclasses import fields, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_memory.domain import (
    Kind,
    Memory,
    Outcome,
    Relation,
    RelationType,
    Source,
    Status,
    Tier,
    Visibility,
)
from hindsight_memory.errors import Conflict
from hindsight_memory.store.base import Marks, Space, Stage, Store
from hindsight_memory.testing import StoppedClock
from samples import ALICE, BOB, NOON, a_memory, a_turn, an_event, day, put, where, words_in

FULL: dict[str, Any] = {
    "agent_id": "agent", "session_id": "session", "turn": 3, "speaker": "Ana", "visibility": Visibility.PRIVATE,
    "key": "fact.all", "summary": "short", "metadata": {"b": [1, None, {"c": "ü"}], "a": 1.5}, "tags": ("z", "a"),
    "source": Source.TOOL, "source_ref": "file:1", "trust": 0.25, "importance": 0.75, "pinned": True,
    "valid_from": day(1), "valid_until": day(2), "expires_at": day(3), "outcome": Outcome.FAILURE, "task": "t",
    "tools": ("hammer", "anvil"), "last_accessed_at": day(4), "access_count": 7, "tier": Tier.WARM,
    "status": Status.QUARANTINED, "deleted_at": day(5), "version": 9, "superseded_by": "other", "context_only": True,
    "helpful": 2, "doubted": 3, "judged_at": day(6),
    "kind": Kind.PROCEDURAL, "occurred_at": datetime(1, 1, 2, 0, 0, 0, 1, tzinfo=UTC), "schema_version": 1,
}  # fmt: skip


async def test_every_field_comes_back_as_it_was(store: Store) -> None:
    plain, full = a_memory("plain"), a_memory("full", **FULL)
    untouched = {f.name for f in fields(Memory)} - FULL.keys() - {"id", "bank_id", "content", "content_hash"}
    assert untouched == {"created_at"}, "a new field belongs into FULL"
    await put(store, plain, full)
    assert await store.reading(ALICE.bank).get([full.id, "unknown", plain.id]) == [full, plain]


@given(
    text=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=50).filter(
        str.strip
    )
)
async def test_any_text_comes_back_as_it_was(store: Store, text: str) -> None:
    held = a_memory(text, key=text, tags=(text,), metadata={text: text}, session_id=text, agent_id=text)
    await put(store, held)
    assert await store.reading(ALICE.bank).get([held.id]) == [held]
    asked = where(tags=(text,), key=text, session=text, agent=text, metadata={text: text})
    assert held.id in {memory.id for memory in await store.reading(ALICE.bank).find(asked, 1_000)}


async def test_a_change_makes_the_next_version(store: Store) -> None:
    (old,) = await put(store, a_memory("old", tags=("a", "b")))
    async with store.transaction(ALICE) as tx:
        new = await tx.change(old, words_in("new"), content="new", tags=("c",), importance=0.9)
        assert await tx.get([old.id]) == [new]
    assert new == replace(old, content="new", tags=("c",), importance=0.9, version=2)
    reader = store.reading(ALICE.bank)
    assert await reader.get([old.id]) == [new]
    assert await reader.find(where(tags=("a",)), 10) == []
    assert await reader.find(where(tags=("c",)), 10) == [new]
    assert await reader.search_words(["old"], where(), 10) == []
    assert [scored.id for scored in await reader.search_words(["new"], where(), 10)] == [old.id]


async def test_a_change_of_an_older_version_is_refused(store: Store) -> None:
    (old,) = await put(store, a_memory("old"))
    async with store.transaction(ALICE) as tx:
        await tx.change(old, importance=0.1)
    with pytest.raises(Conflict) as refused:
        async with store.transaction(ALICE) as tx:
            await tx.change(old, importance=0.9)
    assert refused.value.field == "version"
    (held,) = await store.reading(ALICE.bank).get([old.id])
    assert (held.importance, held.version) == (0.1, 2)


async def test_a_change_of_what_is_gone_is_refused(store: Store) -> None:
    (old,) = await put(store, a_memory("old"))
    async with store.transaction(ALICE) as tx:
        await tx.erase([old.id])
    with pytest.raises(Conflict):
        async with store.transaction(ALICE) as tx:
            await tx.change(old, importance=0.9)


async def test_an_error_leaves_nothing_behind(store: Store, engine: Any) -> None:
    (held,) = await put(store, a_turn("held words", 0))
    before = {table: engine.rows(f"SELECT * FROM {table}") for table in engine.tables()}
    with pytest.raises(ZeroDivisionError):  # noqa: PT012
        async with store.transaction(ALICE) as tx:
            fresh = a_turn("held fresh", 1)
            await tx.next_turn("s", 2)
            await tx.add(fresh, words_in(fresh.content))
            await tx.change(held, Marks(("other",)), tags=("x",), content="other")
            await tx.relate(Relation(type=RelationType.FOLLOWS, from_id=fresh.id, to_id=held.id, created_at=NOON))
            await tx.record([an_event(fresh)])
            await tx.touch([held.id], NOON)
            await tx.erase([held.id])
            raise ZeroDivisionError
    assert {table: engine.rows(f"SELECT * FROM {table}") for table in engine.tables()} == before
    await put(store, a_memory("and it works on"))


async def test_an_error_in_a_new_bank_leaves_no_bank(store: Store, engine: Any) -> None:
    with pytest.raises(ZeroDivisionError):
        async with store.transaction(ALICE):
            raise ZeroDivisionError
    assert engine.rows("SELECT * FROM banks") == []
    await put(store, a_memory("first"))
    assert await store.reading(ALICE.bank).count(where()) == 1


async def test_a_transaction_is_seen_by_itself_only_until_it_is_done(store: Store) -> None:
    fresh = a_memory("fresh")
    async with store.transaction(ALICE) as tx:
        await tx.add(fresh, Marks(("fresh",)))
        assert await tx.get([fresh.id]) == [fresh]
        assert await tx.count(where()) == 1
        assert len(await tx.search_words(["fresh"], where(), 5)) == 1
        assert await store.reading(ALICE.bank).get([fresh.id]) == []
    assert await store.reading(ALICE.bank).get([fresh.id]) == [fresh]


async def test_a_cancelled_transaction_ends(store: Store) -> None:
    inside, go = asyncio.Event(), asyncio.Event()

    async def write() -> None:
        async with store.transaction(ALICE) as tx:
            await tx.add(a_memory("cancelled"), Marks())
            inside.set()
            await go.wait()

    task = asyncio.create_task(write())
    await inside.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await store.reading(ALICE.bank).count(where()) == 0
    await put(store, a_memory("next"))


async def test_a_writer_that_gives_up_waiting_for_another_process_leaves_nothing_open(engine: Any) -> None:
    """A caller's timeout may fall into the wait for the lock; the transaction must not begin after it."""
    first, second = await engine.open(), await engine.open()
    async with first.transaction(ALICE) as tx:
        await tx.add(a_memory("first"), Marks())
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2), second.transaction(ALICE):
                pass
    await asyncio.sleep(0.3)
    await put(second, a_memory("second"))
    await put(first, a_memory("third"))
    assert await first.reading(ALICE.bank).count(where()) == 3


async def test_parallel_transactions_of_one_store_and_of_two_all_count(engine: Any) -> None:
    stores = [await engine.open(), await engine.open()]

    async def append(number: int) -> int:
        async with stores[number % 2].transaction(ALICE) as tx:
            place = await tx.next_turn("s", 1)
            await tx.add(a_turn(f"turn {number}", place), Marks(("turn",)))
            return place

    places = await asyncio.gather(*(append(number) for number in range(40)))
    assert sorted(places) == list(range(40))
    held = await stores[0].reading(ALICE.bank).turns("s", 0, 100)
    assert [memory.turn for memory in held] == list(range(40))


async def test_places_in_a_session_are_taken_once(store: Store) -> None:
    async with store.transaction(ALICE) as tx:
        assert await tx.next_turn("s", 0) == 0
        assert await tx.next_turn("s", 3) == 0
        assert await tx.next_turn("s", 1) == 3
        assert await tx.next_turn("t", 1) == 0
        assert await tx.next_turn("s", 0) == 4


async def test_turns_come_in_order_whatever_their_status(store: Store) -> None:
    turns = [a_turn(f"t{n}", n, status=Status.DELETED if n == 2 else Status.ACTIVE) for n in (3, 1, 2, 0)]
    await put(store, *turns, a_turn("elsewhere", 1, session="other"))
    found = await store.reading(ALICE.bank).turns("s", 1, 3)
    assert [memory.content for memory in found] == ["t1", "t2", "t3"]


async def test_what_happened_by_what_its_hash_begins_with(store: Store) -> None:
    """Hashes are of hexadecimal digits; that of an event may have more of them, for when it happened."""
    base, other = "a1" * 16, "a2" * 16
    plain = a_memory("ran", content_hash=base, kind=Kind.EPISODIC)
    dated = [a_memory("ran", content_hash=f"{base}{n:016x}", at=day(n), kind=Kind.EPISODIC) for n in (1, 2)]
    gone = a_memory("swam", content_hash=f"{other}{3:016x}", at=day(3), status=Status.DELETED, deleted_at=day(4))
    await put(store, plain, *dated, gone)
    reader = store.reading(ALICE.bank)
    assert await reader.happened(base, day(1)) == dated[0]
    assert await reader.happened(base, day(0)) == plain
    assert await reader.happened(base, day(9)) is None
    assert await reader.happened(base, None) == dated[1], "the newest"
    assert await reader.happened(other, None) == gone
    assert await reader.happened(base[:-1] + "0", None) is None
    assert await store.reading(BOB.bank).happened(base, None) is None
    active = a_memory("swam", content_hash=other, at=day(1))
    await put(store, active)
    assert await reader.happened(other, None) == active


async def test_known_prefers_the_active_one(store: Store) -> None:
    gone = a_memory("x", content_hash="h", status=Status.DELETED)
    await put(store, gone)
    reader = store.reading(ALICE.bank)
    assert await reader.known("h") == gone
    (active,) = await put(store, a_memory("x", content_hash="h", at=day(-3)))
    assert await reader.known("h") == active
    assert await reader.known("other") is None


async def test_current_is_the_newest_active_memory_of_a_key(store: Store) -> None:
    await put(
        store,
        a_memory("old", key="k", occurred_at=day(1)),
        a_memory("new", key="k", occurred_at=day(2)),
        a_memory("retired", key="k", occurred_at=day(3), status=Status.SUPERSEDED),
        a_memory("other key", key="k2", occurred_at=day(4)),
    )
    held = await store.reading(ALICE.bank).current("k")
    assert held is not None
    assert held.content == "new"


async def test_a_private_memory_is_current_for_its_agent_alone(store: Store) -> None:
    hers = a_memory("hers", key="k", agent_id="a", visibility=Visibility.PRIVATE)
    await put(store, hers)
    reader = store.reading(ALICE.bank)
    assert await reader.current("k") is None
    assert await reader.current("k", "b") is None
    assert await reader.current("k", "a") == hers


async def test_two_active_memories_never_share_a_hash(store: Store) -> None:
    await put(store, a_memory("x", content_hash="h"))
    with pytest.raises(Exception, match=r"failed|duplicate"):
        await put(store, a_memory("x", content_hash="h"))
    assert await store.reading(ALICE.bank).count(where()) == 1


async def test_relations_are_found_from_both_ends_and_replaced(store: Store) -> None:
    first = Relation(type=RelationType.SUPPORTS, from_id="a", to_id="b", created_at=NOON, metadata={"n": 1})
    second = Relation(type=RelationType.MENTIONS, from_id="c", to_id="a", created_at=day(1), weight=0.5)
    async with store.transaction(ALICE) as tx:
        for relation in (first, second, replace(first, weight=0.25, metadata={"n": 2})):
            await tx.relate(relation)
    reader = store.reading(ALICE.bank)
    assert await reader.relations(["a"]) == [replace(first, weight=0.25, metadata={"n": 2}), second]
    assert [relation.type for relation in await reader.relations(["b", "c"])] == ["supports", "mentions"]
    assert await reader.relations(["d"]) == []


async def test_events_come_newest_first_and_by_memory(store: Store) -> None:
    one, two = await put(store, a_memory("one"), a_memory("two"))
    events = [an_event(one), an_event(two), an_event(one, "forget", reason="why", detail={"n": [1, "ü"]})]
    async with store.transaction(ALICE) as tx:
        await tx.record(events[:2])
        await tx.record([])
        await tx.record(events[2:])
    reader = store.reading(ALICE.bank)
    assert await reader.events(None, 10) == events[::-1]
    assert await reader.events(None, 1) == [events[2]]
    assert await reader.events(one.id, 10) == [events[2], events[0]]


async def test_touching_counts_and_is_no_new_version(store: Store) -> None:
    (held,) = await put(store, a_memory("held"))
    for number in (1, 2):
        async with store.transaction(ALICE) as tx:
            await tx.touch([held.id, "unknown"], day(number))
    (found,) = await store.reading(ALICE.bank).get([held.id])
    assert found == replace(held, access_count=2, last_accessed_at=day(2))


async def test_many_ids_at_once(store: Store) -> None:
    every = await put(store, *(a_memory(f"m{number}") for number in range(1_300)))
    ids = [memory.id for memory in every]
    reader = store.reading(ALICE.bank)
    assert [memory.id for memory in await reader.get(ids)] == ids
    assert await reader.lacking(ids) == set(ids)
    async with store.transaction(ALICE) as tx:
        await tx.touch(ids, NOON)
        assert (await tx.erase(ids)).memories == 1_300
    assert await reader.count(where()) == 0


async def test_statistics_count_what_stands(store: Store) -> None:
    space = Space(name="t", spec="t", dimension=2, template="plain", calibration={})
    await store.use_spaces([space])
    one, _, _ = await put(store, a_memory("one"), a_memory("two"), a_memory("gone", status=Status.DELETED))
    async with store.transaction(ALICE) as tx:
        await tx.set_vectors("t", {one.id: np.eye(2, dtype=np.float32)})
        await tx.settle(Stage.INDEX, [one.id], {})
    stats = await store.reading(ALICE.bank).stats()
    assert (stats.memories, stats.unindexed, dict(stats.vectors)) == (2, 1, {"t": 1})


async def test_a_store_opened_again_holds_what_it_held(engine: Any, clock: StoppedClock) -> None:
    (held,) = await put(await engine.open(), a_memory("held"))
    await engine.close()
    again = await engine.open()
    assert await again.reading(ALICE.bank).get([held.id]) == [held]
    assert await again.check() == []


async def test_several_are_changed_as_one_is(store: Store) -> None:
    held = await put(store, a_memory("one bee"), a_memory("two bees"), a_memory("three bees"))
    async with store.transaction(ALICE) as tx:
        after = await tx.change_all(held[:2], status=Status.DELETED, deleted_at=day(1))
    assert after == [replace(each, status=Status.DELETED, deleted_at=day(1), version=2) for each in held[:2]]
    reader = store.reading(ALICE.bank)
    assert await reader.get([each.id for each in held]) == [*after, held[2]]
    assert [each.id for each in await reader.search_words(["bee"], where(), 5)] == []
    with pytest.raises(Conflict):
        async with store.transaction(ALICE) as tx:
            await tx.change_all([held[2], held[0]], importance=0.9)
    assert await reader.get([held[2].id]) == [held[2]], "all or none"
