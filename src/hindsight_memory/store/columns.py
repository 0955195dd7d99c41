"""What may stand in a column of a line, and how it is said there: read strictly, since a line may be a stranger's."""

from __future__ import annotations

import json
import math
import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

import numpy as np

from hindsight_memory.check import parse_time
from hindsight_memory.domain import SessionState
from hindsight_memory.errors import InvalidInput
from hindsight_memory.store.cells import from_micros, to_json, to_micros
from hindsight_memory.store.vectors import Floats

LONG: Final = 1_000_000
_SHORT: Final = 20_000
"""Characters of a text, and of one that is a name or an id: above all that is ever written."""
COUNT: Final = 2**53
_DEEP: Final = 60
_ABOUT_ONE: Final = 0.05
_UNKEPT: Final = re.compile("[\0\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Column:
    """How one column is said in a line, and what may stand there; ``None`` too where it is ``optional``."""

    say: Callable[[Any], Any]
    read: Callable[[str, Any], Any]
    optional: bool = False

    def cell(self, name: str, value: Any) -> Any:
        """The value as the column holds it. Raises ``InvalidInput`` naming the field."""
        if value is None:
            if self.optional:
                return None
            raise InvalidInput(f"{name} is missing.", field=name)
        return self.read(name, value)


def _same(cell: Any) -> Any:
    return cell


def a_text(most: int = _SHORT, *, optional: bool = False) -> Column:
    """A text of at most ``most`` characters that every engine can store."""

    def read(name: str, value: Any) -> str:
        if not isinstance(value, str):
            raise InvalidInput(f"{name} must be text.", field=name)
        if len(value) > most:
            raise InvalidInput(f"{name} has {len(value):,} characters; at most {most:,}.", field=name)
        if _UNKEPT.search(value):
            raise InvalidInput(f"{name} holds a character that cannot be stored.", field=name)
        return value

    return Column(_same, read, optional)


def a_whole(least: int = 0, most: int = COUNT, *, optional: bool = False) -> Column:
    """A whole number within bounds."""

    def read(name: str, value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise InvalidInput(f"{name} must be a whole number from {least} to {most}.", field=name)
        return value

    return Column(_same, read, optional)


def a_number(least: float, most: float) -> Column:
    """A number within bounds."""

    def read(name: str, value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
            raise InvalidInput(f"{name} must be a number from {least:g} to {most:g}.", field=name)
        return float(value)

    return Column(float, read)


def a_flag() -> Column:
    """True or false; a number in the column."""

    def read(name: str, value: Any) -> int:
        if not isinstance(value, bool):
            raise InvalidInput(f"{name} must be true or false.", field=name)
        return int(value)

    return Column(bool, read)


def a_time(*, optional: bool = False) -> Column:
    """A time with its zone; microseconds since 1970 in the column."""

    def say(cell: int) -> str:
        return from_micros(cell).isoformat().replace("+00:00", "Z")

    def read(name: str, value: Any) -> int:
        if not isinstance(value, str):
            raise InvalidInput(f"{name} must be a time.", field=name)
        return to_micros(parse_time(name, value))

    return Column(say, read, optional)


def one_of(known: type[StrEnum], *, optional: bool = False) -> Column:
    """One of the values of an enum."""
    values = frozenset(each.value for each in known)

    def read(name: str, value: Any) -> str:
        if not isinstance(value, str) or value not in values:
            raise InvalidInput(f"{name} is {str(value)[:60]!r}, which is not known.", field=name)
        return value

    return Column(_same, read, optional)


def an_object(known: Callable[[Mapping[str, Any]], object] = lambda _: None) -> Column:
    """An object; ``known`` raises ``InvalidInput``, ``TypeError`` or ``ValueError`` for what nobody could read."""

    def read(name: str, value: Any) -> str:
        if not isinstance(value, Mapping):
            raise InvalidInput(f"{name} must be an object.", field=name)
        if _depth(value) > _DEEP:
            raise InvalidInput(f"{name} is nested more than {_DEEP} deep.", field=name)
        text = to_json(value)
        if _UNKEPT.search(text) or not _finite(value):
            raise InvalidInput(f"{name} holds what cannot be stored.", field=name)
        try:
            known(value)
        except (TypeError, ValueError, AttributeError, OverflowError, InvalidInput) as error:
            raise InvalidInput(f"{name} is not what stands there.", field=name) from error
        return text

    return Column(json.loads, read)


def state(value: Mapping[str, Any]) -> None:
    """Raise where this is no state of a session: the next look at its desk would fail."""
    rest = dict(value)
    some_texts().read("given", rest.pop("given", []))
    SessionState(**rest)


def ranking(value: Mapping[str, Any]) -> None:
    """Raise where this is no ranking, or weighs beyond all bounds: every search of the bank would fail."""
    rest = dict(value)
    weight, count = a_number(0.1, 10), a_whole()
    for name, each in rest.pop("weights", {}).items():
        weight.read(a_text().read("weights", name), each)
    count.read("pairs", rest.pop("pairs", 0))
    for name in ("fitted_at", "since"):
        from_micros(a_whole(-(2**62), 2**62).read(name, rest.pop(name, 0)))
    if rest:
        raise ValueError("unknown fields")


def _depth(value: Any) -> int:
    depth, level = 0, [value]
    while level:
        depth += 1
        if depth > _DEEP:
            break
        inner = [each.values() if isinstance(each, Mapping) else each for each in level]
        level = [one for each in inner for one in each if isinstance(one, Mapping | list)]
    return depth


def _finite(value: Any) -> bool:
    if isinstance(value, Mapping):
        return all(_finite(each) for each in value.values())
    if isinstance(value, list):
        return all(_finite(each) for each in value)
    return not isinstance(value, float) or math.isfinite(value)


def some_texts(*, optional: bool = False) -> Column:
    """A list of texts."""
    one = a_text()

    def read(name: str, value: Any) -> str:
        if not isinstance(value, list):
            raise InvalidInput(f"{name} must be a list.", field=name)
        return to_json([one.read(name, each) for each in value])

    return Column(json.loads, read, optional)


def some_bytes(most: int = LONG) -> Column:
    """Bytes, in base64."""

    def say(cell: Any) -> str:
        return b64encode(bytes(cell)).decode()

    def read(name: str, value: Any) -> bytes:
        try:
            found = b64decode(value, validate=True)
        except (ValueError, TypeError) as error:
            raise InvalidInput(f"{name} must be bytes in base64.", field=name) from error
        if len(found) > most:
            raise InvalidInput(f"{name} has {len(found):,} bytes; at most {most:,}.", field=name)
        return found

    return Column(say, read)


def a_vector() -> Column:
    """A vector, little-endian float32 of length 1."""
    plain = some_bytes(400_000)

    def read(name: str, value: Any) -> Floats:
        held = plain.read(name, value)
        found = np.frombuffer(held[: len(held) // 4 * 4], "<f4")
        if len(held) % 4 or not abs(float(np.linalg.norm(found)) - 1) < _ABOUT_ONE:  # nor is NaN near 1
            raise InvalidInput(f"{name} is no vector of length 1.", field=name)
        return Floats(held)

    return Column(plain.say, read)
