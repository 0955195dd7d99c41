"""jobs at every door: REST, the remote client, the command line."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI
from typer.testing import CliRunner

from adapters.conftest import BASE, client_of
from hindsight_memory import HindsightMemory
from hindsight_memory.cli import app as command
from hindsight_memory.domain import Draft, Jobs, JobState, Scope
from hindsight_memory.remote import Remote
from hindsight_memory.server.mcp import VERBS
from hindsight_memory.service import Service
from hindsight_memory.store.base import Setback, Stage

ANN = Scope(user_id="ann")


async def failed(service: Service) -> str:
    """A memory whose reading was given up."""
    receipt = await service.write(Draft(content="The deploy key rotates"), ANN)
    store = service._parts.store
    while await store.reading(ANN.bank).lacking([receipt.id]):
        await service._parts.indexer.step()
    terms = service._parts.reading
    from hindsight_memory.ingest.reading import terms_of

    await store.claim(Stage.READ, "me", terms_of(terms.settings, terms.clock(), 9))
    async with store.transaction(ANN) as tx:
        await tx.settle(Stage.READ, [], {receipt.id: Setback(reason="extract: no JSON", final=True)})
    return receipt.id


async def test_the_remote_client_answers_as_the_service_does(app: FastAPI) -> None:
    embedded: Service = app.state.service
    remote = Remote(BASE, transport=httpx.ASGITransport(app))
    memory_id = await failed(embedded)
    found = await remote.jobs(ANN)
    assert found == await embedded.jobs(ANN)
    (job,) = found.latest
    assert (job.memory_id, job.state, job.reason) == (memory_id, JobState.FAILED, "extract: no JSON")
    assert (await remote.jobs(ANN, retry=True)) == Jobs(queued=1, retried=1)
    assert (await remote.jobs(Scope(user_id="bob"))) == Jobs()
    await remote.close()


async def test_rest_says_the_states(app: FastAPI) -> None:
    await failed(app.state.service)
    async with client_of(app) as client:
        reply = await client.post("/v1/jobs", json={"user_id": "ann"})
        wrong = await client.post("/v1/jobs", json={"user_id": "ann", "retry": "yes"})
    assert (reply.status_code, reply.json()["failed"], reply.json()["latest"][0]["next"]) == (200, 1, None)
    assert (wrong.status_code, wrong.json()["field"]) == (422, "retry")
    assert "jobs" not in VERBS


def test_people_read_what_waits(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HINDSIGHT_MEMORY_EMBEDDER", "none")
    with HindsightMemory(database, user_id="ann") as memory:
        memory.write("The deploy key rotates")
        assert memory.jobs() == Jobs(queued=1)
        assert memory.jobs(retry=True, user_id="bob") == Jobs()
    for arguments, expected in (
        (["--user-id", "ann"], "1 queued, 0 running, 0 done, 0 failed."),
        (["--user-id", "ann", "--retry", "--json"], '"queued": 1'),
    ):
        result = CliRunner().invoke(command, ["jobs", "--database", str(database), *arguments])
        assert (result.exit_code, expected in result.output) == (0, True), result.output
