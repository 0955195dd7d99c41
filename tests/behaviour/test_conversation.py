"""write_conversation: each turn once, in its place, and nothing that is not conversation."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from hindsight_memory import Action, AsyncHindsightMemory, InvalidInput, Kind, Message, Source
from hindsight_memory.domain import Memory, Scope
from hindsight_memory.service import Service
from hindsight_memory.testing import HashEmbedder, StoppedClock

SESSION = {"session_id": "monday"}
TALK = [
    {"role": "user", "content": "Where shall we go this summer?"},
    {"role": "assistant", "content": "Lisbon is lovely in June."},
    {"role": "user", "content": "Book it for the twelfth then."},
]


async def turns(service: Service, session: str = "monday", user: str = "alice") -> list[Memory]:
    return await service._parts.store.reading(Scope(user_id=user).bank).turns(session, 0, 10_000)


async def said(service: Service, session: str = "monday") -> list[str]:
    return [turn.content for turn in await turns(service, session)]


async def test_each_turn_is_one_episodic_memory_in_its_place(
    memory: AsyncHindsightMemory, service: Service, clock: StoppedClock
) -> None:
    receipts = await memory.write_conversation(TALK, **SESSION)
    assert [receipt.action for receipt in receipts] == [Action.ADDED] * 3
    held = await turns(service)
    assert [turn.turn for turn in held] == [0, 1, 2]
    assert {turn.kind for turn in held} == {Kind.EPISODIC}
    assert [turn.source for turn in held] == [Source.USER, Source.AGENT, Source.USER]
    assert {turn.occurred_at for turn in held} == {clock()}


async def test_a_turn_is_found_by_what_its_neighbours_say(memory: AsyncHindsightMemory) -> None:
    await memory.write_conversation([{**message, "role": "user"} for message in TALK], **SESSION)
    found = [hit.memory.content for hit in await memory.search("Lisbon June")]
    assert found[0] == TALK[1]["content"]
    assert set(found) == {message["content"] for message in TALK}


IDENTIFIED = {
    "ids": [{**message, "id": f"m{number}"} for number, message in enumerate(TALK)],
    "times": [{**message, "occurred_at": f"2026-05-0{number + 1}T09:00:00Z"} for number, message in enumerate(TALK)],
    "places": TALK,
}


@pytest.mark.parametrize("talk", IDENTIFIED.values(), ids=IDENTIFIED)
async def test_the_same_batch_again_adds_nothing(
    memory: AsyncHindsightMemory, service: Service, clock: StoppedClock, talk: Any
) -> None:
    first = await memory.write_conversation(talk, **SESSION)
    clock.advance(minutes=5)
    again = await memory.write_conversation(talk, **SESSION)
    assert [receipt.id for receipt in again] == [receipt.id for receipt in first]
    assert {receipt.action for receipt in again} == {Action.DUPLICATE}
    assert len(await said(service)) == 3


@pytest.mark.parametrize("talk", [IDENTIFIED["ids"], IDENTIFIED["times"]], ids=["ids", "times"])
async def test_the_whole_history_again_adds_what_is_new(
    memory: AsyncHindsightMemory, service: Service, talk: Any
) -> None:
    """Hosts send the conversation so far at every turn."""
    for end in (1, 2, 3, 3):
        await memory.write_conversation(talk[:end], **SESSION)
    assert await said(service) == [message["content"] for message in TALK]


async def test_a_text_said_twice_is_two_turns(memory: AsyncHindsightMemory, service: Service) -> None:
    question = "Is the build green again?"
    batch: list[Any] = [{"content": question}, {"content": "No, 3 tests fail.", "role": "assistant"}]
    await memory.write_conversation([*batch, *batch], **SESSION)
    assert await said(service) == [question, "No, 3 tests fail."] * 2
    timed = [{"content": question, "occurred_at": "2026-05-01T09:00:00Z"}] * 2
    for _ in range(2):
        await memory.write_conversation(timed, session_id="tuesday")
    assert await said(service, "tuesday") == [question] * 2


async def test_a_retry_that_crosses_a_system_prompt_is_still_a_retry(
    memory: AsyncHindsightMemory, service: Service
) -> None:
    batch: list[Any] = [{"role": "system", "content": "You are kind."}, *TALK]
    for _ in range(2):
        await memory.write_conversation(batch, **SESSION)
    assert len(await said(service)) == 3


async def test_parallel_appends_all_stay(memory: AsyncHindsightMemory, service: Service) -> None:
    receipts = await asyncio.gather(
        *(memory.write_conversation([Message(content=f"fact number {n}")], **SESSION) for n in range(30))
    )
    assert all(receipt.created for (receipt,) in receipts)
    held = await turns(service)
    assert sorted(turn.turn for turn in held if turn.turn is not None) == list(range(30))
    assert {turn.content for turn in held} == {f"fact number {n}" for n in range(30)}


async def test_small_talk_keeps_its_place_and_is_not_found(memory: AsyncHindsightMemory, service: Service) -> None:
    batch: list[Any] = [{"content": text} for text in ("hello there", "The gate code is 8841", "好的，谢谢", "ok!")]
    await memory.write_conversation(batch, **SESSION)
    held = await turns(service)
    assert [turn.context_only for turn in held] == [True, False, True, True]
    assert [hit.memory.content for hit in await memory.search("hello gate code ok 好的 谢谢")] == [
        "The gate code is 8841"
    ]


async def test_a_vector_knows_the_turn_before(service: Service, embedder: HashEmbedder, clock: StoppedClock) -> None:
    embedder.template = "said"
    memory = AsyncHindsightMemory(user_id="alice", clock=clock)
    memory._service = service
    await memory.write_conversation(TALK, wait="indexed", **SESSION)
    assert any("Lisbon is lovely" in text and "(after" in text and "this summer" in text for text in embedder.asked)


async def test_system_prompts_are_rejected_and_tools_kept_aside(memory: AsyncHindsightMemory, service: Service) -> None:
    batch: list[Any] = [
        {"role": "system", "content": "You are a helpful assistant."},
        {"role": "tool", "content": "exit code 0, 14 files changed"},
        {"role": "user", "content": "Ship it on Friday."},
    ]
    receipts = await memory.write_conversation(batch, **SESSION)
    assert [receipt.action for receipt in receipts] == [Action.REJECTED, Action.ADDED, Action.ADDED]
    assert (receipts[0].id, receipts[0].created) == ("", False)
    assert [(turn.source, turn.context_only) for turn in await turns(service)] == [
        (Source.TOOL, True),
        (Source.USER, False),
    ]


async def test_what_recall_put_into_a_prompt_is_not_stored_again(
    memory: AsyncHindsightMemory, service: Service
) -> None:
    await memory.write("Maya's flat white is with oat milk")
    block = (await memory.context("flat white")).text
    assert "oat milk" in block
    batch: list[Any] = [
        {"content": f"{block}\n\nWhat should I order?"},
        {"content": block},
        {"content": block[: len(block) // 2]},
    ]
    receipts = await memory.write_conversation(batch, **SESSION)
    assert [receipt.action for receipt in receipts] == [Action.ADDED, Action.REJECTED, Action.REJECTED]
    assert await said(service) == ["What should I order?"]


async def test_a_forgotten_turn_does_not_come_back(memory: AsyncHindsightMemory, service: Service) -> None:
    for talk in IDENTIFIED.values():
        first = await memory.write_conversation(talk, session_id=str(id(talk)))
        await memory.forget(first[1].id)
        again = await memory.write_conversation(talk, session_id=str(id(talk)))
        assert [receipt.created for receipt in again] == [False] * 3
        assert first[1].id not in [hit.memory.id for hit in await memory.search("Lisbon")]


async def test_the_same_session_id_of_two_users_is_two_sessions(memory: AsyncHindsightMemory, service: Service) -> None:
    await memory.write_conversation(TALK, **SESSION)
    receipts = await memory.write_conversation(TALK, user_id="bob", **SESSION)
    assert [receipt.created for receipt in receipts] == [True] * 3
    assert [turn.turn for turn in await turns(service, user="bob")] == [0, 1, 2]


async def test_times_and_speakers_are_kept(memory: AsyncHindsightMemory, service: Service, clock: StoppedClock) -> None:
    then = clock() - timedelta(days=900)
    await memory.write_conversation([Message(content="It was raining", speaker="Ana", occurred_at=then)], **SESSION)
    (turn,) = await turns(service)
    assert (turn.occurred_at, turn.created_at, turn.speaker) == (then, clock(), "Ana")
    assert [hit.memory.id for hit in await memory.search("what did Ana say?")] == [turn.id]


@pytest.mark.parametrize(
    ("messages", "field"),
    [
        ([{"role": "narrator", "content": "x"}], "role"),
        ([{"content": ""}], "content"),
        ([{"content": "ok"}, {"content": 5}], "content"),
        ([{"content": "x", "occurred_at": "2026-05-04T09:00:00"}], "occurred_at"),
        ([{"text": "x"}], "messages"),
        ([{"content": "x", "name": "y"}], "messages"),
        (["text"], "messages"),
        ([None], "messages"),
        ("text", "messages"),
        ({"content": "x"}, "messages"),
    ],
)
async def test_a_wrong_message_is_named_and_none_is_stored(
    memory: AsyncHindsightMemory, service: Service, messages: Any, field: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        await memory.write_conversation(messages, **SESSION)
    assert refused.value.field == field
    assert await turns(service) == []


async def test_a_conversation_needs_a_session(memory: AsyncHindsightMemory) -> None:
    with pytest.raises(InvalidInput) as refused:
        await memory.write_conversation(TALK)
    assert refused.value.field == "session_id"


async def test_turns_with_and_without_ids_are_known_again_when_the_call_is_repeated(memory):
    for messages in (
        [{"content": "Where is the key?", "id": "m1"}, {"content": "In the blue drawer."}],
        [{"content": "The train leaves at nine."}, {"content": "From platform four.", "id": "m2"}],
    ):
        first = await memory.write_conversation(messages, session_id="mixed")
        again = await memory.write_conversation(messages, session_id="mixed")
        assert [receipt.created for receipt in first] == [True, True]
        assert [receipt.id for receipt in again] == [receipt.id for receipt in first]
