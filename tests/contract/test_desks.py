"""Desks: the state of a session, its working messages, and who finds them."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

from contract.conftest import Engine
from hindsight_memory.domain import Desk, Kind, Memory, SessionState, Status, Window
from hindsight_memory.store.base import Marks, Space, Store
from samples import ALICE, BOB, NOON, a_memory, a_turn, day, put, where

VECTOR = np.array([[1.0, 0.0]], np.float32)
SPACE = Space(name="s", spec="s", dimension=2, template="plain", calibration={})


def a_message(content: str, turn: int, session: str = "s", **fields: object) -> Memory:
    return replace(a_turn(content, turn, session=session), **{"kind": Kind.WORKING, "expires_at": day(1), **fields})


async def test_a_desk_that_is_not_there_is_empty_and_is_not_made_by_reading(store: Store, engine: Engine) -> None:
    reader = store.reading(ALICE.bank)
    assert await reader.desk("s") == Desk(session_id="s")
    assert await reader.working("s", 10) == []
    assert await reader.expired_sessions(NOON, 10) == []
    assert engine.rows("SELECT count(*) FROM banks") == [(0,)]
    async with store.transaction(ALICE) as tx:
        assert await tx.desk("s") == Desk(session_id="s")
        assert await tx.take_desk("s") == Desk(session_id="s")


async def test_a_desk_comes_back_as_it_was_put(store: Store) -> None:
    state = SessionState(
        task_goal="多行 %_*'\"",
        current_step="b",
        confirmed_facts=("a", "“b”"),
        open_questions=("c?",),
        decisions=("d",),
        discarded=("e",),
    )
    desk = Desk(session_id="a/b %_'", state=state, given=("task_goal",), version=7, expires_at=day(1))
    async with store.transaction(ALICE) as tx:
        await tx.take_desk(desk.session_id)
        await tx.put_desk(desk, NOON)
        assert await tx.take_desk(desk.session_id) == desk
    assert await store.reading(ALICE.bank).desk(desk.session_id) == desk
    assert await store.reading(BOB.bank).desk(desk.session_id) == Desk(session_id=desk.session_id)
    empty = Desk(session_id=desk.session_id, version=8)
    async with store.transaction(ALICE) as tx:
        await tx.put_desk(empty, NOON)
    assert await store.reading(ALICE.bank).desk(desk.session_id) == empty


async def test_a_desk_keeps_the_places_of_its_session(store: Store) -> None:
    async with store.transaction(ALICE) as tx:
        assert await tx.next_turn("s", 3) == 0
        await tx.put_desk(await tx.take_desk("s"), NOON)
        assert await tx.next_turn("s", 1) == 3


async def test_a_desk_is_taken_by_one_transaction_at_a_time(engine: Engine) -> None:
    """Over two stores, as two processes have them."""
    stores = [await engine.open(), await engine.open()]

    async def patch(number: int) -> None:
        async with stores[number % 2].transaction(ALICE) as tx:
            desk = await tx.take_desk("s")
            await asyncio.sleep(0)
            state = replace(desk.state, decisions=(*desk.state.decisions, f"d{number}"))
            await tx.put_desk(replace(desk, state=state, version=desk.version + 1), NOON)

    await asyncio.gather(*(patch(number) for number in range(20)))
    desk = await stores[0].reading(ALICE.bank).desk("s")
    assert (len(desk.state.decisions), desk.version) == (20, 20)


async def test_a_transaction_that_fails_leaves_the_desk_as_it_was(store: Store) -> None:
    async def fails() -> None:
        async with store.transaction(ALICE) as tx:
            await tx.put_desk(replace(await tx.take_desk("s"), version=3), NOON)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        await fails()
    assert (await store.reading(ALICE.bank).desk("s")).version == 0


async def test_working_messages_are_read_newest_first_whatever_their_state(store: Store) -> None:
    messages = [a_message(f"m{number}", number) for number in range(4)]
    messages[1] = replace(messages[1], status=Status.DELETED, deleted_at=NOON)
    messages[2] = replace(messages[2], expires_at=day(-1))
    note = a_memory("a note", kind=Kind.WORKING, session_id="s", expires_at=day(1))
    await put(store, *messages, a_turn("promoted", 4), a_message("other", 0, session="t"), note)
    reader = store.reading(ALICE.bank)
    assert [each.content for each in await reader.working("s", 10)] == ["m3", "m2", "m1", "m0"]
    assert [each.content for each in await reader.working("s", 2)] == ["m3", "m2"]
    assert await store.reading(BOB.bank).working("s", 10) == []


async def test_what_has_not_expired_lives_as_long_as_its_desk(store: Store) -> None:
    kept, over = a_message("kept", 0), a_message("over", 1, expires_at=NOON)
    longer = a_message("longer", 2, expires_at=day(9))
    others = [
        a_message("elsewhere", 0, session="t"),
        a_turn("episodic", 3, expires_at=day(1)),
        a_memory("a note", kind=Kind.WORKING, session_id="s", expires_at=day(1)),
    ]
    await put(store, kept, over, longer, *others)
    await put(store, a_message("bob's", 0), scope=BOB)
    async with store.transaction(ALICE) as tx:
        await tx.put_desk(replace(await tx.take_desk("s"), expires_at=day(2)), NOON)
    held = await store.reading(ALICE.bank).get([each.id for each in (kept, over, longer, *others)])
    assert [each.expires_at for each in held] == [day(2), NOON, day(9), day(1), day(1), day(1)]
    assert {each.version for each in held} == {1}, "it says the same"
    (bobs,) = await store.reading(BOB.bank).working("s", 1)
    assert bobs.expires_at == day(1)


async def test_expired_sessions_come_oldest_first_and_bounded(store: Store) -> None:
    ends = {"c": day(-1), "a": day(-3), "b": NOON, "later": NOON + timedelta(microseconds=1), "none": None}
    async with store.transaction(ALICE) as tx:
        for session, end in ends.items():
            await tx.put_desk(replace(await tx.take_desk(session), expires_at=end), NOON)
    reader = store.reading(ALICE.bank)
    assert await reader.expired_sessions(NOON, 10) == ["a", "c", "b"]
    assert await reader.expired_sessions(NOON, 2) == ["a", "c"]
    assert await store.reading(BOB.bank).expired_sessions(NOON, 10) == []


@pytest.mark.parametrize(
    ("desk", "seen"), [(None, {"kept", "note"}), ("s", {"kept", "mine", "note"}), ("t", {"kept", "note", "other"})]
)
async def test_every_search_sees_the_asking_sessions_desk_only(store: Store, desk: str | None, seen: set[str]) -> None:
    memories = [
        a_message("mine", 0),
        a_message("other", 0, session="t"),
        a_turn("kept", 1),
        a_memory("note", kind=Kind.WORKING, expires_at=day(1)),
    ]
    await store.use_spaces([SPACE])
    async with store.transaction(ALICE) as tx:
        for each in memories:
            names = ("anna", f"only {each.content}")
            await tx.add(each, Marks((each.content, "all"), names))
        await tx.set_vectors("s", {each.id: VECTOR for each in memories})
    reader, asked = store.reading(ALICE.bank), where(desk=desk)
    by_id = {each.id: each.content for each in memories}
    found = {
        "words": await reader.search_words(["all"], asked, 10),
        "vector": await reader.search_vector("s", VECTOR[0], asked, 10),
        "time": await reader.search_time(Window(day(-1), day(1)), asked, 10),
        "graph": await reader.search_graph({}, {"anna": 1.0}, asked, 10),
    }
    for signal, scored in found.items():
        assert {by_id[each.id] for each in scored} == seen, signal
    assert {each.content for each in await reader.find(asked, 10)} == seen
    assert await reader.count(asked) == len(seen)
    names = await reader.names_known([f"only {content}" for content in by_id.values()], asked)
    assert set(names) == {f"only {content}" for content in seen}
    assert await reader.count(where(desk=desk, findable=False)) == 4, "a listing shows them"
