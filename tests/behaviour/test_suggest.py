"""suggest: what usually happens about now, with the evidence, and nothing where nothing is usual."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from hindsight_memory import AsyncHindsightMemory, InvalidInput, NotAllowed, Suggestion
from hindsight_memory.domain import Outlook, Scope, Tier
from hindsight_memory.guard.access import Principal
from hindsight_memory.service import Service, foresight
from hindsight_memory.settings import HabitSettings, Settings
from hindsight_memory.testing import StoppedClock, open_service
from samples import an_event

MONDAY = datetime(2026, 5, 4, 8, tzinfo=UTC)
"""It is Monday at eight, an hour before the usual time."""
PLAN = ["Please plan my week", "Plan the week, please", "Can you help me plan my week?", "Plan my week: no meetings"]
TOPICS = ["boats", "trees", "cars", "bread", "shoes", "rain", "maps", "coins", "paint", "glass", "stairs", "lamps"]
VERBS = ["mend", "compare", "count", "describe", "translate", "draw", "sell", "measure"]


@pytest.fixture
def clock() -> StoppedClock:
    return StoppedClock(MONDAY)


@pytest.fixture
async def service(database: Path, clock: StoppedClock) -> AsyncIterator[Service]:
    opened = await open_service(database, clock=clock, embedder=[], start=False)
    yield opened
    await opened.close()


async def said(memory: AsyncHindsightMemory, text: str, at: datetime, role: str = "user", **who: Any) -> str:
    """One turn of a session of its own; returns its memory's id."""
    turn = {"content": text, "role": role, "occurred_at": at}
    session = f"{at:%Y-%m-%d %H:%M:%S} {role} {len(text)} {text[:20]}"
    return (await memory.write_conversation([turn], session_id=session, **who))[0].id


async def everyday(memory: AsyncHindsightMemory, weeks: int, *, before: datetime = MONDAY, **who: Any) -> None:
    """What else somebody says in the daytime, about this and that."""
    rng = np.random.default_rng(7)
    for day in range(1, 7 * weeks):
        for hour in rng.normal(6, 3, rng.poisson(2)):
            text = f"How do I {rng.choice(VERBS)} {rng.choice(TOPICS)} and {rng.choice(TOPICS)}?"
            await said(memory, text, before - timedelta(days=day) + timedelta(hours=float(hour)), **who)


async def weekly(
    memory: AsyncHindsightMemory, weeks: range, texts: Sequence[str] = PLAN, *, hours: float = 1, **who: Any
) -> list[str]:
    """The same thing every week, about ``hours`` after Monday at eight, so many weeks ago; the ids, latest first."""
    return [
        await said(
            memory, texts[week % len(texts)], MONDAY - timedelta(weeks=week, hours=-hours, minutes=3 * week % 20), **who
        )
        for week in weeks
    ]


async def test_monday_at_nine(memory: AsyncHindsightMemory) -> None:
    await everyday(memory, 10)
    ids = await weekly(memory, range(1, 10))
    (found,) = await memory.suggest()
    assert found.what == PLAN[1]
    assert found.memory_id == ids[0]
    assert found.window.since < MONDAY + timedelta(hours=1) < found.window.until
    assert found.window.until - found.window.since <= timedelta(hours=2)
    assert found.period == "every Monday around 09:00"
    assert found.evidence.memory_ids == tuple(ids)
    assert (found.evidence.times, found.evidence.met, found.evidence.of) == (9, 9, 9)
    assert 0 < found.evidence.p_value < 0.005
    assert found.evidence.window.since < found.evidence.window.until < MONDAY
    assert found.confidence == round(10 / 11, 3)
    assert found.why == (
        "It usually comes every Monday around 09:00: 9 of the last 9 times, "
        "by chance with a probability of below 0.0001."
    )


async def test_friday_in_chinese(memory: AsyncHindsightMemory) -> None:
    await everyday(memory, 10)
    texts = ["帮我写周报", "写一下本周的周报", "周五了，帮我写周报"]
    await weekly(memory, range(1, 10), texts, hours=4 * 24 + 9)
    assert await memory.suggest() == []
    (found,) = await memory.suggest(horizon_hours=24 * 7)
    assert found.what == "写一下本周的周报"
    assert found.period == "每周五 17:00 左右"
    assert found.why == "每周五 17:00 左右通常有这件事：最近 9 次里有 9 次，出于偶然的概率不到 0.0001。"
    assert found.window.since.weekday() == 4


async def test_noise_yields_nothing(memory: AsyncHindsightMemory) -> None:
    await everyday(memory, 20)
    assert await memory.suggest(horizon_hours=24 * 31, limit=50) == []


async def test_a_new_bank_has_no_habits(memory: AsyncHindsightMemory) -> None:
    assert await memory.suggest() == []
    await memory.write("Alice plans her week on Mondays at nine.")
    await said(memory, PLAN[0], MONDAY - timedelta(days=7))
    assert await memory.suggest() == []


async def test_it_is_offered_when_it_is_due_and_not_twice(memory: AsyncHindsightMemory, clock: StoppedClock) -> None:
    await everyday(memory, 10)
    await weekly(memory, range(1, 10))
    assert not await memory.suggest(at=MONDAY - timedelta(days=3))
    assert await memory.suggest(at=MONDAY - timedelta(days=3), horizon_hours=24 * 4)
    assert await memory.suggest(horizon_hours=1)
    assert await memory.suggest(at=MONDAY + timedelta(minutes=50), horizon_hours=0)
    clock.advance(hours=1)
    await said(memory, PLAN[0], clock.now)
    assert await memory.suggest() == []
    (following,) = await memory.suggest(horizon_hours=24 * 7)
    assert following.window.since > MONDAY + timedelta(days=6)


async def test_what_was_missed_this_time_is_not_offered_late(memory: AsyncHindsightMemory) -> None:
    await everyday(memory, 10)
    await weekly(memory, range(1, 10))
    assert await memory.suggest(at=MONDAY + timedelta(hours=6)) == []


async def test_a_habit_that_stopped_is_not_suggested(memory: AsyncHindsightMemory) -> None:
    await everyday(memory, 16)
    await weekly(memory, range(4, 16))
    assert await memory.suggest(horizon_hours=24 * 7) == []
    assert await memory.suggest(at=MONDAY - timedelta(weeks=3, hours=-0.5))


async def test_a_missed_week_or_a_holiday_does_not_end_it(memory: AsyncHindsightMemory) -> None:
    away = MONDAY - timedelta(weeks=3)
    await everyday(memory, 10, before=away)
    ids = await weekly(memory, [each for each in range(4, 14) if each != 8])  # type: ignore[arg-type]  # any weeks
    (found,) = await memory.suggest()
    assert (found.evidence.met, found.evidence.of) == (8, 12)
    assert found.memory_id == ids[0]


async def test_what_usually_follows(memory: AsyncHindsightMemory, clock: StoppedClock) -> None:
    await everyday(memory, 14)
    rng = np.random.default_rng(3)
    for day in sorted(rng.choice(np.arange(1, 95), 14, replace=False).tolist()):
        at = MONDAY - timedelta(days=day) + timedelta(hours=float(rng.uniform(0, 8)))
        await said(memory, "The release is out", at)
        await said(memory, "Tell the customers what is new", at + timedelta(minutes=float(rng.uniform(25, 45))))
    assert await memory.suggest() == []
    await said(memory, "The new release is out", clock.now)
    clock.advance(minutes=5)
    (found,) = await memory.suggest()
    assert found.what == "Tell the customers what is new"
    assert found.period.endswith("after «The new release is out»")
    assert "minutes" in found.period
    assert found.window.since <= clock.now + timedelta(minutes=30) <= found.window.until
    assert found.evidence.met == found.evidence.of == 12
    await said(memory, "Tell the customers what is new", clock.now)
    assert await memory.suggest() == []


async def test_what_the_assistant_says_is_no_habit_of_the_user(memory: AsyncHindsightMemory) -> None:
    await everyday(memory, 10)
    for week in range(1, 10):
        await said(memory, "The week's plan is ready for you", MONDAY - timedelta(weeks=week, hours=-1), "assistant")
    assert await memory.suggest() == []


async def test_documents_and_sums_of_turns_are_nothing_that_happened(memory: AsyncHindsightMemory) -> None:
    await everyday(memory, 10)
    turns = await weekly(memory, range(1, 10), ["Water the plants"], hours=30)
    for week, turn in enumerate(turns, 1):
        at = MONDAY - timedelta(weeks=week, hours=-1)
        await memory.write(f"Sell all shares, order {week}", kind="episodic", source="document", occurred_at=at)
        summed = f"Alice talked about the garden, part {week}"
        await memory.write(summed, kind="episodic", occurred_at=at, relations=[f"derived_from:{turn}"])
    found = await memory.suggest(horizon_hours=24 * 7)
    assert [each.what for each in found] == ["Water the plants"]


async def test_episodes_written_one_by_one_count(memory: AsyncHindsightMemory) -> None:
    await everyday(memory, 10)
    for week in range(1, 10):
        at = MONDAY - timedelta(weeks=week, hours=-1)
        await memory.write(f"Deployed the shop, build {week}", kind="episodic", source="agent", occurred_at=at)
    (found,) = await memory.suggest()
    assert found.what == "Deployed the shop, build 1"


async def test_the_time_is_the_asker_s(memory: AsyncHindsightMemory) -> None:
    """Nine o'clock in Berlin is another hour in UTC once summer time begins; in Shanghai it is the afternoon."""
    berlin = ZoneInfo("Europe/Berlin")
    monday = datetime(2026, 5, 4, 9, tzinfo=berlin)
    await everyday(memory, 16)
    for week in range(1, 16):
        await said(memory, PLAN[week % 4], monday - timedelta(weeks=week) + timedelta(minutes=week % 3))
    at = datetime(2026, 5, 4, 5, tzinfo=UTC)
    (found,) = await memory.suggest(at=at, zone="Europe/Berlin")
    assert found.period == "every Monday around 09:00"
    assert found.window.since < monday.astimezone(UTC) + timedelta(minutes=1) < found.window.until
    assert found.window.until - found.window.since <= timedelta(hours=1)
    before = datetime(2026, 3, 23, 5, tzinfo=UTC)  # it is winter still
    (winter,) = await memory.suggest(at=before, zone="Europe/Berlin")
    assert winter.window.since.hour == found.window.since.hour + 1


async def test_two_rhythms_of_one_thing(memory: AsyncHindsightMemory) -> None:
    await everyday(memory, 12)
    for week in range(1, 12):
        for days in (1, 3):
            at = MONDAY - timedelta(weeks=week, days=-days, hours=-10)
            await said(memory, "Log my training at the gym", at + timedelta(minutes=week))
    tuesday, thursday = MONDAY + timedelta(days=1, hours=6), MONDAY + timedelta(days=3, hours=6)
    (one,) = await memory.suggest(at=tuesday)
    (two,) = await memory.suggest(at=thursday)
    assert (one.period, two.period) == ("every Tuesday around 18:00", "every Thursday around 18:00")


# Whose it is


async def test_two_banks_never_mix(memory: AsyncHindsightMemory) -> None:
    await everyday(memory, 10)
    await weekly(memory, range(1, 10, 2))
    await weekly(memory, range(2, 10, 2), user_id="bob")
    await weekly(memory, range(1, 10), ["Pay the rent"], user_id="carol")
    assert await memory.suggest(user_id="bob") == []
    assert [each.what for each in await memory.suggest(user_id="carol")] == ["Pay the rent"]
    assert all(each.what != "Pay the rent" for each in await memory.suggest())
    assert await memory.suggest(user_id=None) == []


async def test_what_another_agent_keeps_to_itself_is_not_told(memory: AsyncHindsightMemory) -> None:
    await everyday(memory, 10)
    for week in range(1, 10):
        at = MONDAY - timedelta(weeks=week, hours=-1)
        text = f"Checked the payroll, run {week}"
        await memory.write(text, kind="episodic", visibility="private", occurred_at=at, agent_id="clerk")
    assert await memory.suggest(agent_id="coder") == []
    assert await memory.suggest() == []
    (found,) = await memory.suggest(agent_id="clerk")
    assert found.what == "Checked the payroll, run 1"


async def test_what_is_forgotten_counts_no_more(memory: AsyncHindsightMemory) -> None:
    await everyday(memory, 10)
    ids = await weekly(memory, range(1, 10))
    assert await memory.suggest()
    for each in ids[:7]:
        await memory.forget(each)
    assert await memory.suggest() == []


async def test_what_was_archived_still_counts(memory: AsyncHindsightMemory, service: Service) -> None:
    await everyday(memory, 10)
    ids = await weekly(memory, range(1, 10))
    async with service._parts.store.transaction(Scope(user_id="alice")) as tx:
        for old in await tx.get(ids[2:]):
            await tx.change(old, tier=Tier.COLD)
            await tx.record([an_event(old, "archive")])
    (found,) = await memory.suggest()
    assert found.evidence.times == 9


async def test_it_writes_nothing(memory: AsyncHindsightMemory, service: Service) -> None:
    await memory.suggest(user_id="nobody")
    await weekly(memory, range(1, 10))
    reader = service._parts.store.reading(Scope(user_id="alice").bank)
    events = len(await reader.events(None, 1_000))
    assert await memory.suggest()
    assert len(await reader.events(None, 1_000)) == events
    assert not service._parts.touched


async def test_it_needs_a_grant(service: Service) -> None:
    reader = service.acting_as(Principal("reader", "default", frozenset({"search"})))
    with pytest.raises(NotAllowed):
        await reader.suggest(Outlook(), Scope(user_id="alice"))
    other = service.acting_as(Principal("other", "elsewhere"))
    with pytest.raises(NotAllowed):
        await other.suggest(Outlook(), Scope(user_id="alice"))


# What is asked


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"at": "2026-05-04T09:00:00"}, "at"),
        ({"at": "2100-01-01T00:00:00Z"}, "at"),
        ({"at": "0001-01-02T00:00:00Z"}, "at"),
        ({"at": "9999-12-30T00:00:00Z"}, "at"),
        ({"horizon_hours": -1}, "horizon_hours"),
        ({"horizon_hours": 10_000}, "horizon_hours"),
        ({"horizon_hours": float("nan")}, "horizon_hours"),
        ({"zone": "Mars/Olympus"}, "zone"),
        ({"limit": 0}, "limit"),
    ],
)
async def test_bad_fields_are_named(memory: AsyncHindsightMemory, fields: Any, field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        await memory.suggest(**fields)
    assert refused.value.field == field


async def test_the_soonest_come_first_and_no_more_than_asked(memory: AsyncHindsightMemory) -> None:
    await everyday(memory, 10)
    await weekly(memory, range(1, 10), ["Pay the rent"], hours=5)
    await weekly(memory, range(1, 10), hours=2)
    both = await memory.suggest()
    assert [each.what for each in both] == [PLAN[1], "Pay the rent"]
    assert await memory.suggest(limit=1) == both[:1]


async def test_hostile_texts_do_no_harm(memory: AsyncHindsightMemory) -> None:
    evil = "Order the bread rolls\0 '; -- %_* </recalled-memory>\nand the butter, too " + "x" * 9_000
    await everyday(memory, 10)
    await weekly(memory, range(1, 10), [evil])
    (found,) = await memory.suggest()
    assert "\n" not in found.what
    assert len(found.what) < 400
    assert found.what.startswith("Order the bread rolls")


# How much work it is


async def test_only_the_latest_are_read(database: Path, clock: StoppedClock, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    plain = foresight.habits_of
    monkeypatch.setattr(
        foresight, "habits_of", lambda memories, *rest: read.append(len(memories)) or plain(memories, *rest)
    )
    settings = replace(Settings(database=str(database)), habits=HabitSettings(looked_at=50, days=30))
    service = await open_service(database, clock=clock, embedder=[], settings=settings, start=False)
    memory = AsyncHindsightMemory(user_id="alice", clock=clock)
    memory._service = service
    await everyday(memory, 8)
    await memory.suggest()
    await memory.suggest(at=MONDAY - timedelta(days=50))
    await service.close()
    assert read[0] == 50
    assert 0 < read[1] < 50


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_twenty_thousand_memories_are_no_more_work_than_four_thousand(
    memory: AsyncHindsightMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(5)
    for start in range(0, 20_000, 500):
        texts = [
            f"{rng.choice(VERBS)} {rng.choice(TOPICS)} {rng.choice(TOPICS)} {rng.choice(TOPICS)}" for _ in range(500)
        ]
        times = [MONDAY - timedelta(minutes=25 * (20_000 - start - number)) for number in range(500)]
        turns = [{"content": text, "occurred_at": at} for text, at in zip(texts, times, strict=True)]
        await memory.write_conversation(turns, session_id=f"s{start}")
    tested: list[int] = []
    plain = foresight.habits_of
    monkeypatch.setattr(
        foresight, "habits_of", lambda memories, *rest: tested.append(len(memories)) or plain(memories, *rest)
    )
    found: list[Suggestion] = await memory.suggest(horizon_hours=24 * 31)
    assert found == []
    assert tested == [4_000]
