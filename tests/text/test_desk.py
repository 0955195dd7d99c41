"""Rules of the desk: what is read off a message, what answers a question, what a patch makes of a state."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_memory.domain import Role, SessionState, StatePatch
from hindsight_memory.errors import InvalidInput
from hindsight_memory.text.desk import Said, observed, patched
from hindsight_memory.text.desk_rules import is_taken_back, read_off

FIELDS = ("task_goal", "confirmed_facts", "open_questions", "decisions", "discarded")


def read(text: str, role: Role = Role.USER) -> dict[str, Any]:
    patch = read_off(text, role)
    found = {name: getattr(patch, name) for name in FIELDS}
    return {name: value if isinstance(value, str) else list(value) for name, value in found.items() if value}


GOALS = {
    "I want to build a REST API for our bookshop.": "I want to build a REST API for our bookshop",
    "Hi! Can you help me plan a trip to Kyoto?": "Can you help me plan a trip to Kyoto?",
    "ok, let's refactor the payment module": "let's refactor the payment module",
    "My goal is to run a marathon in October.": "My goal is to run a marathon in October",
    "I need to fix the login page before Friday.": "I need to fix the login page before Friday",
    "We'd like to migrate our wiki": "We'd like to migrate our wiki",
    "帮我写一份周报": "帮我写一份周报",
    "你好，能帮我订一张去上海的机票吗？": "能帮我订一张去上海的机票吗？",
    "我想学做川菜": "我想学做川菜",
    "我想要搭建一个博客。": "我想要搭建一个博客",
    "目标是下周上线新版本。": "目标是下周上线新版本",
    "我们的目标是把延迟降到 50 毫秒以下": "我们的目标是把延迟降到 50 毫秒以下",
    "任务：整理上周的会议记录": "任务：整理上周的会议记录",
}


@pytest.mark.parametrize("text", GOALS)
def test_goals(text: str) -> None:
    assert read(text) == {"task_goal": GOALS[text]}


DECISIONS = {
    "We'll go with PostgreSQL.": "We'll go with PostgreSQL",
    "Okay, let's go with Vue then.": "let's go with Vue then",
    "I've decided to move to Lisbon.": "I've decided to move to Lisbon",
    "We decided against microservices": "We decided against microservices",
    "Decision: ship on Friday": "Decision: ship on Friday",
    "决定用 Go 重写后端。": "决定用 Go 重写后端",
    "我们决定了，周五发布": "我们决定了，周五发布",
    "那就用 SQLite 吧": "就用 SQLite 吧",
    "最终决定采用方案二": "决定采用方案二",
    "还是用 Redis 吧。": "还是用 Redis 吧",
}


@pytest.mark.parametrize("text", DECISIONS)
def test_decisions(text: str) -> None:
    assert read(text) == {"decisions": [DECISIONS[text]]}


DISCARDED = {
    "Forget about React.": "Forget about React",
    "We're not using Redis any more.": "We're not using Redis any more",
    "Not React any more": "Not React any more",
    "I don't need the hotel anymore.": "I don't need the hotel anymore",
    "Let's drop the idea of a mobile app": "drop the idea of a mobile app",
    "不要红色的了": "不要红色的了",
    "算了，不用 React 了": "不用 React 了",
    "我们不考虑方案一了": "我们不考虑方案一了",
    "放弃微服务方案": "放弃微服务方案",
}


@pytest.mark.parametrize("text", DISCARDED)
def test_what_is_given_up(text: str) -> None:
    found = read(text)["discarded"]
    assert found in ([DISCARDED[text]], [f"Let's {DISCARDED[text]}"])


FACTS = {
    "Yes, the server runs on port 8443.": "the server runs on port 8443",
    "Correct. Our database is PostgreSQL 16.": "Our database is PostgreSQL 16",
    "That's right, we use Kafka for events": "we use Kafka for events",
    "I can confirm that the invoice was paid": "the invoice was paid",
    "对，我们用的是 MySQL 8": "我们用的是 MySQL 8",
    "没错，服务器在法兰克福。": "服务器在法兰克福",
    "确认：会议在周三下午三点": "会议在周三下午三点",
}


@pytest.mark.parametrize("text", FACTS)
def test_confirmed_facts(text: str) -> None:
    assert read(text) == {"confirmed_facts": [FACTS[text]]}


@pytest.mark.parametrize(
    "text",
    ["Which port does staging use?", "Should we go with Vue?", "为什么部署会失败？", "这个接口支持分页吗"],
)
def test_questions(text: str) -> None:
    assert read(text) == {"open_questions": [text]}


@pytest.mark.parametrize(
    "text",
    [
        # wishes, asides, doubts
        "I want to know why it fails.",
        "I want to build a house someday.",
        "I wanted to build a boat",
        "Let's see.",
        "I need to go to bed",
        "Let's move on",
        "help me please",
        "我想应该没问题",
        "我想你了",
        "他帮我了很多",
        "我准备好了",
        "请帮我改一下",
        "I was told to build it",
        # undecided, hypothetical, others'
        "We haven't decided yet.",
        "Maybe we'll go with Vue.",
        "If it rains, we'll go with the museum.",
        "John said, let's go with React.",
        "He wrote: “we'll go with React”",
        "还没决定用哪个",
        "取决于价格",
        "就用完了",
        "如果便宜的话，就用这个",
        "小王说，我们决定用 Go",
        "“我们决定用 Go” 是他的原话",
        "I'll go with my mom to the store",
        "> We'll go with React",
        "```\nwe'll go with React\n```",
        # kept
        "Don't forget about the meeting.",
        "Forget about it.",
        "I don't need it.",
        "不用谢了",
        "不要紧了",
        "不要忘了带伞",
        "水管不再漏水",
        "not only that",
        # assent without a fact
        "Yes, that is great!",
        "Yes, please do it.",
        "Yes, I have a question.",
        "yes",
        "对，请这样做",
        "嗯，我是想问一下价格",
        "Yes, it is.",
        "Yes, I think the port is 8443",
        "是的，可能是 MySQL",
        # no questions
        "Right?",
        "How are you?",
        "Can you fix it?",
        "好吗？",
        "What about it?",
        "It's nice, you know?",
        "Ok?",
        "",
        "数据库密码放在哪里",
    ],
)
def test_what_is_left_alone(text: str) -> None:
    assert read(text) == {}


def test_several_clauses_of_one_message() -> None:
    assert read("Forget about React, we'll go with Vue. Which router does it use?") == {
        "discarded": ["Forget about React"],
        "decisions": ["we'll go with Vue"],
        "open_questions": ["Which router does it use?"],
    }
    assert read("我们不考虑方案一了，就用方案二。") == {
        "discarded": ["我们不考虑方案一了"],
        "decisions": ["就用方案二"],
    }


def test_an_assistant_decides_and_nothing_else_and_tools_say_nothing() -> None:
    text = "We'll go with Redis. Let's use Go. I want to build it. Which port? Forget about React."
    assert read(text, Role.ASSISTANT) == {"decisions": ["We'll go with Redis"]}
    assert read(text, Role.TOOL) == read(text, Role.SYSTEM) == {}


def test_a_pasted_list_gives_nothing() -> None:
    assert read("\n".join(f"We decided to keep item {number}." for number in range(6))) == {}


ENDS = st.sampled_from(["", ". ", "\n", "，", "? ", " and ", "了", "吗？", '"', "「", "\n> ", "```"])
PIECES = st.sampled_from(
    [*GOALS, *DECISIONS, *DISCARDED, *FACTS, "If", "如果", "maybe", "说", "Yes", "不", "\ud7ff", "x" * 400]
)


@given(st.lists(st.tuples(PIECES | st.text(max_size=12), ENDS), max_size=8), st.sampled_from(Role))
def test_every_entry_stands_in_the_message(parts: list[tuple[str, str]], role: Role) -> None:
    text = "".join(piece + end for piece, end in parts)
    patch = read_off(text, role)
    entries = [*([patch.task_goal] if patch.task_goal else [])]
    for name in FIELDS[1:]:
        entries += getattr(patch, name)
    for entry in entries:
        assert entry in text
        assert 0 < len(entry) <= 300
        assert entry == entry.strip()


# What answers, what takes back


def after(state: SessionState, *turns: tuple[Role, str]) -> SessionState:
    said = [Said(role, text) for role, text in turns]
    for place, each in enumerate(said):
        state = patched(state, observed(state, each, said[max(place - 2, 0) : place]))
    return state


ASKED = (Role.USER, "Which port does staging use?")


@pytest.mark.parametrize(
    ("replies", "open_"),
    [
        ([(Role.ASSISTANT, "Staging uses port 8443.")], 0),
        ([(Role.ASSISTANT, "I'm not sure which port staging uses.")], 1),
        ([(Role.ASSISTANT, "Let me check the staging port.")], 1),
        ([(Role.ASSISTANT, "Which staging do you mean?")], 1),
        ([(Role.ASSISTANT, "Lisbon is lovely in June.")], 1),
        ([(Role.ASSISTANT, "8443."), (Role.USER, "got it, thanks")], 0),
        ([(Role.ASSISTANT, "8443."), (Role.USER, "hello")], 1),
        ([(Role.ASSISTANT, "I don't know."), (Role.USER, "thanks")], 1),
        ([(Role.USER, "never mind")], 0),
        ([(Role.ASSISTANT, "Sorry?"), (Role.USER, "算了")], 0),
    ],
)
def test_a_question_is_closed_only_where_it_is_plain(replies: list[tuple[Role, str]], open_: int) -> None:
    state = after(SessionState(), ASKED, *replies)
    assert len(state.open_questions) == open_
    assert state.discarded == ((ASKED[1],) if replies[-1][1] in {"never mind", "算了"} else ())


def test_yes_and_no_answer_what_asks_for_them() -> None:
    assert after(SessionState(), (Role.USER, "Does it have a limit?"), (Role.ASSISTANT, "No.")).open_questions == ()
    assert (
        after(
            SessionState(), (Role.USER, "这个接口支持分页吗？"), (Role.ASSISTANT, "是的，每页二十条。")
        ).open_questions
        == ()
    )
    asked = after(SessionState(), (Role.USER, "Where is the key kept?"), (Role.ASSISTANT, "No."))
    assert len(asked.open_questions) == 1


def test_a_question_that_nobody_said_is_left_alone() -> None:
    mine = SessionState(open_questions=("which port does it use?",))
    assert after(mine, (Role.USER, "hello"), (Role.ASSISTANT, "It uses port 8443."), (Role.USER, "thanks")) == mine


def test_a_decision_for_what_is_given_up_falls_and_may_come_back() -> None:
    state = after(SessionState(), (Role.USER, "Let's go with React."), (Role.USER, "Forget about React."))
    assert (state.decisions, state.discarded) == ((), ("Forget about React",))
    state = after(state, (Role.USER, "Let's go with React after all."))
    assert (state.decisions, state.discarded) == (("Let's go with React after all",), ())
    kept = SessionState(decisions=("React", "Let's go with React Native"))
    assert after(kept, (Role.USER, "Forget about React.")).decisions == kept.decisions


@pytest.mark.parametrize("text", ["never mind", "Oh, never mind.", "算了", "算了吧", "当我没问", "forget it"])
def test_taken_back(text: str) -> None:
    assert is_taken_back(text)


@pytest.mark.parametrize("text", ["never mind the rain, go on", "算了一下", "forget about the rain", "mind it"])
def test_not_taken_back(text: str) -> None:
    assert not is_taken_back(text)


# Patches

ENTRY = st.text(alphabet="abAB .", min_size=1, max_size=4).filter(str.strip)
ENTRIES = st.lists(ENTRY, max_size=4).map(tuple)
NAMES = ("confirmed_facts", "open_questions", "decisions", "discarded", "remove")
PATCH = st.builds(StatePatch, task_goal=st.none() | ENTRY, **dict.fromkeys(NAMES, ENTRIES))


def fold(entry: str) -> str:
    return " ".join(entry.split()).casefold().strip(" .")


@given(st.lists(PATCH, max_size=6))
def test_a_state_never_says_a_thing_twice_and_never_both_stands_and_is_given_up(patches: list[StatePatch]) -> None:
    state = SessionState()
    for patch in patches:
        before, state = state, patched(state, patch)
        assert patched(state, StatePatch()) == state
        for name in NAMES[:4]:
            folds = [fold(entry) for entry in getattr(state, name)]
            assert len(folds) == len(set(folds))
            gone = {fold(entry) for entry in (*patch.remove, *patch.discarded)}
            gone |= {fold(entry) for each in NAMES[:3] for entry in getattr(patch, each)}
            assert {fold(entry) for entry in getattr(before, name)} - gone <= set(folds), "what is not named stays"
        assert not {fold(entry) for entry in state.discarded} & {
            fold(entry)
            for name in NAMES[:3]
            for entry in getattr(patch, name)
            if fold(entry) not in map(fold, patch.discarded)
        }


def test_a_list_has_an_end() -> None:
    full = SessionState(decisions=tuple(map(str, range(200))))
    with pytest.raises(InvalidInput) as refused:
        patched(full, StatePatch(decisions=("one more",)))
    assert refused.value.field == "decisions"
    assert len(patched(full, StatePatch(decisions=("one more",), remove=("0",))).decisions) == 200
