"""Summaries: a text's own sentences, whole and in order, within a budget."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_memory.text.summary import most_central, summary_of
from hindsight_memory.text.tokens import count_tokens

ENGLISH = (
    "The backup job of the billing database failed again last night. The backup job writes to the old storage account, "
    "and that account ran out of space. We looked at the dashboards for a while. It was raining outside. "
    "Maria Lopez moved the backup job to the new storage account on 12 March 2026. Since then the backup of the "
    "billing database has taken 14 minutes instead of 50. Nobody could say why the old account had no alert. Is there "
    "a budget for one? The team agreed that every storage account gets an alert at 80 % from now on. Lunch was good."
)
CHINESE = (
    "计费数据库的备份任务昨晚又失败了。备份任务还写在旧的存储账户里，而那个账户的空间已经用完。我们看了一会儿监控面板。"
    "外面下着雨。王小明在2026年3月12日把备份任务迁到了新的存储账户。从那以后计费数据库的备份只要14分钟，以前要50分钟。"
    "没有人知道旧账户为什么没有告警。有预算吗？团队决定以后每个存储账户在用量达到80%时都要告警。午饭不错。"
)


@pytest.mark.parametrize("text", [ENGLISH, CHINESE])
def test_sentences_come_whole_and_in_their_order(text: str) -> None:
    summary = summary_of(text, 60)
    assert 0 < count_tokens(summary) <= 60
    at = -1
    for sentence in _sentences(summary):
        assert text.find(sentence) > at
        at = text.find(sentence)
        assert text[at - 1 :][:1] in " 。？" or at == 0


@pytest.mark.parametrize(
    ("text", "fact"), [(ENGLISH, "12 March 2026"), (ENGLISH, "14 minutes"), (CHINESE, "2026年3月12日")]
)
def test_what_names_numbers_dates_and_people_is_preferred(text: str, fact: str) -> None:
    summary = summary_of(text, 90)
    assert fact in summary
    assert not any(idle in summary for idle in ("raining", "Lunch", "下着雨", "午饭", "budget", "预算"))


def _sentences(text: str) -> list[str]:
    return [part.strip() + mark for part, mark in _marked(text) if part.strip()]


def _marked(text: str) -> list[tuple[str, str]]:
    parts: list[tuple[str, str]] = []
    rest = text
    for at, sign in enumerate(text):
        if sign in "。？" or (sign in ".?" and text[at + 1 : at + 2] in ("", " ", "\n")):
            start = len(text) - len(rest)
            parts.append((text[start:at], sign))
            rest = text[at + 1 :]
    return parts


def test_sentences_stand_apart_where_they_did() -> None:
    text = "On 3 May we met Ann in the café. The plan for 4 May is a walk. " + "Fine. " * 40
    assert "café. The" in summary_of(text, 40)


def test_a_short_text_is_its_own_summary() -> None:
    assert summary_of("The door code is 4711.", 50) == "The door code is 4711."


def test_what_was_said_twice_is_said_once() -> None:
    text = "The release of version 2.4 moves to Friday. " * 3 + ENGLISH
    assert summary_of(text, 100).count("version 2.4") == 1


TRACE = (
    'Traceback (most recent call last):\n  File "/srv/app/jobs.py", line 88, in run\n    self.connect()\n'
    "psycopg.OperationalError: connection refused\n"
)
CODE = "```python\ndef retry(job):\n    for attempt in range(3):\n        job.run()\n```\n"
TABLE = "| service | port |\n|---|---|\n| billing | 8443 |\n| search | 9200 |\n"
LIST = "The steps of the release are:\n\n1. Tag the commit\n2. Build the wheel\n   with hatch\n3. Upload it\n"
ITEMS = ("The steps", "Tag the", "Build the", "with hatch", "Upload it")


@pytest.mark.parametrize("block", [TRACE, CODE, TABLE])
@pytest.mark.parametrize("prose", [ENGLISH, CHINESE])
def test_a_block_comes_whole_or_not_at_all(block: str, prose: str) -> None:
    text = f"{prose}\n\n{block}\n{prose[::-1]}"
    for budget in range(90, 400, 15):
        summary = summary_of(text, budget)
        lines = [line for line in block.strip().split("\n") if line.strip()]
        held = [line for line in lines if line in summary]
        assert held in ([], lines), budget
    assert block.strip() in summary_of(text, 600)


def test_a_short_list_comes_whole_with_the_line_that_leads_to_it() -> None:
    text = f"{ENGLISH}\n\n{LIST}\n{ENGLISH[::-1]}"
    for budget in range(70, 400, 15):
        assert LIST.strip() in (summary := summary_of(text, budget)) or not any(item in summary for item in ITEMS)
    assert LIST.strip() in summary_of(text, 600)


def test_of_a_long_list_whole_items_are_taken() -> None:
    items = [
        f"- Step {n} of the migration:\n  move shard {n} to host db{n}.example.com and check it" for n in range(30)
    ]
    summary = summary_of("\n".join(items), 100)
    assert summary.count("- Step") == summary.count("and check it") >= 2
    assert all(item in items for item in summary.replace("\n- ", "\f- ").split("\f"))


def test_of_a_long_log_whole_lines_are_taken_and_errors_first() -> None:
    lines = [f"2026-05-04 10:{n:02}:00 INFO worker {n} took job {n * 7}" for n in range(50)]
    lines[31] = "2026-05-04 10:31:00 ERROR disk /dev/sdb1 is full, job 217 failed"
    summary = summary_of("\n".join(lines), 120)
    assert lines[31] in summary
    assert all(line in lines for line in summary.split("\n"))


def test_where_nothing_whole_fits_the_beginning_says_that_it_was_cut() -> None:
    code = "```\n" + "\n".join(f"value_{n} = compute({n})" for n in range(200)) + "\n```"
    summary = summary_of(code, 40)
    assert summary.endswith("…")
    assert code.startswith(summary.removesuffix("…"))
    assert count_tokens(summary) <= 40


def test_lines_of_a_wrapped_paragraph_are_one_sentence() -> None:
    wrapped = "The nightly import of the warehouse reads 40 files from\nthe partner and stops at the first broken one."
    assert wrapped in summary_of(f"{wrapped}\n\n{ENGLISH}", 400)


def test_the_most_central_text_says_what_the_others_say() -> None:
    cause = "the partner's file has a broken header, so the import fails"
    texts = ["Hello!", "the import job fails on the partner's file", cause, "what a nice day"]
    assert most_central(texts) in (1, 2)
    assert most_central(["", "  "]) == most_central([]) == 0


@given(st.text(max_size=3_000), st.integers(min_value=1, max_value=200))
def test_any_text_is_safe_and_the_budget_holds(text: str, budget: int) -> None:
    assert count_tokens(summary_of(text, budget)) <= budget


@given(
    st.lists(
        st.sampled_from(
            ["- a b", "```", "| x | y |", "Steps:", "One day. Two days.", "  at f(x)", "", "ERROR no", "他来了。"]
        )
    )
)
def test_any_mix_of_lines_gives_parts_of_it_in_order(lines: list[str]) -> None:
    text = "\n".join(lines)
    summary = summary_of(text, 12)
    kept = iter(text)
    assert all(sign in kept for sign in summary if not sign.isspace() and sign != "…")


@pytest.mark.parametrize(
    "text",
    ["a. " * 33_000, "好" * 100_000, "好。" * 50_000, "| a |\n" * 16_000, "- a b\n" * 16_000, "```\n" * 25_000,
     "x:\n" * 33_000, "a" * 100_000, "\t" * 99_999 + "a", ENGLISH * 170, CHINESE * 500],
)  # fmt: skip
def test_work_is_bounded(text: str) -> None:
    started = time.process_time()
    assert count_tokens(summary_of(text, 120)) <= 120
    assert time.process_time() - started < 5
