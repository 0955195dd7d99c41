"""replay: what happened to memory, in time order, as far as the caller may see it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from hindsight_memory import AsyncHindsightMemory, InvalidInput
from hindsight_memory.domain import Line
from hindsight_memory.service import Service
from hindsight_memory.testing import StoppedClock, open_service


@pytest.fixture
async def service(database: Path, clock: StoppedClock) -> AsyncIterator[Service]:
    """No worker: the story holds what is told here and nothing else."""
    opened = await open_service(database, clock=clock, embedder=[], start=False)
    yield opened
    await opened.close()


async def story(memory: AsyncHindsightMemory, size: int = 100, **fields: Any) -> list[Line]:
    """All lines, a page after the other."""
    lines: list[Line] = []
    after = None
    while True:
        page = await memory.replay(limit=size, after=after, **fields)
        assert len(page.lines) <= size
        lines += page.lines
        after = page.next
        if after is None:
            return lines


def told(lines: list[Line]) -> list[tuple[str, str | None]]:
    return [(line.event.verb, line.memory and line.memory.content) for line in lines]


async def test_it_tells_what_happened_in_time_order(memory: AsyncHindsightMemory, clock: StoppedClock) -> None:
    start = clock()
    tea = await memory.write("喝茶", key="preference.favorite_drink")
    clock.advance(days=1)
    await memory.write("喝咖啡", key="preference.favorite_drink")
    clock.advance(days=1)
    await memory.update(tea.id, importance=0.9)
    clock.advance(days=1)
    await memory.forget(tea.id, reason="no longer so")
    clock.advance(days=8)
    await memory.maintain()
    lines = await story(memory)
    assert [verb for verb, _ in told(lines)] == ["write", "write", "update", "forget", "tier", "purge"]
    assert [line.event.at for line in lines] == sorted(line.event.at for line in lines)
    assert told(lines)[1] == ("write", "喝咖啡")
    for size in (1, 2, 5):
        assert await story(memory, size) == lines
    second = await story(memory, since=start + timedelta(days=1), until=start + timedelta(days=2))
    assert told(second) == [("write", "喝咖啡")]
    assert await story(memory, since=clock() + timedelta(days=1)) == []
    assert await story(memory, user_id="nobody") == []


async def test_others_private_memories_are_not_told(memory: AsyncHindsightMemory) -> None:
    await memory.write("everybody's")
    mine = await memory.write("mine", agent_id="coder", visibility="private")
    await memory.update(mine.id, content="still mine", agent_id="coder")
    assert told(await story(memory)) == [("write", "everybody's")]
    assert told(await story(memory, agent_id="other")) == [("write", "everybody's")]
    assert told(await story(memory, agent_id="coder"))[1:] == [("write", "still mine"), ("update", "still mine")]
    assert await story(memory, user_id="bob") == []


async def test_what_was_forgotten_expired_or_purged_is_told_without_its_text(
    memory: AsyncHindsightMemory, clock: StoppedClock
) -> None:
    secret = "xylophonequartz"
    for number, fields in enumerate([{}, {"expires_at": clock() + timedelta(minutes=1)}, {}]):
        receipt = await memory.write(f"{secret} {number}", tags=[secret], **fields)
        await memory.update(receipt.id, content=f"{secret} {number} corrected")
        if number == 0:
            await memory.forget(receipt.id)
        if number == 2:
            await memory.purge(receipt.id)
    clock.advance(minutes=2)
    lines = await story(memory)
    assert [line.event.verb for line in lines] == [
        "write", "update", "forget", "write", "update", "write", "update", "purge",
    ]  # fmt: skip
    assert secret not in repr(lines)
    assert all(line.memory is None and line.event.memory_id for line in lines)
    assert lines[-1].event.detail["memories"] == 1


@pytest.mark.parametrize(
    "after", ["", "x", "1", "1.", ".1", "1.x", "-", "1e5.1", "９.1", "1." + "9" * 30, "9" * 30 + ".1"]
)
async def test_a_place_that_is_none_is_named(memory: AsyncHindsightMemory, after: str) -> None:
    await memory.write("something")
    with pytest.raises(InvalidInput) as refused:
        await memory.replay(after=after)
    assert refused.value.field == "after"


@pytest.mark.parametrize(
    ("field", "value"),
    [("since", "yesterday"), ("until", "2026-05-04"), ("limit", 0), ("limit", 1_001), ("limit", "9")],
)
async def test_a_wrong_field_is_named(memory: AsyncHindsightMemory, field: str, value: Any) -> None:
    with pytest.raises(InvalidInput) as refused:
        await memory.replay(**{field: value})
    assert refused.value.field == field
