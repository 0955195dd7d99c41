"""forget and restore: out of sight everywhere at once, and back exactly as it was."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from hindsight_memory import AsyncHindsightMemory, Conflict, InvalidInput, NotFound, Status
from hindsight_memory.domain import Scope
from hindsight_memory.service import Service
from hindsight_memory.testing import HashEmbedder, StoppedClock
from samples import found_by_words

ALICE = Scope(user_id="alice")


async def test_what_is_forgotten_is_seen_nowhere(memory: AsyncHindsightMemory, clock: StoppedClock) -> None:
    receipt = await memory.write("the coffee secret", key="fact.secret", wait="indexed")
    await memory.write("another coffee")
    assert "the coffee secret" in await found_by_words(memory, "coffee secret")
    gone = await memory.forget(receipt.id, reason="asked to")
    assert (gone.status, gone.deleted_at, gone.version) == (Status.DELETED, clock(), 2)
    assert await found_by_words(memory, "coffee secret") == ["another coffee"]
    assert "secret" not in (await memory.context("coffee secret")).text
    assert [held.content for held in (await memory.list()).memories] == ["another coffee"]
    assert await memory.search("coffee secret", as_of=clock()) != []
    assert "the coffee secret" not in [hit.memory.content for hit in await memory.search("secret", as_of=clock())]
    for verb in (memory.get, lambda each: memory.update(each, pinned=True), lambda each: memory.explain("x", each)):
        with pytest.raises(NotFound) as refused:
            await verb(receipt.id)
        assert "estore" in str(refused.value)


async def test_restore_brings_it_back_as_it_was(memory: AsyncHindsightMemory, service: Service) -> None:
    receipt = await memory.write("the coffee secret", key="fact.secret", tags=["a"], metadata={"n": 1}, wait="indexed")
    before = await memory.get(receipt.id)
    hits = await memory.search("coffee secret")
    await memory.forget(receipt.id)
    back = await memory.restore(receipt.id)
    assert replace(back, version=before.version) == before
    assert back.version == 3
    await service._parts.indexer.finish(ALICE.bank, [receipt.id], 5)
    again = await memory.search("coffee secret")
    assert [hit.why.shares for hit in again] == [hit.why.shares for hit in hits]


async def test_twice_is_once(memory: AsyncHindsightMemory, service: Service) -> None:
    receipt = await memory.write("once")
    first = await memory.forget(receipt.id)
    assert await memory.forget(receipt.id) == first
    back = await memory.restore(receipt.id)
    assert await memory.restore(receipt.id) == back
    events = await service._parts.store.reading(ALICE.bank).events(receipt.id, 10)
    assert [event.verb for event in events] == ["restore", "forget", "write"]


async def test_the_log_says_who_and_why(memory: AsyncHindsightMemory, service: Service) -> None:
    receipt = await memory.write("once")
    await memory.forget(receipt.id, reason="out of date", agent_id="cleaner")
    event = (await service._parts.store.reading(ALICE.bank).events(receipt.id, 1))[0]
    assert (event.verb, event.actor, event.reason) == ("forget", "cleaner", "out of date")


async def test_a_forgotten_turn_takes_its_words_from_its_neighbours_and_gives_them_back(
    memory: AsyncHindsightMemory,
) -> None:
    async def said() -> int:
        return len(await found_by_words(memory, "Lisbon"))

    talk: list[Any] = [{"content": text} for text in ("Where shall we go?", "Lisbon it is", "Book the twelfth")]
    receipts = await memory.write_conversation(talk, session_id="s")
    assert await said() == 3
    await memory.forget(receipts[1].id)
    assert await said() == 0
    await memory.restore(receipts[1].id)
    assert await said() == 3


async def test_it_is_not_restored_beside_what_took_its_place(memory: AsyncHindsightMemory) -> None:
    tea = await memory.write("drinks tea", key="preference.favorite_drink")
    await memory.forget(tea.id)
    coffee = await memory.write("drinks coffee", key="preference.favorite_drink")
    with pytest.raises(Conflict) as refused:
        await memory.restore(tea.id)
    assert coffee.id in str(refused.value)
    same = await memory.write("no key")
    await memory.forget(same.id)
    await memory.write("no key")
    with pytest.raises(Conflict):
        await memory.restore(same.id)


async def test_a_superseded_memory_comes_back_superseded(memory: AsyncHindsightMemory) -> None:
    tea = await memory.write("drinks tea", key="preference.favorite_drink")
    await memory.write("drinks coffee", key="preference.favorite_drink")
    await memory.forget(tea.id)
    assert (await memory.restore(tea.id)).status is Status.SUPERSEDED
    assert await found_by_words(memory, "drinks") == ["drinks coffee"]


async def test_a_forgotten_text_is_not_sent_to_a_model(
    memory: AsyncHindsightMemory, service: Service, embedder: HashEmbedder
) -> None:
    embedder.broken = "failed"
    receipt = await memory.write("forgotten before it was embedded")
    await memory.forget(receipt.id)
    embedder.broken = None
    embedder.asked.clear()
    while await service._parts.indexer.step():
        pass
    assert "forgotten before it was embedded" not in embedder.asked


@pytest.mark.parametrize("verb", ["get", "forget", "restore", "update", "explain"])
@pytest.mark.parametrize("memory_id", ["unknown", "", "'; --", "%", "x" * 200, "019df237-3e80-7000-84ea-2945c8442586"])
async def test_an_unknown_id_is_said_to_be_unknown(memory: AsyncHindsightMemory, verb: str, memory_id: str) -> None:
    await memory.write("something")
    with pytest.raises(NotFound) as refused:
        await call(memory, verb, memory_id)
    assert refused.value.field == "memory_id"


@pytest.mark.parametrize("verb", ["get", "forget", "restore", "update", "explain"])
@pytest.mark.parametrize("memory_id", ["\ud800", "a\0", 7, None, "x" * 201])
async def test_an_id_that_cannot_be_is_named(memory: AsyncHindsightMemory, verb: str, memory_id: Any) -> None:
    with pytest.raises(InvalidInput) as refused:
        await call(memory, verb, memory_id)
    assert refused.value.field == "memory_id"


async def call(memory: AsyncHindsightMemory, verb: str, memory_id: Any) -> None:
    match verb:
        case "update":
            await memory.update(memory_id, pinned=True)
        case "explain":
            await memory.explain("x", memory_id)
        case _:
            await getattr(memory, verb)(memory_id)


@pytest.mark.parametrize("reason", ["\ud800", "a\0", 5, "x" * 2_001])
async def test_a_reason_that_cannot_be_kept_is_named(memory: AsyncHindsightMemory, reason: Any) -> None:
    receipt = await memory.write("something")
    with pytest.raises(InvalidInput) as refused:
        await memory.forget(receipt.id, reason=reason)
    assert refused.value.field == "reason"
    assert (await memory.get(receipt.id)).status is Status.ACTIVE
