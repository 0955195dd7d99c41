"""Names and times: kept while a memory can be found, gone with it, and known to those who may see it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contract.conftest import Engine
from hindsight_memory.domain import Memory, Relation, RelationType, Status, Visibility, Window
from hindsight_memory.store.base import Marks, Store
from samples import ALICE, BOB, NOON, a_memory, day, where


async def put_named(store: Store, *pairs: tuple[Memory, Sequence[str]]) -> None:
    """Store memories with the names they mention."""
    async with store.transaction(ALICE) as tx:
        for memory, names in pairs:
            await tx.add(memory, Marks(tuple(memory.content.split()), tuple(names)))


async def known(store: Store, *candidates: str, **fields: Any) -> dict[str, int]:
    """What is known of these candidates."""
    return dict(await store.reading(ALICE.bank).names_known(candidates, where(**fields)))


async def test_names_are_known_with_the_number_of_their_mentions(store: Store) -> None:
    await put_named(store, (a_memory("a"), ["mel", "room 101"]), (a_memory("b"), ["mel", "mel"]), (a_memory("c"), []))
    assert await known(store, "mel", "room 101", "room 102", "me", "%", "", "mel") == {"mel": 2, "room 101": 1}
    assert await known(store) == {}
    assert await known(store, *(f"name {number}" for number in range(1_200)), "mel") == {"mel": 2}


async def test_a_name_is_known_to_those_who_are_trusted(store: Store) -> None:
    await put_named(store, (a_memory("a", trust=0.5), ["mel", "tom"]), (a_memory("b", trust=0.8), ["mel"]))
    assert await known(store, "mel", "tom") == {"mel": 2, "tom": 1}
    assert await known(store, "mel", "tom", trusted=0.8) == {"mel": 2}
    assert await known(store, "mel", "tom", trusted=0.81) == {}


async def test_names_are_of_one_bank(store: Store) -> None:
    async with store.transaction(BOB) as tx:
        await tx.add(a_memory("his", BOB), Marks((), ("mel",)))
    await put_named(store, (a_memory("hers"), ["tom"]))
    assert await known(store, "mel", "tom") == {"tom": 1}


@pytest.mark.parametrize("hidden", [{"expires_at": NOON}, {"valid_until": NOON}, {"status": Status.SUPERSEDED}])
async def test_a_name_of_nothing_that_stands_is_not_known(store: Store, hidden: dict[str, Any]) -> None:
    await put_named(store, (a_memory("a", **hidden), ["mel"]))
    assert await known(store, "mel") == {}


async def test_a_name_only_another_agent_may_see_is_not_known(store: Store) -> None:
    private = {"agent_id": "coder", "visibility": Visibility.PRIVATE}
    await put_named(store, (a_memory("a", **private), ["mel"]))
    assert await known(store, "mel") == await known(store, "mel", viewer="other") == {}
    assert await known(store, "mel", viewer="coder") == {"mel": 1}


async def test_a_callers_filter_does_not_narrow_what_names_are_known(store: Store) -> None:
    await put_named(store, (a_memory("a"), ["mel"]))
    assert await known(store, "mel", tags=("x",), key="k", session="s", metadata={"a": 1}) == {"mel": 1}


async def test_a_relation_to_a_name_mentions_it(store: Store) -> None:
    one, two = a_memory("one"), a_memory("two", agent_id="coder", visibility=Visibility.PRIVATE)
    await put_named(store, (one, ["mel"]), (two, []))
    async with store.transaction(ALICE) as tx:
        for start, name in ((one, "kafka"), (two, "kafka"), (two, "flink"), (one, "mel")):
            await tx.relate(Relation(type=RelationType.MENTIONS, from_id=start.id, to_id=name, created_at=NOON))
    assert await known(store, "kafka", "flink", "mel") == {"kafka": 2, "mel": 1}
    async with store.transaction(ALICE) as tx:
        await tx.erase([one.id])
    assert await known(store, "kafka", "flink", viewer="coder") == {"kafka": 1, "flink": 1}


async def test_an_alias_brings_the_other_name(store: Store) -> None:
    alias = a_memory("Melanie", key="alias.mel")
    told = [(a_memory("a"), ["melanie"]), (a_memory("b"), ["melanie"]), (a_memory("c"), ["mel"])]
    await put_named(store, (alias, ["mel", "melanie"]), *told)
    assert await known(store, "mel") == await known(store, "melanie") == {"mel": 2, "melanie": 3}
    assert await known(store, "mel", key="k") == {"mel": 2, "melanie": 3}
    async with store.transaction(ALICE) as tx:
        alias = await tx.change(alias, status=Status.DELETED)
    assert await known(store, "mel") == {"mel": 1}
    async with store.transaction(ALICE) as tx:
        await tx.change(alias, Marks((), ("mel", "melanie")), status=Status.ACTIVE)
    assert await known(store, "mel") == {"mel": 2, "melanie": 3}


@pytest.mark.parametrize(
    "no_alias",
    [
        {"key": "alias"},
        {"key": "aliases.mel"},
        {"key": "fact.mel"},
        {"key": "alias.mel", "status": Status.SUPERSEDED},
        {"key": "alias.mel", "agent_id": "coder", "visibility": Visibility.PRIVATE},
    ],
)
async def test_only_an_alias_that_stands_and_is_seen_is_followed(store: Store, no_alias: dict[str, Any]) -> None:
    await put_named(store, (a_memory("x", **no_alias), ["mel", "melanie"]), (a_memory("a"), ["mel"]))
    assert list(await known(store, "mel")) == ["mel"]


NAMES = ["mel", "tom", "陈静", "room 101"]


@given(
    steps=st.lists(
        st.tuples(
            st.integers(0, 3),
            st.sampled_from(["add", "change", "forget", "restore", "erase", "supersede", "aside"]),
            st.lists(st.sampled_from(NAMES), max_size=3),
        ),
        max_size=15,
    )
)
async def test_whatever_happens_what_is_kept_is_what_can_be_found(
    engines: Callable[[], Engine], steps: list[Any]
) -> None:
    engine = engines()
    store = await engine.open()
    held: dict[int, tuple[Memory, Marks]] = {}
    for place, step, names in steps:
        async with store.transaction(ALICE) as tx:
            window = Window(day(len(names)), day(len(names) + 1))
            marks = Marks(("w",), tuple(names), (window,) if names else ())
            if step == "add" and place not in held:
                memory = a_memory(f"m{place}")
                await tx.add(memory, marks)
                held[place] = (memory, marks)
            elif place in held and step == "erase":
                erased = await tx.erase([held.pop(place)[0].id])
                assert erased.memories == 1
            elif place in held:
                memory, kept = held[place]
                changes: dict[str, Any] = {
                    "change": {"importance": 0.1},
                    "forget": {"status": Status.DELETED},
                    "restore": {"status": Status.ACTIVE, "context_only": False},
                    "supersede": {"status": Status.SUPERSEDED},
                    "aside": {"context_only": True},
                }.get(step, {})
                given_marks = marks if step in ("change", "restore") else None
                after = await tx.change(memory, given_marks, **changes)
                findable = after.status is not Status.DELETED and not after.context_only
                left = given_marks if given_marks is not None else kept
                held[place] = (after, left if findable else Marks())
    rows = engine.rows("SELECT m.content, n.name FROM names n JOIN memories m ON m.bank = n.bank AND m.row = n.row")
    assert sorted(rows) == sorted({(m.content, name) for m, marks in held.values() for name in marks.names})
    assert engine.rows("SELECT count(*) FROM times") == [(sum(len(marks.times) for _, marks in held.values()),)]
    async with store.transaction(ALICE) as tx:
        erased = await tx.erase([memory.id for memory, _ in held.values()])
    assert (erased.names, erased.times) == (len(rows), sum(len(marks.times) for _, marks in held.values()))
    assert [engine.rows(f"SELECT * FROM {table}") for table in ("names", "times")] == [[], []]
    await engine.close()
