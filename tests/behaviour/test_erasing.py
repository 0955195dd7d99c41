"""What is purged is in no byte of any file, through whichever verb it came, and the answer proves it."""

from __future__ import annotations

import json
import random
import sqlite3
import string
import sys
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from hindsight_memory import AsyncHindsightMemory, NotFound
from hindsight_memory.domain import (
    AuditCheck,
    Changes,
    Consolidation,
    Draft,
    Judgement,
    Listing,
    Maintenance,
    Message,
    Proof,
    Query,
    Scope,
    SessionState,
    StatePatch,
    Status,
    Step,
)
from hindsight_memory.guard.access import Principal
from hindsight_memory.service import Service
from hindsight_memory.settings import Settings, StoreSettings
from hindsight_memory.testing import HashEmbedder, StoppedClock, open_service
from hindsight_memory.text.tokens import stem
from samples import ALICE, BOB, an_event, found_by_words

LETTERS = st.text("bcdfghjklmnpqrtvwxz", min_size=10, max_size=10)
HANZI = st.text([chr(code) for code in range(0x7000, 0x7200)], min_size=5, max_size=5)


def raw(database: Path) -> bytes:
    return b"".join(path.read_bytes() for path in database.parent.glob(f"{database.name}*"))


def traces(database: Path, canary: str) -> list[str]:
    """In which forms a text stands in the files."""
    held = raw(database)
    forms = {"utf-8": canary.encode(), "utf-16": canary.encode("utf-16-le"), "JSON": json.dumps(canary)[1:-1].encode()}
    return [name for name, form in forms.items() if form in held and (name == "utf-8" or form != canary.encode())]


async def told(service: Service, canary: str, *, name: str, scope: Scope = ALICE) -> None:
    """Say something through every verb that takes a text, in a session and by an agent of this name."""
    at = replace(scope, session_id=f"session {name}")
    relation = f"mentions:{canary}"
    draft = Draft(
        content=f"the {canary} code of Anna", tags=(canary,), metadata={"m": {canary: canary}}, source_ref=canary,
        speaker=canary, task=canary, tools=(canary,), relations=(relation,),
    )  # fmt: skip
    first = await service.write(draft, scope)
    await service.write(replace(draft, content=f"private {canary}"), replace(at, agent_id=f"agent {name}"))
    long = Draft(content=f"about {canary}: " + "and so on, and more of it. " * 60 + f"so much for {canary}.")
    await service.write(long, scope)
    await service.update(first.id, Changes(content=f"the {canary} code of Anna and Bert", tags=(canary, "b")), scope)
    await service.feedback(
        first.id, Judgement(verdict="helpful", query=f"what is {canary}?", note=f"note {canary}"), scope
    )
    await service.write(Draft(content=f"I live in {canary}", key="fact.city"), scope)
    await service.write(Draft(content=f"I moved to {canary} again", key="fact.city"), scope)
    turns = [Message(content=f"I said {canary} {n}", speaker=canary, id=f"{canary} {n}") for n in range(3)]
    await service.write_conversation([*turns, Message(content="and nothing else")], at)
    await service.put_session(SessionState(task_goal=canary, confirmed_facts=(f"it is {canary}",)), at)
    await service.append_session([Message(content=f"We decided that {canary} does it.")], at)
    await service.patch_session(StatePatch(open_questions=(f"where is {canary}?",), discarded=(canary,)), at)
    for number in range(3):
        step = Step(tool=canary, input=f"ls {canary}", outcome="failure", error=f"no such file: {canary}",
                    output=f"{canary} {number}", task=canary)  # fmt: skip
        await service.record_step(step, at)
    await service.reflect(at, canary)
    await service.search(Query(text=f"{canary}?"), scope)
    gone = await service.write(Draft(content=f"soon forgotten {canary}"), scope)
    await service.forget(gone.id, scope, f"because {canary}")
    while await service._parts.indexer.step():
        pass
    await service.maintain(Maintenance())
    await service.consolidate(Consolidation(), scope)


@pytest.mark.slow
@settings(max_examples=4, phases=[Phase.generate])  # to shrink one would take minutes
@given(canary=st.one_of(LETTERS, HANZI))
async def test_of_a_user_nothing_is_left_in_any_file(
    tmp_path_factory: pytest.TempPathFactory, clock: StoppedClock, canary: str
) -> None:
    database = tmp_path_factory.mktemp("erased") / "memory.db"
    service = await open_service(database, clock=clock, embedder=HashEmbedder(), start=False)
    await told(service, canary, name=canary)
    his = await service.write(Draft(content="what Bob said"), BOB)
    assert "utf-8" in traces(database, canary)
    erased = await service.forget_all(ALICE, "alice")
    assert traces(database, canary) == []
    assert erased.proof is not None
    assert (erased.proof.found, erased.proof.note) == (0, "")
    assert erased.proof.samples >= 10
    assert erased.proof.bytes >= len(raw(database)) // 2
    assert (await service.get(his.id, BOB)).content == "what Bob said"
    assert await service._parts.store.check() == []
    await service.close()
    assert traces(database, canary) == []


@pytest.mark.slow
@settings(max_examples=4, phases=[Phase.generate])  # to shrink one would take minutes
@given(canary=st.one_of(LETTERS, HANZI))
async def test_of_memories_purged_one_by_one_nothing_is_left(
    tmp_path_factory: pytest.TempPathFactory, clock: StoppedClock, canary: str
) -> None:
    """Names of sessions and agents are ids: they stay in the log, as those of memories do."""
    database = tmp_path_factory.mktemp("purged") / "memory.db"
    service = await open_service(database, clock=clock, embedder=HashEmbedder(), start=False)
    await told(service, canary, name="plain")
    await service.end_session(replace(ALICE, session_id="session plain"))
    proofs = await everything_purged(service, "agent plain")
    assert len(proofs) > 10
    assert {(proof.found, proof.note) for proof in proofs} == {(0, "")}
    assert traces(database, canary) == []
    assert (await service.verify_audit(AuditCheck(), ALICE)).whole
    await service.close()
    assert traces(database, canary) == []


async def everything_purged(service: Service, *agents: str) -> list[Proof]:
    scopes = [replace(ALICE, agent_id=agent) for agent in (None, *agents)]
    proofs: list[Proof] = []
    for scope in scopes:
        for status in Status:
            for memory in (await service.list(Listing(status=status, limit=1_000), scope)).memories:
                with suppress(NotFound):  # it went with what it was read off
                    proof = (await service.purge(memory.id, scope)).proof
                    assert proof is not None
                    proofs.append(proof)
    return proofs


async def test_what_a_sessions_state_quotes_of_a_turn_goes_with_it(service: Service) -> None:
    at = replace(ALICE, session_id="s")
    await service.put_session(SessionState(task_goal="find a flat", confirmed_facts=("the rent is 900",)), at)
    said = [Message(content="We decided that Xerxes signs the lease."), Message(content="我们决定让老王签合同。")]
    for message in said:
        await service.append_session([message], at)
    before = (await service.get_session(at)).state
    assert len(before.decisions) == 2
    for memory in (await service.list(Listing(limit=9), ALICE)).memories:
        await service.purge(memory.id, ALICE)
    after = (await service.get_session(at)).state
    assert after.decisions == ()
    assert (after.task_goal, after.confirmed_facts) == ("find a flat", ("the rent is 900",))


async def test_of_two_users_with_the_same_texts_one_keeps_his(
    memory: AsyncHindsightMemory, service: Service, database: Path
) -> None:
    texts = ["the xylophonequartz code is 7", "木琴石英的密码是七", "a third thing"]
    for user in ("alice", "bob"):
        for text in texts:
            await memory.write(text, user_id=user, wait="indexed", tags=["same"], key=f"fact.k{texts.index(text)}")
    erased = await memory.forget_all(confirm="alice")
    assert erased.proof is not None
    assert (erased.proof.found, erased.proof.note) == (0, ""), "what is Bob's is not told of, and not taken for a trace"
    for text in texts:
        assert text in await found_by_words(memory, text, user_id="bob")
        assert await memory.search(text, user_id="alice") == []
    assert len((await memory.list(user_id="bob")).memories) == 3
    assert "utf-8" in traces(database, texts[0])


@pytest.mark.slow
async def test_copies_in_the_free_space_of_pages_are_found_and_taken_out(tmp_path: Path, clock: StoppedClock) -> None:
    """SQLite leaves them where a page was split; a large file is compacted only when the search says so."""
    database = tmp_path / "memory.db"
    settings = replace(Settings(database=str(database)), store=StoreSettings(compact_at_once=0))
    service = await open_service(database, clock=clock, embedder=[], settings=settings, start=False)
    chance = random.Random(7)
    words = ["".join(chance.choices(string.ascii_lowercase, k=9)) for _ in range(400)]
    drafts = [Draft(content=" ".join([f"canary{number:05d}zq", *chance.sample(words, 12)])) for number in range(120)]
    receipts = await service.write_many(drafts, ALICE)
    for number in range(0, 120, 2):
        proof = (await service.purge(receipts[number].id, ALICE)).proof
        assert proof is not None
        assert (proof.found, proof.note) == (0, "")
    left = [number for number in range(0, 120, 2) if traces(database, f"canary{number:05d}zq")]
    whole = [number for number in left if traces(database, drafts[number].content[:40])]
    assert whole == []
    assert len(left) <= 2, "a word by itself may have been left in a file that is not compacted each time"
    await service._parts.store.scrub(compact=True)
    assert [number for number in left if traces(database, f"canary{number:05d}zq")] == []
    await service.close()


async def test_a_process_that_died_before_the_files_were_scrubbed_is_made_up_for(
    tmp_path: Path, clock: StoppedClock
) -> None:
    database = tmp_path / "memory.db"
    service = await open_service(database, clock=clock, start=False)
    await service.write(Draft(content="the xylophonequartz code"), ALICE)
    (held,) = (await service.list(Listing(), ALICE)).memories
    async with service._parts.store.transaction(ALICE) as tx:
        await tx.erase([held.id])
        await tx.record([an_event(held, "purge")])
    assert traces(database, "xylophonequartz") == ["utf-8"], "in the log of writes"
    other = await open_service(database, clock=clock, start=False)
    assert (await other._parts.store.scrub()).compacted
    assert traces(database, "xylophonequartz") == []
    assert not (await other._parts.store.scrub()).compacted, "nothing is left to do"
    await other.close()
    await service.close()


async def test_a_reader_puts_it_off_and_it_is_said(tmp_path: Path, clock: StoppedClock) -> None:
    database = tmp_path / "memory.db"
    settings = replace(Settings(database=str(database)), store=StoreSettings(busy_timeout_ms=50))
    service = await open_service(database, clock=clock, settings=settings, start=False)
    receipt = await service.write(Draft(content="the xylophonequartz code"), ALICE)
    with closing(sqlite3.connect(database, isolation_level=None)) as other:
        other.execute("BEGIN")
        other.execute("SELECT count(*) FROM memories").fetchone()
        proof = (await service.purge(receipt.id, ALICE)).proof
        assert proof is not None
        assert proof.note
        assert proof.found >= 1, "the search is no form: it tells the truth"
    again = await service._parts.store.scrub(["the xylophonequartz code"])
    assert (again.found, again.note) == (0, "")
    assert traces(database, "xylophonequartz") == []
    await service.close()


async def test_nothing_of_it_stays_in_memory_either(memory: AsyncHindsightMemory, service: Service) -> None:
    receipt = await memory.write("the xylophonequartz code", wait="indexed")
    await memory.search("xylophonequartz")
    engine: Any = service._parts.store._engine  # type: ignore[attr-defined]
    assert engine._matrices._held
    await memory.purge(receipt.id)
    assert not engine._matrices._held
    for each in service._parts.finder.understand._usual:
        assert not each._recent
    ours = [
        module for name, module in sys.modules.items() if name.startswith("hindsight_memory") and "eval" not in name
    ]
    kept = [each for module in ours for each in vars(module).values() if hasattr(each, "cache_parameters")]
    own = [each for each in kept if each.__module__.startswith("hindsight_memory")]
    bounded = [each for each in own if each.cache_parameters()["maxsize"] is not None]
    assert stem in bounded
    assert {each.__name__: each.cache_info().currsize for each in bounded if each.cache_info().currsize} == {}


async def test_listing_and_search_agree_after_every_kind_of_deletion(memory: AsyncHindsightMemory) -> None:
    receipts = [await memory.write(f"xylophone number {number}", wait="indexed") for number in range(6)]
    await memory.forget(receipts[0].id)
    await memory.purge(receipts[1].id)
    await memory.forget(receipts[2].id)
    await memory.purge(receipts[2].id)
    for _ in range(2):
        listed = {each.content for each in (await memory.list()).memories}
        assert listed == {f"xylophone number {number}" for number in (3, 4, 5)}
        assert set(await found_by_words(memory, "xylophone number")) == listed
        await memory.maintain()


async def test_maintenance_leaves_no_trace_of_what_it_purges(
    memory: AsyncHindsightMemory, clock: StoppedClock, database: Path
) -> None:
    for number in range(5):
        receipt = await memory.write(f"the xylophonequartz code {number}")
        await memory.forget(receipt.id)
    await memory.maintain()
    assert traces(database, "xylophonequartz") == ["utf-8"]
    clock.advance(days=8)
    assert (await memory.maintain()).totals["purge"] == 5
    assert traces(database, "xylophonequartz") == []


async def test_a_tenant_does_not_learn_how_much_the_others_keep(service: Service) -> None:
    tenant = service.acting_as(Principal("key", namespace="default", users=frozenset({"alice"})))
    await tenant.write(Draft(content="the xylophonequartz code"), ALICE)
    proof = (await tenant.forget_all(ALICE, "alice")).proof
    assert proof is not None
    assert (proof.bytes, proof.compacted, proof.found) == (0, False, 0)
    assert proof.samples
