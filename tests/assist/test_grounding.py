"""Whether what a model wrote stands in what it was given, in English and Chinese."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_memory.assist.grounding import (
    Grounds,
    clause_around,
    contrary,
    numbers_in,
    repeats,
    same_words,
    says_nothing,
)

EN = "On May 4, 2026 Anna paid 1,250 euros for “Café Müller” — the therapist's 3rd visit was on Friday."
ZH = "二〇二六年五月四日，王伟花了三千块买了两台 MacBook，周五在上海和李娜开会，「以后都用深色模式」。"


@pytest.mark.parametrize(
    ("quote", "text", "found"),
    [
        ("Anna paid 1,250 euros", EN, "Anna paid 1,250 euros"),
        ("anna  PAID 1,250\neuros.", EN, "Anna paid 1,250 euros"),
        ('"cafe muller"', EN, "Café Müller"),
        ("the therapists 3rd visit", EN, "the therapist's 3rd visit"),
        ("rapist", EN, None),
        ("250 euros for", EN, "250 euros for"),
        ("50 euros", EN, None),
        ("Anna ... euros", EN, None),
        ("Bob paid", EN, None),
        ("on", EN, None),
        ("", EN, None),
        ("…", EN, None),
        ("王伟花了三千块", ZH, "王伟花了三千块"),
        ("以后都用深色模式。", ZH, "以后都用深色模式"),
        ("买了两台MacBook", ZH, "买了两台 MacBook"),
        ("两台 Mac", ZH, None),
        ("李娜", ZH, "李娜"),
        ("李", ZH, None),
        ("王伟买了两台", ZH, None),
        ("Ａｎｎａ paid", EN, "Anna paid"),
    ],
)
def test_a_quote_stands_in_its_text(quote: str, text: str, found: str | None) -> None:
    span = Grounds(text).quoted(quote)
    assert (text[slice(*span)] if span else None) == found


WORDS = st.text(st.sampled_from("ab 1é用户。，'’\n\ud800\u0301"), max_size=40)


@given(WORDS, WORDS, WORDS)
def test_what_is_cut_out_between_marks_is_found(before: str, quote: str, after: str) -> None:
    text = f"{before}. {quote}. {after}"
    span = Grounds(text).quoted(quote)
    if span is not None:
        assert same_words(text[slice(*span)], quote)
    elif len("".join(each for each in quote if each.isalnum())) >= 4:
        raise AssertionError(quote)


@pytest.mark.parametrize(
    ("text", "source", "fault"),
    [
        ("Anna paid 1250 euros", EN, ""),
        ("Anna paid on 2026-05-04", EN, ""),
        ("Anna paid in May", EN, ""),
        ("Anna paid on Friday", EN, ""),
        ("Anna paid one bill", EN, ""),
        ("Anna paid 1,350 euros", EN, "number 1350"),
        ("Anna paid twelve euros", EN, "number 12"),
        ("Anna paid in June", EN, "time june"),
        ("Anna paid on Saturday", EN, "time saturday"),
        ("Anna paid yesterday", EN, "time yesterday"),
        ("Anna paid last week", EN, "time last week"),
        ("Then Caroline paid", EN, "name caroline"),
        ("The therapist saw Anna in Berlin", EN, "name berlin"),
        ("Three people came", "3 people came", ""),
        ("3 people came", "three people came", ""),
        ("13 people came", "3 people came", "number 13"),
        ("On May 4", "on 2026-05-04", ""),
        ("version 3.11", "version 3.1", "number 3.11"),
        ("2026年5月4日花了3000块", ZH, ""),
        ("周五和李娜在上海开会", ZH, ""),
        ("一起开会，一直用深色模式", ZH, ""),
        ("花了五千块", ZH, "number 5000"),
        ("星期六开会", ZH, "time saturday"),
        ("昨天开会", ZH, "time yesterday"),
        ("王伟和赵敏开会", ZH, "name 赵敏"),
        ("在北京开会", ZH, "name 北京"),
        ("用户 3 岁", "用户三岁，周五见", ""),
        ("用户五岁", "用户三岁，周五见", "number 5"),
    ],
)
def test_numbers_names_and_times_come_from_the_source(text: str, source: str, fault: str) -> None:
    assert (fault in Grounds(source).lacks(text)) if fault else Grounds(source).lacks(text) == ""


def test_numbers_in_digits_and_words() -> None:
    assert numbers_in("1,250 and 007, 3.50, 12:30 and twenty") == {"1250", "7", "3.50", "12", "30", "20"}
    assert numbers_in("三千块，两台，第二十三次，一起") == {"3000", "2", "23"}
    assert numbers_in("") == set()


@pytest.mark.parametrize(
    ("text", "source", "other"),
    [
        ("用户住在里斯本", "I live in Lisbon", True),
        ("Lives in Lisbon", "我住在里斯本", True),
        ("Lives in Lisbon", "I live in Lisbon", False),
        ("用户住在里斯本", "我住在里斯本", False),
        ("用 Docker 部署", "我用Docker部署了Kubernetes", False),
        ("Docker", "我用 Docker 部署", False),
        ("met 王伟 in Lisbon", "I met 王伟 in Lisbon today", False),
    ],
)
def test_the_language_is_that_of_the_source(text: str, source: str, other: bool) -> None:
    assert Grounds(source).speaks_otherwise(text) is other


@pytest.mark.parametrize(
    "text",
    [
        "I don't have information about that.", "I don’t have enough context to summarise.", "No information provided.",
        "I'm sorry, I cannot do that.", "As an AI language model, I …", "The text does not contain anything.",
        "There is not enough information.", "N/A", "None.", "没有足够的信息。", "抱歉，我无法总结。", "信息不足", "无",
        "作为一个AI，我不知道。", "文本中没有提到用户的偏好。",
    ],
)  # fmt: skip
def test_that_nothing_is_known_is_no_answer(text: str) -> None:
    assert says_nothing(text)


@pytest.mark.parametrize(
    "text",
    [
        "The user has no car.", "Anna can't eat nuts.", "None of the tests failed.", "用户没有车。", "用户无法吃坚果。",
        "The team has little information about costs.", "Information is kept for 90 days.",
    ],
)  # fmt: skip
def test_that_something_is_not_so_is_an_answer(text: str) -> None:
    assert not says_nothing(text)


@pytest.mark.parametrize(
    ("one", "other", "turned"),
    [
        ("User likes coffee", "I don't like coffee", True),
        ("User dislikes coffee", "I don't like coffee", False),
        ("User loves cats", "I hate cats", True),
        ("User prefers tea", "I prefer tea now", False),
        ("用户喜欢咖啡", "我不喜欢咖啡", True),
        ("用户讨厌咖啡", "我不喜欢咖啡", False),
        ("用户喜欢拿铁", "用户讨厌拿铁", True),
        ("用户觉得不错", "我觉得不错", False),
    ],
)
def test_what_is_turned_round(one: str, other: str, turned: bool) -> None:
    assert contrary(one, other) is turned


def test_a_clause_holds_what_a_quote_leaves_out() -> None:
    text = "It rains. I don't like coffee, but tea."
    start = text.index("like")
    assert clause_around(text, start, start + len("like coffee")) == " I don't like coffee"
    assert clause_around("我不喜欢咖啡，喜欢茶", 2, 6) == "我不喜欢咖啡"


@pytest.mark.parametrize(
    ("text", "again"),
    [
        ("I worked for years. " * 8, True),
        ("a lot of experience in the field of computer science and " * 5, True),
        ("我在计算机领域工作了很多年。" * 5, True),
        ("我喜欢喝茶也喜欢喝茶也喜欢喝茶也喜欢喝茶也喜欢喝茶也喜欢喝茶", True),
        (EN, False),
        (ZH, False),
        ("Short.", False),
        ("", False),
    ],
)
def test_what_repeats_itself(text: str, again: bool) -> None:
    assert repeats(text) is again


def test_shared_words() -> None:
    assert Grounds("Anna paid and pays").shared("Anna pays") == 1
    assert Grounds("Anna paid").shared("Bob sleeps") == 0
    assert Grounds("Anna").shared("") == 0
    assert Grounds("").shared("…") == 0


@given(st.text(max_size=300), st.text(max_size=300))
def test_no_text_is_too_strange(one: str, other: str) -> None:
    Grounds(other).quoted(one)
    Grounds(other).lacks(one)
    contrary(one, other)
    repeats(one)
    says_nothing(one)
    Grounds(other).speaks_otherwise(one)
    assert 0 <= Grounds(other).shared(one) <= 1
