"""A language model reads what was written, behind the writes: what it adds, and that it never takes anything away."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hindsight_memory.domain import (
    EXTRACTED_FROM,
    Draft,
    Jobs,
    JobState,
    Listing,
    Memory,
    Message,
    Query,
    RelationType,
    Role,
    Scope,
    SessionState,
    Source,
    StatePatch,
    Status,
    Visibility,
)
from hindsight_memory.errors import Unavailable
from hindsight_memory.models.base import ModelFailed
from hindsight_memory.service import Service
from hindsight_memory.settings import LLMSettings, ReadSettings, Settings
from hindsight_memory.testing import Fault, HashEmbedder, StoppedClock, open_service
from readers import ReadingLLM, contents, indexed, read_all

ALICE = Scope(user_id="alice", session_id="s")
QUICK = Settings("", llm=LLMSettings(timeout_s=0.05), read=ReadSettings(begin_s=0))
TALKS = {
    "en": (
        "By the way, Rex the spaniel sleeps on the sofa and my umbrella is in the car.",
        "Rex is a spaniel who sleeps on the sofa",
        "Rex the spaniel sleeps on the sofa",
    ),
    "zh": ("顺便说一下，旺财那只狗每天睡在沙发上，雨伞在车里。", "旺财每天睡在沙发上", "旺财那只狗每天睡在沙发上"),
}
LONG = (
    "The build ran on the old server. " + "Each stage printed its own log, and the third stage took the longest. " * 9
)
SHORT = "The build ran on the old server; the third stage took the longest."

Open = Callable[..., Any]


@pytest.fixture
def llm() -> ReadingLLM:
    return ReadingLLM()


@pytest.fixture
async def opened(database: Path, clock: StoppedClock, llm: ReadingLLM) -> AsyncIterator[Open]:
    """Opens services over one file; the loops behind the verbs are not started, so that a test says what is done."""
    services: list[Service] = []

    async def opening(**options: Any) -> Service:
        given = {"clock": clock, "embedder": HashEmbedder(), "settings": QUICK, "start": False, "llm": llm}
        service = await open_service(database, **given | options)
        services.append(service)
        return service

    yield opening
    for service in services:
        await service.close()


async def say(service: Service, *texts: str, scope: Scope = ALICE, role: Role = Role.USER) -> list[str]:
    messages = [Message(content=text, role=role) for text in texts]
    return [receipt.id for receipt in await service.write_conversation(messages, scope)]


async def held(service: Service, scope: Scope = ALICE, **filters: Any) -> list[Memory]:
    return list((await service.list(Listing(limit=1_000, **filters), scope)).memories)


async def told(service: Service, turn: str) -> list[Memory]:
    """What was read off a turn."""
    return [memory for memory in await held(service) if memory.metadata.get(EXTRACTED_FROM) == turn]


# Facts


@pytest.mark.parametrize("language", TALKS)
async def test_what_a_model_finds_in_a_turn_is_remembered(opened: Open, llm: ReadingLLM, language: str) -> None:
    service = await opened()
    text, fact, quote = TALKS[language]
    llm.facts[text] = [(fact, quote)]
    (turn,) = await say(service, text)
    await read_all(service)
    (memory,) = await told(service, turn)
    start, end = memory.metadata["span"]
    assert (memory.content, text[start:end], memory.metadata["rule"]) == (fact, quote, "llm")
    assert (memory.source, memory.key, memory.tags) == (Source.AGENT, None, ("fact.some",))
    assert memory.trust < (await service.get(turn, ALICE)).trust
    edges = await service._parts.store.reading(ALICE.bank).relations([memory.id])
    assert [(edge.type, edge.to_id) for edge in edges] == [(RelationType.DERIVED_FROM, turn)]
    assert fact in await contents(service, ALICE, quote)
    assert await service.jobs(ALICE) == Jobs(done=1)
    events = await service._parts.store.reading(ALICE.bank).events(memory.id, 5)
    assert {event.actor for event in events if event.verb == "write"} == {"language-model"}


async def test_what_rules_found_is_not_found_twice(opened: Open, llm: ReadingLLM) -> None:
    service = await opened()
    text = "My dog is called Rex. Please remember that the deploy key rotates every 90 days."
    llm.facts[text] = [
        ("The user has a dog called Rex", "My dog is called Rex"),
        ("The deploy key rotates every 90 days", "the deploy key rotates every 90 days"),
    ]
    (turn,) = await say(service, text)
    await indexed(service)
    by_rules = [memory.content for memory in await told(service, turn)]
    assert by_rules
    await read_all(service)
    after = await told(service, turn)
    quotes = [memory.metadata.get("quote", memory.content) for memory in after]
    for one in quotes:
        assert sum(one in other or other in one for other in quotes) == 1, quotes


async def test_done_twice_it_adds_nothing(opened: Open, llm: ReadingLLM, clock: StoppedClock) -> None:
    """Whoever dies between writing and settling leaves it to be done again."""
    service = await opened()
    text, fact, quote = TALKS["en"]
    llm.facts[text] = [(fact, quote)]
    (turn,) = await say(service, text)
    await indexed(service)
    await service._parts.reading._extract(await service.get(turn, ALICE))
    llm.facts[text] = [(f"{fact} all day", quote), ("The umbrella is in the car", "my umbrella is in the car")]
    await read_all(service)
    assert sorted(each.content for each in await told(service, turn)) == [fact, "The umbrella is in the car"]


async def test_what_is_forgotten_meanwhile_is_not_brought_back(opened: Open, llm: ReadingLLM) -> None:
    service = await opened()
    text, fact, quote = TALKS["en"]
    llm.facts[text] = [(fact, quote)]
    (turn,) = await say(service, text)
    await indexed(service)
    reading = service._parts.reading
    plain = reading.assistant.extract

    async def extract(*arguments: Any) -> Any:
        await service.purge(turn, ALICE)
        return await plain(*arguments)

    reading.assistant.extract = extract  # type: ignore[method-assign]
    await reading.step()
    assert await held(service) == []
    assert await service.jobs(ALICE) == Jobs()


async def test_an_agents_words_and_small_talk_are_not_read(opened: Open, llm: ReadingLLM) -> None:
    service = await opened()
    await say(service, "Thanks!", "ok")
    await say(service, "I have looked it up: the ferry leaves at nine.", role=Role.ASSISTANT)
    await say(service, "exit code 0", role=Role.TOOL)
    await read_all(service)
    assert llm.counts == {}
    assert await service.jobs(ALICE) == Jobs()


async def test_what_is_private_stays_so(opened: Open, llm: ReadingLLM) -> None:
    service = await opened()
    mine = replace(ALICE, agent_id="mine")
    await service.write(Draft(content="the vault is behind the blue painting", visibility=Visibility.PRIVATE), mine)
    await read_all(service)
    assert (await service.jobs(mine)).done == 1
    assert await service.jobs(ALICE) == Jobs()


# Summaries


async def test_a_summary_that_holds_replaces_the_extract(opened: Open, llm: ReadingLLM) -> None:
    service = await opened()
    llm.summaries[LONG.strip()] = SHORT
    receipt = await service.write(Draft(content=LONG, source=Source.DOCUMENT), ALICE)
    before = await service.get(receipt.id, ALICE)
    assert before.summary
    assert before.summary != SHORT
    await read_all(service)
    after = await service.get(receipt.id, ALICE)
    assert (after.summary, after.content) == (SHORT, before.content)
    assert await service.jobs(ALICE) == Jobs(done=1)
    await read_all(service)
    assert llm.counts["summarise"] == 1


@pytest.mark.parametrize(
    "said", ["I don't have information.", "", "It took 42 minutes.", "构建在旧服务器上运行。", LONG * 2]
)
async def test_one_that_does_not_leaves_it(opened: Open, llm: ReadingLLM, said: str) -> None:
    service = await opened()
    llm.summaries[LONG.strip()] = said
    receipt = await service.write(Draft(content=LONG, source=Source.DOCUMENT), ALICE)
    before = await service.get(receipt.id, ALICE)
    await read_all(service)
    assert await service.get(receipt.id, ALICE) == before
    found = await service.jobs(ALICE)
    (job,) = found.latest
    assert (found.failed, job.state, job.memory_id, job.attempts, job.next) == (1, JobState.FAILED, receipt.id, 1, None)
    assert job.reason.startswith("summarise: ")


async def test_another_text_is_read_anew(opened: Open, llm: ReadingLLM) -> None:
    from hindsight_memory.domain import Changes

    service = await opened()
    llm.summaries[LONG.strip()] = "no"
    receipt = await service.write(Draft(content=LONG, source=Source.DOCUMENT), ALICE)
    await read_all(service)
    assert (await service.jobs(ALICE)).failed == 1
    llm.summaries[LONG.strip() + " Then it ended."] = SHORT
    await service.update(receipt.id, Changes(content=LONG.strip() + " Then it ended."), ALICE)
    assert await service.jobs(ALICE) == Jobs(queued=1)
    await read_all(service)
    assert (await service.get(receipt.id, ALICE)).summary == SHORT


# Verdicts

PAIRS = {
    "en": ("The team lunch takes place in the garden", "The team lunch takes place in the library"),
    "zh": ("团队的午餐会安排在花园那边举行", "团队的午餐会安排在图书馆那边举行"),
}


@pytest.fixture(params=PAIRS)
def pair(request: pytest.FixtureRequest) -> tuple[str, str]:
    return PAIRS[request.param]


async def two(service: Service, clock: StoppedClock, pair: tuple[str, str], **newer: Any) -> tuple[Memory, Memory]:
    """Both of a pair, a day apart, read; what they are then."""
    old = await service.write(Draft(content=pair[0]), ALICE)
    await read_all(service)
    clock.advance(days=1)
    new = await service.write(Draft(content=pair[1], **newer), ALICE)
    await read_all(service)
    return await service.get(old.id, ALICE), await service.get(new.id, ALICE)


async def test_what_is_newer_replaces(
    opened: Open, llm: ReadingLLM, clock: StoppedClock, pair: tuple[str, str]
) -> None:
    service = await opened()
    llm.verdicts[pair] = "newer"
    old, new = await two(service, clock, pair)
    assert (old.status, old.superseded_by, new.status) == (Status.SUPERSEDED, new.id, Status.ACTIVE)
    found = await service.history(new.id, ALICE)
    assert [edge.metadata["rule"] for edge in found.relations if edge.type is RelationType.SUPERSEDES] == ["llm"]
    assert pair[0] not in await contents(service, ALICE, pair[1])


async def test_what_contradicts_is_asked_about(
    opened: Open, llm: ReadingLLM, clock: StoppedClock, pair: tuple[str, str]
) -> None:
    service = await opened()
    llm.verdicts[pair] = "contradicts"
    old, new = await two(service, clock, pair)
    assert (old.status, old.superseded_by, new.status) == (Status.ACTIVE, None, Status.ACTIVE)
    (found,) = await service.contradictions(ALICE)
    assert (found.new.id, found.old.id) == (new.id, old.id)


async def test_what_a_user_said_is_not_replaced_by_an_inference(
    opened: Open, llm: ReadingLLM, clock: StoppedClock, pair: tuple[str, str]
) -> None:
    service = await opened()
    llm.verdicts[pair] = "newer"
    old, new = await two(service, clock, pair, source=Source.AGENT)
    assert (old.status, old.superseded_by) == (Status.ACTIVE, None)
    assert [each.new.id for each in await service.contradictions(ALICE)] == [new.id]


async def test_both_stay_where_both_are_so(
    opened: Open, llm: ReadingLLM, clock: StoppedClock, pair: tuple[str, str]
) -> None:
    service = await opened()
    old, new = await two(service, clock, pair)
    assert (old.version, new.version) == (1, 1)
    assert llm.counts["judge"] > 1


async def test_what_says_the_same_is_merged(opened: Open, llm: ReadingLLM, clock: StoppedClock) -> None:
    service = await opened()
    pair = ("The team lunch always takes place in the garden", "The lunch of the team takes place in the garden always")
    llm.verdicts[pair] = "same"
    old, new = await two(service, clock, pair)
    assert (old.status, old.superseded_by) == (Status.SUPERSEDED, new.id)


async def test_of_a_text_that_says_more_only_a_part_is_replaced(
    opened: Open, llm: ReadingLLM, clock: StoppedClock
) -> None:
    service = await opened()
    pair = ("The team lunch takes place in the garden. The cook is called Ann.", PAIRS["en"][1])
    llm.verdicts[pair] = "newer"
    old, new = await two(service, clock, pair)
    assert (old.status, old.superseded_by) == (Status.ACTIVE, new.id)
    assert pair[0] in await contents(service, ALICE, "cook Ann")


async def test_a_turn_is_judged_too(opened: Open, llm: ReadingLLM, clock: StoppedClock) -> None:
    service = await opened()
    llm.verdicts[PAIRS["en"]] = "newer"
    old = await service.write(Draft(content=PAIRS["en"][0]), ALICE)
    await read_all(service)
    clock.advance(days=1)
    (turn,) = await say(service, PAIRS["en"][1])
    await read_all(service)
    assert (await service.get(old.id, ALICE)).superseded_by == turn


async def test_what_is_far_apart_is_not_asked_about(opened: Open, llm: ReadingLLM) -> None:
    service = await opened()
    await service.write_many([Draft(content="Tides are high in March"), Draft(content="Printer ink is dear")], ALICE)
    await read_all(service)
    assert llm.counts["judge"] == 0
    assert (await service.jobs(ALICE)).done == 2


async def test_at_most_three_pairs_a_memory(opened: Open, llm: ReadingLLM) -> None:
    service = await opened()
    places = ("garden", "library", "cellar", "attic", "kitchen", "tower")
    for place in places:
        await service.write(Draft(content=f"The team lunch takes place in the {place}"), ALICE)
    await indexed(service)
    await service._parts.reading.judge._believed()
    llm.counts.clear()
    newest = (await held(service))[0]
    await service._parts.reading.judge(ALICE.bank, newest)
    assert llm.counts["judge"] == 3


async def test_a_model_that_cannot_judge_does_not(opened: Open, llm: ReadingLLM, clock: StoppedClock) -> None:
    """A weak model that calls everything newer would retire whatever is near."""
    service = await opened()
    llm.foolish = True
    old, new = await two(service, clock, PAIRS["en"])
    assert (old.version, new.version) == (1, 1)
    assert (await service.jobs(ALICE)).done == 2
    checks = {check.name: check for check in await service.ready()}
    assert "testing is not asked to judge: it took 6 of 6 pairs" in checks["jobs"].hint
    asked = llm.counts["judge"]
    await service.write(Draft(content="The team lunch takes place in the cellar"), ALICE)
    await read_all(service)
    assert llm.counts["judge"] == asked, "it is tested once"


# What goes wrong


async def filled(service: Service) -> None:
    """A bank of everything there is to read."""
    turns = (
        TALKS["en"][0],
        "The ferry to Texel leaves at nine.",
        TALKS["zh"][0],
        "I prefer tea.",
        "My dog is called Rex.",
    )
    for text in turns:
        await say(service, text)
    for text in (*PAIRS["en"], *PAIRS["zh"], LONG):
        await service.write(Draft(content=text), ALICE)
    await service.append_session([Message(content="We decided to take the ferry.")], replace(ALICE, session_id="t"))
    await indexed(service)


async def kept(service: Service) -> list[tuple[object, ...]]:
    """Every memory as far as it is to be compared."""
    return sorted((each.content, each.summary or "", each.status, each.version) for each in await held(service))


async def found_for(service: Service) -> list[list[tuple[str, float]]]:
    """What searches find, with the scores."""
    asked = ("Rex sofa", "team lunch", "旺财 沙发", "ferry", "third stage of the build", "tea")
    found = [await service.search(Query(text=text), ALICE) for text in asked]
    return [[(hit.memory.content, hit.score) for hit in hits] for hits in found]


@pytest.mark.parametrize("fault", ["failed", "hang", "bug", "garbage", "empty"])
async def test_a_model_that_fails_changes_nothing(
    opened: Open, llm: ReadingLLM, database: Path, tmp_path: Path, clock: StoppedClock, fault: str
) -> None:
    first = await opened(llm=None)
    await filled(first)
    await first.close()
    shutil.copy(database, tmp_path / "plain.db")
    service = await opened()
    plain = await open_service(tmp_path / "plain.db", clock=clock, embedder=HashEmbedder(), start=False)
    if fault in ("garbage", "empty"):
        llm.garbage = "Sure! Here are the facts: {{{ [" if fault == "garbage" else "   "
    else:
        llm.broken = fault  # type: ignore[assignment]
    for _ in range(12):
        try:
            while await service._parts.reading.step():
                pass
        except ModelFailed:
            pass
        clock.advance(hours=2)
    assert await kept(service) == await kept(plain)
    assert await found_for(service) == await found_for(plain)
    jobs = await service.jobs(ALICE)
    assert jobs.running == 0
    assert jobs.queued + jobs.failed + jobs.done == 11
    assert jobs.latest
    assert all(job.reason and job.attempts <= QUICK.read.attempts for job in jobs.latest)
    assert all((job.state is JobState.FAILED) != (job.next is not None) for job in jobs.latest)
    if fault in ("garbage", "empty"):
        assert jobs.queued == 0, "the model answers, so it is the answers that are of no use"
    await plain.close()


async def test_while_a_model_is_away_nothing_is_given_up(opened: Open, llm: ReadingLLM, clock: StoppedClock) -> None:
    service = await opened()
    text, fact, quote = TALKS["en"]
    llm.facts[text] = [(fact, quote)]
    (turn,) = await say(service, text)
    await indexed(service)
    llm.broken = "failed"
    for _ in range(10):
        with pytest.raises(ModelFailed):
            await service._parts.reading.step()
        clock.advance(minutes=10)
    found = await service.jobs(ALICE)
    assert (found.queued, found.latest[0].attempts, found.latest[0].next) == (1, 0, clock())
    assert "out of order" in found.latest[0].reason
    llm.broken = None
    await read_all(service)
    assert [each.content for each in await told(service, turn)] == [fact]
    assert await service.jobs(ALICE) == Jobs(done=1)


async def test_a_text_that_a_model_gets_stuck_on_is_given_up(
    opened: Open, llm: ReadingLLM, clock: StoppedClock
) -> None:
    """A background job once tried the same item 590 times."""
    service = await opened()
    llm.stuck = "umbrella"
    stuck, fine = await say(service, TALKS["en"][0], "The ferry to Texel leaves at nine.")
    waits = []
    for _ in range(8):
        await read_all(service)
        (job,) = (await service.jobs(ALICE)).latest
        waits.append((job.attempts, job.next and (job.next - clock()).total_seconds()))
        clock.advance(hours=1)
    assert waits[:3] == [(1, 60), (2, 240), (3, None)]
    assert set(waits[3:]) == {(3, None)}
    assert (job.memory_id, job.state) == (stuck, JobState.FAILED)
    assert llm.counts["extract"] == 5, "beside the other, which does not count, three times alone, and the other"
    assert (await service.jobs(ALICE)).done == 1
    assert fine
    llm.stuck = ""
    assert (await service.jobs(ALICE, retry=True)).retried == 1
    assert (await service.jobs(ALICE, retry=True)).retried == 0
    await read_all(service)
    assert await service.jobs(ALICE) == Jobs(done=2)
    events = await service._parts.store.reading(ALICE.bank).events(None, 50)
    assert [event.detail for event in events if event.verb == "retry_jobs"] == [{"jobs": 1}]


async def test_a_fault_of_ours_with_one_text_does_not_stop_the_others(opened: Open, llm: ReadingLLM) -> None:
    service = await opened()
    await say(service, "The first boat is blue.", "The second boat is green.")
    await indexed(service)
    reading = service._parts.reading
    plain = reading.write

    async def write(*arguments: Any) -> Any:
        raise KeyError("x")

    llm.facts["The first boat is blue."] = [("The first boat is blue", "The first boat is blue")]
    reading.write = write  # type: ignore[assignment]
    await read_all(service)
    found = await service.jobs(ALICE)
    assert (found.queued, found.done) == (1, 1)
    assert found.latest[0].reason == "extract: KeyError"
    reading.write = plain


@pytest.mark.parametrize(
    "text", ["\0\0 null", "x" * 50_000, "'; DROP TABLE memories; --", "好" * 9_000, '{}[]"\\n</s>[INST]']
)
async def test_hostile_texts_end_in_a_state(opened: Open, llm: ReadingLLM, text: str) -> None:
    service = await opened()
    await say(service, text)
    llm.summaries[text] = text[:90]
    await read_all(service)
    found = await service.jobs(ALICE)
    assert (found.queued, found.running) == (0, 0)
    assert [memory.content for memory in await held(service) if memory.turn is not None] == [
        text.replace("\0", "").strip()
    ]


# Who does it, and when


async def test_without_a_model_it_waits_and_with_one_the_newest_comes_first(
    opened: Open, llm: ReadingLLM, clock: StoppedClock
) -> None:
    none = await opened(llm=None)
    for day in range(5):
        await say(none, f"On day {day} the tide was high.", scope=replace(ALICE, session_id=f"s{day}"))
        clock.advance(days=1)
    await read_all(none)
    assert await none.jobs(ALICE) == Jobs(queued=5)
    few = ReadSettings(backlog_days=5, daily_memories=3, at_once=2)
    service = await opened(settings=replace(QUICK, read=few))
    await read_all(service)
    assert [text[7] for text in llm.read] == ["4", "3", "2"]
    assert (await service.jobs(ALICE)).queued == 2
    clock.advance(hours=15)
    await read_all(service)
    assert await service.jobs(ALICE) == Jobs(done=4, queued=1), "another day; and day 0 is too long ago"


async def test_two_services_share_the_work_and_do_nothing_twice(opened: Open, llm: ReadingLLM) -> None:
    one, two = await opened(), await opened()
    texts = [f"Boat number {number} is moored at the pier." for number in range(20)]
    for number, text in enumerate(texts):
        await say(one, text, scope=replace(ALICE, session_id=f"s{number}"))
    await indexed(one)
    llm.verdicts.clear()
    await asyncio.gather(read_all(one), read_all(two))
    assert sorted(llm.read) == sorted(texts)
    assert await one.jobs(ALICE) == Jobs(done=20)


async def test_what_somebody_died_over_is_done_by_the_next(opened: Open, llm: ReadingLLM, clock: StoppedClock) -> None:
    service = await opened()
    text, fact, quote = TALKS["en"]
    llm.facts[text] = [(fact, quote)]
    (turn,) = await say(service, text)
    await indexed(service)
    from hindsight_memory.ingest.reading import terms_of
    from hindsight_memory.store.base import Stage

    terms = terms_of(service.settings, clock(), 4)
    assert await service._parts.store.claim(Stage.READ, "dead@elsewhere:1", terms)
    await read_all(service)
    assert await service.jobs(ALICE) == Jobs(running=1)
    clock.advance(seconds=121)
    assert await service.jobs(ALICE) == Jobs(queued=1)
    await read_all(service)
    assert await service.jobs(ALICE) == Jobs(done=1)
    assert [each.content for each in await told(service, turn)] == [fact]


async def test_closing_does_not_wait_for_a_model_that_hangs(opened: Open, llm: ReadingLLM) -> None:
    llm.broken = "hang"
    patient = replace(QUICK, llm=LLMSettings(timeout_s=3_000))
    service = await opened(settings=patient, start=True)
    await say(service, TALKS["en"][0])
    async with asyncio.timeout(20):
        while not llm.asked:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        assert await service.jobs(ALICE) == Jobs(running=1)
        await service.close()
    after = await opened()
    assert await after.jobs(ALICE) == Jobs(queued=1), "given back, and not tried"


async def test_a_running_service_reads_by_itself(opened: Open, llm: ReadingLLM) -> None:
    text, fact, quote = TALKS["en"]
    llm.facts[text] = [(fact, quote)]
    service = await opened(start=True)
    (turn,) = await say(service, text)
    async with asyncio.timeout(20):
        while await service.jobs(ALICE) != Jobs(done=1):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    assert [each.content for each in await told(service, turn)] == [fact]


async def test_what_is_worked_on_for_long_is_held(opened: Open, llm: ReadingLLM) -> None:
    llm.broken = "hang"
    settings = replace(QUICK, llm=LLMSettings(timeout_s=3_000), read=ReadSettings(lease_s=0.03, begin_s=0))
    service = await opened(settings=settings)
    await say(service, TALKS["en"][0])
    await indexed(service)
    renewed: list[str] = []
    plain = service._parts.store.renew

    async def renew(stage: Any, holder: str, lease_s: float) -> None:
        renewed.append(holder)
        await plain(stage, holder, lease_s)

    service._parts.store.renew = renew  # type: ignore[method-assign]
    task = asyncio.create_task(service._parts.reading.step())
    async with asyncio.timeout(20):
        while len(renewed) < 3:  # noqa: ASYNC110
            await asyncio.sleep(0.005)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert set(renewed) == {service._parts.reading.holder}


async def test_a_model_for_some_tasks_is_asked_for_those_only(opened: Open, llm: ReadingLLM) -> None:
    settings = replace(QUICK, llm=LLMSettings(timeout_s=0.05, extract="none", judge="none"))
    llm.summaries[LONG.strip()] = SHORT
    service = await opened(settings=settings)
    await filled(service)
    await read_all(service)
    assert set(llm.counts) == {"summarise", "state"}
    assert (await service.jobs(ALICE)).done == 11
    checks = {check.name: check.note for check in await service.ready()}
    assert checks["llm"] == "extract: rules, judge: rules, summarise: testing, reflect: testing, state: testing"
    assert checks["jobs"].startswith("0 memories wait")


# A session's state


async def read_desk(service: Service, *texts: str, scope: Scope = ALICE, **options: Any) -> SessionState:
    await service.append_session([Message(content=text) for text in texts], scope, **options)
    await read_all(service)
    return (await service.get_session(scope)).state


async def test_a_session_is_kept_by_a_model_behind_the_call(opened: Open, llm: ReadingLLM) -> None:
    service = await opened()
    both = "user: The night boat it is, to Texel.\nuser: And 12 pallets."
    llm.states[both] = {"task_goal": "the night boat to Texel", "confirmed_facts": ["12 pallets"]}
    state = await read_desk(service, "The night boat it is, to Texel.", "And 12 pallets.")
    assert (state.task_goal, state.confirmed_facts) == ("the night boat to Texel", ("12 pallets",))
    assert llm.counts == {"state": 1}
    assert (await service.jobs(ALICE)).done == 2
    events = await service._parts.store.reading(ALICE.bank).events(None, 1)
    assert [(event.verb, event.actor) for event in events] == [("note_session", "language-model")]


async def test_what_the_caller_keeps_is_left_to_the_caller(opened: Open, llm: ReadingLLM) -> None:
    service = await opened()
    await read_desk(service, "The night boat it is, to Texel.", rules=False)
    assert llm.counts == {}
    await service.patch_session(StatePatch(current_step="mine"), ALICE)
    llm.states["user: Now we load the pallets."] = {"current_step": "load the pallets"}
    state = await read_desk(service, "Now we load the pallets.")
    assert state.current_step == "mine"


async def test_an_earlier_message_does_not_say_what_is_done_now(opened: Open, llm: ReadingLLM) -> None:
    service = await opened(settings=replace(QUICK, read=ReadSettings(at_once=1)))
    llm.states["user: First we load the pallets."] = {"current_step": "load the pallets", "decisions": ["load pallets"]}
    llm.states["user: Now we count the boxes."] = {"current_step": "count the boxes"}
    state = await read_desk(service, "First we load the pallets.", "Now we count the boxes.")
    assert (state.current_step, state.decisions) == ("count the boxes", ("load pallets",))


async def test_a_session_that_has_ended_is_read_as_turns(opened: Open, llm: ReadingLLM) -> None:
    service = await opened()
    text, fact, quote = TALKS["en"]
    llm.facts[text] = [(fact, quote)]
    receipts = (await service.append_session([Message(content=text)], ALICE)).receipts
    await service.end_session(ALICE)
    await read_all(service)
    assert llm.counts["state"] == 0
    assert [each.content for each in await told(service, receipts[0].id)] == [fact]


async def test_a_session_that_ends_while_it_is_read(opened: Open, llm: ReadingLLM) -> None:
    service = await opened()
    await service.append_session([Message(content=TALKS["en"][0])], ALICE)
    await indexed(service)
    reading = service._parts.reading
    plain = reading.assistant.state

    async def state(*arguments: Any) -> Any:
        await service.end_session(ALICE)
        return await plain(*arguments)

    reading.assistant.state = state  # type: ignore[method-assign]
    await reading.step()
    assert (await service.get_session(ALICE)).state == SessionState()
    assert await service.jobs(ALICE) == Jobs(queued=1), "as a turn, it is still to be read"
    await read_all(service)
    assert (llm.counts["extract"], await service.jobs(ALICE)) == (1, Jobs(done=1))


FAULTS: tuple[Fault, ...] = ("failed", "hang", "bug")


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_broken_model_does_not_touch_a_session(opened: Open, llm: ReadingLLM, fault: Fault) -> None:
    service = await opened()
    llm.broken = fault
    with pytest.raises(ModelFailed):
        await read_desk(service, "We decided to take the night boat.")
    session = await service.get_session(ALICE)
    assert len(session.messages) == 1
    assert session.state.decisions, "rules have read it"


async def test_a_server_that_answers_one_by_one_is_asked_one_by_one(opened: Open, llm: ReadingLLM) -> None:
    """Four questions at once to a server that takes most of the limit for each: three would never be answered."""
    service = await opened()
    at_once, most = 0, []
    plain = llm.chat

    async def chat(system: str, prompt: str, **options: Any) -> str:
        nonlocal at_once
        at_once += 1
        most.append(at_once)
        try:
            await asyncio.sleep(0)
            if at_once > 1:
                raise ModelFailed("It did not answer in 30 s.")
            return await plain(system, prompt, **options)
        finally:
            at_once -= 1

    llm.chat = chat  # type: ignore[method-assign]
    for number in range(6):
        await say(service, f"Boat number {number} is moored at the pier.")
    for _ in range(20):
        with suppress(ModelFailed):
            await read_all(service)
    assert max(most) > 1
    found = await service.jobs(ALICE)
    assert (found.done, found.failed) == (6, 0)


async def test_a_disk_that_fails_in_the_middle_loses_nothing(opened: Open, llm: ReadingLLM) -> None:
    service = await opened()
    for number in range(4):
        await say(service, f"Boat number {number} is moored at the pier.")
    await indexed(service)
    store = service._parts.store
    plain, times = store.transaction, 0

    def transaction(scope: Scope) -> Any:
        nonlocal times
        times += 1
        if times == 2:
            raise Unavailable("The disk is full.")
        return plain(scope)

    store.transaction = transaction  # type: ignore[method-assign]
    with pytest.raises(ExceptionGroup):
        await service._parts.reading.step()
    jobs = await service.jobs(ALICE)
    assert (jobs.queued + jobs.done, jobs.running, jobs.failed) == (4, 0, 0)
    await read_all(service)
    assert await service.jobs(ALICE) == Jobs(done=4)
