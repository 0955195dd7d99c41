"""suggest through every door: the same fields, answers and errors."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import httpx
import pytest
from fastapi import FastAPI
from typer.testing import CliRunner

from adapters.conftest import BASE
from hindsight_memory.cli import app as commands
from hindsight_memory.domain import Message, Outlook, Scope, Suggestion
from hindsight_memory.remote import Remote
from hindsight_memory.testing import StoppedClock
from hindsight_memory.wire import to_wire

ANN = Scope(user_id="ann")
ENDED = "2026-05-04T08:59:00Z"


async def a_habit(app: FastAPI, clock: StoppedClock) -> None:
    for week in range(1, 10):
        turn = Message(content="Plan my week", occurred_at=clock.now - timedelta(weeks=week))
        await app.state.service.write_conversation([turn], Scope(user_id="ann", session_id=f"s{week}"))


async def test_over_rest_and_from_afar(app: FastAPI, http: httpx.AsyncClient, clock: StoppedClock) -> None:
    await a_habit(app, clock)
    reply = await http.post("/v1/suggest", json={"user_id": "ann", "at": ENDED})
    assert reply.status_code == 200
    here = await app.state.service.suggest(Outlook(at=ENDED), ANN)
    assert reply.json() == {"suggestions": to_wire(here)}
    assert here[0].what == "Plan my week"
    remote = Remote(BASE, transport=httpx.ASGITransport(app))
    assert await remote.suggest(Outlook(at=ENDED), ANN) == here
    assert isinstance(here[0], Suggestion)
    assert await remote.suggest(Outlook(), Scope(user_id="bob")) == []
    await remote.close()


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"at": "soon"}, "at"),
        ({"at": "2026-05-04T09:00:00"}, "at"),
        ({"at": "2999-05-04T09:00:00Z"}, "at"),
        ({"horizon_hours": "all"}, "horizon_hours"),
        ({"horizon_hours": 1e9}, "horizon_hours"),
        ({"zone": "Mars/Olympus"}, "zone"),
        ({"limit": 51}, "limit"),
        ({"horizon": 3}, "horizon"),
    ],
)
async def test_bad_fields_are_refused(http: httpx.AsyncClient, body: dict[str, Any], field: str) -> None:
    reply = await http.post("/v1/suggest", json=body)
    assert (reply.status_code, reply.json()["field"]) == (422, field)


def test_on_the_command_line(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HINDSIGHT_MEMORY_EMBEDDER", "none")

    def run(*args: str, given: str | None = None) -> str:
        result = CliRunner().invoke(commands, [*args, "--database", str(database)], input=given)
        assert result.exit_code == 0, result.output
        return result.stdout

    assert "Nothing is usual" in run("suggest")
    friday = datetime(2025, 3, 7, 17, tzinfo=ZoneInfo("Asia/Shanghai"))
    for week in range(1, 10):
        turn = {"content": "帮我写周报", "occurred_at": (friday - timedelta(weeks=week)).isoformat()}
        run("write-conversation", "--session-id", f"s{week}", given=json.dumps(turn))
    asked = ("suggest", "--at", "2025-03-07T16:00:00+08:00", "--zone", "Asia/Shanghai", "--horizon-hours", "3")
    (found,) = json.loads(run(*asked, "--json"))["suggestions"]
    assert (found["what"], found["period"]) == ("帮我写周报", "每周五 17:00 左右")
    told = run(*asked)
    assert "帮我写周报" in told
    assert "2025-03-07 08:30 to 03-07 09:30 UTC" in told
    assert "每周五 17:00 左右通常有这件事" in told
