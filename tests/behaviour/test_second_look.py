"""What a memory does to those that say something like it, once both can be read."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from hindsight_memory import Action, AsyncHindsightMemory, Status
from hindsight_memory.domain import RelationType
from hindsight_memory.recall.order import told_by
from hindsight_memory.testing import StoppedClock, open_service


@pytest.fixture(params=["vectors", "words"])
async def memory(
    request: pytest.FixtureRequest, database: Path, clock: StoppedClock
) -> AsyncIterator[AsyncHindsightMemory]:
    """With an embedder, and with none at all: the rules are the same."""
    memory = AsyncHindsightMemory(user_id="alice", clock=clock)
    memory._service = await open_service(database, clock=clock, embedder=[] if request.param == "words" else None)
    yield memory
    await memory.close()


async def stored(memory: AsyncHindsightMemory, clock: StoppedClock, *texts: str, **fields: Any) -> list[Any]:
    receipts = []
    for text in texts:
        clock.advance(days=1)
        receipts.append(await memory.write(text, wait="indexed", **fields))
    return receipts


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The meeting is at 3pm", "The meeting is at 4pm"),
        ("I love cats", "I hate cats"),
        ("The staging server is up", "The staging server is not up"),
        ("用户喜欢喝拿铁", "用户讨厌拿铁"),
        ("手机用的是小米 14", "小米 14 换成了华为"),
        ("I have 17 postcards in my collection", "I now have 25 postcards in my collection"),
        ("We use Jenkins for builds", "We switched from Jenkins to Buildkite"),
    ],
)
async def test_a_correction_retires_what_it_corrects(
    memory: AsyncHindsightMemory, clock: StoppedClock, old: str, new: str
) -> None:
    first, second = await stored(memory, clock, old, new)
    assert (second.action, second.related) == (Action.SUPERSEDES, (first.id,))
    held = await memory.get(first.id)
    assert (held.status, held.superseded_by) == (Status.SUPERSEDED, second.id)
    assert held.valid_until == (await memory.get(second.id)).occurred_at
    assert [hit.memory.id for hit in await memory.search(new)] == [second.id]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I love cats", "I love dogs"),
        ("I love cats", "My sister hates cats"),
        ("The meeting is at 3pm", "The dentist is at 4pm"),
        ("I do not eat meat", "I do not eat fish"),
        ("Deploy with make release", "Tests run with make test"),
        ("用户喜欢喝拿铁", "用户喜欢喝红茶"),
        ("我住在上海", "我妈妈不住在上海"),
        ("Do I like cats?", "I do not like cats"),
        ("Rollbacks are done with make rollback", "A rollback is done by running make rollback"),
    ],
)
async def test_what_is_no_correction_retires_nothing(
    memory: AsyncHindsightMemory, clock: StoppedClock, old: str, new: str
) -> None:
    first, second = await stored(memory, clock, old, new)
    assert second.action is Action.ADDED
    assert (await memory.get(first.id)).status is Status.ACTIVE


async def test_the_same_again_is_merged_into_the_newer(memory: AsyncHindsightMemory, clock: StoppedClock) -> None:
    (first,) = await stored(memory, clock, "I love cats", tags=["pets"], importance=0.9, pinned=True)
    (second,) = await stored(memory, clock, "I really love cats!", tags=["likes"])
    held = await memory.get(second.id)
    assert (set(held.tags), held.importance, held.pinned) == ({"pets", "likes"}, 0.9, True)
    assert (await memory.get(first.id)).status is Status.SUPERSEDED
    assert len(await memory.search("cats")) == 1


async def test_the_order_of_writing_does_not_matter(memory: AsyncHindsightMemory, clock: StoppedClock) -> None:
    now = clock()
    later = await memory.write("The meeting is at 4pm", occurred_at=now, wait="indexed")
    earlier = await memory.write("The meeting is at 3pm", occurred_at=now - timedelta(days=9), wait="indexed")
    assert (await memory.get(earlier.id)).superseded_by == later.id
    assert (await memory.get(later.id)).status is Status.ACTIVE


async def test_what_is_trusted_less_corrects_nothing(memory: AsyncHindsightMemory, clock: StoppedClock) -> None:
    (first,) = await stored(memory, clock, "The release is on 3 May")
    (second,) = await stored(memory, clock, "The release is not on 3 May", source="agent")
    assert second.action is Action.CONTRADICTS
    assert (await memory.get(first.id)).status is Status.ACTIVE


async def test_a_turn_is_marked_and_stays(memory: AsyncHindsightMemory, clock: StoppedClock) -> None:
    said = ["I have 17 postcards in my collection. Anna sent one!", "By the way, I have 25 postcards in my collection."]
    (first,) = await memory.write_conversation([{"content": said[0]}], session_id="a", wait="indexed")
    clock.advance(days=1)
    (second,) = await memory.write_conversation([{"content": said[1]}], session_id="b", wait="indexed")
    held = await memory.get(first.id)
    assert (held.status, held.superseded_by) == (Status.ACTIVE, second.id)


async def turn(memory: AsyncHindsightMemory, clock: StoppedClock, text: str) -> str:
    clock.advance(days=1)
    (said,) = await memory.write_conversation([{"content": text}], session_id=f"{clock():%d}", wait="indexed")
    await memory.write("the lamp in the hall is brass", wait="indexed")  # what was read off it is looked at before
    return said.id


TWICE = [
    (
        "I have two cats. Please remember that my locker code is 4711.",
        "I have three cats now.",
        "My locker code is 4712 now.",
    ),
    ("我有两只猫。请记住我的柜子密码是4711。", "我现在有三只猫了。", "我的柜子密码现在是4712。"),
    (
        "My rent is 950 euros and I switched to coffee.",
        "My rent is 990 euros now.",
        "I switched from coffee to matcha.",
    ),
    ("我改喝咖啡了。我有两条狗。", "我现在有三条狗了。", "我不喝咖啡了，改喝抹茶了。"),
]


@pytest.mark.parametrize(("said", "first", "second"), TWICE)
async def test_a_turn_is_replaced_in_each_of_its_parts(
    memory: AsyncHindsightMemory, clock: StoppedClock, said: str, first: str, second: str
) -> None:
    old = await turn(memory, clock, said)
    one, two = await turn(memory, clock, first), await turn(memory, clock, second)
    held = await memory.get(old)
    assert (held.status, held.superseded_by) == (Status.ACTIVE, two), "it stays, and says the last of what replaced it"
    history = await memory.history(old)
    by = {edge.from_id for edge in history.relations if edge.to_id == old and edge.type is RelationType.SUPERSEDES}
    assert by == {one, two}, "and its history says all"
    for newer, text in ((one, first), (two, second)):
        found = [told_by(hit.memory) for hit in await memory.search(text, limit=20)]
        assert found.index(newer) < found.index(old)
    standing = [each.content for each in (await memory.list(kinds=["semantic"])).memories]
    read = [each for each in standing if "lamp" not in each]
    assert sorted(read) == sorted([first, second]), "of what was read off it, nothing stands"


async def test_a_part_is_replaced_once_and_what_replaced_it_next(
    memory: AsyncHindsightMemory, clock: StoppedClock
) -> None:
    ids = [
        await turn(memory, clock, text)
        for text in ("I have two cats. It rains.", "I have three cats now.", "I have four cats now.")
    ]
    held = [await memory.get(each) for each in ids]
    assert [each.superseded_by for each in held] == [ids[1], ids[2], None]
    history = await memory.history(ids[0])
    assert [each.id for each in history.versions if each.turn is not None] == ids


@pytest.mark.parametrize(
    "texts",
    [
        ("I switched from tea to coffee.", "I switched from coffee to matcha.", "I've switched from matcha to water."),
        ("我改喝绿茶了。", "我改喝咖啡了。", "我改喝抹茶了。"),
        ("I take the bus to work now.", "I bike to work now.", "I take the train to work now."),
        ("上班我改坐地铁了。", "上班我改骑车了。", "上班我改坐公交了。"),
    ],
)
async def test_of_a_chain_said_in_passing_the_last_stands(
    memory: AsyncHindsightMemory, clock: StoppedClock, texts: tuple[str, ...]
) -> None:
    for text in texts:
        await turn(memory, clock, text)
    standing = [each.content for each in (await memory.list(kinds=["semantic"])).memories]
    assert [each for each in standing if each in texts] == [texts[-1]]
    replaced = (await memory.list(status=Status.SUPERSEDED)).memories
    assert {each.content for each in replaced} == set(texts[:-1])


@pytest.mark.parametrize(
    "texts",
    [
        ("I take the bus to work now.", "I bike to the gym now."),
        ("My locker code is 4711 now.", "My gate code is 9921 now."),
        ("早餐我改吃燕麦了。", "晚餐我改吃沙拉了。"),
        ("我的柜子密码现在是4711。", "我的门禁密码现在是9921。"),
        ("I have two cats now.", "I have three dogs now."),
        ("我现在有两只猫了。", "我现在有三条狗了。"),
    ],
)
async def test_what_is_of_something_else_stands_beside(
    memory: AsyncHindsightMemory, clock: StoppedClock, texts: tuple[str, ...]
) -> None:
    ids = [await turn(memory, clock, text) for text in texts]
    assert [(await memory.get(each)).superseded_by for each in ids] == [None, None]
    standing = {each.content for each in (await memory.list(kinds=["semantic"])).memories}
    assert set(texts) <= standing


async def test_a_taste_is_given_up_by_its_opposite(memory: AsyncHindsightMemory, clock: StoppedClock) -> None:
    """Many tastes of one key stand side by side, but not one and its denial."""
    first, second = await stored(memory, clock, "I love sushi", "I hate sushi", key="preference.food")
    assert (second.action, second.related) == (Action.SUPERSEDES, (first.id,))
    third, _ = await stored(memory, clock, "I love ramen", "I love soup", key="preference.food")
    assert (await memory.get(third.id)).status is Status.ACTIVE


async def test_a_part_of_a_long_fact_does_not_retire_it(memory: AsyncHindsightMemory, clock: StoppedClock) -> None:
    long = (
        "The project uses Django for the backend. Its tests take nine minutes on the build machine. The meeting is at"
        " 3pm. Anna keeps the keys of the office and Bob orders the coffee for the kitchen."
    )
    first, second = await stored(memory, clock, long, "The meeting is at 4pm")
    held = await memory.get(first.id)
    assert (held.status, held.superseded_by) == (Status.ACTIVE, second.id)


async def test_two_users_and_private_memories_never_meet(memory: AsyncHindsightMemory, clock: StoppedClock) -> None:
    first = await memory.write("I love cats", user_id="anna", wait="indexed")
    clock.advance(days=1)
    second = await memory.write("I hate cats", user_id="bob", wait="indexed")
    private = await memory.write("I hate cats", user_id="anna", agent_id="a", visibility="private", wait="indexed")
    assert {second.action, private.action} == {Action.ADDED}
    assert (await memory.get(first.id, user_id="anna")).status is Status.ACTIVE


async def test_it_leaves_a_line_without_text(memory: AsyncHindsightMemory, clock: StoppedClock) -> None:
    first, second = await stored(memory, clock, "I love cats", "I hate cats")
    service: Any = memory._service
    events = await service._parts.store.reading("default/alice").events(first.id, 10)
    told = next(event for event in events if event.verb == "resolve")
    assert told.detail == {"action": "supersedes", "rule": "opposed", "whole": True, "related": [second.id]}


async def test_writers_at_once_settle_to_one(memory: AsyncHindsightMemory, clock: StoppedClock) -> None:
    times = [clock() + timedelta(minutes=minute) for minute in range(6)]
    texts = [f"The meeting is at {hour}pm" for hour in range(1, 7)]
    await asyncio.gather(
        *(memory.write(text, occurred_at=at, wait="indexed") for text, at in zip(texts, times, strict=True))
    )
    active = (await memory.list()).memories
    assert [each.content for each in active] == ["The meeting is at 6pm"]
