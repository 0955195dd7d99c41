"""Reading through a real HTTP endpoint that refuses, hangs, sends garbage, breaks off, or is not there."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from endpoints import Endpoint, Reply
from hindsight_memory.domain import Draft, Jobs, JobState, Listing, Message, Query, Scope
from hindsight_memory.models.base import ModelFailed
from hindsight_memory.service import Service
from hindsight_memory.settings import LLMSettings, ReadSettings, Settings
from hindsight_memory.testing import HashEmbedder, StoppedClock, open_service
from readers import indexed, read_all

ALICE = Scope(user_id="alice", session_id="s")
TEXT = "By the way, Rex the spaniel sleeps on the sofa and my umbrella is in the car."
FACT = {"content": "Rex is a spaniel who sleeps on the sofa", "quote": "Rex the spaniel sleeps on the sofa"}


def saying(content: str) -> dict[str, Any]:
    return {"choices": [{"message": {"content": content}}], "usage": {"total_tokens": 100}}


GOOD = Reply(saying(json.dumps({"facts": [FACT]})))
FAULTS: dict[str, tuple[list[Reply], JobState]] = {
    "refuses the key": ([Reply({"error": {"code": "invalid_api_key"}}, status=401)], JobState.QUEUED),
    "is overloaded": ([Reply({}, status=503)], JobState.QUEUED),
    "hangs": ([Reply(saying("{}"), after_s=5)], JobState.QUEUED),
    "breaks off": ([Reply(saying("{}"), broken_off=True)], JobState.QUEUED),
    "sends no JSON": ([Reply(b"<html>502</html>")], JobState.QUEUED),
    "talks": ([Reply(saying("I would love to help you with your memories!"))], JobState.FAILED),
    "says nothing that is so": ([Reply(saying('{"facts": [{"content": "a", "quote": "b"}]}'))], JobState.FAILED),
}


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    served = Endpoint()
    yield served
    served.close()


async def opened(database: Path, clock: StoppedClock, address: str, **llm: Any) -> Service:
    chosen = LLMSettings("", address, "key", **{"timeout_s": 0.5, "extract": "openai:m", **llm})
    settings = Settings("", llm=chosen, read=ReadSettings(begin_s=0))
    return await open_service(database, clock=clock, embedder=HashEmbedder(), settings=settings, start=False)


async def written(service: Service) -> None:
    await service.write_conversation([Message(content=TEXT)], ALICE)
    await service.write(Draft(content="The ferry leaves at nine"), ALICE)
    await indexed(service)


async def stands(service: Service) -> list[tuple[str, float]]:
    hits = await service.search(Query(text="Rex sofa ferry"), ALICE)
    return [(hit.memory.content, hit.score) for hit in hits]


@pytest.mark.parametrize("fault", FAULTS)
async def test_nothing_is_lost_and_the_job_says_what_went_wrong(
    database: Path, clock: StoppedClock, endpoint: Endpoint, fault: str
) -> None:
    endpoint.replies, state = [*FAULTS[fault][0]], FAULTS[fault][1]
    service = await opened(database, clock, endpoint.url)
    await written(service)
    before = await stands(service)
    for _ in range(3):
        with suppress(ModelFailed):
            await service._parts.reading.step()
    assert await stands(service) == before
    found = await service.jobs(ALICE)
    (job,) = found.latest
    assert (found.running, found.done, job.state) == (0, 1, state)
    assert job.reason.startswith("extract: ")
    assert "key" not in job.reason.replace("invalid_api_key", "")
    assert TEXT not in job.reason
    endpoint.replies = [GOOD]
    await service.jobs(ALICE, retry=True)
    clock.advance(hours=1)
    await read_all(service)
    assert await service.jobs(ALICE) == Jobs(done=2)
    contents = [memory.content for memory in (await service.list(Listing(), ALICE)).memories]
    assert sorted(contents) == sorted([TEXT, "The ferry leaves at nine", FACT["content"]])
    await service.close()


async def test_nobody_at_the_address(database: Path, clock: StoppedClock) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
    service = await opened(database, clock, address)
    await written(service)
    for _ in range(6):
        with pytest.raises(ModelFailed):
            await service._parts.reading.step()
        clock.advance(hours=1)
    (job,) = (await service.jobs(ALICE)).latest
    assert (job.state, job.attempts) == (JobState.QUEUED, 0)
    assert "did not answer" in job.reason
    await service.close()


async def test_no_tokens_are_left_for_today(database: Path, clock: StoppedClock, endpoint: Endpoint) -> None:
    endpoint.replies = [GOOD]
    service = await opened(database, clock, endpoint.url, daily_tokens=500)
    await written(service)
    with pytest.raises(ModelFailed):
        await service._parts.reading.step()
    assert endpoint.asked == []
    (job,) = (await service.jobs(ALICE)).latest
    assert (job.state, job.attempts) == (JobState.QUEUED, 0)
    assert "500 tokens for language models are spent" in job.reason
    await service.close()
    rich = await opened(database, clock, endpoint.url)
    await read_all(rich)
    assert (await rich.jobs(ALICE)).done == 2
    await rich.close()


async def test_doctor_names_the_model_of_each_task(database: Path, clock: StoppedClock, endpoint: Endpoint) -> None:
    service = await opened(database, clock, endpoint.url, judge="openai:n")
    await written(service)
    checks = {check.name: check.note for check in await service.doctor()}
    assert checks["llm"] == "extract: openai:m, judge: openai:n, summarise: rules, reflect: rules, state: rules"
    assert checks["jobs"] == "2 memories wait for it to read them"
    await service.close()
    other = replace(service.settings, llm=LLMSettings("openai:a", endpoint.url))
    whole = await open_service(database, clock=clock, embedder=HashEmbedder(), settings=other, start=False)
    assert {check.name: check.note for check in await whole.ready()}["llm"] == "openai:a"
    await whole.close()
