"""Says in words when something usually happens and why it is expected, in English and Chinese."""

from __future__ import annotations

from datetime import date
from typing import Final

from hindsight_memory.domain import Evidence
from hindsight_memory.lifecycle.periods import left_in_month, weekday
from hindsight_memory.lifecycle.rhythm import Rhythm
from hindsight_memory.text.clauses import HAN
from hindsight_memory.text.tokens import truncate

_LINE_TOKENS: Final = 60
_EN_DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_ZH_DAYS: Final = "一二三四五六日"
_EN_NTH: Final = ("first", "second", "third", "fourth")
_ZH_NTH: Final = "一二三四"
_EN: Final = {
    "daily": "every day",
    "weekdays": "every weekday",
    "weekly": "every {weekday}",
    "fortnightly": "every other {weekday}",
    "monthly": "on day {number} of every month",
    "month's end": "{left} days before the end of every month",
    "month's last": "on the last day of every month",
    "nth weekday": "on the {nth} {weekday} of every month",
    "days": "every {count} days",
}
_ZH: Final = {
    "daily": "每天",
    "weekdays": "每个工作日",
    "weekly": "每周{weekday}",
    "fortnightly": "每隔一周的周{weekday}",
    "monthly": "每月 {number} 日",
    "month's end": "每月倒数第 {last} 天",
    "month's last": "每月最后一天",
    "nth weekday": "每月第{nth}个周{weekday}",
    "days": "每 {count} 天",
}
_TELLS_HOUR: Final = 3.0
"""Hours around the expected moment up to which its hour says something."""
_EN_SPANS: Final = ((48.0, 24.0, "days"), (1.5, 1.0, "hours"), (0.0, 1 / 60, "minutes"))
_ZH_UNITS: Final = {"days": "天", "hours": "小时", "minutes": "分钟"}
_LEAST_CHANCE: Final = 0.0001


def line_of(content: str) -> str:
    """The first line of a text that says something, word for word, cut where it is too long."""
    first = next((line.strip() for line in content.splitlines() if line.strip()), "")
    return truncate(first, _LINE_TOKENS)


def is_chinese(line: str) -> bool:
    """Whether a line is written in Chinese, names and terms of other languages aside."""
    return 3 * len(HAN.pattern.findall(line)) > sum(letter.isascii() and letter.isalpha() for letter in line)


def said_period(rhythm: Rhythm, *, chinese: bool) -> str:
    """When something recurs: «every Monday around 09:00», 「每周一 9:00 左右」."""
    quarters = round(rhythm.hour * 4)
    day, quarter = rhythm.day + quarters // 96, quarters % 96
    hour, minute = quarter // 4, quarter % 4 * 15
    days = _days(rhythm, day, chinese=chinese)
    if rhythm.width > 24:
        return f"{days}前后" if chinese else f"{days}, give or take a day"
    if rhythm.width > _TELLS_HOUR:
        return days
    return f"{days} {hour}:{minute:02} 左右" if chinese else f"{days} around {hour:02}:{minute:02}"


def said_gap(hours: float, line: str, *, chinese: bool) -> str:
    """How long after something another thing follows."""
    size, unit = next((size, unit) for least, size, unit in _EN_SPANS if hours >= least)
    count = max(1, round(hours / size))
    if chinese:
        return f"「{line}」之后约 {count} {_ZH_UNITS[unit]}"
    return f"about {count} {unit if count > 1 else unit[:-1]} after «{line}»"


def said_why(period: str, evidence: Evidence, *, chinese: bool) -> str:
    """The reason for a suggestion, in one sentence."""
    least = evidence.p_value < _LEAST_CHANCE
    number = f"{max(evidence.p_value, _LEAST_CHANCE):.4f}".rstrip("0")
    met, of = evidence.met, evidence.of
    if chinese:
        likely = f"不到 {number}" if least else f"约 {number}"
        return f"{period}通常有这件事：最近 {of} 次里有 {met} 次，出于偶然的概率{likely}。"
    likely = f"below {number}" if least else f"about {number}"
    return f"It usually comes {period}: {met} of the last {of} times, by chance with a probability of {likely}."


def _days(rhythm: Rhythm, day: int, *, chinese: bool) -> str:
    """The days on which something recurs, one of them being ``day``."""
    number, left = date.fromordinal(day).day, left_in_month(day)
    name = "month's last" if rhythm.period.name == "month's end" and not left else rhythm.period.name
    week = (number - 1) // 7
    values = {
        "number": number,
        "left": left,
        "last": left + 1,
        "count": rhythm.period.gap,
        "weekday": (_ZH_DAYS if chinese else _EN_DAYS)[weekday(day)],
        "nth": (_ZH_NTH if chinese else _EN_NTH)[min(week, len(_EN_NTH) - 1)],
    }
    said = _ZH if chinese else _EN
    return said.get(name, said["days"]).format(**values)
