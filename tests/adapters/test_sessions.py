"""Sessions at every door: REST addresses, verbs over HTTP, the MCP tool, the commands, both faces in Python."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from jsonschema import Draft202012Validator
from typer.testing import CliRunner

from adapters.conftest import BASE, client_of, serving
from adapters.test_mcp import call, connected, refusal
from adapters.test_rest import assert_problem, post
from hindsight_memory import AsyncHindsightMemory, Conflict, HindsightMemory, InvalidInput, NotFound
from hindsight_memory.cli import app as cli
from hindsight_memory.domain import Appended, Desk, Ended, Message, Scope, Session, SessionState, StatePatch
from hindsight_memory.remote import Remote
from hindsight_memory.server.mcp import FURTHER, VERBS, create_mcp
from hindsight_memory.service import Service
from hindsight_memory.testing import StoppedClock

ANN = Scope(user_id="ann", session_id="s1")
EMPTY: dict[str, Any] = {
    "task_goal": "", "current_step": "", "confirmed_facts": [], "open_questions": [], "decisions": [], "discarded": [],
}  # fmt: skip


def names(kind: Any) -> set[str]:
    return {each.name for each in fields(kind)}


# REST


async def test_a_session_at_its_address(http: httpx.AsyncClient) -> None:
    at, who = "/v1/sessions/s1", {"user_id": "ann"}
    begun = await http.get(at, params=who)
    assert (begun.status_code, begun.json().keys()) == (200, names(Session))
    assert (begun.json()["state"], begun.json()["version"], begun.json()["expires_at"]) == (EMPTY, 0, None)

    put = await http.put(at, params=who, json={"task_goal": "move", "decisions": ["ferry"], "version": 0})
    assert (put.status_code, put.json().keys()) == (200, names(Desk))
    assert_problem(await http.put(at, json={**who, "version": 0}), 409, "conflict", "version")

    patched = await http.patch(at, json={**who, "confirmed_facts": ["it opens at six"], "discarded": ["ferry"]})
    wanted = {**EMPTY, "task_goal": "move", "confirmed_facts": ["it opens at six"], "discarded": ["ferry"]}
    assert (patched.json()["state"], patched.json()["version"]) == (wanted, 2)

    said = await http.post(f"{at}/messages", params=who, json={"messages": [{"content": "We decided to fly."}]})
    assert (said.status_code, said.json().keys()) == (200, names(Appended))
    assert said.json()["state"]["decisions"] == ["We decided to fly"]

    read = (await http.get(at, params={**who, "budget_tokens": 500})).json()
    assert [message["content"] for message in read["messages"]] == ["We decided to fly."]
    assert (await http.get(at)).json()["version"] == 0, "another user's session of that name"

    ended = await http.delete(at, params=who)
    assert (ended.status_code, ended.json().keys()) == (200, names(Ended))
    assert (ended.json()["promoted"], ended.json()["forgotten"]) == (1, 0)
    assert (await http.delete(at, params=who)).json()["promoted"] == 0
    assert (await http.get(at, params=who)).json()["state"] == EMPTY


async def test_a_session_may_be_dropped(http: httpx.AsyncClient) -> None:
    await http.post("/v1/sessions/s1/messages", json={"messages": [{"content": "a message of mine"}], "rules": False})
    dropped = await http.delete("/v1/sessions/s1", params={"discard": "true"})
    assert (dropped.json()["promoted"], dropped.json()["forgotten"]) == (0, 1)
    assert (await post(http, "list", {})).json()["memories"] == []


@pytest.mark.parametrize("name", ["a b", "a/b", "a/messages", "会话", "%_*'\"", "s1?x=1", "a\nb", "a\n"])
async def test_any_name_of_a_session_is_one(http: httpx.AsyncClient, name: str) -> None:
    from urllib.parse import quote

    await http.patch(f"/v1/sessions/{quote(name, safe='')}", json={"task_goal": "here"})
    session = (await post(http, "get_session", {"session_id": name})).json()
    assert (session["session_id"], session["state"]["task_goal"]) == (name, "here")


async def test_addresses_and_verbs_answer_the_same(http: httpx.AsyncClient) -> None:
    await post(http, "patch_session", {"session_id": "s1", "task_goal": "move"})
    await post(http, "append_session", {"session_id": "s1", "messages": [{"content": "A first message."}]})
    assert (await http.get("/v1/sessions/s1")).json() == (await post(http, "get_session", {"session_id": "s1"})).json()


BAD: dict[str, tuple[str, str, dict[str, Any], str]] = {
    "budget": ("GET", "s1", {"params": {"budget_tokens": "many"}}, "budget_tokens"),
    "budget of nothing": ("GET", "s1", {"params": {"budget_tokens": "0"}}, "budget_tokens"),
    "unknown query": ("GET", "s1", {"params": {"budget": "1"}}, "budget"),
    "flag": ("DELETE", "s1", {"params": {"discard": "maybe"}}, "discard"),
    "no user": ("GET", "s1", {"params": {"user_id": ""}}, "user_id"),
    "long name": ("GET", "s" * 201, {}, "session_id"),
    "NUL in the name": ("GET", "a%00b", {}, "session_id"),
    "another name": ("PATCH", "s1", {"json": {"session_id": "s2"}}, "session_id"),
    "unknown field": ("PATCH", "s1", {"json": {"goal": "x"}}, "goal"),
    "text for a list": ("PATCH", "s1", {"json": {"decisions": "x"}}, "decisions"),
    "blank entry": ("PATCH", "s1", {"json": {"decisions": [" "]}}, "decisions"),
    "long entry": ("PUT", "s1", {"json": {"decisions": ["x" * 501]}}, "decisions"),
    "too many": ("PUT", "s1", {"json": {"decisions": [str(n) for n in range(201)]}}, "decisions"),
    "no messages": ("POST", "s1/messages", {"json": {}}, "messages"),
    "a wrong message": ("POST", "s1/messages", {"json": {"messages": [{"content": ""}]}}, "messages[0].content"),
    "a wrong flag": ("POST", "s1/messages", {"json": {"messages": [], "rules": "no"}}, "rules"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
async def test_what_is_wrong_is_named_and_changes_nothing(http: httpx.AsyncClient, case: str) -> None:
    method, name, more, field = BAD[case]
    assert_problem(await http.request(method, f"/v1/sessions/{name}", **more), 422, "invalid_input", field)
    assert (await http.get("/v1/sessions/s1")).json()["version"] == 0


async def test_a_method_that_is_not_there_and_a_body_that_is_none(http: httpx.AsyncClient) -> None:
    assert (await http.post("/v1/sessions/s1", json={})).status_code == 405
    for body in (b"", b"{", b"[]", b'"x"'):
        reply = await http.patch("/v1/sessions/s1", content=body, headers={"Content-Type": "application/json"})
        assert_problem(reply, 422, "invalid_input")


async def test_a_key_is_asked_for_at_the_address_too(database: Path, clock: StoppedClock) -> None:
    async with serving(database, clock, api_key="s3cret") as app, client_of(app) as http:
        for method in ("GET", "PUT", "PATCH", "DELETE"):
            assert_problem(await http.request(method, "/v1/sessions/s1"), 401, "not_authenticated")
        keyed = {"Authorization": "Bearer s3cret"}
        assert (await http.get("/v1/sessions/s1", headers=keyed)).status_code == 200


async def test_a_repeated_request_with_its_key_is_done_once(http: httpx.AsyncClient) -> None:
    async def patch(fact: str, key: str) -> httpx.Response:
        body = {"remove": ["old"], "confirmed_facts": [fact]}
        return await http.patch("/v1/sessions/s1", json=body, headers={"Idempotency-Key": key})

    assert [(await patch("one", key)).json()["version"] for key in ("k1", "k1")] == [1, 1]
    assert_problem(await patch("two", "k1"), 422, "invalid_input", "Idempotency-Key")
    other = await http.delete("/v1/sessions/s1", headers={"Idempotency-Key": "k1"})
    assert_problem(other, 422, "invalid_input", "Idempotency-Key")


async def test_the_address_is_described_and_keeps_to_it(http: httpx.AsyncClient) -> None:
    description = (await http.get("/openapi.json")).json()
    at = description["paths"]["/v1/sessions/{session_id}"]
    assert at.keys() == {"get", "put", "patch", "delete"}
    operations = [*at.values(), description["paths"]["/v1/sessions/{session_id}/messages"]["post"]]
    ids = [one["operationId"] for methods in description["paths"].values() for one in methods.values()]
    assert len(set(ids)) == len(ids)
    for operation in operations:
        assert operation["summary"]
        assert {"401", "403", "422", "429", "503"} <= operation["responses"].keys()
        assert operation["security"]
        parameters = {each["name"]: each for each in operation["parameters"]}
        assert (parameters["session_id"]["in"], parameters["session_id"]["required"]) == ("path", True)
        assert parameters["session_id"]["schema"] == {"type": "string", "minLength": 1, "maxLength": 200}
        assert {"user_id", "agent_id"} <= parameters.keys()
    assert "409" in at["put"]["responses"]
    assert {each["name"] for each in at["get"]["parameters"]} >= {"budget_tokens"}
    decisions = description["components"]["schemas"]["PatchSessionBody"]["properties"]["decisions"]
    assert decisions["maxItems"] == 200
    for operation, reply in (
        (at["get"], await http.get("/v1/sessions/s1")),
        (at["patch"], await http.patch("/v1/sessions/s1", json={"task_goal": "x"})),
        (at["delete"], await http.delete("/v1/sessions/s1")),
    ):
        schema = operation["responses"]["200"]["content"]["application/json"]["schema"]
        Draft202012Validator({**schema, "components": description["components"]}).validate(reply.json())


# The remote client


@pytest.fixture
async def remote(app: FastAPI) -> AsyncIterator[Remote]:
    opened = Remote(BASE, transport=httpx.ASGITransport(app))
    yield opened
    await opened.close()


async def test_the_remote_verbs_are_those_of_the_service(remote: Remote, app: FastAPI) -> None:
    service: Service = app.state.service
    desk = await remote.patch_session(StatePatch(task_goal="move", decisions=["ferry"]), ANN)
    assert desk == await service.patch_session(StatePatch(), ANN)
    appended = await remote.append_session([Message(content="We decided to fly.")], ANN)
    assert appended.state.decisions == ("ferry", "We decided to fly")
    assert await remote.get_session(ANN, 100) == await service.get_session(ANN, 100)
    with pytest.raises(Conflict):
        await remote.put_session(SessionState(), ANN, 1)
    put = await remote.put_session(SessionState(current_step="last"), ANN, 2)
    assert put.state == SessionState(current_step="last")
    assert (await remote.end_session(ANN, discard=True)).forgotten == 1
    with pytest.raises(InvalidInput):
        await remote.get_session(Scope(user_id="ann"))


# MCP


async def test_the_default_tools_stay_nine_and_the_full_list_has_one_for_sessions(service: Service) -> None:
    async with connected(create_mcp(service)) as client:
        assert len((await client.list_tools()).tools) == len(VERBS) == 9
    async with connected(create_mcp(service, full=True)) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert tools.keys() == {f"memory_{verb}" for verb in (*VERBS, *FURTHER)}
        tool = tools["memory_session"]
        assert tool.input_schema["required"] == ["action"]
        assert tool.input_schema["properties"]["action"]["enum"] == ["get", "patch", "append", "end"]
        assert names(StatePatch) <= tool.input_schema["properties"].keys()
        for each in tool.input_schema["properties"].values():
            assert each["type"] in {"string", "integer", "boolean", "array"}
            assert each["description"]


async def test_an_agent_keeps_its_desk_with_one_tool(service: Service) -> None:
    async with connected(create_mcp(service, Scope(user_id="ann", session_id="s1"), full=True)) as client:
        schema = {tool.name: tool.output_schema for tool in (await client.list_tools()).tools}["memory_session"]
        replies = [
            await call(client, "session", action="patch", task_goal="move", confirmed_facts=["it opens at six"]),
            await call(client, "session", action="append", content="We decided to fly.", role="user"),
            await call(client, "session", action="get", budget_tokens=500, content="", decisions=[]),
            await call(client, "session", action="end"),
        ]
        for reply in replies:
            Draft202012Validator(schema).validate(reply)
        assert replies[1]["receipts"][0]["created"]
        assert replies[2]["state"]["decisions"] == ["We decided to fly"]
        assert len(replies[2]["messages"]) == 1
        assert replies[3]["promoted"] == 1
        assert (await refusal(client, "memory_session", {}))["field"] == "action"
        assert (await refusal(client, "memory_session", {"action": "burn"}))["field"] == "action"
        assert (await refusal(client, "memory_session", {"action": "append"}))["field"] == "content"
    async with connected(create_mcp(service)) as client:
        assert (await refusal(client, "memory_session", {"action": "get"}))["field"] == "session_id"


def test_the_command_offers_the_full_list(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from hindsight_memory.server import stdio

    asked: list[bool] = []
    monkeypatch.setattr(stdio, "run_stdio", lambda *_, full: asked.append(full))
    for more in ((), ("--profile", "full")):
        assert CliRunner().invoke(cli, ["mcp", "--database", str(database), *more]).exit_code == 0
    assert asked == [False, True]
    assert CliRunner().invoke(cli, ["mcp", "--profile", "none"]).exit_code == 2


# The command line


def test_the_commands_show_patch_and_end(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HINDSIGHT_MEMORY_EMBEDDER", "none")

    def run(*args: str) -> Any:
        return CliRunner().invoke(cli, ["session", *args, "--database", str(database), "--user-id", "ann"])

    patched = run("patch", "s1", "--task-goal", "move the shop", "--decision", "ferry", "--decisions", "火车", "--json")
    assert patched.exit_code == 0, patched.output
    assert json.loads(patched.stdout)["state"]["decisions"] == ["ferry", "火车"]
    assert run("patch", "s1", "--discarded", "ferry").stdout.splitlines()[-2:] == ["discarded:", "  - ferry"]
    shown = run("show", "s1")
    assert "task_goal: move the shop" in shown.stdout
    assert json.loads(run("show", "s1", "--budget-tokens", "50", "--json").stdout).keys() == names(Session)
    assert run("show", "s1", "--budget-tokens", "0").exit_code == 2
    with HindsightMemory(database, user_id="ann") as memory:
        memory.append_session([{"content": "The warehouse opens at six."}], session_id="s1")
    assert "user: The warehouse opens at six." in run("show", "s1").stdout
    assert run("end", "s1").stdout == "s1 ended: 1 promoted, 0 forgotten.\n"
    assert json.loads(run("end", "s1", "--discard", "--json").stdout).keys() == names(Ended)


# Python


@pytest.fixture(params=["embedded", "remote"])
async def face(
    request: pytest.FixtureRequest, app: FastAPI, clock: StoppedClock
) -> AsyncIterator[AsyncHindsightMemory]:
    memory = AsyncHindsightMemory(user_id="ann", clock=clock)
    memory._service = app.state.service if request.param == "embedded" else Remote(BASE, "", httpx.ASGITransport(app))
    yield memory
    if request.param == "remote":
        await memory.close()


async def test_a_session_in_hand_ends_with_its_block(face: AsyncHindsightMemory) -> None:
    async with face.session("s1") as session:
        assert (session.id, session.version, session.state, session.expires_at) == ("s1", 0, SessionState(), None)
        receipts = await session.append("Help me plan the move to Rotterdam.")
        await session.append([{"content": "We decided to take the ferry.", "role": "assistant"}])
        await session.append("plain words and no rules: we decided to walk", role="user", rules=False)
        assert session.state.task_goal == "Help me plan the move to Rotterdam"
        assert session.state.decisions == ("We decided to take the ferry",)
        assert await session.patch(current_step="book", remove=["We decided to take the ferry"]) == session.state
        assert (session.state.current_step, session.state.decisions) == ("book", ())
        await session.put(SessionState(task_goal="anew"), version=session.version)
        read = await session.read(budget_tokens=400)
        assert session.messages == read.messages
        assert len(read.messages) == 3
        assert session.expires_at is not None
    assert (await face.get(receipts[0].id)).kind == "episodic"
    assert session.state == SessionState(task_goal="anew"), "what it ended with"
    assert (await face.get_session(session_id="s1")).state == SessionState()


@pytest.mark.parametrize("error", [ValueError, asyncio.CancelledError])
async def test_an_error_keeps_the_session_as_it_is(face: AsyncHindsightMemory, error: type[BaseException]) -> None:
    session = face.session("s1")

    async def failing() -> None:
        async with session:
            await session.append("The gate code is 8841.")
            raise error

    with pytest.raises(error):
        await failing()
    (receipt,) = (await session.read()).messages
    assert (await face.get(receipt.id)).kind == "working"
    async with face.session("s1") as again:
        assert [message.content for message in again.messages] == ["The gate code is 8841."]
        assert (await again.end(discard=True)).forgotten == 1
    with pytest.raises(NotFound):
        await face.get(receipt.id)


async def test_a_session_in_hand_may_be_another_users(face: AsyncHindsightMemory) -> None:
    async with face.session("s1", user_id="bob", agent_id="coder") as session:
        await session.append("Bob said this.")
    assert len((await face.list(user_id="bob", session="s1", agent="coder")).memories) == 1
    assert (await face.list()).memories == ()


def test_the_blocking_face_has_the_same_session(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from hindsight_memory.sessions import AsyncSession, BlockingSession

    def public(kind: type) -> set[str]:
        return {name for name in dir(kind) if not name.startswith("_")}

    assert public(BlockingSession) == public(AsyncSession) | {"messages"}
    monkeypatch.setenv("HINDSIGHT_MEMORY_EMBEDDER", "none")
    with HindsightMemory(database, user_id="ann") as memory:
        with memory.session("s1") as session:
            session.append("We decided to take the ferry.")
            assert session.patch(task_goal="move").decisions == ("We decided to take the ferry",)
            assert (session.id, session.version) == ("s1", 2)
            assert session.put(SessionState(), version=2) == SessionState()
            assert session.read(300).messages == session.messages
            assert session.expires_at is not None
        assert [each.kind for each in memory.list().memories] == ["episodic"]
        kept = memory.session("s2")
        kept.append("It stays on the desk.")
        with pytest.raises(ValueError, match="mine"), kept:
            raise ValueError("mine")
        assert memory.session("s2").end(discard=True).forgotten == 1
        assert memory.end_session(session_id="s2").promoted == 0
        assert memory.patch_session(session_id="s3", decisions=["x"]).version == 1
        assert memory.put_session(SessionState(), session_id="s3").version == 2
        assert memory.append_session([{"content": "one more thing"}], session_id="s3").receipts[0].created
        assert memory.get_session(session_id="s3", budget_tokens=200).left_out == 0
