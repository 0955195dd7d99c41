"""Values to JSON and back, the same for the command line, MCP and the remote client."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import StrEnum
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")


def to_wire(value: Any) -> Any:
    """A value as JSON holds it: objects for dataclasses, text for times (UTC, with ``Z``)."""
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: to_wire(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, Mapping):
        return {name: to_wire(each) for name, each in value.items()}
    return [to_wire(each) for each in value] if isinstance(value, list | tuple) else value


def from_wire(cls: type[T], data: Any) -> T:
    """The dataclass that ``to_wire`` made this of. Fields this version does not know are passed over."""
    kind: Any = cls
    return cls(**{name: _read(hint, data[name]) for name, hint in _hints(kind).items() if name in data})


@cache
def _hints(cls: Any) -> dict[str, Any]:
    hints = get_type_hints(cls)
    return {f.name: hints[f.name] for f in fields(cls)}


def _read(hint: Any, value: Any) -> Any:
    if value is None:
        return None
    args = [arg for arg in get_args(hint) if arg is not NoneType]
    if get_origin(hint) in (Union, UnionType):
        return _read(args[0], value)
    if get_origin(hint) is tuple:
        return tuple(_read(args[0], each) for each in value)
    if isinstance(hint, type) and is_dataclass(hint):
        return from_wire(hint, value)
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return hint(value)
    return datetime.fromisoformat(value) if hint is datetime else value
