"""What tells one error from others: the same failure with other values has the same signature."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_memory.text.errors import error_line, error_tag, find_error, signature
from hindsight_memory.text.tokens import index_words

SAME: dict[str, list[str]] = {
    "python": [
        ("Traceback (most recent call last):\n  File \"/srv/a.py\", line 3, in <module>\n    import foo\n"
        "ModuleNotFoundError: No module named 'foo'"),
        "ModuleNotFoundError: No module named 'bar.baz'",
        "E   ModuleNotFoundError: No module named 'x'",
        "2026-05-04 09:00:01,123 ERROR app: ModuleNotFoundError: No module named 'y'",
        "FAILED tests/a.py::test_b - ModuleNotFoundError: No module named 'z'",
    ],
    "a chain of Python's": [
        ("Traceback (most recent call last):\n  File \"a.py\", line 1\nKeyError: 'a'\n\nDuring handling of the above "
        "exception, another exception occurred:\n\nTraceback (most recent call last):\n  File \"b.py\", line 2\n"
        "requests.exceptions.ConnectionError: connection to 10.0.0.7:5432 refused after 31 s"),
        "ConnectionError: connection to db-3:5433 refused after 2.5 s",
    ],
    "javascript": [
        "TypeError: Cannot read properties of undefined (reading 'x')\n    at foo (/srv/a.js:12:3)",
        "Uncaught TypeError: Cannot read properties of undefined (reading 'length')\n    at <anonymous> (b.js:1:1)",
    ],
    "java": [
        ('Exception in thread "main" java.lang.RuntimeException: boom\n\tat com.x.Y.z(Y.java:12)\n'
        "Caused by: java.io.IOException: disk 3 is full\n\tat a.b(C.java:1)\n\t... 12 more"),
        "java.io.IOException: disk 4 is full",
    ],
    "go": [
        "panic: runtime error: index out of range [5] with length 3\n\ngoroutine 1 [running]:\nmain.main()",
        "panic: runtime error: index out of range [99] with length 12\n\ngoroutine 7 [running]:",
    ],
    "rust": [
        "thread 'main' panicked at src/main.rs:4:5:\nindex out of bounds: the len is 3 but the index is 99\nnote: run",
        "thread 'worker-2' panicked at src/lib.rs:40:15:\nindex out of bounds: the len is 0 but the index is 1",
    ],
    "rustc": [
        "error[E0382]: borrow of moved value: `x`\n --> src/main.rs:4:20",
        "error[E0382]: borrow of moved value: `y`",
    ],
    "shell": [
        "cp: cannot stat '/a/b': No such file or directory",
        "cp: cannot stat '/home/me/c.txt': No such file or directory",
    ],
    "ids and addresses": [
        "job 3f2a9c81d7 failed: https://x.example/a?b=1 took 30s at 0x7ffe01",
        "job a81d73f2c9 failed: https://y.example/c took 4s at 0xdead10",
    ],
    "chinese": [
        "部署失败：数据库连接被拒绝，端口 5432，用时 31 秒",
        "再跑也不行。\n部署失败：数据库连接被拒绝，端口 5433，用时 12 秒",
    ],
    "chinese, words for numbers": ["错误：请求超时，重试三次后放弃", "错误：请求超时，重试十五次后放弃"],
    "chinese, quoted": ["第3步失败：文件「报告.docx」不存在", "第12步失败：文件「总结.pdf」不存在"],
}  # fmt: skip


@pytest.mark.parametrize("case", SAME)
def test_the_same_failure_with_other_values_has_the_same_signature(case: str) -> None:
    assert len({signature(text) for text in SAME[case]}) == 1, [signature(text) for text in SAME[case]]
    assert error_tag(SAME[case][0]) == error_tag(SAME[case][1]) is not None


def test_different_failures_have_different_signatures() -> None:
    found = [signature(texts[0]) for texts in SAME.values()]
    others = ["HTTP 404: not found", "HTTP 500: not found", "PermissionError: [Errno 13] denied", "exit code 1",
              "PermissionError: [Errno 1] denied", "exit code 137", "error[E0499]: borrow of moved value: `x`",
              "错误：连接失败", "错误：请求超时"]  # fmt: skip
    found += map(signature, others)
    assert len(set(found)) == len(found)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Deploy failed: ConnectionRefusedError: no route", "ConnectionRefusedError: no route"),
        ("first\nsecond", "first"),
        ("collecting\nbash: foo: command not found\ndone", "bash: foo: command not found"),
        ("npm ERR! errno 1", "errno 1"),
        ("", ""),
        ("  \n ", ""),
    ],
)
def test_the_line_that_says_it(text: str, line: str) -> None:
    assert error_line(text) == line


def test_what_speaks_of_no_error() -> None:
    assert find_error("all is well\n5 passed") == ""
    assert find_error("I could not come yesterday", plainly=True) == ""
    assert find_error("What does a TypeError mean?", plainly=True) == ""
    assert find_error("我昨天没找到，失败了", plainly=True) == ""


@pytest.mark.parametrize("text", ["", "exit code 1", "KeyError: 'a'", "AssertionError", "Error: 5", "失败"])
def test_what_says_too_little_has_no_tag(text: str) -> None:
    assert error_tag(text) is None


def test_a_tag_is_one_word_of_the_index() -> None:
    tag = error_tag("ConnectionError: connection refused")
    assert tag is not None
    assert index_words(tag)[0] == tag


@given(st.text())
def test_any_text_has_a_short_signature(text: str) -> None:
    said = signature(text)
    assert len(said) <= 200
    assert "\n" not in said
    assert error_line(text) in " ".join(text.split()) or error_line(text) in text


@given(st.integers(0, 10**9), st.integers(1, 65_535), st.from_regex(r"[a-z]{1,9}(/[a-z]{1,9}){1,3}", fullmatch=True))
def test_numbers_and_paths_are_values(number: int, port: int, path: str) -> None:
    said = f"TimeoutError: no answer on port {port} for /{path} after {number} ms"
    assert signature(said) == "timeouterror: no answer on port <n> for <path> after <n> ms"


WORDS = st.lists(
    st.sampled_from(["disk", "is", "full", "no", "route", "to", "host", "磁盘", "已满"]), min_size=1, max_size=8
)


@given(
    WORDS,
    st.text(st.characters(codec="utf-8", exclude_characters="'\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"), max_size=50),
)
def test_a_traceback_around_an_error_changes_nothing(words: list[str], value: str) -> None:
    error = f"OSError: {' '.join(words)}"
    frame = f"  File \"/x/{len(value)}.py\", line 7\n    raise OSError('{value}')"
    around = f"Traceback (most recent call last):\n{frame}\n{error}"
    assert signature(around) == signature(error) == signature(f"2026-01-01 10:00:00 ERROR {error}")


UNITS = ["'", "a/", "1", "A", "A.a.", "E   ", "-", "错误：", "\n", "«", "a-1", "0x", "code 1 ", "Caused by:", "Error: "]
UNITS += ["[a] ", "1,", "\0", "👩‍👩‍👧", "三"]


@pytest.mark.parametrize("unit", UNITS)
def test_a_hostile_text_is_read_in_bounded_work(unit: str) -> None:
    text = (unit * 100_000)[:100_000]
    assert len(signature(text)) <= 200
    assert signature(text + "\nOSError: disk is full") == signature(text * 3 + "\nOSError: disk is full")
