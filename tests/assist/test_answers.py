"""Typed answers: what comes out of what models really say, and that nothing comes out of the rest."""

from __future__ import annotations

import json
import time
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_memory.assist.answers import Answer, Form, ask, read
from hindsight_memory.assist.checks import FactForm, LessonForm, OpinionForm, StateForm, SummaryForm
from hindsight_memory.assist.lenient import values_in
from hindsight_memory.assist.prompts import Prompt
from hindsight_memory.models.base import ModelFailed
from hindsight_memory.testing import Fault, ScriptedLLM

REPLIES = json.loads((Path(__file__).parent / "replies.json").read_text(encoding="utf-8"))
FORMS: dict[str, Form[Any]] = {
    "facts": Form(FactForm, "facts"),
    "opinion": Form(OpinionForm),
    "summary": Form(SummaryForm),
    "lesson": Form(LessonForm),
    "state": Form(StateForm),
}
PROMPT = Prompt("Answer.", "{}")


def told(item: Any) -> Any:
    """What a form says first, and of a state its goal and decisions."""
    if isinstance(item, StateForm):
        return [item.task_goal, list(item.decisions)]
    return getattr(item, fields(item)[0].name)


@pytest.mark.parametrize("reply", REPLIES, ids=[reply["name"] for reply in REPLIES])
async def test_what_a_reply_comes_to(reply: dict[str, Any]) -> None:
    answer = await ask(ScriptedLLM(reply["said"]), PROMPT, FORMS[reply["form"]], max_tokens=100_000, wait_s=5)
    assert [told(item) for item in answer.items] == reply.get("items", [])
    if "items" in reply:
        assert answer.reason == ""
    else:
        assert reply["reason"] in answer.reason != ""
        assert answer.reason.endswith(".")
        assert not answer.passing


def test_there_are_enough_broken_replies() -> None:
    assert len(REPLIES) >= 80
    assert sum("gemma" in reply["name"] for reply in REPLIES) >= 10
    assert len({reply["name"] for reply in REPLIES}) == len(REPLIES)


def test_values_are_kept_or_left_at_their_defaults() -> None:
    said = [
        {"content": "a", "quote": "q", "kind": "EPISODIC", "key": " profile.city ", "importance": "0.9"},
        {"content": "b", "quote": "q", "kind": "opinion", "key": 5, "importance": 7},
        {"content": "c", "quote": "q", "key": "x" * 200, "importance": "80%"},
        {"content": "d", "quote": "q", "importance": True},
    ]
    items = read(json.dumps(said), FORMS["facts"]).items
    assert items == (
        FactForm("a", "q", "episodic", "profile.city", 0.9),
        FactForm("b", "q", "semantic", "", 0.5),
        FactForm("c", "q", "semantic", "", 0.8),
        FactForm("d", "q", "semantic", "", 0.5),
    )


def test_what_is_dropped_is_said() -> None:
    said = [{"content": "a", "quote": "q"}, {"content": "b"}, {"content": "c" * 501, "quote": "q"}, {"quote": " "}]
    answer = read(json.dumps(said), FORMS["facts"])
    assert [item.content for item in answer.items] == ["a"]
    assert answer.dropped == ("quote is missing", "content is too long", "content is missing")


def test_a_schema_is_what_every_provider_takes() -> None:
    for form in FORMS.values():
        schema = form.schema()
        objects = [schema]
        while objects:
            each = objects.pop()
            assert set(each) <= {"type", "properties", "required", "additionalProperties", "items", "enum"}
            assert each["type"] in {"object", "array", "string", "number", "integer"}
            if each["type"] == "object":
                assert each["required"] == list(each["properties"])
                assert each["additionalProperties"] is False
                objects += each["properties"].values()
            if each["type"] == "array":
                objects.append(each["items"])
        assert schema["type"] == "object"


async def test_the_schema_goes_with_the_question() -> None:
    llm = ScriptedLLM('{"summary": "short"}')
    await ask(llm, PROMPT, FORMS["summary"], max_tokens=100, wait_s=5)
    assert llm.schemas == [FORMS["summary"].schema()]


@pytest.mark.parametrize(
    ("broken", "reason", "passing"),
    [("failed", "out of order", True), ("hang", "did not answer in 0.1 s", True), ("bug", "(TypeError)", False)],
)
async def test_a_model_that_fails_is_a_reason(broken: Fault, reason: str, passing: bool) -> None:
    llm = ScriptedLLM("x")
    llm.broken = broken
    answer: Answer[Any] = await ask(llm, PROMPT, FORMS["facts"], max_tokens=100, wait_s=0.1)
    assert reason in answer.reason
    assert (answer.items, answer.passing) == ((), passing)


@pytest.mark.parametrize("odd", [None, 5, b"{}", ["{}"], {"facts": []}])
async def test_a_model_that_gives_something_else(odd: Any) -> None:
    class Odd(ScriptedLLM):
        async def chat(self, *_: Any, **__: Any) -> Any:
            return odd

    assert (await ask(Odd(), PROMPT, FORMS["facts"], max_tokens=100, wait_s=5)).reason


async def test_whether_asking_later_may_help() -> None:
    class Refusing(ScriptedLLM):
        async def chat(self, *_: Any, **__: Any) -> str:
            error = ModelFailed("It answered 401.")
            error.passing = False
            raise error

    answer = await ask(Refusing(), PROMPT, FORMS["facts"], max_tokens=100, wait_s=5)
    assert (answer.reason, answer.passing) == ("It answered 401.", False)


PIECES = st.sampled_from(
    ['{"facts": [', '{"content": "a", "quote": "b"}', '"content"', ":", ",", "]", "}", "'", '"', "`", "\\", "\n",
     "null", "NaN", "1e999", "true", "“", "”", "：", "{", "[", "text", "用户", "\ud800", "\x00", "//", "/*", "<think>"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=60).map("".join), st.sampled_from(sorted(FORMS)))
def test_whatever_is_said_an_answer_keeps_to_its_form(said: str, name: str) -> None:
    answer = read(said, FORMS[name])
    assert bool(answer.reason) <= (not answer.items)
    for item in answer.items:
        assert isinstance(item, FORMS[name].kind)
        if isinstance(item, FactForm):
            assert item.content == item.content.strip() != ""
            assert 0 <= item.importance <= 1


@given(st.lists(st.dictionaries(st.text(), st.integers() | st.text() | st.none() | st.booleans()), min_size=1))
def test_whole_json_is_read_as_json(values: list[dict[str, Any]]) -> None:
    assert list(values_in(json.dumps(values))) == [values]


@given(
    st.lists(st.fixed_dictionaries({"content": st.text(min_size=1), "n": st.integers()}), max_size=8), st.floats(0, 1)
)
def test_what_was_whole_before_a_list_broke_off_is_kept(items: list[dict[str, Any]], share: float) -> None:
    said = json.dumps({"facts": items}, ensure_ascii=False)
    cut = said[: int(len(said) * share)]
    whole, at = 0, len('{"facts": [')
    for item in items:
        at += len(json.dumps(item, ensure_ascii=False))
        whole += at <= len(cut)
        at += 2
    kept = next((value["facts"] for value in values_in(cut) if value.get("facts")), [])
    assert kept[:whole] == items[:whole]


@pytest.mark.parametrize(
    "said",
    [
        "[" * 200_000, '{"a":' * 40_000, '"' * 200_000, '["' + 'a"' * 100_000, '["' + '", ' * 66_000,
        '{"a":"' + '" \n' * 66_000,
        "[1," * 66_000, "['" * 100_000, "{a:[" * 50_000, "[" + " " * 200_000, "//" * 100_000, "/*" * 100_000,
        '{"a": /*' * 20_000, "{" * 500 + "x" * 100_000, '{"facts": ["' + "\\" * 200_000, "{“" * 50_000,
    ],
)  # fmt: skip
def test_no_answer_takes_long(said: str) -> None:
    started = time.process_time()
    read(said, FORMS["facts"])
    assert time.process_time() - started < 3
