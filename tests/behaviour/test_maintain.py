"""maintain: what has had its time is let go of, nothing else is, and a dry run says exactly what would be done."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import sys
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_memory import AsyncHindsightMemory, Conflict, InvalidInput, Kind, NotAllowed, Overloaded, Status, Tier
from hindsight_memory.domain import Draft, Listing, MaintainReport, Maintenance, Memory, Message, Scope, Wait
from hindsight_memory.guard.access import Principal
from hindsight_memory.ingest.second_look import SecondLook
from hindsight_memory.lifecycle.maintain import ROUTINES
from hindsight_memory.service import Service
from hindsight_memory.settings import LifecycleSettings, Settings
from hindsight_memory.testing import StoppedClock, open_service
from samples import ALICE, BOB, a_memory, an_event, found_by_words, words_in


@pytest.fixture
async def service(database: Path, clock: StoppedClock) -> AsyncIterator[Service]:
    """Words only, and no worker: what is merged here is merged by maintenance."""
    opened = await open_service(database, clock=clock, embedder=[], start=False)
    yield opened
    await opened.close()


async def every(service: Service, scope: Scope = ALICE) -> list[Memory]:
    """The memories of a bank that are active or forgotten, whoever may see them."""
    reader = service._parts.store.reading(scope.bank)
    deleted = await service.list(Listing(status=Status.DELETED, limit=1_000), scope)
    return [*(memory for _, memory in await reader.sweep(0, 5_000)), *deleted.memories]


async def held(service: Service, scope: Scope = ALICE) -> dict[str, Memory]:
    """The same by content."""
    return {memory.content: memory for memory in await every(service, scope)}


async def reopened(database: Path, clock: StoppedClock, **lifecycle: Any) -> Service:
    """Another service over the same file, with its own settings."""
    settings = replace(Settings(database=str(database)), lifecycle=LifecycleSettings(**lifecycle))
    return await open_service(database, clock=clock, settings=settings, start=False)


def done(report: MaintainReport) -> dict[str, int]:
    """What routines changed something, and how much."""
    return {name: count for name, count in report.totals.items() if count}


async def test_working_memory_ends_after_an_hour_and_can_be_brought_back(
    memory: AsyncHindsightMemory, service: Service, clock: StoppedClock
) -> None:
    desk = await memory.write("the draft is in tmp", kind="working")
    kept = await memory.write("the server is in Lyon")
    clock.advance(minutes=59)
    assert done(await memory.maintain()) == {}
    clock.advance(minutes=2)
    assert done(await memory.maintain()) == {"expire": 1}
    assert (await held(service))["the draft is in tmp"].deleted_at == clock()
    assert (await memory.get(kept.id)).status is Status.ACTIVE
    event = (await service._parts.store.reading(ALICE.bank).events(desk.id, 1))[0]
    assert (event.verb, event.actor) == ("expire", "maintenance")
    assert "10:00" in event.reason
    back = await memory.restore(desk.id)
    assert (back.status, back.expires_at) == (Status.ACTIVE, clock() + timedelta(hours=1))
    assert done(await memory.maintain()) == {}


async def test_a_pin_outlasts_the_end_of_a_kind_and_not_one_that_was_named(
    memory: AsyncHindsightMemory, clock: StoppedClock
) -> None:
    pinned = await memory.write("pinned at once", kind="working", pinned=True)
    later = await memory.write("pinned later", kind="working")
    named = await memory.write("ends by its writer's word", pinned=True, expires_at=clock() + timedelta(days=1))
    assert (await memory.update(later.id, pinned=True)).expires_at is None
    clock.advance(days=400)
    assert done(await memory.maintain()) == {"expire": 1}
    for each in (pinned, later):
        kept = await memory.get(each.id)
        assert (kept.status, kept.tier) == (Status.ACTIVE, Tier.HOT)
    assert (await memory.restore(named.id)).expires_at is None


@pytest.mark.parametrize(
    ("kind", "days", "tier"),
    [
        ("semantic", 7, Tier.HOT), ("semantic", 7.1, Tier.WARM), ("semantic", 90, Tier.WARM),
        ("semantic", 90.1, Tier.COLD), ("procedural", 91, Tier.COLD), ("procedural", 31, Tier.WARM),
        ("episodic", 7.1, Tier.WARM), ("episodic", 30, Tier.WARM), ("episodic", 30.1, Tier.COLD),
        ("episodic", 4_000, Tier.COLD),
    ],
)  # fmt: skip
async def test_what_nobody_uses_is_put_away(
    memory: AsyncHindsightMemory, clock: StoppedClock, kind: str, days: float, tier: Tier
) -> None:
    receipt = await memory.write("the spare key is at Ann's", kind=kind)
    pinned = await memory.write("the alarm code is on the fridge", kind=kind, pinned=True)
    clock.advance(days=days)
    await memory.maintain()
    kept = await memory.get(receipt.id)
    assert (kept.tier, kept.version) == (tier, 1)
    assert (await memory.get(pinned.id)).tier is Tier.HOT


async def test_what_is_cold_is_found_by_who_asks_for_it_and_comes_back_when_used(
    memory: AsyncHindsightMemory, service: Service, clock: StoppedClock
) -> None:
    receipt = await memory.write("备用钥匙在安娜那里", wait="indexed")
    clock.advance(days=100)
    await memory.maintain()
    assert await memory.search("备用钥匙") == []
    assert [each.id for each in (await memory.list()).memories] == [receipt.id]
    assert await found_by_words(memory, "备用钥匙", cold=True) == ["备用钥匙在安娜那里"]
    await service._flush()
    assert done(await memory.maintain()) == {"tier": 1}
    assert (await memory.get(receipt.id)).tier is Tier.HOT
    assert await found_by_words(memory, "备用钥匙") == ["备用钥匙在安娜那里"]


async def test_restore_brings_a_cold_memory_back_at_once(memory: AsyncHindsightMemory, clock: StoppedClock) -> None:
    receipt = await memory.write("the spare key is at Ann's")
    clock.advance(days=100)
    await memory.maintain()
    back = await memory.restore(receipt.id)
    assert (back.tier, back.last_accessed_at) == (Tier.HOT, clock())
    assert await found_by_words(memory, "spare key") == ["the spare key is at Ann's"]
    assert done(await memory.maintain()) == {}


async def test_what_was_so_in_the_past_is_answered_from_what_is_cold_now(
    memory: AsyncHindsightMemory, clock: StoppedClock
) -> None:
    await memory.write("drinks tea", key="preference.favorite_drink")
    then = clock()
    clock.advance(days=200)
    await memory.maintain()
    await memory.write("drinks coffee", key="preference.favorite_drink")
    assert await found_by_words(memory, "drinks", as_of=then) == ["drinks tea"]


async def test_a_full_bank_forgets_what_is_worth_least(database: Path, clock: StoppedClock) -> None:
    service = await reopened(database, clock, most_memories=6)
    drafts = [
        Draft(content="pinned", importance=0.0, pinned=True),
        Draft(content="dull", importance=0.1),
        Draft(content="doubtful", importance=0.5, source="document"),
        Draft(content="plain", importance=0.5),
        Draft(content="dear", importance=0.9),
    ]
    receipts = await service.write_many(drafts, ALICE)
    clock.advance(days=60)
    await service.write_many([Draft(content=f"fresh {n}", importance=0.5) for n in range(4)], ALICE)
    report = await service.maintain(Maintenance(routines=("evict",)))
    assert done(report) == {"evict": 3}
    assert [change.memory_id for change in report.upkeep[0].examples] == [receipts[n].id for n in (1, 2, 3)]
    numbers = report.upkeep[0].examples[0].numbers
    assert numbers["worth"] == pytest.approx(numbers["retention"] * numbers["importance"] * numbers["trust"], abs=1e-4)
    gone = {content for content, each in (await held(service)).items() if each.status is Status.DELETED}
    assert gone == {"dull", "doubtful", "plain"}
    assert done(await service.maintain(Maintenance(routines=("evict",)))) == {}
    assert (await service.restore(receipts[1].id, ALICE)).status is Status.ACTIVE
    await service.close()


async def test_half_a_bank_is_not_forgotten_at_once(database: Path, clock: StoppedClock) -> None:
    service = await reopened(database, clock, most_memories=10)
    await service.write_many([Draft(content=f"memory {n}") for n in range(40)], ALICE)
    for dry_run in (True, False):
        report = await service.maintain(Maintenance(dry_run=dry_run))
        assert done(report) == {}
        (line,) = report.upkeep
        assert (line.routine, line.changes) == ("evict", 0)
        assert "30 of 40" in line.stopped
    assert await service._parts.store.reading(ALICE.bank).active() == 40
    report = await service.maintain(Maintenance(beyond_half=True))
    assert done(report) == {"evict": 30}
    await service.close()


async def test_the_same_said_twice_becomes_one(memory: AsyncHindsightMemory, service: Service) -> None:
    first = await memory.write("The server listens on port 8443.", importance=0.3, tags=["ops"], source_ref="a")
    second = await memory.write(
        "the server  listens on port 8443", importance=0.8, tags=["net"], source_ref="b", source="document",
        relations=["mentions:port"], occurred_at="2026-05-06T00:00:00Z",
    )  # fmt: skip
    other = await memory.write("The server listens on port 8444.")
    before = await memory.get(first.id)
    report = await memory.maintain()
    assert done(report) == {"merge": 1}
    (change,) = report.upkeep[0].examples
    assert change.memory_id == second.id
    assert first.id in change.why
    kept = await memory.get(first.id)
    assert (kept.importance, kept.trust, kept.tags) == (0.8, before.trust, ("ops", "net"))
    assert kept.metadata == {"merged_sources": ["a", "b"]}
    assert f"{kept.occurred_at:%m-%d}" == "05-06"
    assert kept.valid_from == before.occurred_at
    assert (await memory.get(other.id)).status is Status.ACTIVE
    assert sorted(await found_by_words(memory, "server listens port")) == [
        "The server listens on port 8443.",
        "The server listens on port 8444.",
    ]
    edges = await service._parts.store.reading(ALICE.bank).relations([first.id])
    assert [(edge.type, edge.to_id) for edge in edges] == [("mentions", "port")]
    assert done(await memory.maintain()) == {}
    assert (await memory.restore(second.id)).status is Status.ACTIVE


async def test_what_must_not_be_merged(memory: AsyncHindsightMemory, service: Service) -> None:
    await memory.write("Anna is in Rome")
    await memory.write("anna is in Rome", agent_id="coder", visibility="private")
    await memory.write("anna is in rome", kind="episodic")
    await memory.write("ANNA is in rome", task="t1", kind="procedural")
    await memory.write("Anna IS in rome", task="t2", kind="procedural")
    await memory.write("Anna is IN rome", user_id="bob")
    for session in ("s", "t"):
        await memory.write_conversation([{"content": "Anna is in Rome"}], session_id=session)
    await memory.write("pinned One", pinned=True)
    await memory.write("pinned one", pinned=True)
    await memory.write("a key", key="fact.a")
    await memory.write("A key", key="fact.b")
    assert done(await memory.maintain()) == {}


async def test_the_better_of_two_stays(memory: AsyncHindsightMemory) -> None:
    await memory.write("Keyed", source="document")
    keyed = await memory.write("keyed", key="fact.a", source="document")
    pinned = await memory.write("pinned", pinned=True, source="document")
    await memory.write("Pinned")
    trusted = await memory.write("trusted", source="user")
    await memory.write("Trusted", source="tool")
    assert done(await memory.maintain()) == {"merge": 3}
    assert {each.id for each in (await memory.list()).memories} == {keyed.id, pinned.id, trusted.id}


async def no_second_look(self: SecondLook, bank: str, memories: Any, vectors: Any) -> None:
    """Leave repeats to maintenance."""


async def test_a_judge_decides_among_a_few_neighbours_by_words_and_by_meaning(
    database: Path, clock: StoppedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, set[str]]] = []

    def judge(memory: Memory, neighbours: Sequence[Memory]) -> Memory | None:
        asked.append((memory.content, {each.content for each in neighbours}))
        return next((each for each in neighbours if each.content[:6] == memory.content[:6]), None)

    monkeypatch.setattr(SecondLook, "__call__", no_second_look)
    service = await reopened(database, clock)
    service._parts.keeper.repeats = judge
    memory = AsyncHindsightMemory(user_id="alice", clock=clock)
    memory._service = service
    for text in ("coffee is drunk black by Anna", "coffee Anna drinks it black", "the moon is far away tonight"):
        await memory.write(text, wait=Wait.INDEXED)
    assert done(await memory.maintain()) == {"merge": 1}
    assert any(neighbours for _, neighbours in asked)
    asked.clear()
    await memory.write("a completely new thing", wait=Wait.INDEXED)
    await memory.maintain()
    assert {content for content, _ in asked} <= {"a completely new thing"}, "only what is new is compared"
    await service.close()


async def test_a_judge_that_says_yes_to_everything_empties_no_bank(
    memory: AsyncHindsightMemory, service: Service
) -> None:
    service._parts.keeper.repeats = lambda memory, neighbours: neighbours[0]
    for number in range(20):
        await memory.write(f"this is my memory of number {number}")
    report = await memory.maintain()
    assert done(report) == {}
    assert " of 20 memories" in report.upkeep[0].stopped


async def test_a_judge_that_fails_leaves_everything_as_it_is(memory: AsyncHindsightMemory, service: Service) -> None:
    def judge(memory: Memory, neighbours: Sequence[Memory]) -> Memory | None:
        raise ZeroDivisionError

    service._parts.keeper.repeats = judge
    await memory.write("one and the same")
    await memory.write("One and the same")
    await memory.write("the desk", kind="working", expires_at="2026-01-01T00:00:00Z")
    report = await memory.maintain()
    assert done(report) == {"expire": 1}, "the other routines have their turn"
    assert [line.stopped for line in report.upkeep if line.routine == "merge"] == ["it failed"]
    assert len((await memory.list()).memories) == 2
    service._parts.keeper.repeats = lambda memory, neighbours: neighbours[0]
    assert done(await memory.maintain()) == {"merge": 1}


async def test_what_was_forgotten_is_purged_after_seven_days(
    memory: AsyncHindsightMemory, service: Service, clock: StoppedClock
) -> None:
    receipt = await memory.write("the xylophonequartz code", wait=Wait.INDEXED)
    await memory.update(receipt.id, content="the xylophonequartz code 2")
    await memory.forget(receipt.id, reason="xylophonequartz")
    clock.advance(days=6.9)
    assert done(await memory.maintain()) == {}
    clock.advance(days=0.2)
    assert done(await memory.maintain()) == {"purge": 1}
    assert await held(service) == {}
    events = await service._parts.store.reading(ALICE.bank).events(receipt.id, 9)
    assert events[0].verb == "purge"
    assert events[0].detail["memories"] == 1
    assert "xylophonequartz" not in repr(events)
    assert done(await memory.maintain()) == {}


async def test_the_messages_of_a_session_are_kept_and_not_expired(
    memory: AsyncHindsightMemory, service: Service, clock: StoppedClock
) -> None:
    await service.append_session([Message(content="I moved to Lyon")], replace(ALICE, session_id="s"))
    clock.advance(hours=2)
    assert done(await memory.maintain(dry_run=True)) == {"promote": 1}
    assert done(await memory.maintain()) == {"promote": 1}
    (kept,) = (await memory.list()).memories
    assert (kept.kind, kept.content, kept.expires_at) == (Kind.EPISODIC, "I moved to Lyon", None)
    assert done(await memory.maintain()) == {}


async def test_private_memories_have_their_time_too(
    memory: AsyncHindsightMemory, service: Service, clock: StoppedClock
) -> None:
    await memory.write("mine", agent_id="coder", visibility="private", kind="working")
    clock.advance(hours=2)
    report = await memory.maintain()
    assert done(report) == {"expire": 1}
    assert "mine" not in repr(report)


async def test_every_users_bank_is_seen_to_and_no_other_namespace(service: Service, clock: StoppedClock) -> None:
    away = Scope(namespace="away", user_id="alice")
    for scope in (ALICE, BOB, Scope(user_id=None), away):
        await service.write(Draft(content="desk", kind="working"), scope)
    clock.advance(hours=2)
    mine = service.acting_as(Principal("key", namespace="default"))
    assert done(await mine.maintain(Maintenance(dry_run=True))) == {"expire": 3}
    assert done(await mine.maintain(Maintenance(users=("bob", "nobody")))) == {"expire": 1}
    assert done(await mine.maintain(Maintenance())) == {"expire": 2}
    assert (await held(service, away))["desk"].status is Status.ACTIVE
    assert done(await service.maintain(Maintenance())) == {"expire": 1}
    assert "nobody" not in {scope.user_id for scope in await service._parts.store.banks(None, None, 99)}


async def test_a_key_without_the_right_may_not(service: Service) -> None:
    with pytest.raises(NotAllowed):
        await service.acting_as(Principal("key", verbs=frozenset({"search"}))).maintain(Maintenance())


async def test_an_unknown_routine_is_named(memory: AsyncHindsightMemory) -> None:
    with pytest.raises(InvalidInput) as refused:
        await memory.maintain(routines=["evict", "tidy"])
    assert refused.value.field == "routines"
    assert "merge" in str(refused.value)


async def test_what_was_used_or_changed_in_the_meantime_is_left_alone(
    memory: AsyncHindsightMemory, service: Service, clock: StoppedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    receipts = [await memory.write(f"desk {n}", kind="working") for n in range(3)]
    clock.advance(hours=2)
    keeper = service._parts.keeper
    plain = type(keeper)._apply

    async def apply(self: Any, batch: Any, scope: Any, now: Any) -> Any:
        async with service._parts.store.transaction(ALICE) as tx:
            (first, second) = await tx.get([receipts[0].id, receipts[1].id])
            await tx.touch([first.id], clock())
            changed = await tx.change(second, expires_at=None)
            await tx.record([service._event("update", changed, ALICE, {})])
        return await plain(self, batch, scope, now)

    monkeypatch.setattr(type(keeper), "_apply", apply)
    report = await memory.maintain(routines=["expire"])
    assert (report.upkeep[0].changes, report.upkeep[0].passed) == (1, 2)
    statuses = [(await held(service))[f"desk {n}"].status for n in range(3)]
    assert statuses == [Status.ACTIVE, Status.ACTIVE, Status.DELETED]


async def test_only_what_is_due_is_done_again(memory: AsyncHindsightMemory, clock: StoppedClock) -> None:
    await memory.write("first", kind="working")
    clock.advance(hours=2)
    assert done(await memory.maintain(due=True)) == {"expire": 1}
    await memory.write("second", kind="working", expires_at=clock() + timedelta(minutes=5))
    clock.advance(minutes=30)
    assert done(await memory.maintain(due=True)) == {}
    clock.advance(minutes=31)
    assert done(await memory.maintain(due=True)) == {"expire": 1}
    clock.advance(days=-30)
    assert (await memory.maintain(due=True)).totals["expire"] == 0
    await memory.write("third", kind="working", expires_at=clock() - timedelta(minutes=5))
    clock.advance(minutes=1)
    assert done(await memory.maintain()) == {"expire": 1}, "what was done by a clock ahead of this one is done again"


async def test_one_process_at_a_time(database: Path, service: Service, clock: StoppedClock) -> None:
    await service.write(Draft(content="desk", kind="working"), ALICE)
    clock.advance(hours=2)
    store = service._parts.store
    assert await store.lead("maintenance", "another host:7", 120) == "another host:7"
    with pytest.raises(Overloaded):
        await service.maintain(Maintenance())
    assert done(await service.maintain(Maintenance(dry_run=True))) == {"expire": 1}
    clock.advance(seconds=121)
    assert done(await service.maintain(Maintenance())) == {"expire": 1}
    assert await store.lead("maintenance", "another host:7", 120) == "another host:7", "it was given back"


async def test_a_leader_that_died_here_is_not_waited_for(service: Service) -> None:
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", "")
    await process.wait()
    gone = f"abcd@{socket.gethostname()}:{process.pid}"
    assert await service._parts.store.lead("maintenance", gone, 120) == gone
    await service.maintain(Maintenance())
    other = f"abcd@{socket.gethostname()}:{os.getpid()}"
    assert await service._parts.store.lead("maintenance", other, 120) == other
    with pytest.raises(Overloaded):
        await service.maintain(Maintenance())


async def test_two_calls_at_once_do_it_once(service: Service, clock: StoppedClock) -> None:
    await service.write_many([Draft(content=f"desk {n}", kind="working") for n in range(120)], ALICE)
    clock.advance(hours=2)
    reports = await asyncio.gather(*(service.maintain(Maintenance()) for _ in range(3)))
    assert sorted(report.totals["expire"] for report in reports) == [0, 0, 120]


async def test_a_running_service_does_it_by_itself(database: Path, clock: StoppedClock) -> None:
    settings = replace(Settings(database=str(database)), lifecycle=LifecycleSettings(look_s=0.01))
    service = await open_service(database, clock=clock, settings=settings, embedder=[])
    assert [task for task in service._parts.working if "watch" in repr(task.get_coro())]
    await service.write(Draft(content="desk", kind="working"), ALICE)
    clock.advance(hours=2)
    async with asyncio.timeout(10):
        while (await held(service))["desk"].status is not Status.DELETED:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    await service.close()


async def test_it_does_nothing_by_itself_when_told_so(database: Path, clock: StoppedClock) -> None:
    service = await reopened(database, clock, schedule=False)
    await service.start()
    assert not [task for task in service._parts.working if "watch" in repr(task.get_coro())]
    await service.close()


async def test_a_clock_that_jumped_deletes_nothing_that_lives(
    memory: AsyncHindsightMemory, service: Service, clock: StoppedClock
) -> None:
    await memory.write("plain")
    await memory.write("an episode", kind="episodic")
    async with service._parts.store.transaction(ALICE) as tx:
        odd = a_memory("from the future", at=clock() + timedelta(days=9_000), last_accessed_at=None)
        older = a_memory("used before it was learnt", last_accessed_at=clock() - timedelta(days=9_000))
        for each in (odd, older):
            await tx.add(each, words_in(each.content))
            await tx.record([an_event(each)])
    for days in (20_000, -19_000, -1_500, 600):
        clock.advance(days=days)
        report = await memory.maintain()
        assert set(done(report)) <= {"tier"}
    assert {each.status for each in (await held(service)).values()} == {Status.ACTIVE}


async def test_restoring_beside_what_took_its_place_is_refused(memory: AsyncHindsightMemory) -> None:
    await memory.write("Keyed", key="fact.a")
    await memory.write("keyed", key="fact.b")
    plain = await memory.write("KEYED")
    assert done(await memory.maintain()) == {"merge": 1}
    again = await memory.write("KEYED")
    with pytest.raises(Conflict):
        await memory.restore(plain.id)
    await memory.forget(again.id)
    assert (await memory.restore(plain.id)).status is Status.ACTIVE


@pytest.mark.parametrize("routine", [routine.name for routine in ROUTINES])
async def test_an_empty_store_is_no_work(service: Service, routine: str) -> None:
    report = await service.maintain(Maintenance(routines=(routine,)))
    assert (report.banks, done(report), report.upkeep) == (0, {}, ())


DRAFT = st.fixed_dictionaries(
    {
        "content": st.sampled_from(["Tea at five", "tea at five", "Tea at six.", "茶在五点", "coffee"]),
        "kind": st.sampled_from([*Kind]),
        "importance": st.sampled_from([0.0, 0.5, 1.0]),
        "pinned": st.booleans(),
        "agent_id": st.sampled_from([None, "coder"]),
        "private": st.booleans(),
        "ends_in": st.sampled_from([None, None, 1, 20]),
        "forgotten": st.booleans(),
        "age": st.sampled_from([0, 10, 40, 100]),
    }
)


@given(drafts=st.lists(DRAFT, max_size=12), most=st.sampled_from([2, 6, 100_000]), beyond=st.booleans())
async def test_a_dry_run_says_what_a_run_does(
    tmp_path_factory: pytest.TempPathFactory, drafts: list[dict[str, Any]], most: int, beyond: bool
) -> None:
    folder, clock = tmp_path_factory.mktemp("dry"), StoppedClock()
    service = await reopened(folder / "a.db", clock, most_memories=most, at_least=1, batch=3, page=4)
    for each in sorted(drafts, key=lambda one: -one["age"]):
        clock.advance(days=100 - each["age"] - (clock() - StoppedClock()()).days)
        private = "private" if each["private"] and each["agent_id"] else "shared"
        ends = None if each["ends_in"] is None else clock() + timedelta(days=each["ends_in"])
        fields = {name: each[name] for name in ("content", "kind", "importance", "pinned")}
        scope = Scope(user_id="alice", agent_id=each["agent_id"])
        receipt = await service.write(Draft(**fields, visibility=private, expires_at=ends), scope, Wait.INDEXED)
        if each["forgotten"]:
            await service.forget(receipt.id, scope)
    clock.advance(days=max(100 - (clock() - StoppedClock()()).days, 0))
    active = [memory for memory in await every(service) if memory.status is Status.ACTIVE]
    pins = {memory.id for memory in active if memory.pinned and memory.expires_at is None}

    said = await service.maintain(Maintenance(dry_run=True, beyond_half=beyond))
    assert await service.maintain(Maintenance(dry_run=True, beyond_half=beyond)) == said, "it changes nothing"
    report = await service.maintain(Maintenance(beyond_half=beyond))
    assert replace(said, dry_run=False) == report
    kept = {memory.id for memory in await every(service) if memory.status is Status.ACTIVE and memory.tier is Tier.HOT}
    assert pins <= kept
    assert done(await service.maintain(Maintenance(dry_run=True))) == {}, "a run leaves nothing to do"
    await service.close()
    shutil.rmtree(folder)


async def test_who_has_lost_the_lead_stops(
    database: Path, clock: StoppedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = await reopened(database, clock, lease_s=0.03)
    await service.write(Draft(content="desk", kind="working"), ALICE)
    clock.advance(hours=2)
    keeper = service._parts.keeper
    plain = type(keeper)._apply

    async def apply(self: Any, *arguments: Any) -> Any:
        await service._parts.store.resign("maintenance", keeper.holder)
        await service._parts.store.lead("maintenance", "another host:7", 0.03)
        await asyncio.wait([self._beat])
        return await plain(self, *arguments)

    monkeypatch.setattr(type(keeper), "_apply", apply)
    with pytest.raises(Overloaded):
        await service.maintain(Maintenance())
    assert (await held(service))["desk"].status is Status.ACTIVE
    assert await service._parts.store.lead("maintenance", "me", 0.03) == "another host:7", "it is not taken from it"
    await service.close()
