"""The window of a session: what fits a budget, oldest and least important left out first."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hindsight_memory.domain import Desk, Memory, SessionState
from hindsight_memory.recall.window import window
from hindsight_memory.settings import SessionSettings
from samples import a_turn

SETTINGS = SessionSettings()
DESK = Desk(session_id="s", state=SessionState(task_goal="move the shop", decisions=("ferry",)), version=3)
TEXTS = st.sampled_from(
    ["ok", "the gate code is 8841", "仓库六点开门", "a longer message about the warehouse " * 6, "x" * 900]
)


def turns(*messages: tuple[str, float]) -> list[Memory]:
    return [a_turn(text, turn, importance=importance) for turn, (text, importance) in enumerate(messages)]


@given(st.lists(st.tuples(TEXTS, st.floats(0, 1)), max_size=30), st.integers(1, 600))
def test_it_stays_within_its_budget_and_in_order(messages: list[tuple[str, float]], budget: int) -> None:
    held = turns(*messages)
    alone = window(DESK, [], budget, SETTINGS)
    shown = window(DESK, held[::-1], budget, SETTINGS)
    assert (shown.state, shown.version) == (DESK.state, 3)
    assert shown.tokens <= max(budget, alone.tokens)
    assert [each.turn for each in shown.messages] == sorted(each.turn or 0 for each in shown.messages)
    assert len(shown.messages) + shown.left_out == len(held)
    assert all(each in held for each in shown.messages)


@given(st.lists(st.integers(1, 12), max_size=30), st.integers(1, 200))
def test_of_equal_ones_it_is_the_end_of_the_conversation(lengths: list[int], budget: int) -> None:
    held = turns(*(("word " * length, 0.5) for length in lengths))
    fitting = [each for each in held if window(Desk(session_id="s"), [each], budget, SETTINGS).messages]
    shown = window(Desk(session_id="s"), held, budget, SETTINGS).messages
    assert list(shown) == fitting[len(fitting) - len(shown) :]
    assert bool(shown) == bool(fitting)


@given(st.lists(st.tuples(TEXTS, st.floats(0, 1)), max_size=12))
def test_a_budget_that_is_large_enough_leaves_nothing_out(messages: list[tuple[str, float]]) -> None:
    shown = window(DESK, turns(*messages), 1_000_000, SETTINGS)
    assert (len(shown.messages), shown.left_out) == (len(messages), 0)


def test_what_matters_stays_before_what_is_a_little_later_and_not_for_ever() -> None:
    some = [("the gate code is 8841", 1.0), *[("chatter about lunch and rain", 0.3)] * 5]
    shown = window(Desk(session_id="s"), turns(*some), 25, SETTINGS).messages
    assert shown[0].content == "the gate code is 8841"
    many = turns(*some, *[("chatter about lunch and rain", 0.3)] * 40)
    later = window(Desk(session_id="s"), many, 25, SETTINGS).messages
    assert "the gate code is 8841" not in [each.content for each in later]
