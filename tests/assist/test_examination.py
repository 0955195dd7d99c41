"""The test of those who judge: who passes it, who does not, and what is said when nobody answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import pytest

from hindsight_memory.assist.assistant import Advice, Assistant, Opinion, Rules, Standing, Task
from hindsight_memory.assist.examination import BOTH, CHANGED, examine
from hindsight_memory.assist.llm import LLMAssistant
from hindsight_memory.testing import Fault, ScriptedLLM

Answer = Callable[[str, str], Advice[Opinion]]


class Judging(Rules):
    """An assistant whose verdicts are a function of the pair."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.asked: list[tuple[str, str]] = []

    async def judge(self, old: str, new: str) -> Advice[Opinion]:
        self.asked.append((old, new))
        return self.answer(old, new)


def says(standing: str) -> Advice[Opinion]:
    return Advice(Opinion(cast("Standing", standing), ""))


def well(old: str, new: str) -> Advice[Opinion]:
    return says("newer" if (old, new) in CHANGED else "unrelated")


async def test_who_knows_it_passes() -> None:
    judge = Judging(well)
    assert (await examine(judge)).value is True
    assert judge.asked == [*BOTH, *CHANGED]


@pytest.mark.parametrize(
    "answer",
    [
        lambda *_: says("newer"),
        lambda *_: says("same"),
        lambda *_: says("contradicts"),
        lambda *_: says("unrelated"),
        lambda *_: Advice(reason="That was no JSON."),
        lambda old, new: says("same") if (old, new) in BOTH[:2] else well(old, new),
        lambda old, new: says("unrelated") if (old, new) in CHANGED[:2] else well(old, new),
    ],
    ids=["newer", "same", "contradicts", "unrelated", "nothing", "two wrong", "two missed"],
)
async def test_who_does_not_know_it_fails(answer: Answer) -> None:
    advice = await examine(Judging(answer))
    assert advice.value is False
    assert advice.reason


async def test_one_of_each_may_be_missed() -> None:
    slips: dict[tuple[str, str], Advice[Opinion]] = {
        BOTH[0]: says("contradicts"),
        CHANGED[0]: Advice(reason="That was no JSON."),
    }
    assert (await examine(Judging(lambda old, new: slips.get((old, new)) or well(old, new)))).value is True


async def test_who_does_not_answer_has_neither_passed_nor_failed() -> None:
    advice = await examine(Judging(lambda *_: Advice(reason="It is away.", passing=True)))
    assert (advice.value, advice.passing, advice.reason) == (None, True, "It is away.")


@pytest.mark.parametrize(("fault", "answers"), [(None, True), ("failed", False), ("hang", False), ("bug", False)])
async def test_whether_a_model_answers_at_all(fault: Fault | None, answers: bool) -> None:
    llm = ScriptedLLM("Yes.")
    llm.broken = fault
    assistant: Assistant = LLMAssistant({Task.JUDGE: llm}, Rules(), wait_s=0.05)
    assert await assistant.answers(Task.JUDGE) is answers
    assert await assistant.answers(Task.STATE) is False
    assert assistant.models == {Task.JUDGE: "testing"}
