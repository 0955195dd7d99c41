"""What is asked is understood: from the turns before it, in its parts, in other words, on the asker's clock."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from hindsight_memory import AsyncHindsightMemory
from hindsight_memory.recall.signals import SIGNALS
from hindsight_memory.settings import LLMSettings, RecallSettings, Settings
from hindsight_memory.testing import Fault, HashEmbedder, ScriptedLLM, StoppedClock, open_service
from samples import brought_by

Opener = Callable[..., AbstractAsyncContextManager[AsyncHindsightMemory]]
QUICK = LLMSettings(rewrite_wait_s=0.05)
NOISE = [
    "We talked about the mountains", "The meeting moved to another room", "Port 8442 is free", "今天的会议改到下午",
    "My sister plays the violin", "The car is at the garage",
]  # fmt: skip


@pytest.fixture
def opened(database: Path, clock: StoppedClock) -> Opener:
    """Opens the test's database with other settings or models; by words alone where no embedder is given."""

    @asynccontextmanager
    async def opening(embedder: Any = (), **given: Any) -> AsyncIterator[AsyncHindsightMemory]:
        memory = AsyncHindsightMemory(user_id="alice", clock=clock)
        settings = Settings(database="", recall=RecallSettings(**given.pop("recall", {})), llm=QUICK)
        memory._service = await open_service(database, clock=clock, embedder=embedder, settings=settings, **given)
        yield memory
        await memory.close()

    return opening


async def said(memory: AsyncHindsightMemory, clock: StoppedClock, *turns: str) -> None:
    """Turns of the session «now», a minute apart."""
    for turn in turns:
        await memory.write_conversation([{"content": turn}], session_id="now", wait="indexed")
        clock.advance(minutes=1)


async def contents(memory: AsyncHindsightMemory, text: str, **fields: Any) -> list[str]:
    return [hit.memory.content for hit in await memory.search(text, **fields)]


# What the turns before say

FOLLOW_UPS = [
    ("北京明天的天气怎么样？", "上海呢", "上海明天的天气怎么样？", "上海明天的天气是小雨", "上海有很多咖啡馆"),
    (
        "What is the weather like in Paris tomorrow?", "and in Berlin?",
        "What is the weather like in Berlin tomorrow?", "The weather in Berlin is bad tomorrow", "Anna was in Berlin",
    ),
    ("What does Anna eat?", "and what does she drink?", None, "Anna will drink tea", "They drink coffee"),
]  # fmt: skip


@pytest.mark.parametrize(("before", "asked", "whole", "answer", "other"), FOLLOW_UPS)
async def test_a_follow_up_is_asked_in_full(
    memory: AsyncHindsightMemory, clock: StoppedClock, embedder: HashEmbedder,
    before: str, asked: str, whole: str | None, answer: str, other: str,
) -> None:  # fmt: skip
    await memory.write_many([*NOISE, other, answer], wait="indexed")
    await said(memory, clock, "Something else", before)
    embedder.asked.clear()
    found = await contents(memory, asked, session_id="now", except_session="now")
    assert found[0] == answer
    assert embedder.asked[0] != asked
    assert whole is None or embedder.asked[0] == whole


@pytest.mark.parametrize(("before", "asked", "whole", "answer", "other"), FOLLOW_UPS)
async def test_outside_its_session_nothing_is_read_into_it(
    memory: AsyncHindsightMemory, clock: StoppedClock, embedder: HashEmbedder,
    before: str, asked: str, whole: str, answer: str, other: str,
) -> None:  # fmt: skip
    await said(memory, clock, before)
    for elsewhere in ({}, {"session_id": "another"}, {"session_id": "now", "user_id": "bob"}):
        embedder.asked.clear()
        await memory.search(asked, **elsewhere)  # type: ignore[arg-type]
        assert embedder.asked[:1] in ([], [asked]), "the same question is not embedded twice"


@pytest.mark.parametrize(("before", "asked", "whole"), [each[:3] for each in FOLLOW_UPS])
async def test_a_question_that_is_stored_before_it_is_asked_is_not_read_into_itself(
    memory: AsyncHindsightMemory,
    clock: StoppedClock,
    embedder: HashEmbedder,
    before: str,
    asked: str,
    whole: str | None,
) -> None:
    await said(memory, clock, before, "I will have a look.", asked)
    embedder.asked.clear()
    await memory.search(asked, session_id="now")
    assert embedder.asked[0] != asked
    assert whole is None or embedder.asked[0] == whole


async def test_a_whole_question_stays_as_it_is(
    memory: AsyncHindsightMemory, clock: StoppedClock, embedder: HashEmbedder
) -> None:
    await said(memory, clock, "What is the weather like in Paris?")
    embedder.asked.clear()
    await memory.search("Where does Anna work?", session_id="now")
    assert embedder.asked == ["Where does Anna work?"]


async def test_anothers_private_turn_is_not_read_into_a_question(
    memory: AsyncHindsightMemory, embedder: HashEmbedder
) -> None:
    turn = "What is the weather like in Paris?"
    await memory.write(turn, session_id="now", agent_id="one", visibility="private", wait="indexed")
    for agent, read in (("two", False), ("one", True)):
        embedder.asked.clear()
        await memory.search("and in Berlin?", session_id="now", agent_id=agent)
        assert ("weather" in embedder.asked[0]) is read


async def test_except_session_leaves_out_one_session(memory: AsyncHindsightMemory) -> None:
    await memory.write("tea with Anna", session_id="now")
    await memory.write("tea with Tom", session_id="then")
    await memory.write("tea alone")
    assert set(await contents(memory, "tea", except_session="now")) == {"tea with Tom", "tea alone"}
    assert len(await contents(memory, "tea", except_session="never")) == 3
    listed = await memory.list(except_session="then")
    assert {each.content for each in listed.memories} == {"tea with Anna", "tea alone"}


# Parts


@pytest.mark.parametrize(
    ("asked", "answers"),
    [
        ("Where does Anna live and what is her dog called?", {"Anna moved to Lisbon to live there", "The dog is Rex"}),
        ("赵阳住在哪里，月租多少", {"赵阳住在海淀区", "每月的月租是六千元"}),
    ],
)
async def test_a_compound_question_finds_both_answers(opened: Opener, asked: str, answers: set[str]) -> None:
    async with opened() as memory:
        await memory.write_many([*NOISE, *answers])
        hits = await memory.search(asked, limit=2)
        assert {hit.memory.content for hit in hits} == answers
        assert all("parts" in brought_by(hit) for hit in hits)
        assert all("by a part of the question" in hit.why.sentence for hit in hits)
    async with opened(recall={"off": frozenset({"parts"})}) as memory:
        assert not any("parts" in brought_by(hit) for hit in await memory.search(asked))


# Other words


async def test_a_language_model_finds_other_words(opened: Opener, clock: StoppedClock) -> None:
    asked, answer = "when did she move?", "Relocation of Ann: in June"
    async with opened() as memory:
        await memory.write_many([*NOISE, answer])
        assert answer not in await contents(memory, asked)
    llm = ScriptedLLM("relocation of Ann\nAnn's new flat")
    async with opened(llm=llm) as memory:
        await said(memory, clock, "Ann is here.")
        hit = next(hit for hit in await memory.search(asked, session_id="now") if hit.memory.content == answer)
        assert brought_by(hit) >= {"parts"}
        assert "Ann is here." in llm.asked[-1][1], "it is told of the turns before"


async def test_a_question_without_words_is_asked_in_other_words(opened: Opener) -> None:
    async with opened(llm=ScriptedLLM("relocation of Ann")) as memory:
        await memory.write("Relocation of Ann: in June")
        (hit,) = await memory.search("???")
        assert brought_by(hit) >= {"parts"}
        assert "words: the query has none" in hit.why.inactive


@pytest.mark.parametrize("fault", ["failed", "hang", "bug", "chatter"])
async def test_a_language_model_that_fails_changes_nothing(opened: Opener, fault: Fault | str) -> None:
    asked = "Where does Anna live and what is her dog called?"
    async with opened(HashEmbedder(), start=False) as memory:
        await memory.write_many([*NOISE, "Anna lives in Lisbon", "The dog is Rex"], wait="indexed")
        usual = await memory.search(asked)
    llm = ScriptedLLM("I'm sorry, I cannot help with that.")
    llm.broken = None if fault == "chatter" else fault  # type: ignore[assignment]
    async with opened(HashEmbedder(), llm=llm, start=False) as memory:
        found = await memory.search(asked)
    assert llm.asked
    assert [(hit.memory.id, hit.why.shares) for hit in found] == [(hit.memory.id, hit.why.shares) for hit in usual]


# On the asker's clock


async def test_a_zone_says_which_day_yesterday_was(opened: Opener, clock: StoppedClock) -> None:
    clock.now = datetime(2026, 5, 4, 23, 30, tzinfo=UTC)  # in Shanghai it is the 5th already

    async def of_yesterday(memory: AsyncHindsightMemory, **fields: Any) -> list[str]:
        hits = await memory.search("what happened yesterday, 昨天?", **fields)
        return [hit.memory.content for hit in hits if "time" in brought_by(hit)]

    async with opened() as memory:
        await memory.write("went out on the third", occurred_at="2026-05-03T10:00:00Z")
        await memory.write("went out on the fourth", occurred_at="2026-05-04T10:00:00Z")
        assert await of_yesterday(memory) == ["went out on the third"]
        assert await of_yesterday(memory, zone="Asia/Shanghai") == ["went out on the fourth"]
        assert await of_yesterday(memory, zone="America/New_York") == ["went out on the third"]
        moment = "2026-05-05T09:00:00Z"
        assert await of_yesterday(memory, as_of=moment) == ["went out on the fourth"]
    async with opened(recall={"zone": "Asia/Shanghai"}) as memory:
        assert await of_yesterday(memory) == ["went out on the fourth"]
        assert await of_yesterday(memory, zone="UTC") == ["went out on the third"]


# Switched off


OFF = {signal: {signal} for signal in SIGNALS} | {
    "words and graph": {"words", "graph"},
    "all but words": {*SIGNALS} - {"words"},
    "all but meaning": {*SIGNALS} - {"vector"},
}


@pytest.mark.parametrize("off", OFF.values(), ids=OFF)
async def test_any_signal_can_be_switched_off_and_a_search_still_answers(opened: Opener, off: set[str]) -> None:
    async with opened(HashEmbedder(), recall={"off": frozenset(off)}, start=False) as memory:
        await memory.write_many([*NOISE, "Anna lives in Lisbon", "Her dog is Rex"], wait="indexed")
        hits = await memory.search("Where did Anna live yesterday, in Lisbon, and who is her dog?")
        assert "Anna lives in Lisbon" in [hit.memory.content for hit in hits[:2]]
        for hit in hits:
            assert not off & {signal.partition(":")[0] for signal in brought_by(hit)}


async def test_with_every_signal_off_nothing_is_found(opened: Opener) -> None:
    async with opened(HashEmbedder(), recall={"off": frozenset(SIGNALS)}) as memory:
        await memory.write("Anna lives in Lisbon", wait="indexed")
        assert await memory.search("Anna") == []


# Keys that a question asks for

ASKED_BY_KEY = [
    ("I moved to Lisbon in March.", "Which city do I live in?", "Lisbon", NOISE[:3]),
    ("I work as a nurse.", "What do I do for a living?", "nurse", NOISE[:3]),
    ("我搬到杭州了", "我现在住在哪个城市？", "杭州", NOISE[5:]),
    ("我叫林晓", "你还记得我的名字吗", "林晓", NOISE[5:]),
]


@pytest.mark.parametrize(("told", "asked", "value", "noise"), ASKED_BY_KEY)
async def test_what_stands_under_the_key_asked_for_is_found_and_sure_without_a_common_word(
    opened: Opener, clock: StoppedClock, told: str, asked: str, value: str, noise: list[str]
) -> None:
    async with opened() as memory:
        await said(memory, clock, *noise, told, *noise)
        first = (await memory.search(asked))[0]
        assert value in first.memory.content
        assert first.sure
        assert "key" in {factor.name for factor in first.why.factors} | {share.signal for share in first.why.shares}
        assert value in (await memory.context(asked)).text


async def test_a_key_that_is_another_s_or_no_more_so_is_not_brought(opened: Opener, clock: StoppedClock) -> None:
    async with opened() as memory:
        await said(memory, clock, "I live in Oslo.", "I moved to Lisbon.")
        where = [hit.memory.content for hit in await memory.search("Which city do I live in?") if hit.memory.key]
        assert where == ["I moved to Lisbon."]
        assert await memory.search("Which city do I live in?", key="profile.name") == []
        asked = await memory.search("Which city does Mia live in?")
        assert not any(factor.name == "key" for hit in asked for factor in hit.why.factors)
