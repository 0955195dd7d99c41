"""Which of the things that happened are the same thing again, in English and Chinese."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_memory.lifecycle.likeness import Happening, grouped
from samples import a_memory

ALIKE = [
    [
        "Please plan my week",
        "Can you help me plan the week of 4 May?",
        "Plan this week: I have the dentist on Thursday",
    ],
    ["Write the weekly report", "Please write this week's report", "Write my weekly report, for Friday 8 May"],
    ["water the plants", "I watered the plants"],
    ["Clean the kitchen", "Please clean the kitchen: no bleach", "clean the kitchen without the oven"],
    ["帮我写周报", "写一下本周的周报", "周五了，帮我写周报", "请帮我写一下这周的周报，谢谢"],
    ["给妈妈打电话", "今天晚上给妈妈打电话"],
    ["检查服务器备份", "早上检查一下服务器的备份"],
    ["Order coffee beans", "Order coffee beans again, 2 kg"],
]
APART = [
    ["Write the weekly report", "Write the expense report"],
    ["Lunch with Anna", "Lunch with Bob"],
    ["Send the project status report to Anna", "Send the project status report to Bob"],
    ["plan my week", "don't plan my week"],
    ["Plan the week", "Plan the trip"],
    ["帮我写周报", "帮我写月报", "帮我写一首诗", "不要写周报"],
    ["检查服务器备份", "检查服务器日志"],
]


def together(texts: list[str], **fields: str) -> list[list[int]]:
    return [group.members for group in grouped([Happening(a_memory(text, **fields)) for text in texts])]


@pytest.mark.parametrize("texts", ALIKE)
def test_the_same_in_other_words(texts: list[str]) -> None:
    assert together(texts) == [list(range(len(texts)))]


@pytest.mark.parametrize("texts", APART)
def test_something_else_in_like_words(texts: list[str]) -> None:
    assert together(texts) == [[number] for number in range(len(texts))]


def test_many_things_at_once_stay_apart() -> None:
    texts = [text for group in ALIKE for text in group] + ["Cook a lasagne", "去公园跑步"]
    sizes = [len(group) for group in ALIKE]
    assert [len(members) for members in together(texts)] == [*sizes, 1, 1]


def test_two_people_do_not_share_a_habit() -> None:
    said = [Happening(a_memory("plan my week", speaker=who)) for who in ("Ann", "Bob", "Ann")]
    assert [group.members for group in grouped(said)] == [[0, 2], [1]]


def test_what_says_nothing_is_left_out() -> None:
    assert together(["12:30", "你好", "please", "2026-05-04", "?!"]) == []


def test_the_work_for_one_text_does_not_grow_with_the_bank(monkeypatch: pytest.MonkeyPatch) -> None:
    from hindsight_memory.lifecycle.likeness import Group

    compared, plain = [], Group.likeness
    monkeypatch.setattr(Group, "likeness", lambda self, other: compared.append(1) or plain(self, other))
    words = [f"{letter}{other}q" for letter in "bcdfghklmn" for other in "bcdfghklmn"]
    together([f"do {words[number % 100]} {words[number * 7 % 89]} {words[number * 3 % 71]}" for number in range(3_000)])
    assert len(compared) <= 3_000 * 3 * 40


@given(st.lists(st.text(max_size=60), max_size=12))
def test_any_text_is_taken(texts: list[str]) -> None:
    members = [place for each in together([text or " " for text in texts]) for place in each]
    assert len(members) == len(set(members))
