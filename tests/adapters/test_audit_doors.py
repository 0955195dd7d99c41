"""The audit log and purges through the doors: the command line, REST, a client of a running service."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from typer.testing import CliRunner

from adapters.conftest import BASE
from hindsight_memory.cli import app as commands
from hindsight_memory.domain import AuditCheck, AuditListing, Scope
from hindsight_memory.remote import Remote

ALICE = Scope(user_id="alice")


def run(database: Path, *args: str) -> Any:
    return CliRunner().invoke(commands, [*args, "--database", str(database)])


@pytest.fixture
def filled(database: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HINDSIGHT_MEMORY_EMBEDDER", "none")
    for text in ("the xylophonequartz code", "二", "three"):
        assert run(database, "write", text, "--user-id", "alice").exit_code == 0
    return database


def tamper(database: Path) -> None:
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("DROP TRIGGER events_changed")
        connection.execute("UPDATE events SET actor = 'bob' WHERE number = 2")
        connection.commit()


def test_the_command_says_whether_the_log_is_whole(filled: Path) -> None:
    whole = run(filled, "audit", "verify", "--user-id", "alice")
    assert whole.exit_code == 0, whole.output
    assert "Whole: 3 lines." in whole.output
    head = whole.output.split("Head: ")[1].strip()
    assert run(filled, "audit", "verify", "--user-id", "alice", "--head", head).exit_code == 0
    wrong = run(filled, "audit", "verify", "--user-id", "alice", "--head", f"2:{'0' * 64}", "--json")
    assert (wrong.exit_code, json.loads(wrong.stdout)["bad"]) == (1, 2)
    tamper(filled)
    broken = run(filled, "audit", "verify", "--user-id", "alice")
    assert broken.exit_code == 1
    assert "Not whole. Line 2:" in broken.output
    nonsense = run(filled, "audit", "verify", "--user-id", "alice", "--head", "nonsense")
    assert nonsense.exit_code == 2


def test_an_export_is_checked_without_a_database(filled: Path, tmp_path: Path) -> None:
    out = tmp_path / "log.jsonl"
    made = run(filled, "audit", "export", "--user-id", "alice", "--out", str(out))
    assert made.exit_code == 0, made.output
    printed = run(filled, "audit", "export", "--user-id", "alice")
    lines = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert [json.loads(line) for line in printed.stdout.splitlines()] == lines
    assert [line["number"] for line in lines] == [1, 2, 3]
    checked = CliRunner().invoke(commands, ["audit", "check", str(out)])
    assert (checked.exit_code, "Whole: 3 lines." in checked.output) == (0, True)
    out.write_text("".join(json.dumps(line) + "\n" for line in [lines[0], lines[2]]), encoding="utf-8")
    cut = CliRunner().invoke(commands, ["audit", "check", str(out)])
    assert (cut.exit_code, "Line 2: the line is missing" in cut.output) == (1, True)
    for nonsense in ("{}", "nonsense", "[]", '{"number": 1}'):
        out.write_text(nonsense, encoding="utf-8")
        assert CliRunner().invoke(commands, ["audit", "check", str(out)]).exit_code == 2
    assert CliRunner().invoke(commands, ["audit", "check", str(tmp_path / "nowhere")]).exit_code == 2


@pytest.mark.parametrize(
    "words", [["--all-of", "alice"], ["--purge", "--user", "alice"]], ids=["all of", "purge of a user"]
)
def test_forgetting_a_user_for_good_prints_its_proof(filled: Path, words: list[str]) -> None:
    refused = run(filled, "forget", *words, "--confirm", "bob")
    assert refused.exit_code == 2
    gone = run(filled, "forget", *words, "--confirm", "alice")
    assert gone.exit_code == 0, gone.output
    assert "Removed for good: 3 memories" in gone.output
    assert "none of them found" in gone.output
    raw = b"".join(path.read_bytes() for path in filled.parent.glob(f"{filled.name}*"))
    assert b"xylophonequartz" not in raw


def test_a_memory_is_purged_by_either_name(filled: Path) -> None:
    for command in (["purge"], ["forget", "--purge"]):
        listed = json.loads(run(filled, "list", "--user-id", "alice", "--json").stdout)["memories"]
        done = run(filled, *command, listed[0]["id"], "--user-id", "alice", "--json")
        assert json.loads(done.stdout)["memories"] == 1
        assert json.loads(done.stdout)["proof"]["found"] == 0


async def test_rest_and_the_client_answer_alike(app: FastAPI, http: httpx.AsyncClient) -> None:
    for text in ("one", "two"):
        await http.post("/v1/write", json={"user_id": "alice", "content": text})
    seen = (await http.post("/v1/verify_audit", json={"user_id": "alice"})).json()
    assert (seen["whole"], seen["lines"], seen["bad"]) == (True, 2, None)
    remote = Remote(BASE, transport=httpx.ASGITransport(app))
    assert (await remote.verify_audit(AuditCheck(head=seen["head"]), ALICE)).whole
    page = await remote.export_audit(AuditListing(limit=1), ALICE)
    assert ([line.number for line in page.lines], page.next) == ([1], 1)
    assert (await remote.export_audit(AuditListing(after=1, limit=9), ALICE)).next is None
    for body in ({"head": "x"}, {"head": 7}, {"heads": "x"}):
        assert (await http.post("/v1/verify_audit", json={"user_id": "alice", **body})).status_code == 422
    for body in ({"limit": 0}, {"limit": 5_000}, {"after": -1}, {"after": "x"}):
        assert (await http.post("/v1/export_audit", json={"user_id": "alice", **body})).status_code == 422
    erased = await remote.forget_all(ALICE, "alice")
    assert erased.proof is not None
    assert erased.proof.found == 0
    await remote.close()
