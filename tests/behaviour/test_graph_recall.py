"""What leads to an answer: names that memories share, relations and turns beside, from what was found at first."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from hindsight_memory import AsyncHindsightMemory, Hit
from hindsight_memory.settings import RecallSettings, Settings
from hindsight_memory.testing import StoppedClock, open_service
from samples import brought_by

QUESTION = "why is this endpoint slow"
SLOW = "Users say the endpoint /orders is slow"
FILTER = "GET /orders filters the table order_lines by day"
INDEX = "Adding an index on order_lines took it from 900 ms to 8 ms"
NOISE = ["The office has a new coffee machine", "Tom plays the violin in Berlin", "今天的会议改到下午"]


@pytest.fixture
async def by_words(database: Path, clock: StoppedClock) -> AsyncIterator[AsyncHindsightMemory]:
    """Without meaning: whatever words do not bring, the graph has."""
    memory = AsyncHindsightMemory(user_id="alice", clock=clock)
    memory._service = await open_service(database, clock=clock, embedder=[])
    yield memory
    await memory.close()


async def found(memory: AsyncHindsightMemory, text: str, **fields: Any) -> dict[str, Hit]:
    return {hit.memory.content: hit for hit in await memory.search(text, **fields)}


async def test_a_question_reaches_the_answer_over_shared_names(by_words: AsyncHindsightMemory) -> None:
    await by_words.write_many([*NOISE, SLOW, FILTER, INDEX])
    hits = await found(by_words, QUESTION)
    assert set(hits) == {SLOW, FILTER, INDEX}
    assert brought_by(hits[INDEX]) == {"graph"}, "it shares no word with the question"
    assert "by what leads to it" in hits[INDEX].why.sentence
    assert "words: did not bring this memory" in hits[INDEX].why.inactive
    assert hits[SLOW].score > hits[INDEX].score


async def test_with_meaning_the_graph_still_leads_there(memory: AsyncHindsightMemory) -> None:
    await memory.write_many([*NOISE, SLOW, FILTER, INDEX], wait="indexed")
    hits = await found(memory, QUESTION)
    assert "graph" in brought_by(hits[INDEX])


async def test_a_question_reaches_the_answer_over_relations(by_words: AsyncHindsightMemory) -> None:
    effect, between, cause = "This endpoint got slow", "A full scan was chosen", "Statistics were out of date"
    first = await by_words.write(cause)
    second = await by_words.write(between, relations=[f"derived_from:{first.id}"])
    await by_words.write(effect, relations=[f"derived_from:{second.id}"])
    await by_words.write_many(NOISE)
    hits = await found(by_words, QUESTION)
    assert set(hits) == {effect, between, cause}
    assert brought_by(hits[cause]) == {"graph"}


async def test_a_question_reaches_the_turn_beside(by_words: AsyncHindsightMemory) -> None:
    talk: list[Any] = [
        {"content": text} for text in ("Tell me of the violin", "Bought in Cremona", "For a song", "It rains")
    ]
    await by_words.write_conversation(talk, session_id="s")
    assert "graph" in brought_by((await found(by_words, "violin"))["Bought in Cremona"])


async def test_switched_off_the_graph_leads_nowhere(database: Path, clock: StoppedClock) -> None:
    for off, reached in ((frozenset({"graph"}), False), (frozenset[str](), True)):
        memory = AsyncHindsightMemory(clock=clock)
        settings = Settings(database="", recall=RecallSettings(off=off))
        memory._service = await open_service(database, clock=clock, embedder=[], settings=settings)
        await memory.write_many([*NOISE, SLOW, FILTER, INDEX])
        hits = await found(memory, QUESTION)
        assert SLOW in hits
        assert (INDEX in hits) is reached
        await memory.close()


@pytest.mark.parametrize(("hidden", "seen"), [(FILTER, {SLOW}), (INDEX, {SLOW, FILTER})])
async def test_anothers_private_memory_is_neither_found_nor_passed_through(
    by_words: AsyncHindsightMemory, hidden: str, seen: set[str]
) -> None:
    for text in (SLOW, FILTER, INDEX):
        private: Any = {"agent_id": "one", "visibility": "private"} if text == hidden else {}
        await by_words.write(text, **private)
    assert set(await found(by_words, QUESTION, agent_id="one")) == {SLOW, FILTER, INDEX}
    for agent in ("two", None):
        assert set(await found(by_words, QUESTION, agent_id=agent)) == seen


async def test_what_is_forgotten_or_filtered_out_is_not_passed_through(by_words: AsyncHindsightMemory) -> None:
    await by_words.write(SLOW, tags=["ops"])
    between = await by_words.write(FILTER)
    await by_words.write(INDEX, tags=["ops"])
    assert set(await found(by_words, QUESTION, tags=["ops"])) == {SLOW}
    await by_words.forget(between.id)
    assert set(await found(by_words, QUESTION)) == {SLOW}
    await by_words.restore(between.id)
    assert set(await found(by_words, QUESTION)) == {SLOW, FILTER, INDEX}


async def test_an_alias_leads_to_the_other_name(by_words: AsyncHindsightMemory) -> None:
    await by_words.write_many([*NOISE, "We saw Melanie there"])
    asked = "what about Mel"
    assert "We saw Melanie there" not in await found(by_words, asked)
    alias = await by_words.write("Melanie", key="alias.Mel")
    assert "graph" in brought_by((await found(by_words, asked))["We saw Melanie there"])
    await by_words.forget(alias.id)
    assert "We saw Melanie there" not in await found(by_words, asked)


async def test_nothing_to_start_from_is_said(by_words: AsyncHindsightMemory) -> None:
    await by_words.write("tea")
    assert await by_words.search("zebra") == []
    (hit,) = await by_words.search("tea")
    assert any(note.startswith("graph: ") for note in hit.why.inactive)


async def test_another_user_is_not_reached(by_words: AsyncHindsightMemory) -> None:
    await by_words.write(SLOW)
    await by_words.write_many([FILTER, INDEX], user_id="bob")
    assert set(await found(by_words, QUESTION)) == {SLOW}
