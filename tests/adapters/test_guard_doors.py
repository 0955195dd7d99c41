"""policy and scan at every door: REST, the remote client, the command line; and what a refusal looks like there."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI
from typer.testing import CliRunner

from adapters.conftest import BASE, client_of
from hindsight_memory import HindsightMemory, InvalidInput
from hindsight_memory.cli import app as command
from hindsight_memory.domain import Draft, Scan, Scope
from hindsight_memory.remote import Remote
from hindsight_memory.server.mcp import VERBS
from hindsight_memory.service import Service

ANN = Scope(user_id="ann")
PHONE = "13812345678"


async def test_the_remote_client_answers_as_the_service_does(app: FastAPI) -> None:
    embedded: Service = app.state.service
    remote = Remote(BASE, transport=httpx.ASGITransport(app))
    assert await remote.policy(ANN) == await embedded.policy(ANN)
    assert (await remote.policy(ANN, {"phone": "allow"})).own == {"phone": "allow"}
    receipt = await remote.write(Draft(content=f"call {PHONE}"), ANN)
    assert (await remote.policy(ANN, {"phone": None})).own == {}
    found = await remote.scan(Scan(dry_run=True), ANN)
    assert (found.dry_run, found.looked, found.found, found.memory_ids) == (True, 1, {"phone": 1}, (receipt.id,))
    assert (await remote.scan(Scan(limit=1), ANN)).next is not None
    assert (await remote.get(receipt.id, ANN)).content == "call 138****5678"
    await remote.policy(ANN, {"phone": "reject"})
    with pytest.raises(InvalidInput) as error:
        await remote.write(Draft(content=f"call {PHONE}"), ANN)
    assert error.value.field == "content"
    await remote.close()


async def test_rest_says_what_is_wrong_and_not_what_was_written(app: FastAPI) -> None:
    async with client_of(app) as client:
        wrong = await client.post("/v1/policy", json={"user_id": "ann", "rules": {"phne": "mask"}})
        assert (wrong.status_code, wrong.json()["field"]) == (422, "rules")
        nowhere = await client.post("/v1/scan", json={"user_id": "ann", "after": "x"})
        assert (nowhere.status_code, nowhere.json()["field"]) == (422, "after")
        assert (
            await client.post("/v1/policy", json={"user_id": "ann", "rules": {"phone": "reject"}})
        ).status_code == 200
        refused = await client.post("/v1/write", json={"user_id": "ann", "content": f"call {PHONE}"})
        assert (refused.status_code, refused.json()["field"]) == (422, "content")
        assert PHONE not in refused.text
        empty = await client.post("/v1/scan", json={"user_id": "bob"})
        assert empty.json()["looked"] == 0
    assert not {"policy", "scan"} & set(VERBS)


def test_people_set_rules_and_scan_to_the_end(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HINDSIGHT_MEMORY_EMBEDDER", "none")
    at = ["--database", str(database), "--user-id", "ann"]
    with HindsightMemory(database, user_id="ann") as memory:
        memory.policy({"phone": "allow"})
        for number in range(5):
            memory.write(f"call {number} at {PHONE}")
    result = CliRunner().invoke(command, ["policy", *at, "--rule", "phone=", "--rule", "email=redact"])
    assert result.exit_code == 0, result.output
    assert "email                redact" in result.output
    assert "Of its own: email=redact." in result.output
    result = CliRunner().invoke(command, ["policy", *at, "--rule", "phone"])
    assert result.exit_code == 2
    result = CliRunner().invoke(command, ["scan", *at, "--limit", "2", "--dry-run"])
    assert "5 looked at, 5 would be changed, 0 would be quarantined." in result.output
    result = CliRunner().invoke(command, ["scan", *at, "--limit", "2", "--json"])
    found = json.loads(result.output)
    assert (found["looked"], len(found["memory_ids"]), found["found"], found["next"]) == (5, 5, {"phone": 5}, None)
    assert PHONE.encode() not in b"".join(path.read_bytes() for path in database.parent.glob(f"{database.name}*"))


def test_the_environment_says_what_holds_where_a_user_has_no_rules(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HINDSIGHT_MEMORY_EMBEDDER", "none")
    monkeypatch.setenv("HINDSIGHT_MEMORY_GUARD_PERSONAL", "allow")
    with HindsightMemory(database) as memory:
        receipt = memory.write(f"call {PHONE}")
        assert memory.get(receipt.id).content == f"call {PHONE}"
    monkeypatch.setenv("HINDSIGHT_MEMORY_GUARD_PERSONAL", "hide")
    with pytest.raises(InvalidInput) as error, HindsightMemory(database):
        pass
    assert error.value.field == "HINDSIGHT_MEMORY_GUARD_PERSONAL"
