"""The remote client: every verb over HTTP equals the embedded one, and so does every error."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from adapters.conftest import BASE, serving
from hindsight_memory import errors
from hindsight_memory.domain import Changes, Draft, Listing, Message, Query, Role, Scope, Wait
from hindsight_memory.remote import Remote
from hindsight_memory.service import Service
from hindsight_memory.testing import StoppedClock

ANN = Scope(user_id="ann", agent_id="coder", session_id="s1")


@pytest.fixture
async def remote(app: FastAPI) -> AsyncIterator[Remote]:
    opened = Remote(BASE, transport=httpx.ASGITransport(app))
    yield opened
    await opened.close()


@pytest.fixture
def embedded(app: FastAPI) -> Service:
    found: Service = app.state.service
    return found


async def test_writes_are_those_of_the_embedded_service(remote: Remote, embedded: Service) -> None:
    draft = Draft(
        content="I take oat milk", key="preference.milk", tags=["drink"], metadata={"a": [1, {"b": None}]},
        occurred_at="2026-01-02T03:04:05+08:00", importance=0.9, pinned=True,
    )  # fmt: skip
    receipt = await remote.write(draft, ANN, Wait.INDEXED)
    stored = await embedded.get(receipt.id, ANN)
    for name in ("content", "key", "tags", "metadata", "occurred_at", "importance", "pinned"):
        assert getattr(stored, name) == getattr(draft, name)
    assert (stored.bank_id, stored.agent_id, stored.session_id) == (ANN.bank, "coder", "s1")
    again = await remote.write(draft, ANN)
    assert (again.id, again.created) == (receipt.id, False)

    many = await remote.write_many([Draft(content="one"), Draft(content="two")], ANN)
    assert [(await embedded.get(each.id, ANN)).content for each in many] == ["one", "two"]
    turns = [Message(content="I moved to Lyon", id="m1"), Message(content="How nice!", role=Role.ASSISTANT, id="m2")]
    said = await remote.write_conversation(turns, ANN)
    assert len(said) == 2
    assert await remote.write_conversation(turns, ANN) == await embedded.write_conversation(turns, ANN)


async def test_reads_are_those_of_the_embedded_service(remote: Remote, embedded: Service) -> None:
    for number in range(5):
        await embedded.write(Draft(content=f"port {number} belongs to service {number}"), ANN, Wait.INDEXED)
    query = Query(text="which port belongs to service 3", limit=3)
    hits = await remote.search(query, ANN)
    assert hits == await embedded.search(query, ANN)
    memory = hits[0].memory
    assert await remote.context(query, ANN, 100) == await embedded.context(query, ANN, 100)
    assert await remote.explain(query, memory.id, ANN) == await embedded.explain(query, memory.id, ANN)
    assert await remote.get(memory.id, ANN) == await embedded.get(memory.id, ANN)
    first = await remote.list(Listing(limit=3), ANN)
    assert first == await embedded.list(Listing(limit=3), ANN)
    assert len((await remote.list(Listing(limit=3, after=first.next), ANN)).memories) == 2
    assert await remote.doctor() == await embedded.doctor()


async def test_changes_are_those_of_the_embedded_service(remote: Remote, embedded: Service) -> None:
    number = (await embedded.write(Draft(content="I take oat milk"), ANN)).id
    changes = Changes(content="I take soy milk", source="user", version=1)
    changed = await remote.update(number, changes, ANN)
    assert changed == await embedded.get(number, ANN)
    beside = await remote.update(number, Changes(content="I take no milk"), ANN)  # the agent's own idea
    assert beside == await embedded.get(beside.id, ANN)
    assert await remote.contradictions(ANN) == await embedded.contradictions(ANN) != []
    await embedded.forget(beside.id, ANN)
    gone = await remote.forget(number, ANN, "old")
    assert gone.status == "deleted"
    assert (await embedded.list(Listing(), ANN)).memories == ()
    assert await remote.restore(number, ANN) == await embedded.get(number, ANN)


async def test_the_shared_bank_is_reached(remote: Remote, embedded: Service) -> None:
    shared = Scope(user_id=None)
    number = (await remote.write(Draft(content="Offices close at six"), shared)).id
    assert (await embedded.get(number, shared)).bank_id == shared.bank
    assert (await remote.list(Listing(), ANN)).memories == ()


@pytest.mark.parametrize(
    ("verb", "arguments"),
    [
        ("get", ("nobody", ANN)),
        ("get", ("", ANN)),
        ("update", ("nobody", Changes(), ANN)),
        ("update", ("nobody", Changes(content="a"), ANN)),
        ("explain", (Query(text="a"), "nobody", ANN)),
        ("context", (Query(text="a"), ANN, -1)),
        ("write", (Draft(content="\0"), ANN)),
        ("write_conversation", ([Message(content="a")], Scope())),
    ],
)
async def test_errors_are_those_of_the_embedded_service(
    remote: Remote, embedded: Service, verb: str, arguments: Any
) -> None:
    with pytest.raises(errors.HindsightMemoryError) as here:
        await getattr(embedded, verb)(*arguments)
    with pytest.raises(errors.HindsightMemoryError) as there:
        await getattr(remote, verb)(*arguments)
    assert type(there.value) is type(here.value)
    assert there.value.field == here.value.field


@pytest.mark.parametrize("kind", errors.HindsightMemoryError.__subclasses__())
async def test_every_class_of_error_comes_back(
    remote: Remote, monkeypatch: pytest.MonkeyPatch, kind: type[errors.HindsightMemoryError]
) -> None:
    async def fail(*_: Any) -> Any:
        raise kind("It went wrong.", hint="Do this.", field="text")

    monkeypatch.setattr(Service, "search", fail)
    with pytest.raises(kind) as caught:
        await remote.search(Query(text="a"), ANN)
    assert (caught.value.message, caught.value.hint, caught.value.field) == ("It went wrong.", "Do this.", "text")


async def test_a_key_is_shown(database: Path, clock: StoppedClock) -> None:
    async with serving(database, clock, api_key="s3cret") as app:
        keyed, wrong = (Remote(BASE, key, httpx.ASGITransport(app)) for key in ("s3cret", "other"))
        assert (await keyed.write(Draft(content="I take oat milk"), Scope())).created
        with pytest.raises(errors.NotAuthenticated):
            await wrong.search(Query(text="milk"), Scope())
        await keyed.close()
        await wrong.close()
