"""REST: verbs, problems, limits, keys, guards, the description and the page."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from jsonschema import Draft202012Validator

from adapters.conftest import BASE, client_of, serving
from adapters.doors import BAD_CALLS, BAD_WRITES, ODD_TEXTS
from hindsight_memory.domain import Draft, Query, Scope
from hindsight_memory.errors import InvalidInput, Unavailable
from hindsight_memory.remote import Remote
from hindsight_memory.server.auth import check_bind
from hindsight_memory.server.calls import CALLS
from hindsight_memory.service import Service
from hindsight_memory.testing import StoppedClock
from hindsight_memory.wire import to_wire

PROBLEM = {"type", "title", "status", "detail", "code", "message", "hint", "field"}


async def post(http: httpx.AsyncClient, verb: str, body: Any, **headers: str) -> httpx.Response:
    content = json.dumps(body).encode()
    return await http.post(f"/v1/{verb}", content=content, headers={"Content-Type": "application/json", **headers})


async def stored(http: httpx.AsyncClient, **fields: Any) -> str:
    reply = await post(http, "write", {"content": "I take oat milk", "wait": "indexed", **fields})
    return str(reply.json()["id"])


async def count(http: httpx.AsyncClient) -> int:
    return len((await post(http, "list", {})).json()["memories"])


def assert_problem(reply: httpx.Response, status: int, code: str, field: str | None = None) -> None:
    assert reply.headers["content-type"] == "application/problem+json"
    problem = reply.json()
    assert problem.keys() == PROBLEM
    assert (reply.status_code, problem["status"], problem["code"], problem["field"]) == (status, status, code, field)
    assert problem["message"]
    assert len(reply.content) < 2_500


async def test_a_memory_is_written_found_changed_forgotten_and_restored(http: httpx.AsyncClient) -> None:
    written = await post(http, "write", {"content": "I take oat milk", "wait": "indexed"})
    assert (written.status_code, written.json()["action"], written.json()["created"]) == (201, "added", True)
    assert (await post(http, "write", {"content": "I take oat milk"})).status_code == 200
    number = written.json()["id"]

    hits = (await post(http, "search", {"text": "milk"})).json()["hits"]
    assert [hit["memory"]["id"] for hit in hits] == [number]
    assert "oat milk" in (await post(http, "context", {"text": "milk", "budget_tokens": 200})).json()["text"]
    assert (await post(http, "explain", {"text": "milk", "memory_id": number})).json()["why"]["sentence"]

    changed = await post(http, "update", {"memory_id": number, "content": "I take soy milk", "version": 1})
    assert (changed.status_code, changed.json()["content"]) == (200, "I take soy milk")
    again = await post(http, "update", {"memory_id": number, "content": "I take rice milk", "version": 1})
    assert_problem(again, 409, "conflict", "version")

    assert (await post(http, "forget", {"memory_id": number, "reason": "old"})).json()["status"] == "deleted"
    assert (await post(http, "search", {"text": "milk"})).json() == {"hits": []}
    assert_problem(await post(http, "get", {"memory_id": number}), 404, "not_found", "memory_id")
    assert (await post(http, "restore", {"memory_id": number})).json()["status"] == "active"
    assert (await post(http, "get", {"memory_id": number})).json()["content"] == "I take soy milk"


async def test_several_at_once_and_conversations(http: httpx.AsyncClient) -> None:
    many = await post(http, "write_many", {"drafts": [{"content": "one"}, {"content": "two"}], "user_id": "bob"})
    assert [each["created"] for each in many.json()["receipts"]] == [True, True]
    turns = [{"content": "I moved to Lyon", "role": "user"}, {"content": "How nice!", "role": "assistant"}]
    said = await post(http, "write_conversation", {"messages": turns, "session_id": "s1", "user_id": "bob"})
    assert len(said.json()["receipts"]) == 2
    page = (await post(http, "list", {"user_id": "bob", "limit": 3})).json()
    assert len(page["memories"]) == 3
    rest = (await post(http, "list", {"user_id": "bob", "limit": 3, "after": page["next"]})).json()
    assert (len(rest["memories"]), rest["next"]) == (1, None)
    assert await count(http) == 0


async def test_replies_have_exactly_the_fields_of_the_domain(app: FastAPI, http: httpx.AsyncClient) -> None:
    await stored(http, metadata={"a": {"b": 1}}, tags=["drink"], key="preference.favorite_drink")
    query = {"text": "milk today"}
    reply = (await post(http, "search", query)).json()["hits"][0]
    async with client_of(app) as client:
        remote = Remote(BASE, transport=client._transport)
        hit = (await remote.search(Query(**query), Scope()))[0]
    assert to_wire(hit) == reply
    assert reply["memory"]["created_at"] == "2026-05-04T09:00:00Z"


@pytest.mark.parametrize("case", BAD_WRITES)
async def test_a_wrong_draft_is_a_problem_that_names_the_field(http: httpx.AsyncClient, case: str) -> None:
    body, code, field = BAD_WRITES[case]
    assert_problem(await post(http, "write", body), 422, code, field)
    many = await post(http, "write_many", {"drafts": [{"content": "good"}, body]})
    assert many.status_code == 422
    assert await count(http) == 0


@pytest.mark.parametrize("case", BAD_CALLS)
async def test_a_wrong_call_is_a_problem_that_names_the_field(http: httpx.AsyncClient, case: str) -> None:
    verb, body, code, field = BAD_CALLS[case]
    assert_problem(await post(http, verb, body), 404 if code == "not_found" else 422, code, field)
    assert await count(http) == 0


@pytest.mark.parametrize("case", ODD_TEXTS)
async def test_odd_text_is_stored_found_and_shown_as_text(http: httpx.AsyncClient, case: str) -> None:
    text = ODD_TEXTS[case]
    await stored(http, content=text)
    found = (await post(http, "list", {})).json()["memories"][0]["content"]
    assert found == text.replace("\0", "")
    assert (await post(http, "search", {"text": text})).status_code == 200
    page = await http.get("/", params={"q": text.replace("\0", "")})
    assert page.status_code == 200
    assert "<script" not in page.text


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"{", "application/json"),
        (b"", "application/json"),
        (b"[1]", "application/json"),
        (b'"text"', "application/json"),
        (b"null", "application/json"),
        (b"\xff\xfe{}", "application/json"),
        (b"[" * 100_000, "application/json"),
        (b'{"content": ' + b"9" * 5_000 + b"}", "application/json"),
        (b'{"content": "a page elsewhere can send this"}', "text/plain"),
    ],
)
async def test_what_is_not_a_json_object_is_a_problem(http: httpx.AsyncClient, content: bytes, kind: str) -> None:
    reply = await http.post("/v1/write", content=content, headers={"Content-Type": kind})
    assert_problem(reply, 422, "invalid_input")
    assert await count(http) == 0


async def test_unknown_address_and_method(http: httpx.AsyncClient) -> None:
    assert_problem(await post(http, "remember", {}), 404, "not_found")
    wrong = await http.get("/v1/write")
    assert_problem(wrong, 405, "invalid_input")
    assert wrong.headers["allow"] == "POST"


async def test_a_fault_of_ours_says_nothing_of_the_memory(
    http: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: Any) -> Any:
        raise RuntimeError("the text of a memory")

    monkeypatch.setattr(Service, "search", fail)
    reply = await post(http, "search", {"text": "a"})
    assert_problem(reply, 500, "internal")
    assert "the text of a memory" not in reply.text


async def test_health(http: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch) -> None:
    ready = await http.get("/health/ready")
    assert {check["name"] for check in ready.json()["checks"]} >= {"database", "embedder"}

    async def fail(_: Any) -> Any:
        raise Unavailable("The disk is gone.")

    monkeypatch.setattr(Service, "ready", fail)
    assert_problem(await http.get("/health/ready"), 503, "unavailable")
    assert (await http.get("/health/live")).json() == {"status": "ok"}


async def test_a_long_body_is_refused_declared_or_not(database: Path, clock: StoppedClock) -> None:
    async def endless() -> AsyncIterator[bytes]:
        for _ in range(1_000):
            yield b"x" * 1_000
        raise AssertionError("it was read to its end")

    async with serving(database, clock, body_bytes=5_000) as app, client_of(app) as http:
        kind = {"Content-Type": "application/json"}
        assert_problem(await http.post("/v1/write", content=b"x" * 6_000, headers=kind), 413, "invalid_input")
        assert_problem(await http.post("/v1/write", content=endless(), headers=kind), 413, "invalid_input")
        assert_problem(await http.post("/mcp", content=endless(), headers=kind), 413, "invalid_input")
        assert (await post(http, "write", {"content": "x" * 4_000})).status_code == 201


async def test_a_repeated_key_is_done_once(http: httpx.AsyncClient) -> None:
    body = {"messages": [{"content": "I moved to Lyon"}], "session_id": "s"}
    name = {"Idempotency-Key": "k1"}
    first, second = await asyncio.gather(*(post(http, "write_conversation", body, **name) for _ in range(2)))
    assert first.content == second.content
    assert await count(http) == 1
    other = await post(http, "write_conversation", {**body, "session_id": "t"}, **name)
    assert_problem(other, 422, "invalid_input", "Idempotency-Key")
    assert_problem(await post(http, "write", {"content": "a"}, **name), 422, "invalid_input", "Idempotency-Key")
    assert_problem(
        await post(http, "write", {"content": "a"}, **{"Idempotency-Key": "k" * 300}),
        422,
        "invalid_input",
        "Idempotency-Key",
    )


async def test_a_failure_is_not_remembered(http: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(*_: Any) -> Any:
        raise Unavailable("The disk is full.")

    with monkeypatch.context() as patch:
        patch.setattr(Service, "write", fail)
        failed = await post(http, "write", {"content": "a"}, **{"Idempotency-Key": "k"})
        assert_problem(failed, 503, "unavailable")
    repeated = await post(http, "write", {"content": "a"}, **{"Idempotency-Key": "k"})
    assert repeated.status_code == 201
    assert (await post(http, "write", {"content": "a"}, **{"Idempotency-Key": "k"})).status_code == 201


async def test_a_key_is_asked_for_at_every_door(database: Path, clock: StoppedClock) -> None:
    async with serving(database, clock, api_key="s3cret") as app, client_of(app) as http:
        for address in ("/v1/search", "/mcp", "/mcp/", "/messages/"):
            refused = await http.post(address, json={"text": "a"})
            assert_problem(refused, 401, "not_authenticated")
            assert refused.headers["www-authenticate"] == "Bearer"
        for wrong in ("Bearer", "Bearer no", "s3cret", "Bearer s3cret2", "Basic s3cret", "Basic OnMzY3JldA=="):
            assert_problem(await post(http, "search", {"text": "a"}, Authorization=wrong), 401, "not_authenticated")
        assert (await post(http, "search", {"text": "a"}, Authorization="Bearer s3cret")).status_code == 200
        assert (await post(http, "search", {"text": "a"}, **{"X-API-Key": "s3cret"})).status_code == 200
        assert (await http.get("/health/ready")).status_code == 200
        assert (await http.get("/")).status_code == 401
        assert (await http.get("/", auth=("anyone", "s3cret"))).status_code == 200


async def test_a_server_without_a_key_answers_this_machine_only(http: httpx.AsyncClient) -> None:
    for host in ("evil.example", "127.0.0.1.evil.example", "10.0.0.1:8765", "[::ffff:1", ""):
        assert_problem(await post(http, "search", {"text": "a"}, Host=host), 403, "not_allowed")
    for host in ("localhost", "localhost:8765", "127.0.0.1", "[::1]:8765"):
        assert (await post(http, "search", {"text": "a"}, Host=host)).status_code == 200
    for origin in ("https://evil.example", "null", "http://localhost:3000"):
        for address in ("/v1/write", "/mcp"):
            refused = await http.post(address, json={"content": "a"}, headers={"Origin": origin})
            assert_problem(refused, 403, "not_allowed")
    assert (await post(http, "search", {"text": "a"}, Origin=BASE)).status_code == 200
    assert "access-control-allow-origin" not in (await http.get("/health/live")).headers


def test_a_server_without_a_key_binds_to_this_machine_only() -> None:
    for host in ("127.0.0.1", "localhost", "::1", "127.0.0.2"):
        check_bind(host, "")
    check_bind("0.0.0.0", "key")
    for host in ("0.0.0.0", "::", "192.168.1.4", "example.com", ""):
        with pytest.raises(InvalidInput, match="HINDSIGHT_MEMORY_API_KEY"):
            check_bind(host, "")


async def test_replies_carry_security_headers(http: httpx.AsyncClient) -> None:
    for address in ("/", "/health/live", "/nowhere"):
        headers = (await http.get(address)).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert "default-src 'self'" in headers["content-security-policy"]


async def test_every_verb_is_described_in_full(http: httpx.AsyncClient) -> None:
    description = (await http.get("/openapi.json")).json()
    addresses = {"/v1/sessions/{session_id}", "/v1/sessions/{session_id}/messages"}
    addresses |= {"/v1/keys", "/v1/keys/{key_id}", "/v1/keys/{key_id}/rotate", "/health/live", "/health/ready"}
    addresses |= {"/v1/export"}  # bytes, and no JSON
    assert set(description["paths"]) == {f"/v1/{verb}" for verb in CALLS} | addresses
    for verb, call in CALLS.items():
        operation = description["paths"][f"/v1/{verb}"]["post"]
        assert operation["summary"]
        schema = operation["responses"]["200"]["content"]["application/json"]["schema"]
        assert schema["$ref"].endswith(f"/{call.reply.__name__}")
        for status in ("401", "403", "422", "429", "503"):
            assert operation["responses"][status]["content"].keys() == {"application/problem+json"}
    assert "409" in description["paths"]["/v1/restore"]["post"]["responses"]
    content = description["components"]["schemas"]["WriteBody"]["properties"]["content"]
    assert (content["minLength"], content["maxLength"]) == (1, 100_000)
    assert "ValidationError" not in json.dumps(description)


async def test_replies_are_valid_against_their_description(http: httpx.AsyncClient) -> None:
    description = (await http.get("/openapi.json")).json()
    number = await stored(http)
    bodies: dict[str, Any] = {
        "write_many": {"drafts": [{"content": "two"}]},
        "search": {"text": "milk"},
        "explain": {"text": "milk", "memory_id": number},
        "get": {"memory_id": number},
        "list": {},
        "doctor": {},
        "nobody": {"memory_id": "nobody"},
    }
    for verb, body in bodies.items():
        path = "get" if verb == "nobody" else verb
        reply = await post(http, path, body)
        responses = description["paths"][f"/v1/{path}"]["post"]["responses"]
        content = responses[str(reply.status_code)]["content"][reply.headers["content-type"]]
        schema = {**content["schema"], "components": description["components"]}
        Draft202012Validator(schema).validate(reply.json())


async def test_the_page_shows_what_is_remembered(http: httpx.AsyncClient) -> None:
    assert "Nothing is remembered yet" in (await http.get("/")).text
    await stored(http, speaker="Ann", key="preference.milk")
    newest = (await http.get("/")).text
    assert "I take oat milk" in newest
    assert "memory.db" in newest
    assert "testing" in newest
    found = (await http.get("/", params={"q": "milk"})).text
    for shown in ("score", "confidence", "by its words", "Ann", "2026-05-04 09:00 UTC"):
        assert shown in found
    wrong = await http.get("/", params={"user_id": "x" * 201})
    assert (wrong.status_code, 'role="alert"' in wrong.text) == (422, True)
    assert (await http.get("/", params={"user_id": "bob"})).text.count("<li>") == 0
    assert "<script" not in found
    assert "http://" not in found.replace(BASE, "")


async def test_a_stopped_server_has_kept_everything(database: Path, clock: StoppedClock) -> None:
    async with serving(database, clock) as app, client_of(app) as http:
        await post(http, "write", {"content": "I take oat milk"})
    async with serving(database, clock) as app, client_of(app) as http:
        assert await count(http) == 1
        assert "0 memories wait" in (await http.get("/health/ready")).text


def test_drafts_and_bodies_have_the_same_fields() -> None:
    assert Draft.__dataclass_fields__.keys() <= CALLS["write"].body.__dataclass_fields__.keys()
    assert Query.__dataclass_fields__.keys() <= CALLS["search"].body.__dataclass_fields__.keys()
