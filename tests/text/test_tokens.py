"""Words, token counts and truncation."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hindsight_memory.text.tokens import (
    MAX_WORD,
    MAX_WORDS,
    count_tokens,
    index_words,
    normalise,
    query_words,
    truncate,
)

ODD = st.text(
    st.one_of(
        st.characters(),
        st.sampled_from("aB_1.-/'’,:+#@ \n\0中文的カ한ไ\u0301\u200d\ufe0f👍👨👩🏽🇨🇳\ud800"),
    ),
    max_size=200,
)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("  hi\r\nthere\rnow \n", "hi\nthere\nnow"),
        ("a\0b\x07c\td", "abc\td"),
        ("page one\fpage two", "page one\npage two"),
        ("\ufeffBOM\u200b!", "BOM!"),
        ("cafe\u0301", "café"),
        ("👨\u200d👩\u200d👧", "👨\u200d👩\u200d👧"),
        ("half \ud83d", "half \ufffd"),
        ("", ""),
    ],
)
def test_normalise(text: str, kept: str) -> None:
    assert normalise(text) == kept


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("/data/project_x", ["/data/project_x", "project_x", "data", "project", "x"]),
        ("see project_x.", ["see", "project_x", "project", "x"]),
        ("req_id-42", ["req_id-42", "req", "id", "42"]),
        ("v1.2.3", ["v1.2.3", "1.2.3", "v1", "2", "3"]),
        ("a.b@example.com", ["a.b@example.com", "a.b", "example.com", "b", "exampl", "com"]),
        ("getUserName", ["getusernam", "get", "user", "name"]),
        ("port 8443, 3.14", ["port", "8443", "3.14"]),
        ("1,000 and 1,234.5", ["1,000", "1000", "1,234.5", "1234.5"]),
        ("I don't, can’t and won't", ["i", "dont", "cant", "and", "wont"]),
        ("Caroline's dogs'", ["carolin", "dog"]),
        ("O'Brien’s", ["obrien", "o", "brien"]),
        ("１２３", ["123"]),
        ("C++ or C# or .NET", ["c++", "c", "c#", "c", ".net", "net"]),
        ("Café STRASSE straße", ["cafe", "strass", "strass"]),
        ("iPhone15 10km", ["iphone15", "phone", "15", "10km", "10", "km"]),
        ("running runs", ["run", "run"]),
        ("👍🏽 ❤️👨\u200d👩\u200d👧🇨🇳🇺🇸", ["👍", "❤", "👨\u200d👩\u200d👧", "🇨🇳", "🇺🇸"]),
        ("推荐个饮品", ["推荐", "饮品", "荐个", "个饮"]),
        ("北京", ["北京"]),
        ("猫", ["猫"]),
        ("タワー", ["タワ", "ワー"]),
        ("हिन्दी", ["हिन्दी"]),
        ("the who", ["the", "who"]),
        ("的了", ["的", "了"]),
        ("", []),
        ("?! -- …", []),
    ],
)
def test_index_words(text: str, words: list[str]) -> None:
    assert index_words(text) == words


@pytest.mark.parametrize(
    ("memory", "query"),
    [
        ("我今天在北京喝了一杯咖啡", "北京"),
        ("我今天在北京喝了一杯咖啡", "咖啡"),
        ("用户喜欢喝拿铁", "推荐个饮品，拿铁怎么样"),
        ("他想要的饮品是奶茶", "推荐个饮品"),
        ("我喜欢猫", "猫"),
        ("服务器端口是8443。", "端口 8443"),
        ("密钥sk_live在证书里", "sk_live"),
        ("Caroline's dog is called Rex", "What is Caroline's dog?"),
        ("She was running marathons", "did she run a marathon"),
        ("logs are in /data/project_x/app.log", "project_x"),
        ("logs are in /data/project_x/app.log", "app.log"),
        ("call getUserName first", "user name"),
        ("we call getUserName first", "getusername"),
        ("upgraded to v1.2.3", "1.2.3"),
        ("it costs 1,000 euros", "1000"),
        ("met at the café", "cafe"),
        ("It's «quoted»", "quoted"),
        ("ＡＰＩ ｋｅｙ", "api"),
        ("I love it 🎉🎉", "🎉"),
        ("今年的KPI目标", "kpi"),
        ("東京タワーへ行った", "東京"),
        ("«don’t panic»", "DON'T PANIC"),
    ],
)
def test_a_query_meets_its_memory(memory: str, query: str) -> None:
    assert set(index_words(memory)) & set(query_words(query))


def test_a_pair_that_is_a_word_counts_once_per_occurrence() -> None:
    assert index_words("北京北京").count("北京") == 2


def test_query_words_are_unique_and_bounded() -> None:
    assert query_words("cat dog cat bird", limit=2) == ["cat", "dog"]
    assert len(query_words(" ".join(f"w{n}" for n in range(54_000)))) == 64
    assert query_words("cat", limit=0) == []


def test_bounds() -> None:
    assert index_words("x" * 500) == ["x" * MAX_WORD]
    assert len(index_words("cat " * 50_000)) == MAX_WORDS
    assert len(index_words("好" * 50_000)) <= MAX_WORDS


@pytest.mark.parametrize(
    "pattern",
    [
        "\u0301\u0323",
        "a.b",
        "'",
        "好",
        "中国银行",
        "👍",
        "a-",
        "/",
        "aA",
        "1,000,",
        ".a",
        "::",
        "🇨",
        "\u200d",
        "a\u0300",
        "👍\u200d",
    ],
)
def test_work_is_linear(pattern: str) -> None:
    text = "a" + pattern * (100_000 // len(pattern))
    started = time.process_time()
    normalise(text), query_words(text), count_tokens(text), truncate(text, 30_000)
    assert time.process_time() - started < 3


@settings(max_examples=150)
@given(ODD)
def test_any_text_is_safe(text: str) -> None:
    once = normalise(text)
    assert normalise(once) == once
    assert not any(c in once for c in "\0\r\ufeff\u200b")
    words = index_words(text)
    assert words == index_words(text)
    assert all(0 < len(word) <= MAX_WORD for word in words)
    assert set(query_words(text)) <= set(words)


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("", 0, 0),
        ("The quick brown fox jumps over the lazy dog.", 10, 16),
        ("我今天在北京喝了一杯咖啡。", 10, 20),
        ("👨\u200d👩\u200d👧", 4, 12),
        ("1234567890", 4, 10),
        ("def f(x):\n    return x + 1", 10, 16),
    ],
)
def test_count_tokens(text: str, least: int, most: int) -> None:
    assert least <= count_tokens(text) <= most


@pytest.mark.parametrize(
    ("text", "budget", "cut"),
    [
        ("short", 10, "short"),
        ("The quick brown fox", 4, "The quick…"),
        ("supercalifragilistic", 3, "supercal…"),
        ("我今天在北京", 4, "我今天…"),
        ("喜欢 Python 语言", 4, "喜欢…"),
        ("ok 👨\u200d👩\u200d👧 fine", 6, "ok…"),
        ("🇨🇳🇺🇸", 7, "🇨🇳…"),
        ("cafe\u0301s here", 2, "caf…"),
        ("anything", 0, ""),
        ("anything", -3, ""),
        ("anything", 1, "…"),
        ("", 0, ""),
    ],
)
def test_truncate(text: str, budget: int, cut: str) -> None:
    assert truncate(text, budget) == cut


@given(ODD, st.integers(0, 120))
def test_truncate_keeps_the_budget(text: str, budget: int) -> None:
    cut = truncate(text, budget)
    assert count_tokens(cut) <= budget
    assert cut == text or text.startswith(cut.removesuffix("…"))
