"""Two engines, one contract: whatever is done to both, they answer alike."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contract.conftest import PostgresEngine, SQLiteEngine
from hindsight_memory.domain import Kind, Memory, Relation, RelationType, Status, Tier, Visibility, Window
from hindsight_memory.store.base import Aged, Marks, Setback, Space, Stage, Store, Terms
from hindsight_memory.testing import StoppedClock
from hindsight_memory.text.tokens import index_words
from postgres import Server
from samples import ALICE, BOB, NOON, a_memory, a_turn, an_event, day, where

LOCOMO = Path(__file__).parents[3] / "shared" / "data" / "locomo.json"
SPACE = Space(name="s", spec="s", dimension=3, template="plain", calibration={})
TERMS = Terms(batch=3, attempts=2, lease_s=60)
WORDS = ["cat", "dog", "猫", "bird", "fish", "Zebra", "äpfel", "the"]
NAMES = ["mel", "陈静", "tom"]

TEXT = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6)
PLACE = st.integers(0, 7)
KINDS = st.sampled_from(["turn", "fact", "own"])
PARTS = st.lists(st.tuples(*[st.integers(-3, 3)] * 3).filter(any), min_size=1, max_size=2)
EDGES = st.sampled_from(list(RelationType))
STEP = st.one_of(
    st.tuples(st.just("add"), TEXT, st.lists(st.sampled_from(NAMES), max_size=2), KINDS),
    st.tuples(st.just("reword"), PLACE, TEXT),
    st.tuples(st.just("status"), PLACE, st.sampled_from(list(Status))),
    st.tuples(st.just("erase"), PLACE),
    st.tuples(st.just("relate"), PLACE, PLACE, EDGES, st.sampled_from([0.25, 0.5, 1.0])),
    st.tuples(st.just("mention"), PLACE, st.sampled_from(NAMES)),
    st.tuples(st.just("vector"), PLACE, PARTS),
    st.tuples(st.just("touch"), PLACE, st.integers(1, 5)),
    st.tuples(st.just("tier"), PLACE, st.sampled_from(list(Tier))),
    st.tuples(st.just("claim"), st.sampled_from(["one", "other"])),
    st.tuples(st.just("settle"), PLACE, st.sampled_from(["done", "failed", "given back", "given up"])),
    st.tuples(st.just("desk"), st.sampled_from(["s", "t"])),
    st.tuples(st.just("empty")),
)  # fmt: skip


class Pair:
    """One step is done to each of the two, with the very same memories."""

    def __init__(self, stores: Sequence[Store]) -> None:
        self.stores = stores
        self.memories: list[Memory] = []
        self.turns = 0

    async def do(self, verb: str, *rest: Any) -> None:
        """Carry out a step; one about a memory that is not there is none."""
        if verb == "claim":
            took = [
                [(due.memory.id, due.attempts) for due in await store.claim(Stage.INDEX, rest[0], TERMS)]
                for store in self.stores
            ]
            assert took[0] == took[1]
            return
        if verb == "add":
            rest = (self._made(*rest), rest[0], rest[1])
        elif verb not in ("desk", "empty"):
            if rest[0] >= len(self.memories):
                return
            rest = (self.memories[rest[0]], *rest[1:])
        after: list[Any] = []
        for store in self.stores:
            async with store.transaction(ALICE) as tx:
                after.append(await getattr(self, f"_{verb}")(tx, *rest))
        assert after[0] == after[1]
        self._remember(verb, rest, after[0])

    def _made(self, words: list[str], names: list[str], kind: str) -> Memory:
        number = len(self.memories)
        fields: dict[str, Any] = {"tags": tuple(sorted(set(words))[:2]), "occurred_at": day(number % 5)}
        if kind == "turn":
            self.turns += 1
            return a_turn(" ".join(words), self.turns - 1, **fields, metadata={"n": number % 2})
        if kind == "own":
            fields |= {"visibility": Visibility.PRIVATE, "agent_id": "coder", "expires_at": day(number % 3)}
        return a_memory(" ".join(words), key=f"key.{number % 3}", **fields)

    def _remember(self, verb: str, rest: Any, after: Any) -> None:
        if verb == "add":
            self.memories.append(rest[0])
        elif verb == "erase":
            self.memories.remove(rest[0])
        elif verb in ("reword", "status"):
            self.memories[self.memories.index(rest[0])] = after
        elif verb == "empty":
            self.memories.clear()

    async def _add(self, tx: Any, memory: Memory, words: list[str], names: list[str]) -> None:
        times = (Window(memory.occurred_at, memory.occurred_at + (day(2) - day(0))),) if names else ()
        await tx.add(memory, Marks(tuple(words), tuple(names), times))
        await tx.record([an_event(memory, id=f"e{memory.id}")])

    async def _reword(self, tx: Any, memory: Memory, words: list[str]) -> Memory:
        return await tx.change(memory, Marks(tuple(words)), content=" ".join(words))  # type: ignore[no-any-return]

    async def _status(self, tx: Any, memory: Memory, status: Status) -> Memory:
        back = status in (Status.ACTIVE, Status.SUPERSEDED) and memory.status not in (Status.ACTIVE, Status.SUPERSEDED)
        gone = NOON if status is Status.DELETED else None
        marks = Marks(tuple(memory.content.split())) if back else None
        return await tx.change(memory, marks, status=status, deleted_at=gone)  # type: ignore[no-any-return]

    async def _erase(self, tx: Any, memory: Memory) -> Any:
        return await tx.erase([memory.id])

    async def _relate(self, tx: Any, memory: Memory, place: int, kind: RelationType, weight: float) -> None:
        other = self.memories[place % len(self.memories)]
        edge = {"from_id": memory.id, "to_id": other.id, "weight": weight, "created_at": NOON}
        await tx.relate(Relation(type=kind, **edge))

    async def _mention(self, tx: Any, memory: Memory, name: str) -> None:
        await tx.relate(Relation(type=RelationType.MENTIONS, from_id=memory.id, to_id=name, created_at=NOON))

    async def _vector(self, tx: Any, memory: Memory, parts: list[Any]) -> None:
        vectors = np.array(parts, np.float32)
        await tx.set_vectors(SPACE.name, {memory.id: vectors / np.linalg.norm(vectors, axis=1, keepdims=True)})

    async def _touch(self, tx: Any, memory: Memory, days: int) -> None:
        await tx.touch([memory.id], day(days))

    async def _tier(self, tx: Any, memory: Memory, tier: Tier) -> None:
        await tx.set_tier([memory.id], tier)

    async def _settle(self, tx: Any, memory: Memory, how: str) -> None:
        setbacks = {
            "failed": Setback(reason="it chokes"),
            "given back": Setback(tried=False),
            "given up": Setback(reason="too long", final=True),
        }
        done = [memory.id] if how == "done" else []
        await tx.settle(Stage.INDEX, done, {} if done else {memory.id: setbacks[how]})

    async def _desk(self, tx: Any, session: str) -> Any:
        return await tx.take_desk(session)

    async def _empty(self, tx: Any) -> Any:
        return await tx.erase_bank()


async def everything(store: Store, memories: list[Memory]) -> list[Any]:
    """What a store answers, in an order of its own where it is left open."""
    reader = store.reading(ALICE.bank)
    ids = [memory.id for memory in memories]
    told: list[Any] = []
    for asked in (
        where(),
        where(viewer="coder", statuses=tuple(Status), findable=False),
        where(tags=("cat",)),
        where(metadata={"n": 1}),
        where(as_of=day(2), kinds=(Kind.EPISODIC,), tiers=tuple(Tier)),
    ):
        told += [await reader.find(asked, 20), await reader.count(asked)]
        told.append(await reader.find(asked, 2, max(ids, default="z")))
        told.append(ranked(await reader.search_words(WORDS[:5], asked, 20)))
        told.append(ranked(await reader.search_vector(SPACE.name, np.array([0.6, 0.8, 0], np.float32), asked, 20)))
        told.append(ranked(await reader.search_time(Window(day(0), day(4)), asked, 20)))
        told.append(ranked(await reader.search_graph(dict.fromkeys(ids[:2], 1.0), {"mel": 0.5}, asked, 20)))
        told.append(dict(await reader.names_known([*NAMES, "nobody"], asked)))
    for by in ("expires", "deleted", "used"):
        told.append(await reader.aged(Aged(by=by, until=day(9)), 20))  # type: ignore[arg-type]  # a word of these
    told += [
        await reader.get(ids),
        await reader.relations(ids),
        await reader.contradictions(where(), 20),
        await reader.stats(),
        await reader.active(),
        await reader.sweep(0, 20),
        await reader.keyed("key.", 20),
        await reader.events(None, 20),
        await reader.talks(day(9), 20),
        await reader.lessons(20),
        sorted(await reader.lacking(ids)),
        {name: vector.round(4).tolist() for name, vector in (await reader.vectors(SPACE.name, ids)).items()},
        {name: sorted(near) for name, near in (await reader.alike(SPACE.name, ids, 20)).items()},
        await store.due(Stage.INDEX, TERMS),
        await store.banks(None, None, 9),
        [await reader.current(f"key.{number}") for number in range(3)],
    ]
    return told


def ranked(found: Sequence[Any]) -> list[tuple[float, float, str]]:
    """Scores and ids, best first; equal scores by id, since engines add up in orders of their own."""
    assert [each.score for each in found] == sorted((each.score for each in found), reverse=True)
    return sorted((-round(each.score, 5), round(each.own, 5), each.id) for each in found)


@given(steps=st.lists(STEP, min_size=4, max_size=20))
async def test_whatever_is_done_both_answer_alike(
    server: Server, tmp_path_factory: pytest.TempPathFactory, clock: StoppedClock, steps: list[Any]
) -> None:
    engines = [SQLiteEngine(tmp_path_factory.mktemp("pair"), clock), PostgresEngine(server, clock)]
    try:
        pair = Pair([await engine.open() for engine in engines])
        for store in pair.stores:
            await store.use_spaces([SPACE])
        for step in steps:
            await pair.do(*step)
        answers = [await everything(store, pair.memories) for store in pair.stores]
        for one, other in zip(*answers, strict=True):
            assert one == other
        for store in pair.stores:
            assert await store.reading(BOB.bank).find(where(), 9) == []
    finally:
        for engine in engines:
            await engine.close()


@given(texts=st.lists(TEXT, min_size=12, max_size=40), asked=st.lists(st.sampled_from(WORDS), min_size=1, max_size=4))
async def test_the_same_ten_are_best_up_to_ties(
    server: Server, tmp_path_factory: pytest.TempPathFactory, clock: StoppedClock, texts: Any, asked: list[str]
) -> None:
    memories = [a_turn(" ".join(words), place) for place, words in enumerate(texts)]
    best: list[list[tuple[float, str]]] = []
    for engine in (SQLiteEngine(tmp_path_factory.mktemp("ten"), clock), PostgresEngine(server, clock)):
        store = await engine.open()
        async with store.transaction(ALICE) as tx:
            for memory in memories:
                await tx.add(memory, Marks(tuple(memory.content.split())))
        found = await store.reading(ALICE.bank).search_words(asked, where(), 10)
        best.append([(round(each.score, 9), each.id) for each in found])
        await engine.close()
    assert [score for score, _ in best[0]] == pytest.approx([score for score, _ in best[1]])
    last = min((score for score, _ in best[0]), default=0.0)
    assert {each for each in best[0] if each[0] > last} == {each for each in best[1] if each[0] > last}


async def test_both_have_the_same_tables_and_columns(server: Server, tmp_path: Path, clock: StoppedClock) -> None:
    one, other = SQLiteEngine(tmp_path, clock), PostgresEngine(server, clock)
    await one.open()
    await other.open()
    assert {*other.tables()} - {*one.tables()} == {"versions"}, "a file keeps the number of its schema in its head"
    assert {table: one.columns(table) for table in one.tables()} == {
        table: other.columns(table) for table in one.tables()
    }
    await one.close()
    await other.close()


def conversations(name: str) -> list[tuple[list[str], list[str]]]:
    """What is said in each conversation of a set, and what is asked about it; none where the set is not here."""
    if name != "locomo":
        text = (resources.files("hindsight_memory.examples") / f"{name}.json").read_text(encoding="utf-8")
        whole = json.loads(text)
        said = [message["content"] for session in whole["sessions"] for message in session["messages"]]
        return [(said, [each["question"] for each in whole["questions"]])]
    if not LOCOMO.exists():
        return []
    groups = json.loads(LOCOMO.read_text(encoding="utf-8"))["groups"][:1]
    return [([each["content"] for each in g["memories"]], [each["query"] for each in g["queries"]]) for g in groups]


@pytest.mark.parametrize("name", ["en", "zh", pytest.param("locomo", marks=pytest.mark.slow)])
async def test_what_people_ask_finds_the_same_ten(
    server: Server, tmp_path: Path, clock: StoppedClock, name: str
) -> None:
    sets = conversations(name)
    if not sets:
        pytest.skip(f"the evaluation data are not at {LOCOMO}: their licence keeps them out")
    for said, asked in sets:
        memories = [a_turn(text, place) for place, text in enumerate(said)]
        best: list[list[Any]] = []
        for engine in (SQLiteEngine(tmp_path, clock), PostgresEngine(server, clock)):
            store = await engine.open()
            async with store.transaction(ALICE) as tx:
                for memory in memories:
                    await tx.add(memory, Marks(tuple(index_words(memory.content))))
            reader = store.reading(ALICE.bank)
            best.append([await reader.search_words(index_words(text), where(), 10) for text in asked])
            await engine.close()
        assert any(best[0])
        for one, other in zip(*best, strict=True):
            assert [each.score for each in one] == pytest.approx([each.score for each in other])
            last = min((each.score for each in one), default=0.0) + 1e-9
            assert {each.id for each in one if each.score > last} == {each.id for each in other if each.score > last}
