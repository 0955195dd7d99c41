"""What a new statement does to an old one: tables of cases in both languages, and what holds of all texts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_memory.text.bearing import changed, same
from hindsight_memory.text.statements import MOST_STATEMENTS, statements, wording

CHANGED = [
    ("denied", "The staging server accepts uploads", "The staging server does not accept uploads"),
    ("denied", "There is no lift in the house", "There is a lift in the house"),
    ("denied", "我喜欢喝咖啡", "我不喜欢喝咖啡"),
    ("opposed", "I love olives", "I hate olives"),
    ("opposed", "用户喜欢喝拿铁", "用户讨厌拿铁"),
    ("opposed", "The export is enabled", "The export is disabled"),
    ("recounted", "The meeting is at 3pm", "The meeting is at 4pm"),
    ("recounted", "会议在下午3点开始", "会议在下午四点开始"),
    (
        "recounted",
        "I've read 12 chapters of Middlemarch so far.",
        "By the way, I've read 20 chapters of Middlemarch now!",
    ),
    ("recounted", "I have a total of three bikes in the shed", "I now have four bikes in the shed"),
    ("recounted", "My best time for the harbour run is 27:12", "I just beat my best time for the harbour run: 25:50"),
    ("recounted", "My rent is 900 euros", "The rent went up, it's 980 euros now and my flat is still cold"),
    ("recounted", "我年薪30万", "涨工资了，现在年薪42万"),
    ("recounted", "I have two cats", "I have three cats now"),
    ("recounted", "我有两只猫", "现在有三只猫了"),
    ("recounted", "门锁密码是4711", "门锁密码现在是4712"),
    ("given up", "We use Jenkins for our builds", "We switched from Jenkins to Buildkite"),
    ("given up", "I eat meat every day", "I stopped eating meat because of my doctor"),
    ("given up", "手机用的是小米 14", "小米 14 换成了华为"),
    ("given up", "我每周都去打羽毛球", "以后不打羽毛球了"),
    ("given up", "早上都是吃面包", "早上改成喝粥了"),
    ("refilled", "I live in Berlin", "I moved to Lisbon last month"),
    ("refilled", "我住在浦东", "搬家了，我现在住在徐汇区"),
    ("refilled", "My favorite color is blue", "My favorite color is green"),
    ("replaced", "We use React for the frontend", "We switched to Vue"),
    ("replaced", "项目用的是 React", "改用 Vue 了"),
    ("moved on", "早餐一直都是面包", "早餐也改了，现在喝粥"),
]
UNCHANGED = [
    ("I love cats", "I love dogs"),
    ("I love cats", "My sister hates cats"),
    ("I love cats", "Do you hate cats?"),
    ("I have two cats", "My neighbour has three cats"),
    ("The meeting is at 3pm", "The dentist is at 4pm"),
    ("I do not eat meat", "I do not eat fish"),
    ("She moved to Oslo", "I did not move to Oslo"),
    ("It rained for 3 days", "It rained for 5 days"),
    ("I ran 5 km on Monday", "I ran 8 km on Friday"),
    ("Room 101 is free", "Room 102 is free"),
    ("Tigran called", "Iran called"),
    ("port 1 belongs to service 1", "port 2 belongs to service 2"),
    ("text 1", "text 2"),
    ("memory number 7", "memory number 8"),
    ("Phase 2 is done", "Phase 3 is done"),
    ("Room 101 is the office", "Room 102 is the kitchen"),
    ("Worries", "no worries!"),
    ("I live in Berlin", "I live in Berlin with my dog"),
    ("I live in Berlin", "I live near the river"),
    ("We use Postgres for everything", "We switched to Vue"),
    ("We use React for the site", "We use Vue for the shop"),
    ("My favorite food is soup", "My favorite color is blue"),
    ("我住在上海", "我妈妈不住在上海"),
    ("我喜欢的歌手很多", "我讨厌的歌手也很多"),
    ("我有两个孩子", "同事有三个孩子"),
    ("用户喜欢喝拿铁", "用户喜欢喝红茶"),
    ("昨天跑了5公里", "昨天跑了8公里，很累"),
    ("天气不错", "天气很好"),
]
SAME = [
    ("I love cats", "I really love cats!"),
    ("The server is in Oslo.", "the server's in Oslo"),
    ("Two dogs are running", "2 dogs are running"),
    ("用户喜欢喝拿铁", "用户很喜欢喝拿铁。"),
    ("我有3个孩子", "我有三个孩子"),
]
DIFFERENT = [
    ("I love cats", "He loves cats"),
    ("I live in Oslo", "I lived in Oslo"),
    ("I was happy", "I am happy"),
    ("I will go to Oslo", "I go to Oslo"),
    ("A flight from Oslo to Rome", "A flight from Rome to Oslo"),
    ("A flight to Paris", "A flight from Paris"),
    ("Tea or coffee", "Tea and coffee"),
    ("Not the red but the blue one", "The red but not the blue one"),
    ("The meeting is at 3pm", "The meeting is at 4pm"),
    ("Room 101", "Room 102"),
    ("You like tea", "Do you like tea?"),
    ("I love cats", "I do not love cats"),
    ("我去过北京", "我去北京"),
    ("猫咬狗", "狗咬猫"),
    ("喜欢喝茶", "不喜欢喝茶"),
]
_UNITS = [
    *"3,.?!我不",
    "I",
    "you",
    "my",
    "sister",
    "not",
    "don't",
    "love",
    "hate",
    "25",
    "cats",
    "喜欢",
    "换成了",
    "because",
    "to",
]
TEXTS = st.one_of(
    st.text(max_size=200),
    st.lists(
        st.sampled_from(_UNITS),
        max_size=20,
    ).map(" ".join),
)


@pytest.mark.parametrize(("rule", "old", "new"), CHANGED)
def test_a_change_is_seen(rule: str, old: str, new: str) -> None:
    found = changed(old, new)
    assert found is not None
    assert found.rule == rule
    assert found.old in old.replace("’", "'")
    assert not same(old, new)


@pytest.mark.parametrize(("old", "new"), UNCHANGED)
def test_what_only_looks_alike_changes_nothing(old: str, new: str) -> None:
    assert changed(old, new) is None
    assert changed(new, old) is None


@pytest.mark.parametrize(("one", "two"), SAME)
def test_other_words_for_the_same(one: str, two: str) -> None:
    assert same(one, two)
    assert changed(one, two) is None


@pytest.mark.parametrize(("one", "two"), DIFFERENT)
def test_what_is_not_the_same(one: str, two: str) -> None:
    assert not same(one, two)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Would love to share it.", "so I figured why not share the love."),
        ("Keep going for your dreams and don't quit!", "Keep going after your dreams!"),
        ("You're right", "It's just not right."),
    ],
)
def test_in_conversation_a_denial_counts_of_oneself_only(old: str, new: str) -> None:
    assert changed(old, new, spoken=True) is None


def test_what_the_new_text_says_as_well_has_not_changed() -> None:
    old = "I have 3 cats. I do not like dogs."
    assert changed(old, "I like dogs now. Still I do not like dogs near my 3 cats.") is None


@given(TEXTS)
def test_a_text_never_changes_itself(text: str) -> None:
    assert changed(text, text) is None
    assert same(text, text) == bool(wording(text))


@given(TEXTS, TEXTS)
def test_sameness_goes_both_ways(one: str, two: str) -> None:
    assert same(one, two) == same(two, one)
    assert not (same(one, two) and changed(one, two))


@pytest.mark.parametrize(
    "text", ["no " * 40_000, "不" * 40_000, "1 " * 40_000, "a,b;" * 20_000, "\ud800 not \x00 3", "'" * 9_000]
)
def test_hostile_texts_are_read_within_bounds(text: str) -> None:
    assert len(statements(text)) <= MOST_STATEMENTS
    changed(text, text + "!")
    same(text, "x")
