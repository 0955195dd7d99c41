"""Which key of the asker a question asks for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_memory.text.keys import is_single
from hindsight_memory.text.sought import keys_sought


@pytest.mark.parametrize(
    ("question", "key"),
    [
        ("What is my name?", "profile.name"),
        ("do you remember my name", "profile.name"),
        ("Who am I?", "profile.name"),
        ("我叫什么名字", "profile.name"),
        ("你还记得我叫什么吗?", "profile.name"),
        ("我的名字是什么？", "profile.name"),
        ("Which city do I live in?", "profile.home_city"),
        ("where do I live now", "profile.home_city"),
        ("Where am I based?", "profile.home_city"),
        ("我现在住在哪个城市?", "profile.home_city"),
        ("我住哪", "profile.home_city"),
        ("What do I do for a living?", "profile.job"),
        ("我是做什么工作的", "profile.job"),
        ("Who is my employer?", "profile.employer"),
        ("where do I work?", "profile.employer"),
        ("我在哪家公司上班?", "profile.employer"),
        ("How old am I?", "profile.age"),
        ("我今年几岁了", "profile.age"),
        ("When's my birthday", "profile.birthday"),
        ("我的生日是哪天?", "profile.birthday"),
        ("Where am I from?", "profile.origin"),
        ("我是哪里人", "profile.origin"),
        ("What's my email address?", "profile.email"),
        ("我的邮箱是什么", "profile.email"),
        ("what is my phone number?", "profile.phone"),
        ("我的手机号是多少", "profile.phone"),
        ("What's my address?", "profile.address"),
        ("我的家庭住址是什么", "profile.address"),
        ("What time zone am I in?", "profile.time_zone"),
        ("我在哪个时区", "profile.time_zone"),
        ("what's my blood type", "profile.blood_type"),
        ("我的血型", "profile.blood_type"),
        ("what is my nationality", "profile.nationality"),
        ("我是哪国人", "profile.nationality"),
        ("Am I married?", "profile.marital_status"),
        ("我结婚了吗", "profile.marital_status"),
        ("What should you call me?", "profile.form_of_address"),
        ("你应该怎么称呼我?", "profile.form_of_address"),
        ("Am I a vegetarian?", "preference.diet"),
        ("我是吃素的吗", "preference.diet"),
    ],
)
def test_a_question_asks_for_a_key(question: str, key: str) -> None:
    assert keys_sought(question) == (key,)
    assert is_single(key)


@pytest.mark.parametrize(
    "question",
    [
        "Where does Mia live?",
        "What is her name?",
        "what is my dog's name",
        "What is my name server?",
        "Where do I live-stream from?",
        "where do I work out",
        "Who do I work with?",
        "What city do I fly to?",
        "how old is my car",
        "what is my phone case made of",
        "我妈妈叫什么名字",
        "我的狗叫什么名字",
        "我女朋友是哪里人",
        "她住在哪里",
        "我朋友住哪",
        "我想去哪里工作",
        "What is my favourite city of all?",
        "I live in Berlin.",
        "",
    ],
)
def test_what_asks_for_something_else_asks_for_no_key(question: str) -> None:
    assert keys_sought(question) == ()


@given(st.text(max_size=400))
def test_any_text_may_be_asked(text: str) -> None:
    assert isinstance(keys_sought(text), tuple)
