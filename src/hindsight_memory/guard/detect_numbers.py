"""Numbers that name a person or an account: identity papers, cards, bank accounts, told from others by their checksums.

The checks are python-stdnum's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from functools import cache
from importlib import import_module
from typing import Any, Final

from hindsight_memory.guard.detect_views import Spot

ENOUGH: Final = re.compile(r"[0-9](?:[^0-9A-Za-z\u4e00-\u9fff\n]{0,3}[0-9]){5}|[A-Z]{6}[0-9]{2}[A-Z][0-9]{2}")
"""Six digits almost side by side: with less, there is no number to look for."""
_NO_NUMBER: Final = re.compile(
    r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"  # UUID
    r"|(?<![0-9])(?:1[89]|20)[0-9]{2}[-/.年](?:0?[1-9]|1[0-2])[-/.月](?:0?[1-9]|[12][0-9]|3[01])日?(?![0-9-])"
    r"(?:[T _]{0,2}[0-9]{1,2}[:h][0-9]{2}(?::[0-9]{2}(?:[.,][0-9]{1,9})?)?(?:Z|[ ]?[+-][0-9]{2}:?[0-9]{2})?)?"
    r"|(?<![0-9])[0-9]{1,2}/[0-9]{1,2}/(?:[0-9]{2}){1,2}(?![0-9])"
    r"|(?<![0-9])[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?(?![0-9])"
    r"|(?<![0-9.])[0-9]{1,3}(?:\.[0-9]{1,3}){3}(?:[:/][0-9]{1,5})?(?!\.?[0-9])"  # IP address
)
_NAMED: Final = re.compile(
    r"(?:订单|单号|编号|流水|序列号|工单|快递|运单|物流|学号|工号|票号|批次|版本|型号|条码|群|QQ"
    r"|(?:order|invoice|ticket|issue|build|commit|tracking|sku|serial|job|request|trace|run|message|user|chat|channel"
    r"|guild|tweet|post|thread|session|event|item|product|case|ref|reference|txn|transaction|transfer|row|record|part"
    r"|parcel|shipment|booking|imei|isbn|ean|upc|gtin|timestamp|ts|epoch|version|offset|seed|size|bytes|port|pid|uid"
    r"|gid|inode|hash|nonce|model|batch|lot|id|ids)(?![a-z]))"
    r"(?:[ _]?(?:id|number|no\.?|nr\.?|num|号码?|编号|is|was|是|为))?[\s:：=#\"'(-]{0,3}\Z",
    re.IGNORECASE,
)
"""What says, right before a number, that it is the number of a thing."""
_MEASURED: Final = re.compile(
    r"\s?(?:元|块|美元|字节|毫秒|秒|个|条|行|bytes?\b|[kKMGT]i?B\b|[mnu]s\b|rows?\b|%|\.[0-9])"
)


def is_thing(text: str, start: int, end: int) -> bool:
    """Whether a number is said to be that of a thing, or a measure of something."""
    return bool(_NAMED.search(text, max(0, start - 30), start) or _MEASURED.match(text, end))


def without_dates(text: str) -> str:
    """The text with its dates, times, UUIDs and network addresses made blank; every place stays what it is."""
    return _NO_NUMBER.sub(lambda found: "\n" * len(found[0]), text)


_LONG: Final = re.compile(r"(?<![0-9A-Za-z_.])[0-9](?:[ -]{0,2}[0-9]){11,40}[ -]?[Xx]?(?![0-9A-Za-z_])")
_GROUP: Final = re.compile(r"[0-9]+[Xx]?|[Xx]")
_DATED: Final = re.compile(r"[1-9][0-9]{5}((?:18|19|20)[0-9]{2})([0-9]{2})([0-9]{2})[0-9]{3}[0-9Xx]")


def national_ids(text: str) -> Iterator[Spot]:
    """Chinese resident ids, and the numbers of other countries' papers.

    A resident id whose checksum is wrong counts too where its place and its day of birth are real ones, or where the
    text says what it is: people mistype, and invented examples are full of them.
    """
    for run in _LONG.finditer(text):
        for start, end in _windows(run, (18,)):
            number = _digits(text[start:end])
            if resident_id(number) or (_DATED.fullmatch(number) and _says(_RESIDENT, text, start)):
                yield Spot("national_id", start, end)
    for pattern, module, said in _PAPERS:
        for found in pattern.finditer(text) if said is None or said.search(text) else ():
            if (said is None or _says(said, text, found.start())) and _stdnum(module).is_valid(found[0]):
                yield Spot("national_id", *found.span())
    for found in _PAPER.finditer(text):
        if any(each.isdigit() for each in found["number"]):
            yield Spot("national_id", *found.span("number"))


def resident_id(number: str) -> bool:
    """Whether 18 characters are a Chinese resident id: its checksum right, or else its place and day real."""
    dated = _DATED.fullmatch(number)
    if dated is None:
        return False
    try:
        date(int(dated[1]), int(dated[2]), int(dated[3]))
    except ValueError:
        return False
    ric = _stdnum("cn.ric")
    if ric.calc_check_digit(number.upper()) == number[-1].upper():
        return True
    try:
        return bool(ric.get_birth_place(number))
    except _stdnum("exceptions").ValidationError:
        return False


def has_right_checksum(number: str) -> bool:
    """Whether the last digit of a Chinese resident id is the one that follows from the others."""
    return bool(_DATED.fullmatch(number)) and _stdnum("cn.ric").calc_check_digit(number.upper()) == number[-1].upper()


_RESIDENT: Final = re.compile(
    r"身份证|证件|公民身份|身份号|(?:identity|id|citizen)[ -]?(?:card|number|no)\b|resident", re.IGNORECASE
)
_Paper = tuple[re.Pattern[str], str, re.Pattern[str] | None]


def _paper(form: str, check: str, called: str = "") -> _Paper:
    return re.compile(form), check, re.compile(called, re.IGNORECASE) if called else None


_PAPERS: Final[Sequence[_Paper]] = (
    _paper(r"(?<![0-9A-Za-z-])[0-9]{3}-[0-9]{2}-[0-9]{4}(?![0-9A-Za-z-])", "us.ssn"),
    _paper(r"(?<![0-9A-Za-z-])[0-9]{3} ?[0-9]{2} ?[0-9]{4}(?![0-9A-Za-z-])", "us.ssn", r"\bssn\b|social security"),
    _paper(r"(?<![0-9.])[0-9]{3}\.[0-9]{3}\.[0-9]{3}-[0-9]{2}(?![0-9])", "br.cpf"),
    _paper(r"(?<![0-9-])[0-9]{6}-[1-4][0-9]{6}(?![0-9-])", "kr.rrn"),
    _paper(r"(?<![0-9A-Z])[A-Z]{6}[0-9]{2}[A-Z][0-9]{2}[A-Z][0-9]{3}[A-Z](?![0-9A-Z])", "it.codicefiscale"),
    _paper(r"(?<![0-9A-Z-])[0-9]{8}-?[A-Z](?![0-9A-Za-z])", "es.dni", r"\b(?:dni|nif)\b"),
    _paper(r"(?<![0-9])[2-9][0-9]{3} ?[0-9]{4} ?[0-9]{4}(?![0-9])", "in_.aadhaar", r"aadhaar|uidai"),
    _paper(r"(?<![0-9])[12](?: ?[0-9AB]){12}(?: ?[0-9]{2})(?![0-9])", "fr.nir", r"\bnir\b|sécurité sociale"),
    _paper(r"(?<![0-9])[0-9]{11}(?![0-9])", "de.idnr", r"steuer-?id|idnr|identifikationsnummer"),
    _paper(r"(?<![0-9])[0-9]{11}(?![0-9])", "pl.pesel", r"\bpesel\b"),
)
"""Numbers by their form, the check that they stand, and what must be said before where the form alone is too common."""
_PAPER: Final = re.compile(
    r"(?:driver'?s? licen[cs]e|driving licen[cs]e|passport|护照|驾驶?证|通行证|社保卡?|社会保障)"
    r"(?:[ ]?(?:number|no\.?|nr\.?|#|号码?|是|为|is|was)){0,4}[ ]?[:：=]?[ ]?"
    r"(?P<number>(?=[A-Z0-9]*[0-9]{5})[A-Z0-9]{6,18})(?![0-9A-Za-z])",
    re.IGNORECASE,
)


def cards(text: str) -> Iterator[Spot]:
    """Numbers of payment cards: with an issuer's first digits and a right checksum, or called so."""
    for run in _LONG.finditer(text):
        for start, end in _windows(run, range(12, 20)):
            number = _digits(text[start:end])
            called = _says(_CARD, text, start, 40)
            if (
                _issued(number, called=called)
                and _stdnum("luhn").is_valid(number)
                and (called or not is_thing(text, start, end))
            ):
                yield Spot("card", start, end)
    for found in _CALLED_CARD.finditer(text):
        yield Spot("card", *found.span("number"))


def is_card(number: str) -> bool:
    """Whether digits are a card's by their first ones, their length and their checksum."""
    return _issued(number, called=True) and bool(_stdnum("luhn").is_valid(number))


_CARD: Final = re.compile(
    r"银行卡|信用卡|储蓄卡|借记卡|卡号"
    r"|\b(?:cards?|cc|visa|master ?card|amex|american express|maestro|discover|diners|jcb|unionpay|debit|credit)\b",
    re.IGNORECASE,
)
_CALLED_CARD: Final = re.compile(
    r"(?:银行卡|信用卡|储蓄卡|借记卡|卡号|card (?:number|no\.?))"
    r"(?:号码?|为|是|is|was|[ :：=#]){0,8}(?P<number>[0-9](?:[ -]?[0-9]){12,18})(?![0-9A-Za-z])",
    re.IGNORECASE,
)
_USUAL: Final = re.compile(
    r"4[0-9]{15}|5[1-5][0-9]{14}|2(?:22[1-9]|2[3-9][0-9]|[3-6][0-9]{2}|7[01][0-9]|720)[0-9]{12}|3[47][0-9]{13}"
    r"|35(?:2[89]|[3-8][0-9])[0-9]{12}|6(?:011|4[4-9][0-9]|5[0-9]{2})[0-9]{12}|62[0-9]{14}(?:[0-9]{3})?"
)
"""Numbers of the card networks, of the length that nearly all of their cards have."""
_ISSUED: Final = re.compile(r"[2-6][0-9]{11,18}|1800[0-9]{11}|81[0-9]{14,17}")


def _issued(number: str, *, called: bool) -> bool:
    return bool((_ISSUED if called else _USUAL).fullmatch(number))


_IBAN: Final = re.compile(r"(?<![A-Za-z0-9])[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]){11,30}(?![A-Za-z0-9])", re.IGNORECASE)
_ACCOUNT: Final = re.compile(
    r"(?:银行账[号户]|收款账[号户]|对公账[号户]|开户账?号|账[号户](?=[^0-9A-Za-z]{0,4}[0-9]{12})"
    r"|(?:bank |checking |savings )?(?:account|acct|a/c)\.? ?(?:number|no\.?|nr\.?|#)|routing number|sort code)"
    r"(?:号码?|为|是|is|was|[ :：=#]){0,8}(?P<number>[0-9](?:[ -]?[0-9]){5,23})(?![0-9A-Za-z])",
    re.IGNORECASE,
)


def accounts(text: str) -> Iterator[Spot]:
    """IBANs whose checksum is right, and numbers that are called an account's."""
    for found in _IBAN.finditer(text):
        for end in _ends(found):
            if _stdnum("iban").is_valid(text[found.start() : end], check_country=False):
                yield Spot("iban", found.start(), end)
                break
    for found in _ACCOUNT.finditer(text):
        yield Spot("account", *found.span("number"))


def _ends(found: re.Match[str]) -> list[int]:
    """Where a number written in groups may end, the last place first: words may follow it."""
    spaces = [found.start() + place for place, each in enumerate(found[0]) if each == " "]
    return [found.end(), *reversed([place for place in spaces if place - found.start() >= 14])]


def _digits(text: str) -> str:
    return "".join(each for each in text if each.isalnum())


def _says(pattern: re.Pattern[str], text: str, start: int, back: int = 24) -> bool:
    """Whether something is said shortly before a place."""
    return pattern.search(text, max(0, start - back), start) is not None


_SHAPES: Final = frozenset(
    [(4, 4, 4, 4), (4, 6, 5), (4, 6, 4), (4, 4, 4, 4, 3), (4, 4, 4, 6), (4, 5, 6), (6, 8, 4), (6, 4, 4, 4)]
)
_MOST_GROUPS: Final = 12
"""Groups of a run that are put together in every way; a longer one is one number, or none."""


def _windows(run: re.Match[str], lengths: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Stretches of a run of digits that may be one number: all of it, a group of it, or groups in a usual shape."""
    groups = [(each.start(), each.end()) for each in _GROUP.finditer(run[0])]
    for first in range(len(groups) if len(groups) <= _MOST_GROUPS else 1):
        total, sizes = 0, []
        for last in range(first, len(groups)):
            size = groups[last][1] - groups[last][0]
            total += size
            sizes.append(size)
            if total > lengths[-1]:
                break
            whole = last - first + 1 in (1, len(groups))
            if total in lengths and (whole or tuple(sizes) in _SHAPES):
                yield run.start() + groups[first][0], run.start() + groups[last][1]


@cache
def _stdnum(name: str) -> Any:
    # Imported when a number first needs it: the package reads tables that most processes never look at.
    return import_module(f"stdnum.{name}")


LOOK: Final[Sequence[tuple[tuple[str, ...], Callable[[str], Iterator[Spot]]]]] = (
    (("national_id",), national_ids),
    (("card",), cards),
    (("iban", "account"), accounts),
)
"""The detectors of this module, each with the types it finds."""
