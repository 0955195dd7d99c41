"""The table of phrases that name a span of time in figures and in English: a pattern, and what it means today."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Final, NamedTuple

from hindsight_memory.text import holidays, spans
from hindsight_memory.text.spans import Span, Today


class Rule(NamedTuple):
    """A pattern and what a match of it means.

    The pattern is compiled when a text first calls for its table: all of them would take 30 ms of every start.
    A pattern with a group ``y`` may leave the year open. ``needs`` names the company (see ``dates``) without which
    the words mean something else; ``nothing`` is for the vague ones, which give way to any other date.
    """

    pattern: str
    read: Callable[[re.Match[str], Today], Span | None]
    needs: str = ""


_MONTHS: Final = {name: n for n, name in enumerate(re.findall("...", "janfebmaraprmayjunjulaugsepoctnovdec"), 1)}
_DAYS: Final = {name: n for n, name in enumerate(re.findall("...", "montuewedthufrisatsun"))}
_SEASONS: Final = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
_NTH: Final = {"first": 1, "second": 2, "third": 3, "fourth": 4, "last": -1}
_SHIFTS: Final = {"this": 0, "current": 0, "next": 1, "coming": 1, "upcoming": 1}  # all others look back
_ALSO_WORDS: Final = frozenset(("may", "march", "mar", "sat", "sun", "wed"))  # in small letters: verbs and nouns

_VERBAL: Final = re.compile(  # «may 5 people come», but «may 5 and june 7», «may 5 we met»
    r"\s+(?!(?:and|or|to|at|in|on|with|did|was|were|when|what|where|who|for|we|i|he|she|they|until|till)(?![a-z]))[a-z]"
)

_MONTH: Final = (
    "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    "|nov(?:ember)?|dec(?:ember)?)(?![a-z])"
)
_WEEKDAY: Final = "(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)"
_SEASON: Final = "(?:spring|summer|autumn|fall|winter)(?![a-z])"
_YEAR: Final = r"(?:[12]\d{3}(?!\d)|['’]\d\d(?!\d))"
_FEW: Final = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
_UNIT: Final = r"(?P<unit>minute|hour|day|week|fortnight|month|year|decade)s?(?![a-z])"
_SCALED: Final = {"fortnight": (2, "week"), "decade": (10, "year")}
_HALVES: Final = {
    "hour": (30, 30, "minute"),
    "month": (13, 17, "day"),
    "year": (5, 7, "month"),
    "decade": (4, 6, "year"),
}
_RECENTLY: Final = {"day": 14, "week": 42, "month": 180, "year": 1_095}
_PART: Final = r"(?:\s+(?P<part>morning|noon|afternoon|evening|night)(?![a-z]))?"
_TH: Final = "(?:st|nd|rd|th)?"
_THROUGH: Final = r"(?:\s?[-–]\s?|\s+(?:to|until|till|through|thru)\s+(?:the\s+)?)"
_SPECIAL: Final = (
    rf"(?P<day>{holidays.ENGLISH_NAMES})"
    r"(?![a-z]|\s+(?:trees?|cards?|songs?|carols?|music|movies?|lights|resolutions?)(?![a-z]))"
)


def _rule(pattern: str, read: Callable[[re.Match[str], Today], Span | None], needs: str = "") -> Rule:
    # Not \b: there is no boundary between a Chinese character and a letter.
    return Rule(f"(?i)(?<![a-z0-9])(?:{pattern})", read, needs)


def _year(match: re.Match[str]) -> int | None:
    return _in_full(match["y"]) if match["y"] else None


def _in_full(year: str) -> int:
    """A year in four figures, or in two after an apostrophe."""
    if len(year) == 4:
        return int(year)
    return int(year[1:]) + (2000 if int(year[1:]) < 50 else 1900)


def _iso(m: re.Match[str], today: Today) -> Span | None:
    year, number = int(m["year"]), int(m["month"])
    if not m["day"]:
        return spans.month(today, number, year)
    return spans.month_day(today, number, int(m["day"]), int(m["day"]), year)


def _numbered(m: re.Match[str], _: Today, size: int) -> Span:
    """Read the quarter or the half of a year that has a number."""
    first = int(m["y"]) * 12 + size * (int(m["number"]) - 1)
    return spans.months(first, first + size)


def _slashed(m: re.Match[str], today: Today) -> Span | None:
    """Read 5/4/2023 the American way, unless only the other way is a date."""
    first, second, year = int(m["first"]), int(m["second"]), int(m["year"])
    number, day = (second, first) if first > 12 else (first, second)
    return spans.month_day(today, number, day, day, year)


def _day_of_month(m: re.Match[str], today: Today) -> Span | None:
    if m["month"] in _ALSO_WORDS and not (m["y"] or m["th"]) and (m["day_first"] or _VERBAL.match(m.string, m.end())):
        return None
    last = int(m["last"] or m["day"])
    return spans.month_day(today, _MONTHS[m["month"][:3].lower()], int(m["day"]), last, _year(m))


def _named_month(m: re.Match[str], today: Today) -> Span | None:
    return spans.month(today, _MONTHS[m["month"][:3].lower()], _year(m))


def _relative(m: re.Match[str], today: Today) -> Span | None:
    """Read «last week», «this May», «next Friday»; «the last week» and «the past week» are the seven days until now."""
    name, which = m["what"].lower(), m["which"].lower()
    shift = _SHIFTS.get(which, -1)
    if m["what"] in _ALSO_WORDS:
        return None
    if name == "night":
        return spans.part_of_day(today.day + shift, "night")
    until_now = which == "past" or which.startswith("the")
    if name in ("hour", "decade") or (until_now and name in ("week", "month", "year")):
        return _counted(today, 1, name) if shift < 0 else None
    if name in ("week", "weekend", "month", "quarter", "year"):
        return spans.unit(today, name, shift)
    if m["weekday"]:
        return _relative_weekday(today, _DAYS[name[:3]], shift)
    return _cycle(name, today, shift)


def _relative_weekday(today: Today, number: int, shift: int) -> Span:
    """Span the last one before today, this week's, or the first one after today."""
    if shift == 0:
        return spans.weekday(today, number, 0)
    ahead = (number - today.moment.weekday()) % 7 or 7
    day = today.day + (ahead if shift > 0 else (ahead % 7) - 7)
    return spans.days(day, day + 1)


def _cycle(name: str, today: Today, shift: int) -> Span | None:
    """Find of a month, a season or a holiday the last that is over, this year's, or the next to begin."""

    def of(year: int) -> Span | None:
        if name in _SEASONS:
            return spans.season(today, _SEASONS[name], year)
        if name[:3] in _MONTHS and " " not in name and name not in ("mother's", "father's"):
            return spans.month(today, _MONTHS[name[:3]], year)
        return holidays.holiday(name, year)

    return spans.nearest(today, of, shift)


def _last_but_one(m: re.Match[str], today: Today) -> Span | None:
    """Read «the weekend before last», «the Friday before last», «the week after next»."""
    name, back = m["what"].lower(), m["word"] is not None
    if name == "night":
        return spans.part_of_day(today.day - 2, "night") if back else None
    if m["weekday"]:
        since, until = _relative_weekday(today, _DAYS[name[:3]], -1 if back else 1)
        shift = timedelta(days=-7 if back else 7)
        return since + shift, until + shift
    if name in ("week", "weekend", "month", "quarter", "year"):
        return spans.unit(today, name, -2 if back else 2)
    return _cycle(name, today, -2) if back else None


def _holiday(m: re.Match[str], today: Today) -> Span | None:
    year = _year(m)
    return (
        spans.nearest(today, lambda each: holidays.holiday(m["day"], each), None)
        if year is None
        else (holidays.holiday(m["day"], year))
    )


def _which_holiday(m: re.Match[str], today: Today) -> Span | None:
    return spans.nearest(today, lambda year: holidays.holiday(m["day"], year), _SHIFTS.get(m["which"].lower(), -1))


def _nth(m: re.Match[str], today: Today) -> Span | None:
    """Read «the first week of May», «the last Friday of March 2023», «the second weekend of last month»."""
    which, name = _NTH[m["nth"].lower()], m["what"].lower()
    if m["which"]:
        index = today.month + _SHIFTS.get(m["which"].lower(), -1)
    else:
        month = spans.month(today, _MONTHS[m["month"][:3].lower()], _year(m))
        if month is None:
            return None
        index = month[0].year * 12 + month[0].month - 1
    if name in ("week", "weekend"):
        return spans.nth_part(index, which, name)
    day = spans.nth_weekday(index // 12, index % 12 + 1, _DAYS[name[:3]], which)
    return spans.days(day, day + 1)


def _edge_of_unit(m: re.Match[str], today: Today) -> Span | None:
    name, edge = m["unit"].lower(), {"sta": "first", "beg": "first", "mid": "mid", "end": "last"}[m["edge"][:3].lower()]
    year = _year(m)
    return spans.edge(spans.years(year, year + 1) if year is not None else spans.unit(today, name, 0), edge)


def _near_day(m: re.Match[str], today: Today) -> Span:
    shift = {"yesterday": -1, "today": 0, "tomorrow": 1}[m["day"].lower()]
    return _in_day(today.day + shift, (m["part"] or "").lower())


def _in_day(day: int, part: str) -> Span:
    return spans.part_of_day(day, part) if part else spans.days(day, day + 1)


def _season(m: re.Match[str], today: Today) -> Span | None:
    if not m["y"] and not m["lead"]:
        return None
    span = spans.season(today, _SEASONS[m["season"].lower()], _year(m))
    return spans.edge(span, {"early": "first", "late": "last"}.get(m["edge"].lower(), "mid")) if m["edge"] else span


def _quarter(m: re.Match[str], today: Today) -> Span:
    number = _NTH[m["name"].lower()] if m["name"] else int(m["number"])
    return spans.season(today, 3 * number - 2, _year(m))


def _ago(m: re.Match[str], today: Today) -> Span | None:
    name, sign = m["unit"].lower(), 1 if m["back"] else -1
    if m["half"]:
        least, most, name = _HALVES.get(name, (0, 0, ""))
    else:
        least, most = spans.count_of(m["n"])
        half = m["more"] or m["rest"]
        if half and name == "year":
            least, most, name = 12 * least + 5, 12 * most + 7, "month"
        elif half:
            most += 1
    factor, name = _SCALED.get(name, (1, name))
    return spans.ago(today, (sign * least * factor, sign * most * factor), name) if name else None


def _past(m: re.Match[str], today: Today) -> Span:
    return _counted(today, spans.count_of(m["n"])[1], m["unit"].lower())


def _counted(today: Today, count: int, name: str) -> Span:
    factor, name = _SCALED.get(name, (1, name))
    return spans.past(today, count * factor, name)


def _coming(m: re.Match[str], today: Today) -> Span:
    factor, name = _SCALED.get(m["unit"].lower(), (1, m["unit"].lower()))
    return spans.ahead(today, spans.count_of(m["n"])[1] * factor, name)


def _year_ago_today(_: re.Match[str], today: Today) -> Span:
    return spans.shift_years(spans.days(today.day, today.day + 1), -1)


def _this_time_last_year(_: re.Match[str], today: Today) -> Span:
    return spans.shift_years(spans.days(today.day - 15, today.day + 16), -1)


def _recent(_: re.Match[str], today: Today) -> Span:
    return spans.past(today, spans.RECENT_DAYS, "day")


def _bare_weekday(m: re.Match[str], today: Today) -> Span | None:
    if m["day"] in _ALSO_WORDS and not m.group().endswith("day"):
        return None
    return spans.weekday(today, _DAYS[m["day"][:3].lower()], None)


NUMERIC: Final = (
    _rule(r"(?<![/.-])(?P<year>\d{4})(?P<sep>[-/.])(?P<month>\d{1,2})(?P=sep)(?P<day>\d{1,2})(?!\d|[-/.]\d)", _iso),
    _rule(r"(?<![/.-])(?P<year>\d{4})[-/](?P<month>\d{1,2})(?P<day>)(?!\d|[-/.]\d)", _iso),
    _rule(r"(?<![/.-])(?P<first>\d{1,2})([-/.])(?P<second>\d{1,2})\2(?P<year>(?:19|20)\d\d)(?!\d|[-/.]\d)", _slashed),
    _rule(
        r"(?<![_$€£¥#.,:/-])(?<!port )(?<!room )(?<!error )(?<!code )(?<!number )(?<!version )(?P<year>(?:19|20)\d\d)"
        r"(?![a-z0-9_%$€£¥]|[.,:/-]\d|\s*(?:dollars|usd|euros|yuan|rmb|元|块|steps|步|calories|kcal|tokens|words|字|miles|people"
        r"|人|个|次|kg|km|ml)(?![a-z]))",
        lambda m, _: spans.years(int(m["year"]), int(m["year"]) + 1),
    ),
    _rule(
        r"(?P<first>(?:19|20)\d\d)\s?[-–~]\s?(?P<last>(?:19|20)\d\d)(?![a-z0-9]|[-/.]\d)",
        lambda m, _: spans.years(int(m["first"]), int(m["last"]) + 1) if m["first"] < m["last"] else None,
    ),
    _rule(
        r"mid-(?P<year>(?:19|20)\d\d)(?![a-z0-9]|[-/.]\d)",
        lambda m, _: spans.edge(spans.years(int(m["year"]), int(m["year"]) + 1), "mid"),
    ),
    _rule(r"(?P<y>(?:19|20)\d\d)年?[\s-]?q(?P<number>[1-4])(?![a-z0-9])", lambda m, today: _numbered(m, today, 3)),
    _rule(r"h(?P<number>[12])[\s-]?(?P<y>(?:19|20)\d\d)(?![a-z0-9])", lambda m, today: _numbered(m, today, 6)),
    _rule(r"(?P<y>(?:19|20)\d\d)[\s-]?h(?P<number>[12])(?![a-z0-9])", lambda m, today: _numbered(m, today, 6)),
    _rule(r"(?P<year>(?:19|20)\d0)'?s(?![a-z])", lambda m, _: spans.years(int(m["year"]), int(m["year"]) + 10)),
)

ENGLISH: Final = (
    _rule(
        rf"(?P<day_first>)(?P<month>{_MONTH})\.?\s+(?:the\s+)?(?P<day>\d{{1,2}})(?P<th>{_TH})"
        rf"(?:{_THROUGH}(?P<last>\d{{1,2}}){_TH})?(?![a-z0-9:]|\.\d)(?:,?\s+(?P<y>{_YEAR}))?",
        _day_of_month,
    ),
    _rule(
        rf"(?P<day_first>(?P<day>\d{{1,2}})(?P<th>{_TH})(?:{_THROUGH}(?P<last>\d{{1,2}}){_TH})?\s+(?:of\s+)?)(?P<month>{_MONTH})"
        rf"\.?(?:,?\s+(?P<y>{_YEAR}))?",
        _day_of_month,
    ),
    _rule(
        rf"between\s+(?P<day_first>(?:the\s+)?(?P<day>\d{{1,2}})(?P<th>{_TH})\s+and\s+(?:the\s+)?(?P<last>\d{{1,2}}){_TH}\s+(?:of\s+)?)"
        rf"(?P<month>{_MONTH})\.?(?:,?\s+(?P<y>{_YEAR}))?",
        _day_of_month,
    ),
    _rule(rf"(?P<month>{_MONTH})\.?,?\s+(?:of\s+)?(?P<y>{_YEAR})", _named_month),
    _rule(rf"(?P<month>{_MONTH})(?P<y>)", _named_month, "month"),
    _rule(
        rf"(?P<which>the\s+last|last|past|previous|this|current|next|coming|upcoming)\s+(?P<what>night|weekend|hour|week|month"
        rf"|quarter|year|decade|{_SEASON}|(?P<weekday>{_WEEKDAY}(?:day)?)|{_MONTH})(?![a-z])",
        _relative,
    ),
    _rule(rf"(?<!every )(?<!each )(?P<day>{_WEEKDAY})day(?![a-z])", _bare_weekday),
    _rule(rf"(?P<day>{_WEEKDAY})(?![a-z])", _bare_weekday, "weekday"),
    _rule(rf"(?P<day>yesterday|today|tomorrow)(?:'s)?{_PART}(?![a-z])", _near_day),
    _rule(r"(?:the\s+)?day\s+before\s+yesterday(?![a-z])", lambda _, today: spans.unit(today, "day", -2)),
    _rule(r"(?:the\s+)?day\s+after\s+tomorrow(?![a-z])", lambda _, today: spans.unit(today, "day", 2)),
    _rule(
        r"this\s+(?P<part>morning|noon|afternoon|evening)(?![a-z])",
        lambda m, today: spans.part_of_day(today.day, m["part"].lower()),
    ),
    _rule("tonight(?![a-z])", lambda _, today: spans.part_of_day(today.day, "night")),
    _rule("the\\s+weekend(?![a-z])", lambda _, today: spans.weekend(today)),
    _rule(
        rf"(?P<lead>(?:in|during|over)\s+(?:the\s+)?(?:(?P<edge>early|late|mid)[\s-]+)?)?(?P<season>{_SEASON})"
        rf"(?!\s+(?:boot|framework|mvc|cloud|security|data)(?![a-z]))(?:\s+(?:of\s+)?(?P<y>{_YEAR}))?",
        _season,
    ),
    _rule(
        rf"(?:q(?P<number>[1-4])|(?P<name>first|second|third|fourth)\s+quarter)(?![a-z0-9]|\s+of\s+the\s+(?!year))(?:,?\s+(?:of\s+)?(?P<y>{_YEAR}))?",
        _quarter,
    ),
    _rule(
        rf"(?:(?P<half>half\s+an?)|(?P<n>\d[\d,]{{0,12}}|an?|{_FEW}|(?:a\s+)?(?:few|couple(?:\s+of)?)|several)(?P<more>\s+and\s+a\s+half)?)"
        rf"\s+{_UNIT}(?P<rest>\s+and\s+a\s+half)?\s+(?:(?P<back>ago|earlier)|from\s+now)(?![a-z])",
        _ago,
    ),
    _rule(
        rf"(?:last|past|previous)\s+(?P<n>\d[\d,]{{0,12}}|{_FEW}|few|couple(?:\s+of)?|several)\s+{_UNIT}",
        _past,
    ),
    _rule(rf"(?:next|coming|following)\s+(?P<n>\d{{1,3}}|{_FEW}|few|couple(?:\s+of)?)\s+{_UNIT}", _coming),
    _rule(
        rf"(?:the\s+)?(?P<what>night|weekend|week|month|quarter|year|{_SEASON}|(?P<weekday>{_WEEKDAY}day)|{_MONTH})"
        r"\s+(?:(?P<word>before)\s+last|after\s+next)(?![a-z])",
        _last_but_one,
    ),
    _rule(
        rf"(?:the\s+)?(?P<nth>first|second|third|fourth|last)\s+(?P<what>weekend|week|{_WEEKDAY}day)\s+(?:of|in)\s+(?:the\s+)?"
        rf"(?:(?P<which>last|this|next|past)\s+month(?![a-z])|(?P<month>{_MONTH})(?:,?\s+(?:of\s+)?(?P<y>{_YEAR}))?)",
        _nth,
    ),
    _rule(
        rf"(?P<edge>(?:start|beginning|middle|end)\s+of)\s+the\s+(?P<unit>week|month|quarter|year)(?![a-z])(?:\s+(?P<y>{_YEAR}))?",
        _edge_of_unit,
    ),
    _rule(
        rf"(?:last|final)\s+quarter\s+of\s+(?P<y>{_YEAR})",
        lambda m, _: spans.months(_in_full(m["y"]) * 12 + 9, _in_full(m["y"]) * 12 + 12),
    ),
    _rule(
        r"(?<=in )(?P<y>['’]\d\d)(?!\d)|(?<=since )(?P<since>['’]\d\d)(?!\d)",
        lambda m, _: spans.years(_in_full(m.group()), _in_full(m.group()) + 1),
    ),
    _rule(
        r"(?:the|early|late|mid)[\s-]+['’]?(?P<decade>[5-9]0)['’]?s(?![a-z])",
        lambda m, _: spans.years(1900 + int(m["decade"]), 1910 + int(m["decade"])),
    ),
    _rule(rf"{_SPECIAL}(?P<y>)", _holiday, "holiday"),
    _rule(rf"{_SPECIAL},?\s+(?:of\s+)?(?P<y>{_YEAR})", _holiday),
    _rule(rf"(?P<which>last|past|previous|this|next|coming|upcoming)\s+{_SPECIAL}", _which_holiday),
    _rule(r"(?:a|one)\s+year\s+ago\s+today(?![a-z])|today\s+last\s+year(?![a-z])", _year_ago_today),
    _rule(r"(?:this|the\s+same|same)\s+time\s+last\s+year(?![a-z])", _this_time_last_year),
    _rule(
        r"recent\s+(?P<unit>day|week|month|year)s(?![a-z])",
        lambda m, today: spans.past(today, _RECENTLY[m["unit"].lower()], "day"),
    ),
    _rule(r"(?:recently|lately|these\s+days|just\s+now|the\s+other\s+(?:day|night|week))(?![a-z])", _recent, "nothing"),
)
