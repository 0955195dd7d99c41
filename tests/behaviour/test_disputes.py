"""How a memory came to be what it is, what contradicts what, and who is right."""

from __future__ import annotations

from typing import Any

import pytest

from hindsight_memory import AsyncHindsightMemory, Conflict, InvalidInput, NotFound, Status
from hindsight_memory.testing import StoppedClock


async def disputed(memory: AsyncHindsightMemory, clock: StoppedClock) -> tuple[str, str]:
    """What the user said, and what an agent says against it."""
    old = await memory.write("The release is on 3 May", wait="indexed")
    clock.advance(days=1)
    new = await memory.write("The release is not on 3 May", source="agent", wait="indexed")
    return old.id, new.id


async def test_history_is_a_chain_oldest_first(memory: AsyncHindsightMemory, clock: StoppedClock) -> None:
    ids = []
    for city in ("Berlin", "Lisbon", "Oslo"):
        ids.append((await memory.write(f"I live in {city}", key="profile.home_city")).id)
        clock.advance(days=30)
    for each in ids:
        told = await memory.history(each)
        assert [version.id for version in told.versions] == ids
        assert {(edge.from_id, edge.to_id) for edge in told.relations} == {(ids[1], ids[0]), (ids[2], ids[1])}
        assert told.events[0].verb == "write"


async def test_a_contradiction_stands_until_it_is_resolved(memory: AsyncHindsightMemory, clock: StoppedClock) -> None:
    old, new = await disputed(memory, clock)
    (found,) = await memory.contradictions()
    assert (found.old.id, found.new.id) == (old, new)
    kept = await memory.resolve(keep=new, over=old)
    assert kept.id == new
    gone = await memory.get(old)
    assert (gone.status, gone.superseded_by) == (Status.SUPERSEDED, new)
    assert await memory.contradictions() == []
    assert await memory.resolve(keep=new, over=old) == kept, "twice is once"
    with pytest.raises(Conflict):
        await memory.resolve(keep=old, over=new)


async def test_what_is_forgotten_contradicts_nothing(memory: AsyncHindsightMemory, clock: StoppedClock) -> None:
    old, _ = await disputed(memory, clock)
    await memory.forget(old)
    assert await memory.contradictions() == []


async def test_nobody_sees_the_disputes_of_others(memory: AsyncHindsightMemory, clock: StoppedClock) -> None:
    old, new = await disputed(memory, clock)
    assert await memory.contradictions(user_id="bob") == []
    with pytest.raises(NotFound):
        await memory.history(old, user_id="bob")
    with pytest.raises(NotFound):
        await memory.resolve(keep=new, over=old, user_id="bob")


async def test_a_private_version_is_left_out(memory: AsyncHindsightMemory, clock: StoppedClock) -> None:
    private: dict[str, Any] = {"agent_id": "a", "visibility": "private"}
    mine = await memory.write("I live in Berlin", key="profile.home_city", **private)
    with pytest.raises(NotFound):
        await memory.history(mine.id, agent_id="b")
    assert len((await memory.history(mine.id, agent_id="a")).versions) == 1


@pytest.mark.parametrize("limit", [0, 201, True, 1.5])
async def test_a_wrong_limit_is_named(memory: AsyncHindsightMemory, limit: Any) -> None:
    with pytest.raises(InvalidInput) as error:
        await memory.contradictions(limit=limit)
    assert error.value.field == "limit"


async def test_a_memory_does_not_replace_itself(memory: AsyncHindsightMemory) -> None:
    one = await memory.write("I live in Berlin")
    with pytest.raises(InvalidInput):
        await memory.resolve(keep=one.id, over=one.id)
