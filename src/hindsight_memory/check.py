"""Checks a dataclass's fields against their annotations, so that every door refuses the same things."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from datetime import UTC, datetime
from enum import StrEnum
from functools import cache
from types import NoneType, UnionType
from typing import Any, ClassVar, Final, TypeAlias, TypeVar, Union, get_args, get_origin, get_type_hints
from zoneinfo import ZoneInfo

from hindsight_memory.errors import InvalidInput

METADATA_BYTES: Final = 32_768
_EARLIEST: Final = datetime(1, 1, 2, tzinfo=UTC)
_LATEST: Final = datetime(9999, 12, 30, tzinfo=UTC)
_SECONDS_END_AT: Final = 20_000_000_000  # as seconds the year 2603, as milliseconds 1970: no real date is both
_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_Number = TypeVar("_Number", int, float)
E = TypeVar("E", bound=StrEnum)


class Limits(dict[str, float]):
    """Bounds of a field: characters of a text, value of a number; ``items`` bounds a list.

    ``prose`` is text that is normalised before it is kept, so that a NUL in it does no harm; ``zone`` is the name of a
    time zone.
    """

    def __init__(
        self,
        *,
        least: float = 0,
        most: float = math.inf,
        items: float = math.inf,
        prose: bool = False,
        zone: bool = False,
    ) -> None:
        super().__init__(least=least, most=most, items=items, prose=prose, zone=zone)


class Checked:
    """Base of the dataclasses that callers fill in.

    Turns what the wire carries (strings, lists, numbers) into what the annotation says (enums, tuples, aware
    times) and raises ``InvalidInput`` naming the first field that is wrong.
    """

    __slots__ = ()
    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}  # a misspelt field is an error, not a loss

    def __post_init__(self) -> None:
        kind: Any = type(self)
        for name, convert, limits in _plan(kind):
            object.__setattr__(self, name, convert(name, getattr(self, name), limits))


def parse_text(name: str, value: object, most: int) -> str:
    """A text that can be stored, of at most ``most`` characters."""
    return _text(name, value, Limits(most=most))


def parse_choice(name: str, value: Any, enum: type[E]) -> E:
    """A member of an enum, from itself or its text."""
    try:
        return enum(value)
    except ValueError:
        hint = f"Use one of: {', '.join(enum)}."
        raise InvalidInput(f"{name} is {_shown(value)}, which is not known.", hint=hint, field=name) from None


def parse_time(name: str, value: object) -> datetime:
    """An aware UTC time from a datetime, an ISO 8601 text with its zone, or a Unix time in s or ms."""
    if isinstance(value, bool) or not isinstance(value, datetime | str | int | float):
        raise InvalidInput(f"{name} is not a time.", hint="Give ISO 8601 with a zone.", field=name)
    try:
        moment = _moment(value)
    except (ValueError, OverflowError, OSError) as error:
        hint = "Give ISO 8601 with a zone, such as 2026-05-04T09:00:00Z."
        raise InvalidInput(f"{name} is not a time that can be kept.", hint=hint, field=name) from error
    if moment.tzinfo is None:
        hint = "Add the zone, such as 2026-05-04T09:00:00Z or +08:00."
        raise InvalidInput(f"{name} has no time zone.", hint=hint, field=name)
    if not _EARLIEST <= moment <= _LATEST:
        raise InvalidInput(f"{name} is outside the years 1 to 9999.", field=name)
    return moment.astimezone(UTC)


def parse_zone(name: str, value: str) -> str:
    """The name of a time zone that is known here."""
    try:
        return ZoneInfo(value).key
    except (KeyError, ValueError, OSError):  # OSError: the name of a folder of zones, such as Europe
        hint = "Give an IANA name, such as Europe/Berlin or Asia/Shanghai."
        raise InvalidInput(f"{name} is {_shown(value)}, which is no time zone.", hint=hint, field=name) from None


def _moment(value: datetime | str | float) -> datetime:
    if isinstance(value, datetime):
        return value
    if isinstance(value, str):
        return datetime.fromisoformat(value.strip())
    seconds = value / 1_000 if abs(value) >= _SECONDS_END_AT else value
    return datetime.fromtimestamp(seconds, UTC)


_Convert: TypeAlias = Callable[[str, Any, Mapping[str, float]], Any]


@cache
def _plan(cls: Any) -> tuple[tuple[str, _Convert, Mapping[str, float]], ...]:
    hints = get_type_hints(cls)
    return tuple((f.name, _converter(hints[f.name]), f.metadata or Limits()) for f in fields(cls))


def _converter(hint: Any) -> _Convert:
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        inner = _converter(next(a for a in args if a is not NoneType))
        return lambda name, value, limits: None if value is None else inner(name, value, limits)
    if origin is tuple:
        return _sequence(_converter(args[0]))
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return _choice(hint)
    return {str: _text, bool: _flag, int: _whole, float: _number, datetime: _time}.get(hint, _json)


def _choice(enum: type[StrEnum]) -> _Convert:
    def convert(name: str, value: Any, limits: Mapping[str, float]) -> StrEnum:
        return parse_choice(name, value, enum)

    return convert


def _sequence(item: _Convert) -> _Convert:
    def convert(name: str, value: Any, limits: Mapping[str, float]) -> tuple[Any, ...]:
        if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
            raise InvalidInput(f"{name} must be a list.", hint=f'Such as ["{_shown(value)}"].', field=name)
        items = tuple(item(name, each, limits) for each in value)
        if len(items) > limits["items"]:
            raise InvalidInput(f"{name} has {len(items)} items; at most {limits['items']:.0f}.", field=name)
        return items

    return convert


def _text(name: str, value: Any, limits: Mapping[str, float]) -> str:
    if not isinstance(value, str):
        raise InvalidInput(f"{name} must be text, not {type(value).__name__}.", field=name)
    if _LONE_SURROGATE.search(value):
        hint = "The text was cut inside a character or wrongly decoded; decode it as UTF-8."
        raise InvalidInput(f"{name} holds half of a surrogate pair.", hint=hint, field=name)
    if "\0" in value and not limits["prose"]:
        raise InvalidInput(f"{name} holds a NUL character.", hint="Take it out.", field=name)
    if len(value) > limits["most"]:
        message = f"{name} has {len(value):,} characters; at most {limits['most']:,.0f}."
        raise InvalidInput(message, hint="Split it, or store a summary and a reference.", field=name)
    if limits["least"] and not value.strip():
        raise InvalidInput(f"{name} is empty.", field=name)
    return parse_zone(name, value) if limits["zone"] else str(value)


def _flag(name: str, value: Any, limits: Mapping[str, float]) -> bool:
    if not isinstance(value, bool):
        raise InvalidInput(f"{name} must be true or false.", field=name)
    return value


def _whole(name: str, value: Any, limits: Mapping[str, float]) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidInput(f"{name} must be a whole number.", field=name)
    return _bounded(name, value, limits)


def _number(name: str, value: Any, limits: Mapping[str, float]) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidInput(f"{name} must be a number.", field=name)
    return float(_bounded(name, value, limits))


def _bounded(name: str, value: _Number, limits: Mapping[str, float]) -> _Number:
    if not limits["least"] <= value <= limits["most"]:
        bounds = f"{limits['least']:g} to {limits['most']:g}"
        raise InvalidInput(f"{name} is {_shown(value)}; it must be from {bounds}.", field=name)
    return value


def _time(name: str, value: Any, limits: Mapping[str, float]) -> datetime:
    return parse_time(name, value)


def _json(name: str, value: Any, limits: Mapping[str, float]) -> Mapping[str, Any]:
    if not isinstance(value, Mapping) or not all(isinstance(k, str) for k in value):
        raise InvalidInput(f"{name} must be an object with text keys.", field=name)
    size = _json_size(name, value, depth=0)
    if size > METADATA_BYTES:
        raise InvalidInput(f"{name} takes {size:,} bytes; at most {METADATA_BYTES:,}.", field=name)
    return dict(value)


def _json_size(name: str, value: object, depth: int) -> int:
    if depth > 16:
        raise InvalidInput(f"{name} is nested more than 16 deep.", field=name)
    match value:
        case None | bool():
            return 4
        case str():
            if _LONE_SURROGATE.search(value) or "\0" in value:
                raise InvalidInput(f"{name} holds a character that cannot be stored.", field=name)
            return len(value.encode()) + 3
        case int() | float():
            if not -(2**63) < value < 2**63:  # nor is NaN between them
                raise InvalidInput(f"{name} holds a number that cannot be stored.", field=name)
            return 20
        case Mapping() if all(isinstance(key, str) for key in value):
            return 2 + sum(_json_size(name, part, depth + 1) for pair in value.items() for part in pair)
        case list() | tuple():
            return 2 + sum(_json_size(name, part, depth + 1) for part in value)
    message = f"{name} holds a {type(value).__name__}, which is not JSON."
    raise InvalidInput(message, hint="Use text, numbers, true, false, null, lists and objects.", field=name)


def _shown(value: object) -> str:
    try:
        return repr(value)[:60].strip("'\"")
    except ValueError:  # Python refuses to write out a number of thousands of digits
        return "too large"
