"""What language models are to read: which memories have something for them, in which order, and how far they are."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from hindsight_memory.domain import EXTRACTED_FROM, Jobs, JobState, Kind, Memory, Scope, Source, Status, Visibility
from hindsight_memory.store.base import Setback, Stage, Store, Terms
from hindsight_memory.testing import StoppedClock
from samples import ALICE, BOB, NOON, a_memory, a_turn, put, words_in

FEW = Terms(batch=3, attempts=2, lease_s=60, index_attempts=2)


async def indexed(store: Store, *memories: Memory, scope: Scope = ALICE) -> list[Memory]:
    """Store memories, and call them indexed."""
    await put(store, *memories, scope=scope)
    async with store.transaction(scope) as tx:
        await tx.settle(Stage.INDEX, [memory.id for memory in memories], {})
    return list(memories)


async def claimed(store: Store, holder: str = "me", **terms: Any) -> list[str]:
    due = await store.claim(Stage.READ, holder, FEW if not terms else Terms(**{**FIELDS, **terms}))
    return [each.memory.content for each in due]


FIELDS = {"batch": 3, "attempts": 2, "lease_s": 60, "index_attempts": 2}


async def settle(store: Store, memory: Memory, setback: Setback | None = None) -> None:
    async with store.transaction(ALICE) as tx:
        await tx.settle(Stage.READ, [] if setback else [memory.id], {memory.id: setback} if setback else {})


async def jobs(store: Store, scope: Scope = ALICE) -> Jobs:
    return await store.reading(scope.bank).jobs(scope.agent_id, FEW.attempts, 10)


@pytest.mark.parametrize(
    ("memory", "read"),
    [
        (a_memory("a fact"), True),
        (a_memory("an inference", source=Source.AGENT), True),
        (a_memory("how to", kind=Kind.PROCEDURAL), True),
        (a_memory("from a tool", source=Source.TOOL), False),
        (a_memory("from a page", source=Source.DOCUMENT), False),
        (a_memory("a long page", source=Source.DOCUMENT, summary="long"), True),
        (a_memory("what happened", kind=Kind.EPISODIC), False),
        (a_memory("read off a turn", metadata={EXTRACTED_FROM: "x"}), False),
        (a_turn("said by a user", 0), True),
        (a_turn("said by an agent", 0, source=Source.AGENT), False),
        (a_turn("said at length", 0, source=Source.AGENT, summary="length"), True),
        (a_turn("hello", 0, context_only=True), False),
        (a_memory("on a desk", turn=0, session_id="s", kind=Kind.WORKING, source=Source.AGENT), True),
        (a_memory("out of a tool", turn=0, session_id="s", kind=Kind.WORKING, source=Source.TOOL), False),
        (a_memory("a note of an hour", kind=Kind.WORKING), False),
        (a_memory("gone", status=Status.DELETED), False),
    ],
    ids=lambda value: value.content if isinstance(value, Memory) else "",
)
async def test_what_is_read(store: Store, memory: Memory, read: bool) -> None:
    await indexed(store, memory)
    assert await claimed(store) == ([memory.content] if read else [])
    assert await store.due(Stage.READ, FEW) == read


async def test_the_newest_first_whosever_it_is(store: Store) -> None:
    for day, scope in enumerate((ALICE, BOB, ALICE, BOB)):
        await indexed(store, a_memory(f"day {day}", scope, at=NOON + timedelta(days=day)), scope=scope)
    assert await claimed(store) == ["day 3", "day 2", "day 1"]
    assert await claimed(store, "you") == ["day 0"]


async def test_nothing_from_before_a_day(store: Store) -> None:
    await indexed(store, *(a_memory(f"day {day}", at=NOON + timedelta(days=day)) for day in range(3)))
    since = NOON + timedelta(days=1)
    assert await store.due(Stage.READ, Terms(**FIELDS, since=since)) == 2
    assert await claimed(store, since=since) == ["day 2", "day 1"]


async def test_its_vector_comes_first_unless_that_was_given_up(store: Store) -> None:
    (held,) = await put(store, a_memory("m"))
    assert await claimed(store) == []
    for _ in range(2):
        await store.claim(Stage.INDEX, "me", FEW)
        async with store.transaction(ALICE) as tx:
            await tx.settle(Stage.INDEX, [], {held.id: Setback(reason="the model chokes on it")})
    assert await claimed(store) == ["m"]


async def test_one_stage_knows_nothing_of_the_other(store: Store) -> None:
    (held,) = await indexed(store, a_memory("m"))
    await claimed(store)
    await settle(store, held)
    assert await store.due(Stage.READ, FEW) == 0
    async with store.transaction(ALICE) as tx:
        await tx.change(held, words_in("n"), content="n")
    assert await claimed(store) == []
    assert [due.memory.content for due in await store.claim(Stage.INDEX, "me", FEW)] == ["n"]
    assert (await jobs(store)).queued == 1


async def test_a_message_that_is_promoted_is_read_once_more(store: Store) -> None:
    (held,) = await indexed(store, a_memory("m", turn=0, session_id="s", kind=Kind.WORKING))
    await claimed(store)
    await settle(store, held)
    async with store.transaction(ALICE) as tx:
        await tx.change(held, kind=Kind.EPISODIC)
        await tx.settle(Stage.INDEX, [held.id], {})
    assert await claimed(store) == ["m"]


async def test_other_changes_are_not_read(store: Store) -> None:
    (held,) = await indexed(store, a_memory("m"))
    await claimed(store)
    await settle(store, held)
    async with store.transaction(ALICE) as tx:
        await tx.change(held, summary="s", importance=1.0)
    assert await claimed(store) == []


async def test_states(store: Store, clock: StoppedClock) -> None:
    assert await jobs(store) == Jobs()
    names = ("waits", "runs", "did", "failed", "fails again", "untold")
    (_, _, did, failed, fails, _) = await indexed(store, *map(a_memory, names[:5]), a_memory("x", source=Source.TOOL))
    assert (await jobs(store)).queued == 5
    assert await claimed(store, batch=4) == ["fails again", "failed", "did", "runs"]
    assert await jobs(store) == Jobs(queued=1, running=4)
    await settle(store, did)
    await settle(store, failed, Setback(reason="no JSON", final=True))
    later = clock() + timedelta(minutes=5)
    await settle(store, fails, Setback(reason="no answer", after=later))
    found = await jobs(store)
    assert (found.queued, found.running, found.done, found.failed) == (2, 1, 1, 1)
    assert [(job.memory_id, job.state, job.attempts, job.reason, job.next) for job in found.latest] == [
        (fails.id, JobState.QUEUED, 1, "no answer", later),
        (failed.id, JobState.FAILED, 1, "no JSON", None),
    ]
    clock.advance(minutes=6)
    found = await jobs(store)
    assert (found.queued, found.running) == (3, 0), "nothing runs for ever"
    assert found.latest[0].next == clock()


async def test_what_is_to_wait_waits(store: Store, clock: StoppedClock) -> None:
    (held,) = await indexed(store, a_memory("m"))
    await claimed(store)
    await settle(store, held, Setback(reason="no answer", after=clock() + timedelta(seconds=30)))
    assert await claimed(store) == []
    clock.advance(seconds=31)
    assert await claimed(store) == ["m"]
    await settle(store, held, Setback(reason="no answer"))
    assert await claimed(store) == []
    assert (await jobs(store)).failed == 1


async def test_what_its_holders_died_of_is_given_up(store: Store, clock: StoppedClock) -> None:
    await indexed(store, a_memory("m"))
    for _ in range(2):
        assert await claimed(store) == ["m"]
        clock.advance(seconds=61)
    assert await claimed(store) == []
    assert (await jobs(store)).failed == 1


async def test_what_was_given_up_is_tried_again_when_somebody_asks(store: Store) -> None:
    one, two, _ = await indexed(store, *map(a_memory, ("one", "two", "held")))
    await claimed(store)
    await settle(store, one, Setback(reason="no JSON", final=True))
    await settle(store, two, Setback(reason="no answer"))
    assert await claimed(store) == ["two"]
    async with store.transaction(ALICE) as tx:
        assert await tx.retry(Stage.READ, FEW.attempts) == 1, "only what nobody works on"
    assert await jobs(store) == Jobs(queued=1, running=2, latest=(await jobs(store)).latest)
    assert await claimed(store, "you") == ["one"]


async def test_who_holds_on_keeps_it(store: Store, clock: StoppedClock) -> None:
    await indexed(store, a_memory("m"))
    await claimed(store)
    for _ in range(3):
        clock.advance(seconds=40)
        await store.renew(Stage.READ, "me", 60)
        await store.renew(Stage.READ, "you", 60)
        await store.renew(Stage.INDEX, "me", 600)
    assert await claimed(store, "you") == []
    clock.advance(seconds=61)
    await store.renew(Stage.READ, "me", 60)
    assert await claimed(store, "you") == ["m"], "too late"


async def test_a_text_that_changed_in_the_meantime_stays_due(store: Store) -> None:
    (held,) = await indexed(store, a_memory("m"))
    await claimed(store)
    async with store.transaction(ALICE) as tx:
        await tx.change(held, words_in("n"), content="n")
    await settle(store, held, Setback(reason="of the old text", final=True))
    async with store.transaction(ALICE) as tx:
        await tx.settle(Stage.INDEX, [held.id], {})
    assert await claimed(store) == ["n"]


async def test_what_has_nothing_to_read_is_never_done(store: Store) -> None:
    (held,) = await indexed(store, a_memory("m", source=Source.TOOL))
    await settle(store, held)
    assert await jobs(store) == Jobs()


async def test_private_ones_are_told_to_their_own_agent(store: Store) -> None:
    mine = Scope(user_id="alice", agent_id="mine")
    await indexed(store, a_memory("m", mine, visibility=Visibility.PRIVATE), scope=mine)
    assert (await jobs(store, mine)).queued == 1
    assert await jobs(store) == Jobs()


async def test_what_is_forgotten_is_read_by_nobody(store: Store) -> None:
    (held,) = await indexed(store, a_memory("m"))
    async with store.transaction(ALICE) as tx:
        held = await tx.change(held, status=Status.DELETED)
    assert await claimed(store) == []
    assert await jobs(store) == Jobs()
    async with store.transaction(ALICE) as tx:
        await tx.change(held, words_in("m"), status=Status.ACTIVE)
    assert await claimed(store) == ["m"]


async def test_a_day_s_spending_is_added_up(store: Store) -> None:
    today = NOON.date()
    assert await store.spend(today, 0, 0) == (0, 0)
    assert await store.spend(today, 100, 2) == (100, 2)
    assert await store.spend(today, -20, 1) == (80, 3), "a request took less than was held back for it"
    assert await store.spend(today + timedelta(days=1), 5, 0) == (5, 0)
    assert await store.spend(today, 0, 0) == (80, 3)
