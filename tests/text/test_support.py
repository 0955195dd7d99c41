"""Whom a text speaks of, and what bears it out, in English and Chinese."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_memory.text.support import Told, bears_out, people_of, speaks_of

DAY = datetime(2023, 5, 8, 13, tzinfo=UTC)
LATER = datetime(2023, 9, 1, tzinfo=UTC)


def told(text: str, by: str | None = None) -> Told:
    return Told(text, DAY, by)


BORNE = [
    ("Who is my dentist?", "My dentist is Dr. Alvarez.", "The user's dentist is Dr. Alvarez."),
    ("Who is my dentist?", "My dentist is Dr. Alvarez.", "The register says: the user's dentist is Dr. Alvarez."),
    ("Is there a car park?", "My dentist is Dr. Alvarez.", "The register says: the user's dentist is Dr. Alvarez."),
    ("What floor does Jon want?", "I want a Marley floor, which is best for dancing.", "Jon wants a Marley floor."),
    ("When did Caroline join the choir?", "I joined the choir yesterday!", "Caroline joined the choir on 7 May 2023."),
    ("When did Caroline join the choir?", "I just joined the choir!", "Caroline joined the choir on 8 May 2023."),
    ("When did Caroline join the choir?", "I joined the choir yesterday!", "Caroline joined the choir in May 2023."),
    (
        "What did Caroline see?",
        "We saw the old lighthouse in the fog and a seal on the rocks.",
        'Minutes of a talk, Caroline: "We saw the old lighthouse in the fog and a seal on the rocks."',
    ),
    ("我的牙医是谁？", "我的牙医是王建国。", "用户的牙医是王建国。"),
    ("我的牙医是谁？", "我的牙医是王建国。", "登记册显示：用户的牙医是王建国。"),
    ("陈静喜欢什么地板？", "我喜欢枫木地板，跳舞最好。", "陈静喜欢枫木地板。"),
    ("陈静什么时候加入了合唱团？", "我昨天加入了合唱团！", "陈静在5月7日加入了合唱团。"),
]
NOT_BORNE = [
    ("Who is my dentist?", "My dentist is Dr. Alvarez.", "The user's dentist is Dr. Kowalski."),
    ("Who is my dentist?", "My dentist is Dr. Alvarez.", "It is no longer Dr. Alvarez but Dr. Kowalski."),
    ("Who is my dentist?", "My dentist is not Dr. Alvarez.", "The user's dentist is Dr. Alvarez."),
    ("Do I eat meat?", "I do not eat any meat.", "The user eats meat."),
    ("When did Caroline join the choir?", "I joined the choir yesterday!", "Caroline joined the choir on 12 May 2023."),
    ("When did Caroline join the choir?", "I joined the choir yesterday!", "Caroline joined the choir in March 2023."),
    ("When did Caroline join the choir?", "I bought a hat yesterday!", "Caroline joined the choir on 7 May 2023."),
    ("What pet does Caroline have?", "I work in mental health.", "As to what pet Caroline has, it is mental health."),
    ("What do Mel's kids like?", "They give me the strength to go on.", "Q: What do Mel's kids like? A: Strength."),
    (
        "What pet does Caroline have?",
        "We saw the old lighthouse in the fog and a seal on the rocks.",
        "We saw the old lighthouse in the fog and a seal on the rocks. The pet is a green parrot.",
    ),
    ("我的牙医是谁？", "我的牙医是王建国。", "用户的牙医是李明辉。"),
    ("我的牙医是谁？", "我的牙医是王建国。", "用户的牙医不是王建国，而是李明辉。"),
    ("我吃肉吗？", "我不吃肉。", "用户吃肉。"),
    ("陈静什么时候加入了合唱团？", "我昨天加入了合唱团！", "陈静在5月12日加入了合唱团。"),
    ("陈静养了什么宠物？", "我在心理健康中心上班。", "陈静养的宠物是心理健康。"),
]


@pytest.mark.parametrize(("question", "said", "claim"), BORNE)
def test_what_was_told_bears_it_out(question: str, said: str, claim: str) -> None:
    assert bears_out(question, told(said, "Caroline"), Told(claim, LATER))


@pytest.mark.parametrize(("question", "said", "claim"), NOT_BORNE)
def test_what_was_told_does_not_bear_it_out(question: str, said: str, claim: str) -> None:
    assert not bears_out(question, told(said, "Caroline"), Told(claim, LATER))


PEOPLE = ["Caroline", "陈静"]


@pytest.mark.parametrize(
    ("text", "question", "whom"),
    [
        ("Caroline has a parrot.", "What pet is it?", "Caroline"),
        ("The parcel of caroline waits.", "Where is the parcel?", "Caroline"),
        ("The user's dentist is Dr. Kowalski.", "Who is my dentist?", "the user"),
        ("The user's dentist is Dr. Kowalski.", "Who is the user's dentist?", "the user"),
        ("The user may eat nuts.", "Can I eat nuts?", "the user"),
        ("The user presses the button for ten seconds.", "Which button resets the router?", None),
        ("The user presses the button to reset the router.", "How do I reset the router?", None),
        ("We support Python 3.11.", "Which Python do we use?", None),
        ("My dentist is Dr. Kowalski.", "Who is my dentist?", "the user"),
        ("I found three results for the query.", "What is the weather?", None),
        ("The library opens a second reading room in spring.", "When does the library open it?", None),
        ("The parrot is a pet.", "What is the user guide for?", None),
        ("The pet is a green parrot.", "What pet does Caroline have?", "Caroline"),
        ("The museum is closed on Mondays.", "What pet does Caroline have?", None),
        ("陈静养了一只鹦鹉。", "养了什么宠物？", "陈静"),
        ("用户的牙医是李明辉。", "用户的牙医是谁？", "the user"),
        ("用户长按按钮十秒即可重置路由器。", "怎么重置我的路由器？", None),
        ("我们支持Python 3.11。", "我们用哪个版本？", None),
        ("我的牙医是李明辉。", "我的牙医是谁？", "the user"),
        ("市图书馆春天会开放第二阅览室。", "图书馆什么时候开放？", None),
        ("玻璃博物馆每周一闭馆。", "陈静养了什么宠物？", None),
    ],
)
def test_whom_a_text_speaks_of(text: str, question: str, whom: str | None) -> None:
    assert speaks_of(text, question, PEOPLE) == whom


def test_of_whom_was_told() -> None:
    said = [told("I love it here.", "Caroline"), told("ok", "user"), told("好的", "用户")]
    assert people_of("What is it?", [], said) == ["Caroline"]
    utrecht = [told("Last year I was in Utrecht."), told("My sister Ines moved to Lisbon.")]
    assert people_of("When does the library in Utrecht open?", ["Utrecht"], utrecht) == []
    assert people_of("Where did my sister Ines move?", ["Ines"], utrecht) == ["Ines"]
    zh = [told("王海说他要来。"), told("我去年在海口。")]
    assert people_of("王海养了什么宠物？", ["王海"], zh) == ["王海"]
    assert people_of("海口的图书馆几点开？", ["海口"], zh) == []


TEXTS = st.text(max_size=300)


@given(TEXTS, TEXTS, TEXTS)
def test_nothing_stored_stops_it(question: str, said: str, claim: str) -> None:
    assert isinstance(bears_out(question, told(said, claim[:20]), Told(claim, LATER)), bool)
    assert speaks_of(claim, question, [said, "", claim]) in {None, "the user", said, "", claim}
    people_of(question, [said, claim], [told(said, claim)])
    assert bears_out(question, told(said), Told(said, LATER))
