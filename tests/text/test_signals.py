"""Small talk, and what must not be taken for it."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_memory.text.signals import is_small_talk


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "...",
        "?",
        "👍",
        "❤️❤️ 🎉",
        "Hi!",
        "hey there",
        "Hello, how are you?",
        "Good morning! 😊",
        "ok",
        "OK.",
        "Okay, thanks!",
        "thanks a lot!",
        "Thank you so much!!",
        "You’re welcome",
        "sounds good",
        "That sounds great, thanks!",
        "yes",
        "no",
        "haha",
        "lol",
        "Wow, awesome!",
        "Bye, take care!",
        "see you later",
        "+1",
        "ping",
        "HEARTBEAT_OK",
        "[12:30]",
        "12:30 PM",
        "2024-05-04 12:30:00",
        "2024-05-04T12:30:00Z",
        "(2024-05-04)",
        "好的",
        "好的，谢谢！",
        "好好好",
        "嗯嗯",
        "谢谢",
        "谢谢你",
        "你好",
        "哈哈哈哈",
        "没问题",
        "收到，明白了",
        "晚安～",
        "是的。",
        "ＯＫ",
    ],
)
def test_small_talk(text: str) -> None:
    assert is_small_talk(text)


@pytest.mark.parametrize(
    "text",
    [
        "Hey Caroline! I got the job",
        "Hi Caroline!",
        "Yes, Tuesday",
        "ok, 8443",
        "42",
        "3 pm",
        "100%",
        "[12:30] meeting with Bob",
        "What is my name?",
        "I love cats",
        "thanks for the book",
        "no peanuts",
        "good coffee",
        "see you tomorrow",
        "never",
        "Paris",
        "file.txt",
        "hi, my number is 555",
        "没问题，明天见",
        "好的，周三",
        "我喜欢咖啡",
        "好吃的面",
        "谢谢小明",
        "不要香菜",
        "对花生过敏",
        "ありがとう",
        "ok " * 100,
    ],
)
def test_worth_remembering(text: str) -> None:
    assert not is_small_talk(text)


@given(st.text())
def test_any_text_is_safe(text: str) -> None:
    assert is_small_talk(text) in (True, False)


@pytest.mark.parametrize(
    "text", ["好" * 79 + "x", "ha" * 39 + "!x", "ok " * 26 + "z", "hi" * 50_000, " " * 100_000, "oh" * 40]
)
def test_work_is_linear(text: str) -> None:
    started = time.process_time()
    is_small_talk(text)
    assert time.process_time() - started < 0.2
