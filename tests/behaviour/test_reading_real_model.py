"""A small real model reads a conversation: what comes of it stands in what was said, and all of that is still found."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from hindsight_memory.assist.grounding import Grounds, says_nothing
from hindsight_memory.domain import EXTRACTED_FROM, Draft, Listing, Message, Query, Scope, Source, Status
from hindsight_memory.models.base import ModelFailed
from hindsight_memory.models.chat import OpenAIChat
from hindsight_memory.service import Service
from hindsight_memory.settings import LLMSettings, ReadSettings, Settings
from hindsight_memory.testing import HashEmbedder, StoppedClock, open_service
from local_model import serving
from readers import indexed

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

ALICE = Scope(user_id="alice", session_id="s")
TURNS = (
    "I moved from Berlin to Lisbon last month and I prefer green tea now.",
    "My dog is called Rex, he sleeps on the sofa.",
    "Please remember that the deploy key rotates every 90 days.",
    "我上个月从柏林搬到里斯本了，现在更喜欢喝绿茶。",
    "我的狗叫雷克斯，每天睡在沙发上。",
    "请记住部署密钥每90天轮换一次。",
)
FACTS = (
    "The team lunch takes place in the garden",
    "The team lunch takes place in the library",
    "团队的午餐会安排在花园那边举行",
    "团队的午餐会安排在图书馆那边举行",
)
LONG = (
    "The migration began on Friday at nine. Ann copied the tables, and Bob watched the disks. At noon the third disk "
    "was full, so they stopped and threw away the old logs. The second run took forty minutes. 迁移结束以后，"
    "安检查了所有的表，没有发现缺少的行。On Monday the old server was switched off, and nobody has missed it since. "
    "The notes of both runs are kept in the folder of the team, together with the list of the tables and the sizes of "
    "the disks before and after. "
    "Whoever repeats this should empty the log folder first, and tell the night shift two days before."
)
TIMEOUT_S = 120.0
"""Long, for a machine that has other work; nothing here waits for it to end."""


class Brief(OpenAIChat):
    """Cut off after 150 tokens: this model never ends by itself."""

    async def chat(self, *args: Any, max_tokens: int, **options: Any) -> str:
        return await super().chat(*args, max_tokens=min(max_tokens, 150), **options)


async def opened(database: Path, address: str, clock: StoppedClock) -> Service:
    llm = LLMSettings(base_url=address, timeout_s=TIMEOUT_S, rewrite_wait_s=0.01)
    settings = Settings("", llm=llm, read=ReadSettings(begin_s=0, at_once=1))
    model = Brief("gemma", llm)
    return await open_service(database, clock=clock, embedder=HashEmbedder(), settings=settings, llm=model, start=False)


async def test_a_conversation_in_two_languages(tmp_path: Path, database: Path, clock: StoppedClock) -> None:
    with serving(tmp_path) as (address, _):
        service = await opened(database, address, clock)
        await service.write_conversation([Message(content=text) for text in TURNS], ALICE)
        for text in (*FACTS, LONG):
            await service.write(Draft(content=text), ALICE)
            clock.advance(hours=1)
        await service.append_session([Message(content="We decided to take the night boat to Texel.")], ALICE)
        await indexed(service)
        before = {memory.id: memory for memory in (await service.list(Listing(limit=1_000), ALICE)).memories}
        while await service._parts.reading.step():
            await indexed(service)

        after = {memory.id: memory for memory in (await service.list(Listing(limit=1_000), ALICE)).memories}
        assert before.keys() <= after.keys()
        for memory_id, memory in before.items():
            assert after[memory_id].content == memory.content
            assert (after[memory_id].status, after[memory_id].superseded_by) == (memory.status, memory.superseded_by)
        for memory in after.values():
            if memory.id in before:
                continue
            assert memory.source is Source.AGENT
            source = before[memory.metadata[EXTRACTED_FROM]].content
            start, end = memory.metadata["span"]
            assert source[start:end] == memory.metadata["quote"]
            assert not Grounds(source).speaks_otherwise(memory.content)
        (long,) = (memory for memory in after.values() if memory.content.startswith("The migration"))
        assert long.summary
        assert len(long.summary) < len(long.content)
        assert not says_nothing(long.summary)
        jobs = await service.jobs(ALICE)
        assert (jobs.queued, jobs.running) == (0, 0)
        assert jobs.done + jobs.failed == len(TURNS) + len(FACTS) + 2
        for text in (*TURNS, *FACTS, LONG):
            hits = await service.search(Query(text=text[:200], limit=30), ALICE)
            assert text in [hit.memory.content for hit in hits if hit.memory.status is Status.ACTIVE]
        await service.close()


async def test_a_server_that_is_killed_while_it_reads(tmp_path: Path, database: Path, clock: StoppedClock) -> None:
    with serving(tmp_path) as (address, process):
        service = await opened(database, address, clock)
        await service.write_conversation([Message(content=text) for text in TURNS], ALICE)
        await indexed(service)
        step = asyncio.create_task(service._parts.reading.step())
        await asyncio.sleep(0.5)  # it reads the prompt, or writes; a whole answer takes longer
        process.kill()
        with pytest.raises(ModelFailed):
            await step
        jobs = await service.jobs(ALICE)
        assert (jobs.queued, jobs.running, jobs.done, jobs.failed) == (len(TURNS), 0, 0, 0)
        assert all("broke off" in job.reason or "did not answer" in job.reason for job in jobs.latest)
        hits = await service.search(Query(text="deploy key"), ALICE)
        assert TURNS[2] in [hit.memory.content for hit in hits]
        await service.close()
