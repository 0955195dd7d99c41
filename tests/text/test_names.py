"""Names read off texts: the rules, each as a case, and what no text may do to them."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_memory.text.names import MAX_CANDIDATES, MAX_NAME, MAX_NAMES, candidate_names, fold_name, names_in

CAPITALS = [
    # in the middle of a sentence a capital makes a name
    ("I met Caroline in Paris.", ["caroline", "paris"]),
    ("We moved to New York with Anna-Marie.", ["new york", "anna-marie"]),
    ("I read The Lord of the Rings twice", ["lord of the rings"]),
    ("an account at Bank of America", ["bank of america"]),
    ("and John F Kennedy spoke", ["john f kennedy"]),
    ("talked to Mrs. O'Neil about it", ["o'neil"]),
    ("We saw Spider-Man at the U.N. with the LGBTQ group", ["un", "spider-man", "lgbtq"]),
    ("Melanie's pottery and Tom's dog", ["melanie", "tom"]),
    ("Melanie’s Pottery", ["melanie"]),
    # at its start only where it is clearly one
    ("Caroline said hi.", ["caroline"]),
    ("Caroline likes hiking.", ["caroline"]),
    ("Melanie: hello there", ["melanie"]),
    ("Hey Melanie! Good to see you!", ["melanie"]),
    ("Thanks, Melanie! That helps.", ["melanie"]),
    ("Melanie Smith went home", ["melanie smith"]),
    ("Blorp the thing.", []),
    ("Blorp the thing. I like Blorp.", ["blorp"]),
    ("Pottery helps me relax! Camping is fun. Painting was great.", []),
    ("Yesterday was nice. Honestly, it is. Wow!", []),
    ("The Great Gatsby is sad", ["great gatsby"]),
    ("User prefers tea. Users want more.", []),
    # never
    ("I think I'm fine, and I'll go on Monday in May. OK!", []),
    ("He and She and They met Him on TV at 5 PM", []),
    ("this is SO LOUD AND ANGRY", []),
    ("a T-shirt and Self-care", []),
    ("our Project needs a new Manager", []),
]

FORMS = [
    ("see https://github.com/foo/bar?x=1.", ["github.com", "github.com/foo/bar?x=1"]),
    ("connect to postgres://bob:pw@db.example.com:5432/app", ["db.example.com:5432", "bob:pw@db.example.com:5432/app"]),
    ("write to bob@example.com", ["bob@example.com"]),
    ("ask @bob_k about #python or #话题 ", ["@bob_k", "python", "话题"]),
    ("open src/app/main.py and ~/notes", ["src/app/main.py", "main.py", "~/notes"]),
    (r"in C:\new\table.csv", [r"c:\new\table.csv", "table.csv"]),
    ("the endpoint /orders and /v1/search", ["/orders", "/v1/search"]),
    ("he/she and/or 24/7, 5 min/km", []),
    ("rename user_id and MAX_RETRIES", ["user_id", "max_retries"]),
    ("call fooBar or FastAPI", ["foobar", "fastapi"]),
    ("import foo.bar.Baz; std::vector", ["foo.bar.baz", "std::vector"]),
    ("it is done.Then e.g. that, i.e. this, the end.and so", []),
    ("on localhost:5432 or 10.0.0.1:80", ["localhost:5432", "10.0.0.1:80"]),
    ("we use Python 3.11 and Windows 11", ["python", "python 3.11", "windows 11"]),
    ("Caroline 3 times", ["caroline"]),
    ("in Room 101 and room 102, issue #7", ["room 101", "room 102", "issue 7"]),
    ("she read “Becoming Nicole” and \"the alchemist\"", ["becoming nicole", "the alchemist", "nicole"]),
    ("he said “I love it,” and \"we are done.\"", []),
    ("run `make check` now", ["make check"]),
]  # fmt: skip

CHINESE = [
    ("我叫陈静，在杭州工作", ["陈静", "杭州"]),
    ("陈建国的女儿叫陈小雨", ["陈建国", "陈小雨"]),
    ("昨天见了李老师、张工和小王", ["李老师", "张工", "小王"]),
    ("欧阳娜娜和诸葛亮", ["欧阳娜娜", "诸葛亮"]),
    ("与丽娟一起给王叔打电话", ["丽娟", "王叔"]),
    ("汤姆和杰克去了巴黎", ["汤姆", "杰克", "巴黎"]),
    ("他像列奥纳多·达·芬奇一样", ["列奥纳多·达·芬奇", "列奥纳多", "芬奇"]),
    ("我在读《三体》和《百年孤独》", ["三体", "百年孤独"]),
    ("周末去吃「海底捞」", ["海底捞"]),
    ("我用docker部署FastAPI", ["fastapi", "docker"]),
    ("住在上海市浦东新区海盛路36号", ["上海市浦东新区", "海盛路"]),
    ("在腾讯公司上班，毕业于北京大学", ["腾讯", "腾讯公司", "北京大学"]),
    ("用微信联系他", ["微信"]),
    ("江苏省苏州市", ["江苏省", "江苏", "苏州市", "苏州"]),
    # everyday words that a tagger takes for names
    ("谢谢你，康复训练很重要，注意安全，我明白了", []),
    ("何时能完成？高兴地说，马上就到，于是他走了，许多人", []),
    ("喝咖啡，拧毛巾，看日志，中午午休，新的方案", []),
    ("我们公司，这家医院，去超市，城市里的小区", []),
]


@pytest.mark.parametrize(("text", "names"), [*CAPITALS, *FORMS, *CHINESE])
def test_names(text: str, names: list[str]) -> None:
    assert names_in(text) == names


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Café Müller", "cafe  muller"),
        ("CAROLINE’s", "caroline"),
        ("ＦａｓｔＡＰＩ", "fastapi"),
        ("Straße", "strasse"),
        ("«Melanie»,", "melanie"),
        ("《三体》", "三体"),
    ],
)
def test_written_otherwise_it_is_the_same_name(one: str, other: str) -> None:
    assert fold_name(one) == fold_name(other) == fold_name(fold_name(one))


@pytest.mark.parametrize(
    ("one", "other"),
    [("Tigran", "Iran"), ("Room 101", "Room 102"), ("Anna", "Anne"), ("Python 3.1", "Python 3.11"), ("陈静", "陈静怡")],
)
def test_names_that_look_alike_stay_two(one: str, other: str) -> None:
    assert fold_name(one) != fold_name(other)
    assert not {fold_name(one)} & set(names_in(f"we know {other} well"))


@pytest.mark.parametrize(
    ("query", "among"),
    [
        ("what did caroline do", {"caroline"}),
        ("what's melanie smith's job in new york?", {"melanie smith", "melanie", "new york"}),
        ("who is dr. smith", {"smith"}),
        ("why is /orders slow", {"/orders"}),
        ("where is user_id set in main.py", {"user_id", "main.py"}),
        ("陈静在杭州市做什么工作", {"陈静", "杭州市"}),
        ("海盛路上的张伟", {"张伟"}),
    ],
)
def test_a_query_may_name_in_small_letters(query: str, among: set[str]) -> None:
    found = candidate_names(query)
    assert among <= set(found)
    assert not {"what", "did", "is", "in", "the"} & set(found)


LISTED = [text for text, _ in (*CAPITALS, *FORMS, *CHINESE)]


@given(
    st.text() | st.lists(st.sampled_from([*LISTED, *"ABab1._-/@#:'\"`“”《》「」·张李的 \n"]), max_size=30).map("".join)
)
def test_any_text_is_safe(text: str) -> None:
    for found, most in ((names_in(text), MAX_NAMES), (candidate_names(text), MAX_CANDIDATES)):
        assert len(found) == len(set(found)) <= most
        assert all(2 <= len(name) <= MAX_NAME and fold_name(name) == name for name in found)


@given(st.text(max_size=200))
def test_folding_twice_is_folding_once(text: str) -> None:
    assert fold_name(fold_name(text)) == fold_name(text)


@pytest.mark.parametrize(
    "piece",
    ["A", "A ", "Aa ", "a.", "a_", "a/", "/a", "a@", "@a", "#a", '"', "“", "`", "《", "A.", "Bank of ", "a-",
     "http://", "1.", "a:1", "room 1", "张", "张·", "王总", "海盛路", "\u0301", "’s", "'", "İ", "A&"],
)  # fmt: skip
def test_no_text_takes_long(piece: str) -> None:
    text = (piece * 100_000)[:100_000]
    names_in(text)  # loads what is loaded once
    start = time.process_time()
    names_in(text)
    candidate_names(text)
    assert time.process_time() - start < 0.5


def test_many_names_are_bounded() -> None:
    assert len(names_in(" and ".join(f"Abcd{number}e" for number in range(1_000)))) == MAX_NAMES
