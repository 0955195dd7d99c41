"""Finds the spans of time a text names, in English and Chinese, seen from the moment it was said."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from typing import Final

from hindsight_memory.domain import Window
from hindsight_memory.text import spans
from hindsight_memory.text.phrases import CHINESE, ENGLISH, NUMERIC, Rule
from hindsight_memory.text.spans import Today

READ: Final = 2_000
"""Characters of a text that are looked at: what a question asks for stands at its beginning."""

MOST: Final = 8
"""Windows of one text: a text that names more dates is a list, and a list narrows nothing down."""

_AROUND: Final = 40
"""Characters before a phrase that can bear on it."""

_ANY_DIGIT: Final = re.compile(r"\d{4}")
_ANY_ENGLISH: Final = re.compile("[a-z]{3}|q[1-4]", re.IGNORECASE)
_ANY_CHINESE: Final = re.compile("[年月日号天周期拜季刚近晚夜早末前后]")

_COMPANY: Final = {  # words before which a month or a short weekday can be nothing else
    "month": re.compile(
        r"(?<![a-z])(?:in|during|since|before|after|until|till|between|early|late|mid|through|(?:start|beginning|middle|end|month)"
        r"\s+of)[\s-]+$",
        re.IGNORECASE,
    ),
    "weekday": re.compile(r"(?<![a-z])(?:on|since|before|after|until|till|between)\s+$", re.IGNORECASE),
}
_LISTED: Final = re.compile(r"\s*(?:,|and|or|to|until|till|through|-|–|&)\s*", re.IGNORECASE)
_TO: Final = re.compile(r"\s*(?:(?:to|until|till|through|thru)\s+(?:the\s+)?|[-–—~～到至])\s*", re.IGNORECASE)
_AND: Final = re.compile(r"\s*(?:and\s+(?:the\s+)?|[和与])\s*", re.IGNORECASE)
_BETWEEN: Final = re.compile(r"(?<![a-z])between\s+(?:the\s+)?$", re.IGNORECASE)
_RANGED: Final = re.compile(r"\s*(?:to|until|till|through|-|–)\s", re.IGNORECASE)
_EDGE: Final = re.compile(
    r"(?<![a-z])(early|late|mid|(?:start|beginning|middle|end)\s+of)[\s-]+(?:the\s+)?$", re.IGNORECASE
)
_EDGES: Final = {"ear": "first", "sta": "first", "beg": "first", "mid": "mid", "lat": "last", "end": "last"}
_OPEN_BEFORE: Final = re.compile(
    r"(?<![a-z])(?P<unit>(?:day|night|week|month|year)s?\s+)?(?P<word>since|before|after|until|till)\s+(?:the\s+)?$",
    re.IGNORECASE,
)
_OPENS: Final = {"since": "since", "before": "before", "until": "before", "till": "before", "after": "after"}
_OPEN_AFTER: Final = re.compile(
    r"(?P<since>以来|至今|到现在|起(?!床|来|飞)|开始|\s+(?:(?:to|until|till)\s+(?:now|the\s+present)|onwards?)(?![a-z]))"
    r"|(?P<before>[之以]前|前(?![天年几两些面]))|(?P<after>[之以]后|后(?![天年来面]))",
    re.IGNORECASE,
)


def find_windows(text: str, now: datetime) -> list[Window]:
    """Find the spans of time a text names, in its order, in UTC; ``now`` is the asker's time and zone.

    A date without a year is the last one that was; one that does not exist, or lies outside the calendar, is ignored.
    Two that are joined («from May to July», «5月到7月») are one span, and «since», «before», «以后» open one.
    """
    if now.tzinfo is None:
        raise ValueError("The moment a text was said needs its time zone.")
    text, today = text[:READ], Today.at(now)
    windows: dict[tuple[datetime, datetime], Window] = {}
    for item in _joined(text, _standing(text, _found(text, today))):
        named = _opened(text, item, today)
        since, until = (at.replace(tzinfo=now.tzinfo).astimezone(UTC) for at in (named.since, named.until))
        if since < until:
            windows.setdefault((since, until), Window(since, until, text[named.start : named.end].strip()))
    return list(windows.values())[:MOST]


@dataclass(frozen=True, slots=True)
class _Item:
    """A phrase that was read as a span; ``yearless`` when it left the year open, ``needs`` what must precede it."""

    start: int
    end: int
    since: datetime
    until: datetime
    yearless: bool = False
    needs: str = ""


def _found(text: str, today: Today) -> list[_Item]:
    """Read every phrase of the tables; where two overlap, the longer one stands."""
    items: list[_Item] = []
    for source, read, needs in _rules_for(text):
        pattern = _compiled(source)
        for match in pattern.finditer(text):
            span = read(match, today)
            if span:
                yearless = "y" in pattern.groupindex and not match["y"]
                items.append(_Item(match.start(), match.end(), *span, yearless, needs))
    kept: list[_Item] = []
    for item in sorted(items, key=lambda i: (i.start - i.end, i.start))[: 20 * MOST]:
        if all(item.end <= other.start or other.end <= item.start for other in kept):
            kept.append(item)
    return sorted(kept, key=lambda i: i.start)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _rules_for(text: str) -> Iterator[Rule]:
    if _ANY_DIGIT.search(text):
        yield from NUMERIC
    if _ANY_ENGLISH.search(text):
        yield from ENGLISH
    if _ANY_CHINESE.search(text):
        yield from CHINESE


def _standing(text: str, items: list[_Item]) -> list[_Item]:
    """Drop what is a date only in company («May», «Sun») and has none, and «recently» beside a date."""
    kept: list[_Item] = []
    for item in items:
        before = text[max(0, item.start - _AROUND) : item.start]
        listed = kept and _LISTED.fullmatch(text, kept[-1].end, item.start)
        ranged = before.lower().rstrip().endswith("from") and _RANGED.match(text, item.end)
        if item.needs not in _COMPANY or listed or ranged or _COMPANY[item.needs].search(before):
            kept.append(item)
    # «What did she buy recently in May 2022»: recently as seen from then.
    return [item for item in kept if item.needs != "nothing"] or kept


def _joined(text: str, items: list[_Item]) -> Iterator[_Item]:
    """Make one span of two that a text joins."""
    at = 0
    while at < len(items):
        item = items[at]
        following = items[at + 1] if at + 1 < len(items) else None
        if following and _is_range(text, item, following):
            yield _span_of(item, following)
            at += 2
        else:
            yield item
            at += 1


def _is_range(text: str, left: _Item, right: _Item) -> bool:
    if _TO.fullmatch(text, left.end, right.start):
        return True
    between = _BETWEEN.search(text[max(0, left.start - _AROUND) : left.start]) or text.startswith("之间", right.end)
    return bool(between and _AND.fullmatch(text, left.end, right.start))


def _span_of(left: _Item, right: _Item) -> _Item:
    """One span from the first to the second; a year that one of them leaves open comes from the other."""
    since, until = left.since, right.until
    if left.yearless and not right.yearless:
        since = spans.shift_years((since, until), right.since.year - since.year)[0]
        if since >= until:
            since = spans.shift_years((since, until), -1)[0]
    elif right.yearless:
        wraps = (right.since.month, right.since.day) < (since.month, since.day)
        until = spans.shift_years((right.since, until), since.year - right.since.year + wraps)[1]
    return _Item(left.start, right.end, min(since, until), max(since, until))


def _opened(text: str, item: _Item, today: Today) -> _Item:
    """Apply what stands around a span: «early», «since», «before», «以后»."""
    if near := _EDGE.search(text, max(0, item.start - _AROUND), item.start):
        since, until = spans.edge((item.since, item.until), _EDGES[near[1][:3].lower()])
        item = replace(item, start=near.start(), since=since, until=until)
    direction, item = _direction(text, item)
    first, last = spans.days(spans.FIRST_DAY, spans.LAST_DAY)
    match direction:
        case "since":
            tomorrow = spans.days(today.day, today.day + 1)[1]
            return replace(item, until=tomorrow if item.since < tomorrow else last)
        case "before":
            return replace(item, since=first, until=item.since)
        case "after":
            return replace(item, since=item.until, until=last)
        case _:
            return item


def _direction(text: str, item: _Item) -> tuple[str, _Item]:
    """Tell which way a span is opened, and the item with the word that says so. «Two days before» opens nothing."""
    if after := _OPEN_AFTER.match(text, item.end):
        return after.lastgroup or "", replace(item, end=after.end())
    before = _OPEN_BEFORE.search(text, max(0, item.start - _AROUND), item.start)
    if before and not before["unit"]:
        return _OPENS[before["word"].lower()], replace(item, start=before.start("word"))
    return "", item
