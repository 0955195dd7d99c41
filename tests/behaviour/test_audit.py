"""verify_audit and export_audit: one chain a bank, which shows what was changed, removed, put in or moved."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_memory import AsyncHindsightMemory, InvalidInput, NotAllowed, SessionState
from hindsight_memory.domain import AuditCheck, Audited, AuditLine, AuditListing, Draft, Event, Grant, new_id
from hindsight_memory.domain.audit import checked
from hindsight_memory.guard.access import VERBS, Principal
from hindsight_memory.server.calls import CALLS
from hindsight_memory.service import Service
from hindsight_memory.testing import StoppedClock, open_service
from hindsight_memory.wire import from_wire, to_wire
from samples import ALICE

WALLS = ("DROP TRIGGER events_changed", "DROP TRIGGER events_removed")
"""What somebody who writes to the file does first."""


def tampered(database: Path, *statements: str) -> None:
    with closing(sqlite3.connect(database)) as connection:
        for statement in (*WALLS, *statements):
            connection.execute(statement)
        connection.commit()


async def lived(memory: AsyncHindsightMemory) -> None:
    """Eight lines of the log and more, of several verbs."""
    first = await memory.write("Anna drinks tea", key="preference.drink")
    await memory.update(first.id, content="Anna drinks green tea")
    await memory.feedback(first.id, "helpful", query="tea?", note="so she said")
    for number in range(4):
        await memory.write(f"note {number} 笔记")
    await memory.forget(first.id, reason="she asked")


async def exported(memory: AsyncHindsightMemory, **who: Any) -> list[AuditLine]:
    lines: list[AuditLine] = []
    after: int | None = 0
    while after is not None:
        page = await memory.export_audit(after=after, limit=3, **who)
        lines += page.lines
        after = page.next
    return lines


async def test_a_log_that_nobody_touched_is_whole(memory: AsyncHindsightMemory) -> None:
    assert await memory.verify_audit() == Audited(whole=True, lines=0)
    await lived(memory)
    found = await memory.verify_audit()
    assert (found.whole, found.lines, found.bad, found.fault) == (True, 8, None, "")
    assert found.head.startswith("8:")
    assert await memory.verify_audit(user_id="bob") == Audited(whole=True, lines=0)


CHANGED = {
    "when": "UPDATE events SET at = at + 1 WHERE number = 4",
    "who": "UPDATE events SET actor = 'bob' WHERE number = 4",
    "what": "UPDATE events SET verb = 'restore' WHERE number = 4",
    "to which memory": "UPDATE events SET memory_id = 'other' WHERE number = 4",
    "why": "UPDATE events SET reason = 'because' WHERE number = 4",
    "the numbers": "UPDATE events SET detail = replace(detail, 'added', 'rejected') WHERE number = 4",
    "no JSON": "UPDATE events SET detail = 'nothing' WHERE number = 4",
    "no time": "UPDATE events SET at = 'noon' WHERE number = 4",
    "no seal": "UPDATE events SET seal = 'x' WHERE number = 4",
    "its digest": "UPDATE events SET digest = zeroblob(32) WHERE number = 4",
    "emptied": "UPDATE events SET detail = '{}', reason = '', salt = x'' WHERE number = 4",
    "missing": "DELETE FROM events WHERE number = 4",
    "moved": "UPDATE events SET number = 40 WHERE number = 4",
}


@pytest.mark.parametrize("what", CHANGED)
async def test_the_first_line_that_is_wrong_is_named(memory: AsyncHindsightMemory, database: Path, what: str) -> None:
    await lived(memory)
    tampered(database, CHANGED[what])
    found = await memory.verify_audit()
    assert (found.whole, found.bad) == (False, 4), found.fault
    assert found.fault


async def test_two_lines_that_changed_places(memory: AsyncHindsightMemory, database: Path) -> None:
    await lived(memory)
    tampered(database, *(f"UPDATE events SET number = {to} WHERE number = {number}"
                         for number, to in ((4, 99), (5, 4), (99, 5))))  # fmt: skip
    assert (await memory.verify_audit()).bad == 4


async def test_a_line_put_in(memory: AsyncHindsightMemory, database: Path) -> None:
    await lived(memory)
    columns = "bank, {}, 'new', at, actor, verb, memory_id, reason, detail, salt, digest, seal"
    tampered(database, f"INSERT INTO events SELECT {columns.format(9)} FROM events WHERE number = 8")
    assert (await memory.verify_audit()).bad == 9


@pytest.mark.parametrize("last", [8, 7, 5, 1])
async def test_lines_cut_off_the_end(memory: AsyncHindsightMemory, database: Path, last: int) -> None:
    await lived(memory)
    tampered(database, f"DELETE FROM events WHERE number >= {last}")
    found = await memory.verify_audit()
    assert (found.whole, found.bad, found.lines) == (False, last, last - 1)


async def test_the_whole_log_removed(memory: AsyncHindsightMemory, database: Path) -> None:
    await lived(memory)
    tampered(database, "DELETE FROM events")
    assert (await memory.verify_audit()).bad == 1


async def test_a_log_written_anew_is_found_by_a_head_that_was_noted(
    memory: AsyncHindsightMemory, database: Path, tmp_path: Path, clock: StoppedClock
) -> None:
    """Who can write to the file can also make another chain; what was noted elsewhere he cannot change."""
    await lived(memory)
    head = (await memory.verify_audit()).head
    await memory.write("later")
    assert (await memory.verify_audit(head=head)).whole
    forged = await open_service(tmp_path / "forged.db", clock=clock, start=False)
    for number in range(9):
        await forged.write(Draft(content=f"lie {number}"), ALICE)
    assert (await forged.verify_audit(AuditCheck(), ALICE)).whole
    found = await forged.verify_audit(AuditCheck(head=head), ALICE)
    assert (found.whole, found.bad) == (False, 8)
    short = await forged.verify_audit(AuditCheck(head=f"99:{'a' * 64}"), ALICE)
    assert (short.whole, short.bad) == (False, 10)
    await forged.close()


@pytest.mark.parametrize("head", ["8", "x:y", "-1:" + "a" * 64, "8:" + "g" * 64, "٣:" + "a" * 64, ":" + "a" * 64])
async def test_a_head_that_is_none(memory: AsyncHindsightMemory, head: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        await memory.verify_audit(head=head)
    assert refused.value.field == "head"


async def test_lines_of_another_bank_do_not_fit(memory: AsyncHindsightMemory, database: Path) -> None:
    await memory.write("hers")
    await memory.write("his", user_id="bob")
    swap = "UPDATE banks SET log_seal = (SELECT o.log_seal FROM banks o WHERE o.bank = {}) WHERE bank = {}"
    tampered(
        database, "PRAGMA foreign_keys = OFF", "UPDATE events SET bank = 99 WHERE bank = 1",
        "UPDATE events SET bank = 1 WHERE bank = 2", "UPDATE events SET bank = 2 WHERE bank = 99", swap.format(2, 1),
    )  # fmt: skip
    assert (await memory.verify_audit()).bad == 1


async def test_a_purge_empties_lines_and_the_chain_holds(
    memory: AsyncHindsightMemory, database: Path, service: Service
) -> None:
    head = ""
    for number in range(3):
        receipt = await memory.write(f"xylophone {number}", tags=["a"])
        await memory.update(receipt.id, content=f"xylophone {number} again")
        head = head or (await memory.verify_audit()).head
        await memory.purge(receipt.id, reason="she asked")
    found = await memory.verify_audit(head=head)
    assert (found.whole, found.lines, found.emptied) == (True, 9, 6)
    lines = await exported(memory)
    assert [line.emptied for line in lines] == [True, True, False] * 3
    assert {(line.event.reason, str(line.event.detail)) for line in lines if line.emptied} == {("", "{}")}
    assert "xylophone" not in json.dumps(to_wire(lines))


async def test_an_emptied_line_counts_only_with_its_purge(memory: AsyncHindsightMemory, database: Path) -> None:
    kept, gone = await memory.write("kept"), await memory.write("gone")
    await memory.purge(gone.id)
    empty = f"UPDATE events SET detail = '{{}}', reason = '', salt = x'' WHERE memory_id = '{kept.id}'"
    tampered(database, empty)
    found = await memory.verify_audit()
    assert (found.whole, found.bad) == (False, 1)
    assert "emptied" in found.fault


async def test_after_forget_all_the_log_goes_on_where_it_was(memory: AsyncHindsightMemory) -> None:
    await lived(memory)
    head = (await memory.verify_audit()).head
    await memory.forget_all(confirm="alice")
    assert (await memory.verify_audit(head=head)).lines == 1
    await memory.write("anew")
    found = await memory.verify_audit(head=head)
    assert (found.whole, found.lines, found.head[:3]) == (True, 2, "10:")


async def test_the_file_itself_refuses_to_change_the_log(memory: AsyncHindsightMemory, database: Path) -> None:
    """A second wall: no fault of a program rewrites the log, unless it means to."""
    await lived(memory)
    with closing(sqlite3.connect(database)) as connection:
        for statement in (*CHANGED.values(), "DELETE FROM events"):
            if "salt = x''" in statement:
                continue
            with pytest.raises(sqlite3.IntegrityError, match="the log is not"):
                connection.execute(statement)
            connection.rollback()
    assert (await memory.verify_audit()).whole


async def test_an_export_is_checked_without_the_database(memory: AsyncHindsightMemory) -> None:
    gone = await memory.write("gone")
    await memory.purge(gone.id)
    await lived(memory)
    lines = [from_wire(AuditLine, json.loads(json.dumps(to_wire(line)))) for line in await exported(memory)]
    head = (await memory.verify_audit()).head
    assert checked(lines, head) == await memory.verify_audit()
    assert checked(lines[3:], head).lines == 7, "the later part of a log stands by itself"
    assert checked([*lines[:4], *lines[5:]]).bad == 5
    assert checked(lines[:-1], head).bad == 10
    assert checked([replace(line, event=replace(line.event, actor="bob")) for line in lines]).bad == 1
    assert checked([*lines[:2], lines[3], lines[2], *lines[4:]]).bad == 3
    assert checked([lines[0], lines[0]]).bad == 1
    assert checked([]) == Audited(whole=True, lines=0)


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=9)
PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | TEXT
VALUE = st.recursive(PLAIN, lambda each: st.lists(each, max_size=3))
DETAILS = st.lists(st.dictionaries(TEXT, VALUE, max_size=4), min_size=1, max_size=6)


@given(DETAILS)
async def test_whatever_a_line_says_it_is_read_back_as_it_was_sealed(
    service: Service, details: list[dict[str, Any]]
) -> None:
    now = service._parts.clock()
    async with service._parts.store.transaction(ALICE) as tx:
        await tx.record(
            [
                Event(id=new_id(now), bank_id=ALICE.bank, at=now, actor="a", verb="v", reason="\0'\"%", detail=detail)
                for detail in details
            ]
        )
    assert (await service.verify_audit(AuditCheck(), ALICE)).whole


async def test_it_is_whole_while_others_write_and_purge(memory: AsyncHindsightMemory) -> None:
    async def work() -> None:
        for number in range(15):
            receipt = await memory.write(f"note {number}")
            if number % 3 == 0:
                await memory.purge(receipt.id)
            if number == 8:
                await memory.forget_all(confirm="alice")

    async def look() -> list[Audited]:
        return [await memory.verify_audit() for _ in range(40)]

    _, found, others = await asyncio.gather(work(), look(), look())
    assert [each for each in (*found, *others) if not each.whole] == []


async def test_it_is_for_who_runs_the_program_and_for_admins(service: Service) -> None:
    assert [grant for grant in Grant if "audit" in VERBS[grant]] == [Grant.ADMIN]
    others = frozenset[str]().union(*(VERBS[grant] for grant in Grant if grant is not Grant.ADMIN))
    for bound in (
        service.acting_as(Principal("key", verbs=others)),
        service.acting_as(Principal("key", verbs=VERBS[Grant.ADMIN], users=frozenset({"bob"}))),
        service.acting_as(Principal("key", verbs=VERBS[Grant.ADMIN], agents=frozenset({"coder"}))),
    ):
        with pytest.raises(NotAllowed):
            await bound.verify_audit(AuditCheck(), ALICE)
        with pytest.raises(NotAllowed):
            await bound.export_audit(AuditListing(), ALICE)


async def test_two_processes_write_one_chain(database: Path, clock: StoppedClock) -> None:
    one, two = [await open_service(database, clock=clock, start=False) for _ in range(2)]
    for number in range(10):
        await asyncio.gather(
            one.write(Draft(content=f"one {number}"), ALICE), two.write(Draft(content=f"two {number}"), ALICE)
        )
    found = await two.verify_audit(AuditCheck(), ALICE)
    assert (found.whole, found.lines) == (True, 20)
    await one.close()
    await two.close()


async def _of_memory(memory: AsyncHindsightMemory) -> dict[str, Callable[[], Awaitable[Any]]]:
    """A call of each verb that changes something in a user's bank."""
    ids = [(await memory.write(f"memory number {number}", key=f"fact.n{number}")).id for number in range(6)]
    await memory.forget(ids[1])
    talk: list[dict[str, Any]] = [{"content": "We decided that Xerxes signs the lease."}]
    desk: dict[str, Any] = {"session_id": "desk"}

    async def failing_step() -> Any:
        return await memory.record_step("shell", "ls /x", "failure", error="no such file", **desk)

    async def reflected() -> Any:
        for _ in range(2):
            await failing_step()
        await memory.record_step("shell", "mkdir /x; ls /x", "success", output="ok", **desk)
        return await memory.reflect(**desk)

    async def concluded() -> Any:
        for day in range(3):
            await memory.write(
                "I keep bees behind the old mill.", kind="episodic", occurred_at=f"2026-04-0{day + 1}T09:00:00Z"
            )
        made = (await memory.consolidate()).conclusions
        assert made
        return made

    async def maintained() -> Any:
        await memory.write("soon over", expires_at="2026-05-04T09:00:01Z")
        memory._clock.advance(hours=30)  # type: ignore[attr-defined]
        report = await memory.maintain()
        assert report.totals["expire"]

    return {
        "write": lambda: memory.write("another"),
        "write_many": lambda: memory.write_many(["one", "two"]),
        "write_conversation": lambda: memory.write_conversation(talk, session_id="talk"),
        "update": lambda: memory.update(ids[0], importance=0.9),
        "forget": lambda: memory.forget(ids[0], reason="so"),
        "restore": lambda: memory.restore(ids[0]),
        "resolve": lambda: memory.resolve(keep=ids[0], over=ids[2]),
        "feedback": lambda: memory.feedback(ids[3], "helpful"),
        "put_session": lambda: memory.put_session(SessionState(task_goal="find a flat"), **desk),
        "patch_session": lambda: memory.patch_session(open_questions=["where?"], **desk),
        "append_session": lambda: memory.append_session(talk, **desk),
        "record_step": failing_step,
        "reflect": reflected,
        "end_session": lambda: memory.end_session(**desk),
        "consolidate": concluded,
        "maintain": maintained,
        "policy": lambda: memory.policy({"email": "redact"}),
        "purge": lambda: memory.purge(ids[4], reason="so"),
        "forget_all": lambda: memory.forget_all(confirm="alice"),
    }


ELSEWHERE = {
    "jobs": "only a retry changes something, and only where a language model failed: test_reading",
    "refit": "changes nothing without verdicts: test_feedback",
    "scan": "changes nothing where nothing is found: the guards' tests",
    "reveal": "the vault's tests",
    **dict.fromkeys(("create_key", "rotate_key", "revoke_key"), "the log of the shared bank: the keys' tests"),
}


async def test_every_verb_that_changes_something_says_who_did_it(
    memory: AsyncHindsightMemory, service: Service, clock: StoppedClock
) -> None:
    calls = await _of_memory(memory)
    wanted = {name for name, call in CALLS.items() if call.changes} - ELSEWHERE.keys()
    assert wanted <= calls.keys(), "a new verb that changes something belongs here"
    memory.scope = replace(memory.scope, agent_id="coder")
    reader = service._parts.store.reading(ALICE.bank)
    for name, call in calls.items():
        before = await reader.log_head()
        assert before is not None
        await call()
        after = await reader.log_head()
        assert after is not None
        assert after.last > before.last, name
        actors = {line.event.actor for line in await reader.log(before.last, 1_000)}
        assert actors & {"coder", "maintenance"}, name
        assert "local" not in actors, name
    assert (await memory.verify_audit()).whole
