"""jobs at every door: REST, the remote client, the command line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from typer.testing import CliRunner

from adapters.conftest import BASE, client_of
from hindsight_memory import HindsightMemory, InvalidInput, build
from hindsight_memory.assist.assistant import Rules, Task
from hindsight_memory.assist.llm import LLMAssistant
from hindsight_memory.cli import app as command
from hindsight_memory.domain import Draft, Jobs, JobState, Scope
from hindsight_memory.remote import Remote
from hindsight_memory.server.mcp import VERBS
from hindsight_memory.service import Service
from hindsight_memory.settings import Settings
from hindsight_memory.store.base import Setback, Stage
from readers import ReadingLLM

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


async def test_reading_now_answers_the_same_at_every_door(app: FastAPI) -> None:
    embedded: Service = app.state.service
    remote = Remote(BASE, transport=httpx.ASGITransport(app))
    await embedded.write(Draft(content="The deploy key rotates"), ANN)
    for asked in (remote.jobs(ANN, run=True), embedded.jobs(ANN, run=True)):
        with pytest.raises(InvalidInput, match="No language model is set"):
            await asked
    embedded._parts.reading.assistant = embedded._parts.reading.judge.assistant = LLMAssistant(
        dict.fromkeys(Task, ReadingLLM()), Rules(), 5, 3_000
    )
    async with client_of(app) as client:
        wrong = await client.post("/v1/jobs", json={"user_id": "ann", "run": True, "within_s": 0})
    assert (wrong.status_code, wrong.json()["field"]) == (422, "within_s")
    assert await remote.jobs(ANN, run=True, within_s=50) == Jobs(done=1, read=1)
    await remote.close()


@pytest.fixture
def spoken(database: Path, monkeypatch: pytest.MonkeyPatch) -> ReadingLLM:
    """A language model that every command finds set, and something for it to read."""
    llm = ReadingLLM()
    plain = build.build

    async def with_model(settings: Settings, *args: Any, **options: Any) -> Service:
        quick = replace(settings, llm=replace(settings.llm, timeout_s=0.05))
        return await plain(quick, *args, **{**options, "llm": llm})

    monkeypatch.setattr(build, "build", with_model)
    monkeypatch.setenv("HINDSIGHT_MEMORY_EMBEDDER", "none")
    with HindsightMemory(database, user_id="ann") as memory:
        memory.write_conversation([{"content": f"It rained on day {n} of the fair"} for n in range(3)], session_id="s")
    return llm


@pytest.mark.parametrize("arguments", [["jobs", "--run", "--user-id", "ann"], ["maintain"]])
def test_a_command_has_read_what_waits(database: Path, spoken: ReadingLLM, arguments: list[str]) -> None:
    result = CliRunner().invoke(command, [*arguments, "--database", str(database)])
    assert result.exit_code == 0, result.output
    assert ("3 read now." if arguments[0] == "jobs" else "done: 3 read") in result.output
    assert len(spoken.read) == 3
    result = CliRunner().invoke(command, ["jobs", "--database", str(database), "--user-id", "ann", "--json"])
    assert (result.exit_code, '"done": 3' in result.output) == (0, True), result.output


def test_a_command_says_that_the_model_does_not_answer(database: Path, spoken: ReadingLLM) -> None:
    spoken.broken = "failed"
    asked = ["jobs", "--run", "--user-id", "ann", "--database", str(database)]
    result = CliRunner().invoke(command, asked)
    assert result.exit_code == 6, result.output
    assert "0 read now. The language model does not answer" in result.output
    assert "3 queued, 0 running, 0 done, 0 failed." in result.output
    assert CliRunner().invoke(command, [*asked, "--json"]).exit_code == 6
    result = CliRunner().invoke(command, ["maintain", "--database", str(database)])
    assert (result.exit_code, "the language model does not answer" in result.output) == (0, True), result.output


def test_a_command_says_that_there_is_no_model(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HINDSIGHT_MEMORY_EMBEDDER", "none")
    with HindsightMemory(database, user_id="ann") as memory:
        memory.write("The deploy key rotates")
    result = CliRunner().invoke(command, ["jobs", "--run", "--database", str(database)])
    assert (result.exit_code, "No language model is set" in result.output) == (2, True), result.output
