"""The page: nothing is fetched, nothing of the data is read as markup."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from hindsight_memory.evals.asking import SetResult
from hindsight_memory.evals.metrics import Bin
from hindsight_memory.evals.report import bars, page, reliability_plot

HOSTILE = "<script>alert('x')</script>\"&"
RESULT = SetResult(
    name=HOSTILE,
    n=3,
    metrics={"recall@10": 50.0, "mrr": 0.5},
    by={"category": {HOSTILE: {"n": 3, "recall@10": 150.0}, "none": {"n": 0}}},
    latency_ms={"p50": 1.5, "p95": None},
    intervals={"recall@10": (40.0, 60.0)},
    reliability=(Bin(low=0.0, high=0.1, n=4, confidence=0.05, right=0.25),),
    groups=2,
    memories=9,
    memory_mb=None,
)
EMPTY = SetResult(name="", n=0, metrics={}, by={}, latency_ms={})


class Checker(HTMLParser):
    """Reads the page and notes what it would run or fetch, and whether every element is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.found: list[str] = []
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.found += [f"{name}={value}" for name, value in attrs if name in {"src", "href", "xlink:href", "style"}]
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_stands_alone() -> None:
    text = page([RESULT, EMPTY], f"Title {HOSTILE}")
    checker = Checker()
    checker.feed(text)
    assert checker.open == []
    assert checker.found == []
    assert not {"script", "link", "img", "iframe", "object"} & checker.tags
    assert "svg" in checker.tags
    assert not re.search(r"https?:|url\(|@import|//", text.replace("</", ""))
    assert "<script" not in text
    assert "&lt;script&gt;" in text


def test_the_page_has_the_figures() -> None:
    text = page([RESULT], "Title")
    for figure in ("recall@10", "50", "0.5", "p50 1.5 ms", "9 memories in 2 groups", "4 results"):
        assert figure in text
    assert page([], "Nothing").startswith("<!doctype html>")


def test_nothing_is_drawn_outside_its_plot() -> None:
    for drawn in (
        bars({"a": 250.0, "b": -3.0}, {"a": (-10.0, 300.0)}, "x"),
        reliability_plot([Bin(low=0.9, high=1.0, n=1, confidence=1.0, right=1.0)], "x"),
    ):
        width = float(re.findall(r'viewBox="0 0 (\S+)', drawn)[0])
        assert all(0 <= float(value) <= width for value in re.findall(r'(?:x|x1|x2|cx|width)="([-\d.]+)"', drawn))
