"""Citations: which lines of a context an answer cites, however it brackets their numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_memory import Citation, Context, Source, cited
from samples import NOON


def lines(*numbers: int) -> Context:
    told = tuple(Citation(number, f"m{number}", Source.USER, None, NOON) for number in numbers)
    return Context("a block", 2, tuple(each.memory_id for each in told), told)


CASES = {
    "She drinks it black [2].": [2],
    "她喝黑咖啡【2】。": [2],
    "她喝黑咖啡［2］。": [2],
    "她喝黑咖啡[２]。": [2],
    "Black [2], in Lisbon [1].": [2, 1],
    "Black [2][1]": [2, 1],
    "Black [2] and, again, black [2].": [2],
    "Both [1,3], all [ 1 , 2 ].": [1, 3, 2],
    "都说过【1、3】【2，4】": [1, 3, 2, 4],
    "All [1-3]": [1, 2, 3],
    "All [1–3], 全部【2～4】": [1, 2, 3, 4],
    "Some [1-2, 4]": [1, 2, 4],
    "Backwards [3-1]": [1, 2, 3],
    "A link [2](https://example.com)": [2],
    "Unknown [5] [0] [77], known [4]": [4],
    "Known and not [2, 99]": [2],
    "A year [2026], a day [2026-05-04], a day [10-04], a score [3-7]": [],
    "No brackets: 2, (2), {2}, 2]": [],
    "Not a number: [two] [2a] [1.5] [-1] [] [,] [1,]": [],
    "In code `row[1]` and\n```\nrow[2]\n```\nand out of it [3]": [3],
    "Code that does not end ```\nrow[2]": [],
    "": [],
}


@pytest.mark.parametrize("answer", CASES)
def test_the_lines_an_answer_cites(answer: str) -> None:
    assert cited(answer, lines(1, 2, 3, 4)) == tuple(f"m{number}" for number in CASES[answer])


def test_an_empty_context_is_cited_by_nothing() -> None:
    assert cited("It is so [1].", Context("", 0, ())) == ()


@given(answer=st.text() | st.text("[]【】［］0123456789,-、～ `\n"))
def test_any_answer_cites_lines_that_are_there_each_once(answer: str) -> None:
    context = lines(1, 2, 3, 7)
    found = cited(answer, context)
    assert set(found) <= set(context.memory_ids)
    assert len(found) == len(set(found))


@pytest.mark.parametrize("unit", ["[", "[1", "[1,", "[1 ", "[1-2]", "```", "`", "[1, 2, 3, ", "【 ", "1-"])
def test_long_answers_are_read_in_bounded_steps(unit: str) -> None:
    cited(unit * 50_000, lines(1, 2, 3))
