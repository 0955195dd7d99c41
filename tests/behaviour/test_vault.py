"""The vault: kept apart, encrypted, out of search, read by id with a grant, gone with what named it."""

from __future__ import annotations

import base64
import re
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hindsight_memory import AsyncHindsightMemory, InvalidInput, NotAllowed, NotFound
from hindsight_memory.domain import Grant, Handling, Message, NewKey, Scope
from hindsight_memory.guard.access import Principal
from hindsight_memory.service import Service
from hindsight_memory.settings import GuardSettings, Settings
from hindsight_memory.testing import StoppedClock, open_service
from samples import ALICE, BOB

KEY = base64.urlsafe_b64encode(bytes(range(32))).decode()
OTHER = base64.urlsafe_b64encode(bytes(32)).decode()
PHONE = "13812345678"
Open = Callable[..., Any]


@pytest.fixture
async def opened(database: Path, clock: StoppedClock) -> AsyncIterator[Open]:
    services: list[Service] = []

    async def start(key: str = KEY, **guard: Any) -> Service:
        settings = replace(Settings(database=str(database)), guard=GuardSettings(vault_key=key, **guard))
        service = await open_service(database, clock=clock, settings=settings, start=False)
        services.append(service)
        return service

    yield start
    for service in services:
        await service.close()


def memory_of(service: Service) -> AsyncHindsightMemory:
    return AsyncHindsightMemory(service, user_id="alice")


def bytes_of(database: Path) -> bytes:
    return b"".join(path.read_bytes() for path in database.parent.glob(f"{database.name}*"))


def named(content: str) -> str:
    (vault_id,) = re.findall(r"\[vault:([a-p]{24})\]", content)
    return str(vault_id)


async def test_it_is_out_of_the_text_and_the_file_and_read_by_its_id(opened: Open, database: Path) -> None:
    service = await opened()
    await service.policy(ALICE, {"phone": "vault"})
    receipt = await service.write(_draft(f"Li: {PHONE}.", tags=(PHONE,)), ALICE)
    held = await service.get(receipt.id, ALICE)
    vault_id = named(held.content)
    assert held.content == f"Li: [vault:{vault_id}]."
    assert held.tags == (f"[vault:{vault_id}]",)
    await service._parts.store.scrub()
    assert PHONE.encode() not in bytes_of(database)
    for asked in (vault_id, f"[vault:{vault_id}]"):
        found = await service.reveal(asked, ALICE, "to call him")
        assert (found.vault_id, found.type, found.value) == (vault_id, "phone", PHONE)
        assert PHONE not in repr(found)
    event = (await service._parts.store.reading(ALICE.bank).events(None, 1))[0]
    assert (event.verb, event.reason, event.detail) == (
        "reveal",
        "to call him",
        {"vault_id": vault_id, "type": "phone"},
    )
    assert PHONE.encode() not in bytes_of(database)
    again = await service.write(_draft(f"Li: {PHONE}.", tags=(PHONE,)), ALICE)
    assert (again.id, again.created) == (receipt.id, False)


async def test_turns_steps_and_updates_use_it_too(opened: Open) -> None:
    service = await opened(personal=Handling.VAULT)
    talk = Scope(user_id="alice", session_id="s")
    (turn,) = await service.write_conversation([Message(content=f"my phone {PHONE}")], talk)
    vault_id = named((await service.get(turn.id, ALICE)).content)
    assert (await service.reveal(vault_id, ALICE)).value == PHONE
    receipt = await service.write(_draft("Li"), ALICE)
    from hindsight_memory.domain import Changes

    changed = await service.update(receipt.id, Changes(content=f"Li {PHONE}"), ALICE)
    assert named(changed.content) == vault_id, "the same value has the same id"


async def test_the_same_value_has_another_id_in_another_bank_and_does_not_open_there(opened: Open) -> None:
    service = await opened(personal=Handling.VAULT)
    mine, his = [await service.write(_draft(f"Li {PHONE}"), scope) for scope in (ALICE, BOB)]
    vault_id = named((await service.get(mine.id, ALICE)).content)
    assert named((await service.get(his.id, BOB)).content) != vault_id
    for scope, asked in ((BOB, vault_id), (ALICE, "a" * 24), (ALICE, "%"), (ALICE, "' OR 1=1")):
        with pytest.raises(NotFound):
            await service.reveal(asked, scope)


async def test_who_may_not_does_not_read_it(opened: Open) -> None:
    service = await opened(personal=Handling.VAULT)
    receipt = await service.write(_draft(f"Li {PHONE}"), ALICE)
    vault_id = named((await service.get(receipt.id, ALICE)).content)
    for verbs in (frozenset({"get", "search", "write"}), frozenset[str]()):
        with pytest.raises(NotAllowed):
            await service.acting_as(Principal("reader", "default", verbs)).reveal(vault_id, ALICE)
    assert NewKey(name="v", grants=("vault",)).grants == (Grant.VAULT,)
    assert (
        await service.acting_as(Principal("v", "default", frozenset({"reveal"}))).reveal(vault_id, ALICE)
    ).value == PHONE


async def test_it_goes_with_the_last_text_that_names_it(opened: Open, database: Path) -> None:
    service = await opened(personal=Handling.VAULT)
    one, two = [await service.write(_draft(text), ALICE) for text in (f"Li {PHONE}", f"Call Li: {PHONE}")]
    vault_id = named((await service.get(one.id, ALICE)).content)
    await service.purge(one.id, ALICE)
    assert (await service.reveal(vault_id, ALICE)).value == PHONE
    await service.purge(two.id, ALICE)
    with pytest.raises(NotFound):
        await service.reveal(vault_id, ALICE)
    await service.write(_draft(f"Li {PHONE}"), ALICE)
    await service.forget_all(ALICE, "alice")
    with pytest.raises(NotFound):
        await service.reveal(vault_id, ALICE)


async def test_without_its_key_nothing_goes_in_and_nothing_comes_out(opened: Open) -> None:
    service = await opened()
    await service.policy(ALICE, {"phone": "vault"})
    receipt = await service.write(_draft(f"Li {PHONE}"), ALICE)
    vault_id = named((await service.get(receipt.id, ALICE)).content)
    without = await opened("")
    for verb in (
        without.policy(BOB, {"phone": "vault"}),
        without.write(_draft(f"Call {PHONE}"), ALICE),
        without.reveal(vault_id, ALICE),
    ):
        with pytest.raises(InvalidInput) as error:
            await verb
        assert "HINDSIGHT_MEMORY_VAULT_KEY" in error.value.hint
    assert (await without.write(_draft("Nothing to see"), ALICE)).created
    other = await opened(OTHER)
    with pytest.raises(InvalidInput):
        await other.reveal(vault_id, ALICE)


@pytest.mark.parametrize("key", ["short", "äöü", "x" * 43, KEY[:-4], KEY + "AAAA"])
async def test_a_key_that_is_none_is_an_error_at_the_start(opened: Open, key: str) -> None:
    if key == "x" * 43:
        await opened(key)
        return
    with pytest.raises(InvalidInput) as error:
        await opened(key)
    assert error.value.field == "HINDSIGHT_MEMORY_VAULT_KEY"
    assert key not in str(error.value)


def _draft(content: str, **fields: Any) -> Any:
    from hindsight_memory.domain import Draft

    return Draft(content=content, **fields)
