"""A month of two people, one in English and one in Chinese: what is kept, what was replaced, and what is brought up.

Each talks, changes their mind, corrects themselves, asks for the same again; tasks fail and then succeed; hosts store
what is no memory; an agent claims what is not so. At the end of each week maintenance is done. What is expected is what
a careful person would have kept; it stands in ``months.py``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest

from hindsight_memory import AsyncHindsightMemory, Kind, Memory, Status
from hindsight_memory.build import embedders_of
from hindsight_memory.domain import Line
from hindsight_memory.settings import EmbedSettings
from hindsight_memory.testing import StoppedClock, open_service
from months import LIVES, Talk, Week

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
MONDAY = datetime(2026, 5, 4, 9, tzinfo=UTC)


@dataclass
class Lived:
    """What was there after each week, and after the month: what contexts held, what replay told."""

    current: list[list[Memory]] = field(default_factory=list)
    replaced: list[list[Memory]] = field(default_factory=list)
    episodes: list[list[Memory]] = field(default_factory=list)
    questions: list[int] = field(default_factory=list)
    contexts: dict[str, str] = field(default_factory=dict)
    replay: list[Line] = field(default_factory=list)
    idle: int = -1


async def live(memory: AsyncHindsightMemory, clock: StoppedClock, weeks: Sequence[Week]) -> Lived:
    """Let the month go by."""
    lived = Lived()
    for number, week in enumerate(weeks):
        for talk in week.talks:
            clock.now = max(clock.now + timedelta(minutes=30), MONDAY + timedelta(weeks=number, days=talk.day))
            await hold(memory, clock, talk, f"{talk.name}-{number}")
        for claim in week.claims:
            await memory.write(claim, key="profile.home_city", source="agent", agent_id="assistant", wait="indexed")
        if week.settles is not None:
            for pair in await memory.contradictions():
                kept, over = (pair.old, pair.new) if week.settles in pair.old.content else (pair.new, pair.old)
                await memory.resolve(keep=kept.id, over=over.id)
        clock.now = MONDAY + timedelta(weeks=number, days=6)
        await memory.maintain()
        await memory.write("the lamp in the hall is brass", wait="indexed")  # what was made is indexed before it
        lived.questions.append(len(await memory.contradictions()))
        standing = (await memory.list(limit=1_000)).memories
        lived.current.append([each for each in standing if each.kind is not Kind.EPISODIC])
        lived.episodes.append([each for each in standing if each.kind is Kind.EPISODIC and each.turn is None])
        lived.replaced.append(list((await memory.list(status=Status.SUPERSEDED, limit=1_000)).memories))
    lived.idle = sum((await memory.maintain()).totals.values())
    return lived


async def hold(memory: AsyncHindsightMemory, clock: StoppedClock, talk: Talk, session: str) -> None:
    """Have a talk, a turn a minute."""
    for turn in talk.turns:
        role, content = ("user", turn) if isinstance(turn, str) else turn
        await memory.write_conversation(
            [{"content": content, "role": role, "occurred_at": clock()}], session_id=session, wait="indexed"
        )
        clock.advance(minutes=1)
    for tool, given, outcome in talk.steps:
        await memory.record_step(tool, given, outcome, task=talk.task, session_id=session)
        clock.advance(minutes=1)


@pytest.fixture(scope="module")
def month(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Lived]:
    """The month of one of the two, lived once."""
    known: dict[str, Lived] = {}

    async def whole(name: str) -> Lived:
        clock = StoppedClock(MONDAY)
        embedders, _ = await embedders_of(EmbedSettings(names="bundled"))
        service = await open_service(tmp_path_factory.mktemp(name) / "m.db", clock=clock, embedder=embedders)
        memory = AsyncHindsightMemory(user_id=name, clock=clock)
        memory._service = service
        weeks, questions = LIVES[name]
        lived = await live(memory, clock, weeks)
        for question in questions:
            lived.contexts[question.text] = (await memory.context(question.text)).text
        after = None
        while True:
            page = await memory.replay(after=after, limit=500)
            lived.replay += page.lines
            after = page.next
            if after is None:
                break
        await memory.close()
        return lived

    def lived(name: str) -> Lived:
        if name not in known:
            known[name] = asyncio.run(whole(name))
        return known[name]

    return lived


WEEKS = [(name, week) for name in LIVES for week in range(4)]


@pytest.mark.parametrize(("name", "week"), WEEKS)
def test_what_stands_is_what_a_careful_person_would_keep(month: Callable[[str], Lived], name: str, week: int) -> None:
    standing = [each.content for each in month(name).current[week]]
    expected = LIVES[name][0][week]
    assert [each for each in expected.current if not any(each in content for content in standing)] == []
    assert [content for content in standing if any(each in content for each in expected.gone)] == []


@pytest.mark.parametrize(("name", "week"), WEEKS)
def test_what_was_replaced_is_kept_as_history(month: Callable[[str], Lived], name: str, week: int) -> None:
    replaced = [each.content for each in month(name).replaced[week]]
    missing = [each for each in LIVES[name][0][week].replaced if not any(each in content for content in replaced)]
    assert missing == []


@pytest.mark.parametrize(("name", "week"), WEEKS)
def test_what_happened_is_told(month: Callable[[str], Lived], name: str, week: int) -> None:
    told = [(each.content, each.outcome) for each in month(name).episodes[week]]
    for words, outcome in LIVES[name][0][week].episodes:
        assert any(words in content and ended == outcome for content, ended in told), (words, outcome, told)
    assert not any("HEARTBEAT" in content or "helpful assistant" in content for content, _ in told)


@pytest.mark.parametrize(("name", "week"), WEEKS)
def test_what_an_agent_claims_is_a_question_and_no_fact(month: Callable[[str], Lived], name: str, week: int) -> None:
    assert month(name).questions[week] == LIVES[name][0][week].open_questions


QUESTIONS = [(name, number) for name in LIVES for number in range(10)]


@pytest.mark.parametrize(("name", "number"), QUESTIONS)
def test_a_question_is_answered_by_what_is_so_now(month: Callable[[str], Lived], name: str, number: int) -> None:
    question = LIVES[name][1][number]
    text = month(name).contexts[question.text]
    assert question.right in text
    assert [each for each in question.stale if each in text] == []


@pytest.mark.parametrize("name", LIVES)
def test_replay_tells_the_story_in_order(month: Callable[[str], Lived], name: str) -> None:
    lines = month(name).replay
    assert [line.event.at for line in lines] == sorted(line.event.at for line in lines)
    story = [(line.event.verb, line.memory.content if line.memory else "") for line in lines]
    weeks = LIVES[name][0]
    kept = weeks[3].current[:2]
    told = [next(place for place, (_, content) in enumerate(story) if words in content) for words in kept]
    moved = [place for place, (_, content) in enumerate(story) if weeks[1].current[0] in content]
    lived_before = [place for place, (_, content) in enumerate(story) if weeks[0].current[1] in content]
    assert min(lived_before) < min(moved)
    assert told == sorted(told)
    assert {"write", "resolve", "episodes", "consolidate"} <= {verb for verb, _ in story}


@pytest.mark.parametrize("name", LIVES)
def test_a_second_run_has_nothing_to_do(month: Callable[[str], Lived], name: str) -> None:
    assert month(name).idle == 0


@pytest.mark.parametrize("name", LIVES)
def test_what_came_up_each_week_is_concluded_once(month: Callable[[str], Lived], name: str) -> None:
    words = LIVES[name][0][3].current[4]
    concluded = [each for each in month(name).current[3] if words in each.content]
    assert len(concluded) == 1
    assert concluded[0].metadata["support"] >= 4
