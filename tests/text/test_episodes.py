"""Episodes: turns grouped into what a person would call one thing that happened."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_memory.domain import Outcome, Role
from hindsight_memory.text.episodes import BEHIND, SETTLED, Turn, boundaries, episodes, outcome_of, task_of, title_of

START = datetime(2026, 5, 4, 9, tzinfo=UTC)


def talk(*lines: str | tuple[int, str], step: int = 1) -> list[Turn]:
    """Turns of user and assistant in turn, a minute apart; ``(minutes, text)`` comes after a longer pause."""
    turns: list[Turn] = []
    at = START
    for number, line in enumerate(lines):
        minutes, text = line if isinstance(line, tuple) else (step, line)
        at += timedelta(minutes=minutes)
        turns.append(Turn.of(text, at, Role.ASSISTANT if number % 2 else Role.USER))
    return turns


BACKUP = (
    "The backup of the billing database fails at night",
    "The backup job writes to a storage account that is full",
    "Which storage account does the backup job use?",
    "The backup job uses the storage account billing-old",
    "Move the backup job to the storage account billing-new",
    "The backup job writes to billing-new now",
    "Run the backup of the database once",
    "The backup of the billing database took 14 minutes",
)
TRIP = (
    "I want to book a train to Lisbon for my holiday",
    "There is a night train to Lisbon on Friday",
    "Does the night train have a sleeper to Lisbon?",
    "The night train has a sleeper, 90 euros a holiday ticket",
    "Book the sleeper on the night train",
    "The sleeper on the night train to Lisbon is booked",
    "Which hotel in Lisbon is near the train?",
    "A hotel near the train station of Lisbon costs 80 euros",
)
BACKUP_ZH = (
    "计费数据库的备份昨晚失败了",
    "备份任务写入的存储账户已经满了",
    "备份任务用的是哪个存储账户？",
    "备份任务用的存储账户是旧账户",
    "把备份任务迁到新的存储账户",
    "备份任务现在写入新的存储账户",
    "再跑一次数据库的备份",
    "计费数据库的备份用了14分钟",
)
TRIP_ZH = (
    "我想订去成都度假的火车票",
    "周五有一趟去成都的夜班火车",
    "夜班火车有卧铺去成都吗？",
    "夜班火车有卧铺，车票90元",
    "订夜班火车的卧铺车票",
    "去成都的夜班火车卧铺车票已经订了",
    "成都火车站附近有什么酒店？",
    "成都火车站旁边的酒店80元",
)


@pytest.mark.parametrize(("one", "two"), [(BACKUP, TRIP), (BACKUP_ZH, TRIP_ZH), (TRIP, BACKUP), (TRIP_ZH, BACKUP_ZH)])
def test_a_change_of_words_parts_two_episodes(one: tuple[str, ...], two: tuple[str, ...]) -> None:
    assert boundaries(talk(*one, *two)) == [0, len(one)]
    assert boundaries(talk(*one)) == [0]


def test_a_long_pause_parts_and_a_short_one_only_where_the_words_differ() -> None:
    assert boundaries(talk(*BACKUP[:4], (200, BACKUP[4]), *BACKUP[5:])) == [0, 4]
    assert boundaries(talk(*BACKUP[:4], (40, BACKUP[4]), *BACKUP[5:])) == [0]
    assert boundaries(talk(*BACKUP[:4], (40, TRIP[0]), TRIP[1])) == [0, 4]
    assert boundaries(talk(*BACKUP[:4], (-300, BACKUP[4]))) == [0]


@pytest.mark.parametrize(
    "mark",
    [
        "Next task: ",
        "OK, another question: ",
        "Let's switch to something else. ",
        "另外，",
        "好的，换个话题，",
        "下一个任务：",
    ],
)
def test_who_says_that_something_else_comes_begins_an_episode(mark: str) -> None:
    assert boundaries(talk(*BACKUP[:4], mark + BACKUP[4], *BACKUP[5:])) == [0, 4]
    assert boundaries(talk(*BACKUP[:3], mark + BACKUP[3], *BACKUP[4:])) == [0]  # said by the assistant


@pytest.mark.parametrize(
    ("bye", "answer"),
    [("Thanks, bye!", "Bye, take care!"), ("先这样吧，再见", "再见！"), ("That's all for today", "You're welcome")],
)
def test_a_farewell_ends_an_episode_and_its_answer_is_part_of_it(bye: str, answer: str) -> None:
    assert boundaries(talk(*BACKUP[:4], bye, answer, BACKUP[4], *BACKUP[5:])) == [0, 6]
    assert boundaries(talk(*BACKUP[:4], bye, answer)) == [0]


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("Great, it works now", Outcome.SUCCESS),
        ("The login is fixed.", Outcome.SUCCESS),
        ("Done!", Outcome.SUCCESS),
        ("搞定了，谢谢", Outcome.SUCCESS),
        ("问题解决了", Outcome.SUCCESS),
        ("测试通过了", Outcome.SUCCESS),
        ("It doesn't work", Outcome.FAILURE),
        ("I gave up on it", Outcome.FAILURE),
        ("Still failing, sorry", Outcome.FAILURE),
        ("This is not fixed", Outcome.FAILURE),
        ("还是不行", Outcome.FAILURE),
        ("部署失败了", Outcome.FAILURE),
        ("没解决", Outcome.FAILURE),
        ("It failed at first, but now it works fine", Outcome.SUCCESS),
        ("先是失败了，后来修好了", Outcome.SUCCESS),
        ("Does it work now?", Outcome.PENDING),
        ("搞定了吗？", Outcome.PENDING),
        ("The sky is blue", Outcome.PENDING),
    ],
)
def test_the_last_word_on_how_it_ended_counts(text: str, outcome: Outcome) -> None:
    assert outcome_of(talk("Please fix the login", "It is fixed, I think?", text), asked=True) is outcome
    assert outcome_of(talk("The sky is blue"), asked=False) is None


@pytest.mark.parametrize(
    ("lines", "task"),
    [
        (
            ("Hi!", "Hello", "The port is taken. Please fix the port of the server."),
            "Please fix the port of the server.",
        ),
        (("你好", "你好！", "帮我修复登录页面的报错"), "帮我修复登录页面的报错"),
        (("Why does the import hang?",), "Why does the import hang?"),
        (("It rained all day",), None),
        (("It rained", "Please say more"), None),
    ],
)
def test_the_task_is_the_first_request_of_the_user(lines: tuple[str, ...], task: str | None) -> None:
    assert task_of(talk(*lines)) == task


def test_an_episode_is_one_thing_with_its_task_title_and_outcome() -> None:
    first, second = episodes(talk(*BACKUP, *TRIP, "It is booked. Thanks, bye!"))
    assert (first.start, first.end, second.start, second.end) == (0, 8, 8, 17)
    assert "backup" in first.title
    assert "train" in second.title
    assert first.task == "Which storage account does the backup job use?"
    assert second.task == TRIP[0]
    assert (first.outcome, second.outcome) == (Outcome.PENDING, Outcome.SUCCESS)


def test_small_talk_is_no_title() -> None:
    assert title_of(talk("Hi!", "Hello", "Good morning", "Hi", "The fridge hums")) == "The fridge hums"
    assert title_of(talk("Hi!")) == "Hi!"
    assert title_of([]) == ""
    assert boundaries([]) == [] == episodes([])


LINES = st.sampled_from(
    [*BACKUP, *TRIP, *BACKUP_ZH, *TRIP_ZH, "ok", "Thanks, bye!", "再见", "Next task: tests", "另外，部署一下", ""]
)
TALKS = st.lists(st.tuples(st.sampled_from([1, 1, 1, 1, 30, 300, -5]), LINES), max_size=90).map(
    lambda lines: talk(*lines)
)
SHORT = st.lists(st.tuples(st.sampled_from([1, 30, 300]), LINES), max_size=30).map(lambda lines: talk(*lines))


@given(TALKS, SHORT)
def test_what_is_settled_stays_whatever_comes_after(turns: list[Turn], more: list[Turn]) -> None:
    before, after = episodes(turns), episodes([*turns, *more])
    last = len(turns) - SETTLED
    assert [one for one in before if one.end <= last] == [one for one in after if one.end <= last]
    assert [at for at in boundaries(turns) if at <= last] == [at for at in boundaries([*turns, *more]) if at <= last]


@given(TALKS, st.integers(min_value=0, max_value=40))
def test_the_end_of_a_talk_can_be_read_alone(turns: list[Turn], skipped: int) -> None:
    alone = [skipped + at for at in boundaries(turns[skipped:])]
    assert [at for at in alone if at >= skipped + BEHIND] == [at for at in boundaries(turns) if at >= skipped + BEHIND]


@given(TALKS)
def test_episodes_leave_no_turn_out(turns: list[Turn]) -> None:
    found = episodes(turns)
    assert [number for one in found for number in range(one.start, one.end)] == list(range(len(turns)))


@given(st.text(max_size=300))
def test_any_text_is_safe(text: str) -> None:
    assert len(episodes([Turn.of(text, START), Turn.of(text, START, Role.ASSISTANT)])) in (1, 2)


def test_what_a_tool_says_has_no_words() -> None:
    assert Turn.of("backup backup", START, Role.TOOL).words == ()


@pytest.mark.parametrize(
    "text", ["backup of the database job {}", "备份任务{}的数据库", "x" * 3_000, "好" * 3_000, "a. " * 900]
)
def test_work_is_bounded(text: str) -> None:
    some = [Turn.of(text.format(n), START) for n in range(500)]
    turns = [replace(some[n % 500], occurred_at=START + timedelta(minutes=n)) for n in range(10_000)]
    started = time.process_time()
    episodes(turns)
    assert time.process_time() - started < 30
