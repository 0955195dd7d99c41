"""Questions taken apart, and filled in from the talk before them."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hindsight_memory.text.questions import MOST, READ, needs_context, parts_of, resolved

COMPOUND = [
    ("What did Ann buy and when did she move?", ["What did Ann buy", "when did Ann move?"]),
    ("What did Ann buy, and where is her dog?", ["What did Ann buy", "where is Ann's dog?"]),
    ("Where does Ann live and is she married?", ["Where does Ann live", "is Ann married?"]),
    ("When and where did Ann move?", ["When did Ann move?", "where did Ann move?"]),
    ("What did Ann buy and why?", ["What did Ann buy", "why did Ann buy?"]),
    ("Do you know what Ann bought and when she moved?", ["Do you know what Ann bought", "when Ann moved?"]),
    (
        "What car did Ann buy, how much did it cost, and who helped her?",
        ["What car did Ann buy", "how much did it cost (car, Ann, buy)", "who helped Ann? (car, buy)"],
    ),
    ("What did my sister buy and when did she move?", ["What did my sister buy", "when did she move? (sister, buy)"]),
    ("What do Ann and Bob eat and when did they meet?", ["What do Ann and Bob eat", "when did they meet? (Ann, Bob)"]),
    ("When did Ann move? And where is her office?", ["When did Ann move?", "where is Ann's office?"]),
    ("Hi! When did Ann move? Thanks a lot!", ["When did Ann move?"]),
    ("赵阳现在的年薪是多少？之前是多少？", ["赵阳现在的年薪是多少？", "赵阳的年薪之前是多少？"]),
    ("赵阳现在的年薪是多少？年终奖呢？", ["赵阳现在的年薪是多少？", "赵阳现在的年终奖是多少？"]),
    ("赵阳现在住在哪个区？月租多少？", ["赵阳现在住在哪个区？", "赵阳月租多少？"]),
    ("赵阳住在哪里，月租多少", ["赵阳住在哪里", "赵阳月租多少"]),
    ("赵阳住在哪里以及月租多少", ["赵阳住在哪里", "赵阳月租多少"]),
    ("李娜什么时候搬家的，她的新家在哪里？", ["李娜什么时候搬家的", "李娜的新家在哪里？"]),
    ("你好！赵阳的手机是什么型号？谢谢", ["赵阳的手机是什么型号？"]),
]


@pytest.mark.parametrize(("question", "parts"), COMPOUND)
def test_a_compound_question_is_taken_apart(question: str, parts: list[str]) -> None:
    assert parts_of(question) == parts


@pytest.mark.parametrize(
    "question",
    [
        "",
        " ",
        "?",
        "Hi there!",
        "你好",
        "Which dogs and cats did Ann have?",
        "What did Ann and Bob buy in Rome and Paris?",
        "What did she do when she arrived and when she left?",
        "Who is the man who lives in Rome and who likes tea?",
        "What is the difference between how Ann works and how Bob works?",
        "When did Ann go on a hike and have a bad time?",
        "Did Dr. Smith see Mr. Jones at 3.30 p.m. in St. Louis?",
        "What is in version 2.1 of the file a.b.c?",
        "What does Ann like about her job and her town?",
        "Remind me to call Ann and Bob.",
        "coffee",
        "我最喜欢的颜色是什么？",
        "赵阳和李娜喜欢吃什么和喝什么",
        "如果系统返回赵阳78kg在减肥中，现实是什么？",
        "关于如何放松，你给了我什么建议？",
        "在1月19日完成书桌的第一遍涂漆后，他在哪一天刷上了第二遍清漆？",
        "咖啡",
    ],
)
def test_one_question_stays_one(question: str) -> None:
    assert parts_of(question) == [question]


def test_a_turn_of_several_sentences_gives_what_tells_most_first() -> None:
    turn = (
        "Hello. I've been thinking about the apprentice idea. It really makes sense for me to start with someone"
        " trusted, like my cousin. So, what's the plan for putting together this 'Apprentice Task List' you mentioned?"
    )
    parts = parts_of(turn)
    assert parts[0] == "what's the plan for putting together this 'Apprentice Task List' you mentioned?"
    assert len(parts) == 3
    assert not any(part.startswith("Hello") for part in parts)


def test_a_vague_question_takes_the_topic_of_the_sentence_before() -> None:
    parts = parts_of(
        "I'm back. I've started the mind map for the Colonial Period. What's the next step for this section?"
    )
    assert parts[0].startswith("What's the next step for this section? (")
    assert "Colonial" in parts[0]
    assert not any("I'm back" in part for part in parts)


def test_a_long_turn_gives_few_parts() -> None:
    turn = "\n".join(f"{n}. **Topic {n}**: details about subject number {n} for Ann." for n in range(30))
    assert len(parts_of(f"Here is all of it:\n{turn}\nWhich of these did Bob review in Rome?")) == MOST
    assert parts_of(f"Ok.\n{turn}\nWhich of these did Bob review in Rome?")[0].startswith("Which of these did Bob")


RESOLVED = [
    ("上海呢", ["北京明天的天气"], "上海明天的天气"),
    ("那上海呢？", ["北京明天的天气怎么样？", "晴天。"], "上海明天的天气怎么样？"),
    ("那后天呢？", ["北京明天的天气怎么样？", "晴天。"], "北京后天的天气怎么样？"),
    ("李雷呢？", ["韩梅梅喜欢吃什么？"], "李雷喜欢吃什么？"),
    ("年终奖呢", ["赵阳现在的年薪是多少"], "赵阳现在的年终奖是多少"),
    ("为什么呢", ["李娜为什么搬家"], "为什么呢（李娜）"),
    ("她什么时候搬去的？", ["李娜搬去了海口", "真好"], "她什么时候搬去的？（李娜、海口）"),
    ("那个餐厅叫什么？", ["昨天我们在海口吃了文昌鸡"], "那个餐厅叫什么？（海口）"),
    ("and in Berlin?", ["what is the weather in Paris tomorrow"], "what is the weather in Berlin tomorrow"),
    (
        "What about Berlin?",
        ["What is the weather in Paris tomorrow?", "It is sunny."],
        "What is the weather in Berlin tomorrow?",
    ),
    ("how about tomorrow?", ["What is the weather in Paris today?"], "What is the weather in Paris tomorrow?"),
    ("on Friday?", ["What did I do on Monday?"], "What did I do on Friday?"),
    ("and last week?", ["How far did Ann run?"], "How far did Ann run last week?"),
    ("with Bob?", ["Did Ann go to Rome with Carl last May?"], "Did Ann go to Rome with Bob last May?"),
    (
        "when did she move there?",
        ["Ann moved to Berlin with Rex.", "Nice!"],
        "when did she move there? (Ann, Berlin, Rex)",
    ),
    ("why?", ["Did Ann sell the car?", "Yes, she did."], "why? (Ann, sell, car)"),
    (
        "How much did that one cost?",
        ["Which bike did Tom buy?", "A Trek Domane."],
        "How much did that one cost? (Trek Domane, Tom)",
    ),
    ("and the second one?", ["Which laptops did I compare?"], "and the second one? (laptops, compare)"),
    (
        "what about my sister?",
        ["When is my brother's birthday?"],
        "what about my sister? (brother's, birthday)",
    ),
]


@pytest.mark.parametrize(("question", "before", "whole"), RESOLVED)
def test_what_a_question_leaves_unsaid_is_filled_in(question: str, before: list[str], whole: str) -> None:
    assert needs_context(question)
    assert resolved(question, before) == whole


@pytest.mark.parametrize(
    "question",
    [
        "",
        "What is the capital of France?",
        "When did Ann say she moved?",
        "When did my sister move and what did she buy?",
        "How much did the car cost and when did I sell it?",
        "is it true that cats sleep a lot",
        "What time is it?",
        "Is there a cafe in Rome?",
        "what did I do this week",
        "coffee",
        "other people",
        "What about me is known to be true of everyone in the whole company?" * 8,
        "北京明天的天气",
        "我这个月花了多少钱",
        "其他人喜欢什么",
        "我学吉他多久了",
        "我曾看过一部爱情电影，它的名字是？",
        "李娜说她什么时候搬家",
        "你在干什么呢",
        "咖啡",
    ],
)
def test_a_question_that_says_enough_is_left_alone(question: str) -> None:
    assert not needs_context(question)
    assert resolved(question, ["Ann moved to Berlin.", "李娜搬去了海口"]) == question


@pytest.mark.parametrize("question", ["when did she move?", "上海呢", "why?", "what about Berlin?"])
def test_with_nothing_said_before_nothing_is_made_up(question: str) -> None:
    assert resolved(question, []) == question
    assert resolved(question, ["", " "]) == question
    assert resolved(question, ["ok", "嗯"]) == question or question in resolved(question, ["ok", "嗯"])


BITS = "? ！ 。 , ， and 他 她 it there 呢 what 什么 的 是 Ann 赵阳 tomorrow 明天 ( ） “ 1. - Mr. \n"
PIECES = [
    *(question for question, _ in COMPOUND),
    *(question for question, _, _ in RESOLVED),
    *(turn for _, before, _ in RESOLVED for turn in before),
    *BITS.split(" "),
]
TEXTS = st.one_of(st.text(max_size=80), st.lists(st.sampled_from(PIECES), max_size=6).map(" ".join))


@settings(max_examples=200)
@given(TEXTS, st.lists(TEXTS, max_size=3))
def test_any_text_is_safe_and_what_comes_back_is_bounded(question: str, before: list[str]) -> None:
    parts = parts_of(question)
    assert 1 <= len(parts) <= MOST
    assert len(set(parts)) == len(parts)
    assert sum(map(len, parts)) <= MOST * (len(question) + 200)
    whole = resolved(question, before)
    assert len(whole) <= len(question) + 800
    assert needs_context(question) or whole == question
    told = {*re.findall("[a-z]{4,}", question.lower())} - {"what", "about", "then", "okay", "well", "that"}
    assert all(word in whole.lower() for word in told)


RUNS = ["a. ", "and what did ", "，谁", "1. ", "?", "上", "her ", "A", "that is it and what ", "那个", "“", "。", "\n"]
RUNS += ["5月", "Ann and ", ". ' ", "… ", "?!", "what about ", "呢", "did the ", "什么，", '."', "the other "]


@pytest.mark.parametrize("piece", RUNS)
def test_work_is_bounded(piece: str) -> None:
    text = piece * (200_000 // len(piece))
    parts_of("什么?")  # the dictionary is loaded
    for each in (text, text[: READ // 4], f"Why {text[:390]}?"):
        started = time.process_time()
        parts_of(each)
        resolved(each, [text] * 6)
        resolved(each[:399], [text] * 6)
        assert time.process_time() - started < 0.5
