"""Evidence recall on a small set of our own: written and asked as a program does it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hindsight_memory.build import build
from hindsight_memory.domain import Listing, Role, Scope
from hindsight_memory.errors import InvalidInput, Unavailable
from hindsight_memory.evals import banks
from hindsight_memory.evals.asking import Asked, SetResult, line_of
from hindsight_memory.evals.banks import Clock, fill, query_of, scope_of
from hindsight_memory.evals.baselines import BASELINES, Words, fused, may_be_found
from hindsight_memory.evals.datasets import DataSet, Group, Item, Question, read
from hindsight_memory.evals.recall import Wanted, measure
from hindsight_memory.recall.signals import SIGNALS
from hindsight_memory.settings import Settings
from hindsight_memory.testing import HashEmbedder, open_service


@pytest.fixture
def data(lines: Path) -> DataSet:
    return read(lines)


@pytest.fixture
def settings(database: Path) -> Settings:
    return Settings(database=str(database))


async def run(data: DataSet, settings: Settings, **wanted: Any) -> tuple[list[SetResult], list[Asked]]:
    asked: list[Asked] = []
    embedders: Sequence[HashEmbedder] = wanted.pop("embedders", [HashEmbedder()])
    results = await measure([data], settings, embedders, Wanted(each=asked.append, **wanted))
    return results, asked


async def test_the_figures_of_a_set(data: DataSet, settings: Settings) -> None:
    (result,), asked = await run(data, settings)
    assert (result.name, result.n, result.groups, result.memories) == ("small", 5, 2, 8)
    assert result.metrics["recall@20"] == result.metrics["hit@20"] == 100
    assert result.metrics["stale_first"] in {0.0, 100.0}
    assert {"mrr", "session_recall@10", "abstention_auroc", "ece"} <= result.metrics.keys()
    assert result.by["category"]["plain"]["n"] == 3
    assert result.by["category"]["unknown"] == {"n": 0}
    assert list(result.intervals["recall@10"]) == [100, 100]
    assert result.latency_ms["p95"] is not None
    assert sum(each.n for each in result.reliability) > 0
    assert [one.group for one in asked] == ["maya"] * 5 + ["li"]
    assert all(set(one.ranking.ids) <= {"a1", "a2", "a4", "a5", "a6", "b1", "b2"} for one in asked)


async def test_the_bounds_of_a_question_hold(data: DataSet, settings: Settings) -> None:
    _, asked = await run(data, settings)
    bounded = next(one for one in asked if one.question.category == "bounded")
    assert "a4" in bounded.ranking.ids
    assert not {"a5", "a6"} & set(bounded.ranking.ids)  # said later, and without a time


async def test_words_alone_do(data: DataSet, settings: Settings) -> None:
    (result,), _ = await run(data, settings, embedders=[])
    assert result.metrics["recall@20"] == 100
    assert "embed_p50" not in result.latency_ms


async def test_a_second_run_stores_nothing_and_finds_the_same(data: DataSet, settings: Settings) -> None:
    first, asked = await run(data, settings)
    embedder = HashEmbedder()
    second, again = await run(data, settings, embedders=[embedder])
    assert len(embedder.asked) == 1 + 6  # the one that warms up, and the questions
    assert second[0].metrics == first[0].metrics
    assert [one.ranking.ids for one in again] == [one.ranking.ids for one in asked]
    assert [one.ranking.confidences for one in again] == [one.ranking.confidences for one in asked]


async def test_a_run_that_stopped_goes_on(data: DataSet, settings: Settings) -> None:
    embedder = HashEmbedder()

    def stop(what: str, done: int, total: int) -> None:
        if done >= 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await run(data, settings, embedders=[embedder], progress=stop)
    (result,), asked = await run(data, settings, embedders=[embedder])
    whole, unbroken = await run(data, replace(settings, database=f"{settings.database}2"))
    assert result.metrics == whole[0].metrics
    assert [one.ranking.ids for one in asked] == [one.ranking.ids for one in unbroken]
    assert sum("Lisbon is lovely" in text for text in embedder.asked) == 1


async def test_ablation_follows_each_set_and_embeds_nothing_again(data: DataSet, settings: Settings) -> None:
    embedder = HashEmbedder()
    results, asked = await run(data, settings, embedders=[embedder], ablate=True)
    assert [result.name for result in results] == ["small", *(f"small without {signal}" for signal in SIGNALS)]
    assert all(result.n == 5 for result in results)
    assert all(result.latency_ms == {"p50": None, "p95": None} for result in results[1:])
    questions = [text for text in embedder.asked if text in {one.question.text for one in asked}]
    assert len(questions) == len(set(questions))
    assert len(asked) == 6 * len(results)


async def test_foreign_questions_are_asked_of_every_other_group(data: DataSet, settings: Settings) -> None:
    (result,), asked = await run(data, settings, foreign=True)
    foreign = [one for one in asked if one.foreign]
    assert sorted((one.group, one.question.id) for one in foreign) == sorted(
        [("maya", "q0"), *(("li", f"q{number}") for number in range(5))]
    )
    assert 0 <= result.metrics["foreign_auroc"] <= 1
    assert 0 <= result.metrics["foreign_passed"] <= 100
    assert result.n == 5
    (plain,), _ = await run(data, settings)
    assert plain.metrics.items() <= result.metrics.items()


async def test_a_gate_lets_nothing_pass(data: DataSet, settings: Settings) -> None:
    shut = replace(settings, recall=replace(settings.recall, floor=1.01))
    (result,), _ = await run(data, shut, foreign=True)
    assert result.metrics["foreign_passed"] == result.metrics["gated_recall@20"] == 0
    assert result.metrics["recall@20"] > 0


@pytest.mark.parametrize("baseline", BASELINES)
async def test_baselines_have_the_same_form_and_bounds(data: DataSet, settings: Settings, baseline: Any) -> None:
    (result,), asked = await run(data, settings, baseline=baseline)
    assert (result.name, result.n) == (f"small {baseline}", 5)
    assert result.metrics["recall@20"] == 100
    assert not {"abstention_auroc", "ece"} & result.metrics.keys()
    bounded = next(one for one in asked if one.question.category == "bounded")
    assert {"a4"} <= set(bounded.ranking.ids) <= {"a1", "a2", "a4"}
    assert not Path(settings.database).exists()


@pytest.mark.parametrize("wrong", [{"ablate": True}, {"foreign": True}])
async def test_a_baseline_goes_alone(data: DataSet, settings: Settings, wrong: dict[str, bool]) -> None:
    with pytest.raises(InvalidInput, match="baseline"):
        await run(data, settings, baseline="bm25", **wrong)


async def test_a_vector_baseline_needs_a_model(data: DataSet, settings: Settings) -> None:
    with pytest.raises(InvalidInput, match="embedding model"):
        await run(data, settings, baseline="vector", embedders=[])


def test_bm25_by_hand() -> None:
    items = [Item(id="1", content="red boat"), Item(id="2", content="red red car")]
    scores = Words(items).scores("RED boat")
    assert scores[0] > scores[1] > 0
    idf = 0.6931471805599453  # ln 2: «boat» is in one of two
    norm = 1.2 * (0.25 + 0.75 * 2 / 2.5)
    red = 0.1823215567939546 * 2.2 / (1 + norm)
    assert scores[0] == pytest.approx(idf * 2.2 / (1 + norm) + red)
    assert Words([]).scores("x").size == 0


def test_fusion_by_hand() -> None:
    items = [Item(id=name, content="x") for name in "cba"]
    assert fused([[0, 1], [1, 0]], items, 3) == [1, 0]  # equal, so by id
    assert fused([[2]], items, 3) == [2]


def test_bounds_by_hand(data: DataSet) -> None:
    bounded = data.groups[0].questions[3]
    allowed = [item.id for item in data.groups[0].items if may_be_found(item, bounded)]
    assert allowed == ["a1", "a2", "a4"]
    query = query_of(bounded, foreign=False)
    assert (query.except_session, query.as_of) == ("s3", bounded.asked_at)
    assert query_of(bounded, foreign=True).as_of is None


async def test_turns_and_single_memories_are_written_as_what_they_are(data: DataSet, database: Path) -> None:
    service = await open_service(database, embedder=[])
    await fill(service, [data], lambda *_: None, indexed=False)
    page = await service.list(Listing(), Scope(user_id="eval:small:maya"))
    held = {memory.source_ref: memory for memory in page.memories}
    assert held.keys() == {"a1", "a2", "a3", "a4", "a5", "a6"}
    assert (held["a2"].source, held["a1"].source, held["a1"].speaker) == ("agent", "user", "Maya")
    assert (held["a3"].context_only, held["a1"].turn, held["a6"].turn) == (True, 0, None)
    assert f"{held['a4'].occurred_at:%Y-%m-%d %H}" == "2024-03-05 00"
    await service.close()


async def test_a_text_given_twice_stands_for_both(settings: Settings) -> None:
    items = (Item(id="1", content="Tea at four."), Item(id="2", content="Tea at four."))
    question = Question(id="q", text="When is tea?", evidence=("2",))
    (result,), asked = await run(DataSet("twice", (Group("g", items, (question,)),)), settings)
    assert asked[0].ranking.ids == ("1", "2")
    assert result.metrics["recall@5"] == 100


@pytest.mark.parametrize(
    ("item", "group"),
    [
        (Item(id="x" * 501, content="x", session="s"), "g"),
        (Item(id="x", content="x" * 100_001), "g"),
        (Item(id="x", content="x", session="s" * 201), "g"),
    ],
)
async def test_what_no_memory_can_be_is_named(settings: Settings, item: Item, group: str) -> None:
    with pytest.raises(InvalidInput, match="A memory of bad, group g") as caught:
        await run(DataSet("bad", (Group(group, (item,), ()),)), settings)
    assert caught.value.field == "data"


async def test_a_model_that_fails_stops_the_run(
    data: DataSet, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick = replace(settings, write=replace(settings.write, finish_s=0.05, drain_s=0.05))
    embedder = HashEmbedder()
    embedder.broken = "hang"
    service = await build(quick, embedders=[embedder])
    with pytest.raises(Unavailable, match="vectors"):
        await fill(service, [data], lambda *_: None, indexed=True)
    await service.close()


def test_long_names_have_banks_of_their_own() -> None:
    one, two = (scope_of("x" * 150, "y" * 150 + end) for end in "ab")
    assert one.bank != two.bank
    assert scope_of("set", "群").user_id == "eval:set:群"


def test_the_clock_is_the_datas(data: DataSet) -> None:
    clock, group = Clock(), data.groups[0]
    clock.set_to(group, group.questions[0])
    assert f"{clock():%Y-%m-%d}" == "2024-05-06"  # a day after the last memory
    clock.set_to(group, group.questions[3])
    assert f"{clock():%Y-%m-%d}" == "2024-04-01"
    clock.set_to(group, group.questions[3], foreign=True)
    assert f"{clock():%Y-%m-%d}" == "2024-05-06"


@pytest.mark.parametrize(
    ("speaker", "role"),
    [("Assistant", Role.ASSISTANT), ("助手", Role.ASSISTANT), (" ASSISTANT ", Role.ASSISTANT), ("Maya", Role.USER),
     (None, Role.USER)],
)  # fmt: skip
def test_roles(speaker: str | None, role: Role) -> None:
    assert banks._message(Item(id="1", content="x", speaker=speaker)).role is role


async def test_lines_of_single_questions(data: DataSet, settings: Settings) -> None:
    _, asked = await run(data, settings, foreign=True)
    own, foreign = line_of(asked[0]), line_of(next(one for one in asked if one.foreign))
    assert own["evidence"] == ("a1",)
    assert own["recall@20"] == 1
    assert foreign["foreign"] is foreign["unanswerable"] is True
    assert "recall@20" not in foreign


async def test_a_set_without_questions_or_memories(settings: Settings) -> None:
    empty = DataSet("empty", (Group("none", (), ()), Group("asked", (), (Question(id="q", text="What?"),))))
    (result,), asked = await run(empty, settings)
    assert (result.n, result.metrics, asked[0].ranking.ids) == (0, {}, ())
    (nothing,), _ = await run(DataSet("nothing", ()), settings)
    assert nothing.latency_ms == {"p50": None, "p95": None}
