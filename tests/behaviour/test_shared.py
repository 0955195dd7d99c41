"""The shared bank beside one's own: read by all users of its namespace, ranked as one, written where it is named."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from behaviour.test_isolation import FEW, NAMES
from hindsight_memory import AsyncHindsightMemory, NotAllowed, NotFound, Status
from hindsight_memory.domain import Draft, Grant, Hit, Judgement, Message, Query, Scope, Step, Why
from hindsight_memory.guard.access import VERBS, Principal
from hindsight_memory.recall.pack import pack
from hindsight_memory.service import Service
from hindsight_memory.settings import RecallSettings, Settings
from hindsight_memory.store.sqlite import SQLiteReader
from hindsight_memory.testing import HashEmbedder, StoppedClock, open_service
from recall.test_pack import SETTINGS, TEXTS, lines_of
from samples import ALICE, a_memory

SHARED = replace(ALICE, user_id=None)
BOB = replace(ALICE, user_id="bob")
AWAY = Scope(namespace="away", user_id=None)
OPEN = Settings(database="", recall=RecallSettings(floor=0.0))


@pytest.fixture
async def service(database: Path, clock: StoppedClock, embedder: HashEmbedder) -> AsyncIterator[Service]:
    """With the gate open: a stand-in's vectors make nothing sure."""
    opened = await open_service(database, clock=clock, embedder=embedder, settings=OPEN)
    yield opened
    await opened.close()


def key(*grants: Grant, **fields: Any) -> Principal:
    """Whom a key of these grants speaks for."""
    verbs = frozenset[str]().union(*(VERBS[grant] for grant in grants))
    return Principal("key", "default", verbs, shared=Grant.SHARED in grants, **fields)


@pytest.mark.parametrize(
    ("question", "mine", "ours"),
    [
        ("When does the office close?", "My office hours close with lunch", "The office closes at six"),
        ("办公室几点关门？", "我的办公室靠窗", "办公室六点关门"),
    ],
)
async def test_both_are_found_and_ranked_as_one(
    memory: AsyncHindsightMemory, question: str, mine: str, ours: str
) -> None:
    own = await memory.write(mine, wait="indexed")
    shared = await memory.write(ours, user_id=None, wait="indexed")
    hits = await memory.search(question)
    assert {hit.memory.id: hit.memory.bank_id for hit in hits} == {own.id: ALICE.bank, shared.id: SHARED.bank}
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert hits[0].memory.id == shared.id
    told = await memory.explain(question, shared.id)
    assert (told.memory.id, told.score) == (shared.id, hits[0].score)
    assert (await memory.get(shared.id)).content == ours
    assert (await memory.history(shared.id)).versions[0].id == shared.id
    block = await memory.context(question)
    assert f"shared, user) {ours}" in block.text
    assert f"shared, user) {mine}" not in block.text
    assert {each.memory_id for each in block.citations} == {own.id, shared.id}


async def test_only_the_shared_bank_of_ones_own_namespace_is_read(service: Service) -> None:
    await service.write(Draft(content="The kitchen is closed on Fridays, says Bob"), BOB)
    await service.write(Draft(content="The kitchen is closed on Fridays, say others"), AWAY)
    ours = await service.write(Draft(content="The kitchen is closed on Mondays"), SHARED)
    asked = Query(text="When is the kitchen closed?")
    for scope in (ALICE, SHARED, replace(ALICE, user_id="nobody yet")):
        assert [hit.memory.id for hit in await service.search(asked, scope)] == [ours.id]
    assert await service.search(asked, replace(ALICE, namespace="a third")) == []


async def test_a_key_of_one_user_reads_it_and_one_that_may_not_read_does_not(service: Service) -> None:
    ours = await service.write(Draft(content="The kitchen is closed on Mondays"), SHARED)
    asked = Query(text="When is the kitchen closed?")
    reader = service.acting_as(key(Grant.READ, users=frozenset({"alice"})))
    assert [hit.memory.id for hit in await reader.search(asked, ALICE)] == [ours.id]
    assert (await reader.get(ours.id, ALICE)).id == ours.id
    writer = service.acting_as(key(Grant.WRITE, Grant.SHARED))
    for refused in (writer.search(asked, ALICE), writer.get(ours.id, ALICE), writer.context(asked, ALICE)):
        with pytest.raises(NotAllowed):
            await refused
    await writer.feedback(ours.id, Judgement(verdict="used"), ALICE)  # it may judge in the shared bank, and does
    with pytest.raises(NotFound):
        await writer.update(ours.id, _changes("closed on Fridays"), ALICE)


def _changes(content: str) -> Any:
    from hindsight_memory.domain import Changes

    return Changes(content=content)


async def test_what_an_agent_keeps_to_itself_there_is_its_own(memory: AsyncHindsightMemory) -> None:
    plan = {"user_id": None, "agent_id": "one", "visibility": "private"}
    hidden = await memory.write("The plan for the kitchen is secret", **plan)
    assert await memory.search("plan for the kitchen", agent_id="two") == []
    with pytest.raises(NotFound):
        await memory.get(hidden.id, agent_id="two")
    assert [hit.memory.id for hit in await memory.search("plan for the kitchen", agent_id="one")] == [hidden.id]


async def test_what_is_written_goes_to_ones_own_bank(memory: AsyncHindsightMemory, service: Service) -> None:
    ours = await memory.write("Lunch is at noon", user_id=None, key="fact.lunch")
    mine = await memory.write("Lunch is at one", key="fact.lunch")
    assert (mine.action, (await memory.get(mine.id)).bank_id) == ("added", ALICE.bank)
    for attempt in (
        memory.update(ours.id, content="Lunch is at two"),
        memory.forget(ours.id),
        memory.restore(ours.id),
        memory.feedback(ours.id, "wrong"),
        memory.feedback(ours.id, "helpful"),
        memory.resolve(keep=mine.id, over=ours.id),
        memory.purge(ours.id),
    ):
        with pytest.raises(NotFound):
            await attempt
    assert (await memory.get(ours.id)).version == 1
    assert (await memory.update(ours.id, user_id=None, content="Lunch is at two")).version == 2
    assert [each.id for each in (await memory.list()).memories] == [mine.id]


async def test_what_was_used_counts_where_it_stands(memory: AsyncHindsightMemory, service: Service) -> None:
    ours = await memory.write("Lunch is at noon", user_id=None)
    assert (await memory.feedback(ours.id, "used")).access_count == 1
    reader = service.acting_as(key(Grant.READ, Grant.WRITE))
    with pytest.raises(NotFound):
        await reader.feedback(ours.id, Judgement(verdict="used"), ALICE)
    await memory.search("when is lunch")
    await service._flush()
    assert (await memory.get(ours.id)).access_count == 2
    assert await service._parts.store.reading(ALICE.bank).get([ours.id]) == []


async def test_ones_own_value_of_a_key_goes_before_the_shared_one(memory: AsyncHindsightMemory) -> None:
    ours = await memory.write("The standup is at half past nine, at nine thirty", user_id=None, key="fact.standup")
    mine = await memory.write("Mine is at ten", key="fact.standup", wait="indexed")
    question = "When is the standup, at nine thirty?"
    assert [hit.memory.id for hit in await memory.search(question)] == [mine.id, ours.id]
    assert (await memory.context(question)).memory_ids == (mine.id,)
    assert (await memory.context(question, user_id="bob")).memory_ids == (ours.id,)


async def test_what_is_trusted_less_does_not_stand_before_what_is_shared(memory: AsyncHindsightMemory) -> None:
    ours = await memory.write("The limit of expenses is 50 euros", user_id=None, key="fact.expenses")
    evil = await memory.write("The limit of expenses is 5000 euros", key="fact.expenses", source="document")
    hits = await memory.search("What is the limit of expenses?")
    assert next(hit for hit in hits if hit.memory.id == evil.id).why.doubts[0].against == (ours.id,)
    assert (await memory.context("What is the limit of expenses?")).memory_ids == (ours.id,)


async def test_what_was_found_false_for_all_is_known_again_by_each(memory: AsyncHindsightMemory) -> None:
    lie = await memory.write("The vault code is kept by Mallory", user_id=None, source="document")
    await memory.feedback(lie.id, "wrong", user_id=None)
    await memory.write("The garden is behind the house", user_id=None)
    again = await memory.write("The vault code is kept by Mallory", source="document")
    (hit,) = [hit for hit in await memory.search("Who keeps the vault code?") if hit.memory.id == again.id]
    assert [doubt.rule for doubt in hit.why.doubts] == ["deception"]


async def test_sessions_of_two_banks_are_two(service: Service, memory: AsyncHindsightMemory) -> None:
    for scope, who in ((ALICE, "Alice"), (SHARED, "somebody")):
        said = [Message(content=f"{who} asked about the ladder"), Message(content=f"{who} found the ladder")]
        await service.write_conversation(said, replace(scope, session_id="s1"))
        await service.append_session([Message(content=f"{who} needs the ladder")], replace(scope, session_id="desk"))
    only = await memory.search("ladder", session="s1")
    assert {hit.memory.bank_id for hit in only} == {ALICE.bank}
    found = {hit.memory.content for hit in await memory.search("who needs the ladder", session_id="desk", limit=20)}
    assert "Alice needs the ladder" in found
    assert "somebody needs the ladder" not in found
    assert "somebody found the ladder" in found


async def test_a_step_that_is_stuck_is_helped_by_what_all_know(service: Service, memory: AsyncHindsightMemory) -> None:
    error = "PermissionError: cannot write /srv/data"
    await memory.write(f"{error}: run chown first", user_id=None, kind="procedural", outcome="success", tags=["error"])
    step = Step(tool="copy", input="a b", outcome="failure", error=error)
    run = replace(ALICE, session_id="run")
    await service.record_step(step, run)
    told = await service.record_step(replace(step, input="a c"), run)
    assert told.stuck
    assert [hit.memory.bank_id for hit in told.help] == [SHARED.bank]


async def test_the_one_word_that_a_small_bank_knows_is_not_the_whole_question(memory: AsyncHindsightMemory) -> None:
    for number in range(30):
        await memory.write(f"The red tractor of farm {number} was sold", kind="episodic", wait="indexed")
    mine = await memory.write("The engine of the green tractor was repaired in March", wait="indexed")
    await memory.write("Repaired shoes are in the hall", user_id=None, wait="indexed")
    hits = await memory.search("When was the engine of the green tractor repaired?")
    assert hits[0].memory.id == mine.id
    (ours,) = [hit for hit in hits if hit.memory.bank_id == SHARED.bank]
    shares = {hit.memory.id: next(s for s in hit.why.shares if s.signal == "words").value for hit in (hits[0], ours)}
    assert shares[ours.memory.id] < shares[mine.id] / 2


async def test_where_nothing_is_shared_it_is_looked_at_once(
    service: Service, memory: AsyncHindsightMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    await memory.write("The ladder is in the barn", wait="indexed")
    before = await memory.search("Where is the ladder?")
    gone = await memory.write("The ladder is in the attic", user_id=None)
    await memory.forget(gone.id, user_id=None)
    asked: list[str] = []
    plain = SQLiteReader._ask

    async def counted(self: SQLiteReader, *given: Any) -> Any:
        asked.append(self._bank_id)
        return await plain(self, *given)

    monkeypatch.setattr(SQLiteReader, "_ask", counted)
    assert await memory.search("Where is the ladder?") == before
    assert asked.count(SHARED.bank) == 1


async def test_it_can_be_left_out(database: Path, clock: StoppedClock) -> None:
    off = Settings(database="", recall=RecallSettings(floor=0.0, off=frozenset({"shared"})))
    service = await open_service(database, clock=clock, settings=off)
    ours = await service.write(Draft(content="The kitchen is closed on Mondays"), SHARED)
    assert await service.search(Query(text="kitchen"), ALICE) == []
    with pytest.raises(NotFound):
        await service.get(ours.id, ALICE)
    assert [hit.memory.id for hit in await service.search(Query(text="kitchen"), SHARED)] == [ours.id]
    await service.close()


async def test_what_is_forgotten_or_in_quarantine_there_is_found_by_nobody(memory: AsyncHindsightMemory) -> None:
    gone = await memory.write("The kitchen is closed on Mondays", user_id=None)
    wrong = await memory.write("The kitchen is open at night", user_id=None)
    await memory.forget(gone.id, user_id=None)
    assert (await memory.feedback(wrong.id, "wrong", user_id=None)).status is Status.QUARANTINED
    assert await memory.search("kitchen") == []
    with pytest.raises(NotFound):
        await memory.get(gone.id)


@given(st.lists(TEXTS, min_size=1, max_size=4))
def test_whatever_is_shared_is_one_line_that_says_so(texts: list[str]) -> None:
    hits = [Hit(a_memory(text, SHARED), 1.0, 0.9, Why("", (), ())) for text in texts]
    found = lines_of(pack(hits, 100_000, SETTINGS, []).text)
    assert [each["speaker"] for each in found] == ["shared"] * len(found)  # where a speaker would stand


@pytest.mark.slow
@FEW
@given(
    users=st.lists(NAMES, min_size=1, max_size=3, unique=True),
    namespaces=st.lists(NAMES, min_size=1, max_size=2, unique=True),
    limit=st.integers(1, 50),
)
def test_no_row_of_a_third_bank_comes_back(tmp_path: Path, users: list[str], namespaces: list[str], limit: int) -> None:
    asyncio.run(_no_third_bank(tmp_path, users, namespaces, limit))


async def _no_third_bank(tmp_path: Path, users: list[str], namespaces: list[str], limit: int) -> None:
    with tempfile.TemporaryDirectory(dir=tmp_path) as folder:
        service = await open_service(Path(folder, "memory.db"), clock=StoppedClock(), settings=OPEN, start=False)
        scopes = [Scope(namespace=name, user_id=user) for name in namespaces for user in (*users, None)]
        ids: dict[str, set[str]] = {}
        for scope in scopes:
            drafts = [Draft(content=f"The milk of bank {number} is in the fridge") for number in range(3)]
            ids[scope.bank] = {receipt.id for receipt in await service.write_many(drafts, scope)}
        for scope in scopes:
            allowed = ids[scope.bank] | ids[replace(scope, user_id=None).bank]
            hits = await service.search(Query(text="Where is the milk?", limit=limit), scope)
            found = {hit.memory.id for hit in hits}
            assert found <= allowed
            assert all(hit.memory.id in ids[hit.memory.bank_id] for hit in hits)
            assert limit < len(allowed) or found == allowed
            block = await service.context(Query(text="Where is the milk?"), scope)
            assert set(block.memory_ids) <= allowed
            for other in {each for held in ids.values() for each in held} - allowed:
                with pytest.raises(NotFound):
                    await service.get(other, scope)
        await service.close()
