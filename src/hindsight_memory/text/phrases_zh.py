"""The table of phrases that name a span of time in Chinese: a pattern, and what it means today."""

from __future__ import annotations

import re
from typing import Final

from hindsight_memory.text import holidays, spans
from hindsight_memory.text.phrases import Rule
from hindsight_memory.text.spans import Span, Today

_SEASONS: Final = {"春": 3, "夏": 6, "秋": 9, "冬": 12}
_N: Final = "(?:[0-9]{1,9}|[零〇一二两三四五六七八九十百千万亿]{1,8})"
_YEAR_ZH: Final = (
    "(?P<y>[0-9]{4}年|[〇零一二三四五六七八九]{4}年|大前年|前年|去年(?!龄|纪)|今年(?!龄)|明年|后年"
    "|(?<![0-9])[0-9]{2}年(?=的?(?:[0-9一二三四五六七八九十]{1,3}月|年?[初底末]|年中|[上下]半年|第?[一二三四1-4]季度|[春夏秋冬])))"
)
_EDGE_ZH: Final = "初|中旬|上旬|下旬|上半月|下半月|底|末|中(?=[，。,?？、\\s]|$)"
_EDGES: Final = {"初": "first", "上旬": "first", "上半": "half", "下半": "second half", "中": "mid", "中旬": "mid"}
_UNIT_ZH: Final = "(?P<unit>分钟|小时|钟头|天|日|周|星期|礼拜|月(?!份)|年)"
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
    if text in _NEAR_YEARS:
        return today.year + _NEAR_YEARS[text]
    year = spans.chinese_number(text[:-1])
    if year < 100 and len(text) == 3:  # «24年3月»
        year += 2000 if year <= today.year % 100 + 5 else 1900
    return year


def _shift_zh(text: str) -> int:
    return text.count("下") - text.count("上")


def _edged(span: Span | None, part: str | None) -> Span | None:
    if not span or not part:
        return span
    return spans.edge(span, _EDGES.get(part[:2], "last"))


def _date_zh(m: re.Match[str], today: Today) -> Span | None:
    year, number = _year_zh(m["y"], today), spans.chinese_number(m["month"])
    if m["day"]:
        first = spans.chinese_number(m["day"])
        return spans.month_day(today, number, first, spans.chinese_number(m["last"] or m["day"]), year)
    return _edged(spans.month(today, number, year), m["edge"])


def _months_zh(m: re.Match[str], today: Today) -> Span | None:
    """Read «3到5月», «去年11月至1月»."""
    year, first, last = _year_zh(m["y"], today), spans.chinese_number(m["first"]), spans.chinese_number(m["last"])
    since = spans.month(today, first, year)
    if since is None or not 1 <= last <= 12:
        return None
    index = since[0].year * 12 + first - 1
    return spans.months(index, index + (last - first) % 12 + 1)


def _nth_zh(m: re.Match[str], today: Today) -> Span | None:
    """Read «5月第一周», «上个月的最后一个周末»."""
    if m["which"]:
        index = today.month + _shift_zh(m["which"])
    else:
        month = spans.month(today, spans.chinese_number(m["month"]), _year_zh(m["y"], today))
        if month is None:
            return None
        index = month[0].year * 12 + month[0].month - 1
    which = -1 if m["nth"].startswith("最") else spans.chinese_number(m["nth"][1:])
    return spans.nth_part(index, which, "weekend" if m["unit"] == "周末" else "week")


def _day_alone_zh(m: re.Match[str], today: Today) -> Span | None:
    """Read «15号那天», «从3号到5号»: the last ones that have begun, of this month or the one before."""
    first = spans.chinese_number(m["day"])
    last = spans.chinese_number(m["last"] or m["day"])
    for index in (today.month, today.month - 1):
        span = spans.month_day(today, index % 12 + 1, first, last, index // 12)
        if span and span[0] <= today.moment:
            return span
    return None


def _holiday_zh(m: re.Match[str], today: Today) -> Span | None:
    year = _year_zh(m["y"], today)
    if year is None:
        return spans.nearest(today, lambda each: holidays.holiday(m["day"], each), None)
    return holidays.holiday(m["day"], year)


def _decade_zh(m: re.Match[str], _: Today) -> Span | None:
    decade = spans.chinese_number(m["decade"])
    first = decade if decade >= 1_000 else 1_900 + decade
    return spans.years(first, first + 10) if decade % 10 == 0 and (decade >= 1_000 or 20 <= decade < 100) else None


def _last_year_zh(m: re.Match[str], today: Today) -> Span:
    days = (0, 1) if m["day"] else (-15, 16)
    return spans.shift_years(spans.days(today.day + days[0], today.day + days[1]), _NEAR_YEARS[m["y"]])


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


def _in_day(day: int, part: str) -> Span:
    return spans.part_of_day(day, part) if part else spans.days(day, day + 1)


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
    if (name == "month" and not (m["piece"] or m["piece2"])) or (name == "year" and 1_000 <= least < 3_000):
        return None
    if m["n"] == "半":
        least, most, name = {"year": (5, 7, "month"), "month": (13, 17, "day")}.get(name, (20, 40, "minute"))
    elif (m["more2"] or m["more"] == "半") and name == "year":
        least, most, name = 12 * least + 5, 12 * most + 7, "month"
    elif m["more"] or m["more2"]:
        most += 1
    return spans.ago(today, (sign * least, sign * most), name)


def _past_zh(m: re.Match[str], today: Today) -> Span:
    name = _UNITS_ZH[m["unit"][0]]
    if m["n"] == "半":
        return spans.past(today, *{"year": (6, "month"), "month": (15, "day")}.get(name, (1, "day")))
    return spans.past(today, spans.count_of(m["n"])[1], name)


def _some_time_ago(_: re.Match[str], today: Today) -> Span:
    return spans.past(today, 60, "day")


CHINESE: Final = (
    Rule(
        rf"(?:{_YEAR_ZH}的?)?(?<![0-9个第〇零一二两三四五六七八九十])(?P<first>{_N})月?份?[-–~到至](?P<last>{_N})月(?!份?{_N}[日号]|[初底末中上下])份?",
        _months_zh,
    ),
    Rule(
        rf"(?:(?:{_YEAR_ZH}的?)?(?<![0-9个〇零一二两三四五六七八九十])(?P<month>{_N})月份?|(?P<which>上+一?个?|这个?|本|下+一?个?)月)的?"
        r"(?P<nth>第[一二三四1-4]|最后一)个?(?P<unit>周末|周|星期|礼拜)",
        _nth_zh,
    ),
    Rule(
        rf"(?<![0-9月第年〇零一二两三四五六七八九十])(?P<day>{_N})[号日](?:[-–~到至](?P<last>{_N})[号日]|(?=那天|这天|当天|早上|上午|中午|下午|晚上))",
        _day_alone_zh,
    ),
    Rule(
        rf"(?:{_YEAR_ZH}的?)?(?P<day>(?<![第大])(?:{holidays.CHINESE_NAMES}))(?![路街村区镇店]|广场|大道|老人|树|礼物|卡|歌|月饼|粽|汤圆|馅|上河|联欢)"
        "节?(?:假期|长假|期间|前后|当天|那天)?",
        _holiday_zh,
    ),
    Rule("(?:上个?世纪|20世纪)?(?P<decade>(?:19|20)[0-9]0|[2-9]0|[二三四五六七八九]十)年代", _decade_zh),
    Rule("(?P<y>大前年|前年|去年)的?(?:(?P<day>今天|这天)|同期|这个?时候|这时|这个月)", _last_year_zh),
    Rule(
        "(?P<which>上一?个?|这个?|本|下一?个?)季度",
        lambda m, today: spans.unit(today, "quarter", _shift_zh(m["which"])),
    ),
    Rule(
        rf"(?:接下来|未来|今后|之后)的?(?P<n>{_N}|几)个?{_UNIT_ZH}",
        lambda m, today: spans.ahead(today, spans.count_of(m["n"])[1], _UNITS_ZH[m["unit"][0]]),
    ),
    Rule("前段时间|前一段时间|前一阵子?|前些天|前些日子|前不久|不久前", _some_time_ago, "nothing"),
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
        r"(?P<y>)(?P<part>(?<![0-9今去前明后大一二三四五六七八九十〇零])年(?:初|底|末|中(?!国))|上半年|下半年|[春夏秋冬][天季](?!度)|第?[一二三四1-4]季度)",
        _part_of_year_zh,
    ),
    Rule(
        r"(?P<which>大前|前|昨|今|明|大后|后)"
        r"(?:[天日](?!头条|努力|因素|培养|形成|性)(?:的?(?P<part>凌晨|早[上晨]|清晨|上午|中午|下午|傍晚|晚上|夜里))?|(?P<short>[晚夜早])上?)",
        _near_day_zh,
    ),
    Rule(rf"(?P<which>上+一?个?|这个?|本|下+一?个?){_WEEK_ZH}(?P<day>[一二三四五六日天末])?", _week_zh),
    Rule(
        rf"(?<![每一二两三四五六七八九十几0-9个上下这本]){_WEEK_ZH}(?P<day>[一二三四五六日天])",
        lambda m, today: spans.weekday(today, _weekday_zh(m["day"]), None),
    ),
    Rule("(?<![每上下这本个])周末", lambda _, today: spans.weekend(today)),
    Rule(
        rf"(?P<n>十几|几十|{_N}|几|数|半)(?P<piece>个)?(?P<more>多|半)?(?P<piece2>个)?{_UNIT_ZH}(?P<more2>半)?[以之]?(?:(?P<back>前)(?!往|面|后)|后(?![端台勤续悔面缀备期]))",
        _ago_zh,
    ),
    Rule(rf"(?<!提)(?P<back>前)(?P<n>几|两|三)(?P<piece>个)?(?P<more>)(?P<piece2>)(?P<more2>){_UNIT_ZH}", _ago_zh),
    Rule(rf"(?:过去|最近|近|这)的?(?!一[天日])(?P<n>{_N}|几|半)个?{_UNIT_ZH}", _past_zh),
    Rule(
        "最近(?!的(?:地铁|医院|餐厅|餐馆|超市|车站|商店|银行|药店|加油站|酒店|学校|公园))|刚才|刚刚|近期|近来|这阵子|前阵子",
        lambda _, today: spans.past(today, spans.RECENT_DAYS, "day"),
        "nothing",
    ),
)
