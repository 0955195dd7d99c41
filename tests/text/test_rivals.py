"""Which texts answer a question differently, state rival values, or say the same thing again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_memory.text.rivals import answers_otherwise, rivals, tells_again

OTHERWISE = [
    ("Who is my dentist?", "My dentist is Dr. Alvarez on Pine Street.", "The user's dentist is Dr. Kowalski."),
    ("When is the board meeting?", "The board meeting is on Tuesday.", "The board meeting is on Thursday."),
    ("When is the board meeting?", "The board meeting is on Tuesday.", "Q: When is the board meeting? A: Thursday."),
    ("Who is my dentist?", "My dentist is Dr. Alvarez.", "It is no longer Dr. Alvarez. The dentist is Dr. Kowalski."),
    ("What colour is our front door?", "Our front door is green.", "The front door is yellow."),
    ("我的牙医是谁？", "我的牙医是王建国，诊所在松树路。", "用户的牙医是李明辉。"),
    ("董事会是星期几开？", "董事会在周二开。", "更新：从昨天起，董事会在周四开。"),
    ("我的团队有多少人？", "我的团队有7个人。", "用户的团队有12个人。"),
]
NOT_OTHERWISE = [
    ("Who is my dentist?", "My dentist is Dr. Alvarez.", "The user's dentist is Dr. Alvarez, says the register."),
    ("When does the clinic open?", "My dentist is Dr. Alvarez on Pine Street.", "The clinic opens at nine."),
    ("Is there a car park at the dentist's?", "My dentist is Dr. Alvarez.", "The practice has a car park."),
    ("coffee", "Likes short coffee answers", "The coffee machine is on floor two"),
    ("我的牙医是谁？", "我的牙医是王建国。", "记录显示，用户的牙医是王建国。"),
    ("诊所几点开门？", "我的牙医是王建国。", "诊所九点开门。"),
    ("", "My dentist is Dr. Alvarez.", "The dentist is Dr. Kowalski."),
]


@pytest.mark.parametrize(("question", "one", "two"), OTHERWISE)
def test_another_answer_is_seen(question: str, one: str, two: str) -> None:
    assert answers_otherwise(question, one, two)


@pytest.mark.parametrize(("question", "one", "two"), NOT_OTHERWISE)
def test_the_same_answer_and_an_answer_to_something_else_are_none(question: str, one: str, two: str) -> None:
    assert not answers_otherwise(question, one, two)


def test_rivals_state_other_values_of_one_attribute() -> None:
    assert rivals("My dentist is Dr. Alvarez.", "The user's dentist is Dr. Kowalski.")
    assert rivals("My train leaves at 7:15.", "The train leaves at 8:40.")
    assert not rivals("My dentist is Dr. Alvarez.", "Dr. Alvarez is a dentist.")
    assert not rivals("I like coffee.", "I like tea.")
    assert not rivals("My dentist is Dr. Alvarez.", "The library opens in May.")


def test_what_is_said_again_has_the_same_values() -> None:
    assert tells_again("The user's dentist is Dr. Kowalski.", "The dentist of the user is Dr. Kowalski!")
    assert tells_again("用户的牙医是李明辉。", "用户的牙医是李明辉")
    assert not tells_again("The dentist is Dr. Kowalski.", "The dentist is Dr. Alvarez.")
    assert not tells_again("The meeting is at 3pm.", "The meeting is at 4pm.")
    assert not tells_again("The door is open.", "The door is not open.")


@given(st.text(max_size=120), st.text(max_size=120), st.text(max_size=120))
def test_any_texts_can_be_held_against_each_other(question: str, one: str, two: str) -> None:
    assert tells_again(one, one)
    assert not answers_otherwise(question, one, one)
    assert isinstance(answers_otherwise(question, one, two), bool)
    assert not rivals(one, one)
