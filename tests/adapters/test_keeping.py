"""maintain, purge, forget_all and replay at every door: REST, the remote client, the command line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI
from typer.testing import CliRunner

from adapters.conftest import BASE, client_of
from hindsight_memory import InvalidInput, NotFound
from hindsight_memory.cli import app as command
from hindsight_memory.domain import Changes, Consolidation, Draft, Listing, Maintenance, Message, Scope, Span
from hindsight_memory.remote import Remote
from hindsight_memory.service import Service
from hindsight_memory.testing import StoppedClock

ANN = Scope(user_id="ann")


async def test_the_remote_client_answers_as_the_service_does(app: FastAPI, clock: StoppedClock) -> None:
    embedded: Service = app.state.service
    remote = Remote(BASE, transport=httpx.ASGITransport(app))
    desk = await embedded.write(Draft(content="desk", kind="working"), ANN)
    kept = await embedded.write(Draft(content="kept"), ANN)
    clock.advance(hours=2)
    planned = await remote.maintain(Maintenance(dry_run=True))
    assert planned.totals["expire"] == 1
    assert planned == await embedded.maintain(Maintenance(dry_run=True))
    done = await remote.maintain(Maintenance(routines=("expire",), users=("ann",)))
    (line,) = done.upkeep
    assert (line.user_id, line.routine, line.changes, line.examples[0].memory_id) == ("ann", "expire", 1, desk.id)

    page = await remote.replay(Span(limit=2), ANN)
    assert page == await embedded.replay(Span(limit=2), ANN)
    assert len(page.lines) == 2
    rest = await remote.replay(Span(after=page.next), ANN)
    assert [each.event.verb for each in rest.lines] == ["expire"]

    assert (await remote.purge(kept.id, ANN, "because")).memories == 1
    with pytest.raises(NotFound):
        await remote.purge(kept.id, ANN)
    with pytest.raises(InvalidInput) as refused:
        await remote.forget_all(ANN, "bob")
    assert refused.value.field == "confirm"
    assert (await remote.forget_all(ANN, "ann")).memories == 1
    assert (await embedded.list(Listing(), ANN)).memories == ()
    await remote.close()


async def test_a_remembered_reply_does_not_hold_what_is_gone(app: FastAPI) -> None:
    async with client_of(app) as http:
        stored = await http.post("/v1/write", json={"content": "the secret"})
        memory_id = stored.json()["id"]
        change = {"memory_id": memory_id, "importance": 0.9}
        first = await http.post("/v1/update", json=change, headers={"Idempotency-Key": "k1"})
        assert "the secret" in first.text
        gone = [
            await http.post("/v1/purge", json={"memory_id": memory_id}, headers={"Idempotency-Key": "k2"})
            for _ in range(2)
        ]
        assert [reply.status_code for reply in gone] == [200, 200]
        assert gone[0].json() == gone[1].json()
        again = await http.post("/v1/update", json=change, headers={"Idempotency-Key": "k1"})
        assert again.status_code == 404
        assert "the secret" not in again.text


async def test_agents_have_no_tool_for_it() -> None:
    from hindsight_memory.server.mcp import VERBS

    assert not {"maintain", "purge", "forget_all", "replay"} & set(VERBS)


@pytest.fixture
def shell(database: Path, monkeypatch: pytest.MonkeyPatch):
    """Run a command on a database of words only; returns its exit code and what it said."""
    monkeypatch.setenv("HINDSIGHT_MEMORY_EMBEDDER", "none")

    def run(*arguments: str, typed: str = "") -> tuple[int, str]:
        result = CliRunner().invoke(command, [*arguments, "--database", str(database)], input=typed)
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result.exit_code, result.output

    return run


def test_people_read_what_would_be_done_and_what_happened(shell) -> None:
    shell("write", "the offer of May", "--expires-at", "2026-01-01T00:00:00Z", "--user-id", "ann")
    code, said = shell("maintain", "--dry-run")
    assert (code, "would be done: 1 expire" in said, "expire: 1 of ann" in said) == (0, True, True)
    code, said = shell("maintain", "--routine", "expire", "--user", "ann")
    assert (code, "done: 1 expire" in said) == (0, True)
    code, said = shell("maintain", "--due", "--json")
    assert (code, '"expire": 0' in said) == (0, True)
    code, said = shell("replay", "--user-id", "ann", "--limit", "1")
    assert code == 0
    assert "write" in said
    assert "the offer" not in said
    assert "More: --after" in said
    assert shell("maintain", "--routine", "tidy")[0] == 2
    assert shell("replay", "--after", "x")[0] == 2


def test_a_memory_is_purged(shell) -> None:
    _, said = shell("write", "one")
    memory_id = said.split()[1]
    code, said = shell("purge", memory_id, "--reason", "because")
    assert (code, "1 memories" in said) == (0, True)
    assert shell("purge", memory_id)[0] == 4


def test_a_whole_user_is_forgotten_when_it_is_said_twice(shell) -> None:
    shell("write", "hers", "--user-id", "ann")
    for arguments in (
        ("--all-of", "ann"),
        ("--all-of", "ann", "--confirm", "Ann"),
        ("--all-of", "ann", "--confirm", "ann", "--user-id", "bob"),
        ("some-id", "--all-of", "ann", "--confirm", "ann"),
        (),
    ):
        code, said = shell("forget", *arguments)
        assert code == 2, said
    assert "hers" in shell("list", "--user-id", "ann")[1]
    code, said = shell("forget", "--all-of", "ann", "--confirm", "ann")
    assert (code, "1 memories" in said) == (0, True)
    assert "hers" not in shell("list", "--user-id", "ann")[1]


async def test_a_correction_of_a_forgotten_memory_is_not_told_over_rest(app: FastAPI) -> None:
    embedded: Service = app.state.service
    receipt = await embedded.write(Draft(content="xylophone"), ANN)
    await embedded.update(receipt.id, Changes(content="quartz"), ANN)
    async with client_of(app) as http:
        told = await http.post("/v1/replay", json={"user_id": "ann"})
        assert "xylophone" in told.text
        await embedded.forget(receipt.id, ANN)
        told = await http.post("/v1/replay", json={"user_id": "ann"})
        assert len(told.json()["lines"]) == 3
        assert "xylophone" not in told.text
        assert "quartz" not in told.text


BEES = ("I keep bees behind the old mill.", "Behind the old mill I keep bees.", "I keep my bees behind the old mill.")


async def test_consolidate_answers_the_same_at_every_door(app: FastAPI, clock: StoppedClock) -> None:
    embedded: Service = app.state.service
    remote = Remote(BASE, transport=httpx.ASGITransport(app))
    for number, text in enumerate(BEES):
        await embedded.write_conversation([Message(content=text)], replace(ANN, session_id=f"s{number}"))
        clock.advance(days=1)
    planned = await remote.consolidate(Consolidation(dry_run=True), ANN)
    assert planned == await embedded.consolidate(Consolidation(dry_run=True), ANN)
    (concluded,) = (await remote.consolidate(Consolidation(), ANN)).conclusions
    assert (concluded.action, concluded.support, len(concluded.evidence)) == ("made", 3, 3)
    clock.advance(minutes=1)
    undone = await remote.consolidate(Consolidation(undo=planned.run), ANN)
    assert [each.action for each in undone.conclusions] == ["undone"]
    with pytest.raises(InvalidInput) as refused:
        await remote.consolidate(Consolidation(undo=planned.run, propose=True), ANN)
    assert refused.value.field == "undo"
    await remote.close()


def test_people_read_what_was_concluded(shell) -> None:
    for number, text in enumerate(BEES):
        shell("write", text, "--user-id", "ann", "--occurred-at", f"2026-01-0{number + 1}T00:00:00Z")
    code, said = shell("consolidate", "--user-id", "ann", "--dry-run")
    assert (code, "changed" in said, "bees" in said, "--undo" in said) == (0, True, True, False)
    code, said = shell("consolidate", "--user-id", "ann")
    assert (code, "Take it back: --undo 20" in said) == (0, True)
    code, said = shell("consolidate", "--user-id", "ann", "--json")
    assert (code, '"conclusions": []' in said) == (0, True)
    assert shell("consolidate", "--undo", "yesterday")[0] == 2
