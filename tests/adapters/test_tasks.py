"""Steps and reflection through every door: the same fields, answers and errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from jsonschema import Draft202012Validator
from typer.testing import CliRunner

from adapters.conftest import BASE
from hindsight_memory import HindsightMemory, errors
from hindsight_memory.cli import app as commands
from hindsight_memory.domain import Outcome, Scope, Step
from hindsight_memory.remote import Remote
from hindsight_memory.server.mcp import VERBS

ERROR = "ImportError: No module named foo"
FAILED: dict[str, Any] = {"tool": "pytest", "input": "tests/x", "outcome": "failure", "error": ERROR}
DONE: dict[str, Any] = {"tool": "pytest", "input": "tests/x", "outcome": "success", "output": "5 passed"}


async def post(http: httpx.AsyncClient, verb: str, **body: Any) -> httpx.Response:
    return await http.post(f"/v1/{verb}", json={"session_id": "s1", **body})


async def test_a_task_over_rest(http: httpx.AsyncClient) -> None:
    first = await post(http, "record_step", **FAILED, id="call-1")
    assert (first.status_code, first.json()["stuck"], first.json()["help"]) == (200, False, [])
    again = await post(http, "record_step", **FAILED, id="call-1")
    assert again.json()["receipt"] == {**first.json()["receipt"], "action": "duplicate", "created": False}
    second = (await post(http, "record_step", **FAILED, id="call-2")).json()
    assert (second["stuck"], second["failures"]) == (True, 2)
    await post(http, "record_step", **DONE)
    reflection = (await post(http, "reflect")).json()
    assert (reflection["steps"], reflection["failures"], reflection["outcome"]) == (3, 2, "success")
    assert "Do: try again: pytest tests/x" in reflection["lessons"][0]["content"]
    assert (await post(http, "reflect")).json()["changes"] == []


@pytest.mark.parametrize(
    ("verb", "body", "field"),
    [
        ("record_step", {**FAILED, "tool": ""}, "tool"),
        ("record_step", {"tool": "x", "input": "y"}, "outcome"),
        ("record_step", {**FAILED, "outcome": "pending"}, "outcome"),
        ("record_step", {**FAILED, "outcomes": "x"}, "outcomes"),
        ("record_step", {**FAILED, "error": 5}, "error"),
        ("record_step", {**FAILED, "session_id": None}, "session_id"),
        ("record_step", {**FAILED, "output": "x" * 100_001}, "output"),
        ("reflect", {"session_id": None}, "session_id"),
        ("reflect", {"task": "x" * 2_001}, "task"),
    ],
)
async def test_what_is_wrong_is_named(http: httpx.AsyncClient, verb: str, body: dict[str, Any], field: str) -> None:
    reply = await post(http, verb, **body)
    assert (reply.status_code, reply.json()["field"]) == (422, field)


async def test_replies_keep_to_their_description(http: httpx.AsyncClient) -> None:
    description = (await http.get("/openapi.json")).json()
    replies = {"record_step": [await post(http, "record_step", **each) for each in (FAILED, FAILED, DONE)]}
    replies["reflect"] = [await post(http, "reflect")]
    for verb, several in replies.items():
        operation = description["paths"][f"/v1/{verb}"]["post"]
        schema = operation["responses"]["200"]["content"]["application/json"]["schema"]
        for reply in several:
            Draft202012Validator({**schema, "components": description["components"]}).validate(reply.json())


async def test_the_remote_client_is_the_embedded_service(app: FastAPI) -> None:
    embedded, remote = app.state.service, Remote(BASE, transport=httpx.ASGITransport(app))
    scopes = [Scope(user_id="ann", session_id=name) for name in ("s1", "s2", "s3")]
    failed, done = Step(**FAILED), Step(**DONE)
    for step in (failed, Step(tool="pip", input="install foo", outcome=Outcome.SUCCESS), done):
        await remote.record_step(step, scopes[0])
    learnt = await remote.reflect(scopes[0])
    assert [change.what for change in learnt.changes] == ["learnt", "recorded"]
    assert learnt.lessons == (await embedded.reflect(scopes[0])).lessons
    for memory, scope in ((remote, scopes[1]), (embedded, scopes[2])):
        await memory.record_step(failed, scope)
        again = await memory.record_step(failed, scope)
        assert again.stuck
        assert again.help[0].memory.id == learnt.lessons[0].id
    with pytest.raises(errors.InvalidInput) as refused:
        await remote.reflect(Scope(user_id="ann"))
    assert refused.value.field == "session_id"
    await remote.close()


def test_the_commands(database: Path) -> None:
    def run(command: str, *args: str, as_json: bool = True) -> Any:
        line = [command, "--database", str(database), "--session-id", "s1", *(["--json"] if as_json else []), *args]
        result = CliRunner().invoke(commands, line, env={"HINDSIGHT_MEMORY_EMBEDDER": "none"})
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout) if as_json else result.stdout

    assert run("step", "pytest", "tests/x", "failure", "--error", ERROR, "--task", "test it")["stuck"] is False
    shown = run("step", "pytest", "tests/x", "failure", "--error", ERROR, "--task", "test it", as_json=False)
    assert "Stuck: 2 failed in a row." in shown
    run("step", "pip", "install foo", "success", "--task", "test it")
    run("step", "pytest", "tests/x", "success", "--output", "5 passed", "--task", "test it")
    shown = run("reflect", as_json=False)
    assert "test it: 4 steps, 2 failed, success." in shown
    assert "Do: pip install foo; pytest tests/x" in shown
    assert run("reflect", "--task", "test it")["changes"] == []
    wrong = CliRunner().invoke(commands, ["reflect", "--database", str(database), "--json"])
    assert (wrong.exit_code, json.loads(wrong.stderr)["error"]["field"]) == (2, "session_id")


def test_a_session_in_hand(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HINDSIGHT_MEMORY_EMBEDDER", "none")
    with HindsightMemory(database) as memory, memory.session("s1") as session:
        session.step("pytest", "tests/x", "failure", error=ERROR)
        session.step("pip", "install foo", "success")
        assert not session.step("pytest", "tests/x", "success").stuck
        assert session.reflect().lessons[0].metadata["do"] == ["pip install foo", "pytest tests/x"]
        assert memory.reflect(session_id="s1").changes == ()


def test_the_default_tools_stay_nine() -> None:
    assert len(VERBS) == 9
