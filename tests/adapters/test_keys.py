"""Keys at every door: who comes in, as whom, how often; and what a reply, or a log, must never tell."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pytest
from fastapi import FastAPI
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from typer.testing import CliRunner

from adapters.conftest import BASE, client_of, serving
from adapters.test_mcp import call, connected, refusal
from hindsight_memory import errors
from hindsight_memory.cli import app as command
from hindsight_memory.domain import Draft, KeyListing, Listing, NewKey, Query, Scope
from hindsight_memory.remote import Remote
from hindsight_memory.server.app import run_server, server_of
from hindsight_memory.server.auth import check_tls
from hindsight_memory.server.faults import place
from hindsight_memory.server.limits import Buckets, place_of
from hindsight_memory.service import Service
from hindsight_memory.settings import ServerSettings, Settings
from hindsight_memory.testing import HashEmbedder, StoppedClock, open_service
from verbs import ASKS, Case

ANN = Scope(user_id="ann")
FIRST = "the first key"


@pytest.fixture
async def app(database: Path, clock: StoppedClock) -> AsyncIterator[FastAPI]:
    async with serving(database, clock, api_key=FIRST) as opened:
        yield opened


@pytest.fixture
def service(app: FastAPI) -> Service:
    found: Service = app.state.service
    return found


async def secret_of(service: Service, *grants: str, **fields: Any) -> str:
    """The secret of a new key."""
    given = {"grants": grants} if grants else {}
    return (await service.create_key(NewKey(name="the agent", **given, **fields))).secret


def bearer(app: FastAPI, secret: str, **headers: str) -> httpx.AsyncClient:
    return client_of(app, Authorization=f"Bearer {secret}", **headers)


# Who comes in


async def test_every_way_that_a_key_has_ended_is_one_answer(
    app: FastAPI, service: Service, clock: StoppedClock
) -> None:
    revoked = await service.create_key(NewKey(name="a"))
    await service.revoke_key(revoked.key.id)
    replaced = await service.create_key(NewKey(name="b"))
    await service.rotate_key(replaced.key.id, 0)
    said = set()
    for secret in ("", "hm_", "wrong", revoked.secret, replaced.secret, f"hm_{'0' * 48}", "x" * 5_000, "é"):
        async with client_of(app) as http:
            reply = await http.post("/v1/get", json={"memory_id": "a"}, headers={"x-api-key": secret.encode()})
        assert reply.status_code == 401
        said.add((reply.content, tuple(sorted(reply.headers.items()))))
    assert len(said) == 1


async def test_a_revoked_key_is_refused_by_a_server_that_has_just_let_it_in(app: FastAPI, database: Path) -> None:
    elsewhere = await open_service(database, embedder=[], start=False)
    issued = await elsewhere.create_key(NewKey(name="agent"))
    async with bearer(app, issued.secret) as http:
        assert (await http.post("/v1/list", json={})).status_code == 200
        await elsewhere.revoke_key(issued.key.id)
        assert (await http.post("/v1/list", json={})).status_code == 401
    await elsewhere.close()


async def test_keys_in_the_database_close_a_server_that_was_given_none(database: Path, clock: StoppedClock) -> None:
    before = await open_service(database, clock=clock, embedder=[], start=False)
    secret = await secret_of(before)
    await before.close()
    async with serving(database, clock) as app, client_of(app) as http:
        assert (await http.post("/v1/list", json={})).status_code == 401
        assert (await http.get("/")).status_code == 401
        async with bearer(app, secret) as keyed:
            assert (await keyed.post("/v1/list", json={})).status_code == 200


async def test_on_this_machine_a_key_that_is_shown_counts_though_none_is_needed(
    database: Path, clock: StoppedClock
) -> None:
    async with serving(database, clock) as app, client_of(app) as http:
        secret = await secret_of(app.state.service, "read", users=("ann",))
        assert (await http.post("/v1/write", json={"content": "a", "user_id": "bob"})).status_code == 201
        async with bearer(app, secret) as keyed, bearer(app, "wrong") as wrong:
            assert (await keyed.post("/v1/list", json={"user_id": "bob"})).status_code == 403
            assert (await wrong.post("/v1/list", json={})).status_code == 401


async def test_beyond_this_machine_a_server_needs_a_key(database: Path) -> None:
    service = await open_service(database, embedder=[], start=False)
    with pytest.raises(errors.InvalidInput, match="keys create") as refused:
        await run_server(service, "0.0.0.0", 1)
    assert refused.value.field == "host"
    await service.close()


async def test_health_tells_a_stranger_only_that_it_is_well(app: FastAPI, service: Service) -> None:
    secret = await secret_of(service)
    async with client_of(app) as http, bearer(app, secret) as keyed, bearer(app, FIRST) as boss:
        for stranger in (http, keyed):
            checks = (await stranger.get("/health/ready")).json()["checks"]
            assert {(check["note"], check["hint"]) for check in checks} == {("", "")}
        assert "memory.db" in (await boss.get("/health/ready")).text
        assert (await http.get("/health/live")).json() == {"status": "ok"}
        assert (await keyed.post("/v1/doctor", json={})).status_code == 403
        assert (await boss.post("/v1/doctor", json={})).status_code == 200


# As whom


async def test_no_field_or_header_leads_out_of_the_keys_namespace(app: FastAPI, service: Service) -> None:
    await service.write(Draft(content="the default one's milk"), ANN)
    secret = await secret_of(service, "read", "write", namespace="theirs")
    headers = {"X-Namespace": "default", "X-Tenant-Id": "default", "Namespace": "default", "X-Bank-Id": "default/ann"}
    async with bearer(app, secret, **headers) as http:
        for name in ("namespace", "bank", "bank_id", "tenant"):
            assert (await http.post("/v1/list", json={name: "default", "user_id": "ann"})).status_code == 422
        for query in ("?namespace=default&user_id=ann", "?bank_id=default/ann"):
            assert (await http.post(f"/v1/list{query}", json={"user_id": "ann"})).json()["memories"] == []
            assert (await http.get(f"/v1/sessions/s{query}")).status_code == 422
        hidden = {"namespace": "default", "bank_id": "default/ann", "user_id": "ann"}
        written = await http.post("/v1/write", json={"content": "own", "user_id": "ann", "metadata": hidden})
        held = (await http.post("/v1/get", json={"user_id": "ann", "memory_id": written.json()["id"]})).json()
        assert held["bank_id"] == "theirs/ann"
        for address in ("default/ann", "../default/ann", "default%2Fann"):
            assert (await http.post("/v1/list", json={"user_id": address})).json()["memories"] == []
    assert len((await service.list(Listing(), ANN)).memories) == 1


async def test_what_is_not_there_and_what_is_not_ones_own_are_one_answer(app: FastAPI, service: Service) -> None:
    hers = await service.write(Draft(content="Ann's milk"), ANN)
    private = await service.write(
        Draft(content="the coder's own", visibility="private"), replace(ANN, agent_id="coder")
    )
    shared_away = await service.write(Draft(content="theirs"), Scope(namespace="away", user_id=None))
    there = await secret_of(service, "read", "write", "purge")
    said: dict[str, set[str]] = {}
    async with bearer(app, there) as http:
        asked = [
            ("bob", hers.id),
            ("bob", "01a0-nobody"),
            ("ann", private.id),
            ("ann", "01a0-nobody"),
            ("new", hers.id),
            ("ann", shared_away.id),
        ]
        more: dict[str, dict[str, Any]] = {
            "update": {"content": "x"},
            "feedback": {"verdict": "used"},
            "explain": {"text": "milk"},
            "resolve": {"over": "01a0-nobody else"},
        }
        for user, memory_id in asked:
            for verb in ("get", "update", "forget", "restore", "purge", "history", "feedback", "explain", "resolve"):
                named = {"keep" if verb == "resolve" else "memory_id": memory_id}
                body = {**named, "user_id": user, "agent_id": "other", **more.get(verb, {})}
                reply = await http.post(f"/v1/{verb}", json=body)
                assert reply.status_code == 404, verb
                said.setdefault(verb, set()).add(reply.text.replace(memory_id, "ID"))
    assert all(len(each) == 1 for each in said.values()), said
    only_ann = await secret_of(service, users=("ann",))
    async with bearer(app, only_ann) as http:
        replies = [await http.post("/v1/list", json={"user_id": user}) for user in ("bob", "nobody at all", "x" * 200)]
    assert {reply.status_code for reply in replies} == {403}
    assert len({reply.content for reply in replies}) == 1


async def test_what_an_agent_keeps_to_itself_is_out_of_every_other_keys_reach(app: FastAPI, service: Service) -> None:
    made = await service.create_key(NewKey(name="A", users=("ann",)))
    theirs = [
        (await service.create_key(NewKey(name=name, **fields))).secret
        for name, fields in (("B", {}), ("a", {}), ("A/coder", {}), ("C", {"agents": ("coder",)}))
    ]
    local = await service.write(
        Draft(content="the host's own plan", visibility="private"), replace(ANN, agent_id="coder")
    )
    private = {"content": "the secret plan of the barn", "visibility": "private", "user_id": "ann", "agent_id": "coder"}
    async with bearer(app, made.secret) as http:
        written = (await http.post("/v1/write", json=private)).json()["id"]
        held = (await http.post("/v1/get", json={"memory_id": written, "user_id": "ann", "agent_id": "coder"})).json()
        assert held["agent_id"] == "A/coder"
        assert (await http.post("/v1/get", json={"memory_id": local.id, "agent_id": "coder"})).status_code == 404
    for secret in theirs:
        async with bearer(app, secret) as http:
            for agent in ("coder", "A/coder", "A%2Fcoder", "A", None):
                who = {"user_id": "ann", "agent_id": agent}
                for verb, more in (("search", {"text": "secret plan of the barn"}), ("list", {}), ("replay", {})):
                    assert "of the barn" not in (await http.post(f"/v1/{verb}", json={**who, **more})).text
                asked = {**who, "memory_id": written}
                statuses = {(await http.post(f"/v1/{v}", json=asked)).status_code for v in ("get", "forget", "history")}
                assert statuses <= {403, 404}
    async with bearer(app, theirs[-1]) as http:  # it lists that agent: it is the host's
        shown = await http.post("/v1/get", json={"memory_id": local.id, "user_id": "ann"})
        assert shown.json()["content"] == "the host's own plan"
    rotated = await service.rotate_key(made.key.id)
    async with bearer(app, rotated.secret) as http:
        asked = {"memory_id": written, "user_id": "ann", "agent_id": "A/coder"}
        assert (await http.post("/v1/get", json=asked)).status_code == 200


async def test_what_all_share_is_read_at_every_door(app: FastAPI, service: Service) -> None:
    shared = await service.write(Draft(content="The office closes at six"), Scope(user_id=None))
    own = await service.write(Draft(content="My office is by the window"), ANN)
    secret = await secret_of(service, "read", "write", users=("ann",))
    async with bearer(app, secret) as http:
        asked = {"text": "office", "user_id": "ann"}
        hits = (await http.post("/v1/search", json=asked)).json()["hits"]
        banks = {hit["memory"]["id"]: hit["memory"]["bank_id"] for hit in hits}
        assert banks == {shared.id: "default/", own.id: "default/ann"}
        assert (await http.post("/v1/get", json={"memory_id": shared.id})).json()["bank_id"] == "default/"
        assert (await http.post("/v1/explain", json={**asked, "memory_id": shared.id})).status_code == 200
        for verb, more in (("update", {"content": "at five"}), ("forget", {}), ("feedback", {"verdict": "used"})):
            assert (await http.post(f"/v1/{verb}", json={"memory_id": shared.id, **more})).status_code == 404
            named = {"memory_id": shared.id, "user_id": None, **more}
            assert (await http.post(f"/v1/{verb}", json=named)).status_code == 403
    remote = Remote(BASE, secret, httpx.ASGITransport(app))
    assert {hit.memory.id for hit in await remote.search(Query(text="office"), ANN)} == banks.keys()
    await remote.close()


async def test_the_page_shows_what_its_key_may_see(app: FastAPI, service: Service) -> None:
    await service.write(Draft(content="Ann's oat milk"), ANN)
    await service.write(Draft(content="Bob's soy milk"), Scope(user_id="bob"))
    secret = await secret_of(service, "read", users=("ann",))
    async with client_of(app) as http:
        mine = await http.get("/", auth=("", secret))
        assert ("oat milk" in mine.text, "memory.db" in mine.text) == (True, False)
        theirs = await http.get("/", params={"user_id": "bob"}, auth=("", secret))
        assert (theirs.status_code, "soy milk" in theirs.text) == (403, False)
        assert "memory.db" in (await http.get("/", auth=("", FIRST))).text


async def test_a_key_of_one_user_need_not_name_it(app: FastAPI, service: Service) -> None:
    secret = await secret_of(service, users=("ann",), agents=("coder",))
    remote = Remote(BASE, secret, httpx.ASGITransport(app))
    receipt = await remote.write(Draft(content="I take oat milk"), Scope())
    assert (await service.get(receipt.id, ANN)).agent_id == "coder"
    with pytest.raises(errors.NotAllowed):
        await remote.search(Query(text="milk"), Scope(user_id="bob"))
    await remote.close()


# How often


async def test_a_key_that_asks_too_much_is_told_when_to_come_again(database: Path, clock: StoppedClock) -> None:
    async with serving(database, clock, api_key=FIRST, requests_per_minute=3) as app:
        secret = await secret_of(app.state.service)
        async with bearer(app, secret) as http, bearer(app, FIRST) as other:
            replies = [await http.post("/v1/list", json={}) for _ in range(5)]
            assert [reply.status_code for reply in replies] == [200, 200, 200, 429, 429]
            assert 1 <= int(replies[-1].headers["retry-after"]) <= 60
            problem = replies[-1].json()
            assert (problem["code"], problem["status"]) == ("overloaded", 429)
            assert (await http.post("/mcp", json={})).status_code == 429
            assert (await other.post("/v1/list", json={})).status_code == 200


async def test_a_key_that_sends_too_much_is_told_when_to_come_again(database: Path, clock: StoppedClock) -> None:
    async with serving(database, clock, api_key=FIRST, bytes_per_minute=5_000) as app, bearer(app, FIRST) as http:
        assert (await http.post("/v1/write", json={"content": "x" * 4_000})).status_code == 201
        refused = await http.post("/v1/write", json={"content": "y" * 4_000})
        assert (refused.status_code, refused.json()["code"]) == (429, "overloaded")
        assert int(refused.headers["retry-after"]) >= 1
        assert (await http.get("/health/live")).status_code == 200


async def test_attempts_without_a_key_are_bounded_and_a_late_right_one_does_not_show(
    database: Path, clock: StoppedClock
) -> None:
    async with serving(database, clock, api_key=FIRST, failures_per_minute=4) as app, client_of(app) as http:
        wrong = [await http.post("/v1/list", json={}, headers={"X-API-Key": f"guess {n}"}) for n in range(6)]
        assert [reply.status_code for reply in wrong] == [401] * 4 + [429] * 2
        right = await http.post("/v1/list", json={}, headers={"X-API-Key": FIRST})
        assert (right.status_code, right.content) == (429, wrong[-1].content)
        elsewhere = httpx.ASGITransport(app, client=("192.0.2.7", 1))
        async with httpx.AsyncClient(transport=elsewhere, base_url=BASE, headers={"X-API-Key": FIRST}) as other:
            assert (await other.post("/v1/list", json={})).status_code == 200


def test_a_bucket_fills_again_and_takes_whole_requests_only() -> None:
    now = [0.0]
    buckets = Buckets(60, lambda: now[0])
    assert [buckets.take("a") for _ in range(61)] == [0] * 60 + [1]
    now[0] = 0.9
    assert buckets.take("a") == 1
    now[0] = 1.0
    assert [buckets.take("a"), buckets.take("a"), buckets.take("b")] == [0, 1, 0]
    assert buckets.take("c", 1_000) == 0  # more than a bucket holds empties it, and is not refused for ever
    assert buckets.take("c", 1_000) == 60
    assert buckets.empty("c") == 1
    now[0] = 1e9
    assert [buckets.take("c", 60), buckets.empty("d")] == [0, 0]
    assert [Buckets(0).take("a", 10**9) for _ in range(3)] == [0, 0, 0]


def test_the_callers_that_are_remembered_are_bounded() -> None:
    buckets = Buckets(1, lambda: 0.0)
    for number in range(10_050):
        assert buckets.take(str(number)) == 0
    assert len(buckets._left) == 10_000
    assert buckets.take("10049") > 0


def test_a_network_of_version_6_is_one_place() -> None:
    assert place_of("2001:db8::1") == place_of("2001:db8::ffff") != place_of("2001:db8:0:1::1")
    assert place_of("192.0.2.1") != place_of("192.0.2.2")
    assert place_of("::ffff:192.0.2.1") != place_of("::ffff:192.0.2.2")
    assert place_of("a socket") == "a socket"


# What a reply never tells


async def test_a_repeated_key_gives_no_reply_of_another_caller(app: FastAPI, service: Service) -> None:
    hers = await service.write(Draft(content="Ann's secret milk"), ANN)
    ann, bob = [await secret_of(service, users=(name,)) for name in ("ann", "bob")]
    change = {"memory_id": hers.id, "importance": 0.9, "user_id": "ann"}
    async with bearer(app, ann) as mine, bearer(app, bob) as theirs:
        first = await mine.post("/v1/update", json=change, headers={"Idempotency-Key": "k"})
        assert "secret milk" in first.text
        copied = await theirs.post("/v1/update", json=change, headers={"Idempotency-Key": "k"})
        assert copied.status_code == 403
        assert (await mine.post("/v1/update", json=change, headers={"Idempotency-Key": "k"})).json() == first.json()


async def test_another_namespace_keeps_its_replies_when_one_is_emptied(app: FastAPI, service: Service) -> None:
    secrets = [await secret_of(service, "admin", namespace=name) for name in ("one", "two")]
    async with bearer(app, secrets[0]) as one, bearer(app, secrets[1]) as two:
        said = {"messages": [{"content": "I moved to Lyon"}], "session_id": "s"}
        turns = {"kinds": ["episodic"]}
        for http in (one, two):
            await http.post("/v1/write_conversation", json=said, headers={"Idempotency-Key": "k"})
        await one.post("/v1/forget_all", json={"confirm": "default"})
        for http in (one, two):
            await http.post("/v1/write_conversation", json=said, headers={"Idempotency-Key": "k"})
        counts = [len((await http.post("/v1/list", json=turns)).json()["memories"]) for http in (one, two)]
        assert counts == [1, 1]


async def test_the_reply_with_a_secret_is_kept_nowhere(app: FastAPI) -> None:
    async with bearer(app, FIRST) as http:
        asked = {"/v1/keys": {"name": "agent"}, "/v1/create_key": {"name": "agent"}, "/v1/reveal": {"vault_id": "v"}}
        for address, body in asked.items():
            refused = await http.post(address, json=body, headers={"Idempotency-Key": "k"})
            assert (refused.status_code, refused.json()["field"]) == (422, "Idempotency-Key")
        made = await http.post("/v1/keys", json={"name": "agent"})
        assert made.headers["cache-control"] == "no-store"
        secret = made.json()["secret"]
        listed = await http.get("/v1/keys")
        assert secret not in listed.text
        assert len(listed.json()["keys"]) == 1


async def test_every_reply_carries_the_headers_and_none_opens_it_to_other_sites(
    app: FastAPI, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: Any) -> Any:
        raise RuntimeError("the text of a memory")

    monkeypatch.setattr(Service, "search", fail)
    origin = {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
    async with bearer(app, FIRST, **origin) as http, client_of(app, **origin) as stranger:
        replies = [
            await http.post("/v1/search", json={"text": "a"}),
            await http.post("/v1/nothing"),
            await http.post("/v1/list", json={"limit": "x"}),
            await http.get("/"),
            await http.request("OPTIONS", "/v1/search"),
            await stranger.request("OPTIONS", "/v1/search"),
            await stranger.post("/v1/search", json={"text": "a"}),
        ]
    assert [reply.status_code for reply in replies] == [500, 404, 422, 200, 405, 401, 401]
    for reply in replies:
        assert not [name for name in reply.headers if name.startswith("access-control-")]
        assert reply.headers["x-frame-options"] == "DENY"
        assert reply.headers["cache-control"] == "no-store"
        assert "script-src 'none'" in reply.headers["content-security-policy"]
        assert "Traceback" not in reply.text
        assert "the text of a memory" not in reply.text


def test_a_place_says_where_and_of_what_kind_and_nothing_else() -> None:
    said = ["of my milk", "of oat milk"]

    def inner() -> None:
        try:
            {}[said[0]]
        except KeyError as error:
            raise ValueError(said[1]) from error

    with pytest.raises(ValueError, match="milk") as caught:
        inner()
    told = place(ExceptionGroup("a group", [caught.value]))
    assert all(name in told for name in ("KeyError", "ValueError", "ExceptionGroup", "test_keys.py"))
    assert not any(each in told for each in said)


CANARY = "canary-7f3a"


async def test_no_log_line_holds_what_a_memory_says(
    app: FastAPI, service: Service, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.INFO)
    scope = Scope(user_id=CANARY, agent_id="coder", session_id=CANARY)
    case = Case(text=f"the {CANARY} of milk", word=CANARY, metadata={"note": CANARY})
    stored = await service.write(Draft(content=f"The {CANARY} is 4711", key="fact.canary"), scope)
    for verb in ASKS:
        for ids in ((stored.id, stored.id), (CANARY, CANARY)):
            try:
                await ASKS[verb](service, scope, replace(case, ids=ids))
            except errors.HindsightMemoryError:
                continue
    async with bearer(app, FIRST) as http:
        for content in (
            f'{{"content": "{CANARY}"',
            json.dumps({"content": CANARY, "kind": CANARY}),
            json.dumps([CANARY]),
        ):
            for address in ("/v1/write", "/mcp", f"/v1/sessions/{CANARY}", f"/messages/?session_id={CANARY}"):
                await http.post(address, content=content, headers={"Content-Type": "application/json"})
        await http.get("/", params={"q": CANARY, "user_id": CANARY})

        async def fail(*_: Any) -> Any:
            raise RuntimeError(CANARY)

        with monkeypatch.context() as patch:
            patch.setattr(Service, "search", fail)
            assert (await http.post("/v1/search", json={"text": "a"})).status_code == 500
    ours = [record for record in caplog.records if not record.name.startswith(("httpx", "mcp.server.sse"))]
    assert "A request failed" in caplog.text
    formatter = logging.Formatter()
    assert not [line for record in ours if CANARY in (line := formatter.format(record))]


# Every door


async def test_keys_are_made_listed_replaced_and_revoked_over_rest(app: FastAPI, clock: StoppedClock) -> None:
    async with bearer(app, FIRST) as http:
        body = {"name": "agent", "grants": ["read"], "users": ["ann"], "expires_at": "2027-01-01T00:00:00Z"}
        made = (await http.post("/v1/keys", json=body)).json()
        assert {**made["key"], **body} == made["key"]
        assert made["key"]["prefix"] == made["secret"][:11]
        key_id = made["key"]["id"]
        clock.advance(seconds=1)
        new = (await http.post(f"/v1/keys/{key_id}/rotate", json={"overlap_hours": 1})).json()
        assert new["key"]["users"] == ["ann"]
        listed = (await http.get("/v1/keys", params={"limit": 1})).json()
        assert (listed["keys"][0]["replaced_by"], listed["next"]) == (new["key"]["id"], key_id)
        gone = await http.delete(f"/v1/keys/{new['key']['id']}", params={"reason": "lost"})
        assert gone.json()["revoked_at"] == "2026-05-04T09:00:01Z"
        assert (await http.delete("/v1/keys/nobody")).status_code == 404
        assert (await http.post(f"/v1/keys/{key_id}/rotate", json={"key_id": "other"})).status_code == 422
        for wrong in ({}, {"name": ""}, {"name": "a", "users": []}, {"name": "a", "grants": ["all"]}):
            assert (await http.post("/v1/keys", json=wrong)).status_code == 422
    async with bearer(app, made["secret"]) as reader:
        assert (await reader.post("/v1/list", json={})).status_code == 200
        for reply in (await reader.get("/v1/keys"), await reader.post("/v1/keys", json={"name": "another"})):
            assert reply.status_code == 403


async def test_the_remote_client_answers_as_the_service_does(app: FastAPI, service: Service) -> None:
    remote = Remote(BASE, FIRST, httpx.ASGITransport(app))
    made = await remote.create_key(NewKey(name="agent", users=("ann",), agents=("coder",)))
    assert await remote.list_keys(KeyListing()) == await service.list_keys(KeyListing())
    new = await remote.rotate_key(made.key.id, 2)
    assert (await remote.revoke_key(new.key.id, "lost")).revoked_at is not None
    assert await remote.list_keys(KeyListing()) == await service.list_keys(KeyListing())
    keyed = Remote(BASE, made.secret, httpx.ASGITransport(app))
    with pytest.raises(errors.NotAllowed):
        await keyed.list_keys(KeyListing())
    for each in (remote, keyed):
        await each.close()


def test_keys_on_the_command_line(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HINDSIGHT_MEMORY_EMBEDDER", "none")

    def run(*arguments: str) -> tuple[int, str, str]:
        result = CliRunner().invoke(command, ["keys", *arguments, "--database", str(database)])
        return result.exit_code, result.stdout, result.stderr

    assert run("list")[1] == "There are no keys.\n"
    code, said, beside = run(
        "create", "the agent", "--grant", "read", "--user", "ann", "--expires-at", "2099-01-01T00:00Z"
    )
    assert (code, "read of ann in default; until 2099-01-01" in said, "shown this once" in beside) == (0, True, True)
    secret = said.splitlines()[-1]
    assert secret.startswith("hm_")
    key_id = said.split()[0]
    code, said, _ = run("list")
    assert (code, secret in said, key_id in said, secret[:11] in said) == (0, False, True, True)
    code, said, _ = run("rotate", key_id, "--overlap-hours", "1", "--json")
    new = json.loads(said)
    assert (code, new["key"]["users"]) == (0, ["ann"])
    code, said, _ = run("revoke", new["key"]["id"], "--reason", "lost")
    assert (code, "revoked" in said) == (0, True)
    assert run("revoke", "nobody")[0] == 4
    assert run("create", "x", "--grant", "everything")[0] == 2
    assert run("rotate", key_id)[0] == 5


# TLS


def test_what_is_no_certificate_is_an_error_that_says_so(tmp_path: Path) -> None:
    check_tls(ServerSettings())
    wrong = tmp_path / "wrong.pem"
    wrong.write_text("no certificate")
    for cert, key in ((str(wrong), ""), (str(tmp_path / "none.pem"), ""), ("", str(wrong))):
        with pytest.raises(errors.InvalidInput) as refused:
            check_tls(ServerSettings(tls_cert=cert, tls_key=key))
        assert refused.value.field == "tls_cert"


async def test_over_tls_browsers_are_told_to_stay_with_it(database: Path, clock: StoppedClock) -> None:
    async with serving(database, clock, tls_cert="cert.pem") as app, client_of(app) as http:
        assert "strict-transport-security" in (await http.get("/health/live")).headers
    async with serving(database, clock) as app, client_of(app) as http:
        assert "strict-transport-security" not in (await http.get("/health/live")).headers


def certificate(folder: Path) -> tuple[str, str]:
    """A certificate of this machine's own, and its key."""
    x509 = pytest.importorskip("cryptography.x509")
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([])
    made = datetime.now(UTC)
    here = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
    built = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    built = built.not_valid_before(made - timedelta(days=1)).not_valid_after(made + timedelta(days=1))
    signed = built.add_extension(here, critical=True).sign(key, hashes.SHA256())
    pem, plain = serialization.Encoding.PEM, serialization.NoEncryption()
    (folder / "cert.pem").write_bytes(signed.public_bytes(pem))
    (folder / "key.pem").write_bytes(key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain))
    return str(folder / "cert.pem"), str(folder / "key.pem")


@pytest.mark.slow
async def test_it_speaks_tls(tmp_path: Path, database: Path) -> None:
    cert, key = certificate(tmp_path)
    settings = Settings(database=str(database), server=ServerSettings(api_key=FIRST, tls_cert=cert, tls_key=key))
    service = await open_service(database, embedder=[], settings=settings, start=False)
    async with begun(service) as port, httpx.AsyncClient(verify=ssl.create_default_context(cafile=cert)) as http:
        assert (await http.get(f"https://127.0.0.1:{port}/health/live")).json() == {"status": "ok"}
        with pytest.raises(httpx.HTTPError):
            await http.get(f"http://127.0.0.1:{port}/health/live")


# MCP over HTTP, with the SDK's own client


@asynccontextmanager
async def listening(database: Path) -> AsyncIterator[tuple[str, Service]]:
    """A real server on a free port, in this process, with the first key."""
    settings = Settings(database=str(database), server=ServerSettings(api_key=FIRST))
    service = await open_service(database, embedder=HashEmbedder(), settings=settings, start=False)
    async with begun(service) as port:
        yield f"http://127.0.0.1:{port}", service


@asynccontextmanager
async def begun(service: Service) -> AsyncIterator[int]:
    """The server of a service as it is run, on a free port, until the block ends."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = server_of(service, "127.0.0.1", port)
    task = asyncio.create_task(server.serve())
    while not server.started:  # noqa: ASYNC110  # uvicorn has no event for it
        await asyncio.sleep(0.02)
    try:
        yield port
    finally:
        server.should_exit = True
        await task


@pytest.mark.slow
@pytest.mark.parametrize("door", ["mcp", "sse"])
async def test_mcp_over_http_obeys_the_keys(database: Path, door: str) -> None:
    async with listening(database) as (base, service), AsyncExitStack() as stack:
        await service.write(Draft(content="Bob's soy milk"), Scope(user_id="bob"))
        secret = await secret_of(service, "read", "write", users=("ann",), namespace="theirs")
        headers = {"Authorization": f"Bearer {secret}"}
        if door == "mcp":
            http = await stack.enter_async_context(httpx2.AsyncClient(headers=headers))
            transport = streamable_http_client(f"{base}/mcp", http_client=http)
        else:
            transport = sse_client(f"{base}/sse", headers=headers)
        client = await stack.enter_async_context(connected(transport))
        number = (await call(client, "write", content="Ann's oat milk", metadata={"namespace": "default"}))["id"]
        assert (await service.get(number, Scope(namespace="theirs", user_id="ann"))).bank_id == "theirs/ann"
        (memory,) = (await call(client, "list", user_id="ann"))["memories"]
        assert memory["id"] == number
        assert (await refusal(client, "memory_list", {"user_id": "bob"}))["code"] == "not_allowed"
        assert (await refusal(client, "memory_list", {"namespace": "default"}))["code"] == "invalid_input"
        key = (await service.list_keys(KeyListing())).keys[0]
        await service.revoke_key(key.id)
        with pytest.raises(Exception, match=r".*"):  # whatever the client makes of 401
            async with asyncio.timeout(5):
                await call(client, "list")


@pytest.mark.slow
async def test_a_stream_takes_messages_of_its_own_key_alone(database: Path) -> None:
    async with listening(database) as (base, service), httpx.AsyncClient() as http:
        ann, bob = [await secret_of(service, users=(name,)) for name in ("ann", "bob")]
        mine = {"Authorization": f"Bearer {ann}"}
        async with http.stream("GET", f"{base}/sse", headers=mine) as stream:
            lines = stream.aiter_lines()
            address = (await anext(_data(lines)))[6:]
            said = {"jsonrpc": "2.0", "method": "notifications/initialized"}
            theirs = await http.post(f"{base}{address}", json=said, headers={"Authorization": f"Bearer {bob}"})
            nowhere = await http.post(f"{base}/messages/?session_id={'0' * 32}", json=said, headers=mine)
            assert (theirs.status_code, theirs.text) == (nowhere.status_code, nowhere.text) == (404, nowhere.text)
            assert (await http.post(f"{base}{address}", json=said, headers=mine)).status_code == 202


async def _data(lines: AsyncIterator[str]) -> AsyncIterator[str]:
    async for line in lines:
        if line.startswith("data: "):
            yield line
