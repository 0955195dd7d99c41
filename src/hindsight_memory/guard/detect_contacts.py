"""Ways to reach a person: e-mail addresses, telephone numbers, postal addresses.

Whether digits are a telephone number is asked of phonenumbers, for those few that look like one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, Final

from hindsight_memory.guard.detect_numbers import is_thing
from hindsight_memory.guard.detect_views import Spot

_EMAIL: Final = re.compile(
    r"(?<![A-Za-z0-9\u00c0-\u024f._%+*/\\-])[A-Za-z0-9\u00c0-\u024f][A-Za-z0-9\u00c0-\u024f._%+-]{0,63}"
    r"@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.){1,6}(?P<top>[A-Za-z]{2,18})(?![A-Za-z0-9_@-])"
)
_FILES: Final = ("png", "jpg", "jpeg", "gif", "svg", "webp", "ico", "avif", "css", "js", "ts")
_UNITS: Final = ("service", "socket", "timer", "target", "mount", "device", "scope", "slice")
_NO_TOP: Final = frozenset((*_FILES, *_UNITS))
"""Endings of file names, and of units of systemd, that stand after an @ as well."""
_NO_BOX: Final = frozenset(["git", "hg", "svn", "noreply", "no-reply"])
"""What stands before the @ of a machine's address."""
_ADDRESS: Final = re.compile(r"://[^\s/]*\Z")
"""The beginning of a web address: what stands before the @ there is who logs in."""


def emails(text: str) -> Iterator[Spot]:
    """Addresses of mail, but for those of machines."""
    for found in _EMAIL.finditer(text) if "@" in text else ():
        box = found[0].partition("@")[0].lower()
        in_address = _ADDRESS.search(text, max(0, found.start() - 200), found.start())
        if found["top"].lower() not in _NO_TOP and box not in _NO_BOX and not in_address:
            yield Spot("email", *found.span())


_EDGE: Final = r"(?<![0-9A-Za-z_])(?<![0-9][.\-,])"
_END: Final = r"(?![0-9A-Za-z_])(?![.\-,:/][0-9])"
_MOBILE: Final = re.compile(
    r"(?<![0-9])(?<![0-9][.\-,])(?:(?:\+|00)?86[ -]{0,2})?"
    r"(?:1[3-9][0-9](?:[ -]{0,2}[0-9]{4}){2}|1[3-9][0-9]{2}[ -][0-9]{4}[ -][0-9]{3}"
    r"|1[ -][3-9](?:[ -][0-9]){9}(?![ -][0-9]))"
    rf"{_END}"
)
_ABROAD: Final = re.compile(r"(?<![0-9A-Za-z+])(?:\+|00)[1-9](?:[ \-.()/]{0,3}[0-9]){6,14}(?![0-9A-Za-z])")
_AMERICAN: Final = re.compile(
    rf"{_EDGE}(?:\+?1[ .-])?(?:\([2-9][0-9]{{2}}\)[ -]?|[2-9][0-9]{{2}}(?P<sep>[-. ]))[2-9][0-9]{{2}}[-. ][0-9]{{4}}"
    rf"(?:[ ]?(?:x|ext\.?)[ ]?[0-9]{{1,6}})?{_END}"
)
_LANDLINE: Final = re.compile(
    rf"{_EDGE}(?:[(（]0[1-9][0-9]{{1,2}}[)）][ -]?|0[1-9][0-9]{{1,2}}-)[2-8][0-9]{{6,7}}(?:[-转][0-9]{{1,6}})?{_END}"
)
_CALLED: Final = re.compile(
    r"(?:(?<![A-Za-z])(?:tele)?phones?|(?<![A-Za-z])(?:tel|mobile|cell|fax|landline|whatsapp|desk|office|home|work)"
    r"|(?:call|reach|text|ring|contact|phone|answering)(?: (?:me|us|him|her|them|back))? (?:at|on)"
    r"|电话|手机|座机|联系方式|传真|手机号|联系人)"
    r"(?:[ ]?(?:number|no\.?|nr\.?|#|号码?|is|was|是|为|at|on|of mine)){0,3}[ \n:：=\"'>]{0,4}"
    r"(?P<number>\+?\(?[0-9](?:[ \-.()/]{0,3}[0-9]){5,14}(?:[ ]?(?:x|ext\.?)[0-9]{1,6})?)(?![0-9A-Za-z])",
    re.IGNORECASE,
)
_LABELLED: Final = re.compile(
    r"(?<![0-9A-Za-z_.])(?P<number>\+?\(?[0-9](?:[ \-.()/]{0,3}[0-9]){5,14})[ ]?-?[ ]?"
    r"(?:office|fax|mobile|cell|home|desk|work)(?![A-Za-z])",
    re.IGNORECASE,
)
_GLUED: Final = re.compile(r"(?:tel|phone|mobile|cell|fax|mob|ph|wa\.me/)\Z", re.IGNORECASE)


def phones(text: str) -> Iterator[Spot]:
    """Telephone numbers: Chinese mobile ones wherever they stand, others in the form of one, or called so."""
    for pattern, is_one in _FORMS:
        for found in pattern.finditer(text):
            if is_one(text, found):
                yield Spot("phone", *found.span("number" if "number" in pattern.groupindex else 0))


def _is_mobile(text: str, found: re.Match[str]) -> bool:
    return _stands_free(text, found.start()) and not is_thing(text, *found.span())


def _is_american(text: str, found: re.Match[str]) -> bool:
    return bool(found["sep"] != " " and not is_thing(text, *found.span()) and _valid(found[0], "US"))


def _is_long(_: str, found: re.Match[str]) -> bool:
    return bool(6 <= sum(each.isdigit() for each in found["number"]) <= 15)


def _stands_free(text: str, start: int) -> bool:
    """Whether a number is not the tail of a word, of a path or of an identifier."""
    before = text[max(0, start - 8) : start]
    return (
        not before
        or not (before[-1].isascii() and (before[-1].isalpha() or before[-1] in "_/#"))
        or bool(_GLUED.search(before))
    )


def _valid(number: str, region: str | None) -> bool:
    """Whether a number could be called; those of a made-up subscriber count, those of no country do not."""
    library = _phonenumbers()
    written = f"+{number[2:]}" if region is None and number.startswith("00") else number
    try:
        return bool(library.is_possible_number(library.parse(written, region)))
    except library.NumberParseException:
        return False


@cache
def _phonenumbers() -> Any:
    # Imported when a number first needs it: it reads the numbering plans of all countries.
    import phonenumbers  # noqa: PLC0415

    return phonenumbers


_FORMS: Final[Sequence[tuple[re.Pattern[str], Callable[[str, re.Match[str]], bool]]]] = (
    (_MOBILE, _is_mobile),
    (_ABROAD, lambda _, found: _valid(found[0], None)),
    (_AMERICAN, _is_american),
    (_LANDLINE, lambda text, found: not is_thing(text, *found.span())),
    (_CALLED, _is_long),
    (_LABELLED, _is_long),
)
"""What a telephone number looks like, each form with what else must be so."""

_CHINESE_ADDRESS: Final = re.compile(
    r"(?:[\u4e00-\u9fff]{2,7}(?:省|自治区))?[\u4e00-\u9fff]{2,8}(?:市|自治州|地区)?[\u4e00-\u9fff]{1,8}[区县旗镇乡]?"
    r"[\u4e00-\u9fff0-9]{1,12}(?:路|街|大道|大街|巷|弄|胡同|村|里)"
    r"(?:[0-9A-Za-z一二三四五六七八九十]{1,6}(?:弄|号院?|栋|幢|座|单元|层|楼|室))+"
)
_STREET: Final = (
    "street|st|avenue|ave|road|rd|boulevard|blvd|lane|ln|drive|dr|court|ct|place|pl|square|sq|terrace|ter|way|highway|hwy"
    "|parkway|pkwy|circle|cir|trail|trl|crescent|close|row|walk"
)
_ENGLISH_ADDRESS: Final = re.compile(
    rf"(?<![0-9A-Za-z.,$€£-])[0-9]{{1,5}}[A-Za-z]?[ ](?:[A-Z0-9][\w'’.-]{{0,20}}[ ]){{1,4}}(?:{_STREET})\b\.?"
    r"(?:,?[ \n]{1,3}(?:apt|apartment|suite|ste|unit|floor|fl|room|rm|#)\.?[ ]?[0-9A-Za-z-]{1,6})?"
    r"|(?<![A-Za-z])P\.?[ ]?O\.?[ ]?Box[ ][0-9]{1,7}",
    re.IGNORECASE,
)


def addresses(text: str) -> Iterator[Spot]:
    """Postal addresses with a house number, as they are written in China and in English-speaking countries."""
    for pattern in (_CHINESE_ADDRESS, _ENGLISH_ADDRESS):
        for found in pattern.finditer(text):
            if any(each.isdigit() for each in found[0]):
                yield Spot("address", *found.span())


LOOK: Final[Sequence[tuple[tuple[str, ...], Callable[[str], Iterator[Spot]]]]] = ((("phone",), phones),)
"""The detector of this module that looks at numbers alone."""
