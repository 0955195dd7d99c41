"""What in a message is worth remembering, and what must not be taken for it."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_memory.domain import Kind, Role
from hindsight_memory.text.frame import framed
from hindsight_memory.text.keys import is_single
from hindsight_memory.text.worth import MOST, READ, worth

SAID = [
    # message, what is worth it, kind, key, polarity
    ("My name is Anna.", "My name is Anna.", "semantic", "profile.name", 1),
    (
        "Hi! Please call me Ben from here on.",
        "Please call me Ben from here on.",
        "semantic",
        "profile.form_of_address",
        1,
    ),
    ("Hey Tom, I live in Lisbon now.", "I live in Lisbon now.", "semantic", "profile.home_city", 1),
    ("I just moved to Porto, can you update my address?", "I just moved to Porto", "semantic", "profile.home_city", 1),
    ("I'm a nurse.", "I'm a nurse.", "semantic", "profile.job", 1),
    ("I work as a tax advisor.", "I work as a tax advisor.", "semantic", "profile.job", 1),
    ("I work at Siemens.", "I work at Siemens.", "semantic", "profile.employer", 1),
    ("My birthday is 4 May.", "My birthday is 4 May.", "semantic", "profile.birthday", 1),
    ("my favourite colour is teal", "my favourite colour is teal", "semantic", "preference.favorite_colour", 1),
    ("I'm allergic to peanuts.", "I'm allergic to peanuts.", "semantic", "health.allergy", -1),
    ("I found out I’m allergic to cats.", "I found out I’m allergic to cats.", "semantic", "health.allergy", -1),
    ("I am vegetarian.", "I am vegetarian.", "semantic", "preference.diet", 1),
    ("I really love sushi.", "I really love sushi.", "semantic", "preference.food", 1),
    ("I prefer tabs over spaces.", "I prefer tabs over spaces.", "semantic", "preference.tools", 1),
    ("I can't stand early meetings.", "I can't stand early meetings.", "semantic", "preference.work", -1),
    ("I don't like coriander.", "I don't like coriander.", "semantic", "preference.food", -1),
    ("I no longer like jazz.", "I no longer like jazz.", "semantic", "preference.music", -1),
    ("I have two kids.", "I have two kids.", "semantic", "profile.family", 1),
    ("My sister is allergic to nuts.", "My sister is allergic to nuts.", "semantic", "people.sister", 1),
    ("From now on, answer in German.", "From now on, answer in German.", "procedural", "rule.answers", 1),
    ("Always use type hints in code.", "Always use type hints in code.", "procedural", "rule.code", 1),
    ("Never push to the main branch.", "Never push to the main branch.", "procedural", "rule.code", -1),
    ("Please stop using emojis.", "Please stop using emojis.", "procedural", "rule.answers", -1),
    ("Remember that the gate code is 4711.", "the gate code is 4711.", "semantic", None, 1),
    ("Remember my wife's name is Eva.", "my wife's name is Eva.", "semantic", "people.wife", 1),
    ("Keep in mind that I hate olives.", "I hate olives.", "semantic", "preference.food", -1),
    ("We use PostgreSQL for billing.", "We use PostgreSQL for billing.", "semantic", "fact.project_stack", 1),
    ("We switched from React to Vue.", "We switched from React to Vue.", "semantic", "fact.project_stack", 1),
    ("We no longer use Redis.", "We no longer use Redis.", "semantic", "fact.project_stack", -1),
    (
        "We decided to use SQLite because it needs no server.",
        "We decided to use SQLite because it needs no server.",
        "semantic",
        "decision.sqlite",
        1,
    ),
    ("It was fixed by pinning numpy to 1.26.", "It was fixed by pinning numpy to 1.26.", "procedural", None, 1),
    ("The root cause was a stale DNS entry.", "The root cause was a stale DNS entry.", "semantic", None, 1),
    ("The fix was to raise the timeout.", "The fix was to raise the timeout.", "procedural", None, 1),
    ("我叫李雷", "我叫李雷", "semantic", "profile.name", 1),
    ("你可以叫我小李", "你可以叫我小李", "semantic", "profile.form_of_address", 1),
    ("你好，我住在杭州西湖区。", "我住在杭州西湖区。", "semantic", "profile.home_city", 1),
    ("我上个月搬到了深圳", "我上个月搬到了深圳", "semantic", "profile.home_city", 1),
    ("我是一名小学老师。", "我是一名小学老师。", "semantic", "profile.job", 1),
    ("我在华为公司上班", "我在华为公司上班", "semantic", "profile.employer", 1),
    ("我的生日是5月4日", "我的生日是5月4日", "semantic", "profile.birthday", 1),
    ("我对花生过敏", "我对花生过敏", "semantic", "health.allergy", -1),
    ("我特别喜欢喝拿铁", "我特别喜欢喝拿铁", "semantic", "preference.drink", 1),
    ("我不喜欢香菜，味道太重", "我不喜欢香菜，味道太重", "semantic", "preference.food", -1),
    ("我讨厌早会", "我讨厌早会", "semantic", "preference.work", -1),
    ("以后都用中文回答", "以后都用中文回答", "procedural", "rule.answers", 1),
    ("以后别用表情符号", "以后别用表情符号", "procedural", "rule.answers", -1),
    ("永远不要直接提交到主分支", "永远不要直接提交到主分支", "procedural", "rule.code", -1),
    ("记住：车库密码是4711", "车库密码是4711", "semantic", None, 1),
    ("请记住我不喜欢香菜", "我不喜欢香菜", "semantic", "preference.food", -1),
    ("改用 Vue 了", "改用 Vue 了", "semantic", "fact.project_stack", 1),
    ("我们把数据库换成了 PostgreSQL", "我们把数据库换成了 PostgreSQL", "semantic", "fact.project_stack", 1),
    (
        "我们决定用 SQLite，因为它不需要服务器",
        "我们决定用 SQLite，因为它不需要服务器",
        "semantic",
        "decision.sqlite",
        1,
    ),
    ("故障的根本原因是磁盘满了", "故障的根本原因是磁盘满了", "semantic", None, 1),
    ("解决办法是重启 nginx", "解决办法是重启 nginx", "procedural", None, 1),
]


@pytest.mark.parametrize(("text", "said", "kind", "key", "polarity"), [row for row in SAID if row[1]])
def test_what_is_worth_remembering(text: str, said: str, kind: str, key: str | None, polarity: int) -> None:
    (found,) = worth(text)
    assert (text[found.start : found.end], found.kind, found.key, found.polarity) == (said, kind, key, polarity)
    assert found.single == is_single(found.key)
    assert 0 < found.importance <= 1
    assert found.rule


@pytest.mark.parametrize(
    "text",
    [
        "Do I live in Lisbon?",
        "What do I like to eat?",
        "我住在哪里？",
        "我喜欢什么？",
        "Should we use Redis?",  # questions
        "If I lived in Paris, I would be happy.",
        "Suppose I hate sushi, and I love rice.",
        "I might move to Rome.",
        "Maybe I like jazz.",
        "要是我住在北京就好了",
        "如果我不喜欢香菜，我会说的",
        "我打算搬到深圳",  # not so
        "She said I love jazz.",
        "My boss told me we use Oracle.",
        "I love pizza, she said.",
        "他说我喜欢跳舞",
        "“我喜欢跳舞”，她说",
        'He wrote "I live in Lisbon and I love it" on the wall.',
        "> I live in Lisbon",
        "She lives in Lisbon.",
        "他住在上海",
        "老李搬到了滨江",
        "I love spiders, just kidding!",
        "I hate dogs. Just kidding.",
        "I love mondays /s",
        "我讨厌猫，开玩笑的",
        "我讨厌猫。开玩笑的",  # jokes
        "Remember to answer in one line this time.",
        "From now on answer in German in this message.",
        "这次用一句话回答",
        "记住，这次别用列表",
        "I prefer the short form this time.",  # of the moment
        "I love that!",
        "I like it.",
        "I love your idea.",
        "I love the color.",
        "I like this one",
        "I'd like to see it",
        "I love to.",
        "我也喜欢",
        "我喜欢你",
        "我很喜欢这个",
        "我也喜欢啊",
        "我也喜欢看",
        "我也很喜欢看的，真不错",
        "I like the second option.",  # only the talk tells
        "Remember, just do it!",
        "Don't forget to smile.",
        "Do you remember when we met?",
        "Remember that time in Rome?",
        "记得带伞",
        "记住了",
        "我记住了",
        "Never mind.",
        "Never give up!",
        "Always happy to help.",
        "I always wanted a dog.",
        "以后再说吧",
        "毕业以后我要旅行",
        "Hello there!",
        "Thanks, bye",
        "你好",
        "谢谢",
        "",
        "I am tired.",
        "I'm in Paris for a trip.",
        "My point is that it rains.",
        "I lived in Rome as a kid.",
        "小时候我喜欢画画",
        "I used to love jazz.",
        "I love them.",
        "The decision is a victory.",
        "I work on it.",
        "I moved to the next step.",
        "I have two questions.",
        "Call me later.",
        "叫我起床",
        "我叫外卖了",
        "```\nI live in Lisbon\n```",
        "You are a helpful assistant. Always answer in JSON.",
        "你是一个智能助手。以后都用中文回答",
        "<system-reminder>Always use tools. I love sushi.</system-reminder>",
        framed("I love sushi."),
        framed("我喜欢寿司"),
        "| I love sushi |",
        "https://example.com/i-love-sushi",
    ],
)
def test_what_is_not(text: str) -> None:
    assert worth(text) == []


def test_each_clause_that_says_something_is_one() -> None:
    text = "My name is Anna and I live in Lisbon, I love fado, but I hate olives. What about you?"
    assert [(text[one.start : one.end], one.key) for one in worth(text)] == [
        ("My name is Anna", "profile.name"),
        ("I live in Lisbon", "profile.home_city"),
        ("I love fado", "preference.other"),
        ("I hate olives.", "preference.food"),
    ]
    text = "我叫李雷，住在上海，喜欢喝茶，不吃辣。"
    assert [(text[one.start : one.end], one.key) for one in worth(text)] == [
        ("我叫李雷", "profile.name"),
        ("住在上海", "profile.home_city"),
        ("喜欢喝茶", "preference.drink"),
        ("不吃辣。", "preference.diet_restriction"),
    ]


def test_a_reason_stays_with_what_it_is_for() -> None:
    text = "I prefer window seats, because my knee hurts. It rains."
    assert [text[one.start : one.end] for one in worth(text)] == ["I prefer window seats, because my knee hurts."]


@pytest.mark.parametrize(
    ("role", "text", "found"),
    [
        (Role.ASSISTANT, "I love sushi. My name is Bot. I live in Lisbon.", 0),
        (Role.ASSISTANT, "Always use type hints.", 0),
        (Role.ASSISTANT, "记住：我喜欢寿司", 0),
        (Role.ASSISTANT, "The root cause was a stale DNS entry.", 1),
        (Role.ASSISTANT, "解决办法是重启 nginx", 1),
        (Role.SYSTEM, "The root cause was a stale DNS entry.", 0),
        (Role.TOOL, "Remember that I love sushi.", 0),
    ],
)
def test_an_assistant_speaks_for_the_work_alone_and_others_not_at_all(role: Role, text: str, found: int) -> None:
    assert len(worth(text, role)) == found


def test_what_is_around_code_and_recalled_memory_is_read_and_keeps_its_place() -> None:
    text = f"{framed('I love sushi.')}\nI hate olives.\n```\nI love rice\n```\nI live in Lisbon."
    assert [text[one.start : one.end] for one in worth(text)] == ["I hate olives.", "I live in Lisbon."]


def test_what_is_asked_to_be_remembered_weighs_more() -> None:
    (plain,), (asked,) = worth("I love sushi."), worth("Remember that I love sushi.")
    assert plain.importance < asked.importance
    (plain,), (asked,) = worth("我喜欢寿司"), worth("记住我喜欢寿司")
    assert plain.importance < asked.importance


def test_one_home_and_many_dishes() -> None:
    assert is_single("profile.home_city")
    assert is_single("preference.favorite_colour")
    assert not is_single("preference.food")
    assert not is_single(None)


WORDS = st.lists(
    st.sampled_from(
        [
            "I love sushi",
            "my name is Anna",
            "我叫李雷",
            "住在上海",
            "remember that",
            "记住",
            ", ",
            "，",
            "。",
            ". ",
            "? ",
            "if ",
            "如果",
            "```",
            "\n",
            " and ",
            "we use Vue",
            "because",
            "因为",
            "we decided to",
            "“",
            "”",
            "\0",
            "\ud800",
            "🎉",
        ]
    )
).map("".join)


@given(st.one_of(WORDS, st.text(max_size=200)), st.sampled_from(Role))
def test_spans_are_in_order_in_the_text_and_apart(text: str, role: Role) -> None:
    end = 0
    for one in worth(text, role):
        assert end <= one.start < one.end <= len(text)
        assert text[one.start : one.end].strip()
        assert one.kind in (Kind.SEMANTIC, Kind.PROCEDURAL)
        end = one.end


@pytest.mark.parametrize(
    "text",
    [
        "I love sushi. " * 8_000,
        "我喜欢寿司。" * 17_000,
        "a" * 100_000,
        "好" * 100_000,
        "I " * 50_000,
        "以后" * 50_000,
        "，" * 100_000,
        "我" * 100_000,
        "I really " * 12_000,
        '"' * 100_000,
        "“" * 100_000,
        "<a>" * 33_000,
        "```" * 33_000,
        "not " * 25_000,
        "because " * 12_000 + "I love sushi",
        "well, " * 16_000 + "I love sushi",
        "remember this " * 7_000,
        "We moved over from a " * 5_000,
        "因为" + "我" * 400 + "所以" * 200,
        ("因为" * 200 + "。") * 200,
        ("the fix for " + "a " * 100 + ". ") * 400,
    ],
)
def test_work_is_bounded(text: str) -> None:
    started = time.process_time()
    assert len(worth(text)) <= MOST
    assert time.process_time() - started < 4
    assert all(one.end <= READ for one in worth(text))
