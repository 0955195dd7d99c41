"""Times and JSON as the store keeps them."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Final

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


def to_micros(moment: datetime) -> int:
    """A time as the store keeps it; exact, since floats lose microseconds."""
    return (moment - _EPOCH) // _MICROSECOND


def from_micros(micros: int) -> datetime:
    """The time the store kept."""
    return _EPOCH + timedelta(microseconds=micros)


def to_json(value: object) -> str:
    """JSON with letters as they are: escaped, Chinese would take three times the room."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
