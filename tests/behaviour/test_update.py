"""update: the next version, found by what it says now, and never two of the same."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest

from hindsight_memory import AsyncHindsightMemory, Conflict, InvalidInput, Outcome
from hindsight_memory.domain import Scope
from hindsight_memory.service import Service
from hindsight_memory.testing import HashEmbedder
from samples import found_by_words

ALICE = Scope(user_id="alice")


async def test_a_new_text_is_found_and_the_old_one_is_not(memory: AsyncHindsightMemory, service: Service) -> None:
    receipt = await memory.write("drinks tea", wait="indexed")
    changed = await memory.update(receipt.id, content=" drinks\0 coffee ")
    assert (changed.content, changed.version) == ("drinks coffee", 2)
    await service._parts.indexer.finish(ALICE.bank, [receipt.id], 5)
    assert await found_by_words(memory, "coffee") == ["drinks coffee"]
    assert await found_by_words(memory, "tea") == []
    assert (await memory.write("drinks coffee")).id == receipt.id
    assert (await memory.write("drinks tea")).created


async def test_each_field_can_be_changed_and_the_rest_stays(memory: AsyncHindsightMemory) -> None:
    receipt = await memory.write("text", key="a.b", tags=["x"], metadata={"n": 1}, importance=0.2)
    before = await memory.get(receipt.id)
    changes: dict[str, Any] = {
        "key": "c.d", "tags": ["y", "z"], "metadata": {"m": 2}, "importance": 0.0, "pinned": True,
        "occurred_at": "2020-01-01T00:00:00Z", "valid_until": "2099-01-01T00:00:00Z",
        "expires_at": "2099-01-01T00:00:00Z", "outcome": "success",
    }  # fmt: skip
    for name, value in changes.items():
        await memory.update(receipt.id, **{name: value})
    after = await memory.get(receipt.id)
    assert (after.key, after.tags, after.metadata, after.importance, after.pinned) == (
        "c.d", ("y", "z"), {"m": 2}, 0.0, True,
    )  # fmt: skip
    assert (after.occurred_at, after.outcome) == (datetime(2020, 1, 1, tzinfo=UTC), Outcome.SUCCESS)
    assert after.version == 1 + len(changes)
    assert (after.content, after.created_at, after.trust) == (before.content, before.created_at, before.trust)
    assert await found_by_words(memory, "y") == ["text"]
    assert await found_by_words(memory, "x") == []
    assert [hit.memory.id for hit in await memory.search("text", tags=["y", "z"])] == [receipt.id]


async def test_the_version_guards_against_another_change(memory: AsyncHindsightMemory) -> None:
    receipt = await memory.write("text")
    await memory.update(receipt.id, importance=0.9, version=1)
    with pytest.raises(Conflict) as refused:
        await memory.update(receipt.id, importance=0.1, version=1)
    assert refused.value.field == "version"
    assert (await memory.get(receipt.id)).importance == 0.9


async def test_parallel_changes_of_one_version_let_one_through(memory: AsyncHindsightMemory) -> None:
    receipt = await memory.write("text")
    done = await asyncio.gather(
        *(memory.update(receipt.id, importance=n / 10, version=1) for n in range(8)), return_exceptions=True
    )
    assert sum(isinstance(each, Conflict) for each in done) == 7
    assert (await memory.get(receipt.id)).version == 2


async def test_it_does_not_become_what_another_memory_says(memory: AsyncHindsightMemory) -> None:
    await memory.write("one")
    two = await memory.write("two")
    with pytest.raises(Conflict) as refused:
        await memory.update(two.id, content="one")
    assert refused.value.field == "content"
    assert (await memory.get(two.id)).version == 1


async def test_it_does_not_take_a_key_that_has_a_value(memory: AsyncHindsightMemory) -> None:
    await memory.write("drinks tea", key="preference.favorite_drink")
    other = await memory.write("drinks coffee")
    with pytest.raises(Conflict) as refused:
        await memory.update(other.id, key="preference.favorite_drink")
    assert refused.value.field == "key"
    assert await memory.update(other.id, key="preference.other")


@pytest.mark.parametrize(
    ("field", "given"),
    [
        ("content", {}), ("content", {"version": 1}), ("content", {"content": ""}), ("content", {"content": "\0"}),
        ("content", {"content": "x" * 1_000_000}), ("tags", {"tags": "t"}), ("key", {"key": ""}),
        ("importance", {"importance": 2}), ("version", {"version": 0, "pinned": True}), ("pinned", {"pinned": "yes"}),
        ("occurred_at", {"occurred_at": "2026-05-04T09:00:00"}), ("outcome", {"outcome": "meh"}),
        ("version", {"version": 10**400, "pinned": True}), ("metadata", {"metadata": {"a": object()}}),
    ],
)  # fmt: skip
async def test_a_wrong_field_is_named_and_nothing_changes(
    memory: AsyncHindsightMemory, field: str, given: dict[str, Any]
) -> None:
    receipt = await memory.write("text")
    with pytest.raises(InvalidInput) as refused:
        await memory.update(receipt.id, **given)
    assert refused.value.field == field
    assert (await memory.get(receipt.id)).version == 1


async def test_a_turn_lends_its_new_words_to_its_neighbours(memory: AsyncHindsightMemory) -> None:
    talk: list[Any] = [{"content": text} for text in ("Where shall we go?", "Lisbon it is", "Book the twelfth")]
    receipts = await memory.write_conversation(talk, session_id="s")
    await memory.update(receipts[1].id, content="Porto it is")
    assert await found_by_words(memory, "Lisbon") == []
    assert len(await found_by_words(memory, "Porto")) == 3
    again = await memory.write_conversation(talk[:1], session_id="other")
    assert again[0].created


async def test_the_log_keeps_what_was_there_before(memory: AsyncHindsightMemory, service: Service) -> None:
    receipt = await memory.write("before", source="agent")
    await memory.update(receipt.id, content="after", agent_id="editor")
    (event, _) = await service._parts.store.reading(ALICE.bank).events(receipt.id, 5)
    assert (event.verb, event.actor, event.detail["before"]["content"]) == ("update", "editor", "before")


async def test_a_text_changed_while_it_is_embedded_is_embedded_again(
    memory: AsyncHindsightMemory, service: Service, embedder: HashEmbedder
) -> None:
    """The vector of the old text must not become the vector of the new one."""
    indexer = service._parts.indexer
    receipt = await memory.write("alpha beta", wait="indexed")
    plain, inside, go = embedder._embed, asyncio.Event(), asyncio.Event()

    async def slow(texts: Any) -> Any:
        inside.set()
        await go.wait()
        return await plain(texts)

    embedder._embed = slow  # type: ignore[method-assign]
    await memory.update(receipt.id, content="gamma delta")
    await asyncio.wait_for(inside.wait(), 5)
    await memory.update(receipt.id, content="epsilon zeta")
    go.set()
    await indexer.finish(ALICE.bank, [receipt.id], 5)
    hit = await memory.explain("epsilon zeta", receipt.id)
    assert {round(share.value, 3) for share in hit.why.shares if share.signal.startswith("vector")} == {1.0}
