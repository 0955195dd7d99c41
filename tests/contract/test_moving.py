"""Moving: a bank line by line, the same from every engine, into every engine."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hindsight_memory.domain import Handling, Ranking, Relation, RelationType, Scope, SessionState, Status, Window
from hindsight_memory.ingest.enrich import marks_of
from hindsight_memory.lifecycle.archive import digest, plain_archive
from hindsight_memory.lifecycle.mirror import all_banks, migrate
from hindsight_memory.lifecycle.take_in import contents, take_in
from hindsight_memory.settings import StoreSettings, WordSettings
from hindsight_memory.store.base import Done, Space, Stage, Store
from hindsight_memory.store.moving import memory_of
from hindsight_memory.store.parts import COMMON, EVENT, MEMORY, PARTS, POLICY, RELATION, SPACE, VECTOR
from hindsight_memory.store.sqlite import SQLiteStore
from hindsight_memory.testing import StoppedClock
from samples import ALICE, BOB, NOON, a_memory, a_turn, an_event, day, where, words_in

SPACES = [
    Space(name=name, spec="s", dimension=3, template="plain", calibration={"mean": 0.25}) for name in ("b", "a", "吃")
]
THIRDS = np.array([[1, 2, 2], [2, -2, 1]], np.float32) / 3


async def filled(store: Store) -> None:
    """A bank with a bit of everything, and another one."""
    await store.use_spaces(SPACES)
    one = a_memory(
        "Ann likes tea", tags=("drink", "茶"), key="preference.tea", metadata={"b": [1, 2.5, None], "深": {}}
    )
    two = replace(a_memory("gone by now"), status=Status.DELETED, deleted_at=NOON)
    turns = [a_turn("it rained", 0), a_turn("下雨了 then", 1)]
    async with store.transaction(ALICE) as tx:
        await tx.next_turn("s", 2)
        for memory in (one, two, *turns):
            marks = replace(marks_of(memory), times=(Window(day(1), day(2)),))
            await tx.add(memory, marks)
        await tx.record(
            [an_event(one, detail={"a": {"b": [1.5, "é"]}}, reason="so"), an_event(two), an_event(turns[0])]
        )
        await tx.relate(
            Relation(type=RelationType.MENTIONS, from_id=one.id, to_id="Zoë", created_at=NOON, metadata={"m": 1})
        )
        await tx.relate(Relation(type=RelationType.FOLLOWS, from_id=turns[1].id, to_id=turns[0].id, created_at=NOON))
        for space in SPACES:
            await tx.set_vectors(space.name, {one.id: THIRDS, turns[0].id: THIRDS[:1]})
        await tx.settle(Stage.INDEX, [one.id, turns[0].id], {})
        await tx.set_rules({"email": Handling.REDACT, "phone": Handling.MASK})
        await tx.seal({"a" * 24: ("email", b"\x00\xff sealed")}, NOON)
        await tx.settle_upkeep("merge", Done(NOON, 2))
        await tx.touch([one.id], day(3))
        await tx.set_ranking(Ranking(weights={"words": 1.1, "meaning": 0.9}, pairs=20, fitted_at=NOON, since=day(-9)))
        desk = replace(await tx.take_desk("s"), given=("a", "b"), version=2, expires_at=day(1))
        await tx.put_desk(replace(desk, state=SessionState(task_goal="茶", decisions=("buy tea",))), NOON)
    async with store.transaction(BOB) as tx:
        memory = a_memory("of Bob alone", BOB)
        await tx.add(memory, words_in(memory.content))
        await tx.record([an_event(memory)])


@pytest.fixture
async def beside(tmp_path: Path, clock: StoppedClock) -> Any:
    store = await SQLiteStore.open(tmp_path / "beside.db", StoreSettings(), WordSettings(), clock)
    yield store
    await store.close()


async def hashed(store: Store, scope: Scope) -> tuple[str, int]:
    async with store.snapshot(scope.bank) as reader:
        return await digest(reader)


async def test_a_bank_says_the_same_in_every_engine(store: Store, beside: Store) -> None:
    await filled(store)
    done = await migrate(store, beside)
    assert done.open == ()
    for scope in (ALICE, BOB):
        assert await hashed(store, scope) == await hashed(beside, scope)
        assert await beside.reading(scope.bank).faults(10) == []
    ids = [memory.id for memory in await store.reading(ALICE.bank).turns("s", 0, 9)]
    for space in SPACES:
        ours = await store.reading(ALICE.bank).vectors(space.name, ids)
        theirs = await beside.reading(ALICE.bank).vectors(space.name, ids)
        assert ours.keys() == theirs.keys() == {ids[0]}
        assert np.array_equal(ours[ids[0]], theirs[ids[0]])
    assert {space.name: space for space in await beside.spaces()} == {space.name: space for space in SPACES}
    assert (await migrate(store, beside)).changed == 0


async def test_and_comes_from_another_engine_as_it_was_there(store: Store, beside: Store) -> None:
    await filled(beside)
    assert (await migrate(beside, store)).open == ()
    reader = store.reading(ALICE.bank)
    assert await hashed(store, ALICE) == await hashed(beside, ALICE)
    assert await reader.faults(10) == []
    assert await reader.log(0, 10) == await beside.reading(ALICE.bank).log(0, 10)
    assert await reader.log_head() == await beside.reading(ALICE.bank).log_head()
    assert (await reader.stats()) == (await beside.reading(ALICE.bank).stats())
    assert await reader.rules() == await beside.reading(ALICE.bank).rules()
    assert await reader.sealed("a" * 24) == ("email", b"\x00\xff sealed")
    assert await reader.ranking() == await beside.reading(ALICE.bank).ranking() != Ranking()
    assert await reader.desk("s") == await beside.reading(ALICE.bank).desk("s")
    assert (await reader.desk("s")).given == ("a", "b")
    assert await store.check() == []
    async with store.transaction(ALICE) as tx:
        more = a_memory("life goes on")
        await tx.add(more, words_in(more.content))
        await tx.record([an_event(more)])
    assert [number for number, _ in await reader.stored(0, 10)] == [1, 2, 3, 4, 5]


async def test_an_archive_is_the_same_bytes_from_every_engine(store: Store, beside: Store, tmp_path: Path) -> None:
    await filled(beside)
    await store.use_spaces(SPACES)
    first = await written(beside)
    (tmp_path / "archive").write_bytes(first)
    held = {each.scope.bank: each for each in contents(tmp_path / "archive", None, lambda _: None)}
    for outcome in ("moved", "known"):
        moved = await take_in(store, tmp_path / "archive", None, held, lambda _: None)
        assert [(each.user_id, each.outcome) for each in moved] == [("alice", outcome), ("bob", outcome)]
        assert await written(store) == first
    assert await store.reading(ALICE.bank).faults(10) == []


async def written(store: Store) -> bytes:
    lines = plain_archive(store, all_banks(store), vectors=True)
    return b"".join([data async for data in lines])


async def test_lines_come_in_the_order_of_their_keys_a_page_at_a_time(store: Store) -> None:
    await filled(store)
    reader = store.reading(ALICE.bank)
    counts = {}
    for part in (*PARTS, VECTOR):
        whole = await reader.lines(part, None, 100)
        keys = [part.key_of(line) for line in whole]
        assert keys == sorted(keys)
        paged, after = [], None
        while page := await reader.lines(part, after, 1):
            after = part.key_of(page[-1])
            paged += page
        assert paged == whole
        counts[part.name] = len(whole)
    assert counts == {
        "event": 3, "session": 1, "memory": 4, "relation": 2, "policy": 2, "sealed": 1, "upkeep": 1, "vector": 9
    }  # fmt: skip
    head = await reader.head()
    assert head is not None
    assert (head["next_row"], head["next_event"], head["user_id"]) == (5, 4, "alice")
    assert await store.reading("default/nobody").head() is None
    assert await store.reading("default/nobody").lines(MEMORY, None, 10) == []


async def test_a_snapshot_is_of_one_moment(store: Store) -> None:
    await filled(store)
    async with store.snapshot(ALICE.bank) as reader, store.snapshot("default/nobody") as nobody:
        before = await digest(reader)
        async with store.transaction(ALICE) as tx:
            memory = a_memory("written meanwhile")
            await tx.add(memory, words_in(memory.content))
            await tx.record([an_event(memory)])
        async with store.transaction(Scope(user_id="nobody")) as tx:
            await tx.record([replace(an_event(memory), bank_id="default/nobody")])
        assert await digest(reader) == before
        assert await nobody.head() is None
        assert await reader.get([memory.id]) == []
    assert await hashed(store, ALICE) != before


async def test_what_is_put_replaces_and_what_is_dropped_is_gone_with_its_words(store: Store) -> None:
    await filled(store)
    reader = store.reading(ALICE.bank)
    lines = await reader.lines(MEMORY, None, 10)
    changed = {**lines[0], "content": "Ann prefers 咖啡", "tags": ["new"], "version": 2}
    async with store.transaction(ALICE) as tx:
        await tx.put_memories([(changed, marks_of(memory_of(changed)))])
        await tx.drop_lines(MEMORY, [(lines[2]["row"],), (77,)])
        await tx.drop_lines(RELATION, [RELATION.key_of(line) for line in await tx.lines(RELATION, None, 10)][:1])
        await tx.drop_lines(POLICY, [("email",)])
        await tx.drop_lines(VECTOR, [("a", 1, 1), ("nowhere", 1, 1)])
        await tx.settle_vectors()
    assert [line["row"] for line in await reader.lines(MEMORY, None, 10)] == [1, 2, 4]
    assert (await reader.lines(MEMORY, None, 1))[0] == changed
    assert await reader.faults(10) == []
    assert [each.id for each in await reader.search_words(["rain"], where(), 10)] == []
    assert [each.id for each in await reader.search_words(["咖啡"], where(), 10)] == [changed["id"]]
    assert len(await reader.lines(RELATION, None, 10)) == 1
    assert await reader.rules() == {"phone": Handling.MASK}
    assert await reader.lacking([changed["id"]]) == {changed["id"]}  # its text is another
    assert await store.reading(BOB.bank).faults(10) == []
    assert len(await store.reading(BOB.bank).lines(MEMORY, None, 10)) == 1


async def test_two_that_say_the_same_may_change_places(store: Store) -> None:
    """An active memory and one that was superseded: at no moment two are active."""
    one = a_memory("said once")
    two = replace(one, id=a_memory("x").id, status=Status.SUPERSEDED)
    async with store.transaction(ALICE) as tx:
        for memory in (two, one):
            await tx.add(memory, words_in(memory.content))
        await tx.record([an_event(one), an_event(two)])
    lines = await store.reading(ALICE.bank).lines(MEMORY, None, 10)
    for line, status in zip(lines, ("active", "superseded"), strict=True):
        async with store.transaction(ALICE) as tx:
            await tx.put_memories([({**line, "status": status}, words_in("said once"))])
    assert [line["status"] for line in await store.reading(ALICE.bank).lines(MEMORY, None, 10)] == [
        "active", "superseded"
    ]  # fmt: skip


async def test_the_log_is_put_as_it_is_and_never_rewritten(store: Store) -> None:
    await filled(store)
    lines = await store.reading(ALICE.bank).lines(EVENT, None, 10)
    forged = {**lines[1], "actor": "somebody else"}
    with pytest.raises(Exception, match="log is not changed"):
        async with store.transaction(ALICE) as tx:
            await tx.put_lines(EVENT, [forged])
    with pytest.raises(Exception, match="log is not shortened"):
        async with store.transaction(ALICE) as tx:
            await tx.drop_lines(EVENT, [(2,)])
    async with store.transaction(ALICE) as tx:
        await tx.put_lines(EVENT, [{**lines[1], "reason": "", "detail": {}, "salt": ""}])
    assert (await store.reading(ALICE.bank).log(1, 1))[0].emptied


async def test_vectors_of_unknown_spaces_and_lengths_are_passed_over(store: Store) -> None:
    await filled(store)
    reader = store.reading(ALICE.bank)
    lines = await reader.lines(VECTOR, None, 10)
    async with store.transaction(ALICE) as tx:
        await tx.put_lines(VECTOR, [{**lines[0], "space": "unknown"}])
        await tx.put_lines(VECTOR, [{**lines[0], "vector": "AACAPw=="}])  # one number
    assert await reader.lines(VECTOR, None, 10) == lines


async def test_what_all_share_moves_too(store: Store, beside: Store) -> None:
    await filled(store)
    await store.spend(NOON.date(), 7, 1)
    for part in COMMON:
        lines = await store.common_lines(part, None, 10)
        await beside.put_common(part, lines)
        assert await beside.common_lines(part, None, 10) == lines
        await beside.put_common(part, [])
    assert [line["name"] for line in await store.common_lines(SPACE, None, 10)] == ["a", "b", "吃"]
    assert [line["name"] for line in await store.common_lines(SPACE, ("a",), 1)] == ["b"]


async def test_faults_are_told(engine: Any) -> None:
    store = await engine.open()
    await filled(store)
    reader = store.reading(ALICE.bank)
    assert await reader.faults(10) == []
    here = "bank = (SELECT bank FROM banks WHERE bank_id = 'default/alice')"
    for statement, said in (
        (f"UPDATE banks SET documents = documents + 1 WHERE {here}", "count of its words"),
        (f"DELETE FROM texts WHERE {here} AND row = 1", "is to be found by words and has none"),
        (f"UPDATE postings SET own = own + 1 WHERE {here} AND row = 1", "index of its words"),
        (f"DELETE FROM vectors WHERE {here} AND row = 1", "is said to have its vector and has none"),
    ):
        engine.rows(f"{statement} RETURNING bank")
        assert said in " ".join(await reader.faults(10))
    assert await store.reading(BOB.bank).faults(10) == []


def test_no_part_is_forgotten() -> None:
    """Every table that holds something of a bank is a part, or can be made anew."""
    from hindsight_memory.store.erasure import OF_A_BANK

    anew = {"postings", "texts", "lengths", "tags", "names", "times", "leases"}
    assert {part.table for part in (*PARTS, VECTOR)} == {*OF_A_BANK, "events"} - anew
