"""Every form that data come in, and what is said of files that are broken."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_memory.errors import InvalidInput
from hindsight_memory.evals.datasets import DataSet, read, read_all
from hindsight_memory.evals.moments import last_moment, moment

SHARED = Path(__file__).parents[3] / "shared" / "data"
LOCOMO = {
    "sample_id": "conv-1",
    "conversation": {
        "speaker_a": "Ann",
        "speaker_b": "Bob",
        "session_10_date_time": "10:00 am on 3 July, 2023",
        "session_10": [{"speaker": "Bob", "dia_id": "D10:1", "text": "Look!", "blip_caption": "a red boat"}],
        "session_2_date_time": "1:56 pm on 8 May, 2023",
        "session_2": [{"speaker": "Ann", "dia_id": "D2:1", "text": "I paint."}, {"dia_id": "D2:2", "text": " "}],
    },
    "qa": [
        {"question": "What?", "answer": 7, "evidence": ["D2:1; D10:01", "D9:9"], "category": 1},
        {"question": "Trap?", "adversarial_answer": "no", "evidence": ["D:10:1"], "category": 5},
        {"question": "Else?", "answer": "x", "evidence": [], "category": 3},
    ],
}
LONG: dict[str, Any] = {
    "question_id": "q1",
    "question_type": "multi-session",
    "question": "Where?",
    "answer": 3,
    "question_date": "2023/05/30 (Tue) 23:40",
    "haystack_session_ids": ["x", "y", "x"],
    "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 02:21", "2023/05/20 (Sat) 02:21"],
    "haystack_sessions": [
        [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "In Rome.", "has_answer": True}],
        [{"role": "user", "content": ""}],
        [{"role": "user", "content": "Hi"}],
    ],
    "answer_session_ids": ["x"],
}


def saved(path: Path, data: Any) -> Path:
    path.write_text(data if isinstance(data, str) else json.dumps(data, ensure_ascii=False), encoding="utf-8")
    return path


def only(data: DataSet) -> Any:
    (group,) = data.groups
    return group


def test_the_common_form(tmp_path: Path) -> None:
    query = {
        "id": 5, "query": "Which?", "evidence": ["m1", "m1", "none"], "stale": ["m2"], "category": "c",
        "answer": 2022, "ask_time": "2025-01", "ask_session": "s2",
        "audit": {"correct_evidence": ["m2"], "correct_answer": "two"},
    }  # fmt: skip
    memories = [
        {"id": "m1", "content": "One", "timestamp": "2025-01-02", "speaker": "user", "session": "s1", "type": "?"},
        {"id": "m2", "content": "Two", "timestamp": "", "session": "s2"},
    ]
    group = {"id": "g", "memories": memories, "queries": [query]}
    path = saved(tmp_path / "x.json", {"meta": {"name": "n"}, "groups": [group]})
    data = read(path)
    found = only(data)
    assert (data.name, found.id) == ("n", "g")
    assert found.items[0].at == datetime(2025, 1, 2, tzinfo=UTC)
    assert found.items[1].at is None
    (question,) = found.questions
    assert (question.id, question.evidence, question.sessions, question.answer) == ("5", ("m2",), ("s2",), "two")
    assert question.known_until == datetime(2025, 1, 31, 23, 59, 59, 999_999, UTC)


def test_a_time_without_a_session_bounds_nothing(tmp_path: Path) -> None:
    query = {"query": "Which?", "evidence": [], "ask_time": "2025-01", "category": "Unanswerable"}
    path = saved(tmp_path / "x.json", {"groups": [{"memories": [], "queries": [query]}]})
    (question,) = only(read(path)).questions
    assert (question.known_until, question.asked_at is not None, question.unanswerable) == (None, True, True)


def test_locomo_as_published(tmp_path: Path) -> None:
    group = only(read(saved(tmp_path / "locomo10.json", [LOCOMO])))
    assert [(item.id, item.content, item.session) for item in group.items] == [
        ("D2:1", "I paint.", "S2"),
        ("D10:1", "Look! [shares image: a red boat]", "S10"),
    ]
    assert group.items[0].at == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
    first, trap, inferred = group.questions
    assert (first.evidence, first.answer, first.category) == (("D2:1", "D10:1"), "7", "multi-hop")
    assert (trap.evidence, trap.answer, trap.category, trap.unanswerable) == (("D10:1",), "", "adversarial", False)
    assert (inferred.evidence, inferred.unanswerable) == ((), False)  # no label is not «cannot be answered»


def test_longmemeval_as_published(tmp_path: Path) -> None:
    unknown = {**LONG, "question_id": "q2_abs"}
    data = read(saved(tmp_path / "longmemeval_s.json", [LONG, unknown]))
    assert (data.name, [group.id for group in data.groups]) == ("longmemeval_s", ["q1", "q2_abs"])
    group = data.groups[0]
    assert [item.id for item in group.items] == ["x:0", "x:1"]
    (question,) = group.questions
    assert (question.evidence, question.sessions, question.answer) == (("x:1",), ("x",), "3")
    assert question.asked_at == datetime(2023, 5, 30, 23, 40, tzinfo=UTC)
    assert (question.known_until, question.not_from) == (None, None)
    (without,) = data.groups[1].questions
    assert (without.unanswerable, without.evidence) == (True, ())


def test_our_own_lines(lines: Path) -> None:
    data = read(lines)
    assert (data.name, [group.id for group in data.groups]) == ("small", ["maya", "li"])
    questions = data.groups[0].questions
    assert [question.unanswerable for question in questions] == [False, False, False, False, True]
    assert questions[2].evidence == ("a6",)  # what is not among the memories is dropped
    assert questions[3].known_until == datetime(2024, 4, 1, 23, 59, 59, 999_999, UTC)


def test_one_line_is_lines(tmp_path: Path) -> None:
    group = only(read(saved(tmp_path / "a.jsonl", '{"id": 1, "content": "x"}')))
    assert [item.id for item in group.items] == ["1"]


def test_a_name_that_comes_twice_is_numbered(lines: Path) -> None:
    assert [data.name for data in read_all([lines, lines, lines])] == ["small", "small 2", "small 3"]


def test_a_cut_keeps_whole_groups(lines: Path) -> None:
    data = read(lines).cut(1, 2)
    assert [(group.id, len(group.items), len(group.questions)) for group in data.groups] == [("maya", 6, 2)]
    assert read(lines).cut(None, None) == read(lines)


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        ("", "line 1, column 1", "not JSON"),
        ("{", "line 1, column 2", "not JSON"),
        ("[1, 2]", "", "form"),
        ("[]", "", "form"),
        ("3", "", "form"),
        ("[" * 100_000, "", ""),
        ('{"groups": 5}', "", "groups must be a list"),
        ('{"groups": [5]}', "groups[0]", "object"),
        ('{"groups": [{"memories": [{"content": "x"}]}]}', "groups[0].memories[0]", "id is missing"),
        ('{"groups": [{"memories": [{"id": " ", "content": "x"}]}]}', "groups[0].memories[0]", "id is empty"),
        ('{"groups": [{"memories": [{"id": 1, "content": ["x"]}]}]}', "groups[0].memories[0]", "content must be"),
        ('{"groups": [{"memories": [{"id": 1, "content": "", "timestamp": "soon"}]}]}', "groups[0].memories[0]", "so"),
        ('{"groups": [{"memories": [{"id": 1, "content": "x"}, {"id": "1", "content": "y"}]}]}', "", "'1'"),
        ('{"groups": [{"id": 1}, {"id": "1"}]}', "", "two groups"),
        ('{"groups": [{"queries": [{"query": " ", "evidence": []}]}]}', "groups[0].queries[0]", "query is empty"),
        ('{"groups": [{"queries": [{"query": "x"}]}]}', "groups[0].queries[0]", "evidence must be a list"),
        ('{"groups": [{"queries": [{"query": "x", "evidence": [[]]}]}]}', "groups[0].queries[0].evidence[0]", "text"),
        ('{"groups": [{"queries": [{"query": "x", "evidence": [], "abstention": 1}]}]}', "groups[0].queries[0]", "be"),
        ('{"groups": [{"queries": [{"query": "x", "evidence": [], "audit": 1}]}]}', "groups[0].queries[0].audit", "an"),
        ('{"id": "a", "content": "x"}\n{"id"', "line 2", "not JSON"),
        ('{"id": "a", "content": "x"}\n[]', "line 2", "object"),
        ('{"id": "a", "content": "x"}\n\n{"text": "x"}', "line 3", "neither"),
        ('{"id": "a", "content": "x"}\n' + '{"a":' * 100_000, "line 2", "nested"),
        (json.dumps([{**LONG, "haystack_session_ids": ["x"]}]), "[0]", "length"),
        (json.dumps([{**LONG, "haystack_sessions": [[], [3], []]}]), "[0].haystack_sessions[1].turns[0]", "object"),
        (json.dumps([{"conversation": {"session_1": 3}, "qa": []}]), "[0].conversation", "session_1"),
        (json.dumps([{"conversation": {}, "qa": [{"question": ""}]}]), "[0].qa[0]", "empty"),
    ],
)  # fmt: skip
def test_a_broken_file_is_named_with_the_place(tmp_path: Path, text: str, place: str, said: str) -> None:
    path = saved(tmp_path / "broken.json", text)
    with pytest.raises(InvalidInput) as caught:
        read(path)
    error = caught.value
    assert error.field == "data"
    assert error.message.startswith(f"{path}{', ' if place else ''}{place}"), error.message
    assert said in error.message
    assert error.hint


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    for path in (tmp_path / "none.json", tmp_path, tmp_path / "binary"):
        with pytest.raises(InvalidInput, match="cannot be read"):
            read(path)


def test_half_a_surrogate_is_replaced(tmp_path: Path) -> None:
    group = only(read(saved(tmp_path / "a.jsonl", r'{"id": "\ud800", "content": "x\udfff\u0000"}')))
    (item,) = group.items
    assert f"{item.id}{item.content}".encode()


NAMES = [
    *("groups", "memories", "queries", "id", "content", "query", "evidence", "conversation", "qa", "session_1"),
    *("haystack_sessions", "haystack_session_ids", "question", "question_id", "category", "timestamp"),
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4),
    max_leaves=12,
)


@given(JSON)
def test_any_json_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, data: Any) -> None:
    path = saved(tmp_path_factory.getbasetemp() / "any.json", json.dumps(data))
    with suppress(InvalidInput):  # and no other error
        read(path)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("2024-02", "2024-02-01T00:00:00+00:00", "2024-02-29T23:59:59.999999+00:00"),
        ("2024", "2024-01-01T00:00:00+00:00", "2024-12-31T23:59:59.999999+00:00"),
        ("2024-02-03", "2024-02-03T00:00:00+00:00", "2024-02-03T23:59:59.999999+00:00"),
        ("2024-02-03T04:05:06", "2024-02-03T04:05:06+00:00", "2024-02-03T04:05:06+00:00"),
        ("2024-02-03T04:05:06+08:00", "2024-02-02T20:05:06+00:00", "2024-02-02T20:05:06+00:00"),
        ("2023/05/20 (Sat) 02:21", "2023-05-20T02:21:00+00:00", "2023-05-20T02:21:00+00:00"),
        ("2023/05/20", "2023-05-20T00:00:00+00:00", "2023-05-20T23:59:59.999999+00:00"),
        ("12:05 am on 9 August, 2023", "2023-08-09T00:05:00+00:00", "2023-08-09T00:05:00+00:00"),
    ],
)
def test_moments(text: str, first: str, last: str) -> None:
    assert (moment(text), last_moment(text)) == (datetime.fromisoformat(first), datetime.fromisoformat(last))


@pytest.mark.parametrize("text", ["", "soon", "2024-13", "2024-02-30", "99:99 am on 1 May, 2023", "0000", "1e9"])
def test_no_moments(text: str) -> None:
    assert moment(text) is None


@pytest.mark.skipif(
    not SHARED.exists(), reason=f"the evaluation data are not at {SHARED}: their licences keep them out"
)
@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("memorybank_zh", (8, 313, 56, 0)),
        ("qmemory_conflict_zh", (1, 82, 30, 0)),
        ("zh_noise", (1, 613, 0, 0)),
        ("lifebench_zh", (1, 2_094, 155, 3)),
        ("locomo", (4, 2_080, 755, 0)),
        ("realmem", (4, 2_011, 607, 0)),
    ],
)
def test_the_shared_data(name: str, counts: tuple[int, ...]) -> None:
    groups = read(SHARED / f"{name}.json").groups
    questions = [question for group in groups for question in group.questions]
    assert counts == (
        len(groups),
        sum(len(group.items) for group in groups),
        sum(bool(question.evidence) for question in questions),
        sum(question.unanswerable for question in questions),
    )
