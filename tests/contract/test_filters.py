"""What a filter lets through, in listing, counting and every search alike."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hindsight_memory.domain import Kind, Memory, Scope, Status, Tier, Visibility, Window
from hindsight_memory.store.base import Marks, Space, Store
from samples import ALICE, NOON, a_memory, day, put, where

SPACE = Space(name="t/plain", spec="t", dimension=4, template="plain", calibration={})
AXIS = np.array([[1, 0, 0, 0]], np.float32)


async def everywhere(store: Store, **fields: Any) -> set[str]:
    """The contents a filter lets through, which every way of reading must agree on."""
    reader = store.reading(ALICE.bank)
    asked = where(**fields)
    found = {memory.id: memory.content for memory in await reader.find(asked, 1_000)}
    assert await reader.count(asked) == len(found)
    by_words = await reader.search_words(["common"], asked, 1_000)
    by_vector = await reader.search_vector(SPACE.name, AXIS[0], asked, 1_000)
    by_time = await reader.search_time(Window(day(-1_000), day(1_000)), asked, 1_000)
    by_name = await reader.search_graph({}, {"common": 1.0}, asked, 1_000)
    for way in (by_words, by_vector, by_time, by_name):
        assert {scored.id for scored in way} == set(found)
    return set(found.values())


async def fill(store: Store, *memories: Memory) -> None:
    """Store memories that every search finds when no filter is in its way."""
    await store.use_spaces([SPACE])
    async with store.transaction(ALICE) as tx:
        for memory in memories:
            await tx.add(memory, Marks(("common",), ("common",)))
        await tx.set_vectors(SPACE.name, {memory.id: AXIS for memory in memories})


@pytest.mark.parametrize(
    ("field", "value", "wanted", "other"),
    [
        ("kinds", (Kind.PROCEDURAL,), {"kind": Kind.PROCEDURAL}, {}),
        ("kinds", (Kind.WORKING, Kind.SEMANTIC), {}, {"kind": Kind.EPISODIC}),
        ("tags", ("a",), {"tags": ("a", "b")}, {"tags": ("ab",)}),
        ("tags", ("a", "b"), {"tags": ("b", "a", "c")}, {"tags": ("a",)}),
        ("tags", ("100%_a*",), {"tags": ("100%_a*",)}, {"tags": ("100xya", "100%_ab", "100% a*")}),
        ("tags", ("'; --",), {"tags": ("'; --",)}, {"tags": ("'",)}),
        ("tags", ("咖啡",), {"tags": ("咖啡",)}, {"tags": ("咖",)}),
        ("key", "fact.a", {"key": "fact.a"}, {"key": "fact.ab"}),
        ("session", "s%", {"session_id": "s%"}, {"session_id": "s1"}),
        ("except_session", "s1", {"session_id": "s%"}, {"session_id": "s1"}),
        ("except_session", "s1", {"session_id": None}, {"session_id": "s1"}),
        ("agent", "coder", {"agent_id": "coder"}, {"agent_id": "Coder"}),
        ("since", NOON, {"occurred_at": NOON}, {"occurred_at": day(-1)}),
        ("until", NOON, {"occurred_at": day(-1)}, {"occurred_at": NOON}),
        ("metadata", {"a": 1}, {"metadata": {"a": 1, "b": 2}}, {"metadata": {"a": 2}}),
        ("metadata", {"a": None}, {"metadata": {"a": None}}, {"metadata": {}}),
        ("metadata", {"a": {"b": [1]}}, {"metadata": {"a": {"b": [1]}}}, {"metadata": {"a": {"b": [1, 2]}}}),
        ("metadata", {"a": "x%"}, {"metadata": {"a": "x%"}}, {"metadata": {"a": "xy"}}),
        ("statuses", (Status.QUARANTINED,), {"status": Status.QUARANTINED}, {}),
        ("tiers", (Tier.COLD,), {"tier": Tier.COLD}, {}),
        ("viewer", "me", {"agent_id": "me", "visibility": "private"}, {"agent_id": "you", "visibility": "private"}),
        ("viewer", None, {}, {"agent_id": "you", "visibility": Visibility.PRIVATE}),
    ],
)
async def test_a_filter_keeps_what_agrees_and_nothing_else(
    store: Store, field: str, value: Any, wanted: dict[str, Any], other: dict[str, Any]
) -> None:
    # What words do not index for its status cannot be found by them; such memories are only listed.
    await fill(store, a_memory("wanted", **wanted), a_memory("other", **other))
    if field == "statuses":
        found = await store.reading(ALICE.bank).find(where(statuses=value), 10)
        assert [memory.content for memory in found] == ["wanted"]
    else:
        assert await everywhere(store, **{field: value}) == {"wanted"}


@pytest.mark.parametrize(
    "hidden",
    [
        {"status": Status.SUPERSEDED},
        {"status": Status.QUARANTINED},
        {"status": Status.DELETED},
        {"context_only": True},
        {"expires_at": NOON},
        {"valid_until": NOON},
        {"tier": Tier.COLD},
    ],
)
async def test_by_default_only_what_stands_is_found(store: Store, hidden: dict[str, Any]) -> None:
    await fill(store, a_memory("hidden", **hidden), a_memory("seen", expires_at=day(1), valid_until=day(1)))
    assert await everywhere(store) == {"seen"}


async def test_what_may_not_be_found_may_still_be_listed(store: Store) -> None:
    await put(store, a_memory("greeting", context_only=True), a_memory("over", expires_at=NOON))
    listed = await store.reading(ALICE.bank).find(where(findable=False), 10)
    assert {memory.content for memory in listed} == {"greeting", "over"}


async def test_as_of_answers_from_what_was_valid_then(store: Store) -> None:
    old = a_memory("old", occurred_at=day(-10), status=Status.SUPERSEDED, valid_until=day(-5))
    new = a_memory("new", occurred_at=day(-5))
    planned = a_memory("planned", occurred_at=day(-9), valid_from=day(3))
    await fill(store, old, new, planned)
    assert await everywhere(store, as_of=day(-11)) == set()
    assert await everywhere(store, as_of=day(-7)) == {"old"}
    assert await everywhere(store, as_of=day(-5)) == {"new"}
    assert await everywhere(store, as_of=day(4)) == {"new", "planned"}


async def test_ids_narrow_a_filter(store: Store) -> None:
    first, second = a_memory("first"), a_memory("second")
    await fill(store, first, second)
    assert await everywhere(store, ids=(first.id, "unknown")) == {"first"}
    assert await everywhere(store, ids=()) == set()


@pytest.mark.parametrize(
    "narrow",
    [{"tags": ("rare",)}, {"metadata": {"rare": True}}, {"key": "fact.rare"}, {"kinds": (Kind.PROCEDURAL,)}],
)
async def test_filters_come_before_limits(store: Store, narrow: dict[str, Any]) -> None:
    """300 nearer memories that the filter refuses must not use the limit up."""
    rare = {"tags": ("rare",), "metadata": {"rare": True}, "key": "fact.rare", "kind": Kind.PROCEDURAL}
    near = [a_memory(f"near {number}", occurred_at=NOON) for number in range(300)]
    far = [a_memory(f"far {number}", occurred_at=day(20), **rare) for number in range(7)]
    await store.use_spaces([SPACE])
    async with store.transaction(ALICE) as tx:
        for memory in near:
            await tx.add(
                memory,
                Marks(
                    (
                        "common",
                        "common",
                    )
                ),
            )
        for memory in far:
            await tx.add(
                memory,
                Marks(
                    (
                        "common",
                        "and",
                        "many",
                        "more",
                        "words",
                    )
                ),
            )
        await tx.set_vectors(SPACE.name, {memory.id: AXIS for memory in near})
        aside = np.array([[0.6, 0.8, 0, 0]], np.float32)
        await tx.set_vectors(SPACE.name, {memory.id: aside for memory in far})
    reader, asked = store.reading(ALICE.bank), where(**narrow)
    assert len(await reader.find(asked, 5)) == 5
    assert len(await reader.search_words(["common"], asked, 5)) == 5
    assert len(await reader.search_vector(SPACE.name, AXIS[0], asked, 5)) == 5
    assert len(await reader.search_time(Window(day(-30), day(30)), asked, 5)) == 5


async def test_pages_hold_each_memory_once(store: Store) -> None:
    every = [a_memory(f"memory {number}", at=day(number // 4), metadata={"n": number % 2}) for number in range(23)]
    await put(store, *every)
    for narrow, total in (({}, 23), ({"metadata": {"n": 1}}, 11)):
        seen: list[str] = []
        after = None
        while page := await store.reading(ALICE.bank).find(where(**narrow), 4, after):
            seen += [memory.id for memory in page]
            after = page[-1].id
        assert len(seen) == len(set(seen)) == total
        assert seen == sorted(seen, reverse=True)


async def test_time_finds_the_middle_of_the_window_first_and_not_its_end(store: Store) -> None:
    await put(store, *(a_memory(f"day {number}", occurred_at=day(number)) for number in range(6)))
    reader = store.reading(ALICE.bank)
    found = await reader.search_time(Window(day(1), day(5)), where(), 10)
    names = [memory.content for memory in await reader.get([scored.id for scored in found])]
    assert names[0] == "day 3"
    assert set(names) == {"day 1", "day 2", "day 3", "day 4"}
    assert [scored.score for scored in found] == sorted((scored.score for scored in found), reverse=True)
    assert found[0].score == 1.0
    assert found[-1].score == 0.5


async def test_a_bank_that_does_not_exist_is_empty_and_is_not_made(store: Store) -> None:
    reader = store.reading(Scope(user_id="nobody").bank)
    assert await reader.get(["x"]) == []
    assert await reader.find(where(), 10) == []
    assert await reader.count(where()) == 0
    assert await reader.known("x") is None
    assert await reader.current("x") is None
    assert await reader.turns("s", 0, 9) == []
    assert await reader.search_words(["x"], where(), 10) == []
    assert await reader.search_vector("none", AXIS[0], where(), 10) == []
    assert await reader.search_time(Window(day(0), day(1)), where(), 10) == []
    assert await reader.names_known(["x"], where()) == {}
    assert await reader.search_graph({"x": 1.0}, {"x": 1.0}, where(), 10) == []
    assert await reader.lacking(["x"]) == set()
    assert await reader.relations(["x"]) == []
    assert await reader.events(None, 10) == []
    assert (await reader.stats()).memories == 0
