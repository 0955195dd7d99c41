"""maintain weighs anew what was derived once its evidence has changed: lessons of tasks, and what was concluded."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from behaviour.test_consolidate import BEES, made, say, 蜜蜂
from behaviour.test_reflect import S1, TASKS, Runs
from hindsight_memory import AsyncHindsightMemory, Memory
from hindsight_memory.domain import Event, Maintenance, Scope, Status
from hindsight_memory.service import Service
from hindsight_memory.settings import LifecycleSettings, Settings
from hindsight_memory.testing import StoppedClock, open_service
from samples import ALICE

FAILED = "pytest x ! ImportError: No module named foo"


@pytest.fixture
def runs(memory: AsyncHindsightMemory, clock: StoppedClock) -> Runs:
    return Runs(memory, clock)


async def learnt(runs: Runs) -> tuple[Memory, list[str]]:
    """A lesson with four memories behind it: two failures, what helped, and the success."""
    recorded = await runs("s1", FAILED, FAILED, "pip install foo", "pytest x")
    (lesson,) = (await runs.memory.reflect(**S1)).lessons
    return lesson, [each.receipt.id for each in recorded]


async def weighed(memory: AsyncHindsightMemory, **fields: Any) -> int:
    report = await memory.maintain(**fields)
    return report.totals["lessons"]


async def log(service: Service, memory_id: str, scope: Scope = ALICE) -> list[Event]:
    return await service._parts.store.reading(scope.bank).events(memory_id, 100)


Away = Callable[[AsyncHindsightMemory, Service, str], Awaitable[object]]


async def correct(memory: AsyncHindsightMemory, service: Service, each: str) -> None:
    await memory.update(each, content="It rained all day")


async def replaced(memory: AsyncHindsightMemory, service: Service, each: str) -> None:
    async with service._parts.store.transaction(ALICE) as tx:
        (held,) = await tx.get([each])
        after = await tx.change(held, superseded_by="another")
        await tx.record([service._event("resolve", after, ALICE, {})])


AWAY: dict[str, Away] = {
    "forgotten": lambda memory, _, each: memory.forget(each),
    "purged": lambda memory, _, each: memory.purge(each),
    "called wrong": lambda memory, _, each: memory.feedback(each, "wrong"),
    "corrected": correct,
    "replaced": replaced,
}


@pytest.mark.parametrize("away", AWAY)
async def test_a_lesson_is_weakened_and_then_taken_out(runs: Runs, service: Service, away: str) -> None:
    """Without another look back: its session may never be looked at again."""
    lesson, (first, _, _, success) = await learnt(runs)
    assert await weighed(runs.memory) == 0
    await AWAY[away](runs.memory, service, first)
    assert await weighed(runs.memory, dry_run=True) == 1
    assert (await runs.memory.get(lesson.id)).importance == lesson.importance
    assert await weighed(runs.memory) == 1
    weaker = await runs.memory.get(lesson.id)
    assert weaker.importance == pytest.approx(0.75 * lesson.importance)
    event = (await log(service, lesson.id))[0]
    assert (event.actor, event.verb, event.detail["action"]) == ("maintenance", "lessons", "changed")
    assert event.detail["before"]["importance"] == pytest.approx(lesson.importance)

    await AWAY[away](runs.memory, service, success)
    await weighed(runs.memory)
    (gone,) = await service._parts.store.reading(ALICE.bank).get([lesson.id]) or [None]
    assert gone is None or gone.status is Status.DELETED, "what worked is gone: nothing shows that it works"
    assert await weighed(runs.memory) == 0


async def test_evidence_that_comes_back_strengthens_it_again(runs: Runs, service: Service) -> None:
    lesson, (first, _, _, success) = await learnt(runs)
    await runs.memory.feedback(first, "wrong")
    await weighed(runs.memory)
    await runs.memory.restore(first)
    assert await weighed(runs.memory) == 1
    back = await runs.memory.get(lesson.id)
    assert back.importance == pytest.approx(lesson.importance)
    assert back.metadata == lesson.metadata

    await runs.memory.feedback(success, "wrong")
    await weighed(runs.memory)
    assert lesson.id in [each.id for each in (await runs.memory.list(status="deleted")).memories]
    await runs.memory.restore(success)
    assert await weighed(runs.memory) == 1
    again = await runs.memory.get(lesson.id)
    assert (again.importance, again.metadata) == (pytest.approx(lesson.importance), lesson.metadata)
    hits = await runs.memory.search("ImportError: No module named foo", moment="stuck")
    assert hits[0].memory.id == lesson.id
    told = [each.detail["action"] for each in await log(service, lesson.id) if each.verb == "lessons"]
    assert told == ["changed", "retired", "changed", "changed"]


@pytest.mark.parametrize("how", ["pin", "restore", "update"])
async def test_what_somebody_wants_stays(runs: Runs, how: str) -> None:
    lesson, (*_, success) = await learnt(runs)
    match how:
        case "pin":
            await runs.memory.update(lesson.id, pinned=True)
        case "update":
            await runs.memory.update(lesson.id, content="Install what is missing")
    await runs.memory.feedback(success, "wrong")
    await weighed(runs.memory)
    if how == "restore":
        await runs.memory.restore(lesson.id)
        await runs.memory.write("Something else has happened")
        await weighed(runs.memory)
    assert (await runs.memory.get(lesson.id)).status == "active"


async def test_what_somebody_refused_stays_out(runs: Runs) -> None:
    lesson, (*_, success) = await learnt(runs)
    await runs.memory.feedback(success, "wrong")
    await runs.memory.forget(lesson.id)
    await runs.memory.restore(success)
    assert await weighed(runs.memory) == 0
    assert lesson.id in [each.id for each in (await runs.memory.list(status="deleted")).memories]


async def test_it_is_idle_where_nothing_has_happened(
    runs: Runs, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither lessons nor statements are read again, whatever maintenance itself did and whoever searched."""
    await learnt(runs)
    await say(runs.memory, runs.clock, *BEES)
    for _ in range(3):
        await runs.memory.maintain()
    asked: list[str] = []
    bank = type(service._parts.store.reading(ALICE.bank))
    for name in ("keyed", "relations"):
        plain = getattr(bank, name)

        async def watched(self: Any, *args: Any, name: str = name, plain: Any = plain, **rest: Any) -> Any:
            asked.append(name)
            return await plain(self, *args, **rest)

        monkeypatch.setattr(bank, name, watched)
    await runs.memory.search("pytest")
    runs.clock.advance(days=40)  # some go cold: that changes none of their words
    await runs.memory.maintain(routines=["tier", "lessons", "consolidate"])
    assert asked == []
    await runs.memory.write("It rained in Lisbon")
    await runs.memory.maintain(routines=["lessons", "consolidate"])
    assert set(asked) == {"keyed", "relations"}


async def test_many_lessons_are_weighed_in_parts_and_a_death_in_the_middle_loses_nothing(
    database: Any, clock: StoppedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings("", lifecycle=LifecycleSettings(batch=2))
    memory = AsyncHindsightMemory(user_id="alice", clock=clock)
    memory._service = service = await open_service(database, clock=clock, embedder=[], settings=settings, start=False)
    runs = Runs(memory, clock)
    lessons, failures = [], []
    for name in ["alpha", "beta", "gamma", "delta", "omega", "kappa", "sigma"]:
        recorded = await runs(name, f"pytest {name} ! ImportError: the module {name} is missing", f"pip install {name}",
                              f"pytest {name}")  # fmt: skip
        lessons += [each.id for each in (await memory.reflect(session_id=name)).lessons]
        failures.append(recorded[0].receipt.id)
    assert len(set(lessons)) == 7
    for each in failures:
        await memory.feedback(each, "wrong")
    from hindsight_memory.lifecycle import maintain

    plain, calls = maintain.apply, 0

    async def dying(*args: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise RuntimeError("the disk is full")
        return await plain(*args)

    monkeypatch.setattr(maintain, "apply", dying)
    report = await service.maintain(Maintenance(routines=("lessons",)))
    assert report.upkeep[0].stopped == "it failed"
    assert await weighed(memory) == 3
    left = [round((await memory.get(each)).importance, 2) for each in lessons]
    assert left == [0.3] * 7, "one of the two that each rests on has gone"
    await memory.close()


async def test_of_another_user_nothing_is_touched(runs: Runs, service: Service) -> None:
    lesson, (first, *_) = await learnt(runs)
    await runs.memory.write("Bob was here", user_id="bob")
    await runs.memory.feedback(first, "wrong")
    assert await weighed(runs.memory, users=["bob"]) == 0
    assert (await runs.memory.get(lesson.id)).importance == lesson.importance
    assert await weighed(runs.memory, users=["alice"]) == 1


@pytest.mark.parametrize("language", TASKS)
async def test_in_both_languages(runs: Runs, service: Service, language: str) -> None:
    recorded = await runs("s1", *TASKS[language]["first"])
    (lesson,) = (await runs.memory.reflect(**S1)).lessons
    assert await weighed(runs.memory) == 0
    await AWAY["corrected"](runs.memory, service, recorded[3].receipt.id)
    assert await weighed(runs.memory) == 1, "nothing says any more what to do"
    assert lesson.id in [each.id for each in (await runs.memory.list(status="deleted")).memories]


# What was concluded


@pytest.mark.parametrize("away", AWAY)
@pytest.mark.parametrize("texts", [BEES, 蜜蜂])
async def test_a_conclusion_is_weakened_and_then_retired(
    memory: AsyncHindsightMemory, service: Service, clock: StoppedClock, away: str, texts: list[str]
) -> None:
    ids = await say(memory, clock, *texts, *texts)
    await memory.maintain(routines=["consolidate"])
    (first,) = await made(memory)
    quoted = {
        edge.to_id
        for edge in await service._parts.store.reading(ALICE.bank).relations([first.id])
        if edge.type == "derived_from"
    }
    spare = [each for each in ids if each not in quoted]
    for each in spare[:2]:
        await AWAY[away](memory, service, each)
    assert (await memory.maintain(routines=["consolidate"], dry_run=True)).totals["consolidate"] == 1
    assert (await memory.maintain(routines=["consolidate"])).totals["consolidate"] == 1
    (second,) = await made(memory)
    assert (second.id, second.metadata["support"], second.importance) == (first.id, 4, 0.7)
    for each in spare[2:]:
        await AWAY[away](memory, service, each)
    assert (await memory.maintain(routines=["consolidate"])).totals["consolidate"] == 1
    assert await made(memory) == []
    assert (await memory.maintain(routines=["consolidate"])).totals["consolidate"] == 0
    (event, *_) = await log(service, first.id)
    assert (event.actor, event.verb, event.detail["action"]) == ("maintenance", "consolidate", "retired")


@pytest.mark.parametrize("away", AWAY)
async def test_what_holds_a_statement_up_is_taken_away_from_it(
    memory: AsyncHindsightMemory, service: Service, clock: StoppedClock, away: str
) -> None:
    """A memory that somebody wrote stays, and is worth what it was by itself."""
    note = await memory.write(BEES[0], importance=0.3, wait="indexed")
    ids = await say(memory, clock, *BEES[1:], BEES[0])
    await memory.maintain(routines=["consolidate"])
    assert (await memory.get(note.id)).importance >= 0.6
    for each in ids:
        await AWAY[away](memory, service, each)
    await memory.maintain(routines=["consolidate"])
    held = await memory.get(note.id)
    assert (held.importance, "support" in held.metadata) == (0.3, False)
