"""Which pairs contradict each other: only where both stand and may be seen, in one bank."""

from __future__ import annotations

from typing import Any

import pytest

from hindsight_memory.domain import Relation, RelationType, Scope, Status, Visibility
from hindsight_memory.store.base import Store
from samples import ALICE, a_memory, day, put, where

BOB = Scope(user_id="bob")


def against(new: Any, old: Any, number: int = 0) -> Relation:
    return Relation(type=RelationType.CONTRADICTS, from_id=new.id, to_id=old.id, created_at=day(number))


async def test_the_latest_pair_comes_first(store: Store) -> None:
    one, two, three = await put(store, *(a_memory(text) for text in ("one", "two", "three")))
    async with store.transaction(ALICE) as tx:
        await tx.relate(against(two, one, 1))
        await tx.relate(against(three, one, 2))
        await tx.relate(Relation(type=RelationType.SUPERSEDES, from_id=three.id, to_id=two.id, created_at=day(3)))
    reader = store.reading(ALICE.bank)
    assert await reader.contradictions(where(), 10) == [(three.id, one.id), (two.id, one.id)]
    assert await reader.contradictions(where(), 1) == [(three.id, one.id)]
    assert await store.reading(BOB.bank).contradictions(where(), 10) == []


@pytest.mark.parametrize(
    "fields",
    [
        {"status": Status.SUPERSEDED},
        {"status": Status.DELETED},
        {"status": Status.QUARANTINED},
        {"visibility": Visibility.PRIVATE, "agent_id": "other"},
        {"expires_at": day(-1)},
    ],
)
@pytest.mark.parametrize("hidden", [0, 1])
async def test_both_must_stand_and_be_seen(store: Store, fields: dict[str, Any], hidden: int) -> None:
    texts = ("one", "two")
    one, two = await put(store, *(a_memory(t, **(fields if n == hidden else {})) for n, t in enumerate(texts)))
    async with store.transaction(ALICE) as tx:
        await tx.relate(against(two, one))
    assert await store.reading(ALICE.bank).contradictions(where(), 10) == []


async def test_what_is_erased_contradicts_nothing(store: Store) -> None:
    one, two = await put(store, a_memory("one"), a_memory("two"))
    async with store.transaction(ALICE) as tx:
        await tx.relate(against(two, one))
        await tx.erase([one.id])
    assert await store.reading(ALICE.bank).contradictions(where(), 10) == []
