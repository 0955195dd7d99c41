"""What brings candidates: what each asks of the store, and how several lists become one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hindsight_memory.domain import Window
from hindsight_memory.recall.plan import Ask, Plan, QueryEmbedder
from hindsight_memory.recall.retrievers import Brought, agreed, by_graph, by_time, by_vector, by_words, together
from hindsight_memory.settings import RecallSettings
from hindsight_memory.store.base import Scored, Vector
from hindsight_memory.testing import HashEmbedder
from samples import ALICE, NOON, day, where


class Shelf:
    """A reader that gives what it was told to, and remembers what it was asked."""

    def __init__(self, **lists: Mapping[str, float]) -> None:
        self.lists = lists
        self.asked: list[Any] = []

    async def search_words(self, words: Sequence[str], *_: Any) -> list[Scored]:
        """What stands under the first word; the own part is half of it."""
        return self._given(words[0]) if words else []

    async def search_vector(self, space: str, vector: Vector, *_: Any) -> list[Scored]:
        """The same for every vector."""
        self.asked.append(vector)
        return self._given("vector")

    async def search_time(self, window: Window, *_: Any) -> list[Scored]:
        """What stands under the window's text."""
        return self._given(window.text)

    async def search_graph(self, seeds: Mapping[str, float], names: Mapping[str, float], *_: Any) -> list[Scored]:
        """What stands under graph."""
        self.asked.append((dict(seeds), dict(names)))
        return self._given("graph")

    def _given(self, name: str) -> list[Scored]:
        return [Scored(each, score, score / 2) for each, score in self.lists.get(name, {}).items()]


def a_plan(*asks: str, **fields: Any) -> Plan:
    """A plan whose asks have the words they are written with."""
    plain: dict[str, Any] = {"windows": (), "names": {}, "embedders": (), "wide": 10, "limit": 10, "moment": NOON}
    asked = [Ask(text, text.split()) for text in asks]
    return Plan(asks=asked, bank=ALICE.bank, now=NOON, where=where(), **plain | fields)


def scores(ranked: Sequence[Scored]) -> list[tuple[str, float]]:
    return [(each.id, each.score) for each in ranked]


async def test_a_candidate_counts_by_its_best_part() -> None:
    shelf: Any = Shelf(whole={"a": 0.5}, one={"a": 0.2, "b": 0.6}, two={"a": 0.9, "c": 0.6})
    brought = await by_words(a_plan("whole", "one", "two"), shelf)
    assert scores(brought.lists["words"]) == [("a", 0.5)]
    assert scores(brought.lists["parts:words"]) == [("a", 0.9), ("b", 0.6), ("c", 0.6)]
    assert brought.lists["parts:words"][0].own == 0.45


async def test_a_question_without_words_still_has_its_other_wordings() -> None:
    shelf: Any = Shelf(one={"a": 0.2})
    brought = await by_words(a_plan("", "one"), shelf)
    assert set(brought.lists) == {"parts:words"}
    assert brought.inactive == ("words: the query has none",)
    assert (await by_words(a_plan(""), shelf)).lists == {}


async def test_every_wording_is_embedded_in_every_space_and_one_that_fails_costs_nothing_else() -> None:
    good, bad = HashEmbedder("good"), HashEmbedder("bad")
    bad.broken = "failed"
    asked = [QueryEmbedder(each, RecallSettings()) for each in (good, bad)]
    shelf: Any = Shelf(vector={"a": 0.5})
    brought = await by_vector(a_plan("whole", "part", embedders=asked), shelf)
    assert good.asked == ["whole", "part"]
    assert set(brought.lists) == {"vector:good/plain", "parts:good/plain"}
    assert [len(brought.vectors[space]) for space in brought.vectors] == [2]
    assert brought.inactive == ("vector:bad/plain: The embedder bad is out of order.",)


async def test_of_several_times_the_best_counts() -> None:
    shelf: Any = Shelf(may={"a": 0.5, "b": 0.4}, june={"b": 0.9})
    windows = (Window(day(0), day(1), "may"), Window(day(2), day(3), "june"))
    brought = await by_time(a_plan("q", windows=windows), shelf)
    assert scores(brought.lists["time"]) == [("b", 0.9), ("a", 0.5)]


async def test_the_graph_starts_from_the_best_findings_and_the_rarest_names() -> None:
    shelf: Any = Shelf(graph={"z": 0.1})
    first = Brought({"words": [Scored(f"{place:02}", 1.0) for place in range(20)]})
    brought = await by_graph(a_plan("q", names={"kafka": 1, "tea": 99}), first, shelf)
    assert scores(brought.lists["graph"]) == [("z", 0.1)]
    ((seeds, names),) = shelf.asked
    assert seeds == {f"{place:02}": 1 / (place + 1) for place in range(8)}
    assert names["kafka"] > names["tea"] > 0


async def test_the_graph_starts_from_names_alone_and_from_nothing_not() -> None:
    shelf: Any = Shelf(graph={"z": 0.1})
    assert set((await by_graph(a_plan("q", names={"kafka": 1}), Brought(), shelf)).lists) == {"graph"}
    nothing = await by_graph(a_plan("q"), Brought(), shelf)
    assert nothing.lists == {}
    assert nothing.inactive == ("graph: nothing to start from",)


def test_what_several_lists_agree_on_comes_first() -> None:
    lists = {"words": [Scored("a", 9.0), Scored("b", 1.0)], "vector:x": [Scored("b", 0.1), Scored("c", 0.1)]}
    assert [each.id for each in agreed(Brought(lists))] == ["b", "a", "c"]
    weak = {"words": [Scored("b", 1.0)], "time": [Scored("a", 1.0)], "parts:words": [Scored("c", 1.0)]}
    assert [each.id for each in agreed(Brought(weak))] == ["b", "a", "c"], "equal ones by id"


def test_together_nothing_is_lost() -> None:
    parts = [
        Brought({"words": [Scored("a", 1.0)]}, ("time: none",)),
        Brought(),
        Brought({"graph": []}, ("more: none",)),
    ]
    whole = together(parts)
    assert set(whole.lists) == {"words", "graph"}
    assert whole.inactive == ("time: none", "more: none")
