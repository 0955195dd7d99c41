"""What the store knows of who writes: their latest memories, how many are in quarantine, and what was called wrong."""

from __future__ import annotations

from typing import Any

import pytest

from hindsight_memory.domain import Scope, Source, Status
from hindsight_memory.store.base import Store
from samples import ALICE, a_memory, day, put

BOB = Scope(user_id="bob")
HELD = {"status": Status.QUARANTINED}


def said(text: str, **fields: Any) -> Any:
    return a_memory(text, **{"source": Source.DOCUMENT, "source_ref": "a.pdf"} | fields)


async def test_a_record_is_of_one_writer(store: Store) -> None:
    await put(
        store,
        said("one"),
        said("two", **HELD),
        said("three", source_ref="b.pdf", **HELD),
        said("four", source=Source.TOOL),
    )
    reader = store.reading(ALICE.bank)
    assert await reader.record_of(said("new"), 100) == (2, 1)
    assert await reader.record_of(said("new", source_ref="b.pdf"), 100) == (1, 1)
    assert await reader.record_of(said("new", source_ref="c.pdf"), 100) == (0, 0)
    assert await store.reading(BOB.bank).record_of(said("new"), 100) == (0, 0)


async def test_an_agent_is_known_whatever_it_refers_to(store: Store) -> None:
    await put(
        store, said("one", agent_id="bot", **HELD), said("two", agent_id="bot", source_ref="b.pdf"), said("three")
    )
    reader = store.reading(ALICE.bank)
    assert await reader.record_of(said("new", agent_id="bot", source_ref="c.pdf"), 100) == (2, 1)
    assert await reader.record_of(said("new", agent_id="other"), 100) == (0, 0)
    assert await reader.record_of(said("new"), 100) == (1, 0), "without an agent it is the document's record"


async def test_what_names_nobody_is_one_writer_and_the_user_has_no_record(store: Store) -> None:
    await put(store, said("one", source_ref=None, **HELD), said("two", source_ref=None))
    await put(store, a_memory("mine", **HELD))
    reader = store.reading(ALICE.bank)
    assert await reader.record_of(said("new", source_ref=None), 100) == (2, 1)
    assert await reader.record_of(a_memory("new"), 100) == (0, 0)


async def test_only_the_latest_count(store: Store) -> None:
    await put(store, said("bad", **HELD), *(said(f"good {number}") for number in range(4)))
    assert await store.reading(ALICE.bank).record_of(said("new"), 4) == (4, 0)
    assert await store.reading(ALICE.bank).record_of(said("new"), 5) == (5, 1)


@pytest.mark.parametrize("most", [1, 10])
async def test_lessons_are_what_was_called_wrong_and_is_held_back(store: Store, most: int) -> None:
    wrong = {"doubted": 1, **HELD}
    first, second, *_ = await put(
        store,
        said("first", judged_at=day(1), **wrong),
        said("second", judged_at=day(2), **wrong),
        said("held by the screen", **HELD),
        said("doubted and standing", doubted=1, judged_at=day(3)),
        said("forgotten", doubted=1, judged_at=day(3), status=Status.DELETED),
    )
    found = await store.reading(ALICE.bank).lessons(most)
    assert [each.id for each in found] == [second.id, first.id][:most]
    assert await store.reading(BOB.bank).lessons(most) == []


async def test_the_most_trusted_value_of_a_key_is_the_current_one(store: Store) -> None:
    mine, *_ = await put(
        store,
        a_memory("Lisbon", key="fact.city", trust=1.0),
        said("Porto", key="fact.city", trust=0.5, occurred_at=day(9)),
    )
    current = await store.reading(ALICE.bank).current("fact.city")
    assert current is not None
    assert current.id == mine.id
