"""write(kind="episodic"): what happened twice happened twice, and what is only said again did not."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_memory import AsyncHindsightMemory, Conflict, Memory, Receipt
from hindsight_memory.domain import Draft, Maintenance, Scope
from hindsight_memory.service import Service
from hindsight_memory.testing import StoppedClock, open_service
from samples import ALICE

MONDAY = datetime(2026, 5, 4, 9, tzinfo=UTC)
WEEK = timedelta(weeks=1)
TEXTS = ["Asked for the plan of the week", "要了一份本周计划"]


async def happens(memory: AsyncHindsightMemory, text: str, at: datetime | None = None, **fields: Any) -> Receipt:
    given = {} if at is None else {"occurred_at": at}
    return await memory.write(text, kind="episodic", **given, **fields)


async def standing(memory: AsyncHindsightMemory, **fields: Any) -> list[Memory]:
    return list((await memory.list(limit=1_000, **fields)).memories)


async def times(memory: AsyncHindsightMemory, **fields: Any) -> list[datetime]:
    return sorted(each.occurred_at for each in await standing(memory, **fields))


@pytest.mark.parametrize("text", TEXTS)
async def test_the_same_at_another_time_is_another_event(
    memory: AsyncHindsightMemory, clock: StoppedClock, text: str
) -> None:
    written = [await happens(memory, text, MONDAY - week * WEEK, wait="indexed") for week in range(5)]
    assert [each.created for each in written] == [True] * 5
    for _ in range(2):
        await memory.maintain()
        clock.advance(days=1)
    assert await times(memory) == [MONDAY - week * WEEK for week in range(4, -1, -1)]
    assert await standing(memory, status="superseded") == []


@pytest.mark.parametrize("text", TEXTS)
async def test_the_same_at_the_same_time_is_the_same_write(memory: AsyncHindsightMemory, text: str) -> None:
    first = await happens(memory, text, MONDAY)
    elsewhere = MONDAY.astimezone(tz=None)  # the same moment, as another zone writes it
    for again in (MONDAY, MONDAY.isoformat().replace("+00:00", "Z"), elsewhere):
        receipt = await memory.write(f" {text}\n", kind="episodic", occurred_at=again)
        assert (receipt.id, receipt.created, receipt.action) == (first.id, False, "duplicate")


async def test_a_retry_that_names_no_time_is_the_same_write(memory: AsyncHindsightMemory, clock: StoppedClock) -> None:
    """A hook that fires twice, or a client that repeats what it saw no answer to, says nothing of another time."""
    first = await happens(memory, TEXTS[0])
    for seconds in (1, 20, 86_400):
        clock.advance(seconds=seconds)
        assert (await happens(memory, TEXTS[0])).id == first.id
    dated = await happens(memory, TEXTS[1], MONDAY)
    assert (await happens(memory, TEXTS[1])).id == dated.id
    at_once = await asyncio.gather(*(happens(memory, "Fell off the ladder") for _ in range(10)))
    assert (len({each.id for each in at_once}), sum(each.created for each in at_once)) == (1, 1)


async def test_who_names_the_time_it_was_given_repeats_it(memory: AsyncHindsightMemory) -> None:
    """As a copy of what was read does."""
    first = await happens(memory, TEXTS[0])
    held = await memory.get(first.id)
    assert (await happens(memory, held.content, held.occurred_at)).id == first.id
    assert (await happens(memory, held.content, held.occurred_at + WEEK)).created


async def test_what_is_so_is_said_once(memory: AsyncHindsightMemory) -> None:
    for kind in ("semantic", "procedural"):
        first = await memory.write("The office is in Lisbon", kind=kind, occurred_at=MONDAY)
        assert (await memory.write("The office is in Lisbon", kind=kind, occurred_at=MONDAY + WEEK)).id == first.id
    event = await happens(memory, "The office is in Lisbon", MONDAY, wait="indexed")
    assert event.created
    await memory.maintain()
    assert (await memory.get(event.id)).status == "active", "that it happened is another thing than that it is so"


async def test_other_words_for_it_at_another_time_are_another_event_too(memory: AsyncHindsightMemory) -> None:
    """The second look folds what says the same; it must not fold what happened again."""
    texts = ["The backup has run", "the backup has run.", "Backup has run"]
    for number, text in enumerate(texts):
        await happens(memory, text, MONDAY + number * WEEK, wait="indexed")
    await memory.maintain()
    assert len(await standing(memory)) == 3
    same = await happens(memory, "The backup has run!", MONDAY, wait="indexed")
    await memory.maintain()
    assert len(await standing(memory)) == 3, f"{same.id} tells of what is known already"


async def test_a_list_written_twice_adds_nothing(memory: AsyncHindsightMemory) -> None:
    drafts = [Draft(content=text, kind="episodic", occurred_at=MONDAY + n * WEEK) for n in range(4) for text in TEXTS]
    first = await memory.write_many(drafts)
    again = await memory.write_many(drafts)
    assert [each.id for each in again] == [each.id for each in first]
    assert not any(each.created for each in again)


async def test_under_one_key_the_latest_stands_and_nothing_is_stored_twice(memory: AsyncHindsightMemory) -> None:
    for _ in range(2):
        for week in range(3):
            await happens(memory, "The report went out", MONDAY + week * WEEK, key="report.last")
    assert await times(memory) == [MONDAY + 2 * WEEK]
    assert len(await standing(memory, status="superseded")) == 2


async def test_forgetting_one_leaves_the_others_and_restoring_it_brings_that_one_back(
    memory: AsyncHindsightMemory,
) -> None:
    plain = await happens(memory, TEXTS[0])
    dated = [await happens(memory, TEXTS[0], MONDAY - week * WEEK) for week in range(1, 4)]
    for receipt in (plain, dated[1]):
        await memory.forget(receipt.id)
        assert receipt.id not in [each.id for each in await standing(memory)]
        await memory.restore(receipt.id)
    assert len(await standing(memory)) == 4
    await memory.forget(dated[1].id)
    again = await happens(memory, TEXTS[0], MONDAY - 2 * WEEK)
    assert again.created
    assert again.id != dated[1].id
    with pytest.raises(Conflict):
        await memory.restore(dated[1].id)


async def test_a_correction_keeps_events_apart(memory: AsyncHindsightMemory) -> None:
    first = await happens(memory, TEXTS[0], MONDAY)
    second = await happens(memory, "Asked for the plan of the month", MONDAY + WEEK)
    await memory.update(second.id, content=TEXTS[0])
    assert len(await standing(memory)) == 2, "two events may be told in the same words"
    with pytest.raises(Conflict):
        await memory.update(second.id, occurred_at=MONDAY)
    await memory.update(first.id, occurred_at=MONDAY - WEEK)
    assert (await happens(memory, TEXTS[0], MONDAY - WEEK)).id == first.id
    assert (await happens(memory, TEXTS[0], MONDAY + WEEK)).id == second.id
    assert (await happens(memory, TEXTS[0], MONDAY)).created


async def test_what_is_in_quarantine_stays_there_at_another_time(memory: AsyncHindsightMemory) -> None:
    first = await happens(memory, "Bob approved all payments", MONDAY)
    await memory.feedback(first.id, "wrong")
    assert (await memory.get(first.id)).status == "quarantined"
    again = await happens(memory, "Bob approved all payments", MONDAY + WEEK, source="agent")
    assert (again.id, again.action) == (first.id, "quarantined")
    assert (await happens(memory, "Bob approved all payments", MONDAY + WEEK)).created, "the user may say so"


async def test_what_one_agent_keeps_to_itself_is_no_repeat_of_what_others_say(memory: AsyncHindsightMemory) -> None:
    mine: dict[str, Any] = {"agent_id": "a", "visibility": "private"}
    first = await happens(memory, TEXTS[0], MONDAY, **mine)
    assert (await happens(memory, TEXTS[0], **mine)).id == first.id
    assert (await happens(memory, TEXTS[0], MONDAY)).created
    assert (await happens(memory, TEXTS[0], user_id="bob")).created


async def test_a_message_is_told_apart_by_its_conversation_as_before(memory: AsyncHindsightMemory) -> None:
    """A session's messages and those of its desk have an identity of their own."""
    await happens(memory, TEXTS[0], MONDAY)
    turn = {"content": TEXTS[0], "occurred_at": MONDAY}
    for _ in range(2):
        await memory.write_conversation([turn, {**turn, "occurred_at": MONDAY + WEEK}], session_id="s")
        async with memory.session(f"desk {MONDAY:%d}") as desk:
            await desk.append([turn])
    assert await times(memory) == [MONDAY] * 3 + [MONDAY + WEEK]


@pytest.mark.parametrize("text", ["Please plan my week", "帮我安排这周的计划"])
async def test_a_routine_is_read_off_events_told_in_the_same_words(
    memory: AsyncHindsightMemory, clock: StoppedClock, text: str
) -> None:
    clock.now = MONDAY - timedelta(hours=1)
    noise = ["mended a lamp", "sold three boats", "drew a tree", "compared maps", "counted coins", "painted the stairs"]
    for week in range(1, 13):
        await happens(memory, text, MONDAY - week * WEEK + timedelta(minutes=7 * week % 20))
        for number, each in enumerate(noise):
            hours = 24 * (number + 1) + (5 * week + 7 * number) % 11
            await happens(memory, f"{each}, number {week}", MONDAY - week * WEEK + timedelta(hours=hours))
    await memory.maintain()
    (found,) = [each for each in await memory.suggest() if each.what == text]
    assert found.window.since <= MONDAY <= found.window.until
    assert found.evidence.times == 12


async def test_a_task_that_went_well_three_times_is_a_procedure(memory: AsyncHindsightMemory) -> None:
    for day in range(3):
        await happens(
            memory, "1. Run the tests\n2. Tag the build\n3. Publish the notes", MONDAY + timedelta(days=day),
            task="Release the shop", outcome="success",
        )  # fmt: skip
        assert len((await memory.consolidate()).conclusions) == (day == 2)
    (found,) = await standing(memory, kinds=["procedural"])
    assert found.metadata["support"] == 3


async def test_what_is_noted_on_three_days_is_so(memory: AsyncHindsightMemory) -> None:
    for day in range(3):
        await happens(memory, "I keep bees behind the old mill.", MONDAY + timedelta(days=day))
    (made,) = (await memory.consolidate()).conclusions
    assert (made.content, made.support) == ("I keep bees behind the old mill.", 3)
    for _ in range(5):
        await happens(memory, "I keep bees behind the old mill.")  # says nothing new
    assert (await memory.consolidate()).conclusions == ()


WRITES = st.lists(
    st.tuples(st.sampled_from(["ran", "swam", "跑步"]), st.one_of(st.none(), st.integers(0, 3)), st.integers(1, 3)),
    max_size=12,
)


@given(writes=WRITES)
async def test_there_are_as_many_events_as_were_told(
    tmp_path_factory: pytest.TempPathFactory, writes: Sequence[tuple[str, int | None, int]]
) -> None:
    """Whatever is written and repeated in whatever order: an event for each text and time, one for a text without."""
    clock = StoppedClock()
    service = await open_service(tmp_path_factory.mktemp("events") / "m.db", clock=clock, start=False)
    told: dict[str, dict[datetime, str]] = {}
    for text, week, repeats in writes:
        at = None if week is None else MONDAY + week * WEEK
        for _ in range(repeats):
            clock.advance(seconds=3)
            (receipt,) = await service.write_many([Draft(content=text, kind="episodic", occurred_at=at)], ALICE)
            known = told.setdefault(text, {})
            if at in known or (at is None and known):
                assert not receipt.created
                assert receipt.id in known.values()
            else:
                assert receipt.created
                known[at or clock()] = receipt.id
    await kept(service, told)
    while await service._parts.indexer.step():
        pass
    await service.maintain(Maintenance())
    await kept(service, told)
    await service.close()


async def kept(service: Service, told: dict[str, dict[datetime, str]], scope: Scope = ALICE) -> None:
    found = {(each.content, each.occurred_at): each.id for each in await events(service, scope)}
    assert found == {(text, at): each for text, known in told.items() for at, each in known.items()}


async def events(service: Service, scope: Scope) -> list[Memory]:
    return [memory for _, memory in await service._parts.store.reading(scope.bank).sweep(0, 1_000)]
