"""Spreading activation: what shared names, turns beside and relations lead to, and where nothing may lead."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contract.conftest import Engine
from hindsight_memory.domain import Memory, Relation, RelationType, Scope, Status, Visibility, Window
from hindsight_memory.settings import GraphSettings
from hindsight_memory.store import sqlite_file
from hindsight_memory.store.base import Marks, Store
from hindsight_memory.store.graph import spread
from samples import ALICE, NOON, a_memory, a_turn, day, where

HUB = GraphSettings().hub
PRIVATE = {"agent_id": "other", "visibility": Visibility.PRIVATE}


def an_edge(
    start: Memory, end: Memory | str, kind: RelationType = RelationType.DEPENDS_ON, weight: float = 1
) -> Relation:
    """A relation between two memories, or a memory and a name."""
    target = end if isinstance(end, str) else end.id
    return Relation(type=kind, from_id=start.id, to_id=target, created_at=NOON, weight=weight)


async def put_graph(store: Store, named: Sequence[tuple[Memory, Sequence[str]]], *edges: Relation) -> None:
    """Store memories with the names they mention, and relations."""
    async with store.transaction(ALICE) as tx:
        for memory, names in named:
            await tx.add(memory, Marks((memory.content,), tuple(names)))
        for edge in edges:
            await tx.relate(edge)


async def reached(
    store: Store, seeds: Mapping[str, float], names: Mapping[str, float] | None = None, limit: int = 50, **fields: Any
) -> list[str]:
    """Contents that activation reaches, best first."""
    reader = store.reading(ALICE.bank)
    scored = await reader.search_graph(seeds, names or {}, where(**fields), limit)
    assert all(each.score > 0 for each in scored)
    assert [each.score for each in scored] == sorted((each.score for each in scored), reverse=True)
    return [memory.content for memory in await reader.get([each.id for each in scored])]


async def test_it_reaches_what_is_two_hops_away(store: Store) -> None:
    slow, query, tuning, other = (a_memory(text) for text in ("slow endpoint", "query", "index tuning", "other"))
    named = [(slow, ["/orders"]), (query, ["/orders", "orders_by_day"]), (tuning, ["orders_by_day"]), (other, ["x"])]
    await put_graph(store, named)
    found = await reached(store, {slow.id: 1.0})
    assert set(found) == {"slow endpoint", "query", "index tuning"}
    assert found.index("query") < found.index("index tuning")
    assert await reached(store, {}, {"/orders": 1.0}) == ["query", "slow endpoint", "index tuning"] or await reached(
        store, {}, {"/orders": 1.0}
    ) == ["slow endpoint", "query", "index tuning"]


async def test_turns_beside_are_reached_and_those_of_another_session_are_not(store: Store) -> None:
    turns = [a_turn(f"turn {place}", place) for place in range(5)]
    await put_graph(store, [(each, []) for each in (*turns, a_turn("elsewhere", 3, session="t"))])
    found = await reached(store, {turns[2].id: 1.0})
    assert set(found) == {"turn 0", "turn 1", "turn 2", "turn 3", "turn 4"}
    assert set(found[:3]) == {"turn 1", "turn 2", "turn 3"}


@pytest.mark.parametrize("kind", list(RelationType))
async def test_relations_are_followed_both_ways_by_their_weight(store: Store, kind: RelationType) -> None:
    middle, strong, weak, before, nothing = (
        a_memory(text) for text in ("middle", "strong", "weak", "before", "nothing")
    )
    edges = [an_edge(middle, strong, kind, 1), an_edge(middle, weak, kind, 0.1), an_edge(before, middle, kind, 0.5)]
    await put_graph(
        store, [(m, []) for m in (middle, strong, weak, before, nothing)], *edges, an_edge(middle, nothing, weight=0)
    )
    found = await reached(store, {middle.id: 1.0})
    assert [each for each in found if each != "middle"] == ["strong", "before", "weak"]


async def test_a_relation_to_a_name_leads_to_what_is_related_to_it_and_mentions_it(store: Store) -> None:
    one, two, three = (a_memory(text) for text in ("one", "two", "three"))
    edges = [an_edge(one, "kafka", RelationType.MENTIONS), an_edge(two, "kafka", RelationType.MENTIONS)]
    await put_graph(store, [(one, []), (two, []), (three, ["kafka", "x"])], *edges)
    assert set(await reached(store, {}, {"kafka": 1.0})) == {"one", "two", "three"}


async def test_names_met_on_the_way_are_followed_to_their_relations_and_mentions(store: Store) -> None:
    start, related, other, mentions = (a_memory(text) for text in ("start", "related", "other", "mentions"))
    edges = [an_edge(related, "kafka"), an_edge(related, "flink")]
    named = [(start, ["kafka"]), (other, ["kafka"]), (related, []), (mentions, ["flink"])]
    await put_graph(store, named, *edges)
    assert set(await reached(store, {start.id: 1.0})) == {"start", "related", "other", "mentions"}


async def test_a_rarer_name_leads_on_the_better(store: Store) -> None:
    seed, rare = a_memory("seed"), a_memory("rare")
    common = [(a_memory(f"common {number}"), ["common"]) for number in range(20)]
    await put_graph(store, [(seed, ["rare", "common"]), (rare, ["rare"]), *common])
    found = await reached(store, {seed.id: 1.0})
    assert next(each for each in found if each != "seed") == "rare"
    assert len(found) == 22


async def test_a_hub_leads_nowhere(store: Store) -> None:
    seed = a_memory("seed")
    await put_graph(store, [(seed, ["hub"]), *((a_memory(f"m{number}"), ["hub"]) for number in range(HUB))])
    assert await reached(store, {seed.id: 1.0}) == await reached(store, {}, {"hub": 1.0}) == []


async def test_a_seed_counts_for_what_others_pass_to_it(store: Store) -> None:
    alone, left, right = (a_memory(text) for text in ("alone", "left", "right"))
    await put_graph(store, [(alone, ["own"]), (left, ["n"]), (right, ["n"])])
    assert set(await reached(store, {m.id: 1.0 for m in (alone, left, right)})) == {"left", "right"}


async def test_an_alias_leads_to_what_mentions_the_other_name(store: Store) -> None:
    alias, one, two = a_memory("Melanie", key="alias.mel"), a_memory("one"), a_memory("two")
    await put_graph(store, [(alias, ["mel", "melanie"]), (one, ["mel"]), (two, ["melanie"])])
    assert set(await reached(store, {one.id: 1.0})) == {"Melanie", "one", "two"}


@pytest.mark.parametrize(
    "hidden",
    [
        PRIVATE,
        {"status": Status.SUPERSEDED},
        {"expires_at": NOON},
        {"context_only": True},
        {"tags": ()},
        {"metadata": {}},
    ],
)
@pytest.mark.parametrize("way", ["names", "turns", "relations", "relations to it"])
async def test_what_the_filter_refuses_is_neither_returned_nor_passed_through(
    store: Store, hidden: dict[str, Any], way: str
) -> None:
    seen = {"tags": ("t",), "metadata": {"a": 1}}
    start, between, end = (a_turn(text, place, **seen) for place, text in enumerate(("start", "between", "end")))
    asked = {"tags": ("t",)} if "tags" in hidden else {"metadata": {"a": 1}}
    start, between, end = (
        a_memory(m.content, **seen | (hidden if m is between else {}) | (_placed(m) if way == "turns" else {}))
        for m in (start, between, end)
    )
    names = {"start": ["a"], "between": ["a", "b"], "end": ["b"]} if way == "names" else {}
    edges = [an_edge(start, between), an_edge(between, end)] if way == "relations" else []
    edges += [an_edge(start, between), an_edge(end, between)] if way == "relations to it" else []
    await put_graph(store, [(m, names.get(m.content, [])) for m in (start, between, end)], *edges)
    assert "end" not in await reached(store, {start.id: 1.0}, **asked)
    assert "between" not in await reached(store, {start.id: 1.0, between.id: 1.0}, {"a": 1.0, between.id: 1.0}, **asked)
    assert await reached(store, {between.id: 1.0}, **asked) == []


def _placed(memory: Memory) -> dict[str, Any]:
    return {"session_id": memory.session_id, "turn": memory.turn}


async def test_it_works_within_its_bounds(engine: Engine) -> None:
    """94 seconds were spent on a name with 25,000 mentions elsewhere."""
    store: Any = await engine.open()
    every = [(a_memory(f"m{n}"), [f"n{n % 97}", f"o{n % 89}", f"p{n // 3}", "hub"]) for n in range(3_000)]
    await put_graph(store, every)
    asked: list[int] = []
    way = "look" if engine.name == "postgres" else "read"
    plain = getattr(store._engine, way)

    async def counted(*work: Any) -> Any:
        asked.append(1)
        return await plain(*work)

    setattr(store._engine, way, counted)
    seeds = {memory.id: 1.0 for memory, _ in every[:200]}
    found = await store.reading(ALICE.bank).search_graph(seeds, {"hub": 1.0, "n1": 0.5}, where(), 10)
    assert len(found) == 10
    assert len(asked) == 1, "one hop to the database"


@pytest.mark.parametrize("engines", ["sqlite"], indirect=True)
async def test_every_step_is_looked_up_in_an_index(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without statistics the planner reads whole banks where a statement lets it choose where to begin."""
    every = [(a_turn(f"m{place}", place), ["a", "b", f"n{place}"]) for place in range(6)]
    await put_graph(store, every, *(an_edge(every[0][0], memory) for memory, _ in every[1:]), an_edge(every[0][0], "a"))
    steps: list[str] = []
    run = sqlite_file._run

    def explained(connection: Any, statement: Any) -> Any:
        if statement.many is None:
            plan = connection.execute(f"EXPLAIN QUERY PLAN {statement.sql}", statement.params or {})
            steps.extend(row[3] for row in plan)
        return run(connection, statement)

    monkeypatch.setattr(sqlite_file, "_run", explained)
    reader = store.reading(ALICE.bank)
    assert await reader.search_graph({every[0][0].id: 1.0}, {"a": 1.0}, where(), 9)
    assert await reader.names_known(["a", "b"], where())
    assert await reader.relations([every[0][0].id])
    assert await reader.search_time(Window(day(0), day(1)), where(), 9)
    async with store.transaction(ALICE) as tx:
        assert (await tx.erase([every[0][0].id])).relations == 6
    assert len([step for step in steps if step.startswith("SEARCH")]) > 40
    assert not [step for step in steps if step.endswith("(bank=?)") and "leases" not in step]


async def test_nothing_to_start_from_is_nothing_found(store: Store) -> None:
    await put_graph(store, [(a_memory("a"), ["n"])])
    assert await reached(store, {}) == await reached(store, {"unknown": 1.0}, {"m": 1.0, "n": 0}) == []
    assert await store.reading(Scope(user_id="nobody").bank).search_graph({"a": 1}, {"b": 1}, where(), 5) == []


NAMES = ["a", "b", "c", "d"]
MEMORY = st.tuples(st.lists(st.sampled_from(NAMES), max_size=3), st.booleans(), st.integers(0, 1))


@given(
    memories=st.lists(MEMORY, min_size=2, max_size=8),
    edges=st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=6),
    late=st.lists(MEMORY, max_size=3),
)
async def test_hidden_rows_change_nothing_and_erased_ones_leave_nothing(
    engines: Callable[[], Engine], memories: Any, edges: Any, late: Any
) -> None:
    engine = engines()
    store = await engine.open()
    made = [
        (a_turn(f"m{place}", place, session=f"s{session}", **(PRIVATE if hidden else {})), names)
        for place, (names, hidden, session) in enumerate(memories)
    ]
    told = [an_edge(made[one][0], made[two][0]) for one, two in edges if one != two and max(one, two) < len(made)]
    await put_graph(store, made, *told)
    seeds = {memory.id: 1.0 + place for place, (memory, _) in enumerate(made[:3])}
    reader = store.reading(ALICE.bank)
    before = await reader.search_graph(seeds, {"a": 1.0}, where(), 50)
    visible = {memory.id for memory, _ in made if memory.visibility is Visibility.SHARED}
    assert {each.id for each in before} <= visible

    more = [
        (a_turn(f"late {place}", len(made) + place, session=f"s{session}"), names)
        for place, (names, _, session) in enumerate(late)
    ]
    await put_graph(store, more, *(an_edge(memory, made[0][0]) for memory, _ in more))
    async with store.transaction(ALICE) as tx:
        await tx.erase([memory.id for memory, _ in more])
    assert await reader.search_graph(seeds, {"a": 1.0}, where(), 50) == before

    async with store.transaction(ALICE) as tx:
        await tx.erase([memory.id for memory, _ in made])
    assert await reader.search_graph(seeds, {"a": 1.0}, where(), 50) == []
    assert engine.rows("SELECT from_id FROM relations UNION ALL SELECT name FROM names") == []
    await engine.close()


def test_activation_is_damped_by_degree_and_bounded() -> None:
    edges = {(1, "a"): 1.0, (2, "a"): 1.0, (3, "a"): 1.0, (1, "b"): 1.0, (4, "b"): 1.0}
    came = spread(edges, {1: 2.0}, 0.5, 20)
    assert came[4] > came[2] == came[3] > 0
    assert 0 < sum(came.values()) <= 0.5 + 1e-9
    assert spread({}, {1: 1.0}, 0.5, 3) == spread(edges, {}, 0.5, 3) == {}
    assert set(spread(edges, {9: 1.0}, 0.5, 3).values()) == {0.0}


@given(
    edges=st.dictionaries(st.tuples(st.integers(0, 5), st.integers(6, 9)), st.floats(0.01, 5), min_size=1, max_size=12),
    start=st.dictionaries(st.integers(0, 9), st.floats(0.01, 5), min_size=1, max_size=3),
)
def test_no_more_activation_arrives_than_is_passed_on(edges: Any, start: Any) -> None:
    came = spread(edges, start, 0.5, 5)
    assert all(value >= 0 for value in came.values())
    assert sum(came.values()) <= 0.5 + 1e-9
