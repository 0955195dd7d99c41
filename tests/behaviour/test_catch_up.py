"""maintain and jobs(run=True) have a language model read what waits, where no process stays open to do it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hindsight_memory import AsyncHindsightMemory, InvalidInput, NotAllowed
from hindsight_memory.domain import Draft, Jobs, JobState, Maintenance, Message, Scope, Stop
from hindsight_memory.guard.access import Principal
from hindsight_memory.models.budget import Budget
from hindsight_memory.service import Service
from hindsight_memory.settings import LLMSettings, ReadSettings, Settings
from hindsight_memory.testing import HashEmbedder, StoppedClock, open_service
from readers import ReadingLLM

ALICE = Scope(user_id="alice", session_id="s")
BOB = Scope(user_id="bob", session_id="s")
TALK = "By the way, Rex the spaniel sleeps on the sofa and my umbrella is in the car."
FACT = ("Rex is a spaniel who sleeps on the sofa", "Rex the spaniel sleeps on the sofa")
QUICK = Settings("", llm=LLMSettings(timeout_s=0.05))
READ = Maintenance(routines=("read",))

Open = Callable[..., Any]


@pytest.fixture
def llm() -> ReadingLLM:
    return ReadingLLM()


@pytest.fixture
async def opened(database: Path, clock: StoppedClock, llm: ReadingLLM) -> AsyncIterator[Open]:
    """Opens services over one file; none has its workers started, as where a program ends at once."""
    services: list[Service] = []

    async def opening(**options: Any) -> Service:
        given = {"clock": clock, "embedder": HashEmbedder(), "settings": QUICK, "start": False, "llm": llm}
        service = await open_service(database, **given | options)
        services.append(service)
        return service

    yield opening
    for service in services:
        await service.close()


async def say(service: Service, *texts: str, scope: Scope = ALICE) -> list[str]:
    return [each.id for each in await service.write_conversation([Message(content=text) for text in texts], scope)]


async def facts(service: Service, scope: Scope = ALICE) -> list[str]:
    held = [memory for _, memory in await service._parts.store.reading(scope.bank).sweep(0, 1_000)]
    return [memory.content for memory in held if memory.turn is None]


@pytest.mark.parametrize("how", ["maintain", "jobs"])
async def test_what_waits_is_read_now(opened: Open, llm: ReadingLLM, how: str) -> None:
    llm.facts[TALK] = [FACT]
    service = await opened()
    await say(service, TALK, *(f"It rained on day {n} of the fair" for n in range(9)))
    assert await service.jobs(ALICE) == Jobs(queued=10)
    seen: list[int] = []
    if how == "maintain":
        assert (await service.maintain(Maintenance(dry_run=True))).totals["read"] == 10
        assert (await service.jobs(ALICE)).queued == 10
        assert (await service.maintain(Maintenance(), seen.append)).totals["read"] == 10
        assert (await service.maintain(Maintenance(), seen.append)).totals["read"] == 0
    else:
        found = await service.jobs(ALICE, run=True, progress=seen.append)
        assert found == Jobs(done=10, read=10)
        assert (await service.jobs(ALICE, run=True)).read == 0
    assert await facts(service) == [FACT[0]]
    assert (await service.jobs(ALICE)).done == 10
    assert seen == sorted(seen)
    assert seen[-1] == 10


async def test_maintain_reads_for_every_user_and_jobs_for_one(opened: Open) -> None:
    service = await opened()
    await say(service, TALK)
    await say(service, TALK, scope=BOB)
    assert (await service.jobs(BOB, run=True)).read == 1
    assert (await service.jobs(ALICE)).queued == 1
    await say(service, "It rained in Lisbon", scope=BOB)
    report = await service.maintain(Maintenance(users=("alice",), due=True))
    assert (report.totals["read"], (await service.jobs(BOB)).queued) == (1, 1)
    assert (await service.maintain(Maintenance(due=True))).totals["read"] == 1, "it is due whenever something waits"
    assert [line.user_id for line in report.upkeep if line.routine == "read"] == ["alice"]


async def test_without_a_model_it_says_so(opened: Open) -> None:
    service = await opened(llm=None)
    await say(service, TALK)
    with pytest.raises(InvalidInput, match="No language model is set"):
        await service.jobs(ALICE, run=True)
    assert await service.jobs(ALICE) == Jobs(queued=1)
    (line,) = (await service.maintain(READ)).upkeep
    assert (line.changes, line.stopped) == (0, "no language model is set")
    report = await service.maintain(Maintenance())
    assert (report.totals["read"], report.upkeep) == (0, ()), "who did not ask for it is not told each time"


@pytest.mark.parametrize("broken", ["failed", "hang", "bug"])
async def test_a_model_that_does_not_answer_is_not_waited_for(opened: Open, llm: ReadingLLM, broken: Any) -> None:
    """Each job ends in a state, with its reason, and nothing else is held up by it."""
    service = await opened()
    await say(service, *(f"{TALK} {n}" for n in range(3)))
    await say(service, TALK, scope=BOB)
    llm.broken = broken
    found = await service.jobs(ALICE, run=True)
    assert (found.read, found.queued, found.running, found.stopped) == (0, 3, 0, Stop.MODEL)
    assert all(job.state is JobState.QUEUED and job.reason and job.attempts == 0 for job in found.latest)
    await service.write(Draft(content="Over soon", expires_at=service._parts.clock()), ALICE)
    asked = len(llm.asked)
    report = await service.maintain(Maintenance())
    lines = {(line.user_id, line.routine): line for line in report.upkeep}
    assert report.totals["expire"] == 1
    assert lines["alice", "read"].stopped == "the language model does not answer"
    assert len(llm.asked) - asked <= 8, "it is not asked again for every user"
    llm.broken = None
    assert (await service.jobs(ALICE, run=True)) == Jobs(done=3, read=3)


async def test_what_it_answers_in_vain_has_failed(opened: Open, llm: ReadingLLM) -> None:
    service = await opened()
    await say(service, TALK)
    llm.garbage = "I would rather not."
    found = await service.jobs(ALICE, run=True)
    assert (found.read, found.failed, found.stopped) == (1, 1, None)
    assert found.latest[0].reason
    llm.garbage = ""
    assert await service.jobs(ALICE, run=True) == replace(found, read=0), "it is not tried again by itself"
    assert await service.jobs(ALICE, run=True, retry=True) == Jobs(done=1, read=1, retried=1)


async def test_when_the_time_is_up_the_rest_waits(
    opened: Open, llm: ReadingLLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The loop's clock is moved by the model: twenty seconds an answer."""
    one = replace(QUICK, llm=LLMSettings(judge="none", timeout_s=60), read=ReadSettings(at_once=1))
    service = await opened(settings=one)
    await say(service, *(f"It rained on day {n} of the fair" for n in range(9)))
    loop, plain, late = asyncio.get_running_loop(), llm.chat, 0.0
    clock = loop.time

    async def slowly(*args: Any, **options: Any) -> str:
        nonlocal late
        late += 20
        return await plain(*args, **options)

    monkeypatch.setattr(llm, "chat", slowly)
    monkeypatch.setattr(loop, "time", lambda: clock() + late)
    found = await service.jobs(ALICE, run=True, within_s=100)
    assert found.stopped is Stop.TIME
    assert found.queued + found.done == 9
    assert 0 < found.done < 9
    assert found.running == 0
    late = 0.0
    again = await service.jobs(ALICE, run=True, within_s=86_400)
    assert (again.done, again.stopped) == (9, None)


async def test_who_is_stopped_loses_nothing(opened: Open, llm: ReadingLLM) -> None:
    service = await opened(settings=replace(QUICK, llm=LLMSettings(timeout_s=60)))
    await say(service, TALK)
    llm.broken = "hang"
    for ask in (service.jobs(ALICE, run=True), service.maintain(Maintenance())):
        task = asyncio.create_task(ask)
        while not (await service.jobs(ALICE)).running:
            pass
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await service.jobs(ALICE) == Jobs(queued=1)
    llm.broken = None
    other = await opened()
    assert await other.jobs(ALICE, run=True) == Jobs(done=1, read=1), "it is held by nobody, nor is the lead"
    await other.maintain(Maintenance())


async def test_a_day_s_memories_are_a_day_s_whoever_reads_them(opened: Open, clock: StoppedClock) -> None:
    """A program that ends and starts again, once an hour, must not spend a day's share each time."""
    few = replace(QUICK, read=ReadSettings(daily_memories=3))
    service = await opened(settings=few)
    await say(service, *(f"It rained on day {n} of the fair" for n in range(8)))
    found = await service.jobs(ALICE, run=True)
    assert (found.read, found.queued, found.stopped) == (3, 5, Stop.DAY)
    await service.close()
    again = await opened(settings=few)
    assert (await again.jobs(ALICE, run=True)).stopped is Stop.DAY
    report = await again.maintain(READ)
    assert report.upkeep[0].stopped == "what language models may do in a day is done"
    clock.advance(days=1)
    assert (await again.jobs(ALICE, run=True)).read == 3


class Billed(ReadingLLM):
    """A model whose answers cost a hundred tokens each."""

    def __init__(self, budget: Budget) -> None:
        super().__init__()
        self.budget = budget

    async def chat(self, system: str, prompt: str, **options: Any) -> str:
        with self.budget.billed(100):
            return await super().chat(system, prompt, **options)


async def test_a_day_s_tokens_are_a_day_s_in_all_processes_together(opened: Open, clock: StoppedClock) -> None:
    async def with_budget(tokens: int) -> tuple[Service, Budget]:
        budget = Budget(tokens, clock)
        alone = replace(QUICK, llm=LLMSettings(judge="none"))  # whose test would take some, too
        service: Service = await opened(llm=Billed(budget), settings=alone)
        service._parts.reading.budget = budget
        return service, budget

    service, budget = await with_budget(1_000)
    await say(service, *(f"It rained on day {n} of the fair" for n in range(20)))
    first = await service.jobs(ALICE, run=True)
    assert first.stopped is Stop.DAY
    assert 0 < first.done <= 10
    assert 900 <= budget.spent <= 1_000
    await service.close()

    other, budget = await with_budget(1_400)
    second = await other.jobs(ALICE, run=True)
    assert second.stopped is Stop.DAY
    assert first.done <= second.done
    assert budget.spent <= 400, "the first has spent a thousand"
    clock.advance(days=1)
    assert (await other.jobs(ALICE, run=True)).done > second.done


async def test_reading_needs_the_right_to_write_and_a_number_in_bounds(opened: Open) -> None:
    service = await opened()
    with pytest.raises(NotAllowed):
        await service.acting_as(Principal("reader", verbs=frozenset({"get"}))).jobs(ALICE, run=True)
    for wrong in (0, 86_401, "soon"):
        with pytest.raises(InvalidInput) as refused:
            await service.jobs(ALICE, run=True, within_s=wrong)
        assert refused.value.field == "within_s"


async def test_an_embedder_that_fails_leaves_what_waits_for_its_vector(opened: Open) -> None:
    embedder = HashEmbedder()
    service = await opened(embedder=embedder)
    await say(service, TALK)
    embedder.broken = "failed"
    assert (await service.jobs(ALICE, run=True)) == Jobs(queued=1)
    embedder.broken = None
    assert (await service.jobs(ALICE, run=True)).done == 1


async def test_the_schedule_leaves_it_to_the_worker(database: Path, clock: StoppedClock, llm: ReadingLLM) -> None:
    from hindsight_memory.settings import LifecycleSettings

    settings = replace(QUICK, lifecycle=LifecycleSettings(look_s=0.01), read=ReadSettings(begin_s=3_600))
    service = await open_service(database, clock=clock, embedder=[], settings=settings, llm=llm)
    await say(service, TALK)
    await service.write(Draft(content="Over soon", expires_at=clock()), ALICE)
    clock.advance(hours=2)
    reader = service._parts.store.reading(ALICE.bank)
    while not [each for each in await reader.events(None, 100) if each.verb == "expire"]:
        pass
    assert llm.asked == []
    assert (await service.jobs(ALICE)).queued == 1
    await service.close()


async def test_a_library_user_who_closes_at_once(database: Path, clock: StoppedClock, llm: ReadingLLM) -> None:
    for text in (TALK, "It rained in Lisbon"):
        memory = AsyncHindsightMemory(user_id="alice", clock=clock)
        memory._service = await open_service(database, clock=clock, llm=llm, settings=QUICK)
        await memory.write_conversation([{"content": text}], session_id="s")
        await memory.close()
    assert llm.read == []
    memory = AsyncHindsightMemory(user_id="alice", clock=clock)
    memory._service = await open_service(database, clock=clock, llm=llm, settings=QUICK)
    assert (await memory.maintain()).totals["read"] == 2
    await memory.close()
    assert sorted(llm.read) == sorted([TALK, "It rained in Lisbon"])
