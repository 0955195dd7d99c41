"""What is measured of candidates: hand-made ones, each with one thing to see, and any that there could be."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_memory.domain import Memory, Window
from hindsight_memory.recall.plan import Ask, Plan
from hindsight_memory.recall.pool import Pool
from hindsight_memory.recall.rank import rank
from hindsight_memory.recall.retrievers import Brought
from hindsight_memory.recall.signals import MEASURES, SIGNALS, measured
from hindsight_memory.recall.trees import Table
from hindsight_memory.store.base import Scored
from hindsight_memory.text.tokens import query_words
from samples import ALICE, NOON, a_memory, a_turn, day, where

NAN = math.nan
SPACE = "hands"

Numbers: TypeAlias = Mapping[int, float]
"""What a list gave candidates, by row."""


def a_pool(
    asked: str | Sequence[str],
    memories: Sequence[Memory],
    lists: Mapping[str, Numbers] | None = None,
    vectors: tuple[Sequence[Sequence[float]], Mapping[int, Sequence[float]]] | None = None,
    **fields: Any,
) -> Pool:
    """Candidates as the retrievers leave them; ``vectors`` are those of the wordings, and of memories by row."""
    asks = [asked] if isinstance(asked, str) else asked
    plain: dict[str, Any] = {"windows": (), "names": {}, "moment": NOON, "limit": 10}
    plan = Plan(
        asks=[Ask(text, query_words(text)) for text in asks],
        bank=ALICE.bank,
        now=NOON,
        where=where(),
        embedders=(),
        wide=100,
        **plain | fields,
    )
    scored = {
        signal: [
            Scored(memories[row].id, score, score) for score, row in sorted(((s, r) for r, s in given.items()))[::-1]
        ]
        for signal, given in (lists or {}).items()
    }
    if vectors is None:
        return Pool(plan, Brought(scored), memories, None, {})
    of_asks = [np.array(vector, np.float32) for vector in vectors[0]]
    held = {memories[row].id: np.array(vector, np.float32) for row, vector in vectors[1].items()}
    nearest = [Scored(each, float(vector @ of_asks[0])) for each, vector in held.items()]
    scored[f"vector:{SPACE}"] = sorted(nearest, key=lambda each: -each.score)
    return Pool(plan, Brought(scored, vectors={SPACE: of_asks}), memories, SPACE, held)


def column(pool: Pool, name: str) -> list[float]:
    """One measure of each candidate."""
    found: list[float] = measured(pool)[:, list(MEASURES).index(name)].tolist()
    return found


def same(values: Sequence[float]) -> Any:
    return pytest.approx(values, nan_ok=True, abs=1e-6)


def silent(pool: Pool, *signals: str) -> bool:
    """Whether nothing is said of these signals."""
    return all(np.isnan(column(pool, name)).all() for name, signal in MEASURES.items() if signal in signals)


# Words and meaning


def test_words_are_measured_with_their_place_and_their_distance_from_the_best() -> None:
    pool = a_pool("tea", [a_memory("x"), a_memory("tea"), a_memory("tea and cake")], {"words": {1: 0.9, 2: 0.4}})
    assert column(pool, "words") == same([0, 0.9, 0.4])
    assert column(pool, "words_own") == same([0, 0.9, 0.4])
    assert column(pool, "words_rank") == [3, 1, 2]
    assert column(pool, "words_gap") == same([-0.9, 0, -0.5])


def test_what_was_not_among_the_nearest_is_measured_by_its_vector() -> None:
    pool = a_pool("q", [a_memory("a"), a_memory("b"), a_memory("c")], {}, ([[1, 0]], {0: [0.6, 0.8], 1: [1, 0]}))
    pool = replace(pool, brought=replace(pool.brought, lists={f"vector:{SPACE}": [Scored(pool.memories[1].id, 1.0)]}))
    assert column(pool, "vector") == same([0.6, 1, NAN])
    assert column(pool, "vector_rank") == same([2, 1, NAN])


def test_without_an_embedder_nothing_is_said_of_meaning() -> None:
    memories = [a_turn("tea", 0), a_turn("cake", 1), a_memory("else")]
    pool = a_pool("tea", memories, {"words": {0: 1.0, 1: 0.2}})
    assert silent(pool, "vector", "feedback", "parts", "graph", "time")
    assert column(pool, "words") == same([1, 0.2, 0])
    assert len(rank(pool, 10)) == 3


def test_a_memory_without_a_vector_is_measured_by_the_rest() -> None:
    memories = [a_memory("tea"), a_memory("cake"), a_memory("bread")]
    pool = a_pool("tea", memories, {"words": {0: 1.0}}, ([[1, 0]], {1: [1, 0], 2: [0, 1]}))
    for name in ("vector", "vector_rank", "like", "like_best"):
        values = column(pool, name)
        assert math.isnan(values[0])
        assert not any(map(math.isnan, values[1:])), name
    assert column(pool, "words")[0] == 1


# Around it


def test_neighbours_are_those_of_the_same_session() -> None:
    memories = [a_turn("c", 2), a_turn("a", 0), a_turn("d", 3), a_turn("b", 1), a_turn("z", 1, session="t")]
    pool = a_pool("q", [*memories, a_memory("alone")], {"words": dict(enumerate((0.3, 0.1, 0.4, 0.2, 0.9)))})
    assert column(pool, "before_words") == same([0.2, NAN, 0.3, 0.1, NAN, NAN])
    assert column(pool, "after_words") == same([0.4, 0.2, NAN, 0.3, NAN, NAN])
    assert column(pool, "before2_words") == same([0.1, NAN, 0.2, NAN, NAN, NAN])
    assert column(pool, "after2_words") == same([NAN, 0.3, NAN, 0.4, NAN, NAN])


def test_a_session_counts_by_its_best_and_its_best_three() -> None:
    memories = [*(a_turn(str(turn), turn) for turn in range(4)), a_turn("z", 0, session="t"), a_memory("alone")]
    pool = a_pool("q", memories, {"words": {0: 0.9, 1: 0.6, 2: 0.3, 3: 0.2, 4: 0.5}})
    assert column(pool, "session_words") == same([0.9] * 4 + [0.5, 0])
    assert column(pool, "session3_words") == same([0.6] * 4 + [0.5 / 3, 0])
    assert column(pool, "session_share") == same([4 / 6] * 4 + [1 / 6] * 2)


# When


def test_time_is_inside_away_or_outside() -> None:
    memories = [a_memory("before", at=day(0)), a_memory("then", at=day(1)), a_memory("later", at=day(11))]
    window = Window(day(1) - timedelta(hours=12), day(1) + timedelta(hours=12))
    pool = a_pool("q", memories, {"time": {1: 1.0, 2: 0.3}}, windows=(window,))
    assert column(pool, "inside") == [0, 1, 0]
    assert column(pool, "away") == same([math.log1p(0.5), 0, math.log1p(9.5)])
    assert column(pool, "window") == same([NAN, math.log1p(1), NAN])
    assert column(pool, "time") == same([0, 1, 0.3])
    assert column(pool, "outside") == [1, 0, 0], "the last one mentions it"


def test_a_window_ends_before_its_end_and_the_nearest_of_several_counts() -> None:
    memories = [a_memory(str(number), at=day(number)) for number in (0, 1, 5)]
    pool = a_pool("q", memories, {"time": {}}, windows=(Window(day(0), day(1)), Window(day(4), day(10))))
    assert column(pool, "inside") == [1, 0, 1]
    assert column(pool, "window") == same([math.log1p(1), NAN, math.log1p(6)])
    assert column(pool, "away") == [0, 0, 0]
    assert column(pool, "outside") == [0, 0, 0], "where nothing is of that time, nothing is outside of it"


def test_no_window_nothing_said_of_time() -> None:
    assert silent(a_pool("q", [a_memory("a")], {"words": {0: 1.0}}), "time")


def test_recency_fades_and_the_future_is_now() -> None:
    memories = [a_memory("now"), a_memory("old", at=day(-14)), a_memory("ahead", at=day(5))]
    pool = a_pool("q", memories, {"words": {0: 1.0}})
    assert column(pool, "recent14") == same([1, math.exp(-1), 1])
    newer = column(pool, "newer")
    assert newer[1] > newer[0] > newer[2] == 0


def test_whether_something_newer_answers_as_well() -> None:
    memories = [a_memory("old", at=day(-9)), a_memory("new", at=day(-1)), a_memory("same time", at=day(-9))]
    pool = a_pool("q", memories, {"words": {0: 0.5, 1: 0.8}}, ([[1, 0]], {0: [1, 0], 1: [0.6, 0.8], 2: [0, 1]}))
    assert column(pool, "newer_words_own") == same([0.3, NAN, 0.8])
    assert column(pool, "newer_vector") == same([-0.4, NAN, 0.6])


def test_likeness_to_newer_and_older_findings_is_told_apart() -> None:
    memories = [a_memory("old", at=day(-9)), a_memory("new", at=day(-1)), a_memory("other", at=day(-5))]
    pool = a_pool("q", memories, {"words": {0: 1.0, 1: 0.9}}, ([[1, 0]], {0: [1, 0], 1: [0.96, 0.28], 2: [0, 1]}))
    newer, older, best = (column(pool, name) for name in ("like_newer", "like_older", "like_best"))
    assert newer[0] == pytest.approx(best[0])
    assert math.isnan(older[0])
    assert math.isnan(newer[1])
    assert older[1] == pytest.approx(best[1])
    assert best[2] < best[0]


# Whom and what


@pytest.mark.parametrize(
    ("asked", "speakers", "values"),
    [
        ("What did Melanie paint?", ["Melanie", "Caroline", "user", None], [1, -1, 0, 0]),
        ("what did melanie’s dog do?", ["Melanie Smith", "caroline", "Assistant", ""], [1, -1, 0, 0]),
        ("What did Melanie and Caroline do?", ["Melanie", "Caroline", "Tom", None], [1, 1, -1, 0]),
        ("赵阳说了什么", ["赵阳", "李娜", "用户", "助手"], [1, -1, 0, 0]),
        ("The annual report", ["Ann", "Caroline", "user", None], [NAN] * 4),
        ("What did the user say?", ["user", "assistant", "Ann", None], [NAN] * 4),
    ],
)
def test_the_speaker_asked_about(asked: str, speakers: list[str | None], values: list[float]) -> None:
    memories = [a_memory("x", speaker=speaker) for speaker in speakers]
    assert column(a_pool(asked, memories), "speaker") == same(values)


def test_a_rare_name_says_more_than_one_that_all_mention() -> None:
    memories = [a_memory(text) for text in ("Kafka and Lisbon", "KAFKA", "Lisbon", "neither")]
    both, rare, common, none = column(a_pool("q", memories, names={"kafka": 1, "lisbon": 100}), "named")
    assert (both, none) == (1, 0)
    assert rare > 0.5 > common > 0
    assert silent(a_pool("q", memories, off=frozenset({"names"}), names={"kafka": 1}), "names")


@pytest.mark.parametrize(
    ("asked", "values"),
    [
        ("which port, 8443 or 22?", [0.5, 0, 1]),
        ("is it 844?", [0, 0, 0]),
        ("version 1.2?", [0, 1, 0]),
        ("which port?", [NAN] * 3),
    ],
)
def test_numbers_are_whole_ones(asked: str, values: list[float]) -> None:
    memories = [a_memory("port 8443"), a_memory("v1.2"), a_memory("22 and 8443")]
    assert column(a_pool(asked, memories), "numbers") == same(values)


# Parts and form


def test_the_best_part_counts() -> None:
    memories = [a_memory("tea"), a_memory("dog"), a_memory("x")]
    lists: dict[str, Numbers] = {"words": {0: 0.5}, "parts:words": {0: 0.9, 1: 0.8}}
    vectors = [[0.6, 0.8], [1.0, 0.0], [0.0, 1.0]], {0: [1.0, 0.0], 1: [0.0, 1.0], 2: [-1.0, 0.0]}
    pool = a_pool(["tea and dog", "tea", "dog"], memories, lists, vectors)
    assert column(pool, "part_words") == same([0.9, 0.8, 0])
    assert column(pool, "part_words_rank") == [1, 2, 3]
    assert column(pool, "part_vector_gap") == same([0, 0, -1])
    assert column(pool, "part_vector_rank") == [1, 2, 3]
    assert silent(a_pool("tea", memories, lists, (vectors[0][:1], vectors[1])), "parts")


def test_what_only_a_part_brought_says_so_by_its_best_place() -> None:
    memories = [a_memory("tea"), a_memory("dog"), a_memory("x")]
    lists: dict[str, Numbers] = {
        "words": {0: 0.5}, "parts:words": {0: 0.9, 1: 0.8}, f"parts:{SPACE}": {2: 0.9, 1: 0.8},
    }  # fmt: skip
    hits = rank(a_pool(["tea and dog", "tea", "dog"], memories, lists), 10)
    shares = {hit.memory.content: share for hit in hits for share in hit.why.shares if share.signal == "parts"}
    assert {content: share.rank for content, share in shares.items()} == {"tea": 1, "dog": 2, "x": 1}


def test_form() -> None:
    memories = [a_turn("Is it?", 0), a_turn("这是真的吗？ ", 1), a_turn("It is.", 2), a_memory("It is")]
    pool = a_pool("q", memories)
    assert column(pool, "asks") == [1, 1, 0, 0]
    assert column(pool, "opens") == [1, 0, 0, 0]
    assert column(pool, "length")[2] == pytest.approx(math.log1p(6))
    changed = a_pool("q", [a_memory("We switched to tea"), a_memory("他不再喝咖啡"), a_memory("We drink tea")])
    assert column(changed, "says_change") == [1, 1, 0]


@pytest.mark.parametrize(
    ("asked", "values"),
    [
        ("When did she call?", [1, 1, 1, 1, 0, 0]),
        ("她什么时候打来的", [1, 1, 1, 1, 0, 0]),
        ("What did she say?", [NAN] * 6),
    ],
)
def test_whether_it_says_when_is_seen_where_that_is_asked(asked: str, values: list[float]) -> None:
    texts = ("Yesterday she called", "in May, I think", "back in 2019", "昨天打来的", "maybe", "she called")
    assert column(a_pool(asked, [a_memory(text) for text in texts]), "says_when") == same(values)


def test_whether_it_says_how_many_is_seen_where_that_is_asked() -> None:
    memories = [a_memory("3 dogs"), a_memory("dogs")]
    assert column(a_pool("How many dogs?", memories), "says_number") == [1, 0]
    assert column(a_pool("几只狗", memories), "says_number") == [1, 0]
    assert column(a_pool("Which dogs?", memories), "says_number") == same([NAN, NAN])


# Whatever comes

HOSTILE = [
    "", " ", "\u00ad", "\u200b\u200f", "\ufeff", "İ", "ß" * 1_000, "x" * 100_000, "中" * 100_000, "9" * 100_000,
    "a?" * 20_000, "\U0001f642", "\U000e0041", "e" + "\u0301" * 5_000, "when " * 20_000, "((((", "\\b[", "%s {}", "?",
    "-44 BC", "year -1", "公元前221年", "100,000 years ago", "0001-01-01", "9999-12-31", "٣٤", "Ⅷ", "½", "1.2.3.4:5,6",
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_any_text_can_be_measured(text: str) -> None:
    memories = [a_turn(text, 0, speaker=text[:200]), a_memory("tea", speaker="Ann"), a_memory(text * 2)]
    for asked in (text, "When did Ann have tea, and how many?"):
        pool = a_pool([asked, text], memories, {"words": {0: 0.5}}, names={text.casefold()[:100]: 3, "ann": 1})
        assert not np.isinf(measured(pool)).any()
        assert len(rank(pool, 10)) == 3


def test_one_candidate_and_none() -> None:
    for memory in (a_memory("tea"), a_turn("tea", 0)):
        pool = a_pool("tea", [memory], {"words": {0: 1.0}}, ([[1, 0]], {0: [1, 0]}))
        (hit,) = rank(pool, 10)
        assert hit.memory == memory
        assert silent(pool, "feedback"), "nothing is like itself"
    assert rank(a_pool("tea", []), 10) == []


VECTOR = st.sampled_from([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.6, 0.8], [0.6, -0.8]])
MOMENT = st.datetimes(datetime(1, 1, 3), datetime(9999, 12, 29)).map(lambda time: time.replace(tzinfo=UTC))  # noqa: DTZ001
SAID = ["When did Ann call on 5 May?", "昨天", "Is it 7?", "how many, now", "Ann"]
TEXT = st.text(max_size=20) | st.sampled_from(SAID)


@st.composite
def pools(draw: st.DrawFn) -> Pool:
    """Anything the retrievers could leave."""
    memories = draw(st.lists(st.builds(
        a_memory, TEXT, at=st.sampled_from([NOON, day(1), day(-30)]) | MOMENT,
        speaker=st.none() | TEXT, session_id=st.sampled_from([None, "s", "t"]), turn=st.none() | st.integers(0, 4),
    ), min_size=1, max_size=6))  # fmt: skip
    rows = st.integers(0, len(memories) - 1)
    asks = draw(st.lists(TEXT, min_size=1, max_size=3))
    numbers = st.dictionaries(rows, st.floats(0, 1))
    lists = draw(st.dictionaries(st.sampled_from(["words", "time", "graph", "parts:words"]), numbers))
    of_asks = st.lists(VECTOR, min_size=len(asks), max_size=len(asks))
    vectors = draw(st.none() | st.tuples(of_asks, st.dictionaries(rows, VECTOR)))
    moments = st.lists(MOMENT, min_size=2, max_size=2, unique=True).map(sorted)
    return a_pool(
        asks,
        memories,
        lists,
        vectors,
        moment=draw(MOMENT),
        windows=draw(st.lists(moments.map(lambda ends: Window(*ends)), max_size=2)),
        names=draw(st.dictionaries(TEXT, st.integers(0, 1_000), max_size=2)),
        off=draw(st.frozensets(st.sampled_from(sorted(SIGNALS)), max_size=2)),
    )


@given(pool=pools())
def test_whatever_is_brought_is_measured_and_never_without_end(pool: Pool) -> None:
    table = measured(pool)
    assert table.shape == (len(pool), len(MEASURES))
    assert not np.isinf(table).any()
    assert {hit.memory.id for hit in rank(pool, 10)} == {memory.id for memory in pool.memories}
    assert silent(pool, *pool.plan.off)


@given(pool=pools(), signal=st.sampled_from(sorted(SIGNALS)))
def test_a_signal_that_is_off_takes_its_own_columns_and_no_others(pool: Pool, signal: str) -> None:
    every = replace(pool, plan=replace(pool.plan, off=frozenset()))
    without = replace(pool, plan=replace(pool.plan, off=frozenset({signal})))
    assert silent(without, signal)
    others = [place for place, owner in enumerate(MEASURES.values()) if owner != signal]
    assert equal(measured(every)[:, others], measured(without)[:, others])


def equal(one: Table, other: Table) -> bool:
    return np.array_equal(one, other, equal_nan=True)
