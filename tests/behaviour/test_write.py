"""write: durable, the same once, superseding by key, and never half-done."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_memory import Action, AsyncHindsightMemory, Draft, InvalidInput, Kind, Listing, NotFound, Source, Status
from hindsight_memory.domain import Scope
from hindsight_memory.errors import HindsightMemoryError
from hindsight_memory.service import Service
from hindsight_memory.testing import HashEmbedder, StoppedClock, open_service
from hindsight_memory.text.tokens import normalise
from samples import found_by_words

ALICE = Scope(user_id="alice")


async def stored(service: Service, scope: Scope = ALICE) -> list[str]:
    """All that is kept, whatever its status."""
    pages = [await service.list(Listing(status=status), scope) for status in Status]
    return [memory.content for page in pages for memory in page.memories]


async def test_what_is_written_is_found_at_once_by_words(memory: AsyncHindsightMemory) -> None:
    receipt = await memory.write("The deploy key is in the team vault")
    assert (receipt.action, receipt.created, receipt.indexed, receipt.version) == (Action.ADDED, True, False, 1)
    assert await found_by_words(memory, "deploy key") == ["The deploy key is in the team vault"]


async def test_it_waits_for_the_vector_when_asked_to(memory: AsyncHindsightMemory, service: Service) -> None:
    receipt = await memory.write("a text", wait="indexed")
    assert receipt.indexed
    assert (await service._parts.store.reading(ALICE.bank).stats()).unindexed == 0


async def test_the_same_again_is_the_same_write(memory: AsyncHindsightMemory, service: Service) -> None:
    first = await memory.write("Likes caf\u00e9 au lait", tags=["a"])
    again = await memory.write("  Likes cafe\u0301 au lait\r\n", tags=["b"])
    assert (again.id, again.created, again.action) == (first.id, False, Action.DUPLICATE)
    assert len(await stored(service)) == 1


@pytest.mark.parametrize("other", [{"kind": "procedural"}, {"key": "fact.x"}, {"user_id": "bob"}, {"user_id": None}])
async def test_another_kind_key_or_bank_is_another_memory(memory: AsyncHindsightMemory, other: dict[str, Any]) -> None:
    first = await memory.write("the same words")
    second = await memory.write("the same words", **other)
    assert second.created
    assert second.id != first.id


async def test_many_equal_writes_at_once_are_one(memory: AsyncHindsightMemory, service: Service) -> None:
    receipts = await asyncio.gather(*(memory.write("only once") for _ in range(12)))
    assert len({receipt.id for receipt in receipts}) == 1
    assert sum(receipt.created for receipt in receipts) == 1
    assert await stored(service) == ["only once"]


async def test_a_text_written_again_after_it_was_forgotten_is_new(memory: AsyncHindsightMemory) -> None:
    first = await memory.write("comes and goes")
    await memory.forget(first.id)
    second = await memory.write("comes and goes")
    assert second.created
    assert second.id != first.id


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("I love cats", "I hate cats"),
        ("meeting at 3pm", "meeting at 4pm"),
        ("用户喜欢喝拿铁", "用户讨厌拿铁"),
        ("Room 101 is free", "Room 102 is free"),
        ("Tigran called", "Iran called"),
    ],
)
async def test_texts_that_look_alike_are_not_merged(memory: AsyncHindsightMemory, one: str, two: str) -> None:
    first, second = [await memory.write(text, wait="indexed") for text in (one, two)]
    assert (first.created, second.created) == (True, True)
    assert first.id != second.id
    assert {(await memory.get(each.id)).content for each in (first, second)} == {one, two}


async def test_a_key_has_one_current_value(memory: AsyncHindsightMemory, clock: StoppedClock) -> None:
    old = await memory.write("Drinks tea", key="preference.favorite_drink")
    clock.advance(days=3)
    new = await memory.write("Drinks coffee", key="preference.favorite_drink")
    assert (new.action, new.version, new.related) == (Action.SUPERSEDES, 2, (old.id,))
    assert await found_by_words(memory, "drinks") == ["Drinks coffee"]
    past = await memory.get(old.id)
    assert (past.status, past.superseded_by, past.valid_until) == (Status.SUPERSEDED, new.id, clock())
    before = clock() - timedelta(days=1)
    assert await found_by_words(memory, "drinks", as_of=before) == ["Drinks tea"]


async def test_a_statement_about_the_past_does_not_replace_what_is_known(
    memory: AsyncHindsightMemory, clock: StoppedClock
) -> None:
    """Old conversations are imported after new ones."""
    now = await memory.write("Lives in Porto", key="fact.home")
    past = await memory.write("Lives in Lisbon", key="fact.home", occurred_at=clock() - timedelta(days=400))
    assert (past.action, past.created, past.related) == (Action.ADDED, True, (now.id,))
    assert await found_by_words(memory, "lives") == ["Lives in Porto"]
    assert await found_by_words(memory, "lives", as_of=clock() - timedelta(days=30)) == ["Lives in Lisbon"]


async def test_of_three_values_out_of_order_each_was_valid_in_its_time(
    memory: AsyncHindsightMemory, clock: StoppedClock
) -> None:
    start = clock()
    for day, city in ((1, "Aarhus"), (5, "Cadiz"), (3, "Bergen")):
        await memory.write(f"Lives in {city}", key="fact.home", occurred_at=start + timedelta(days=day))
    clock.advance(days=9)
    for day, city in ((2, "Aarhus"), (4, "Bergen"), (6, "Cadiz")):
        assert await found_by_words(memory, "lives", as_of=start + timedelta(days=day)) == [f"Lives in {city}"]


async def test_a_less_trusted_source_contradicts_and_replaces_nothing(memory: AsyncHindsightMemory) -> None:
    told = await memory.write("The budget is 5,000", key="fact.budget")
    read = await memory.write("The budget is 90,000", key="fact.budget", source=Source.DOCUMENT)
    assert (read.action, read.related) == (Action.CONTRADICTS, (told.id,))
    assert (await memory.get(told.id)).status is Status.ACTIVE
    assert (await found_by_words(memory, "budget"))[0] == "The budget is 5,000"


async def test_working_memory_ends_by_itself(memory: AsyncHindsightMemory, clock: StoppedClock) -> None:
    await memory.write("step two is next", kind="working")
    await memory.write("keep until tomorrow", kind="working", expires_at=clock() + timedelta(days=1))
    assert await found_by_words(memory, "step two") == ["step two is next"]
    clock.advance(hours=1)
    assert await found_by_words(memory, "step two") == []
    assert await found_by_words(memory, "keep") == ["keep until tomorrow"]
    clock.advance(days=1)
    assert await found_by_words(memory, "keep") == []


async def test_a_private_memory_is_its_agents_alone(memory: AsyncHindsightMemory) -> None:
    hers = await memory.write("the key hint", agent_id="one", visibility="private")
    assert await found_by_words(memory, "key hint", agent_id="one") == ["the key hint"]
    for other in ("two", None):
        assert await found_by_words(memory, "key hint", agent_id=other) == []
        assert not (await memory.list(agent_id=other)).memories
        for verb in (memory.get, memory.forget, memory.restore):
            with pytest.raises(NotFound):
                await verb(hers.id, agent_id=other)
        with pytest.raises(NotFound):
            await memory.update(hers.id, pinned=True, agent_id=other)
        with pytest.raises(NotFound):
            await memory.explain("key hint", hers.id, agent_id=other)


async def test_what_one_agent_keeps_to_itself_swallows_no_ones_write(memory: AsyncHindsightMemory) -> None:
    private = {"visibility": "private"}
    hers = await memory.write("the same text", key="fact.x", agent_id="one", **private)
    his = await memory.write("the same text", key="fact.x", agent_id="two", **private)
    shared = await memory.write("the same text", key="fact.x", agent_id="two")
    assert len({hers.id, his.id, shared.id}) == 3
    assert {receipt.action for receipt in (hers, his, shared)} == {Action.ADDED}
    assert await found_by_words(memory, "same text", agent_id="three") == ["the same text"]
    again = await memory.write("the same text", key="fact.x", agent_id="one", **private)
    assert again.id == hers.id
    changed = await memory.write("another text", key="fact.x", agent_id="two")
    assert changed.related == (shared.id,)
    assert (await memory.get(hers.id, agent_id="one")).status is Status.ACTIVE


async def test_a_private_memory_needs_an_agent(memory: AsyncHindsightMemory, service: Service) -> None:
    with pytest.raises(InvalidInput) as refused:
        await memory.write("whose?", visibility="private")
    assert refused.value.field == "visibility"
    assert await stored(service) == []


async def test_every_field_is_kept(memory: AsyncHindsightMemory, clock: StoppedClock) -> None:
    given = {
        "kind": "procedural", "key": "how.to", "tags": ["b", "a", "b"], "metadata": {"n": [1, {"x": None}]},
        "source": "tool", "source_ref": "run:7", "importance": 0.9, "pinned": True, "speaker": "Ana",
        "occurred_at": "2024-05-01T09:00:00+08:00", "valid_from": "2024-01-01T00:00:00Z",
        "valid_until": "2099-01-01T00:00:00Z", "expires_at": 4_102_444_800, "outcome": "failure", "task": "t",
        "tools": ["x"], "agent_id": "coder", "session_id": "run",
    }  # fmt: skip
    receipt = await memory.write("how to", **given)  # type: ignore[arg-type]
    held = await memory.get(receipt.id)
    assert held.tags == ("b", "a")
    assert held.occurred_at == datetime(2024, 5, 1, 1, tzinfo=UTC)
    assert held.expires_at == datetime(2100, 1, 1, tzinfo=UTC)
    assert (held.kind, held.outcome, held.trust, held.pinned) == (Kind.PROCEDURAL, "failure", 0.7, True)
    assert (held.created_at, held.agent_id, held.session_id, held.metadata) == (
        clock(), "coder", "run", {"n": [1, {"x": None}]},
    )  # fmt: skip


GOOD = {
    "emoji": "Team 👩🏽‍🚀 ships 🚀",
    "right to left": "مرحبا بالعالم",
    "sql": "\"' OR 1=1 --; DROP TABLE memories",
    "a NUL inside": "before\0after",
    "html": "<script>alert(1)</script>",
    "a path": "C:\\new\\table",
    "100,000 characters": "word " * 20_000,
    "one word of 100,000": "x" * 100_000,
    "marks": "a" + "\u0301" * 5_000,
}


@pytest.mark.parametrize("text", GOOD.values(), ids=GOOD)
async def test_odd_texts_are_kept_and_found(memory: AsyncHindsightMemory, text: str) -> None:
    receipt = await memory.write(text, wait="indexed")
    assert receipt.indexed
    held = await memory.get(receipt.id)
    assert held.content == normalise(text)
    assert receipt.id in [hit.memory.id for hit in await memory.search(text)]
    assert (await memory.write(text)).id == receipt.id


NAIVE = datetime(2026, 5, 4, 9)  # noqa: DTZ001
BAD: list[tuple[str, dict[str, Any]]] = [
    ("content", {"content": ""}),
    ("content", {"content": " \n\t "}),
    ("content", {"content": "\0\x07"}),
    ("content", {"content": "\u200b\ufeff"}),
    ("content", {"content": "x" * 1_000_000}),
    ("content", {"content": "half \ud83d"}),
    ("content", {"content": None}),
    ("content", {"content": 7}),
    ("content", {"content": b"bytes"}),
    ("kind", {"kind": "opinion"}),
    ("kind", {"kind": ["semantic"]}),
    ("kind", {"kind": None}),
    ("source", {"source": "rumour"}),
    ("visibility", {"visibility": "public"}),
    ("outcome", {"outcome": "so-so"}),
    ("key", {"key": ""}),
    ("key", {"key": "a\0b"}),
    ("key", {"key": "k" * 201}),
    ("tags", {"tags": "not a list"}),
    ("tags", {"tags": [1]}),
    ("tags", {"tags": ["\ud800"]}),
    ("tags", {"tags": ["t"] * 51}),
    ("metadata", {"metadata": "text"}),
    ("metadata", {"metadata": {1: 2}}),
    ("metadata", {"metadata": {"a": {1: 2, "b": 3}}}),
    ("metadata", {"metadata": {"a": {1, 2}}}),
    ("metadata", {"metadata": {"a": float("nan")}}),
    ("metadata", {"metadata": {"a": float("inf")}}),
    ("metadata", {"metadata": {"a": 10**400}}),
    ("metadata", {"metadata": {"a": "\0"}}),
    ("metadata", {"metadata": {"a": "x" * 40_000}}),
    ("importance", {"importance": 1.01}),
    ("importance", {"importance": -1}),
    ("importance", {"importance": "high"}),
    ("importance", {"importance": True}),
    ("importance", {"importance": float("nan")}),
    ("importance", {"importance": 10**400}),
    ("pinned", {"pinned": 1}),
    ("occurred_at", {"occurred_at": NAIVE}),
    ("occurred_at", {"occurred_at": "2026-05-04T09:00:00"}),
    ("occurred_at", {"occurred_at": "yesterday"}),
    ("occurred_at", {"occurred_at": 10**400}),
    ("occurred_at", {"occurred_at": True}),
    ("occurred_at", {"occurred_at": datetime(1, 1, 1, tzinfo=UTC)}),
    ("valid_until", {"valid_from": "2026-05-04T09:00:00Z", "valid_until": "2026-05-04T09:00:00Z"}),
    ("expires_at", {"expires_at": [2026]}),
    ("user_id", {"user_id": ""}),
    ("user_id", {"user_id": "u" * 201}),
    ("agent_id", {"agent_id": 7}),
    ("session_id", {"session_id": "\ud800"}),
    ("wait", {"wait": "forever"}),
    ("speaker", {"speaker": "s" * 201}),
    ("source_ref", {"source_ref": "a\0"}),
]


@pytest.mark.parametrize(("field", "given"), BAD, ids=[f"{field} {str(given)[:50]!a}" for field, given in BAD])
async def test_a_wrong_field_is_named_and_nothing_is_stored(
    memory: AsyncHindsightMemory, service: Service, field: str, given: dict[str, Any]
) -> None:
    with pytest.raises(InvalidInput) as refused:
        await memory.write(**{"content": "a text"} | given)
    assert refused.value.field == field
    assert field in str(refused.value)
    assert await stored(service) == []


async def test_of_several_drafts_all_are_stored_or_none(memory: AsyncHindsightMemory, service: Service) -> None:
    with pytest.raises(InvalidInput):
        await memory.write_many(["good", Draft(content="needs an agent", visibility="private")])  # type: ignore[arg-type]
    assert await stored(service) == []
    receipts = await memory.write_many(["good", Draft(content="better", key="k"), "good"], wait="indexed")
    assert [receipt.action for receipt in receipts] == [Action.ADDED, Action.ADDED, Action.DUPLICATE]
    assert all(receipt.indexed for receipt in receipts)
    assert await memory.write_many([]) == []


@pytest.mark.parametrize("drafts", ["one text", b"bytes", {"content": "x"}, None, 5])
async def test_a_text_is_not_a_list_of_its_letters(memory: AsyncHindsightMemory, drafts: Any) -> None:
    with pytest.raises(InvalidInput) as refused:
        await memory.write_many(drafts)
    assert refused.value.field == "drafts"


async def test_the_log_says_who_wrote_what_and_repeats_no_text(memory: AsyncHindsightMemory, service: Service) -> None:
    receipt = await memory.write("a very private sentence", agent_id="coder")
    (event,) = await service._parts.store.reading(ALICE.bank).events(receipt.id, 10)
    assert (event.verb, event.actor, event.detail["action"]) == ("write", "coder", "added")
    assert "private sentence" not in repr(event)


async def test_nothing_is_stored_while_the_store_is_closed(tmp_path: Path) -> None:
    memory = AsyncHindsightMemory(tmp_path / "m.db")
    memory._service = closed = await open_service(tmp_path / "m.db")
    await closed.close()
    with pytest.raises(HindsightMemoryError, match="closed"):
        await memory.write("too late")


@given(text=st.text(max_size=80))
async def test_any_text_is_kept_or_refused_by_name(memory: AsyncHindsightMemory, text: str) -> None:
    try:
        receipt = await memory.write(text)
    except InvalidInput as error:
        assert error.field == "content"  # noqa: PT017
        return
    held = await memory.get(receipt.id)
    assert (await memory.write(held.content)).id == receipt.id, "what is stored, written again, is the same"


async def test_a_write_never_waits_for_a_model(memory: AsyncHindsightMemory, embedder: HashEmbedder) -> None:
    embedder.broken = "hang"
    async with asyncio.timeout(2):
        assert (await memory.write("still stored")).created
        embedder.broken = None
