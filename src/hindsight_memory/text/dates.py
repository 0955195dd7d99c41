"""Finds the spans of time a text names, in English and Chinese, seen from the moment it was said."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import zip_longest
from typing import Final

from hindsight_memory.domain import Window
from hindsight_memory.text import spans
from hindsight_memory.text.common import table
from hindsight_memory.text.holidays import CHINESE_NAMES
from hindsight_memory.text.patterns import Lazy
from hindsight_memory.text.phrases import ENGLISH, NUMERIC, Rule
from hindsight_memory.text.phrases_zh import CHINESE
from hindsight_memory.text.spans import Today

READ: Final = 2_000
"""Characters of a text that are looked at: what a question asks for stands at its beginning."""

MOST: Final = 8
"""Windows of one text: a text that names more dates is a list, and a list narrows nothing down."""

MOST_MENTIONED: Final = 16
"""Windows of one memory that are kept."""

LONGEST: Final = timedelta(days=366)
"""Span of a memory that still says when: «since 2019» and «in the nineties» tell no memory from another."""

_AROUND: Final = 40
"""Characters before a phrase that can bear on it."""

_ANY_DIGIT: Final = re.compile(r"\d{4}")
_ANY_ENGLISH: Final = re.compile("[a-z]{3}|q[1-4]", re.IGNORECASE)
_ANY_CHINESE: Final = re.compile("[\u4e00-\u9fff]")

_COMPANY: Final = {  # words before which a month or a short weekday can be nothing else
    "month": re.compile(
        r"(?<![a-z])(?:in|during|since|before|after|until|till|between|early|late|mid|through|(?:start|beginning|middle|end|half|month)"
        r"\s+of)[\s-]+$",
        re.IGNORECASE,
    ),
    "holiday": re.compile(
        r"(?<![a-z])(?:on|at|during|over|for|since|before|after|until|till|by|around|between|in|early|late)\s+(?:the\s+)?$",
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
    r"(?<![a-z])(early|late|mid|(?:start|beginning|middle|end|(?:first|second|latter)\s+half)\s+of)[\s-]+(?:the\s+)?$",
    re.IGNORECASE,
)
_EDGES: Final = {"ear": "first", "sta": "first", "beg": "first", "mid": "mid", "lat": "last", "end": "last"} | {
    "fir": "half",
    "sec": "second half",
    "latter": "second half",
}
_PART_AFTER: Final = re.compile(
    r"\s+(?:in\s+the\s+|at\s+)?(?P<part>morning|noon|afternoon|evening|night)(?![a-z])"
    r"|的?(?P<zh>凌晨|早[上晨]|清晨|上午|中午|下午|傍晚|晚上|夜里|深夜)",
    re.IGNORECASE,
)
_PART_BEFORE: Final = re.compile(
    r"(?<![a-z])(?P<part>morning|noon|afternoon|evening|night)\s+of\s+(?:the\s+)?$", re.IGNORECASE
)
_PARTS: Final = {"凌": "early", "早": "morning", "清": "morning", "上": "morning", "中": "noon", "下": "afternoon"} | {
    "傍": "evening",
    "晚": "night",
    "夜": "night",
    "深": "night",
}
_WEEKDAY: Final = "(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_BESIDE: Final = re.compile(
    rf"(?<![a-z])(?:(?P<n>\d{{1,3}}|an?|one|two|three|four|five|six|seven|eight|nine|ten|(?:a\s+)?(?:few|couple\s+of))\s+)?"
    rf"(?P<unit>day|night|weekend|week|month|year|{_WEEKDAY})s?\s+(?P<word>before|after|of)\s+(?:the\s+)?$",
    re.IGNORECASE,
)
_WEEKLY: Final = re.compile(rf"(?:the\s+)?(?:{_WEEKDAY}|weekend)|(?:周|星期|礼拜)[一二三四五六日天]", re.IGNORECASE)
_LEADS_ON: Final = re.compile(r"\s+(?:before|after|of)\s+(?:the\s+)?", re.IGNORECASE)
_HABIT: Final = re.compile(
    r"每(?:个?(?:周|星期|礼拜))[一二三四五六日天末]?[到至、和-]$"
    rf"|(?<![a-z])(?:every|each)\s+(?:{_WEEKDAY})\s*(?:,|and|or|to|till|until|through|-|–)\s*$",
    re.IGNORECASE,
)
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


_TIME_WORDS: Final = table(
    """
yesterday today tomorrow tonight day days weekday weekdays night nights fortnight week weeks weekend weekends month
months year years quarter quarters decade decades hour hours minute minutes spring summer autumn fall winter morning
noon afternoon evening q1 q2 q3 q4 january february march april may june july august september october november
december jan feb mar apr jun jul aug sep sept oct nov dec monday tuesday wednesday thursday friday saturday sunday mon
tue tues wed thu thur thurs fri sat sun mondays tuesdays wednesdays thursdays fridays saturdays sundays christmas xmas
boxing eve valentine valentines patrick patricks easter halloween thanksgiving
"""
)
_WORDS_OF: Final = re.compile("q[1-4]|[a-z]+")
_TIME_DIGITS: Final = Lazy(r"\d{4}|\d[-/.]\d|\d0['’]?s|['’]\d\d")
_TIME_CHINESE: Final = Lazy(f"[年月日号天周期拜季晚早前后]|小时|分钟|钟头|{CHINESE_NAMES}")
_AHEAD: Final = Lazy(
    r"(?i)(?<![a-z])(?:will|won't|going\s+to|gonna|plan(?:s|ning)?\s+(?:to|on|for)|upcoming|scheduled|due|deadline|soon"
    r"|looking\s+forward|can't\s+wait|hop(?:e|ing)\s+to|want(?:s)?\s+to|about\s+to|have\s+to|need\s+to|expects?\s+to"
    r"|let's|remind)(?![a-z])|(?:'|’)ll(?![a-z])"
    r"|将|(?<![重需主只就])要(?!求|是|点)|(?<![开机社协了完])会(?!议|员|计)|打算|准备|计划|预计|即将|截止|到期|提醒|记得"
)
_AMBIGUOUS: Final = Lazy(
    r"(?i)(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?|the\s+weekend|(?:周|星期|礼拜)[一二三四五六日天末]"
)
_SENTENCE: Final = Lazy(r"[.!?。！？；;\n]")


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


def mentioned_windows(text: str, said_at: datetime) -> list[Window]:
    """Find the spans of time a statement mentions, seen from when it was said: «yesterday», «two weeks ago», 「明天」.

    Read like a question, with two differences. A weekday, a weekend or a date without a year lies ahead where the
    sentence looks ahead («I'll go on Friday», 「周五要开会」). And what says no more than ``said_at`` does, or hardly
    anything, is left out: spans that contain that moment, «recently», spans longer than ``LONGEST``.
    """
    if said_at.tzinfo is None:
        raise ValueError("The moment a text was said needs its time zone.")
    text = text[:READ]
    if not _may_name_time(text):
        return []
    today = Today.at(said_at)
    windows: dict[tuple[datetime, datetime], Window] = {}
    for item in _joined(text, _standing(text, _found(text, today))):
        named = _opened(text, _ahead(text, item, today), today)
        since, until = (at.replace(tzinfo=said_at.tzinfo).astimezone(UTC) for at in (named.since, named.until))
        says_more = item.needs != "nothing" and not since <= said_at < until
        if since < until and until - since <= LONGEST and says_more:
            windows.setdefault((since, until), Window(since, until, text[named.start : named.end].strip()))
    return list(windows.values())[:MOST_MENTIONED]


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
        stands = item.needs not in _COMPANY or listed or ranged or _COMPANY[item.needs].search(before)
        if stands and not _HABIT.search(before):
            kept.append(item)
    kept = [item for item, following in zip_longest(kept, kept[1:]) if not _leads_on(text, item, following)]
    # «What did she buy recently in May 2022»: recently as seen from then.
    return [item for item in kept if item.needs != "nothing"] or kept


def _leads_on(text: str, item: _Item, following: _Item | None) -> bool:
    """Whether a weekday only says where it stands from the date after it: «the Sunday before 25 May»."""
    return (
        following is not None
        and bool(_LEADS_ON.fullmatch(text, item.end, following.start))
        and bool(_WEEKLY.fullmatch(text, item.start, item.end))
    )


def _joined(text: str, items: list[_Item]) -> Iterator[_Item]:
    """Make one span of two that a text joins."""
    at = 0
    while at < len(items):
        item = items[at]
        following = items[at + 1] if at + 1 < len(items) else None
        if following and _is_range(text, item, following):
            weekly = all(_WEEKLY.fullmatch(text, each.start, each.end) for each in (item, following))
            yield _span_of(item, _in_same_week(item, following) if weekly else following)
            at += 2
        else:
            yield item
            at += 1


def _is_range(text: str, left: _Item, right: _Item) -> bool:
    if _TO.fullmatch(text, left.end, right.start):
        return True
    between = _BETWEEN.search(text[max(0, left.start - _AROUND) : left.start]) or text.startswith("之间", right.end)
    return bool(between and _AND.fullmatch(text, left.end, right.start))


def _in_same_week(left: _Item, right: _Item) -> _Item:
    """The second of two weekdays, after the first: each by itself is the last one that was."""
    if left.since <= right.since:
        return right
    return replace(right, since=right.since + timedelta(days=7), until=right.until + timedelta(days=7))


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


def _may_name_time(text: str) -> bool:
    """A quick look: most of what is remembered names no time, and the tables are long."""
    if _TIME_DIGITS.pattern.search(text) or not _TIME_WORDS.isdisjoint(_WORDS_OF.findall(text.lower())):
        return True
    return not text.isascii() and bool(_TIME_CHINESE.pattern.search(text))


def _ahead(text: str, item: _Item, today: Today) -> _Item:
    """Move what was read as past but may as well lie ahead, where its sentence looks ahead."""
    weekly = _AMBIGUOUS.pattern.fullmatch(text, item.start, item.end)
    if not (weekly or item.yearless) or item.until > today.moment:
        return item
    breaks = [match.end() for match in _SENTENCE.pattern.finditer(text, max(0, item.start - 4 * _AROUND), item.start)]
    end = _SENTENCE.pattern.search(text, item.end)
    start = breaks[-1] if breaks else max(0, item.start - 4 * _AROUND)
    if not _AHEAD.pattern.search(text, start, min(end.start() if end else len(text), item.end + 2 * _AROUND)):
        return item
    if item.yearless:
        since, until = spans.shift_years((item.since, item.until), 1)
    else:
        since, until = spans.days(item.since.toordinal() + 7, item.until.toordinal() + 7)
    return replace(item, since=since, until=until)


def _opened(text: str, item: _Item, today: Today) -> _Item:
    """Apply what stands around a span: «early», «since», «before», «以后»."""
    if near := _EDGE.search(text, max(0, item.start - _AROUND), item.start):
        word = near[1].lower()
        since, until = spans.edge((item.since, item.until), _EDGES.get(word.split()[0], "") or _EDGES[word[:3]])
        item = replace(item, start=near.start(), since=since, until=until)
    item = _beside(text, _part_of(text, item))
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


def _part_of(text: str, item: _Item) -> _Item:
    """Narrow a day down by the part of it that stands beside it: «on Friday evening», «5月4号晚上»."""
    if item.until - item.since != timedelta(days=1):
        return item
    if after := _PART_AFTER.match(text, item.end):
        part = after["part"].lower() if after["part"] else _PARTS[after["zh"][0]]
        start, end = item.start, after.end()
    elif before := _PART_BEFORE.search(text, max(0, item.start - _AROUND), item.start):
        part, start, end = before["part"].lower(), before.start(), item.end
    else:
        return item
    since, until = spans.part_of_day(item.since.toordinal(), part)
    return replace(item, start=start, end=end, since=since, until=until)


def _beside(text: str, item: _Item) -> _Item:
    """Move a date by what is counted from it: «the day before 9 June», «two weeks after», «the week of 6 May»."""
    found = _BESIDE.search(text, max(0, item.start - _AROUND), item.start)
    if found is None or item.until - item.since > timedelta(days=1 if found["word"].lower() == "of" else 93):
        return item
    counted = spans.beside((item.since, item.until), found["n"], found["unit"].lower(), found["word"].lower())
    return item if counted is None else replace(item, start=found.start(), since=counted[0], until=counted[1])


def _direction(text: str, item: _Item) -> tuple[str, _Item]:
    """Tell which way a span is opened, and the item with the word that says so. «Two days before» opens nothing."""
    if after := _OPEN_AFTER.match(text, item.end):
        return after.lastgroup or "", replace(item, end=after.end())
    before = _OPEN_BEFORE.search(text, max(0, item.start - _AROUND), item.start)
    if before and not before["unit"]:
        return _OPENS[before["word"].lower()], replace(item, start=before.start("word"))
    return "", item
