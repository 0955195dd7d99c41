"""Tables of the phrases that name a span of time, English and Chinese: a pattern, and what it means today."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, NamedTuple

from hindsight_memory.text import spans
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
_SEASONS: Final = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12, "春": 3, "夏": 6, "秋": 9, "冬": 12}
_QUARTERS: Final = {"first": 1, "second": 2, "third": 3, "fourth": 4}
_SHIFTS: Final = {"this": 0, "current": 0, "next": 1, "coming": 1, "upcoming": 1}  # all others look back
_ALSO_WORDS: Final = frozenset(("may", "march", "mar", "sat", "sun", "wed"))  # in small letters: verbs and nouns

_MONTH: Final = (
    "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    "|nov(?:ember)?|dec(?:ember)?)(?![a-z])"
)
_WEEKDAY: Final = "(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)"
_SEASON: Final = "(?:spring|summer|autumn|fall|winter)(?![a-z])"
_YEAR: Final = r"[12]\d{3}(?!\d)"
_FEW: Final = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
_UNIT: Final = r"(?P<unit>minute|hour|day|week|month|year)s?(?![a-z])"
_PART: Final = r"(?:\s+(?P<part>morning|noon|afternoon|evening|night)(?![a-z]))?"
_TH: Final = "(?:st|nd|rd|th)?"


def _rule(pattern: str, read: Callable[[re.Match[str], Today], Span | None], needs: str = "") -> Rule:
    # Not \b: there is no boundary between a Chinese character and a letter.
    return Rule(f"(?i)(?<![a-z0-9])(?:{pattern})", read, needs)


def _year(match: re.Match[str]) -> int | None:
    return int(match["y"]) if match["y"] else None


def _iso(m: re.Match[str], today: Today) -> Span | None:
    year, number = int(m["year"]), int(m["month"])
    if not m["day"]:
        return spans.month(today, number, year)
    return spans.month_day(today, number, int(m["day"]), int(m["day"]), year)


def _slashed(m: re.Match[str], today: Today) -> Span | None:
    """Read 5/4/2023 the American way, unless only the other way is a date."""
    first, second, year = int(m["first"]), int(m["second"]), int(m["year"])
    number, day = (second, first) if first > 12 else (first, second)
    return spans.month_day(today, number, day, day, year)


def _day_of_month(m: re.Match[str], today: Today) -> Span | None:
    if m["month"] in _ALSO_WORDS and m["day_first"] and not (m["y"] or m["th"]):
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
    if name in ("week", "month", "year") and (which == "past" or which.startswith("the")):
        return spans.past(today, 1, name)
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
    """Find of a month or season the last that is over, this year's, or the next to begin."""

    def of(year: int) -> Span | None:
        if name in _SEASONS:
            return spans.season(today, _SEASONS[name], year)
        return spans.month(today, _MONTHS[name[:3]], year)

    found = [span for year in range(today.year - 2, today.year + 3) if (span := of(year))]
    if shift == 0:
        return of(today.year)
    if shift < 0:
        return next((span for span in reversed(found) if span[1] <= today.moment), None)
    return next((span for span in found if span[0] > today.moment), None)


def _near_day(m: re.Match[str], today: Today) -> Span:
    shift = {"yesterday": -1, "today": 0, "tomorrow": 1}[m["day"].lower()]
    return _in_day(today.day + shift, (m["part"] or "").lower())


def _in_day(day: int, part: str) -> Span:
    return spans.part_of_day(day, part) if part else spans.days(day, day + 1)


def _season(m: re.Match[str], today: Today) -> Span | None:
    if not m["y"] and not m["lead"]:
        return None
    return spans.season(today, _SEASONS[m["season"].lower()], _year(m))


def _quarter(m: re.Match[str], today: Today) -> Span:
    number = _QUARTERS[m["name"].lower()] if m["name"] else int(m["number"])
    return spans.season(today, 3 * number - 2, _year(m))


def _ago(m: re.Match[str], today: Today) -> Span:
    least, most = (5, 7) if m["half"] else spans.count_of(m["n"])
    name = "month" if m["half"] else m["unit"].lower()
    sign = 1 if m["back"] else -1
    return spans.ago(today, (sign * least, sign * most), name)


def _past(m: re.Match[str], today: Today) -> Span:
    return spans.past(today, spans.count_of(m["n"])[1], m["unit"].lower())


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
    _rule(r"(?P<year>(?:19|20)\d0)'?s(?![a-z])", lambda m, _: spans.years(int(m["year"]), int(m["year"]) + 10)),
)

ENGLISH: Final = (
    _rule(
        rf"(?P<day_first>)(?P<month>{_MONTH})\.?\s+(?:the\s+)?(?P<day>\d{{1,2}})(?P<th>{_TH})(?:\s?[-–]\s?(?P<last>\d{{1,2}}){_TH})?"
        rf"(?![a-z0-9:]|\.\d)(?:,?\s+(?P<y>{_YEAR}))?",
        _day_of_month,
    ),
    _rule(
        rf"(?P<day_first>(?P<day>\d{{1,2}})(?P<th>{_TH})(?:\s?[-–]\s?(?P<last>\d{{1,2}}){_TH})?\s+(?:of\s+)?)(?P<month>{_MONTH})"
        rf"\.?(?:,?\s+(?P<y>{_YEAR}))?",
        _day_of_month,
    ),
    _rule(rf"(?P<month>{_MONTH})\.?,?\s+(?:of\s+)?(?P<y>{_YEAR})", _named_month),
    _rule(rf"(?P<month>{_MONTH})(?P<y>)", _named_month, "month"),
    _rule(
        rf"(?P<which>the\s+last|last|past|previous|this|current|next|coming|upcoming)\s+(?P<what>night|weekend|week|month"
        rf"|quarter|year|{_SEASON}|(?P<weekday>{_WEEKDAY}(?:day)?)|{_MONTH})(?![a-z])",
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
        rf"(?P<lead>(?:in|during|over)\s+(?:the\s+)?)?(?P<season>{_SEASON})(?:\s+(?:of\s+)?(?P<y>{_YEAR}))?",
        _season,
    ),
    _rule(
        rf"(?:q(?P<number>[1-4])|(?P<name>first|second|third|fourth)\s+quarter)(?![a-z0-9])(?:,?\s+(?:of\s+)?(?P<y>{_YEAR}))?",
        _quarter,
    ),
    _rule(
        rf"(?:(?P<half>half\s+a\s+year)|(?P<n>\d[\d,]{{0,12}}|an?|{_FEW}|(?:a\s+)?(?:few|couple(?:\s+of)?)|several)\s+{_UNIT})"
        r"\s+(?:(?P<back>ago|earlier)|from\s+now)(?![a-z])",
        _ago,
    ),
    _rule(
        rf"(?:last|past|previous)\s+(?P<n>\d[\d,]{{0,12}}|{_FEW}|few|couple(?:\s+of)?|several)\s+{_UNIT}",
        _past,
    ),
    _rule(r"(?:recently|lately|these\s+days|just\s+now)(?![a-z])", _recent, "nothing"),
)


_N: Final = "(?:[0-9]{1,9}|[零〇一二两三四五六七八九十百千万亿]{1,8})"
_YEAR_ZH: Final = "(?P<y>[0-9]{4}年|[〇零一二三四五六七八九]{4}年|大前年|前年|去年|今年|明年|后年)"
_EDGE_ZH: Final = "初|中旬|上旬|下旬|底|末"
_UNIT_ZH: Final = "(?P<unit>分钟|小时|钟头|天|日|周|星期|礼拜|月|年)"
_UNITS_ZH: Final = {
    "分": "minute",
    "小": "hour",
    "钟": "hour",
    "天": "day",
    "日": "day",
    "周": "week",
    "星": "week",
} | {
    "礼": "week",
    "月": "month",
    "年": "year",
}
_NEAR_YEARS: Final = {"大前年": -3, "前年": -2, "去年": -1, "今年": 0, "明年": 1, "后年": 2}
_NEAR_DAYS: Final = {"大前": -3, "前": -2, "昨": -1, "今": 0, "明": 1, "后": 2, "大后": 3}
_PARTS_ZH: Final = {
    "凌": "early",
    "早": "morning",
    "清": "morning",
    "上": "morning",
    "中": "noon",
    "下": "afternoon",
    "傍": "evening",
} | {
    "晚": "night",
    "夜": "night",
}
_WEEK_ZH: Final = "(?:周(?!年|期|围|边|转)|星期|礼拜)"


def _year_zh(text: str | None, today: Today) -> int | None:
    if not text:
        return None
    return today.year + _NEAR_YEARS[text] if text in _NEAR_YEARS else spans.chinese_number(text[:-1])


def _shift_zh(text: str) -> int:
    return text.count("下") - text.count("上")


def _edged(span: Span | None, part: str | None) -> Span | None:
    if not span or not part:
        return span
    return spans.edge(span, {"初": "first", "上": "first", "中": "mid"}.get(part[0], "last"))


def _date_zh(m: re.Match[str], today: Today) -> Span | None:
    year, number = _year_zh(m["y"], today), spans.chinese_number(m["month"])
    if m["day"]:
        first = spans.chinese_number(m["day"])
        return spans.month_day(today, number, first, spans.chinese_number(m["last"] or m["day"]), year)
    return _edged(spans.month(today, number, year), m["edge"])


def _near_month_zh(m: re.Match[str], today: Today) -> Span | None:
    index = today.month + _shift_zh(m["which"] or "")
    if m["day"]:
        day = spans.chinese_number(m["day"])
        return spans.month_day(today, index % 12 + 1, day, day, index // 12)
    return _edged(spans.months(index, index + 1), m["edge"] or m["bare"])


def _part_of_year_zh(m: re.Match[str], today: Today) -> Span | None:
    year, part = _year_zh(m["y"], today), m["part"]
    if not part:
        return spans.years(year, year + 1) if year is not None else None
    if part[0] in _SEASONS:
        return spans.season(today, _SEASONS[part[0]], year)
    if part.endswith("季度"):
        return spans.season(today, 3 * spans.chinese_number(part.strip("第季度")) - 2, year)
    if year is None:
        year = today.year
    if part.endswith("半年"):
        first = year * 12 + (6 if part[0] == "下" else 0)
        return spans.months(first, first + 6)
    return _edged(spans.years(year, year + 1), part.removeprefix("年"))


def _near_day_zh(m: re.Match[str], today: Today) -> Span:
    part = m["part"] or m["short"]
    return _in_day(today.day + _NEAR_DAYS[m["which"]], _PARTS_ZH[part[0]] if part else "")


def _week_zh(m: re.Match[str], today: Today) -> Span:
    shift, day = _shift_zh(m["which"]), m["day"]
    if not day:
        return spans.unit(today, "week", shift)
    return spans.unit(today, "weekend", shift) if day == "末" else spans.weekday(today, _weekday_zh(day), shift)


def _weekday_zh(day: str) -> int:
    return 6 if day in "日天" else "一二三四五六".index(day)


def _ago_zh(m: re.Match[str], today: Today) -> Span | None:
    name, sign = _UNITS_ZH[m["unit"][0]], 1 if m["back"] else -1
    least, most = spans.count_of(m["n"])
    # «三月前» is before March and «2023年前» before that year; months are counted with 个.
    if (name == "month" and not m["piece"]) or (name == "year" and 1_000 <= least < 3_000):
        return None
    if m["n"] == "半":
        least, most, name = {"year": (5, 7, "month"), "month": (13, 17, "day")}.get(name, (20, 40, "minute"))
    return spans.ago(today, (sign * least, sign * most), name)


def _past_zh(m: re.Match[str], today: Today) -> Span:
    name = _UNITS_ZH[m["unit"][0]]
    if m["n"] == "半":
        return spans.past(today, *{"year": (6, "month"), "month": (15, "day")}.get(name, (1, "day")))
    return spans.past(today, spans.count_of(m["n"])[1], name)


CHINESE: Final = (
    Rule(
        rf"(?:{_YEAR_ZH}的?)?(?<![0-9个〇零一二两三四五六七八九十])(?P<month>{_N})月份?"
        rf"(?:(?P<day>{_N})(?:[日号]?[-–~到至](?P<last>{_N}))?[日号](?!楼|线|店|房)|(?P<edge>{_EDGE_ZH})(?![0-9]))?",
        _date_zh,
    ),
    Rule(
        rf"(?:(?P<which>上+一?个?|这个?|本|下+一?个?)月(?!份?{_N}[号日]楼)(?:份?(?P<day>{_N})[日号]|份?(?P<edge>{_EDGE_ZH}))?"
        rf"|(?<![0-9个一二三四五六七八九十上下这本])月(?P<bare>[初底末]))",
        _near_month_zh,
    ),
    Rule(
        rf"{_YEAR_ZH}(?:的?(?P<part>年?(?:初|底|末)|年中|上半年|下半年|[春夏秋冬][天季]|第?[一二三四1-4]季度))?",
        _part_of_year_zh,
    ),
    Rule(
        r"(?P<y>)(?P<part>(?<![0-9今去前明后一二三四五六七八九十〇零])年(?:初|底|末|中)|上半年|下半年|[春夏秋冬][天季](?!度)|第?[一二三四1-4]季度)",
        _part_of_year_zh,
    ),
    Rule(
        r"(?P<which>大前|前|昨|今|明|大后|后)"
        r"(?:[天日](?:的?(?P<part>凌晨|早[上晨]|清晨|上午|中午|下午|傍晚|晚上|夜里))?|(?P<short>[晚夜早])上?)",
        _near_day_zh,
    ),
    Rule(rf"(?P<which>上+一?个?|这个?|本|下+一?个?){_WEEK_ZH}(?P<day>[一二三四五六日天末])?", _week_zh),
    Rule(
        rf"(?<![每一二两三四五六七八九十几0-9个上下这本]){_WEEK_ZH}(?P<day>[一二三四五六日天])",
        lambda m, today: spans.weekday(today, _weekday_zh(m["day"]), None),
    ),
    Rule("(?<![每上下这本个])周末", lambda _, today: spans.weekend(today)),
    Rule(rf"(?P<n>{_N}|几|数|半)(?P<piece>个)?{_UNIT_ZH}[以之]?(?:(?P<back>前)(?!往|面|后)|后)", _ago_zh),
    Rule(rf"(?P<back>前)(?P<n>几|两|三)(?P<piece>个)?{_UNIT_ZH}", _ago_zh),
    Rule(rf"(?:过去|最近|近|这)的?(?P<n>{_N}|几|半)个?{_UNIT_ZH}", _past_zh),
    Rule("最近|刚才|刚刚|近期|近来|这阵子|前阵子", _recent, "nothing"),
)
