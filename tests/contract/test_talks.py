"""Which sessions are to be grouped into episodes: those that rest and say something new, or take something back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hindsight_memory.domain import Kind, Status
from hindsight_memory.store.base import Marks, Store, Talk
from samples import ALICE, BOB, NOON, a_memory, day


async def say(store: Store, session: str, *texts: str, **fields: Any) -> None:
    """Append turns to a session."""
    async with store.transaction(ALICE) as tx:
        for text in texts:
            place = await tx.next_turn(session, 1)
            turn = a_memory(text, turn=place, session_id=session, **{"kind": Kind.EPISODIC} | fields)
            await tx.add(turn, Marks())


async def waiting(store: Store, before: int = 1, limit: int = 10, after: str = "") -> list[Talk]:
    """The sessions to be grouped, where what was said before that day has rested."""
    return await store.reading(ALICE.bank).talks(day(before), limit, after)


async def test_a_session_that_rests_is_to_be_grouped_until_it_is(store: Store) -> None:
    await say(store, "a", "one", "two")
    await say(store, "b", "one", at=day(2))
    assert await waiting(store) == [Talk("a", 2, 0, 0)]
    assert await waiting(store, before=3) == [Talk("a", 2, 0, 0), Talk("b", 1, 0, 0)]
    assert await waiting(store, before=3, limit=1, after="a") == [Talk("b", 1, 0, 0)]
    assert await store.reading(BOB.bank).talks(day(3), 9) == []
    (talk,) = await waiting(store)
    async with store.transaction(ALICE) as tx:
        await tx.tell(talk, 2, 1)
    assert await waiting(store) == []
    await say(store, "a", "three")
    assert await waiting(store) == [Talk("a", 3, 2, 1)]


async def test_a_session_at_work_is_left_and_one_that_ended_is_not(store: Store) -> None:
    await say(store, "a", "on the desk", kind=Kind.WORKING)
    assert await waiting(store) == []
    await say(store, "b", "just said", at=day(5))
    async with store.transaction(ALICE) as tx:
        desk = replace(await tx.take_desk("b"), version=1)
        await tx.put_desk(replace(desk, expires_at=day(6)), NOON)
    assert await waiting(store) == []
    async with store.transaction(ALICE) as tx:
        await tx.put_desk(desk, NOON)
    assert [talk.session_id for talk in await waiting(store)] == ["b"]


CHANGES: tuple[dict[str, Any], ...] = (
    {"status": Status.DELETED},
    {"status": Status.ACTIVE},
    {"content": "one, and more"},
    {"superseded_by": "another"},
)


async def test_what_changes_a_turn_has_its_session_grouped_anew(store: Store) -> None:
    await say(store, "a", "one", "two")
    (talk,) = await waiting(store)
    for change in CHANGES:
        async with store.transaction(ALICE) as tx:
            (turn, _) = await tx.turns("a", 0, 1)
            await tx.change(turn, **change)
            await tx.tell(talk, 2, 1)  # what was read before that says nothing of it
        (again,) = await waiting(store)
        assert again.told < 0 == again.settled
        async with store.transaction(ALICE) as tx:
            await tx.tell(again, 2, 1)
        assert await waiting(store) == []
    async with store.transaction(ALICE) as tx:
        await tx.erase([turn.id])
    assert (await waiting(store))[0].told < 0


async def test_each_change_is_told_from_the_one_before(store: Store) -> None:
    await say(store, "a", "one", "two")
    told = []
    for _ in range(3):
        async with store.transaction(ALICE) as tx:
            (turn, _other) = await tx.turns("a", 0, 1)
            await tx.change(turn, content=f"{turn.content}.")
        told.append((await waiting(store))[0].told)
    assert told == [-1, -2, -3]
    async with store.transaction(ALICE) as tx:
        await tx.tell(Talk("a", 2, -2, 0), 2, 1)
    assert (await waiting(store))[0].told == -3


async def test_being_found_or_put_away_changes_nothing(store: Store) -> None:
    await say(store, "a", "one", "two")
    (talk,) = await waiting(store)
    async with store.transaction(ALICE) as tx:
        await tx.tell(talk, 2, 1)
        (turn, _) = await tx.turns("a", 0, 1)
        await tx.touch([turn.id], NOON)
        await tx.change(turn, importance=0.9)
    assert await waiting(store) == []
