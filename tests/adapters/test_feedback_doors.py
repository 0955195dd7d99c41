"""Feedback and citations through every door: the same fields, answers and errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from typer.testing import CliRunner

from adapters.conftest import BASE
from adapters.test_mcp import call, connected
from hindsight_memory import errors
from hindsight_memory.cli import app as commands
from hindsight_memory.domain import Draft, Feedback, Judgement, Query, Ranking, Scope, Source
from hindsight_memory.remote import Remote
from hindsight_memory.server.mcp import create_mcp
from hindsight_memory.testing import StoppedClock

ANN = Scope(user_id="ann", agent_id="coder")


async def post(http: httpx.AsyncClient, verb: str, **body: Any) -> httpx.Response:
    return await http.post(f"/v1/{verb}", json=body)


async def test_feedback_over_rest(http: httpx.AsyncClient) -> None:
    number = (await post(http, "write", content="I take oat milk")).json()["id"]
    reply = await post(http, "feedback", memory_id=number, verdict="helpful", query="which milk?", note="right")
    assert (reply.status_code, reply.json()["helpful"]) == (200, 1)
    hit = (await post(http, "explain", text="milk", memory_id=number)).json()
    assert {"name": "feedback", "value": 1.075, "because": "helpful once, last on 2026-05-04"} in hit["why"]["factors"]
    wrong = (await post(http, "feedback", memory_id=number, verdict="wrong")).json()
    assert wrong["status"] == "quarantined"
    assert len((await post(http, "list", status="quarantined")).json()["memories"]) == 1
    assert (await post(http, "restore", memory_id=number)).json()["status"] == "active"
    ranking = (await post(http, "refit", reset=True)).json()
    assert ranking == {"weights": {}, "pairs": 0, "fitted_at": None, "since": "2026-05-04T09:00:00Z"}


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({"memory_id": "nobody", "verdict": "wrong"}, 404, "memory_id"),
        ({"memory_id": "nobody"}, 422, "verdict"),
        ({"memory_id": "nobody", "verdict": "meh"}, 422, "verdict"),
        ({"verdict": "wrong"}, 422, "memory_id"),
        ({"memory_id": 5, "verdict": "wrong"}, 422, "memory_id"),
        ({"memory_id": "nobody", "verdict": "wrong", "reason": "x"}, 422, "reason"),
        ({"memory_id": "nobody", "verdict": "wrong", "note": 5}, 422, "note"),
        ({"memory_id": "nobody", "verdict": "wrong", "query": ""}, 422, "query"),
    ],
)
async def test_bad_feedback_is_refused(http: httpx.AsyncClient, body: dict[str, Any], status: int, field: str) -> None:
    reply = await post(http, "feedback", **body)
    assert (reply.status_code, reply.json()["field"]) == (status, field)


async def test_an_idempotency_key_does_it_once(http: httpx.AsyncClient) -> None:
    number = (await post(http, "write", content="I take oat milk")).json()["id"]
    body, headers = {"memory_id": number, "verdict": "helpful"}, {"Idempotency-Key": "k1"}
    one, two = [await http.post("/v1/feedback", json=body, headers=headers) for _ in range(2)]
    assert one.content == two.content


async def test_the_remote_client_is_the_embedded_service(app: FastAPI, clock: StoppedClock) -> None:
    embedded, remote = app.state.service, Remote(BASE, transport=httpx.ASGITransport(app))
    number = (await embedded.write(Draft(content="I take oat milk"), ANN)).id
    judgement = Judgement(verdict=Feedback.WRONG, query="which milk?", note="no", source=Source.USER)
    judged = await remote.feedback(number, judgement, ANN)
    assert judged == await embedded.get(number, ANN)
    assert judged.status == "quarantined"
    assert await remote.feedback(number, judgement, ANN) == await embedded.feedback(number, judgement, ANN)
    assert await remote.refit(ANN, reset=True) == Ranking(since=clock())
    assert await remote.refit(ANN) == await embedded.refit(ANN)
    for memory in (embedded, remote):
        with pytest.raises(errors.NotFound) as refused:
            await memory.feedback("nobody", judgement, ANN)
        assert refused.value.field == "memory_id"
    await embedded.restore(number, ANN)
    block = await remote.context(Query(text="milk", moment="task_start"), ANN)
    assert block == await embedded.context(Query(text="milk", moment="task_start"), ANN)
    assert [each.memory_id for each in block.citations] == [number]
    await remote.close()


async def test_the_tool_judges_as_an_agent_unless_the_user_has_said_so(app: FastAPI) -> None:
    async with connected(create_mcp(app.state.service, full=True)) as client:
        assert "memory_feedback" in [tool.name for tool in (await client.list_tools()).tools]
        number = (await call(client, "write", content="I take oat milk"))["id"]
        doubted = await call(client, "feedback", memory_id=number, verdict="wrong", query="", note="", agent_id="")
        assert (doubted["status"], doubted["doubted"]) == ("active", 1)
        gone = await call(client, "feedback", memory_id=number, verdict="wrong", query="which milk?", source="user")
        assert gone["status"] == "quarantined", "what the user says is not what the agent has said before"


def test_the_commands(database: Path) -> None:
    def run(command: str, *args: str) -> Any:
        line = [command, "--database", str(database), "--json", *args]
        result = CliRunner().invoke(commands, line, env={"HINDSIGHT_MEMORY_EMBEDDER": "none"})
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    number = run("write", "I take oat milk")["id"]
    assert run("feedback", number, "helpful", "--query", "which milk?", "--note", "yes")["helpful"] == 1
    assert run("feedback", number, "wrong", "--agent-id", "coder")["doubted"] == 1
    assert [each["id"] for each in run("list", "--doubted")["memories"]] == [number]
    assert run("search", "milk", "--moment", "task_start")["hits"][0]["why"]["factors"][-1]["name"] == "moment"
    assert run("refit")["weights"] == {}
    assert run("refit", "--reset")["since"]
    plain = CliRunner().invoke(commands, ["refit", "--database", str(database)])
    assert "the ranking is as it was shipped" in plain.stdout
    wrong = CliRunner().invoke(commands, ["feedback", "--database", str(database), "--json", number, "meh"])
    assert (wrong.exit_code, json.loads(wrong.stderr)["error"]["field"]) == (2, "verdict")
    missing = CliRunner().invoke(commands, ["feedback", "--database", str(database), "nobody", "wrong"])
    assert missing.exit_code == 4
