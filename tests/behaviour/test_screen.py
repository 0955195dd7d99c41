"""The screen at every entrance: what the policy does not leave is nowhere, not in the file and not in the logs."""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hindsight_memory import AsyncHindsightMemory, InvalidInput, NotAllowed
from hindsight_memory.domain import (
    Action,
    Draft,
    Judgement,
    Message,
    Outcome,
    Role,
    Scope,
    SessionState,
    Source,
    StatePatch,
    Status,
    Step,
)
from hindsight_memory.guard.access import Principal
from hindsight_memory.service import Service
from hindsight_memory.testing import HashEmbedder
from samples import ALICE

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
PHONE = "13812345678"
PASSWORD = "Tr0ub4dor99"
SAID = f"记一下token{TOKEN}，手机{PHONE}，密码是{PASSWORD}。"
RAW = (TOKEN, PHONE, PASSWORD)
TALK = Scope(user_id="alice", session_id="s")

Entrance = Callable[[AsyncHindsightMemory, Service, Path], Awaitable[Any]]


async def write(memory: AsyncHindsightMemory, service: Service, tmp: Path) -> Any:
    return await memory.write(SAID, wait="indexed")


async def every_field(memory: AsyncHindsightMemory, service: Service, tmp: Path) -> Any:
    given: dict[str, Any] = {
        "key": f"fact.{PHONE}",
        "tags": [PHONE, TOKEN],
        "metadata": {PHONE: [{"deep": SAID}], "plain": 3},
        "source_ref": f"https://x.example/?token={TOKEN}&phone={PHONE}",
        "speaker": f"Li {PHONE}",
        "task": SAID,
        "tools": [TOKEN],
        "relations": [f"mentions:{PHONE}"],
    }
    return await memory.write("The plan of the week", wait="indexed", **given)


async def write_many(memory: AsyncHindsightMemory, service: Service, tmp: Path) -> Any:
    return await service.write_many([Draft(content="Bees"), Draft(content=SAID)], ALICE)


async def long_text(memory: AsyncHindsightMemory, service: Service, tmp: Path) -> Any:
    return await memory.write(f"{SAID}\n" + "The build ran on the old server and took long. " * 20, wait="indexed")


async def conversation(memory: AsyncHindsightMemory, service: Service, tmp: Path) -> Any:
    talk = [
        Message(content=SAID, speaker=f"Li {PHONE}", metadata={"m": SAID}, id=PHONE),
        Message(content=SAID, role=Role.TOOL),
        Message(content=f"I like my phone {PHONE}.", role=Role.ASSISTANT),
    ]
    receipts = await service.write_conversation(talk, TALK)
    await service._parts.indexer.finish(ALICE.bank, [each.id for each in receipts], 5)
    return receipts


async def import_file(memory: AsyncHindsightMemory, service: Service, tmp: Path) -> Any:
    lines = [{"role": "user", "content": SAID, "timestamp": "2026-05-04T09:00:00Z"}]
    (tmp / "talk.jsonl").write_text("\n".join(json.dumps(each) for each in lines))
    report = await memory.import_file(tmp / "talk.jsonl")
    assert report.turns == 1
    return report


async def session(memory: AsyncHindsightMemory, service: Service, tmp: Path) -> Any:
    await service.put_session(SessionState(task_goal=SAID, confirmed_facts=(SAID,)), TALK)
    await service.patch_session(StatePatch(current_step=SAID, open_questions=(SAID,), decisions=(SAID,)), TALK)
    await service.append_session([Message(content=f"The task is: {SAID}"), Message(content=f"Decided: {SAID}")], TALK)
    await service._parts.sessions.note(StatePatch(discarded=(f"no {SAID}",)), TALK, "model")
    return await service.get_session(TALK)


async def steps(memory: AsyncHindsightMemory, service: Service, tmp: Path) -> Any:
    for outcome in (Outcome.FAILURE, Outcome.FAILURE, Outcome.SUCCESS):
        step = Step(
            tool="bash", input=f"curl -H 'x: {TOKEN}' {PHONE}", outcome=outcome, output=SAID, task=SAID, id=None,
            error=SAID if outcome is Outcome.FAILURE else "",
        )  # fmt: skip
        recorded = await service.record_step(step, TALK)
    await service.reflect(TALK)
    await service.reflect(Scope(user_id="alice"), task=SAID)
    return recorded


async def update(memory: AsyncHindsightMemory, service: Service, tmp: Path) -> Any:
    receipt = await memory.write("The plan")
    await memory.update(receipt.id, content=SAID, tags=[PHONE], metadata={"a": SAID})
    return await memory.update(receipt.id, content=f"{SAID} again", key=f"fact.{PHONE}")


async def reasons(memory: AsyncHindsightMemory, service: Service, tmp: Path) -> Any:
    first, second = await memory.write("The plan"), await memory.write("The map")
    await service.feedback(first.id, Judgement(verdict="helpful", query=SAID, note=SAID), ALICE)
    await memory.forget(first.id, reason=SAID)
    return await memory.purge(second.id, reason=SAID)


ENTRANCES: list[Entrance] = [
    write, every_field, write_many, long_text, conversation, import_file, session, steps, update, reasons
]  # fmt: skip


def bytes_of(database: Path) -> bytes:
    return b"".join(path.read_bytes() for path in database.parent.glob(f"{database.name}*"))


@pytest.mark.parametrize("entrance", ENTRANCES, ids=lambda each: each.__name__)
async def test_nothing_that_is_secret_comes_in(
    entrance: Entrance,
    memory: AsyncHindsightMemory,
    service: Service,
    database: Path,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    with caplog.at_level(logging.DEBUG):
        answer = await entrance(memory, service, folder)
        await service._parts.store.scrub()
    held, logged = bytes_of(database), caplog.text
    for raw in RAW:
        assert raw.encode() not in held
        assert raw not in logged
        assert raw not in str(answer)


async def test_what_is_left_can_be_found_and_the_receipt_says_what_was_seen(
    memory: AsyncHindsightMemory, service: Service
) -> None:
    receipt = await memory.write(SAID, wait="indexed")
    assert [(each.rule, each.note, SAID[each.start : each.end]) for each in receipt.findings] == [
        ("github_token", "redact", TOKEN),
        ("phone", "mask", PHONE),
        ("password", "redact", PASSWORD),
    ]
    held = await memory.get(receipt.id)
    assert held.content == "记一下token[redacted:github_token]，手机138****5678，密码是[redacted:password]。"
    assert [hit.memory.id for hit in await memory.search("手机")] == [receipt.id]
    (event,) = await service._parts.store.reading(ALICE.bank).events(receipt.id, 5)
    assert event.detail["findings"] == ["github_token", "password", "phone"]
    again = await memory.write(SAID)
    assert (again.id, again.created) == (receipt.id, False)


async def test_messages_whose_ids_are_masked_alike_stay_apart(service: Service) -> None:
    talk = [Message(content=f"number {each}", id=each) for each in ("13812345678", "13899995678")]
    first = await service.write_conversation(talk, TALK)
    assert [each.created for each in first] == [True, True]
    again = await service.write_conversation(talk, TALK)
    assert [each.id for each in again] == [each.id for each in first]


@pytest.mark.parametrize(
    "rules",
    [{"phone": "reject"}, {"personal": "reject"}],
)
async def test_a_bank_may_refuse_a_type_and_then_nothing_is_stored(
    memory: AsyncHindsightMemory, service: Service, database: Path, rules: dict[str, str]
) -> None:
    await memory.policy(rules)
    for fields in ({"content": f"call {PHONE}"}, {"content": "x y", "tags": [PHONE]}):
        with pytest.raises(InvalidInput) as error:
            await memory.write(**fields)
        assert error.value.field == ("tags" if "tags" in fields else "content")
        assert "phone" in str(error.value)
        assert PHONE not in str(error.value)
    with pytest.raises(InvalidInput):
        await service.write_many([Draft(content="Bees"), Draft(content=PHONE)], ALICE)
    assert (await memory.list()).memories == ()
    receipts = await service.write_conversation([Message(content="Hello Berlin"), Message(content=PHONE)], TALK)
    assert [each.action for each in receipts] == [Action.ADDED, Action.REJECTED]
    for verb in (
        service.put_session(SessionState(task_goal=PHONE), TALK),
        service.record_step(Step(tool="bash", input=f"phone {PHONE}", outcome=Outcome.SUCCESS), TALK),
        memory.update(receipts[0].id, content=PHONE),
    ):
        with pytest.raises(InvalidInput):
            await verb
    await service._parts.store.scrub()
    assert PHONE.encode() not in bytes_of(database)


async def test_each_bank_has_its_own_rules_and_takes_them_back(memory: AsyncHindsightMemory) -> None:
    found = await memory.policy({"phone": "allow", "secrets": "allow"})
    assert found.own == {"phone": "allow", "secrets": "allow"}
    assert (found.handling["phone"], found.handling["github_token"], found.handling["email"]) == (
        "allow",
        "allow",
        "mask",
    )
    mine, his = await memory.write(SAID), await memory.write(SAID, user_id="bob")
    assert (await memory.get(mine.id)).content == SAID
    assert TOKEN not in (await memory.get(his.id, user_id="bob")).content
    found = await memory.policy({"phone": None})
    assert found.own == {"secrets": "allow"}
    assert found.handling["phone"] == "mask"


@pytest.mark.parametrize("rules", [{"phne": "mask"}, {"phone": "hide"}, {"phone": 3}])
async def test_a_rule_that_is_none_is_an_error(memory: AsyncHindsightMemory, rules: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput) as error:
        await memory.policy(rules)
    assert error.value.field == "rules"
    assert (await memory.policy()).own == {}


async def test_who_may_not_set_rules_may_read_them(service: Service) -> None:
    reader = service.acting_as(Principal("reader", "default", frozenset({"get"})))
    assert (await reader.policy(ALICE)).handling["phone"] == "mask"
    for verb in (reader.policy(ALICE, {"phone": "allow"}), reader.scan(_scan(), ALICE)):
        with pytest.raises(NotAllowed):
            await verb


def _scan(**fields: Any) -> Any:
    from hindsight_memory.domain import Scan

    return Scan(**fields)


async def before_the_guards(memory: AsyncHindsightMemory, service: Service) -> list[str]:
    """Memories of every kind, stored while the bank allowed everything; the rule is taken back then."""
    await memory.policy({"personal": "allow", "secrets": "allow"})
    single = await memory.write(SAID, tags=[PHONE], metadata={"m": SAID}, speaker=PHONE, wait="indexed")
    await memory.update(single.id, content=f"{SAID} Bees.")
    forgotten = await memory.write(f"forgotten {SAID}")
    await memory.forget(forgotten.id)
    private = await memory.write(f"private {SAID}", agent_id="coder", visibility="private")
    old = await memory.write(f"old {SAID}", key="fact.old")
    await memory.write(f"new {SAID}", key="fact.old")
    turns = await service.write_conversation([Message(content=SAID), Message(content="And the garden is green")], TALK)
    long = await memory.write(f"{SAID} " + "The build ran on the old server and took long. " * 20, wait="indexed")
    same = [await memory.write(f"Li: {number}") for number in (PHONE, "13899995678")]
    await memory.write("Nothing to see")
    await memory.policy({"personal": None, "secrets": None})
    return [each.id for each in (single, forgotten, private, old, turns[0], long, *same)]


async def test_a_scan_leaves_nothing_behind(
    memory: AsyncHindsightMemory, service: Service, database: Path, embedder: HashEmbedder
) -> None:
    ids = await before_the_guards(memory, service)
    await service._parts.store.scrub()
    assert TOKEN.encode() in bytes_of(database)

    looked = await memory.scan(dry_run=True)
    assert set(ids) <= set(looked.memory_ids)
    assert looked.next is None
    await service._parts.store.scrub()
    assert TOKEN.encode() in bytes_of(database)

    embedder.asked.clear()
    after, changed = None, []
    while True:
        step = await memory.scan(limit=3, after=after)
        assert step.looked <= 3
        changed += step.memory_ids
        after = step.next
        if after is None:
            break
    assert set(ids) <= set(changed)
    held = bytes_of(database)
    for raw in RAW:
        assert raw.encode() not in held

    assert (await memory.scan()).memory_ids == ()
    found = await memory.get(ids[0])
    assert found.content.startswith("记一下token[redacted:github_token]")
    assert found.metadata == {"m": "记一下token[redacted:github_token]，手机138****5678，密码是[redacted:password]。"}
    assert ids[0] in [hit.memory.id for hit in await memory.search("Bees")]
    assert (await memory.restore(ids[1])).status is Status.ACTIVE
    reader = service._parts.store.reading(ALICE.bank)
    await service._parts.indexer.finish(ALICE.bank, ids, 5)
    assert any("[redacted:github_token]" in text for text in embedder.asked)
    assert not any(TOKEN in text for text in embedder.asked)
    assert "scan" in [each.verb for each in await reader.events(ids[0], 5)]


async def test_a_scan_quarantines_what_is_suspicious_and_restore_says_it_may_stand(
    memory: AsyncHindsightMemory, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    receipt = await memory.write("The lake is deep")
    with monkeypatch.context() as patch:
        _suspect(patch, "lake", 0.95)
        scanned = await memory.scan()
        assert scanned.quarantined == (receipt.id,)
        assert (await memory.get(receipt.id)).status is Status.QUARANTINED
        assert await memory.search("lake") == []
        await memory.restore(receipt.id)
        assert (await memory.scan()).quarantined == ()


def _suspect(patch: pytest.MonkeyPatch, word: str, score: float = 0.6) -> None:
    """Have the guards suspect whatever holds a word: how they know is another's test."""
    from hindsight_memory.domain import Finding
    from hindsight_memory.guard import screen
    from hindsight_memory.guard.suspicion import Suspicion
    from hindsight_memory.ingest import rescreen

    def weigh(text: str, source: Source) -> Suspicion:
        place = text.find(word)
        return Suspicion() if place < 0 else Suspicion(score, (Finding("test", place, place + len(word)),))

    for module in (screen, rescreen):
        patch.setattr(module, "weigh", weigh)


async def test_what_is_suspicious_waits_and_is_not_found_nor_changes_anything(
    memory: AsyncHindsightMemory, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = await memory.write("Berlin", key="fact.city", wait="indexed")
    _suspect(monkeypatch, "Rome", 0.95)
    receipt = await memory.write("Rome", key="fact.city", relations=["mentions:Rome"], wait="indexed")
    assert (receipt.action, receipt.created, receipt.findings[0].rule) == (Action.QUARANTINED, True, "test")
    assert await memory.search("Rome") == [] or receipt.id not in [hit.memory.id for hit in await memory.search("Rome")]
    assert (await memory.get(held.id)).status is Status.ACTIVE
    again = await memory.write("Rome", key="fact.city")
    assert (again.id, again.action, again.created) == (receipt.id, Action.QUARANTINED, False)
    receipts = await service.append_session(
        [Message(content="Decided: Rome."), Message(content="Decided: Oslo.")], TALK
    )
    assert [each.action for each in receipts.receipts] == [Action.QUARANTINED, Action.ADDED]
    assert "Rome" not in str(receipts.state)
    assert "Oslo" in str(receipts.state)
    assert "Rome" not in str((await service.get_session(TALK)).messages)
    with pytest.raises(InvalidInput):
        await memory.update(held.id, content="Rome")


async def test_what_is_plainly_an_attack_is_refused(
    memory: AsyncHindsightMemory, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    _suspect(monkeypatch, "Rome", 0.95)
    with pytest.raises(InvalidInput) as error:
        await memory.write("To Rome", tags=["a"], source="document")
    assert error.value.field == "content"
    assert "test" in error.value.message
    told = [Message(content="To Rome", role=Role.TOOL), Message(content="To Oslo", role=Role.TOOL)]
    receipts = await service.write_conversation(told, TALK)
    assert [each.action for each in receipts] == [Action.REJECTED, Action.ADDED]
    assert receipts[0].findings[0].rule == "test"


async def test_the_user_s_own_words_are_never_refused_and_others_wait_sooner(
    memory: AsyncHindsightMemory, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    _suspect(monkeypatch, "Rome", 0.8)
    assert (await memory.write("To Rome")).action is Action.ADDED
    assert (await memory.write("From Rome", source="agent")).action is Action.QUARANTINED
    clerk = service.acting_as(Principal("clerk", verbs=frozenset({"write"})))
    assert (await clerk.write(Draft(content="Via Rome"), ALICE)).action is Action.QUARANTINED
    _suspect(monkeypatch, "Rome", 0.99)
    assert (await memory.write("Rome again")).action is Action.QUARANTINED


async def test_an_import_goes_on_past_what_is_refused_and_says_so(memory: AsyncHindsightMemory, tmp_path: Path) -> None:
    await memory.policy({"phone": "reject"})
    lines = [{"role": "user", "content": text} for text in ("I keep bees", f"call {PHONE}", "They make honey")]
    (tmp_path / "talk.jsonl").write_text("\n".join(json.dumps(each) for each in lines))
    report = await memory.import_file(tmp_path / "talk.jsonl")
    assert (report.created, [each.reason for each in report.skipped]) == (
        2,
        ["The guards refused 1 of its turns: phone."],
    )
    assert {each.content for each in (await memory.list()).memories} >= {"I keep bees", "They make honey"}


async def test_a_look_back_names_its_task_as_it_was_stored(service: Service) -> None:
    task = f"Call {PHONE}"
    step = Step(tool="dial", input="now", outcome=Outcome.SUCCESS, task=task)
    await service.record_step(step, TALK)
    reflection = await service.reflect(Scope(user_id="alice"), task=task)
    assert (reflection.task, reflection.steps) == ("Call 138****5678", 1)


async def test_a_scan_looks_at_the_names_that_relations_lead_to(
    memory: AsyncHindsightMemory, service: Service, database: Path
) -> None:
    await memory.policy({"personal": "allow", "secrets": "allow"})
    other = await memory.write("The garden is green")
    relations = [f"mentions:{PHONE}", f"supports:{other.id}", "mentions:Bees"]
    receipt = await memory.write("The hive is full", relations=relations)
    await memory.policy({"personal": None, "secrets": None})
    reader = service._parts.store.reading(ALICE.bank)
    dry = await memory.scan(dry_run=True)
    assert (dry.memory_ids, dict(dry.found)) == ((receipt.id,), {"phone": 1})
    assert PHONE in {edge.to_id for edge in await reader.relations([receipt.id])}
    assert (await memory.scan()).memory_ids == (receipt.id,)
    after = {(edge.type, edge.to_id) for edge in await reader.relations([receipt.id])}
    assert after == {("mentions", "138****5678"), ("supports", other.id), ("mentions", "bees")}
    assert PHONE.encode() not in bytes_of(database), "nor in the log"
    assert (await memory.scan()).memory_ids == ()


async def test_a_scan_looks_at_the_states_of_running_sessions(
    memory: AsyncHindsightMemory, service: Service, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await memory.policy({"personal": "allow", "secrets": "allow"})
    state = SessionState(task_goal=f"Call {PHONE}", confirmed_facts=(SAID, "The lake is deep"), decisions=("Go",))
    await service.put_session(state, TALK)
    await service.put_session(SessionState(task_goal="Nothing to see"), replace(TALK, session_id="other"))
    await memory.policy({"personal": None, "secrets": None})
    with monkeypatch.context() as patch:
        _suspect(patch, "lake", 0.95)
        dry = await memory.scan(dry_run=True)
        assert dry.session_ids == (TALK.session_id,)
        assert (await service.get_session(TALK)).state == state
        scanned = await memory.scan()
        assert scanned.session_ids == (TALK.session_id,)
        assert scanned.found == dry.found
        assert scanned.found["test"] == 1
        assert (await memory.scan()).session_ids == ()
    after = await service.get_session(TALK)
    assert after.version == 2
    assert after.state.task_goal == "Call 138****5678"
    (fact,) = after.state.confirmed_facts
    assert "[redacted:github_token]" in fact
    assert after.state.decisions == ("Go",)
    held = bytes_of(database)
    for raw in RAW:
        assert raw.encode() not in held
    (event, *_) = await service._parts.store.reading(ALICE.bank).events(None, 1)
    assert (event.verb, event.memory_id, event.detail["session"]) == ("scan", None, TALK.session_id)


async def test_what_is_let_in_comes_with_its_relations(
    memory: AsyncHindsightMemory, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = await memory.write("The Tiber flows through the city", wait="indexed")
    with monkeypatch.context() as patch:
        _suspect(patch, "Rome", 0.95)
        relations = [f"contradicts:{mine.id}", "mentions:Ostia"]
        receipt = await memory.write("Rome lies inland", relations=relations, wait="indexed")
        assert receipt.action is Action.QUARANTINED
    assert await memory.contradictions() == []
    assert [each.id for each in (await memory.history(mine.id)).versions] == [mine.id]
    assert receipt.id not in [hit.memory.id for hit in await memory.search("what is near Ostia?")]
    await memory.restore(receipt.id)
    (pair,) = await memory.contradictions()
    assert (pair.new.id, pair.old.id) == (receipt.id, mine.id)
    found = {hit.memory.id: hit for hit in await memory.search("what is near Ostia?", limit=10)}
    assert any(share.signal == "graph" for share in found[receipt.id].why.shares)
    edges = await service._parts.store.reading(ALICE.bank).relations([receipt.id])
    assert {(edge.type, edge.to_id) for edge in edges} == {("contradicts", mine.id), ("mentions", "ostia")}
