"""Relations that callers write; names and times that every way of writing stores."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from hindsight_memory import AsyncHindsightMemory, Draft, InvalidInput, Message
from hindsight_memory.domain import RelationType, Scope, Window
from hindsight_memory.service import Service
from hindsight_memory.testing import StoppedClock
from hindsight_memory.text.names import candidate_names
from samples import where

ALICE = Scope(user_id="alice")
NOWHERE = "01890a5d-ac96-774b-bcce-b302099a8057"


async def edges(service: Service, memory_id: str) -> set[str]:
    """The relations from a memory, as a caller writes them."""
    found = await service._parts.store.reading(ALICE.bank).relations([memory_id])
    return {f"{edge.type}:{edge.to_id}" for edge in found if edge.from_id == memory_id}


async def known(service: Service, text: str, viewer: str | None = None) -> set[str]:
    """The names of the bank that a query mentions."""
    reader = service._parts.store.reading(ALICE.bank)
    return set(await reader.names_known(candidate_names(text), where(viewer=viewer, now=service._parts.clock())))


async def reached(service: Service, start: str) -> set[str]:
    """Contents that the graph leads to."""
    reader = service._parts.store.reading(ALICE.bank)
    found = await reader.search_graph({start: 1.0}, {}, where(now=service._parts.clock()), 50)
    return {memory.content for memory in await reader.get([each.id for each in found if each.id != start])}


async def test_a_relation_leads_from_one_memory_to_the_other(memory: AsyncHindsightMemory, service: Service) -> None:
    cause = await memory.write("the index was dropped")
    effect = await memory.write("the page got slow", relations=[f"derived_from:{cause.id}", "Mentions: Kafka’s "])
    assert await edges(service, effect.id) == {f"derived_from:{cause.id}", "mentions:kafka"}
    assert await reached(service, effect.id) == {"the index was dropped"}
    assert await reached(service, cause.id) == {"the page got slow"}


async def test_the_log_names_what_was_related(memory: AsyncHindsightMemory, service: Service) -> None:
    one = await memory.write("one")
    two = await memory.write("two", relations=[f"supports:{one.id}"])
    reader = service._parts.store.reading(ALICE.bank)
    (event,) = await reader.events(two.id, 10)
    assert event.detail["relations"] == [f"supports:{one.id}"]
    (event,) = await reader.events(one.id, 10)
    assert "relations" not in event.detail


async def test_written_again_it_gets_the_relations_it_lacks(memory: AsyncHindsightMemory, service: Service) -> None:
    one, two = await memory.write("one"), await memory.write("two")
    first = await memory.write("three", relations=[f"supports:{one.id}"])
    again = await memory.write("three", relations=[f"supports:{one.id}", f"follows:{two.id}", f"follows:{two.id}"])
    assert (again.id, again.created) == (first.id, False)
    assert await edges(service, first.id) == {f"supports:{one.id}", f"follows:{two.id}"}
    newest, _ = await service._parts.store.reading(ALICE.bank).events(first.id, 10)
    assert newest.detail["relations"] == [f"follows:{two.id}"]


@pytest.mark.parametrize("kind", [each for each in RelationType if each is not RelationType.SUPERSEDES])
async def test_every_type_but_the_systems_own(memory: AsyncHindsightMemory, service: Service, kind: str) -> None:
    one = await memory.write("one")
    two = await memory.write("two", relations=[f"{kind.upper()}: {one.id.upper()}"])
    assert await edges(service, two.id) == {f"{kind}:{one.id}"}


BAD = [
    "",
    " ",
    "x",
    ":x",
    "likes:x",
    "supersedes:x",
    "supports:",
    "supports: ",
    "supports:…",
    "supports:" + "x" * 150,
    7,
]


@pytest.mark.parametrize("bad", BAD)
async def test_what_cannot_be_read_is_refused_by_name(memory: AsyncHindsightMemory, service: Service, bad: Any) -> None:
    with pytest.raises(InvalidInput) as refused:
        await memory.write("one", relations=["mentions:x", bad])
    assert (refused.value.field or "").startswith("relations")
    assert (await memory.list()).memories == ()
    if isinstance(bad, str) and "likes" in bad:
        assert refused.value.field == "relations[1]"
        assert "derived_from" in refused.value.hint
        assert "supersedes" not in refused.value.hint


async def test_a_memory_that_is_not_there_is_refused_and_nothing_is_stored(
    memory: AsyncHindsightMemory, service: Service
) -> None:
    his = await memory.write("his", user_id="bob")
    secret = await memory.write("secret", agent_id="one", visibility="private")
    gone = await memory.write("gone")
    await memory.forget(gone.id)
    for target in (NOWHERE, his.id, secret.id, gone.id):
        with pytest.raises(InvalidInput) as refused:
            await memory.write_many(["first", Draft(content="two", relations=_both(target))], agent_id="two")
        assert refused.value.field == "relations[1]"
        assert refused.value.message == f"relations[1]: there is no memory {target} here."
    assert [held.content for held in (await memory.list()).memories] == []
    own = await memory.write("own", agent_id="one", relations=[f"supports:{secret.id}"])
    assert await edges(service, own.id) == {f"supports:{secret.id}"}


def _both(target: str) -> tuple[str, ...]:
    return "mentions:x", f"supports:{target}"


async def test_no_memory_is_related_to_itself(memory: AsyncHindsightMemory) -> None:
    one = await memory.write("one")
    with pytest.raises(InvalidInput, match="itself"):
        await memory.write("one", relations=[f"supports:{one.id}"])


async def test_every_way_of_writing_stores_names_and_times(
    memory: AsyncHindsightMemory, service: Service, tmp_path: Path
) -> None:
    said = datetime(2023, 5, 8, 12, tzinfo=UTC)
    await memory.write("I met Caroline yesterday", occurred_at=said)
    await memory.write_many([Draft(content="I met Tom yesterday", occurred_at=said)])
    await memory.write_conversation(
        [Message(content="I met Anna yesterday", speaker="Melanie", occurred_at=said)], session_id="s"
    )
    lines = tmp_path / "chat.jsonl"
    lines.write_text('{"role": "user", "content": "I met Kai yesterday", "timestamp": "2023-05-08T12:00:00Z"}\n')
    await memory.import_file(lines)
    names = "what did caroline, tom, anna, melanie and kai do"
    assert await known(service, names) == {"caroline", "tom", "anna", "melanie", "kai"}
    window = Window(datetime(2023, 5, 7, tzinfo=UTC), datetime(2023, 5, 8, tzinfo=UTC))
    reader = service._parts.store.reading(ALICE.bank)
    found = await reader.search_time(window, where(now=service._parts.clock()), 10)
    assert [each.score for each in found] == [1.0] * 4


async def test_what_changes_changes_its_names_and_times(memory: AsyncHindsightMemory, service: Service) -> None:
    receipt = await memory.write("I met Caroline yesterday", occurred_at=datetime(2023, 5, 8, tzinfo=UTC))
    await memory.update(receipt.id, content="I met Tom yesterday")
    assert await known(service, "caroline and tom") == {"tom"}
    await memory.update(receipt.id, occurred_at=datetime(2024, 1, 2, tzinfo=UTC))
    reader, now = service._parts.store.reading(ALICE.bank), service._parts.clock()
    for year, month, number in ((2023, 5, 7), (2024, 1, 1)):
        window = Window(datetime(year, month, number, tzinfo=UTC), datetime(year, month, number + 1, tzinfo=UTC))
        assert len(await reader.search_time(window, where(now=now), 10)) == (year == 2024)
    await memory.forget(receipt.id)
    assert await known(service, "tom") == set()
    await memory.restore(receipt.id)
    assert await known(service, "tom") == {"tom"}


async def test_an_alias_is_a_memory_like_any_other(
    memory: AsyncHindsightMemory, service: Service, clock: StoppedClock
) -> None:
    await memory.write("we saw Melanie there")
    await memory.write("we saw Melissa here")
    await memory.write("Melanie", key="alias.Mel")
    assert await known(service, "what did mel do") == {"mel", "melanie"}
    clock.advance(days=1)
    receipt = await memory.write("Melissa", key="alias.Mel")
    assert await known(service, "what did mel do") == {"mel", "melissa"}
    await memory.forget(receipt.id)
    assert await known(service, "what did mel do") == set()


async def test_private_names_stay_private(memory: AsyncHindsightMemory, service: Service) -> None:
    await memory.write("we saw Melanie there", agent_id="one", visibility="private")
    await memory.write("Melanie", key="alias.mel", agent_id="one", visibility="private")
    assert await known(service, "mel and melanie", viewer="two") == set()
    assert await known(service, "mel and melanie", viewer="one") == {"mel", "melanie"}


async def test_a_question_reaches_what_is_two_hops_away(memory: AsyncHindsightMemory, service: Service) -> None:
    question = await memory.write("Users say the endpoint /orders is slow")
    await memory.write("GET /orders filters the table order_lines by day")
    await memory.write("Adding an index on order_lines took it from 900 ms to 8 ms")
    await memory.write("The office has a new coffee machine")
    assert await reached(service, question.id) == {
        "GET /orders filters the table order_lines by day",
        "Adding an index on order_lines took it from 900 ms to 8 ms",
    }
