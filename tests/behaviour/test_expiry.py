"""What has expired is as good as gone at once, maintenance or not, and can be restored until it is purged."""

from __future__ import annotations

from datetime import timedelta

import pytest

from hindsight_memory import AsyncHindsightMemory, NotFound, Status
from hindsight_memory.service import Service
from hindsight_memory.testing import StoppedClock
from samples import ALICE, found_by_words


async def test_it_is_neither_found_nor_shown_nor_changed(memory: AsyncHindsightMemory, clock: StoppedClock) -> None:
    receipt = await memory.write("the offer of May", expires_at=clock() + timedelta(minutes=5), wait="indexed")
    assert len((await memory.list()).memories) == 1
    clock.advance(minutes=5)
    assert await memory.search("offer") == []
    assert (await memory.list()).memories == ()
    for verb in (
        memory.get,
        lambda each: memory.update(each, pinned=True),
        lambda each: memory.explain("x", each),
        lambda each: memory.feedback(each, "used"),
    ):
        with pytest.raises(NotFound) as refused:
            await verb(receipt.id)
        assert "estore" in str(refused.value)


@pytest.mark.parametrize("swept", [False, True])
async def test_it_comes_back_without_an_end(memory: AsyncHindsightMemory, clock: StoppedClock, swept: bool) -> None:
    receipt = await memory.write("the offer of May", expires_at=clock() + timedelta(minutes=5))
    clock.advance(days=5)
    if swept:
        await memory.maintain()
        assert [each.id for each in (await memory.list(status="deleted")).memories] == [receipt.id]
    back = await memory.restore(receipt.id)
    assert (back.status, back.expires_at) == (Status.ACTIVE, None)
    assert await found_by_words(memory, "offer") == ["the offer of May"]
    clock.advance(days=30)
    await memory.maintain()
    assert (await memory.get(receipt.id)).status is Status.ACTIVE


async def test_the_same_can_be_written_again(memory: AsyncHindsightMemory, clock: StoppedClock) -> None:
    first = await memory.write("the door is open", kind="working")
    assert not (await memory.write("the door is open", kind="working")).created
    clock.advance(hours=2)
    second = await memory.write("the door is open", kind="working")
    assert second.created
    assert second.id != first.id
    assert await found_by_words(memory, "door") == ["the door is open"]
    events = [line.event.verb for line in (await memory.replay()).lines if line.event.memory_id == first.id]
    assert events[-1] == "expire"


async def test_an_expired_value_of_a_key_stands_in_nobodys_way(
    memory: AsyncHindsightMemory, service: Service, clock: StoppedClock
) -> None:
    await memory.write("on holiday", key="status.now", expires_at=clock() + timedelta(days=1))
    clock.advance(days=2)
    receipt = await memory.write("at work", key="status.now", source="document")
    assert (receipt.action, receipt.related) == ("added", ())
    assert (await service._parts.store.reading(ALICE.bank).current("status.now")) is not None
    assert [each.content for each in (await memory.list()).memories] == ["at work"]
