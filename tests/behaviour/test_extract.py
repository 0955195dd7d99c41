"""What a turn says that is worth remembering becomes a memory of its own; the turn stays."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from hindsight_memory import AsyncHindsightMemory, Kind, Memory, Status
from hindsight_memory.testing import StoppedClock, open_service


@pytest.fixture(params=["vectors", "words"])
async def memory(
    request: pytest.FixtureRequest, database: Path, clock: StoppedClock
) -> AsyncIterator[AsyncHindsightMemory]:
    memory = AsyncHindsightMemory(user_id="alice", clock=clock)
    memory._service = await open_service(database, clock=clock, embedder=[] if request.param == "words" else None)
    yield memory
    await memory.close()


async def said(memory: AsyncHindsightMemory, session: str, *turns: Any) -> list[str]:
    messages = [turn if isinstance(turn, dict) else {"content": turn} for turn in turns]
    receipts = await memory.write_conversation(messages, session_id=session, wait="indexed")
    return [receipt.id for receipt in receipts]


async def extracted(memory: AsyncHindsightMemory) -> Sequence[Memory]:
    # What is extracted is indexed after its turn; a further write that waits lets it be looked at too.
    await memory.write("the door of the shed squeaks", wait="indexed")
    return [each for each in (await memory.list()).memories if each.metadata.get("extracted_from")]


@pytest.mark.parametrize(
    ("text", "content", "key"),
    [
        ("We had lunch. I live in Lisbon now, by the way.", "I live in Lisbon now, by the way.", "profile.home_city"),
        ("My name is Anna Weber, hello!", "My name is Anna Weber, hello!", "profile.name"),
        ("今天天气不错。我住在杭州。", "我住在杭州。", "profile.home_city"),
    ],
)
async def test_it_is_the_turns_own_words(memory: AsyncHindsightMemory, text: str, content: str, key: str) -> None:
    (turn,) = await said(memory, "s", text)
    (found,) = await extracted(memory)
    assert (found.content, found.key, found.kind) == (content, key, Kind.SEMANTIC)
    start, end = found.metadata["span"]
    assert text[start:end] == content
    assert found.metadata["extracted_from"] == turn
    told = await memory.get(turn)
    assert (told.content, told.status, told.kind) == (text, Status.ACTIVE, Kind.EPISODIC)


async def test_a_new_value_retires_the_old_one(memory: AsyncHindsightMemory, clock: StoppedClock) -> None:
    await said(memory, "a", "I live in Berlin.")
    clock.advance(days=20)
    await said(memory, "b", "I moved to Lisbon.")
    current = [each for each in await extracted(memory) if each.key == "profile.home_city"]
    assert [each.content for each in current] == ["I moved to Lisbon."]


async def test_tastes_stand_side_by_side(memory: AsyncHindsightMemory, clock: StoppedClock) -> None:
    await said(memory, "a", "I love sushi.")
    clock.advance(days=1)
    await said(memory, "b", "I love ramen.")
    assert {each.content for each in await extracted(memory)} == {"I love sushi.", "I love ramen."}


@pytest.mark.parametrize(
    "turn",
    [
        {"content": "I live in Lisbon.", "role": "assistant"},
        {"content": "I live in Lisbon.", "role": "system"},
        {"content": "I live in Lisbon.", "role": "tool"},
        {"content": "Do I live in Lisbon?"},
        {"content": "If I lived in Lisbon, I would surf."},
        {"content": "ok, thanks!"},
    ],
)
async def test_what_is_not_worth_it_is_left(memory: AsyncHindsightMemory, turn: dict[str, str]) -> None:
    await said(memory, "s", "The weather is fine today.", turn)
    assert await extracted(memory) == []


async def test_saying_it_again_adds_nothing(memory: AsyncHindsightMemory, clock: StoppedClock) -> None:
    await said(memory, "a", "I live in Lisbon.")
    clock.advance(days=1)
    await said(memory, "b", "I live in Lisbon.")
    assert len(await extracted(memory)) == 1


async def test_it_goes_with_its_turn(memory: AsyncHindsightMemory) -> None:
    (turn,) = await said(memory, "s", "I live in Lisbon.")
    (found,) = await extracted(memory)
    await memory.forget(turn)
    assert await extracted(memory) == []
    assert {turn, found.id}.isdisjoint(hit.memory.id for hit in await memory.search("Lisbon"))
    await memory.restore(turn)
    assert [each.id for each in await extracted(memory)] == [found.id]


async def test_what_two_turns_say_stays_with_the_other(memory: AsyncHindsightMemory, clock: StoppedClock) -> None:
    (first,) = await said(memory, "a", "I live in Lisbon.")
    clock.advance(days=1)
    await said(memory, "b", "I live in Lisbon.")
    await memory.forget(first)
    assert [each.content for each in await extracted(memory)] == ["I live in Lisbon."]


async def test_a_desk_is_not_read(memory: AsyncHindsightMemory) -> None:
    """What lies on the desk of a task may still be cleared."""
    async with memory.session("s") as session:
        await session.append("I live in Lisbon.")
        assert await extracted(memory) == []
