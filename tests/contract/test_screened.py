"""A bank's own rules for personal data, and all it holds, to be looked at again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from hindsight_memory.domain import Handling, Relation, RelationType, SessionState, Status
from hindsight_memory.store.base import Marks, Space, Stage
from samples import ALICE, BOB, NOON, a_memory, a_turn, an_event, put

SPACE = Space(name="s", spec="s", dimension=2, template="plain", calibration={})


async def test_rules_are_a_banks_own_and_can_be_taken_back(store: Any) -> None:
    assert await store.reading(ALICE.bank).rules() == {}
    async with store.transaction(ALICE) as tx:
        await tx.set_rules({"phone": Handling.ALLOW, "secrets": Handling.REJECT})
        await tx.set_rules({"phone": Handling.MASK, "email": None})
        assert await tx.rules() == {"phone": Handling.MASK, "secrets": Handling.REJECT}
    assert await store.reading(BOB.bank).rules() == {}
    async with store.transaction(BOB) as tx:
        await tx.set_rules({"phone": Handling.REDACT})
    async with store.transaction(ALICE) as tx:
        await tx.set_rules({"phone": None})
    assert await store.reading(ALICE.bank).rules() == {"secrets": Handling.REJECT}
    assert await store.reading(BOB.bank).rules() == {"phone": Handling.REDACT}


async def test_all_that_is_stored_is_told_in_its_order_a_page_at_a_time(store: Any) -> None:
    held = [a_memory(str(status), status=status) for status in Status]
    held.append(a_memory("private", visibility="private", agent_id="coder"))
    for memory in held:
        await put(store, memory)
    await put(store, a_memory("his", BOB), scope=BOB)
    reader = store.reading(ALICE.bank)
    assert [memory.id for _, memory in await reader.stored(0, 99)] == [memory.id for memory in held]
    page = await reader.stored(0, 2)
    rest = await reader.stored(page[-1][0], 99)
    assert [memory.id for _, memory in (*page, *rest)] == [memory.id for memory in held]
    assert await store.reading("default/nobody").stored(0, 9) == []


async def test_what_is_cleansed_leaves_its_log_and_the_vector_of_the_next_turn(store: Any) -> None:
    await store.use_spaces([SPACE])
    turns = [a_turn(text, number) for number, text in enumerate(("secret", "next", "far"))]
    async with store.transaction(ALICE) as tx:
        for turn in turns:
            await tx.add(turn, Marks(("word",)))
        await tx.set_vectors(SPACE.name, {turn.id: np.eye(2, dtype=np.float32)[:1] for turn in turns})
        await tx.settle(Stage.INDEX, [turn.id for turn in turns], {})
        await tx.record(
            [an_event(turns[0], reason="secret", detail={"a": "secret"}), an_event(turns[1], reason="kept")]
        )
    reader = store.reading(ALICE.bank)
    assert await reader.lacking([turn.id for turn in turns]) == set()
    async with store.transaction(ALICE) as tx:
        await tx.cleanse(turns[0])
    (event,) = await reader.events(turns[0].id, 9)
    assert (event.verb, event.reason, event.detail) == ("write", "", {})
    assert (await reader.events(turns[1].id, 9))[0].reason == "kept"
    assert await reader.lacking([turn.id for turn in turns]) == {turns[1].id}


async def test_sessions_that_say_something_are_told_of_a_page_at_a_time(store: Any) -> None:
    async with store.transaction(ALICE) as tx:
        for name in ("b", "a", "c d/%", "empty"):
            desk = await tx.take_desk(name)
            state = SessionState(task_goal=f"goal {name}") if name != "empty" else SessionState()
            await tx.put_desk(replace(desk, state=state, version=1, expires_at=NOON), NOON)
    async with store.transaction(BOB) as tx:
        await tx.put_desk(replace(await tx.take_desk("his"), state=SessionState(task_goal="x"), version=1), NOON)
    reader = store.reading(ALICE.bank)
    first = await reader.desks("", 2)
    assert [(desk.session_id, desk.state.task_goal) for desk in first] == [("a", "goal a"), ("b", "goal b")]
    assert [desk.session_id for desk in await reader.desks("b", 2)] == ["c d/%"]
    assert await store.reading("nowhere/").desks("", 9) == []


async def test_edges_are_removed_one_by_one(store: Any) -> None:
    one, other = a_memory("one"), a_memory("other")
    for memory in (one, other):
        await put(store, memory)
    edges = [
        Relation(type=kind, from_id=start.id, to_id="li", created_at=NOON)
        for kind in (RelationType.MENTIONS, RelationType.FOLLOWS)
        for start in (one, other)
    ]
    async with store.transaction(ALICE) as tx:
        for edge in edges:
            await tx.relate(edge)
    await put(store, a_memory("his", BOB), scope=BOB)
    async with store.transaction(BOB) as tx:
        await tx.unrelate(edges)  # another's bank
    async with store.transaction(ALICE) as tx:
        await tx.unrelate([])
        await tx.unrelate([edges[0], edges[0]])
    left = await store.reading(ALICE.bank).relations([one.id, other.id])
    assert {(edge.type, edge.from_id) for edge in left} == {(edge.type, edge.from_id) for edge in edges[1:]}
