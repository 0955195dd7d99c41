"""Steps and what they teach, by rules alone: what has one aim, when a task is stuck, what a lesson says."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_memory.domain import Memory, Outcome, Source, Step
from hindsight_memory.text.lessons import (
    Taught,
    followed_in_vain,
    is_reflected,
    lessons_of,
    outcome_key,
    run_of,
    still_supported,
)
from hindsight_memory.text.steps import Tried, failures_in_row, is_stuck, kept_of, same_aim, shortened, told, unsolved
from samples import NOON, a_turn

IMPORT = "ImportError: No module named foo"


def run(*lines: str) -> list[Tried]:
    """A run of a task: «tool input ! error», «tool input», «user: …», «agent: …»."""
    return [Tried.of(_memory(line, place)) for place, line in enumerate(lines)]


def _memory(line: str, place: int) -> Memory:
    at = NOON + timedelta(minutes=place)
    fields: dict[str, Any] = {"at": at}
    for source in (Source.USER, Source.AGENT):
        if line.startswith(f"{source}: "):
            return a_turn(line.removeprefix(f"{source}: "), place, source=source, **fields)
    done, _, error = line.partition(" ! ")
    tool, _, given = done.partition(" ")
    outcome = Outcome.FAILURE if error else Outcome.SUCCESS
    step = Step(tool=tool, input=given, outcome=outcome, error=error)
    fields |= {"source": Source.TOOL, "tools": (tool,), "outcome": outcome, "metadata": kept_of(step)}
    return a_turn(told(step), place, **fields)


# How a step is told


def test_a_step_is_one_readable_line() -> None:
    step = Step(tool="pytest", input="tests/x", outcome=Outcome.FAILURE, error=IMPORT)
    assert told(step) == "ran pytest tests/x: failed: ImportError: No module named foo"
    assert told(replace(step, outcome=Outcome.SUCCESS, output="5 passed")) == "ran pytest tests/x: succeeded: 5 passed"
    assert told(replace(step, error="部署超时")) == "运行 pytest tests/x：失败：部署超时"
    assert told(Step(tool="部署", input="网店", outcome=Outcome.SUCCESS, output="完成")) == "运行 部署 网店：成功：完成"
    assert told(Step(tool="x", outcome=Outcome.FAILURE)) == "ran x: failed"


def test_of_a_traceback_the_line_that_says_it_leads() -> None:
    text = f'Traceback (most recent call last):\n  File "a.py", line 3\n    import foo\n{IMPORT}'
    first, _, rest = told(Step(tool="python", input="a.py", outcome=Outcome.FAILURE, error=text)).partition("\n")
    assert first == f"ran python a.py: failed: {IMPORT}"
    assert rest == text


@given(st.text(max_size=3_000), st.text(max_size=3_000), st.sampled_from([Outcome.SUCCESS, Outcome.FAILURE]))
def test_any_step_is_told_in_bounds(given_: str, error: str, outcome: Outcome) -> None:
    step = Step(tool="t", input=given_, outcome=outcome, error=error, output=given_)
    assert len(told(step)) < 3_000
    assert kept_of(step)["step"] in told(step)


@given(st.text(max_size=400), st.integers(10, 200))
def test_what_is_shortened_keeps_its_ends(text: str, most: int) -> None:
    short = shortened(text, most)
    assert len(short) <= most
    assert short == text or (text.startswith(short.partition(" … ")[0]) and " … " in short)


# What has one aim, and when a task is stuck


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("pytest tests/x", "pytest tests/x -q", True),
        ("pytest tests/x", "pytest tests/y", False),
        ("bash git push origin main", "bash git pull origin main", False),
        ("bash git push origin main", "bash git push --force origin main", True),
        ("curl https://a.example/x", "wget https://a.example/x", True),
        ("open https://a.example/x", "open https://b.example/y", False),
        ("deploy", "deploy", True),
        ("deploy shop", "deploy", True),
        ("bash pytest tests/x", "bash ls", False),
        ("search 上海的天气", "search 上海今天的天气", True),
        ("search 上海的天气", "search 苹果手机价格", False),
        ("pip install foo", "npm install bar", False),
    ],
)
def test_what_has_one_aim(one: str, other: str, same: bool) -> None:
    first, second = run(one, other)
    assert same_aim(first, second) is same_aim(second, first) is same


@pytest.mark.parametrize(
    ("lines", "stuck"),
    [
        ([], False),
        ([f"pytest x ! {IMPORT}"], False),
        ([f"pytest x ! {IMPORT}", "pip install foo ! no such package"], True),
        ([f"pytest x ! {IMPORT}", "read conf.py", f"pytest x ! {IMPORT}"], True),
        ([f"pytest x ! {IMPORT}", "read conf.py", "pytest x ! TypeError: another thing"], False),
        ([f"pytest x ! {IMPORT}", "pytest x", f"pytest x ! {IMPORT}"], False),
        (["make a/1 ! OSError: disk full", "make a/1", "make b/2 ! OSError: disk full"], False),
        ([f"pytest x ! {IMPORT}", "pip install foo ! no", "pytest x"], False),
        (["deploy ! 部署失败：端口 5432 被拒绝", "look logs", "deploy ! 部署失败：端口 5433 被拒绝"], True),
    ],
)
def test_when_a_task_is_stuck(lines: list[str], stuck: bool) -> None:
    assert is_stuck(run(*lines)) is stuck


def test_failures_are_counted_from_the_end() -> None:
    assert failures_in_row(run("a ! e", "b", "c ! e", "d ! e")) == 2
    assert failures_in_row([]) == 0


# What a run teaches


def only(lessons: list[Taught]) -> Taught:
    (lesson,) = lessons
    return lesson


def test_what_worked_after_a_failure_is_a_lesson() -> None:
    tried = run(
        f"pytest tests/x ! {IMPORT}",
        "read setup.py",
        "pip install fooo ! ERROR: No matching distribution",
        f"pytest tests/x ! {IMPORT}",
        "pip install foo",
        "pytest tests/x",
    )
    lesson = only(lessons_of(tried))
    assert lesson.text == (
        f"When: pytest tests/x: failed: {IMPORT}\n"
        "Do: pip install foo; pytest tests/x\n"
        "Avoid: pip install fooo\n"
        "Because: it failed 2 times like this, and went through after that"
    )
    assert lesson.evidence == tuple(tried[at].memory.id for at in (0, 2, 3, 4, 5)), "all that it quotes"
    assert lesson.worked == tried[5].memory.id


def test_a_lesson_of_chinese_material_is_chinese() -> None:
    tried = run(
        "部署 网店 ! 部署失败：数据库连接被拒绝，端口 5432",
        "agent: 原因是没有连 VPN。我先连上。",
        "连接 VPN",
        "部署 网店",
    )
    lesson = only(lessons_of(tried))
    assert lesson.text == (
        "遇到：部署 网店：失败：部署失败：数据库连接被拒绝，端口 5432\n"
        "做法：连接 VPN；部署 网店\n"
        "原因：原因是没有连 VPN。"
    )


def test_every_part_is_a_span_of_its_evidence() -> None:
    tried = run(
        f"pytest tests/x ! {IMPORT}",
        "agent: Let me see. The venv is fresh because CI deletes it.",
        "pip install foo",
        "pytest tests/x",
    )
    lesson = only(lessons_of(tried))
    assert lesson.because == "The venv is fresh because CI deletes it."
    texts = [each.memory.content for each in tried]
    spans = [*lesson.trigger.split(": failed: "), *lesson.do, *lesson.avoid, lesson.because]
    assert all(any(span in text for text in texts) for span in spans)


def test_doing_it_again_is_a_lesson_of_its_own() -> None:
    lesson = only(lessons_of(run("deploy shop ! TimeoutError: the host is slow", "deploy shop")))
    assert lesson.again
    assert "Do: try again: deploy shop" in lesson.text


def test_a_success_of_another_aim_teaches_nothing() -> None:
    tried = run(f"bash pytest tests/x ! {IMPORT}", "bash ls", "bash git status")
    assert lessons_of(tried) == []
    assert [each.deed for each in unsolved(tried)] == ["bash pytest tests/x"]


def test_each_error_on_the_way_is_a_lesson() -> None:
    tried = run(
        "deploy shop ! ConnectionError: no route to host",
        "vpn up",
        "deploy shop ! PermissionError: cannot write the log",
        "chown app logs/",
        "deploy shop",
    )
    assert [lesson.do for lesson in lessons_of(tried)] == [
        ("vpn up", "deploy shop"),
        ("chown app logs/", "deploy shop"),
    ]


def test_the_users_word_counts_where_no_step_was_recorded() -> None:
    tried = run(
        "user: The deploy says ConnectionRefusedError: no route to host",
        "agent: Turn the VPN on first. Then try again.",
        "user: That works now, thanks!",
    )
    lesson = only(lessons_of(tried))
    assert (lesson.trigger, lesson.do) == ("ConnectionRefusedError: no route to host", ("Turn the VPN on first.",))
    assert lessons_of(tried[:2]) == []
    said_by_itself = run("user: TypeError: x is not a function", "agent: Fixed, it works now.")
    assert lessons_of(said_by_itself) == [], "an assistant's own praise proves nothing"


def test_what_a_run_came_to() -> None:
    tried = run(f"pytest x ! {IMPORT}", "pip install fooo ! no such package", "pip install foo", "pytest x")
    whole = run_of(tried, "make the tests pass", lessons_of(tried))
    assert (whole.outcome, whole.steps, whole.failures) == (Outcome.SUCCESS, 4, 2)
    assert whole.text == (
        "make the tests pass: success after 4 steps, 2 failed; tools: pytest, pip\n"
        "What worked: pip install foo; pytest x"
    )
    failed = run_of([*tried, *run("deploy ! 部署失败：磁盘已满")], "上线", [])
    assert failed.text == "上线：失败，共 5 步，失败 3 次，工具：pytest、pip、deploy\n最后的错误：部署失败：磁盘已满"


SAID = [f"pytest x ! {IMPORT}", "pytest x", "deploy ! 部署超时", "deploy", "pip install foo", "pip install foo ! E: 5"]
SAID += ["ls", "user: it works now", "user: TypeError: a", "agent: Try it with -v because it helps.", "user: 还是不行"]
LINES = st.lists(st.sampled_from(SAID), max_size=30)


@given(LINES)
def test_any_run_teaches_only_what_stands_in_it(lines: list[str]) -> None:
    tried = run(*lines)
    texts, ids = [each.memory.content for each in tried], {each.memory.id for each in tried}
    lessons = lessons_of(tried)
    assert len({lesson.key for lesson in lessons}) == len(lessons)
    for lesson in lessons:
        assert all(any(span in text for text in texts) for span in (*lesson.do, *lesson.avoid, lesson.because))
        assert lesson.worked in lesson.evidence
        assert ids.issuperset(lesson.evidence)
        assert not set(lesson.do) & set(lesson.avoid)
    assert run_of(tried, "", lessons).steps == sum(bool(each.tool) for each in tried)


# What becomes of a lesson


def learnt(tried: list[Tried], **more: Any) -> Memory:
    lesson = only(lessons_of(tried))
    held = {
        "do": list(lesson.do),
        "signature": lesson.signature,
        "again": lesson.again,
        "evidence": list(lesson.evidence),
        "worked": [lesson.worked],
        **more,
    }
    return replace(tried[-1].memory, metadata=held, created_at=tried[-1].memory.created_at + timedelta(seconds=1))


def later(*lines: str) -> list[Tried]:
    return [Tried.of(replace(_memory(line, 100 + place))) for place, line in enumerate(lines)]


def test_a_lesson_stands_on_its_evidence() -> None:
    tried = run(f"pytest x ! {IMPORT}", "pip install foo", "pytest x")
    lesson = learnt(tried)
    ids = [each.memory.id for each in tried]
    assert still_supported(lesson, ids) == 1
    assert still_supported(lesson, ids[1:]) == pytest.approx(2 / 3)
    assert still_supported(lesson, ids[:2]) == 0, "nothing shows any more that it worked"
    assert still_supported(replace(lesson, metadata={}), ids) == 0
    assert still_supported(replace(lesson, metadata={"evidence": 5, "worked": "x"}), ids) == 0


def test_advice_that_was_followed_in_vain_is_seen() -> None:
    lesson = learnt(run(f"pytest x ! {IMPORT}", "pip install foo", "pytest x"))
    vain = later(f"pytest x ! {IMPORT}", "pip install foo", f"pytest x ! {IMPORT}")
    assert followed_in_vain(lesson, vain) == [each.memory.id for each in vain]
    assert followed_in_vain(lesson, later(f"pytest x ! {IMPORT}", f"pytest x ! {IMPORT}")) == [], "it was not followed"
    assert followed_in_vain(lesson, later(f"pytest x ! {IMPORT}", "pip install foo", "pytest x")) == []
    before = run(f"pytest x ! {IMPORT}", "pip install foo", f"pytest x ! {IMPORT}")
    assert followed_in_vain(lesson, before) == [], "it was not known yet"
    known = learnt(
        run(f"pytest x ! {IMPORT}", "pip install foo", "pytest x"), against=[each.memory.id for each in vain]
    )
    assert followed_in_vain(known, vain) == [], "counted once"
    again = learnt(run(f"pytest x ! {IMPORT}", "pytest x"))
    assert followed_in_vain(again, later(f"pytest x ! {IMPORT}", f"pytest x ! {IMPORT}")) != []


def test_keys_say_that_a_look_back_wrote_them() -> None:
    lesson = only(lessons_of(run(f"pytest x ! {IMPORT}", "pytest x")))
    assert is_reflected(lesson.key)
    assert is_reflected(outcome_key("a", "deploy"))
    assert not is_reflected(None)
    assert not is_reflected("preference.drink")
