"""Banks: whatever users and namespaces are called, no reading of one shows a row of another."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_memory.domain import Filter, Relation, RelationType, Scope, Window
from hindsight_memory.errors import Conflict, InvalidInput
from hindsight_memory.store.base import Marks, Space, Stage, Store
from samples import NOON, a_memory, a_turn, an_event, day, where, words_in

SPACE = Space(name="s", spec="s", dimension=2, template="plain", calibration={})
AXIS = np.array([[1, 0]], np.float32)
HOSTILE = [
    "a", "b", "a/b", "a%2Fb", "a%252Fb", "/", "//", "%", "%2F", "A", "a ", " a", "á", "a\u0301", "用户", "🙂",
    "a'b", 'a"b', "a;b", "a&b=c", "a.b", "*", "a\nb", "x" * 200, "x" * 199 + "y", "None", "null", "default", "..", "-",
]  # fmt: skip


def test_hostile_names_name_different_banks() -> None:
    scopes = [Scope(namespace=n, user_id=u) for n in HOSTILE for u in [*HOSTILE, None]]
    assert len({scope.bank for scope in scopes}) == len(scopes)
    assert all(Scope.of_bank(scope.bank) == scope for scope in scopes)


ANY = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
NAME = st.text(ANY, min_size=1, max_size=40).filter(str.strip) | st.sampled_from(HOSTILE)


@given(one=st.tuples(NAME, st.none() | NAME), two=st.tuples(NAME, st.none() | NAME))
def test_two_scopes_share_a_bank_only_when_they_are_equal(one: Any, two: Any) -> None:
    first, second = (Scope(namespace=namespace, user_id=user) for namespace, user in (one, two))
    assert (first.bank == second.bank) == (one == two)
    assert Scope.of_bank(first.bank) == first


@pytest.mark.parametrize("name", ["", " ", "\0", "a\0", "\ud800", "x" * 201, 7, b"a", ["a"]])
def test_names_that_cannot_be_are_refused(name: Any) -> None:
    for field in ("namespace", "user_id", "agent_id", "session_id"):
        with pytest.raises(InvalidInput) as refused:
            Scope(**{field: name})
        assert refused.value.field == field


async def everything(store: Store, scope: Scope, ids: list[str]) -> str:
    """All that any way of reading a bank brings, asked for with the ids of every bank."""
    reader = store.reading(scope.bank)
    wide = where(findable=False)
    searches = [
        await reader.search_words(["secret"], wide, 99),
        await reader.search_vector(SPACE.name, AXIS[0], wide, 99),
        await reader.search_time(Window(day(-9), day(9)), wide, 99),
        await reader.search_time(Window(day(20), day(29)), wide, 99),
        await reader.search_graph(dict.fromkeys(ids, 1.0), {"secret": 1.0, **dict.fromkeys(ids, 1.0)}, wide, 99),
    ]
    return repr(
        [
            await reader.get(ids),
            await reader.find(wide, 99),
            await reader.find(where(ids=tuple(ids)), 99),
            await reader.known("same hash"),
            await reader.happened("same hash", None),
            await reader.keyed("same", 99),
            await reader.current("same.key"),
            await reader.turns("same session", 0, 99),
            await reader.get([each.id for found in searches for each in found]),
            [each.id for found in searches for each in found],
            sorted(await reader.lacking(ids)),
            await reader.relations(ids),
            await reader.names_known(["secret", *(f"mark{number}mark" for number in range(99))], wide),
            await reader.events(None, 99),
            [await reader.events(each, 99) for each in ids],
        ]
    )


async def test_no_reading_of_one_bank_shows_anothers_rows(store: Store) -> None:
    await store.use_spaces([SPACE])
    # Users of one namespace, and the namespaces of one user.
    scopes = [Scope(user_id=name) for name in HOSTILE] + [Scope(namespace=name, user_id="a") for name in HOSTILE]
    scopes = list({scope.bank: scope for scope in [*scopes, Scope(user_id=None)]}.values())
    held = {}
    for number, scope in enumerate(scopes):
        memory = a_turn(f"secret mark{number}mark", 0, scope, "same session", content_hash="same hash", key="same.key")
        edge = Relation(type=RelationType.MENTIONS, from_id=memory.id, to_id=f"mark{number}mark", created_at=NOON)
        async with store.transaction(scope) as tx:
            times = (Window(day(20), day(21)),)
            await tx.add(memory, Marks(words_in(memory.content).words, ("secret", f"mark{number}mark"), times))
            await tx.set_vectors(SPACE.name, {memory.id: AXIS})
            await tx.relate(edge)
            await tx.record([an_event(memory, reason=f"mark{number}mark")])
        held[scope.bank] = memory
    ids = [memory.id for memory in held.values()]
    for number, scope in enumerate(scopes):
        shown = await everything(store, scope, ids)
        assert f"mark{number}mark" in shown
        assert not [other for other in range(len(scopes)) if other != number and f"mark{other}mark" in shown]
        assert not [memory.id for bank, memory in held.items() if bank != scope.bank and memory.id in shown]


async def test_no_change_reaches_another_bank(store: Store, engine: Any) -> None:
    scopes = [Scope(user_id="a"), Scope(user_id="b")]
    his = a_memory("secret", scopes[1], key="k", tags=("t",))
    await store.use_spaces([SPACE])
    async with store.transaction(scopes[1]) as tx:
        await tx.add(his, Marks(("secret",)))
        await tx.set_vectors(SPACE.name, {his.id: AXIS})
    before = {table: engine.rows(f"SELECT * FROM {table} WHERE bank = 1") for table in ("memories", "vectors", "tags")}
    with pytest.raises(Conflict):
        async with store.transaction(scopes[0]) as tx:
            await tx.change(his, Marks(("mine",)), content="mine")
    async with store.transaction(scopes[0]) as tx:
        await tx.touch([his.id], NOON)
        await tx.set_vectors(SPACE.name, {his.id: -AXIS})
        await tx.settle(Stage.INDEX, [his.id], {})
        await tx.erase([his.id])
    assert {table: engine.rows(f"SELECT * FROM {table} WHERE bank = 1") for table in before} == before


def test_a_scope_cannot_be_set_from_data() -> None:
    """Ids inside metadata once moved a memory into another user's scope; a filter has no such field."""
    names = set(Filter.__dataclass_fields__)
    assert not names & {"user_id", "namespace", "bank", "bank_id"}
    for one, two in combinations([Scope(user_id="a"), Scope(user_id="a", agent_id="x", session_id="y")], 2):
        assert one.bank == two.bank
