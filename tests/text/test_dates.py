"""Spans of time named in a text."""

from __future__ import annotations

import time
from datetime import UTC, date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hindsight_memory.text.dates import MOST, find_windows

NOW = datetime(2023, 10, 18, 15, 30, tzinfo=UTC)  # a Wednesday
SUNDAY = datetime(2023, 10, 22, 10, 0, tzinfo=UTC)
END = "9999-12-29"
START = "0001-01-03"


def spans(text: str, now: datetime = NOW) -> list[str]:
    """Windows as "since/until" in dates, or hours where a window has them."""
    return [f"{_short(w.since)}/{_short(w.until)}" for w in find_windows(text, now)]


def _short(at: datetime) -> str:
    day = f"{at.year:04}-{at.month:02}-{at.day:02}"
    return day if (at.hour, at.minute) == (0, 0) else f"{day}T{at:%H:%M}"


ENGLISH = [
    ("on 2023-05-04", "2023-05-04/2023-05-05"),
    ("2023-05-04T10:00:00Z", "2023-05-04/2023-05-05"),
    ("2024/05/04", "2024-05-04/2024-05-05"),
    ("2023.5.4", "2023-05-04/2023-05-05"),
    ("5/4/2023", "2023-05-04/2023-05-05"),
    ("25/4/2023", "2023-04-25/2023-04-26"),
    ("in 2023-05", "2023-05-01/2023-06-01"),
    ("What did I do on May 4?", "2023-05-04/2023-05-05"),
    ("on December 4th", "2022-12-04/2022-12-05"),
    ("4 May 2023", "2023-05-04/2023-05-05"),
    ("8 May, 2023", "2023-05-08/2023-05-09"),
    ("the 4th of May", "2023-05-04/2023-05-05"),
    ("May 4, 2022.", "2022-05-04/2022-05-05"),
    ("may 4th", "2023-05-04/2023-05-05"),
    ("May 4-8, 2023", "2023-05-04/2023-05-09"),
    ("4-8 May", "2023-05-04/2023-05-09"),
    ("February 29", "2020-02-29/2020-03-01"),
    ("May 2023", "2023-05-01/2023-06-01"),
    ("Sept 2022", "2022-09-01/2022-10-01"),
    ("in 2023", "2023-01-01/2024-01-01"),
    ("my 2026 goals", "2026-01-01/2027-01-01"),
    ("2020-2022", "2020-01-01/2023-01-01"),
    ("in the 1990s", "1990-01-01/2000-01-01"),
    ("in May", "2023-05-01/2023-06-01"),
    ("in November", "2022-11-01/2022-12-01"),
    ("in October", "2023-10-01/2023-11-01"),
    ("in may", "2023-05-01/2023-06-01"),
    ("early May", "2023-05-01/2023-05-11"),
    ("at the end of last month", "2023-09-21/2023-10-01"),
    ("today", "2023-10-18/2023-10-19"),
    ("yesterday's news", "2023-10-17/2023-10-18"),
    ("tomorrow", "2023-10-19/2023-10-20"),
    ("the day before yesterday", "2023-10-16/2023-10-17"),
    ("the day after tomorrow", "2023-10-20/2023-10-21"),
    ("last week", "2023-10-09/2023-10-16"),
    ("this week", "2023-10-16/2023-10-23"),
    ("next week", "2023-10-23/2023-10-30"),
    ("last month", "2023-09-01/2023-10-01"),
    ("this month", "2023-10-01/2023-11-01"),
    ("last year", "2022-01-01/2023-01-01"),
    ("next year", "2024-01-01/2025-01-01"),
    ("last weekend", "2023-10-14/2023-10-16"),
    ("this weekend", "2023-10-21/2023-10-23"),
    ("over the weekend", "2023-10-14/2023-10-16"),
    ("last quarter", "2023-07-01/2023-10-01"),
    ("last Monday", "2023-10-16/2023-10-17"),
    ("last wednesday", "2023-10-11/2023-10-12"),
    ("last Fri", "2023-10-13/2023-10-14"),
    ("on Friday", "2023-10-13/2023-10-14"),
    ("on Wednesday", "2023-10-18/2023-10-19"),
    ("on fri", "2023-10-13/2023-10-14"),
    ("on Sun", "2023-10-15/2023-10-16"),
    ("next Friday", "2023-10-20/2023-10-21"),
    ("next Wednesday", "2023-10-25/2023-10-26"),
    ("this Friday", "2023-10-20/2023-10-21"),
    ("3 days ago", "2023-10-15/2023-10-16"),
    ("two weeks ago", "2023-10-01/2023-10-08"),
    ("a month ago", "2023-09-01/2023-10-01"),
    ("10 years ago", "2013-01-01/2014-01-01"),
    ("a few days ago", "2023-10-13/2023-10-17"),
    ("a couple of days ago", "2023-10-16/2023-10-17"),
    ("half a year ago", "2023-03-01/2023-06-01"),
    ("2 hours ago", "2023-10-18T13:00/2023-10-18T14:00"),
    ("5 minutes ago", "2023-10-18T15:15/2023-10-18T15:35"),
    ("two weeks from now", "2023-10-29/2023-11-05"),
    ("last night", "2023-10-17T18:00/2023-10-18T06:00"),
    ("tonight", "2023-10-18T18:00/2023-10-19T06:00"),
    ("this morning", "2023-10-18T05:00/2023-10-18T12:00"),
    ("yesterday evening", "2023-10-17T17:00/2023-10-18"),
    ("last spring", "2023-03-01/2023-06-01"),
    ("last summer", "2023-06-01/2023-09-01"),
    ("last winter", "2022-12-01/2023-03-01"),
    ("last autumn", "2022-09-01/2022-12-01"),
    ("summer 2022", "2022-06-01/2022-09-01"),
    ("in the fall of 2021", "2021-09-01/2021-12-01"),
    ("in the summer", "2023-06-01/2023-09-01"),
    ("last May", "2023-05-01/2023-06-01"),
    ("last December", "2022-12-01/2023-01-01"),
    ("this May", "2023-05-01/2023-06-01"),
    ("next May", "2024-05-01/2024-06-01"),
    ("Q2 2023", "2023-04-01/2023-07-01"),
    ("in Q4", "2023-10-01/2024-01-01"),
    ("the second quarter of 2022", "2022-04-01/2022-07-01"),
    ("between May and July", "2023-05-01/2023-08-01"),
    ("between May and July 2022", "2022-05-01/2022-08-01"),
    ("from May 4 to June 3", "2023-05-04/2023-06-04"),
    ("from May to June", "2023-05-01/2023-07-01"),
    ("from November to January", "2022-11-01/2023-02-01"),
    ("from November to January 2023", "2022-11-01/2023-02-01"),
    ("between 2020 and 2022", "2020-01-01/2023-01-01"),
    ("from 2023-05-04 to 2023-06-01", "2023-05-04/2023-06-02"),
    ("between Monday and Wednesday", "2023-10-16/2023-10-19"),
    ("since May", "2023-05-01/2023-10-19"),
    ("since last Monday", "2023-10-16/2023-10-19"),
    ("before 2023", f"{START}/2023-01-01"),
    ("after June 3", f"2023-06-04/{END}"),
    ("until yesterday", f"{START}/2023-10-17"),
    ("from 2022 until now", "2022-01-01/2023-10-19"),
    ("two days before 25 May 2023", "2023-05-23/2023-05-24"),
    ("over the last week", "2023-10-11/2023-10-19"),
    ("in the past month", "2023-09-18/2023-10-19"),
    ("in the last 30 days", "2023-09-18/2023-10-19"),
    ("the past two weeks", "2023-10-04/2023-10-19"),
    ("what did I eat recently", "2023-10-04/2023-10-19"),
    ("the weekend before last", "2023-10-07/2023-10-09"),
    ("the week before last", "2023-10-02/2023-10-09"),
    ("the month before last", "2023-08-01/2023-09-01"),
    ("the year before last", "2021-01-01/2022-01-01"),
    ("the summer before last", "2022-06-01/2022-09-01"),
    ("the night before last", "2023-10-16T18:00/2023-10-17T06:00"),
    ("the Friday before last", "2023-10-06/2023-10-07"),
    ("the week after next", "2023-10-30/2023-11-06"),
    ("mid-2022", "2022-05-03/2022-09-01"),
    ("late summer 2022", "2022-08-01/2022-09-01"),
    ("in early summer", "2023-06-01/2023-07-02"),
    ("in late spring 2022", "2022-05-01/2022-06-01"),
    ("the end of the year", "2023-11-01/2024-01-01"),
    ("at the beginning of the month", "2023-10-01/2023-10-11"),
    ("by the end of June", "2023-06-21/2023-07-01"),
    ("from 3 to 5 May", "2023-05-03/2023-05-06"),
    ("from the 3rd to the 5th of May", "2023-05-03/2023-05-06"),
    ("between 3 and 5 May", "2023-05-03/2023-05-06"),
    ("May 3 to 5", "2023-05-03/2023-05-06"),
    ("from May 3 to 5", "2023-05-03/2023-05-06"),
    ("from May 3 to June 5", "2023-05-03/2023-06-06"),
    ("Q3 2024", "2024-07-01/2024-10-01"),
    ("2024 Q3", "2024-07-01/2024-10-01"),
    ("2024Q3", "2024-07-01/2024-10-01"),
    ("H1 2022", "2022-01-01/2022-07-01"),
    ("second half of 2022", "2022-07-01/2023-01-01"),
    ("first half of last year", "2022-01-01/2022-07-01"),
    ("first half of May", "2023-05-01/2023-05-17"),
    ("in the last quarter of 2022", "2022-10-01/2023-01-01"),
    ("a fortnight ago", "2023-10-01/2023-10-08"),
    ("a decade ago", "2013-01-01/2014-01-01"),
    ("two and a half months ago", "2023-07-01/2023-09-01"),
    ("two years and a half ago", "2021-03-01/2021-06-01"),
    ("an hour and a half ago", "2023-10-18T13:00/2023-10-18T15:00"),
    ("half an hour ago", "2023-10-18T14:50/2023-10-18T15:10"),
    ("half a month ago", "2023-10-01/2023-10-06"),
    ("the other day", "2023-10-04/2023-10-19"),
    ("in recent weeks", "2023-09-06/2023-10-19"),
    ("first week of May", "2023-05-01/2023-05-08"),
    ("the first week of August 2022", "2022-08-01/2022-08-08"),
    ("the last week of April", "2023-04-24/2023-05-01"),
    ("the second weekend of June 2023", "2023-06-10/2023-06-12"),
    ("the first Monday of May", "2023-05-01/2023-05-02"),
    ("the last Friday of last month", "2023-09-29/2023-09-30"),
    ("last Christmas", "2022-12-24/2022-12-27"),
    ("for Christmas", "2022-12-24/2022-12-27"),
    ("on Christmas Eve", "2022-12-24/2022-12-25"),
    ("New Year's Eve 2022", "2022-12-31/2023-01-01"),
    ("on New Year's Eve", "2022-12-31/2023-01-01"),
    ("before Thanksgiving", f"{START}/2022-11-24"),
    ("Halloween 2022", "2022-10-31/2022-11-01"),
    ("since Easter", "2023-04-07/2023-10-19"),
    ("on Valentine's Day", "2023-02-14/2023-02-15"),
    ("on Saturday morning", "2023-10-14T05:00/2023-10-14T12:00"),
    ("Monday evening", "2023-10-16T17:00/2023-10-17"),
    ("Saturday night", "2023-10-14T18:00/2023-10-15T06:00"),
    ("last Tuesday night", "2023-10-17T18:00/2023-10-18T06:00"),
    ("the morning of May 4", "2023-05-04T05:00/2023-05-04T12:00"),
    ("the Sunday before 25 May 2023", "2023-05-21/2023-05-22"),
    ("the week of 23 August 2023", "2023-08-21/2023-08-28"),
    ("the weekend of May 6", "2023-05-06/2023-05-08"),
    ("the week before 9 June 2023", "2023-06-02/2023-06-09"),
    ("the day before 9 June 2023", "2023-06-08/2023-06-09"),
    ("the Friday before 22 October 2023", "2023-10-20/2023-10-21"),
    ("two weeks before 3 June 2023", "2023-05-17/2023-05-24"),
    ("a few days after May 4", "2023-05-06/2023-05-10"),
    ("the day after May 4", "2023-05-05/2023-05-06"),
    ("the weekend before May 4", "2023-04-29/2023-05-01"),
    ("at noon yesterday", "2023-10-17/2023-10-18"),
    ("summer of '22", "2022-06-01/2022-09-01"),
    ("May '22", "2022-05-01/2022-06-01"),
    ("since '20", "2020-01-01/2023-10-19"),
    ("the 90s", "1990-01-01/2000-01-01"),
    ("in the early 90s", "1990-01-01/2000-01-01"),
    ("in the last 24 hours", "2023-10-17T15:30/2023-10-19"),
    ("last hour", "2023-10-18T14:30/2023-10-19"),
    ("the past decade", "2013-10-20/2023-10-19"),
    ("the next two weeks", "2023-10-18/2023-11-02"),
    ("this time last year", "2022-10-03/2022-11-03"),
    ("a year ago today", "2022-10-18/2022-10-19"),
    ("from Monday to Friday", "2023-10-16/2023-10-21"),
    ("by Friday", "2023-10-13/2023-10-14"),
    ("may 5", "2023-05-05/2023-05-06"),
    ("second quarter", "2023-04-01/2023-07-01"),
    ("before June left", f"{START}/2023-06-01"),
    ("Monday before last", "2023-10-09/2023-10-10"),
    ("two days before yesterday", "2023-10-15/2023-10-16"),
]

CHINESE = [
    ("我今天吃了什么", "2023-10-18/2023-10-19"),
    ("昨天", "2023-10-17/2023-10-18"),
    ("前天", "2023-10-16/2023-10-17"),
    ("大前天", "2023-10-15/2023-10-16"),
    ("明天", "2023-10-19/2023-10-20"),
    ("后天", "2023-10-20/2023-10-21"),
    ("昨晚", "2023-10-17T18:00/2023-10-18T06:00"),
    ("昨天晚上", "2023-10-17T18:00/2023-10-18T06:00"),
    ("今早", "2023-10-18T05:00/2023-10-18T12:00"),
    ("今天下午", "2023-10-18T12:00/2023-10-18T18:00"),
    ("上周", "2023-10-09/2023-10-16"),
    ("上周三", "2023-10-11/2023-10-12"),
    ("上个星期天", "2023-10-15/2023-10-16"),
    ("上上周", "2023-10-02/2023-10-09"),
    ("这周", "2023-10-16/2023-10-23"),
    ("本周五", "2023-10-20/2023-10-21"),
    ("下周一", "2023-10-23/2023-10-24"),
    ("周末", "2023-10-14/2023-10-16"),
    ("上周末", "2023-10-14/2023-10-16"),
    ("星期三", "2023-10-18/2023-10-19"),
    ("礼拜天", "2023-10-15/2023-10-16"),
    ("上个月", "2023-09-01/2023-10-01"),
    ("上个月5号", "2023-09-05/2023-09-06"),
    ("本月", "2023-10-01/2023-11-01"),
    ("下个月", "2023-11-01/2023-12-01"),
    ("上月底", "2023-09-21/2023-10-01"),
    ("月初", "2023-10-01/2023-10-11"),
    ("去年", "2022-01-01/2023-01-01"),
    ("前年", "2021-01-01/2022-01-01"),
    ("今年", "2023-01-01/2024-01-01"),
    ("明年", "2024-01-01/2025-01-01"),
    ("年初", "2023-01-01/2023-03-03"),
    ("去年年底", "2022-11-01/2023-01-01"),
    ("5月4号", "2023-05-04/2023-05-05"),
    ("在5月4日那天", "2023-05-04/2023-05-05"),
    ("12月4日", "2022-12-04/2022-12-05"),
    ("五月四号", "2023-05-04/2023-05-05"),
    ("十二月二十五日", "2022-12-25/2022-12-26"),
    ("5月4日到8日", "2023-05-04/2023-05-09"),
    ("2023年5月", "2023-05-01/2023-06-01"),
    ("2023年5月4日", "2023-05-04/2023-05-05"),
    ("二〇二三年五月四日", "2023-05-04/2023-05-05"),
    ("2023年", "2023-01-01/2024-01-01"),
    ("去年5月", "2022-05-01/2022-06-01"),
    ("5月份", "2023-05-01/2023-06-01"),
    ("5月初", "2023-05-01/2023-05-11"),
    ("三天前", "2023-10-15/2023-10-16"),
    ("两周前", "2023-10-01/2023-10-08"),
    ("3个月前", "2023-07-01/2023-08-01"),
    ("半年前", "2023-03-01/2023-06-01"),
    ("十年前", "2013-01-01/2014-01-01"),
    ("几天前", "2023-10-13/2023-10-17"),
    ("前几天", "2023-10-13/2023-10-17"),
    ("三天后", "2023-10-21/2023-10-22"),
    ("春天", "2023-03-01/2023-06-01"),
    ("去年夏天", "2022-06-01/2022-09-01"),
    ("上半年", "2023-01-01/2023-07-01"),
    ("去年下半年", "2022-07-01/2023-01-01"),
    ("2023年第二季度", "2023-04-01/2023-07-01"),
    ("最近", "2023-10-04/2023-10-19"),
    ("刚才", "2023-10-04/2023-10-19"),
    ("最近三天", "2023-10-15/2023-10-19"),
    ("过去一年", "2022-10-18/2023-10-19"),
    ("过去一万年", f"{START}/2023-10-19"),
    ("从5月到7月", "2023-05-01/2023-08-01"),
    ("2022年5月到7月", "2022-05-01/2022-08-01"),
    ("5月和7月之间", "2023-05-01/2023-08-01"),
    ("2022年到2023年", "2022-01-01/2024-01-01"),
    ("去年以来", "2022-01-01/2023-10-19"),
    ("三月前", f"{START}/2023-03-01"),
    ("2023年之前", f"{START}/2023-01-01"),
    ("6月3日以后", f"2023-06-04/{END}"),
    ("12月中旬", "2022-12-11/2022-12-22"),
    ("5月中", "2023-05-11/2023-05-22"),
    ("这两天", "2023-10-16/2023-10-19"),
    ("近半年", "2023-04-21/2023-10-19"),
    ("大半年前", "2023-03-01/2023-06-01"),
    ("一年半前", "2022-03-01/2022-06-01"),
    ("两个半月前", "2023-07-01/2023-09-01"),
    ("半个月前", "2023-10-01/2023-10-06"),
    ("三个多月前", "2023-06-01/2023-08-01"),
    ("十几天前", "2023-09-29/2023-10-08"),
    ("几十年前", "1933-01-01/2004-01-01"),
    ("国庆", "2023-10-01/2023-10-08"),
    ("国庆节去了哪里", "2023-10-01/2023-10-08"),
    ("国庆期间", "2023-10-01/2023-10-08"),
    ("去年国庆", "2022-10-01/2022-10-08"),
    ("元旦", "2023-01-01/2023-01-02"),
    ("五一假期", "2023-05-01/2023-05-06"),
    ("春节", "2023-01-21/2023-01-29"),
    ("去年春节", "2022-01-31/2022-02-08"),
    ("2024年春节", "2024-02-09/2024-02-17"),
    ("端午", "2023-06-22/2023-06-23"),
    ("中秋节", "2023-09-29/2023-09-30"),
    ("圣诞节", "2022-12-24/2022-12-27"),
    ("双十一", "2022-11-11/2022-11-12"),
    ("暑假", "2023-07-01/2023-09-01"),
    ("去年暑假", "2022-07-01/2022-09-01"),
    ("除夕", "2023-01-21/2023-01-22"),
    ("大年初一", "2023-01-22/2023-01-23"),
    ("清明", "2023-04-04/2023-04-07"),
    ("上周三晚上", "2023-10-11T18:00/2023-10-12T06:00"),
    ("周三晚上", "2023-10-18T18:00/2023-10-19T06:00"),
    ("周五下午", "2023-10-13T12:00/2023-10-13T18:00"),
    ("5月4号晚上", "2023-05-04T18:00/2023-05-05T06:00"),
    ("5月4日下午3点", "2023-05-04T12:00/2023-05-04T18:00"),
    ("15号那天", "2023-10-15/2023-10-16"),
    ("从3号到5号", "2023-10-03/2023-10-06"),
    ("去年底", "2022-11-01/2023-01-01"),
    ("前段时间", "2023-08-19/2023-10-19"),
    ("前些天", "2023-08-19/2023-10-19"),
    ("周一到周五", "2023-10-16/2023-10-21"),
    ("3到5月", "2023-03-01/2023-06-01"),
    ("三到五月", "2023-03-01/2023-06-01"),
    ("3-5月", "2023-03-01/2023-06-01"),
    ("去年3到5月", "2022-03-01/2022-06-01"),
    ("2022年11月到1月", "2022-11-01/2023-02-01"),
    ("3-5月4号", "2023-05-04/2023-05-05"),
    ("第三季度", "2023-07-01/2023-10-01"),
    ("2024年三季度", "2024-07-01/2024-10-01"),
    ("24年3月", "2024-03-01/2024-04-01"),
    ("23年5月4日", "2023-05-04/2023-05-05"),
    ("2023年Q3", "2023-07-01/2023-10-01"),
    ("23年底", "2023-11-01/2024-01-01"),
    ("24年前", "1999-01-01/2000-01-01"),
    ("上世纪90年代", "1990-01-01/2000-01-01"),
    ("90年代", "1990-01-01/2000-01-01"),
    ("八十年代", "1980-01-01/1990-01-01"),
    ("2020年代", "2020-01-01/2030-01-01"),
    ("本季度", "2023-10-01/2024-01-01"),
    ("上个季度", "2023-07-01/2023-10-01"),
    ("去年同期", "2022-10-03/2022-11-03"),
    ("去年今天", "2022-10-18/2022-10-19"),
    ("5月第一周", "2023-05-01/2023-05-08"),
    ("五月的第一个周末", "2023-05-06/2023-05-08"),
    ("上个月最后一个周末", "2023-09-30/2023-10-02"),
    ("四月上半月", "2023-04-01/2023-04-16"),
    ("接下来三天", "2023-10-18/2023-10-22"),
    ("未来两周", "2023-10-18/2023-11-02"),
    ("4月27号这一天", "2023-04-27/2023-04-28"),
    ("过去24小时", "2023-10-17T15:30/2023-10-19"),
    ("三天前的晚上", "2023-10-15T18:00/2023-10-16T06:00"),
    ("月底", "2023-10-22/2023-11-01"),
    ("九月底", "2023-09-21/2023-10-01"),
    ("十月中旬", "2023-10-11/2023-10-22"),
    ("七月七日长生殿", "2023-07-07/2023-07-08"),
    ("十二月", "2022-12-01/2023-01-01"),
    ("十一月", "2022-11-01/2022-12-01"),
    ("十一假期", "2023-10-01/2023-10-08"),
    ("双11", "2022-11-11/2022-11-12"),
    ("最近一月份去哪个合适", "2023-01-01/2023-02-01"),
    ("我去年年龄最小", "2022-01-01/2023-01-01"),
]


@pytest.mark.parametrize(("text", "span"), ENGLISH + CHINESE)
def test_one_span(text: str, span: str) -> None:
    assert spans(text) == [span]


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("last weekend", "2023-10-14/2023-10-16"),
        ("上周末", "2023-10-14/2023-10-16"),
        ("the weekend", "2023-10-21/2023-10-23"),
        ("this week", "2023-10-16/2023-10-23"),
        ("last Sunday", "2023-10-15/2023-10-16"),
        ("on Sunday", "2023-10-22/2023-10-23"),
    ],
)
def test_asked_on_a_sunday(text: str, span: str) -> None:
    assert spans(text, SUNDAY) == [span]


def test_a_range_may_pass_the_end_of_what_has_been() -> None:
    assert spans("from August to November") == ["2023-08-01/2023-12-01"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("in May and July", ["2023-05-01/2023-06-01", "2023-07-01/2023-08-01"]),
        ("what she watched recently, on October 6, 2022", ["2022-10-06/2022-10-07"]),
        ("may 5 and june 7", ["2023-05-05/2023-05-06", "2023-06-07/2023-06-08"]),
        ("三月底四月初", ["2023-03-22/2023-04-01", "2023-04-01/2023-04-11"]),
        ("today or yesterday", ["2023-10-18/2023-10-19", "2023-10-17/2023-10-18"]),
        ("today, today and today", ["2023-10-18/2023-10-19"]),
    ],
)
def test_several_spans(text: str, found: list[str]) -> None:
    assert spans(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "",
        "what do we like",
        "I may go",
        "may I ask something",
        "May I ask",
        "this may be wrong",
        "she sat down",
        "they march on",
        "wait a second",
        "the sun is out",
        "What did June say?",
        "a letter from June",
        "every Monday",
        "leaves fall in rows",
        "a spring in the mattress",
        "port 2024",
        "it cost $2000",
        "2000 steps",
        "version 1.2.3 on 192.168.1.10",
        "2023-13-45",
        "0000-01-01",
        "31 February",
        "2月31日",
        "13月5日",
        "25:61",
        "100,000 years ago",
        "一万年前",
        "99999999999999999999 days ago",
        "每周三",
        "一周一次",
        "生命周期",
        "三个人",
        "附近的地铁站",
        "一点",
        "what do you think of Christmas trees",
        "Merry Christmas",
        "every Monday to Friday",
        "every Monday and Tuesday",
        "each Friday or Saturday",
        "may 5 people come",
        "I may, 5 of them may",
        "may i",
        "they will march 5 km",
        "a march for the people",
        "March Madness",
        "ask April about it",
        "in a second",
        "the second time",
        "second to none",
        "one second ago",
        "he came in second",
        "the second quarter of the game",
        "in Spring Boot",
        "fall from grace",
        "Sun Microsystems",
        "sat on 5 chairs",
        "Mon ami",
        "half of them",
        "at the end of the day",
        "a week of work",
        "week after week",
        "the week before",
        "a few days before",
        "in his 20s",
        "圣诞树",
        "五一路",
        "国庆路10号",
        "中秋月饼",
        "3号线",
        "15号楼",
        "工作了24年",
        "24年",
        "3到5个月",
        "3-5年",
        "每周一到周五",
        "每周末",
        "最近的地铁站",
        "今日头条",
        "大年",
        "这一天",
        "后天因素",
        "做了三年后端开发",
        "提前两周上线",
        "220减去年龄",
    ],
)
def test_no_span(text: str) -> None:
    assert spans(text) == []


@pytest.mark.parametrize("text", ["February 31, 2023", "2023年2月31日"])
def test_a_day_that_never_was_leaves_its_year(text: str) -> None:
    assert spans(text) == ["2023-01-01/2024-01-01"]


def test_the_zone_is_the_askers() -> None:
    now = datetime(2023, 10, 18, 1, 0, tzinfo=ZoneInfo("Asia/Shanghai"))
    assert spans("今天", now) == ["2023-10-17T16:00/2023-10-18T16:00"]
    now = datetime(2023, 3, 27, 9, 0, tzinfo=ZoneInfo("Europe/Berlin"))
    assert spans("yesterday", now) == ["2023-03-25T23:00/2023-03-26T22:00"]  # the day the clock is put forward


@pytest.mark.parametrize(
    ("zone", "day", "hours"),
    [
        ("Europe/Berlin", date(2023, 3, 26), 23),
        ("Europe/Berlin", date(2023, 10, 29), 25),
        ("America/New_York", date(2023, 11, 5), 25),
        ("America/Sao_Paulo", date(2018, 11, 4), 23),  # there midnight itself is left out
        ("Africa/Cairo", date(2023, 10, 26), 25),  # and there 23 o'clock comes twice
        ("Australia/Lord_Howe", date(2023, 4, 2), 24.5),
        ("Asia/Kathmandu", date(2023, 6, 1), 24),
        ("Pacific/Kiritimati", date(2023, 6, 1), 24),
    ],
)
def test_a_day_lasts_from_midnight_to_midnight_of_its_zone(zone: str, day: date, hours: float) -> None:
    at = ZoneInfo(zone)
    noon = datetime(day.year, day.month, day.day, 12, tzinfo=at)
    for text, moment in (("today", noon), ("昨天", noon + timedelta(days=1)), (f"on {day}", noon + timedelta(days=90))):
        (window,) = find_windows(text, moment)
        assert window.until - window.since == timedelta(hours=hours)
        assert window.since.astimezone(at).date() == day
        assert (window.since - timedelta(microseconds=1)).astimezone(at).date() == day - timedelta(days=1)
        assert window.until.astimezone(at).date() == day + timedelta(days=1)


def test_hours_ago_are_hours_that_passed() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    for now in (datetime(2023, 3, 26, 4, tzinfo=berlin), datetime(2023, 10, 29, 2, 30, tzinfo=berlin, fold=1)):
        for text in ("3 hours ago", "三小时前"):
            (window,) = find_windows(text, now)
            middle = window.since + (window.until - window.since) / 2
            assert now.astimezone(UTC) - middle == timedelta(hours=3)


def test_a_naive_moment_is_an_error() -> None:
    with pytest.raises(ValueError, match="time zone"):
        find_windows("today", datetime(2023, 1, 1))  # noqa: DTZ001


def test_windows_say_what_they_were_read_from() -> None:
    assert [w.text for w in find_windows("What happened since last Monday?", NOW)] == ["since last Monday"]
    assert [w.text for w in find_windows("我2022年5月到7月在哪", NOW)] == ["2022年5月到7月"]


def test_work_is_bounded() -> None:
    listing = " ".join(str(date(2020, 1, 1) + timedelta(days=n)) for n in range(20_000))
    assert len(find_windows(listing, NOW)) == MOST
    for text in (
        listing,
        "1-" * 50_000,
        "May " * 50_000,
        "月" * 50_000,
        "一" * 50_000,
        "between " * 20_000,
        "between 3 and " * 9_000,
        "the first week of " * 5_000,
        "two days before " * 6_000,
        "每周一到" * 20_000,
        "上个" * 40_000,
        "去年的" * 30_000,
        "1月到" * 30_000,
        "半" * 50_000,
        " " * 99_999,
    ):
        started = time.process_time()
        find_windows(text, NOW)
        assert time.process_time() - started < 0.5


PIECES = [c[0] for c in ENGLISH + CHINESE] + [
    "年",
    "月",
    "日",
    "前",
    "万",
    "9",
    "99999",
    "0",
    "-",
    "/",
    " to ",
    "到",
    "since ",
    "before ",
    "the day before ",
    "two weeks after ",
    "week of ",
    " night",
    "晚上",
    "early ",
    "first half of ",
]
ZONES = [UTC, timezone(timedelta(hours=14)), timezone(-timedelta(hours=12)), ZoneInfo("America/Sao_Paulo")]
MOMENTS = st.datetimes(timezones=st.sampled_from(ZONES))


@settings(max_examples=300)
@given(st.one_of(st.text(max_size=60), st.lists(st.sampled_from(PIECES), max_size=8).map("".join)), MOMENTS)
def test_any_text_at_any_time_is_safe(text: str, now: datetime) -> None:
    for window in find_windows(text, now):
        assert window.since < window.until
        assert window.since.tzinfo is UTC
        assert window.until.tzinfo is UTC
