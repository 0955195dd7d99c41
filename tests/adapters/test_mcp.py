"""MCP: tools, schemas, errors and both transports, with the SDK's own client."""

from __future__ import annotations

import asyncio
import json
import socket
import sys
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from fastapi import FastAPI
from jsonschema import Draft202012Validator
from mcp import Client
from mcp.client.sse import sse_client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_types import CallToolResult

from adapters.conftest import client_of
from adapters.doors import BAD_CALLS, BAD_WRITES, ODD_TEXTS
from hindsight_memory.build import build
from hindsight_memory.domain import Changes, Draft, Listing, Message, Query, Scope, Who
from hindsight_memory.server.app import create_app
from hindsight_memory.server.mcp import INSTRUCTIONS, LEFT_OUT, VERBS, create_mcp
from hindsight_memory.service import Service
from hindsight_memory.settings import EmbedSettings, Settings

KEYWORDS = {"type", "properties", "required", "additionalProperties", "items", "enum", "description"}
TYPES = {"string", "number", "integer", "boolean", "array", "object"}

SERVER = """
import sys
from hindsight_memory.server.stdio import run_stdio

async def opened():
    from hindsight_memory.build import build, settings_from
    print("a library that prints")
    sys.stdout.write("and one that does not even end its line")
    return await build(settings_from(database=sys.argv[1]))

run_stdio(opened)
"""


@pytest.fixture
async def mcp(service: Service) -> AsyncIterator[Client]:
    async with connected(create_mcp(service)) as client:
        yield client


@asynccontextmanager
async def connected(server: Any, mode: str = "legacy") -> AsyncIterator[Client]:
    """A client in a task of its own, which opens and closes it."""
    begun: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
    ending = asyncio.Event()

    async def live() -> None:
        async with Client(server, mode=mode) as client:
            begun.set_result(client)
            await ending.wait()

    task = asyncio.create_task(live())
    await asyncio.wait([task, begun], return_when=asyncio.FIRST_COMPLETED)
    try:
        yield begun.result() if begun.done() else await task  # type: ignore[func-returns-value]
    finally:
        ending.set()
        await task


async def call(client: Client, verb: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(f"memory_{verb}", arguments)
    assert isinstance(result, CallToolResult)
    assert not result.is_error, result.content
    assert json.loads(result.content[0].text) == result.structured_content  # type: ignore[union-attr]
    assert isinstance(result.structured_content, dict)
    return result.structured_content


async def refusal(client: Client, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert isinstance(result, CallToolResult)
    assert result.is_error
    said = result.structured_content
    assert isinstance(said, dict)
    assert said.keys() == {"code", "message", "hint", "field"}
    assert result.content[0].text == f"{said['message']} {said['hint']}".strip()  # type: ignore[union-attr]
    return said


def every_schema(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield schema
    for each in schema.get("properties", {}).values():
        yield from every_schema(each)
    if "items" in schema:
        yield from every_schema(schema["items"])


async def test_nine_tools_with_plain_schemas(mcp: Client) -> None:
    tools = (await mcp.list_tools()).tools
    assert [tool.name for tool in tools] == [f"memory_{verb}" for verb in VERBS]
    assert len(tools) <= 9
    for tool in tools:
        assert tool.description
        assert tool.output_schema is not None
        for root in (tool.input_schema, tool.output_schema):
            assert root["type"] == "object"
            for schema in every_schema(root):
                assert schema.keys() <= KEYWORDS
                assert schema["type"] in TYPES
                assert ("items" in schema) == (schema["type"] == "array")
                assert all(isinstance(each, str) and each for each in schema.get("enum", ["some"]))
                assert set(schema.get("required", [])) <= schema.get("properties", {}).keys()
            Draft202012Validator.check_schema(root)
        for schema in every_schema(tool.input_schema):
            assert (schema.get("additionalProperties") is False) == ("properties" in schema)
            for each in schema.get("properties", {}).values():
                assert each["description"]
                assert "\n" not in each["description"]
    assert len(json.dumps([tool.input_schema for tool in tools])) < 20_000


async def test_tools_take_the_fields_of_the_domain(mcp: Client) -> None:
    tools = {tool.name: tool.input_schema for tool in (await mcp.list_tools()).tools}
    pairs = [("write", Draft), ("search", Query), ("context", Query), ("list", Listing), ("update", Changes)]
    for verb, kind in pairs:
        names = {each.name for each in fields(kind)} | {each.name for each in fields(Who)}
        assert names - LEFT_OUT <= tools[f"memory_{verb}"]["properties"].keys()
    message = tools["memory_write_conversation"]["properties"]["messages"]["items"]
    assert message["properties"].keys() == {each.name for each in fields(Message)}
    assert tools["memory_write"]["properties"]["metadata"]["type"] == "object"
    assert tools["memory_write"]["required"] == ["content"]


async def test_reads_are_marked_and_the_host_is_told_how_to_use_them(mcp: Client) -> None:
    marks = {tool.name: tool.annotations for tool in (await mcp.list_tools()).tools}
    reading = {name for name, mark in marks.items() if mark and mark.read_only_hint}
    assert reading == {"memory_search", "memory_context", "memory_get", "memory_list"}
    destroying = {name for name, mark in marks.items() if mark and mark.destructive_hint}
    assert destroying == {"memory_update", "memory_forget"}
    assert mcp.instructions == INSTRUCTIONS
    assert len(INSTRUCTIONS) <= 1_200


async def test_replies_are_those_of_rest_and_valid_against_their_schema(app: FastAPI) -> None:
    async with client_of(app) as http, connected(create_mcp(app.state.service)) as client:
        schemas = {tool.name: tool.output_schema for tool in (await client.list_tools()).tools}
        written = await call(client, "write", content="I take oat milk", metadata={"a": 1}, tags=["drink"])
        number = written["id"]
        replies = {"write": written}
        for verb, body in {
            "search": {"text": "milk today"},
            "get": {"memory_id": number},
            "list": {"tags": ["drink"]},
            "context": {"text": "milk"},
        }.items():
            replies[verb] = await call(client, verb, **body)
            assert replies[verb] == (await http.post(f"/v1/{verb}", json=body)).json()
        turns = [{"content": "I moved to Lyon"}]
        replies["write_conversation"] = await call(client, "write_conversation", session_id="s", messages=turns)
        replies["update"] = await call(client, "update", memory_id=number, pinned=False, importance=0.9)
        assert (replies["update"]["pinned"], replies["update"]["importance"]) == (False, 0.9)
        replies["forget"] = await call(client, "forget", memory_id=number, reason="old")
        replies["restore"] = await call(client, "restore", memory_id=number)
        for verb, reply in replies.items():
            Draft202012Validator(schemas[f"memory_{verb}"]).validate(reply)
        assert replies.keys() == VERBS.keys()


async def test_blank_optional_fields_say_nothing(mcp: Client) -> None:
    tools = {tool.name: tool.input_schema for tool in (await mcp.list_tools()).tools}
    blank: dict[str, Any] = {"string": "", "array": [], "object": {}, "integer": 0, "number": 0}
    for verb, needed in {"write": {"content": "I take oat milk"}, "search": {"text": "milk"}, "list": {}}.items():
        properties = tools[f"memory_{verb}"]["properties"]
        filled = {name: blank[each["type"]] for name, each in properties.items() if each["type"] in blank}
        reply = await call(mcp, verb, **{**filled, **needed})
        assert reply == await call(mcp, verb, **needed) or verb == "write"
    memory = (await call(mcp, "list"))["memories"][0]
    assert (memory["importance"], memory["kind"], memory["key"]) == (0.5, "semantic", None)
    assert (await call(mcp, "update", memory_id=memory["id"], content="", tags=[], pinned=True))["pinned"]
    changed = await call(mcp, "update", memory_id=memory["id"], pinned=False, key=None)
    assert (changed["content"], changed["pinned"]) == ("I take oat milk", False)


async def test_a_bound_scope_is_whose_memory_is_meant(service: Service) -> None:
    bound = Scope(user_id="alice", agent_id="coder", session_id="s1")
    async with connected(create_mcp(service, bound)) as client:
        await call(client, "write", content="I take oat milk")
        memory = (await call(client, "list"))["memories"][0]
        assert (memory["bank_id"], memory["agent_id"], memory["session_id"]) == ("default/alice", "coder", "s1")
        assert (await call(client, "list", user_id="bob"))["memories"] == []
        assert (await call(client, "list", user_id=""))["memories"] == [memory]


@pytest.mark.parametrize("case", BAD_WRITES)
async def test_a_wrong_draft_is_refused_as_rest_refuses_it(app: FastAPI, case: str) -> None:
    body, code, field = BAD_WRITES[case]
    async with client_of(app) as http, connected(create_mcp(app.state.service), "auto") as client:
        said = await refusal(client, "memory_write", body)
        assert (said["code"], said["field"]) == (code, field)
        reply = await http.post(
            "/v1/write", content=json.dumps(body).encode(), headers={"Content-Type": "application/json"}
        )
        assert {name: reply.json()[name] for name in said} == said
        assert (await call(client, "list"))["memories"] == []


@pytest.mark.parametrize("case", BAD_CALLS)
async def test_a_wrong_call_is_refused_as_rest_refuses_it(mcp: Client, case: str) -> None:
    verb, body, code, field = BAD_CALLS[case]
    said = await refusal(mcp, f"memory_{verb}", body)
    assert (said["code"], said["field"]) == (code, field)


async def test_an_unknown_tool_is_refused(mcp: Client) -> None:
    for name in ("memory_remember", "write", "memory_explain", ""):
        assert (await refusal(mcp, name, {}))["field"] == "name"


async def test_a_fault_of_ours_says_nothing_of_the_memory(mcp: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(*_: Any) -> Any:
        raise RuntimeError("the text of a memory")

    monkeypatch.setattr(Service, "search", fail)
    said = await refusal(mcp, "memory_search", {"text": "a"})
    assert said["code"] == "internal"
    assert "the text of a memory" not in str(said)


@pytest.mark.parametrize("case", ODD_TEXTS)
async def test_odd_text_is_stored_and_found(mcp: Client, case: str) -> None:
    await call(mcp, "write", content=ODD_TEXTS[case])
    assert (await call(mcp, "list"))["memories"][0]["content"] == ODD_TEXTS[case].replace("\0", "")
    await call(mcp, "search", text=ODD_TEXTS[case])


async def test_http_answers_with_and_without_a_slash(app: FastAPI) -> None:
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    accept = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}
    async with client_of(app, **accept) as http:
        for address in ("/mcp", "/mcp/"):
            reply = await http.post(address, json=asked)
            assert reply.status_code == 200
            assert "memory_write" in reply.text


async def remembers(client: Client) -> None:
    """What a user of an assistant does, by meaning and not by words."""
    assert len((await client.list_tools()).tools) == 9
    number = (await call(client, "write", content="记住我喜欢喝美式咖啡"))["id"]
    await call(client, "write", content="The deployment runs on port 8443")

    async def found() -> list[str]:
        return [hit["memory"]["id"] for hit in (await call(client, "search", text="推荐个饮品"))["hits"]]

    assert (await found())[0] == number
    await call(client, "forget", memory_id=number)
    assert number not in await found()
    await call(client, "restore", memory_id=number)
    assert (await found())[0] == number


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_over_stdio(tmp_path: Path, mode: str) -> None:
    command = StdioServerParameters(command=sys.executable, args=["-c", SERVER, str(tmp_path / "memory.db")])
    with (tmp_path / "log").open("w+") as log:
        async with connected(stdio_client(command, errlog=log), mode) as client:
            await remembers(client)
        log.seek(0)
        assert "a library that prints" in log.read()


@pytest.mark.slow
async def test_stdio_answers_at_once_and_ends_with_its_input(tmp_path: Path) -> None:
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    arguments = {"content": "I take oat milk", "wait": "stored"}
    lines = [
        {"id": 1, "method": "initialize", "params": hello},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": "memory_write", "arguments": arguments}},
        {"id": 3, "method": "tools/call", "params": {"name": "memory_wrote", "arguments": {}}},
    ]
    text = "".join(json.dumps({"jsonrpc": "2.0", **line}) + "\n" for line in lines)
    database = tmp_path / "memory.db"
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", SERVER, str(database)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    said, log = await process.communicate(text.encode())
    assert process.returncode == 0, log
    replies = {reply["id"]: reply for reply in map(json.loads, said.decode().splitlines())}
    assert replies.keys() == {1, 2, 3}
    assert replies[2]["result"]["structuredContent"]["created"]
    assert replies[3]["result"]["isError"]
    service = await build(Settings(database=str(database), embed=EmbedSettings(names="none")))
    assert len((await service.list(Listing(), Scope())).memories) == 1
    await service.close()


@asynccontextmanager
async def listening(database: Path, **options: Any) -> AsyncIterator[str]:
    """A real server on a free port, in this process."""
    service = await build(Settings(database=str(database)))
    app = create_app(service, **options)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=port, log_level="warning"))
    task = asyncio.create_task(server.serve())
    while not server.started:  # noqa: ASYNC110  # uvicorn has no event for it
        await asyncio.sleep(0.02)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        await task


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_over_http(tmp_path: Path, mode: str) -> None:
    async with listening(tmp_path / "memory.db") as base, connected(f"{base}/mcp", mode) as client:
        await remembers(client)


@pytest.mark.slow
async def test_over_server_sent_events(tmp_path: Path) -> None:
    async with listening(tmp_path / "memory.db") as base, connected(sse_client(f"{base}/sse")) as client:
        await remembers(client)


@pytest.mark.slow
async def test_a_quiet_stream_has_a_heartbeat(tmp_path: Path) -> None:
    async with (
        listening(tmp_path / "memory.db", heartbeat_s=0.1) as base,
        httpx.AsyncClient() as http,
        http.stream("GET", f"{base}/sse") as stream,
    ):
        begun, beats = time.monotonic(), 0
        async for line in stream.aiter_lines():
            beats += line == ": heartbeat"
            if beats == 3:
                break
        assert time.monotonic() - begun < 5
