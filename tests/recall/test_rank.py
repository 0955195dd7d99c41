"""From numbers to results: every score adds up, and what comes after it drops nothing and says what it did."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_memory import AsyncHindsightMemory, Hit
from hindsight_memory.domain import Relation, RelationType, Share, Why
from hindsight_memory.models.base import Reranker
from hindsight_memory.recall.order import apart, current
from hindsight_memory.recall.pack import pack
from hindsight_memory.recall.rank import gate, reranked, weigh
from hindsight_memory.settings import PackSettings, RecallSettings, RerankSettings, RetentionSettings, Settings
from hindsight_memory.testing import Fault, HashEmbedder, ScriptedReranker, StoppedClock, open_service
from samples import NOON, a_memory, brought_by, day

RETENTION = RetentionSettings()
PATIENT = RerankSettings(wait_s=5)


def adds_up(hit: Hit) -> bool:
    given = math.fsum(share.amount for share in hit.why.shares)
    return hit.score == pytest.approx(given * math.prod(factor.value for factor in hit.why.factors))


def a_hit(content: str, score: float = 1.0, confidence: float = 0.5) -> Hit:
    why = Why("", (Share("question", 0, 0.0, score - 0.25), Share("words", 1, 1.0, 0.25)), ())
    return Hit(a_memory(content), score, confidence, why)


def contents(hits: Sequence[Hit]) -> list[str]:
    return [hit.memory.content for hit in hits]


# Adding up

TEXTS = [
    "Anna drinks coffee in Lisbon", "Tea is what Tom drinks", "The port is 8443", "安娜在北京喝咖啡", "昨天去了上海",
    "In May we walked to Berlin", "Why is it slow?", "🙂",
]  # fmt: skip
WORDS = [
    "anna",
    "coffee",
    "lisbon",
    "who",
    "8443",
    "yesterday",
    "may",
    "咖啡",
    "北京",
    "呢",
    "and",
    "where is the",
    "?",
]
LETTERS = st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"])
QUESTIONS = st.lists(st.sampled_from(WORDS), min_size=1).map(" ".join) | st.text(
    LETTERS, min_size=1, max_size=40
).filter(str.strip)


@pytest.fixture(params=["with an embedder", "without"])
async def full(request: Any, database: Path, clock: StoppedClock) -> AsyncIterator[AsyncHindsightMemory]:
    """A bank with some of everything, read with and without meaning."""
    memory = AsyncHindsightMemory(user_id="alice", clock=clock)
    embedder = HashEmbedder() if request.param == "with an embedder" else []
    memory._service = await open_service(database, clock=clock, embedder=embedder)
    await memory.write_many(TEXTS, wait="indexed")
    await memory.write("Anna has a dog", source="document", importance=1.0, occurred_at=day(-400), wait="indexed")
    for turn in ("Where does Anna live?", "In Lisbon", "And her dog?"):
        await memory.write_conversation([{"content": turn}], session_id="s", wait="indexed")
    yield memory
    await memory.close()


@given(question=QUESTIONS)
async def test_every_score_is_its_shares_times_its_factors(full: AsyncHindsightMemory, question: str) -> None:
    hits = await full.search(question, limit=20)
    assert all(map(adds_up, hits))
    for hit in hits:
        assert hit.score >= 0
        assert 0 <= hit.confidence <= 1
        assert [share.signal for share in hit.why.shares].count("question") == 1
        assert brought_by(hit), "it is said what brought it"
        assert hit.why.sentence.startswith("Found ")
    assert len({hit.memory.id for hit in hits}) == len(hits)


@given(scores=st.lists(st.floats(0, 30), max_size=8))
def test_weighing_multiplies_and_orders(scores: list[float]) -> None:
    hits = weigh([a_hit(str(place), score) for place, score in enumerate(scores)], day(3), RETENTION)
    assert all(map(adds_up, hits))
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_equal_ones_stand_by_id() -> None:
    hits = [a_hit("same", 2.0) for _ in range(5)]
    one, other = (weigh(order, NOON, RETENTION) for order in (hits, hits[::-1]))
    assert one == other


@pytest.mark.parametrize(
    ("fields", "raised"),
    [
        ({"importance": 1.0}, True), ({"importance": 0.0}, False), ({"access_count": 50}, True),
        ({"trust": 0.1}, False), ({"created_at": day(-900), "occurred_at": day(-900)}, False),
    ],
)  # fmt: skip
def test_each_factor_pulls_its_way(fields: dict[str, Any], raised: bool) -> None:
    usual = a_hit("x")
    changed = replace(usual, memory=replace(usual.memory, **fields))
    (one,), (other,) = (weigh([hit], NOON, RETENTION) for hit in (usual, changed))
    assert other.score != one.score
    assert (other.score > one.score) is raised


# What is sure enough


@given(sure=st.lists(st.floats(0, 1), max_size=8), floor=st.floats(0, 1))
def test_the_gate_marks_a_search_that_is_not_sure_enough_and_drops_nothing(sure: list[float], floor: float) -> None:
    hits = [a_hit(str(place), confidence=each) for place, each in enumerate(sure)]
    marked = gate(hits, floor)
    assert [hit.sure for hit in marked] == [max(sure, default=0) >= floor] * len(sure)
    assert [replace(hit, sure=True) for hit in marked] == hits


async def test_a_search_that_is_not_sure_says_so_and_its_context_is_empty(database: Path, clock: StoppedClock) -> None:
    for floor, sure in ((0.0, True), (1.0, False)):
        memory = AsyncHindsightMemory(clock=clock)
        settings = Settings(database="", recall=RecallSettings(floor=floor))
        memory._service = await open_service(database, clock=clock, embedder=[], settings=settings)
        await memory.write("drinks tea")
        (hit,) = await memory.search("tea")
        assert hit.sure is sure
        assert ("drinks tea" in (await memory.context("tea")).text) is sure
        await memory.close()


# What says the same


SAYINGS = st.lists(st.sampled_from(["a b c", "A b, c!", "a b d", "🙂", "🚀", "", "我们去", "我们走"]), max_size=10)


@given(texts=SAYINGS)
def test_keeping_apart_loses_nothing_and_turns_nothing_round(texts: list[str]) -> None:
    hits = [a_hit(text) for text in texts]
    ordered = apart(hits, len(hits), 0.8)
    assert sorted(hit.memory.id for hit in ordered) == sorted(hit.memory.id for hit in hits)
    places = [hits.index(hit) for hit in ordered]
    falls = [place for place in range(1, len(places)) if places[place] < places[place - 1]]
    assert len(falls) <= 1, "first the new ones in their order, then the repeats in theirs"
    firsts = ordered[: falls[0]] if falls else ordered
    assert apart(firsts, len(firsts), 0.8) == firsts


@given(texts=SAYINGS, limit=st.integers(1, 10))
def test_a_limit_cuts_and_changes_nothing_else(texts: list[str], limit: int) -> None:
    hits = [a_hit(text) for text in texts]
    assert apart(hits, limit, 0.8) == apart(hits, len(hits), 0.8)[:limit]


LINKS = st.lists(st.lists(st.integers(0, 7), max_size=3), max_size=8)


@given(links=LINKS, data=st.data())
def test_what_was_replaced_comes_behind_and_nothing_is_lost(links: list[list[int]], data: st.DataObject) -> None:
    every = [a_hit(str(place)) for place in range(len(links))]
    ids = [hit.memory.id for hit in every]
    by = {
        one: {ids[link] for link in given if link < len(ids) and ids[link] != one}
        for one, given in zip(ids, links, strict=True)
    }
    every = [replace(h, memory=replace(h.memory, superseded_by=min(by[h.memory.id], default=None))) for h in every]
    hits = data.draw(st.permutations(every))
    ordered = current(hits, by)
    assert sorted(hit.memory.id for hit in ordered) == sorted(ids)
    places = {hit.memory.id: place for place, hit in enumerate(ordered)}
    if all(link < place for place, given in enumerate(links) for link in given):  # no circle
        assert all(places[newer] < places[one] for one in ids for newer in by[one])
        assert current(ordered, by) == ordered
    newer = {each for those in by.values() for each in those}
    plain = [hit for hit in hits if hit.memory.superseded_by is None and hit.memory.id not in newer]
    assert [hit for hit in ordered if hit in plain] == plain


def test_a_mark_that_is_gone_makes_its_relation_count_no_more() -> None:
    old, new = a_hit("two cats"), a_hit("three cats")
    assert current([old, new], {old.memory.id: {new.memory.id}}) == [old, new]
    marked = replace(old, memory=replace(old.memory, superseded_by=new.memory.id))
    assert current([marked, new], {}) == [new, marked]


def test_a_context_leaves_out_what_any_other_hit_has_replaced_a_part_of() -> None:
    old, cats, code = (replace(a_hit(text), confidence=0.9) for text in ("two cats, 4711", "three cats", "code 4712"))
    old = replace(old, memory=replace(old.memory, superseded_by=code.memory.id))
    edges = [
        Relation(type=RelationType.SUPERSEDES, from_id=each.memory.id, to_id=old.memory.id, created_at=NOON)
        for each in (cats, code)
    ]
    settings = PackSettings()
    for newer in (cats, code):
        assert pack([newer, old], 1_000, settings, edges).memory_ids == (newer.memory.id,)
    assert pack([old], 1_000, settings, edges).memory_ids == (old.memory.id,)


def test_a_turn_and_what_was_read_off_it_say_the_same() -> None:
    turn = a_hit("I had soup for lunch. I live in Lisbon, as you know, since the spring of last year.")
    read = a_hit("I live in Lisbon")
    read = replace(read, memory=replace(read.memory, metadata={"extracted_from": turn.memory.id}))
    other = a_hit("Lisbon is in Portugal")
    assert apart([read, turn, other], 3, 0.8) == [read, other, turn]
    assert apart([turn, read, other], 3, 0.8) == [turn, other, read]


def test_repeats_go_behind_all_others() -> None:
    texts = ["tea at five", "Tea, at five!", "🙂", "coffee", "tea at six", "🚀", "🙂", "咖啡", "咖啡。"]
    expected = ["tea at five", "🙂", "coffee", "tea at six", "🚀", "咖啡", "Tea, at five!", "🙂", "咖啡。"]
    assert contents(apart([a_hit(text) for text in texts], 20, 0.8)) == expected


async def test_a_repeat_does_not_take_the_place_of_another_answer(full: AsyncHindsightMemory) -> None:
    sayings = ("Tom likes green tea a lot", "Tom likes green tea, a lot!", "tom likes green tea a lot.")
    for number, saying in enumerate(sayings):  # turns: facts that say the same are merged
        await full.write_conversation([{"content": saying}], session_id=f"t{number}", wait="indexed")
    first, second = await full.search("what green tea does Tom like", limit=2)
    assert first.memory.content in sayings
    assert second.memory.content not in sayings


# What reads once more


class Careless:
    """A reranker that gives what it was told to, of whatever length."""

    name = "careless"

    def __init__(self, error: Exception) -> None:
        self.error = error

    async def scores(self, query: str, passages: Sequence[str]) -> list[float]:
        raise self.error

    async def close(self) -> None:
        """There is nothing to close."""


async def test_the_order_is_that_of_the_reranker() -> None:
    hits = [a_hit("coffee", 9.0), a_hit("tea", 8.0), a_hit("green tea", 7.0)]
    reranker = ScriptedReranker()
    found = await reranked(hits, "green tea", reranker, PATIENT)
    assert contents(found) == ["green tea", "tea", "coffee"]
    assert [hit.score for hit in found] == [9.0, 8.0, 7.0]
    assert all(map(adds_up, found))
    shares = [hit.why.shares[-1] for hit in found]
    assert [(share.signal, share.rank, share.value, share.amount) for share in shares] == [
        ("rerank", 1, 2.0, 2.0), ("rerank", 2, 1.0, 0.0), ("rerank", 3, 0.0, -2.0),
    ]  # fmt: skip
    assert reranker.asked == [("green tea", ("coffee", "tea", "green tea"))]
    assert "1st by reading it with the question" in weigh(found, NOON, RETENTION)[0].why.sentence


@given(values=st.lists(st.floats(-5, 5), min_size=2, max_size=30))
async def test_reading_once_more_drops_nothing_and_adds_up(values: list[float]) -> None:
    hits = [a_hit(str(place), 30.0 - place) for place in range(len(values))]
    found = await reranked(hits, "q", ScriptedReranker(lambda _, passage: values[int(passage)]), PATIENT)
    assert {hit.memory.id for hit in found} == {hit.memory.id for hit in hits}
    assert [hit.score for hit in found] == [hit.score for hit in hits]
    assert all(map(adds_up, found))
    read = found[:20]
    assert read == sorted(read, key=lambda hit: (-values[int(hit.memory.content)], int(hit.memory.content)))
    assert found[20:] == hits[20:], "what it did not read stays as it was"


@pytest.mark.parametrize("fault", ["failed", "count", "nan", "hang"])
async def test_a_reranker_that_fails_leaves_the_order_and_it_is_said(fault: Fault) -> None:
    hits = [a_hit(str(place), 30.0 - place) for place in range(25)]
    reranker = ScriptedReranker()
    reranker.broken = fault
    await left_as_they_were(hits, reranker, RerankSettings(wait_s=0.02))


async def test_a_reranker_that_times_out_by_itself_is_said_to() -> None:
    await left_as_they_were([a_hit("a", 2.0), a_hit("b", 1.0)], Careless(TimeoutError()), PATIENT)


async def left_as_they_were(hits: list[Hit], reranker: Reranker, settings: RerankSettings) -> None:
    found = await reranked(hits, "q", reranker, settings)
    for hit, before in zip(found, hits, strict=True):
        (note,) = hit.why.inactive
        assert len(note) > len("rerank: "), "it is said why"
        assert note.startswith("rerank: ")
        assert replace(hit, why=replace(hit.why, inactive=())) == before


async def test_one_hit_is_not_read_again() -> None:
    reranker = ScriptedReranker()
    assert await reranked([], "q", reranker, PATIENT) == []
    (hit,) = await reranked([a_hit("a")], "q", reranker, PATIENT)
    assert hit.why.inactive == ()
    assert reranker.asked == []


@pytest.mark.parametrize("fault", [None, "failed", "count", "hang"])
async def test_a_search_with_a_reranker_is_accounted_for(
    database: Path, clock: StoppedClock, fault: Fault | None
) -> None:
    reranker = ScriptedReranker(lambda _, passage: float(passage == "tea with milk"))
    reranker.broken = fault
    memory = AsyncHindsightMemory(clock=clock)
    settings = Settings(database="", rerank=RerankSettings(wait_s=0.05))
    memory._service = await open_service(
        database, clock=clock, embedder=[], settings=settings, reranker=reranker, start=False
    )
    await memory.write_many(["tea", "tea tea and tea", "tea with milk", "coffee"])
    hits = await memory.search("tea")
    assert len(hits) == 3
    assert all(map(adds_up, hits))
    assert [any(note.startswith("rerank: ") for note in hit.why.inactive) for hit in hits] == [fault is not None] * 3
    assert (hits[0].memory.content == "tea with milk") is (fault is None)
    assert [("rerank" in brought_by(hit)) for hit in hits] == [fault is None] * 3
    await memory.close()
