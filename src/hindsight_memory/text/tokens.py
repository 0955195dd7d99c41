"""Cuts a text into the words it is found by, and measures and shortens it in LLM tokens."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from itertools import islice
from typing import Final

import Stemmer

MAX_WORD: Final = 100
"""Characters of one word that are kept: longer ones are encoded data, and an index row must stay small."""

MAX_WORDS: Final = 20_000
"""Words of one text that are kept: 100,000 characters of prose have fewer, and no text may cost more."""

_MAX_MARKS: Final = 30
"""Combining marks in a row (Unicode's stream-safe limit); Python normalises a run of n of them in n² time."""

_HAN: Final = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_SPACELESS: Final = (  # kana, Hangul, Thai, Lao, Myanmar, Khmer: no spaces, or endings glued on
    "\u3041-\u3096\u30a1-\u30fa\u30fc\u31f0-\u31ff\u1100-\u11ff\uac00-\ud7a3\u0e01-\u0e4e\u0e81-\u0ece\u1000-\u103f\u1780-\u17d3"
)
_MARKS: Final = (  # inside a word, yet no \w for Python: accents, Hebrew, Arabic and Indic vowel signs, joiners
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0900-\u0963\u0970-\u0dff"
    "\u0f71-\u0fbc\u1ab0-\u1aff\u1dc0-\u1dff\u200c\u200d"
)
_EMOJI: Final = (
    "\u2190-\u21ff\u2300-\u23ff\u25a0-\u27bf\u2934\u2935\u2b00-\u2bff\U0001f000-\U0001f1e5\U0001f200-\U0001faff"
)
_FLAG: Final = "\U0001f1e6-\U0001f1ff"
_SKIN: Final = "\U0001f3fb-\U0001f3ff"
_LETTER: Final = rf"(?:[^\W_{_HAN}{_SPACELESS}]|[{_MARKS}])"

_SCAN: Final = re.compile(
    rf"""(?P<thousands>(?<![\w.,])\d{{1,3}}(?:,\d{{3}})++(?:\.\d++)?(?![\w,]))
    |(?P<han>[{_HAN}]++)
    |(?P<spaceless>[{_SPACELESS}]++)
    |(?P<emoji>[{_FLAG}]{{2}}|[{_EMOJI}][{_SKIN}]?(?:\u200d[{_EMOJI}][{_SKIN}]?)*+)
    |(?P<word>(?:~?/|(?<![\w.])\.)?{_LETTER}++(?:['&=?%#~@:/\\._+-]{{1,3}}+{_LETTER}++)*+(?:\+\+|\#)?)""",
    re.VERBOSE,
)
_PART: Final = re.compile(r"[^&=?%#~@:/\\._+-]+")  # a compound holds letters and joiners only
_SEGMENT: Final = re.compile(r"[^&=?%#~@:/\\+]+")
_HUMP: Final = re.compile(r"[A-Z]{2,}s?(?![a-z])|[A-Z]?[a-z]+|[A-Z]|\d+")
_DECIMAL: Final = re.compile(r"\d+\.\d+")
_VERSION: Final = re.compile(r"v(\d+(?:\.\d+)+)")
_LATIN: Final = re.compile(r"[a-z]+")
_CONTRACTED: Final = re.compile(r"'(?:s|m|re|ve|ll|d)?$")
_APOSTROPHES: Final = {ord("’"): "'", ord("ʼ"): "'", ord("‘"): "'"}
_UNSEEN: Final = dict.fromkeys(map(ord, "\u00ad\u200b\u200e\u200f\u2060\ufe0e\ufe0f\ufeff"))

_ENGLISH_FUNCTION_WORDS: Final = """
a about also am an and are arent as at be been being but by can cant could couldnt did didnt do does doesnt doing done
dont for from had hadnt has hasnt have havent having he her here hers him his how i if im in into is isnt it its ive
just me mine my myself of on onto or our ours she should shouldnt so than that the their theirs them then there these
they this those to too very was wasnt we were werent what when where which who whom whose why with wont would wouldnt
you your youre yours
"""
_CHINESE_FUNCTION_WORDS: Final = """
的 了 吗 呢 啊 吧 呀 嘛 哦 嗯 么 着 过 得 地 之 是 在 和 与 及 或 也 都 就 还 又 而 且 但 很 把 被 给 让 对 从 向 于 以
为 有 个 这 那 哪 谁 我 你 您 他 她 它 们 我们 你们 他们 她们 它们 咱们 自己 这个 那个 哪个 这些 那些 哪些 什么 怎么
怎样 如何 为什么 多少 哪里 哪儿 这里 那里 因为 所以 但是 如果 虽然 然后 以及 或者 还是 就是
"""
_STOP: Final = frozenset((_ENGLISH_FUNCTION_WORDS + _CHINESE_FUNCTION_WORDS).split())


def normalise(text: str) -> str:
    """Return the text as it is stored: NFC, one kind of line break, nothing a database chokes on.

    Control characters and zero-width noise go, halves of surrogate pairs become U+FFFD, and the ends are stripped.
    The zero-width joiner stays, since emoji are built with it.
    """
    if not text.isascii():
        text = unicodedata.normalize("NFC", _few_marks(_NOISE.sub("", _HALVES.sub("\ufffd", text))))
    return _CONTROL.sub("", _BREAK.sub("\n", text)).strip()


_BREAK: Final = re.compile("\r\n?|[\v\f\x85\u2028\u2029]")  # deleting a page break would glue two words together
_CONTROL: Final = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f]")
_NOISE: Final = re.compile("[\u200b\ufeff\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]")
_HALVES: Final = re.compile("[\ud800-\udfff]")
_MARKS_RUN: Final = re.compile(rf"[^\w\s\x00-\x7f]{{{_MAX_MARKS + 1},}}")


def _few_marks(text: str) -> str:
    return _MARKS_RUN.sub(lambda run: "".join(_stream_safe(run.group())), text)


def _stream_safe(run: str) -> Iterator[str]:
    marks = 0
    for character in run:
        marks = marks + 1 if unicodedata.combining(character) else 0
        if marks <= _MAX_MARKS:
            yield character


def index_words(text: str) -> list[str]:
    """Return the words a text is found by, in order, with repeats; the same for a memory and for a query.

    Compounds (paths, identifiers, versions, addresses) come whole and in parts, Chinese runs as words and as pairs of
    characters. Function words are left out, unless there is nothing else.
    """
    words = list(islice(_words(text), MAX_WORDS))
    return [word for word in words if word not in _STOP] or words


def query_words(text: str, limit: int = 64) -> list[str]:
    """Return the different words of a query in order, at most ``limit``.

    The first ones are kept: a long query is mostly a pasted text, and what leads it says what it is about. In a
    Chinese run the words come before the pairs of characters.
    """
    return list(islice(dict.fromkeys(index_words(text)), max(limit, 0)))


def _words(text: str) -> Iterator[str]:
    """All words, function words included."""
    text = unicodedata.normalize("NFKC", _few_marks(text.translate(_UNSEEN))).translate(_APOSTROPHES)
    for match in _SCAN.finditer(text):
        for word in _CUT[match.lastgroup or ""](match.group()):
            if word:
                yield word[:MAX_WORD]


def _thousands(number: str) -> Iterator[str]:
    yield number
    yield number.replace(",", "")


def _emoji(emoji: str) -> Iterator[str]:
    yield _SKINS.sub("", emoji) or emoji


_SKINS: Final = re.compile(f"[{_SKIN}]")


def _han(run: str) -> Iterator[str]:
    """Words of a Chinese run, then the pairs of neighbours that are not words already."""
    run = run[:MAX_WORDS]
    words = _cutter()(run)
    yield from words
    known = Counter(words)
    for pair in _pairs(run):
        if known[pair]:
            known[pair] -= 1
        elif len(pair) == 2 and not (pair[0] in _STOP and pair[1] in _STOP):
            yield pair


def _pairs(run: str) -> Iterator[str]:
    if len(run) == 1:
        yield run
    for at in range(len(run) - 1):
        yield run[at : at + 2]


@cache
def _cutter() -> Callable[[str], list[str]]:
    """Search-mode word cutter of the Chinese dictionary."""
    # Loading the dictionary takes 0.15 s, which a program that meets no Chinese should not pay.
    from rjieba import cut_for_search  # noqa: PLC0415

    cut: Callable[[str], list[str]] = cut_for_search
    return cut


@cache
def dictionary_cutter() -> Callable[[str], list[str]]:
    """Cuts Chinese into the words of the dictionary, each once; an index cuts them in search mode instead."""
    from rjieba import cut  # noqa: PLC0415

    cutter: Callable[[str], list[str]] = cut
    return cutter


def _compound(token: str) -> Iterator[str]:
    """Yield what stands between spaces as it is, then what it is made of: /a/b_c is b_c, and a, b and c."""
    parts = _PART.findall(token)
    if len(parts) > 1 or token[-1] in "+#" or token[0] in "./~":
        whole = _fold(token[:MAX_WORD])
        yield whole
        if _DECIMAL.fullmatch(whole):
            return
        if version := _VERSION.fullmatch(whole):
            yield version[1]
        yield from _segments(token)
    for part in parts:
        yield from _part(part)


def _segments(token: str) -> Iterator[str]:
    for found in _SEGMENT.findall(token):
        segment = found.strip("'._-")
        if segment != token and len(_PART.findall(segment)) > 1:
            yield _fold(segment[:MAX_WORD])


def _part(part: str) -> Iterator[str]:
    """Yield a run of letters and digits, the names around its apostrophe and the words of its camel case."""
    yield stem(part[:MAX_WORD])
    bare = _CONTRACTED.sub("", part)
    if "'" in bare:
        if not bare.endswith("n't"):
            yield from map(stem, bare.split("'"))
    elif not (bare.islower() or bare.isupper() or bare[1:].islower()) or not bare.isalpha():
        humps = _HUMP.findall(bare[:MAX_WORD])
        # Many short humps are a hash or encoded data, whose pieces would only match by chance.
        if len(humps) > 1 and len(bare) >= 2 * len(humps):
            yield from map(stem, humps)


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """What an English word is counted as: without case, accents and endings; any other word without case."""
    folded = _CONTRACTED.sub("", _fold(word)).replace("'", "")
    if not _LATIN.fullmatch(folded) or folded in _STOP:
        return folded
    stem: str = _ENGLISH.stemWord(folded)
    return stem


_ENGLISH: Final = Stemmer.Stemmer("english", 0)  # no cache of its own: that one is not safe between threads


def _fold(word: str) -> str:
    """Without case and accents, so that «Café» is found by «cafe»."""
    if word.isascii():
        return word.lower()
    bare = _ACCENT.sub("", unicodedata.normalize("NFKD", word.casefold()))
    return unicodedata.normalize("NFC", bare)


_ACCENT: Final = re.compile("[\u0300-\u036f\u200c\u200d]")

_CUT: Final[dict[str, Callable[[str], Iterator[str]]]] = {
    "thousands": _thousands,
    "han": _han,
    "spaceless": _pairs,
    "emoji": _emoji,
    "word": _compound,
}

_UNIT: Final = re.compile(r"[A-Za-z]+|[0-9]+|[ \t-\r]+|[^\x00-\x7f]+|[^A-Za-z0-9 \t-\r]")


def count_tokens(text: str) -> int:
    """About how many LLM tokens a text takes; rather too many than too few.

    Four letters or two digits a token, one a character in other scripts, two for emoji and rare characters.
    """
    return sum(map(_cost, _UNIT.findall(text)))


def truncate(text: str, budget: int) -> str:
    """Return the longest beginning within ``budget`` tokens, cut between words, with «…» where the rest was."""
    if _reach(text, budget) == len(text):
        return text
    if budget < 1:
        return ""
    return text[: _between_words(text, _reach(text, budget - 1))].rstrip() + "…"


def _cost(unit: str) -> int:
    first = unit[0]
    if not first.isascii():
        return sum(map(_weight, unit))
    if first.isalpha():
        return -(-len(unit) // 4)
    return 0 if unit == " " else -(-len(unit) // 2)


def _weight(character: str) -> int:
    return 2 if character > "\uffff" else 1


def _reach(text: str, budget: int) -> int:
    """How many characters of a text ``budget`` tokens pay for."""
    for match in _UNIT.finditer(text):
        cost = _cost(match.group())
        if cost > budget:
            return match.start() + _share(match.group(), max(budget, 0))
        budget -= cost
    return len(text)


def _share(unit: str, budget: int) -> int:
    if unit[0].isascii():
        return budget * (4 if unit[0].isalpha() else 2)
    for at, character in enumerate(unit):
        budget -= _weight(character)
        if budget < 0:
            return at
    return len(unit)


def _between_words(text: str, end: int) -> int:
    """Find the last place up to ``end`` where a reader would cut: between words, never inside a grapheme."""
    start = end
    while (
        start
        and end - start <= MAX_WORD
        and not _WORD_ENDS.match(text, start)
        and not _WORD_ENDS.match(text, start - 1)
    ):
        start -= 1
    if start and end - start <= MAX_WORD:
        end = start
    flags = end
    while flags and _FLAGS.match(text[flags - 1]):
        flags -= 1
    if (end - flags) % 2 and _FLAGS.match(text, end):
        end -= 1
    while end and (_EXTENDS.match(text, end) or unicodedata.combining(text[end]) or text[end - 1] == "\u200d"):
        end -= 1
    return end


_WORD_ENDS: Final = re.compile(rf"[\s{_HAN}{_SPACELESS}{_EMOJI}]")
_FLAGS: Final = re.compile(f"[{_FLAG}]")
_EXTENDS: Final = re.compile(
    f"[{_SKIN}{_MARKS}\ufe00-\ufe0f\u20e3\U000e0020-\U000e007f\u0e31\u0e34-\u0e3a\u0e47-\u0e4e]"
)
