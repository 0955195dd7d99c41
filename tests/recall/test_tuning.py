"""What feedback teaches the ranking: nothing at first, little after that, never beyond its bounds, and no lies."""

from __future__ import annotations

import json
import math
from collections.abc import AsyncIterator, Iterable
from dataclasses import replace
from datetime import timedelta
from importlib import resources
from itertools import cycle, islice
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_memory import AsyncHindsightMemory, Feedback, Hit, Query, Ranking
from hindsight_memory.domain import Event, Share, Why
from hindsight_memory.recall.signals import SIGNALS
from hindsight_memory.recall.tuning import Pair, _agreement, fitted, pair_of, pairs_of, refit
from hindsight_memory.service import Service
from hindsight_memory.settings import FeedbackSettings
from hindsight_memory.testing import StoppedClock, open_service
from samples import ALICE, NOON, a_memory, an_event, day

BOUNDS = FeedbackSettings()
EVENT = an_event(a_memory("x"), "feedback")


def a_hit(name: str, **amounts: float) -> Hit:
    shares = tuple(Share(signal, 0, 0.0, amount) for signal, amount in amounts.items())
    return Hit(a_memory(name, id=name), 1.0, 0.5, Why("", (*shares, Share("question", 0, 0.0, 12.0)), ()))


def a_pair(place: int, signal: str = "words", size: float = 0.5, **fields: Any) -> Event:
    plain = {"id": f"e{place}", "memory_id": f"m{place}", "actor": f"agent {place}", "at": NOON}
    return replace(EVENT, **plain | {"detail": {"query": "q", "pair": {signal: size}}} | fields)


# A comparison


def test_a_helpful_memory_is_compared_with_those_around_it() -> None:
    hits = [a_hit("a", words=3.0), a_hit("b", words=1.0, form=0.5), a_hit("c", words=-1.0)]
    pair = pair_of(hits, "b", Feedback.HELPFUL, 5)
    assert pair is not None
    assert (pair["words"], pair["form"]) == (0.0, 0.5)
    assert pair.keys() == SIGNALS.keys(), "what the question says of any answer is no signal"
    assert pair_of(hits, "a", Feedback.HELPFUL, 1)["words"] == 2.0  # type: ignore[index]
    assert pair_of(hits, "a", Feedback.WRONG, 1)["words"] == -2.0  # type: ignore[index]


def test_what_is_alone_absent_or_only_used_is_compared_with_nothing() -> None:
    hits = [a_hit("a", words=1.0), a_hit("b", words=0.5)]
    assert pair_of(hits[:1], "a", Feedback.HELPFUL, 5) is None
    assert pair_of(hits, "c", Feedback.HELPFUL, 5) is None
    assert pair_of(hits, "a", Feedback.USED, 5) is None
    assert pair_of(hits, "a", Feedback.OUTDATED, 5) is None


def test_a_comparison_looks_behind_the_weights_of_the_bank() -> None:
    learnt = replace(a_hit("a"), why=Why("", (Share("vector:space", 1, 0.0, 1.2, 1.2),), ()))
    pair = pair_of([learnt, a_hit("b", vector=0.5)], "a", Feedback.HELPFUL, 5)
    assert pair is not None
    assert pair["vector"] == 0.5


# The fit


def test_few_comparisons_teach_nothing() -> None:
    assert fitted([{"words": 1.0}] * 19, BOUNDS) == {}
    assert fitted([{"words": 1.0}] * 20, BOUNDS)["words"] > 1


def test_what_agrees_gains_and_what_misleads_loses() -> None:
    weights = fitted([{"words": 0.6, "recency": -0.4, "graph": 0.0}] * 40, BOUNDS)
    assert 1.03 < weights["words"] <= 1.25
    assert 0.8 <= weights["recency"] < 0.97
    assert weights["graph"] == 1.0


@pytest.mark.parametrize(
    "pairs",
    [
        [{"words": 1.0}, {"words": -1.0}] * 50,
        [{"words": -1.0}] * 100,
        [{"words": -1.0, "form": 0.5}, {"words": 0.4, "graph": -0.2}] * 50,
        [{}] * 50,
    ],
)
def test_noise_and_what_says_the_contrary_of_the_ranking_teach_nothing(pairs: list[dict[str, float]]) -> None:
    assert fitted(pairs, BOUNDS) == {}


PAIRS = st.lists(st.dictionaries(st.sampled_from(list(SIGNALS)), st.floats(-50, 50)), min_size=20, max_size=60)


@given(pairs=PAIRS)
def test_weights_stay_in_their_bounds_and_do_not_hang_on_the_order(pairs: list[dict[str, float]]) -> None:
    weights = fitted(pairs, BOUNDS)
    assert not weights or weights.keys() == SIGNALS.keys()
    assert all(0.8 <= each <= 1.25 for each in weights.values())
    assert fitted(pairs[::-1], BOUNDS) == pytest.approx(weights, abs=1e-3)


@given(pairs=PAIRS)
def test_the_fit_has_settled(pairs: list[dict[str, float]]) -> None:
    """No single step along a signal would make it better: the objective is convex, so it is the best there is."""
    found = fitted(pairs, BOUNDS) or dict.fromkeys(SIGNALS, 1.0)
    table = np.array([[pair.get(signal, 0.0) for signal in SIGNALS] for pair in pairs]).clip(-2, 2)
    table *= _agreement(table)

    def loss(weights: Any) -> float:
        missed = np.logaddexp(0, -(table @ weights)).sum()
        return float(missed + BOUNDS.ridge / 2 * np.square(weights - 1).sum())

    best = np.array(list(found.values()))
    for place in range(len(best)):
        for step in (-0.02, 0.02):
            moved = best.copy()
            moved[place] = np.clip(moved[place] + step, 0.8, 1.25)
            assert loss(moved) >= loss(best) - 1e-3


# What counts


def test_of_one_memory_and_question_the_newest_counts() -> None:
    events = [a_pair(1, size=0.1), a_pair(1, size=0.2), a_pair(1, detail={"query": "r", "pair": {"words": 0.3}})]
    assert [event.detail["pair"]["words"] for event in pairs_of(events, BOUNDS)] == [0.1, 0.3]


def test_nobody_says_more_in_a_day_than_is_counted() -> None:
    loud = [a_pair(place, actor="loud") for place in range(300)]
    assert len(pairs_of([*loud, a_pair(999)], BOUNDS)) == BOUNDS.pairs_day + 1
    weeks = [a_pair(place, actor="loud", at=day(place)) for place in range(1_000)]
    assert len(pairs_of(weeks, BOUNDS)) == BOUNDS.most_pairs


def test_verdicts_without_a_comparison_do_not_count() -> None:
    assert pairs_of([a_pair(1, detail={}), a_pair(2, detail={"pair": None}), a_pair(3)], BOUNDS) == [a_pair(3)]


# In a bank


QUESTIONS = [f"what is topic {number} about?" for number in range(25)]


@pytest.fixture
async def memory(database: Any, clock: StoppedClock) -> AsyncIterator[AsyncHindsightMemory]:
    """Twenty-five topics, of each a note that says its words and one that has its name."""
    opened = AsyncHindsightMemory(user_id="alice", clock=clock)
    opened._service = await open_service(database, clock=clock, embedder=[], start=False)
    await opened.write_many([f"topic {number} is what note {number} is about" for number in range(25)])
    await opened.write_many([f"someone asked about topic {number} in May" for number in range(25)])
    yield opened
    await opened.close()


def service_of(memory: AsyncHindsightMemory) -> Service:
    service: Any = memory._service
    return service


async def praise(memory: AsyncHindsightMemory, clock: StoppedClock, count: int, at: int = 0) -> None:
    """Say of the hit at a place that it was helpful, for so many questions, a few a day."""
    for place, question in enumerate(QUESTIONS[:count]):
        hits = await memory.search(question, limit=4)
        await memory.feedback(hits[at].memory.id, "helpful", query=question)
        if place % 5 == 4:
            clock.advance(days=1)


async def weights_of(memory: AsyncHindsightMemory) -> dict[str, float]:
    reader = service_of(memory)._parts.store.reading(ALICE.bank)
    return dict((await reader.ranking()).weights)


def scores(hits: list[Hit]) -> list[tuple[str, float, float]]:
    return [(hit.memory.id, hit.score, hit.confidence) for hit in hits]


async def test_nothing_before_twenty_comparisons_and_then_a_new_fit_with_its_event(
    memory: AsyncHindsightMemory, clock: StoppedClock
) -> None:
    await praise(memory, clock, 19)
    assert await weights_of(memory) == {}
    assert (await memory.refit()).weights == {}
    await praise(memory, clock, 25)
    weights = await weights_of(memory)
    assert weights
    assert all(0.8 <= each <= 1.25 for each in weights.values())
    events = await service_of(memory)._parts.store.reading(ALICE.bank).events(None, 1_000)
    fits = [event for event in events if event.verb == "refit"]
    assert fits[0].detail["after"] == weights
    assert fits[0].detail["pairs"] >= 20


async def test_scores_still_add_up_and_say_what_was_learnt(memory: AsyncHindsightMemory, clock: StoppedClock) -> None:
    plain = await memory.search(QUESTIONS[0], limit=10)
    await praise(memory, clock, 25)
    weights = await weights_of(memory)
    hits = await memory.search(QUESTIONS[0], limit=10)
    assert scores(hits) != scores(plain)
    for hit in hits:
        given = math.fsum(share.amount for share in hit.why.shares)
        assert hit.score == pytest.approx(given * math.prod(factor.value for factor in hit.why.factors))
        assert hit.score >= 0
        for share in hit.why.shares:
            assert share.weight == weights.get(share.signal.partition(":")[0], 1.0)


async def test_reset_forgets_what_was_learnt_to_the_last_bit(memory: AsyncHindsightMemory, clock: StoppedClock) -> None:
    other = "where is the station?"
    plain = scores(await memory.search(other, limit=20))
    start = clock()
    await praise(memory, clock, 25)
    assert await weights_of(memory)
    ranking = await memory.refit(reset=True)
    assert (ranking.weights, ranking.pairs, ranking.since) == ({}, 0, clock())
    assert (await memory.refit()).weights == {}, "what was said before does not count any more"
    hits = await memory.search(other, limit=20)
    clock.now = start
    assert all(share.weight == 1.0 for hit in hits for share in hit.why.shares)
    bases = {hit.memory.id: math.fsum(share.amount for share in hit.why.shares) for hit in hits}
    again = {hit.memory.id: math.fsum(s.amount for s in hit.why.shares) for hit in await memory.search(other, limit=20)}
    assert bases == again
    assert {each for each, _, _ in plain} == set(again)


async def test_maintenance_may_refit_and_does_so_only_where_it_is_due(
    memory: AsyncHindsightMemory, clock: StoppedClock
) -> None:
    await praise(memory, clock, 25)
    before = await service_of(memory)._parts.store.reading(ALICE.bank).ranking()
    clock.advance(days=1)
    async with service_of(memory)._parts.store.transaction(ALICE) as tx:
        assert await refit(tx, ALICE.bank, clock(), BOUNDS, "maintenance") == before
        forced = await refit(tx, ALICE.bank, clock(), BOUNDS, "maintenance", due_only=False)
    assert forced.fitted_at == clock()


async def test_one_bank_learns_nothing_from_another(memory: AsyncHindsightMemory, clock: StoppedClock) -> None:
    await praise(memory, clock, 25)
    assert (await memory.refit(user_id="bob")) == Ranking(fitted_at=clock())
    reader = service_of(memory)._parts.store.reading("default/carol")
    assert await reader.ranking() == Ranking()


@pytest.fixture(params=["en", "zh"])
async def sample(request: Any, database: Any, clock: StoppedClock) -> AsyncIterator[AsyncHindsightMemory]:
    """A sample conversation, found by words."""
    opened = AsyncHindsightMemory(user_id=request.param, clock=clock)
    opened._service = await open_service(database, clock=clock, embedder=[], start=False)
    with resources.as_file(resources.files("hindsight_memory.examples") / f"{request.param}.json") as path:
        await opened.import_file(path)
    clock.advance(days=60)
    yield opened
    await opened.close()


async def recall(memory: AsyncHindsightMemory) -> float:
    """The share of the evidence of the sample's questions that is among the first five."""
    path = resources.files("hindsight_memory.examples") / f"{memory.scope.user_id}.json"
    questions = json.loads(path.read_text(encoding="utf-8"))["questions"]
    shares = []
    for each in questions:
        found = {hit.memory.source_ref for hit in await memory.search(each["question"], limit=5)}
        shares.append(len(found & set(each["evidence"])) / len(each["evidence"]))
    return sum(shares) / len(shares)


async def tell(memory: AsyncHindsightMemory, clock: StoppedClock, pairs: Iterable[Pair | None]) -> Ranking:
    """Take down comparisons of the last weeks, a dozen a day, and fit the ranking to them."""
    told = []
    for number, pair in enumerate(pairs):
        fields = {"id": f"e{number}", "memory_id": f"m{number}", "at": clock() - timedelta(hours=2 * number)}
        told.append(replace(EVENT, bank_id=memory.scope.bank, detail={"query": "q", "pair": pair}, **fields))
    async with service_of(memory)._parts.store.transaction(memory.scope) as tx:
        await tx.record(told[::-1])
    return await memory.refit()


async def test_500_lies_teach_nothing(sample: AsyncHindsightMemory, clock: StoppedClock) -> None:
    """One who praises what is worst and doubts what is best, of whatever is asked, for weeks."""
    finder = service_of(sample).finder
    said = [turn.content[:60] for turn in (await sample.list(limit=1_000)).memories]
    found = [await finder.everything(Query(text=text), sample.scope) for text in said]
    lies = [pair_of(hits, hits[0].memory.id, Feedback.WRONG, BOUNDS.against) for hits in found if hits]
    lies += [pair_of(hits, hits[-1].memory.id, Feedback.HELPFUL, BOUNDS.against) for hits in found if hits]
    before = await recall(sample)
    ranking = await tell(sample, clock, islice(cycle(lies), 500))
    assert ranking.weights == {}
    assert await recall(sample) == before


@pytest.mark.parametrize("ruined", [("words",), ("words", "names"), ("surroundings", "recency"), ("form", "time")])
async def test_500_sly_comparisons_are_bounded(
    sample: AsyncHindsightMemory, clock: StoppedClock, ruined: tuple[str, ...]
) -> None:
    """One who knows how the fit is made: what agrees with the ranking on the whole, and yet pulls some signals down."""
    before = await recall(sample)
    rest = (2.0 * len(ruined) + 0.2) / (len(SIGNALS) - len(ruined))
    sly = {signal: -2.0 if signal in ruined else rest for signal in SIGNALS}
    ranking = await tell(sample, clock, [sly] * 500)
    assert {ranking.weights[signal] for signal in ruined} == {BOUNDS.least_weight}
    assert await recall(sample) >= before - 0.084, "more than one of its twelve questions was lost"
