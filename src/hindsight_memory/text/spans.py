"""Calendar arithmetic for phrases about time: spans around a moment, never outside the calendar."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Final, TypeAlias

Span: TypeAlias = tuple[datetime, datetime]
"""From and until, on the asker's own clock; the zone is put on at the very end."""

FIRST_DAY: Final = date(1, 1, 3).toordinal()
LAST_DAY: Final = date(9999, 12, 29).toordinal()
"""Two days inside what ``datetime`` can hold, so that no zone moves them out."""

RECENT_DAYS: Final = 14
"""What «recently» and «最近» mean: long enough for a fortnightly rhythm, short enough to say something."""

HOURS: Final[dict[str, tuple[int, int]]] = {
    "early": (0, 6),
    "morning": (5, 12),
    "noon": (11, 14),
    "afternoon": (12, 18),
    "evening": (17, 24),
    "night": (18, 30),
}
"""Parts of a day; a night ends in the morning after."""

_DAYS_IN: Final = {"day": 1, "week": 7, "month": 30, "year": 365}
_WEEKDAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_DIGITS: Final = {digit: value for value, digit in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_SCALES: Final = {"十": 10, "百": 100, "千": 1_000, "万": 10_000, "亿": 100_000_000}
_ENGLISH: Final = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6} | {
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "eleven": 11,
    "twelve": 12,
}
_VAGUE: Final = re.compile("few|several|几|数")


@dataclass(frozen=True, slots=True)
class Today:
    """The asker's clock: the moment with and without its zone, its day as an ordinal, its month counted from year 0."""

    now: datetime
    moment: datetime
    day: int
    month: int

    @classmethod
    def at(cls, now: datetime) -> Today:
        """Read the wall clock of an aware time."""
        return cls(now, now.replace(tzinfo=None), now.toordinal(), now.year * 12 + now.month - 1)

    @property
    def year(self) -> int:
        """The calendar year."""
        return self.moment.year

    @property
    def monday(self) -> int:
        """The day this week began."""
        return self.day - self.moment.weekday()


def days(first: int, last: int) -> Span:
    """Span whole days, ``last`` excluded."""
    return _midnight(first), _midnight(last)


def months(first: int, last: int) -> Span:
    """Span whole months counted from year 0, ``last`` excluded."""
    return days(_first_of(first), _first_of(last))


def years(first: int, last: int) -> Span:
    """Span whole years, ``last`` excluded."""
    return months(first * 12, last * 12)


def month_day(today: Today, month: int, first: int, last: int, year: int | None) -> Span | None:
    """Span days of a month; without a year the nearest one that has not yet begun is passed over."""
    # Only 29 February needs more than two years; eight reach over a century that has none.
    for candidate in [year] if year is not None else range(today.year, today.year - 9, -1):
        try:
            start = date(candidate, month, first).toordinal()
            end = date(candidate, month, last).toordinal() + 1
        except ValueError:
            continue
        if year is not None or start <= today.day:
            return days(start, end)
    return None


def month(today: Today, number: int, year: int | None) -> Span | None:
    """Span a month; without a year the most recent one that has begun."""
    if not 1 <= number <= 12:
        return None
    if year is None:
        year = today.year - (number - 1 > today.month % 12)
    return months(year * 12 + number - 1, year * 12 + number)


def season(today: Today, first_month: int, year: int | None) -> Span:
    """Span three months; without a year the most recent ones that have begun. Winter belongs to its December."""
    if year is None:
        year = today.year - (first_month - 1 > today.month % 12)
    start = year * 12 + first_month - 1
    return months(start, start + 3)


def nearest(today: Today, of: Callable[[int], Span | None], shift: int | None) -> Span | None:
    """Find of what each year has one the last that has begun, or by ``shift`` this year's (0), one over or one to come.

    -1 is the last that is over, -2 the one before that, 1 the next to begin.
    """
    if shift == 0:
        return of(today.year)
    found = [span for year in range(today.year - 3, today.year + 3) if (span := of(year))]
    if shift is None:
        begun = [span for span in found if span[0] <= today.moment]
        return begun[-1] if begun else None
    over = [span for span in found if span[1] <= today.moment]
    if shift < 0:
        return over[shift] if len(over) >= -shift else None
    return next((span for span in found if span[0] > today.moment), None)


def unit(today: Today, name: str, shift: int) -> Span:
    """Span the calendar unit that lies ``shift`` units from now; weeks begin on Monday."""
    week = today.monday + 7 * shift
    match name:
        case "day":
            return days(today.day + shift, today.day + shift + 1)
        case "week":
            return days(week, week + 7)
        case "weekend":
            return days(week + 5, week + 7)
        case "month":
            return months(today.month + shift, today.month + shift + 1)
        case "quarter":
            start = today.month // 3 * 3 + 3 * shift
            return months(start, start + 3)
        case _:
            return years(today.year + shift, today.year + shift + 1)


def ago(today: Today, count: tuple[int, int], name: str) -> Span:
    """Span what «n units ago» may mean; as many units in the future when negative.

    Months and years are the calendar's, weeks seven days around the day, hours and minutes as much to each side.
    """
    least, most = sorted(count)
    match name:
        case "minute" | "hour":
            scale, step = (1, 10) if name == "minute" else (60, 30)
            return _moved(today, -most * scale - step), _moved(today, -least * scale + step)
        case "day":
            return days(today.day - most, today.day - least + 1)
        case "week":
            return days(today.day - 7 * most - 3, today.day - 7 * least + 4)
        case "month":
            return months(today.month - most, today.month - least + 1)
        case _:
            return years(today.year - most, today.year - least + 1)


def past(today: Today, count: int, name: str) -> Span:
    """Span the last ``count`` units, today included."""
    if name in ("minute", "hour"):
        return _moved(today, -count * (60 if name == "hour" else 1)), _midnight(today.day + 1)
    return days(today.day - count * _DAYS_IN.get(name, 1), today.day + 1)


def ahead(today: Today, count: int, name: str) -> Span:
    """Span the next ``count`` units, today included."""
    return days(today.day, today.day + max(1, count * _DAYS_IN.get(name, 0)) + 1)


def weekday(today: Today, number: int, week: int | None) -> Span:
    """Span a weekday (Monday is 0) of a week counted from this one; without one the most recent, today included."""
    day = today.day - (today.day - 1 - number) % 7 if week is None else today.monday + 7 * week + number
    return days(day, day + 1)


def weekend(today: Today) -> Span:
    """Span the weekend one speaks of: the one that is on, else the last one."""
    return unit(today, "weekend", 0 if today.moment.weekday() >= 5 else -1)


def part_of_day(day: int, part: str) -> Span:
    """Span a named part of a day."""
    first, last = HOURS[part]
    return _midnight(day) + timedelta(hours=first), _midnight(day) + timedelta(hours=last)


def nth_weekday(year: int, month: int, number: int, which: int) -> int:
    """Find the day of the ``which``-th weekday of a month; -1 is the last."""
    index = year * 12 + month - 1
    if which < 0:
        last = _first_of(index + 1) - 1
        return last - (last - 1 - number) % 7
    first = _first_of(index)
    return first + (number - (first - 1)) % 7 + 7 * (which - 1)


def nth_part(index: int, which: int, name: str) -> Span:
    """Span the ``which``-th week or weekend of a month counted from year 0; -1 is the last. Its weeks begin with it."""
    if name == "weekend":
        saturday = nth_weekday(index // 12, index % 12 + 1, 5, which)
        return days(saturday, saturday + 2)
    first = _first_of(index + 1) - 7 if which < 0 else _first_of(index) + 7 * (which - 1)
    return days(first, min(first + 7, _first_of(index + 1)))


def edge(span: Span, part: str) -> Span:
    """Span the first, the middle or the last third (of a year two months), or a half, of a span."""
    length = (span[1] - span[0]).days
    if part in ("half", "second half"):
        middle = span[0] + timedelta(days=round(length / 2)) if length < 360 else span[0].replace(month=7, day=1)
        return (span[0], middle) if part == "half" else (middle, span[1])
    size = timedelta(days=max(1, round(length / (6 if length > 100 and part != "mid" else 3))))
    if part == "mid":
        return span[0] + size, span[1] - size
    return (span[0], span[0] + size) if part == "first" else (span[1] - size, span[1])


def beside(span: Span, count: str | None, name: str, word: str) -> Span | None:
    """Span what is counted from another: the day, week or Sunday before or after it, or the week that it stands in."""
    since, until = span[0].toordinal(), span[1].toordinal()
    if word == "of":
        monday = since - (since - 1) % 7
        return {"week": days(monday, monday + 7), "weekend": days(monday + 5, monday + 7)}.get(name)
    back = word == "before"
    if count is not None and count.lower() not in ("a", "an", "one"):
        least, most = count_of(count)
        if name not in _DAYS_IN:
            return None
        around, size = {"day": 0, "week": 3}.get(name, 15), _DAYS_IN[name]
        first, last = (
            (since - most * size, since - least * size) if back else (until + least * size - 1, until + most * size - 1)
        )
        return days(first - around, last + around + 1)
    if name in ("day", "week", "month", "year"):
        size = _DAYS_IN[name]
        return days(since - size, since) if back else days(until, until + size)
    if name == "night":
        return part_of_day(since - 1 if back else until, "night")
    number = 5 if name == "weekend" else _WEEKDAYS.index(name[:3])
    length = 2 if name == "weekend" else 1
    first = since - length - (since - length - 1 - number) % 7 if back else until + (number - (until - 1)) % 7
    return days(first, first + length)


def shift_years(span: Span, count: int) -> Span:
    """Move a span of whole days by years."""
    since, until = span
    return _midnight(_ordinal(since.year + count, since)), _midnight(_ordinal(until.year + count, until))


def count_of(text: str) -> tuple[int, int]:
    """Read a number in digits, English or Chinese words as its least and its greatest meaning."""
    text = text.lower().replace(",", "").strip()
    if text.isdecimal():
        return int(text), int(text)
    if text in ("十几", "几十"):
        return (11, 19) if text[0] == "十" else (20, 90)
    if _VAGUE.search(text):
        return 2, 5
    if "couple" in text:
        return 2, 2
    value = _ENGLISH[text] if text in _ENGLISH else chinese_number(text)
    return value, value


def chinese_number(text: str) -> int:
    """Read digits, or Chinese numerals by place («二〇二三») or by scale («二十三», «三千», «一万»)."""
    if text.isdecimal():
        return int(text)
    if not any(character in _SCALES for character in text):
        return int("0" + "".join(str(_DIGITS.get(character, "")) for character in text))
    total = section = digit = 0
    for character in text:
        scale = _SCALES.get(character)
        if scale is None:
            digit = _DIGITS.get(character, 0)
        elif scale < 10_000:
            section, digit = section + (digit or 1) * scale, 0
        else:
            total, section, digit = (total + section + digit or 1) * scale, 0, 0
    return total + section + digit


def _midnight(day: int) -> datetime:
    return datetime.combine(date.fromordinal(min(max(day, FIRST_DAY), LAST_DAY)), datetime.min.time())


def _first_of(index: int) -> int:
    index = min(max(index, 12), 9999 * 12 + 11)
    return date(index // 12, index % 12 + 1, 1).toordinal()


def _moved(today: Today, minutes: int) -> datetime:
    """Move the moment by minutes that pass, whatever the clock does meanwhile.

    Clamped: a number in a text may be larger than any calendar.
    """
    reach = (LAST_DAY - today.day) * 1_440 if minutes > 0 else (today.day - FIRST_DAY) * 1_440
    limited = min(max(minutes, 1_440 - reach), reach - 1_440)
    moved = today.now.astimezone(UTC) + timedelta(minutes=limited)
    return moved.astimezone(today.now.tzinfo).replace(tzinfo=None)


def _ordinal(year: int, at: datetime) -> int:
    year = min(max(year, 1), 9999)
    return date(year, at.month, 1).toordinal() + at.day - 1
