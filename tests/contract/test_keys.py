"""API keys in the store: found by digest, listed by namespace, ended, and kept from other namespaces."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from hindsight_memory import InvalidInput
from hindsight_memory.domain import ApiKey, Grant, Scope
from hindsight_memory.store.base import Store
from hindsight_memory.testing import StoppedClock

MINE = Scope(namespace="mine", user_id=None)
THEIRS = Scope(namespace="theirs", user_id=None)


def key_of(number: int, clock: StoppedClock, **fields: Any) -> ApiKey:
    given: dict[str, Any] = {
        "id": f"k{number}",
        "name": "the agent",
        "namespace": "mine",
        "prefix": "hm_01234567",
        "grants": (Grant.READ, Grant.SHARED),
        "created_at": clock.now,
        "created_by": "local",
    }
    return ApiKey(**{**given, **fields})


async def put(store: Store, scope: Scope, *keys: ApiKey) -> None:
    async with store.transaction(scope) as tx:
        for key in keys:
            await tx.put_key(key, f"digest of {key.id}")


async def test_a_key_comes_back_as_it_was_put(store: Store, clock: StoppedClock) -> None:
    plain = key_of(1, clock)
    full = key_of(2, clock, users=("ann", "a&b=%/."), agents=("代理",), expires_at=clock.now, last_used_at=clock.now)
    await put(store, MINE, plain, full)
    assert await store.key_of("digest of k1") == await store.key("k1") == plain
    assert await store.key_of("digest of k2") == full
    assert await store.key_of("digest of k3") is None
    assert await store.key("digest of k1") is None


async def test_another_store_sees_it_at_once(engine: Any, store: Store, clock: StoppedClock) -> None:
    key = key_of(1, clock)
    other = await engine.open()
    await put(store, MINE, key)
    assert await other.key_of("digest of k1") == key
    ended = replace(key, revoked_at=clock.now, expires_at=clock.now, replaced_by="k2")
    async with store.transaction(MINE) as tx:
        await tx.end_key(ended)
    assert await other.key_of("digest of k1") == ended


async def test_keys_are_listed_by_namespace_a_page_at_a_time(store: Store, clock: StoppedClock) -> None:
    mine = [key_of(number, clock) for number in range(3)]
    theirs = key_of(7, clock, namespace="theirs")
    await put(store, MINE, *mine)
    await put(store, THEIRS, theirs)
    assert await store.keys("mine", None, 10) == mine
    assert await store.keys("mine", "k0", 1) == [mine[1]]
    assert await store.keys("theirs", None, 10) == [theirs]
    assert await store.keys("the%", None, 10) == []
    assert await store.keys(None, None, 10) == [*mine, theirs]


async def test_a_transaction_reaches_the_keys_of_its_namespace_only(store: Store, clock: StoppedClock) -> None:
    key = key_of(1, clock)
    await put(store, MINE, key)
    async with store.transaction(THEIRS) as tx:
        await tx.end_key(replace(key, revoked_at=clock.now))
        await tx.put_key(key_of(2, clock, namespace="mine"), "digest of k2")
    assert await store.key("k1") == key
    put_there = await store.key("k2")
    assert put_there is not None
    assert put_there.namespace == "theirs"


async def test_what_is_taken_back_was_never_there(store: Store, clock: StoppedClock) -> None:
    async def fail() -> None:
        async with store.transaction(MINE) as tx:
            await tx.put_key(key_of(1, clock), "digest of k1")
            raise InvalidInput("Something else is wrong.")

    with pytest.raises(InvalidInput):
        await fail()
    assert await store.key_of("digest of k1") is None


async def test_whether_a_key_works(store: Store, clock: StoppedClock) -> None:
    soon: datetime = clock.now
    await put(store, MINE, key_of(1, clock, expires_at=soon), key_of(2, clock, revoked_at=soon))
    assert not await store.working_keys(clock.now)
    clock.advance(seconds=-1)
    assert await store.working_keys(clock.now)
    clock.advance(seconds=1)
    await put(store, MINE, key_of(3, clock))
    assert await store.working_keys(clock.now)


async def test_use_is_kept(store: Store, clock: StoppedClock) -> None:
    await put(store, MINE, key_of(1, clock), key_of(2, clock))
    await store.used_keys({"k1": clock.now, "unknown": clock.now})
    await store.used_keys({})
    used, unused = await store.keys("mine", None, 10)
    assert (used.last_used_at, unused.last_used_at) == (clock.now, None)


async def test_no_secret_and_no_bank_keeps_a_key(engine: Any, store: Store, clock: StoppedClock) -> None:
    await put(store, MINE, key_of(1, clock))
    async with store.transaction(MINE) as tx:
        await tx.erase_bank()
    assert await store.key("k1") is not None
    assert "secret" not in engine.columns("api_keys")
