"""An agent beside the user: what it changes of what the user said waits for the user, and takes nothing's place."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from hindsight_memory import AsyncHindsightMemory, Conflict, NotAllowed, Source, Status
from hindsight_memory.domain import Changes, Draft, Grant, Judgement
from hindsight_memory.guard.access import VERBS, Principal
from hindsight_memory.service import Service
from hindsight_memory.testing import StoppedClock
from samples import ALICE

BOT: dict[str, Any] = {"agent_id": "bot"}
_VERBS = VERBS[Grant.READ] | VERBS[Grant.WRITE]
WITHOUT = Principal("key", "default", _VERBS)
VOUCHING = Principal("owner", "default", _VERBS | VERBS[Grant.VOUCH])


@pytest.mark.parametrize(
    ("said", "other"), [("The office is in Lisbon", "in Porto"), ("办公室在里斯本", "办公室在波尔图")]
)
async def test_its_other_words_are_kept_beside_and_asked_about(
    memory: AsyncHindsightMemory, said: str, other: str
) -> None:
    mine = await memory.write(said)
    beside = await memory.update(mine.id, content=other, metadata={"why": "a page"}, **BOT)
    assert (beside.content, beside.source, beside.trust, beside.status) == (other, "agent", 0.8, Status.ACTIVE)
    assert beside.metadata == {"why": "a page"}
    held = await memory.get(mine.id)
    assert (held.content, held.trust, held.version, held.metadata) == (said, 1.0, 1, {})
    assert await memory.update(mine.id, content=other, **BOT) == beside, "said twice, it is said once"
    (pair,) = await memory.contradictions()
    assert (pair.new.id, pair.old.id) == (beside.id, mine.id)
    history = await memory.history(mine.id)
    assert {(edge.type, edge.from_id, edge.to_id) for edge in history.relations} == {
        ("contradicts", beside.id, mine.id)
    }


async def test_the_user_settles_it_either_way(memory: AsyncHindsightMemory) -> None:
    mine = await memory.write("The office is in Lisbon")
    beside = await memory.update(mine.id, content="The office is in Porto", **BOT)
    with pytest.raises(NotAllowed):
        await memory.resolve(keep=beside.id, over=mine.id, **BOT)
    assert (await memory.resolve(keep=beside.id, over=mine.id)).id == beside.id
    assert (await memory.get(mine.id)).superseded_by == beside.id
    assert await memory.contradictions() == []
    other = await memory.write("The lake is deep")
    claim = await memory.update(other.id, content="The lake is dry", **BOT)
    assert (await memory.resolve(keep=other.id, over=claim.id)).id == other.id
    assert (await memory.get(other.id)).status is Status.ACTIVE


async def test_the_value_of_a_key_stays_the_users(memory: AsyncHindsightMemory) -> None:
    mine = await memory.write("Lisbon", key="profile.home_city")
    beside = await memory.update(mine.id, content="Porto", **BOT)
    assert beside.key == "profile.home_city"
    assert (await memory.get(mine.id)).status is Status.ACTIVE
    said = await memory.write("Braga", key="profile.home_city")
    assert set(said.related) == {mine.id, beside.id}, "the user's next word replaces all that stands there"


async def test_an_agent_that_passes_on_the_users_correction_says_so(memory: AsyncHindsightMemory) -> None:
    mine = await memory.write("The office is in Lisbon")
    changed = await memory.update(mine.id, content="The office is in Porto", source="user", **BOT)
    assert (changed.id, changed.trust, changed.version) == (mine.id, 1.0, 2)
    assert await memory.contradictions() == []


async def test_what_is_trusted_no_more_than_it_an_agent_corrects(memory: AsyncHindsightMemory) -> None:
    for source in ("agent", "tool", "document"):
        held = await memory.write(f"What the {source} said", source=source)
        changed = await memory.update(held.id, content=f"What the {source} meant", **BOT)
        assert (changed.id, changed.version) == (held.id, 2)
    held = await memory.write("The bridge is closed", source="agent")
    beside = await memory.update(held.id, content="The bridge is open", source="document", **BOT)
    assert (beside.id != held.id, beside.source, beside.trust) == (True, "document", 0.5)


async def test_what_an_agent_keeps_to_itself_it_changes_as_it_likes(memory: AsyncHindsightMemory) -> None:
    own = await memory.write("The plan is A", visibility="private", **BOT)
    changed = await memory.update(own.id, content="The plan is B", **BOT)
    assert (changed.id, changed.content, changed.trust) == (own.id, "The plan is B", 0.8)


async def test_what_cannot_be_kept_beside_is_refused(memory: AsyncHindsightMemory) -> None:
    mine = await memory.write("The office is in Lisbon", key="fact.office")
    for changes in (
        {"key": "fact.other"},
        {"valid_until": "2031-01-01T00:00:00Z"},
        {"expires_at": "2031-01-01T00:00Z"},
    ):
        with pytest.raises(NotAllowed):
            await memory.update(mine.id, **changes, **BOT)
        with pytest.raises(NotAllowed):
            await memory.update(mine.id, content="x", **changes, **BOT)
    await memory.write("The office is in Porto", key="fact.office")
    with pytest.raises(NotAllowed):
        await memory.update(mine.id, content="The office was in Faro", **BOT)
    assert (await memory.get(mine.id)).content == "The office is in Lisbon"


async def test_what_says_nothing_else_is_a_change_like_any(memory: AsyncHindsightMemory) -> None:
    mine = await memory.write("The office is in Lisbon", key="fact.office")
    same: dict[str, Any] = {"content": "The office is in Lisbon", "key": "fact.office", "tags": ["work"]}
    changed = await memory.update(mine.id, **same, **BOT)
    assert (changed.id, changed.tags, changed.trust) == (mine.id, ("work",), 1.0)
    with pytest.raises(Conflict):
        await memory.update(mine.id, content="The office is in Porto", version=1, **BOT)


async def test_the_users_own_word_is_changed_by_the_user_and_who_may_vouch(
    memory: AsyncHindsightMemory, service: Service
) -> None:
    mine = await memory.write("The office is in Lisbon")
    assert (await memory.update(mine.id, content="The office is in Porto")).version == 2
    owner = service.acting_as(VOUCHING)
    assert (await owner.update(mine.id, Changes(content="The office is in Braga"), ALICE)).version == 3
    bot = replace(ALICE, agent_id="bot")
    assert (await owner.update(mine.id, Changes(content="The office is in Faro"), bot)).id != mine.id
    assert (
        await owner.update(mine.id, Changes(content="The office is in Evora", source=Source.USER), bot)
    ).id == mine.id


# What was taken out


async def test_what_the_user_took_out_an_agent_does_not_bring_back(
    memory: AsyncHindsightMemory, service: Service
) -> None:
    gone = await memory.write("The lake is deep")
    wrong = await memory.write("My sister plays chess")
    old = await memory.write("The bakery opens at six")
    await memory.forget(gone.id)
    await memory.feedback(wrong.id, "wrong")
    await memory.feedback(old.id, "outdated")
    caller = service.acting_as(WITHOUT)
    for memory_id in (gone.id, wrong.id, old.id):
        with pytest.raises(NotAllowed):
            await memory.restore(memory_id, **BOT)
        with pytest.raises(NotAllowed):
            await caller.restore(memory_id, ALICE)
    for memory_id in (gone.id, wrong.id, old.id):
        assert (await memory.restore(memory_id)).status is Status.ACTIVE


async def test_what_agents_took_out_they_bring_back(memory: AsyncHindsightMemory) -> None:
    gone = await memory.write("I live in Lisbon")
    await memory.forget(gone.id, **BOT)
    assert (await memory.restore(gone.id, agent_id="another")).status is Status.ACTIVE
    await memory.feedback(gone.id, "wrong", source="user", **BOT)
    with pytest.raises(NotAllowed):
        await memory.restore(gone.id, agent_id="another")
    assert (await memory.restore(gone.id, **BOT)).status is Status.ACTIVE, "it takes its own deed back"


async def test_what_time_took_an_agent_brings_back(memory: AsyncHindsightMemory, clock: StoppedClock) -> None:
    kept = await memory.write("The parcel comes today", expires_at="2026-05-04T12:00:00Z")
    clock.advance(days=1)
    await memory.maintain()
    assert (await memory.restore(kept.id, **BOT)).status is Status.ACTIVE


# What is called wrong


async def test_an_agents_wrong_puts_it_before_the_user_and_takes_nothing_out(memory: AsyncHindsightMemory) -> None:
    mine = await memory.write("The office is in Lisbon")
    await memory.feedback(mine.id, "wrong", note="the page says Porto", **BOT)
    assert [hit.memory.id for hit in await memory.search("office")] == [mine.id]
    (held,) = (await memory.review()).held
    assert (held.memory.id, held.verb, held.actor) == (mine.id, "feedback", "bot")
    assert held.reasons == ("wrong", "the page says Porto")
    await memory.restore(mine.id, **BOT)
    assert len((await memory.review()).held) == 1, "an agent does not settle it"
    assert (await memory.restore(mine.id)).doubted == 0
    assert (await memory.review()).held == ()
    assert (await memory.get(mine.id)).trust == 1.0


async def test_a_key_that_may_not_vouch_judges_as_an_agent(memory: AsyncHindsightMemory, service: Service) -> None:
    mine = await memory.write("The office is in Lisbon")
    caller = service.acting_as(WITHOUT)
    for source in (None, Source.USER):
        judged = await caller.feedback(mine.id, Judgement(verdict="wrong", source=source, query=str(source)), ALICE)
        assert (judged.status, judged.trust) == (Status.ACTIVE, 1.0)
    owner = service.acting_as(VOUCHING)
    assert (await owner.feedback(mine.id, Judgement(verdict="wrong"), ALICE)).status is Status.QUARANTINED


async def test_the_queue_pages_through_both_kinds(memory: AsyncHindsightMemory, clock: StoppedClock) -> None:
    ids = []
    for number in range(6):
        clock.advance(seconds=1)
        ids.append((await memory.write(f"Basket {number} is for the market")).id)
    for place, memory_id in enumerate(ids):
        await memory.feedback(memory_id, "wrong", **({} if place % 2 else BOT))
    found: list[str] = []
    after: str | None = None
    while True:
        page = await memory.review(limit=2, after=after)
        found += [held.memory.id for held in page.held]
        if (after := page.next) is None:
            break
    assert found == ids[::-1]


async def test_anothers_private_memory_is_not_told_of(memory: AsyncHindsightMemory, service: Service) -> None:
    own = replace(ALICE, agent_id="one")
    hidden = await service.write(Draft(content="My plan", visibility="private"), own)
    await service.feedback(hidden.id, Judgement(verdict="wrong", source="agent"), own)
    assert (await memory.review()).held == ()
    assert len((await memory.review(agent_id="one")).held) == 1
