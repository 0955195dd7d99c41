"""Reads the names a text mentions, in English and Chinese, by rules that would rather miss one than make one up.

A name is kept folded (``fold_name``): without case and accents, and never otherwise changed. Two names are the same
only when they fold to the same text; nothing is merged for looking alike.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from hindsight_memory.text.chinese_names import HAN, chinese_names, chinese_words
from hindsight_memory.text.common import is_common, table
from hindsight_memory.text.forms import ENDS, HAS_HAN, HUMPED, formed_names
from hindsight_memory.text.patterns import Lazy

READ: Final = 10_000
"""Characters of a text that are looked at."""

MAX_NAMES: Final = 32
"""Names of one text that are kept, the first ones: a text that mentions more is a list of them."""

MAX_NAME: Final = 120
"""Characters of a name; what is longer is not cut, for two names could then become one, but left out."""

MAX_CANDIDATES: Final = 256
"""Candidates of one query: each is looked up."""

_QUERY: Final = 1_000
_FOLDS: Final = 5
_ACCENT: Final = Lazy("[\u0300-\u036f\u00ad\u200b-\u200f\u2060\ufe00-\ufe0f\ufeff]")
_APOSTROPHES: Final = {ord(sign): "'" for sign in "’ʼ‘＇"}
_POSSESSIVE: Final = Lazy(r"'s?$")


def fold_name(text: str) -> str:
    """The form in which a name is kept and compared: no case, no accents, single spaces; folding twice is folding once.

    «Café Müller’s» and «cafe muller» are one; «Room 101» and «Room 102» are two.
    """
    for _ in range(_FOLDS):
        folded = _folded(text)
        if folded == text:
            break
        text = folded
    return text


def _folded(text: str) -> str:
    if not text.isascii():
        text = unicodedata.normalize("NFKD", text.translate(_APOSTROPHES).casefold())
        text = unicodedata.normalize("NFKC", _ACCENT.pattern.sub("", text))
    text = " ".join(text.lower().split()).strip(ENDS)
    return _POSSESSIVE.pattern.sub("", text)


def names_in(text: str) -> list[str]:
    """The names a text mentions, folded, each once, in the order they are read; at most ``MAX_NAMES``.

    What has a form of its own comes first (addresses, paths, identifiers, what stands in quotation marks), then names
    by their capitals, then Chinese ones.
    """
    text = text[:READ]
    found = dict.fromkeys(islice(_kept(_all_names(text)), 4 * MAX_NAMES))
    return list(found)[:MAX_NAMES]


def candidate_names(text: str) -> list[str]:
    """What a query may name, however it is written: its names, then its runs of one to three words, folded.

    People write «what did caroline do». Which of these are names, the bank knows.
    """
    text = text[:_QUERY]
    found = dict.fromkeys(names_in(text))
    found |= dict.fromkeys(_kept(islice(_runs(text), 4 * MAX_CANDIDATES)))
    return list(found)[:MAX_CANDIDATES]


def _all_names(text: str) -> Iterator[str]:
    yield from formed_names(text)
    yield from _by_capitals(text)
    if HAS_HAN.pattern.search(text):
        yield from _latin_among_han(text)
        yield from chinese_names(text)


def _kept(names: Iterable[str]) -> Iterator[str]:
    for name in names:
        if len(name) <= 2 * MAX_NAME:
            folded = fold_name(name)
            if 2 <= len(folded) <= MAX_NAME and not folded.isdecimal():
                yield folded


# Names by their capitals

_WORD: Final = Lazy(
    rf"[^\W_{HAN}\u3041-\u30ff\uac00-\ud7a3]++(?:['’&-][^\W_{HAN}\u3041-\u30ff\uac00-\ud7a3]++)*+(?:\+\+|\#(?!\w))?"
)
_BREAKS: Final = Lazy(r"[.!?:;\n•…。！？：；“「«\"(（]")
_INITIALS: Final = Lazy(r"(?<![\w.])(?:[A-Z]\.){2,6}")
_NEVER: Final = table(
    """
i im ive id ill monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat
sun january february march april may june july august september october november december jan feb mar apr jun
jul aug sep sept oct nov dec am pm ok tv lol omg asap fyi btw imo imho diy ps etc aka faq todo tbd tba eta rip
ad bc utc gmt mr mrs ms dr prof sir mum mom dad mama papa grandma grandpa god christmas easter halloween
thanksgiving
"""
)
_TITLES: Final = frozenset(["mr", "mrs", "ms", "dr", "prof", "st"])
_JOINS: Final = table("of de la van von der den del di da du bin al the")
_LEADING: Final = table(
    """
a an the him me us them this that these those my your his her its our their he she it we they you who what when
where why how
which whose and or but so if then also as at by for from in into of on to with about after before during until
since while because although though however there here let yes no not hey hi hello thanks thank dear please
sorry wow woah whoa oh ah well congrats
"""
)
_BEFORE_NAMES: Final = table(
    """
new great red big north south east west saint san los las grand royal old little first united national black
white golden blue green silver high long free northern southern eastern western general prince princess king
queen lady lord uncle aunt mount lake port fort cape team project operation
"""
)
"""Ordinary words that a name may well begin with."""

_VERBS: Final = table(
    """
is was are were has had have will would can could should may might must did do went got made took saw came gave
found met bought told felt left kept began ran sent wrote spoke won lost built drove ate grew knew thought
taught brought chose flew sold paid read put let set spent sang swam became also just never always really
recently and who said cannot
"""
)
_NO_VERBS: Final = table("this always his its as us plus perhaps is class less yes across")
_CONTRACTED: Final = Lazy("'(?:m|re|ve|ll|d|t)$")
_NUMBER: Final = Lazy(r"[0-9]{1,3}(?:\.[0-9]{1,3})*+$|[0-9]+(?:\.[0-9]+)+$")


def _by_capitals(text: str) -> Iterator[str]:
    yield from (match.group().replace(".", "") for match in _INITIALS.pattern.finditer(text))
    tokens = [(match.start(), match.end(), match.group()) for match in _WORD.pattern.finditer(text)]
    middle: set[str] = set()
    doubtful: list[str] = []
    at = 0
    while at < len(tokens):
        if not _is_capital(tokens[at][2]) or _is_piece(text, tokens[at]):
            at += 1
            continue
        first = _opens(text, tokens, at)
        end = _run_end(text, tokens, at)
        kept = _stripped([word for _, _, word in tokens[at:end]], first)
        if kept and not _is_shouted(tokens, at, end):
            name = " ".join(kept)
            if first and len(kept) == 1 and end - at == 1 and not _is_clear(text, tokens, at):
                doubtful.append(name)
            else:
                middle.update(kept)
                yield from _versioned(text, tokens, end, name)
        at = end
    # At the start of a sentence a word is a name when it is one in the middle of another.
    yield from (name for name in doubtful if name in middle)


def _is_piece(text: str, token: tuple[int, int, str]) -> bool:
    """Whether a word is part of an identifier, a path or an address."""
    start, end, _ = token
    before, after = text[start - 1] if start else " ", text[end : end + 1]
    if before == " " and (after == " " or not after):
        return False
    dotted = (before == "." and text[max(0, start - 2)].isalnum()) or (
        after == "." and text[end + 1 : end + 2].isalnum()
    )
    return before in _GLUE or after in _GLUE or dotted


_GLUE: Final = frozenset("_/\\@#=")


def _is_capital(word: str) -> bool:
    return word[0].isupper() and (len(word) > 1 or word not in "AI") and word.lower() not in _NEVER


def _opens(text: str, tokens: list[tuple[int, int, str]], at: int) -> bool:
    """Whether a sentence begins here, so that the capital says nothing."""
    if at == 0:
        return True
    between = text[tokens[at - 1][1] : tokens[at][0]]
    return (
        between != " "
        and bool(_BREAKS.pattern.search(between))
        and not (between[:1] == "." and tokens[at - 1][2].lower() in _TITLES)
    )


def _run_end(text: str, tokens: list[tuple[int, int, str]], at: int) -> int:
    """The end of a run of capitals: «Bank of America» is one, «Melanie’s Pottery» are two."""
    end, place = at + 1, at + 1
    while place < len(tokens) and place - at < 8:
        _, before, previous = tokens[place - 1]
        start, _, word = tokens[place]
        gap = text[before:start]
        if gap not in (" ", "\u00a0", " & ") or _POSSESSIVE.pattern.search(fold_quote(previous)):
            break
        if _is_capital(word) or (word[0].isupper() and len(word) == 1 and word != "I"):
            end = place + 1
        elif word not in _JOINS or place - end > 1:
            break
        place += 1
    return end


def fold_quote(word: str) -> str:
    """A word with plain apostrophes."""
    return word if word.isascii() else word.translate(_APOSTROPHES)


def _stripped(words: list[str], first: bool) -> list[str]:
    """A run without the words before it that only the sentence gave a capital."""
    start = 0
    while start < len(words):
        word = fold_quote(words[start]).lower()
        plain = word.partition("'")[0]
        alone = start == len(words) - 1
        if not (
            plain in _LEADING
            or plain in _JOINS
            or _CONTRACTED.pattern.search(word)
            or (first and is_common(word) and (alone or plain not in _BEFORE_NAMES))
            or (alone and not first and _is_half_lower(words[start]))
        ):
            break
        start += 1
    kept = words[start:]
    # «Self-care», «T-shirt»: a capital and a hyphen make no name.
    return [] if len(kept) == 1 and _is_half_lower(kept[0]) else kept


def _is_half_lower(word: str) -> bool:
    _, hyphen, rest = word.partition("-")
    return bool(hyphen) and rest[:1].islower()


def _is_shouted(tokens: list[tuple[int, int, str]], at: int, end: int) -> bool:
    """«I LOVE THIS»: capitals among capitals are loud, not names."""
    word = tokens[at][2]
    if not word.isupper() or len(word) < 2 or any(each.isdecimal() for each in word):
        return False
    near = [each for _, _, each in tokens[max(0, at - 2) : end + 2] if len(each) > 1]
    loud = sum(each.isupper() for each in near)
    return loud >= 3 or (is_common(word.lower()) and len(word) > 3)


def _is_clear(text: str, tokens: list[tuple[int, int, str]], at: int) -> bool:
    """Whether a first word is a name by what follows: «Caroline’s», «Caroline said», «Caroline:», or by its form."""
    _, end, word = tokens[at]
    plain = fold_quote(word)
    if plain.endswith(("'s", "'")) or HUMPED.pattern.search(word) or (word.isupper() and len(word) > 1):
        return True
    if any(character.isdecimal() for character in word) or text[end : end + 1] in (":", "："):
        return True
    if at + 1 == len(tokens) or text[end : tokens[at + 1][0]] != " ":
        return False
    following = fold_quote(tokens[at + 1][2])
    if not following.islower():
        return bool(_NUMBER.pattern.match(following))
    verbal = following.endswith(("s", "ed")) and len(following) > 2 and following not in _NO_VERBS
    return verbal or following.removesuffix("n't") in _VERBS or following in _VERBS


def _versioned(text: str, tokens: list[tuple[int, int, str]], end: int, name: str) -> Iterator[str]:
    """The name, and with the number that is part of it: «Python 3.11», «Windows 11»; «Room 101» is nothing without."""
    number = _AFTER.pattern.match(text, tokens[end - 1][1])
    common = " " not in name and is_common(fold_quote(name).lower())
    if not common:
        yield name
    if number is not None:
        yield f"{name} {number[1]}"


_AFTER: Final = Lazy(
    r" (v?[0-9]{1,4}(?:\.[0-9]{1,4}){1,3}|v[0-9]{1,3}|[0-9]{1,3}(?! (?!is|was|has)[a-z]+s(?![a-z])))(?![0-9A-Za-z:/%])"
)

# Latin among Chinese, and what a query may mean

_LATIN: Final = Lazy(r"[A-Za-z][A-Za-z0-9]*+(?:[.+#-][A-Za-z0-9]++)*+(?:\+\+|#)?")
_UNITS: Final = table("km kg cm mm ml gb mb kb tb kw kwh mah hz ghz rpm min sec app ok am pm vs id pdf ppt")


def _latin_among_han(text: str) -> Iterator[str]:
    """In Chinese a word in Latin letters is a name, whatever its case: «我用docker部署»."""
    for match in _LATIN.pattern.finditer(text):
        word = match.group()
        around = text[max(0, match.start() - 2) : match.start()] + text[match.end() : match.end() + 2]
        digit = text[max(0, match.start() - 1) : match.start()].isdecimal()
        plain = word.lower()
        if (
            len(word) > 1
            and not digit
            and HAS_HAN.pattern.search(around)
            and plain not in _UNITS
            and plain not in _NEVER
        ):
            if word.islower() and is_common(plain):
                continue
            yield word


_STOP: Final = _LEADING | _JOINS | _VERBS | table("i me him them us be been there here")


def _runs(text: str) -> Iterator[str]:
    tokens = [(m.start(), m.end(), fold_quote(m.group())) for m in _WORD.pattern.finditer(text)]
    for size in (1, 2, 3):
        for at in range(len(tokens) - size + 1):
            run = tokens[at : at + size]
            if {run[0][2].lower().partition("'")[0], run[-1][2].lower().partition("'")[0]} & _STOP:
                continue
            gaps = {text[run[place][1] : run[place + 1][0]] for place in range(size - 1)}
            if gaps <= {" ", ". "}:
                yield " ".join(word for _, _, word in run)
    if HAS_HAN.pattern.search(text):
        yield from chinese_words(text)
