"""Days and seasons of the year that have a name instead of a date, of the solar and the Chinese calendar."""

from __future__ import annotations

from collections.abc import Collection
from datetime import date
from typing import Final

from hindsight_memory.text import spans
from hindsight_memory.text.spans import Span

_FIXED: Final = {  # month, day and how many days it goes on
    "christmas eve": (12, 24, 1),
    "christmas": (12, 24, 3),
    "boxing day": (12, 26, 1),
    "new year's eve": (12, 31, 1),
    "new year": (1, 1, 1),
    "valentine": (2, 14, 1),
    "patrick": (3, 17, 1),
    "halloween": (10, 31, 1),
    "independence day": (7, 4, 1),
    "元旦": (1, 1, 1),
    "跨年": (12, 31, 2),
    "情人节": (2, 14, 1),
    "妇女节": (3, 8, 1),
    "愚人节": (4, 1, 1),
    "清明": (4, 4, 3),
    "五一": (5, 1, 5),
    "劳动节": (5, 1, 5),
    "青年节": (5, 4, 1),
    "六一": (6, 1, 1),
    "儿童节": (6, 1, 1),
    "教师节": (9, 10, 1),
    "国庆": (10, 1, 7),
    "十一假期": (10, 1, 7),
    "十一黄金周": (10, 1, 7),
    "万圣节": (10, 31, 1),
    "双十一": (11, 11, 1),
    "双11": (11, 11, 1),
    "双十二": (12, 12, 1),
    "平安夜": (12, 24, 1),
    "圣诞": (12, 24, 3),
    "暑假": (7, 1, 62),
    "寒假": (1, 10, 45),
}
_NTH_WEEKDAY: Final = {  # month, weekday (Monday is 0), which one (-1 is the last), days from there
    "thanksgiving": (11, 3, 4, 0),
    "black friday": (11, 3, 4, 1),
    "memorial day": (5, 0, -1, 0),
    "labor day": (9, 0, 1, 0),
    "labour day": (9, 0, 1, 0),
    "mother": (5, 6, 2, 0),
    "father": (6, 6, 3, 0),
    "感恩节": (11, 3, 4, 0),
    "母亲节": (5, 6, 2, 0),
    "父亲节": (6, 6, 3, 0),
}
_LUNAR: Final = {  # the festival of the table, days from there, how many days
    "春节": ("春", -1, 8),
    "过年": ("春", -1, 8),
    "大年初一": ("春", 0, 1),
    "除夕": ("春", -1, 1),
    "大年三十": ("春", -1, 1),
    "元宵": ("春", 14, 1),
    "端午": ("端", 0, 1),
    "七夕": ("七", 0, 1),
    "中秋": ("中", 0, 1),
    "重阳": ("重", 0, 1),
}
_FIRST_YEAR: Final = 1990
_TABLE: Final = {  # month and day, from 1990 to 2049
    "春": (
        "012702150204012302100131021902070128021602050124021202010122020901290218020701260214020301230210"
        "013102190208012802160205012502120201012202100129021702060126021302030123021101310219020801280215"
        "020401240212020101220210013002170206012602140202"
    ),
    "端": (
        "052806160605062406130602062006090530061806060625061506040622061105310619060805280616060606230612"
        "060206200609053006180607062506140603062206100531061906090528061606050624061206010620061005300618"
        "060705270614060306220611053106190608052906150604"
    ),
    "七": (
        "082608160805082408130802082008090828081708060825081508040822081107310819080708260816080608230813"
        "080208200809082808170807082508140804082208100829081908080826081608050824081208010820081008280817"
        "080708260814080308220811073108190808082708160805"
    ),
    "中": (
        "100309220911093009200909092709161005092409121001092109110928091810060925091410030922091209300919"
        "090809270915100409240913100109210910092909171006092509151003092209121001091909080927091610040924"
        "091310020920091009280917100509250915100409220911"
    ),
    "重": (
        "102610161004102310131101102010101028101710061025101410041022101110301019100710261016100510231013"
        "100210211009102810171007102510141004102310111029101810081026101610051024101210011020100910271017"
        "100710261014100310221011102910181008102710161005"
    ),
}

ENGLISH_NAMES: Final = (
    r"christmas\s+eve|christmas(?:\s+day)?|xmas|boxing\s+day|new\s+year['’]?s\s+eve|new\s+year(?:['’]?s)?(?:\s+day)?"
    r"|valentine['’]?s(?:\s+day)?|(?:st\.?|saint)\s+patrick['’]?s\s+day|easter(?:\s+sunday)?|halloween"
    r"|thanksgiving(?:\s+day)?|black\s+friday|independence\s+day|labou?r\s+day|memorial\s+day|(?:mother|father)['’]?s\s+day"
)
CHINESE_NAMES: Final = "|".join(
    sorted((name for name in (*_FIXED, *_NTH_WEEKDAY, *_LUNAR) if not name.isascii()), key=len, reverse=True)
)


def holiday(name: str, year: int) -> Span | None:
    """The days of a holiday in a year, as far as they are known."""
    name = " ".join(name.lower().replace("’", "'").replace("xmas", "christmas").split())
    if found := _known(name, _LUNAR):
        table, shift, length = _LUNAR[found]
        return _lunar(table, year, shift, length)
    if found := _known(name, _NTH_WEEKDAY):
        month, weekday, which, shift = _NTH_WEEKDAY[found]
        first = spans.nth_weekday(year, month, weekday, which) + shift
        return spans.days(first, first + 1)
    if found := _known(name, _FIXED):
        month, day, length = _FIXED[found]
        first = _ordinal(year, month, day)
        return spans.days(first, first + length)
    if "easter" in name:
        first = _easter(year)
        return spans.days(first - 2, first + 2)
    return None


def _known(name: str, table: Collection[str]) -> str:
    """The longest entry that a name begins with or holds."""
    return max((entry for entry in table if entry in name.replace("years", "year's")), key=len, default="")


def _lunar(table: str, year: int, shift: int, length: int) -> Span | None:
    at = 4 * (year - _FIRST_YEAR)
    if not 0 <= at < len(_TABLE[table]):
        return None
    first = _ordinal(year, int(_TABLE[table][at : at + 2]), int(_TABLE[table][at + 2 : at + 4])) + shift
    return spans.days(first, first + length)


def _ordinal(year: int, month: int, day: int) -> int:
    return date(min(max(year, 1), 9998), month, day).toordinal()


def _easter(year: int) -> int:
    """Easter Sunday by the Gregorian computus, in the anonymous form of 1876."""
    golden, century, rest = year % 19, *divmod(year, 100)
    leap, kept = divmod(century, 4)
    moon = (19 * golden + century - leap - (century - (century + 8) // 25 + 1) // 3 + 15) % 30
    fours, left = divmod(rest, 4)
    sunday = (32 + 2 * kept + 2 * fours - moon - left) % 7
    late = (golden + 11 * moon + 22 * sunday) // 451
    month, day = divmod(moon + sunday - 7 * late + 114, 31)
    return _ordinal(year, month, day + 1)
