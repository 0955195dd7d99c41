"""Times as evaluation data write them: a moment, or the last one of the day, month or year that is named."""

from __future__ import annotations

import calendar
import re
from datetime import UTC, datetime, timedelta
from typing import Final

_PARTIAL: Final = re.compile(r"(\d{4})(?:-(\d\d))?(?:-(\d\d))?")
_SLASHED: Final = re.compile(r"(\d{4}/\d\d/\d\d)(?: \(\w+\))?(?: (\d\d:\d\d))?")
_SPOKEN: Final = re.compile(r"(\d{1,2}:\d\d) ?([ap]m) on (\d{1,2}) (\w+),? (\d{4})", re.IGNORECASE)


def moment(text: str) -> datetime | None:
    """The first moment that a text names, in UTC; ``None`` when it names none. A naive time is read as UTC."""
    found = _span(text)
    return None if found is None else found[0]


def last_moment(text: str) -> datetime | None:
    """The last moment of what a text names: «2025-12-28» is all of that day, so that what it holds is known then."""
    found = _span(text)
    return None if found is None else found[1]


def _span(text: str) -> tuple[datetime, datetime] | None:
    try:
        return _read(text.strip())
    except (ValueError, OverflowError):
        return None


def _read(text: str) -> tuple[datetime, datetime]:
    if partial := _PARTIAL.fullmatch(text):
        year, month, day = (int(part) if part else None for part in partial.groups())
        return _whole(int(year or 0), month, day)
    if slashed := _SLASHED.fullmatch(text):
        date, time = slashed.groups()
        if time is None:
            return _read(date.replace("/", "-"))
        return _exact(datetime.strptime(f"{date} {time} +0000", "%Y/%m/%d %H:%M %z"))
    if spoken := _SPOKEN.fullmatch(text):
        return _exact(datetime.strptime(f"{' '.join(spoken.groups())} +0000", "%I:%M %p %d %B %Y %z"))
    return _exact(datetime.fromisoformat(text))


def _exact(found: datetime) -> tuple[datetime, datetime]:
    aware = found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    return aware, aware


def _whole(year: int, month: int | None, day: int | None) -> tuple[datetime, datetime]:
    first = datetime(year, month or 1, day or 1, tzinfo=UTC)
    last_month = month or 12
    last_day = day or calendar.monthrange(year, last_month)[1]
    end = datetime(year, last_month, last_day, tzinfo=UTC) + timedelta(days=1, microseconds=-1)
    return first, end
