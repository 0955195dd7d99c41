"""What a bank is made of, as lines that may leave the database: each part with its key and its columns.

A line is what its row says, as JSON: the same on every engine, so that an archive of one opens on another. What can be
made anew (words, names, times) is no part, nor is who works on what at the moment.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final, TypeAlias, get_args, get_type_hints

from hindsight_memory.domain import Handling, Memory, RelationType
from hindsight_memory.errors import InvalidInput
from hindsight_memory.store.columns import (
    COUNT,
    LONG,
    Column,
    a_flag,
    a_number,
    a_text,
    a_time,
    a_vector,
    a_whole,
    an_object,
    one_of,
    ranking,
    some_bytes,
    some_texts,
    state,
)

Line: TypeAlias = dict[str, Any]
"""One row of a part, as JSON."""
Key: TypeAlias = tuple[Any, ...]
"""What a line is found by within its bank."""


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a bank, or with ``banked=False`` of what all banks share: a table, its key and its columns."""

    name: str
    table: str
    key: tuple[str, ...]
    columns: Mapping[str, Column]
    banked: bool = True
    _cells: tuple[tuple[str, Column], ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_cells", tuple(self.columns.items()))

    def line(self, row: Sequence[Any]) -> Line:
        """A row of the columns, in their order, as a line."""
        return {
            name: None if cell is None else column.say(cell)
            for (name, column), cell in zip(self._cells, row, strict=True)
        }

    def cells(self, line: object) -> dict[str, Any]:
        """A line as the columns hold it. Raises ``InvalidInput`` naming the first field that is wrong."""
        if not isinstance(line, Mapping):
            raise InvalidInput(f"{self.name} must be an object.", field=self.name)
        for name in line:
            if name not in self.columns:
                raise InvalidInput(f"{self.name} has a field that is not known: {str(name)[:60]!r}.", field=self.name)
        return {name: column.cell(f"{self.name}.{name}", line.get(name)) for name, column in self._cells}

    def key_of(self, line: Line) -> Key:
        """What the line is found by."""
        return tuple(line[name] for name in self.key)


def _of_memories() -> Mapping[str, Column]:
    """The columns of a memory, read off its fields, so that none can be forgotten."""
    hints = get_type_hints(Memory)
    found = {each.name: _of_field(each.name, hints[each.name]) for each in fields(Memory) if each.name != "bank_id"}
    return {"row": a_whole(1), **found, "reading": a_whole(0, 2)}


def _of_field(name: str, hint: Any) -> Column:
    optional = type(None) in get_args(hint)
    kind = next((each for each in get_args(hint) if each is not type(None)), hint) if optional else hint
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return one_of(kind, optional=optional)
    if kind is str:
        return a_text(LONG, optional=optional)
    if kind is int:
        return a_whole(optional=optional)
    if name in ("tags", "tools"):
        return some_texts()
    return {bool: a_flag(), float: a_number(0, 1), datetime: a_time(optional=optional)}.get(kind, an_object())


MEMORY: Final = Part("memory", "memories", ("row",), MappingProxyType(_of_memories()))
EVENT: Final = Part(
    "event",
    "events",
    ("number",),
    MappingProxyType(
        {
            "number": a_whole(1),
            "id": a_text(),
            "at": a_time(),
            "actor": a_text(),
            "verb": a_text(),
            "memory_id": a_text(optional=True),
            "reason": a_text(LONG),
            "detail": an_object(),
            "salt": some_bytes(64),
            "digest": some_bytes(64),
            "seal": some_bytes(64),
        }
    ),
)
SESSION: Final = Part(
    "session",
    "sessions",
    ("session_id",),
    MappingProxyType(
        {
            "session_id": a_text(),
            "created_at": a_time(),
            "next_turn": a_whole(),
            "title": a_text(optional=True),
            "state": an_object(state),
            "version": a_whole(),
            "told": a_whole(-COUNT),
            "settled": a_whole(),
            "expires_at": a_time(optional=True),
        }
    ),
)
RELATION: Final = Part(
    "relation",
    "relations",
    ("from_id", "type", "to_id"),
    MappingProxyType(
        {
            "from_id": a_text(),
            "type": one_of(RelationType),
            "to_id": a_text(),
            "weight": a_number(-1e9, 1e9),
            "metadata": an_object(),
            "created_at": a_time(),
        }
    ),
)
POLICY: Final = Part(
    "policy", "policies", ("type",), MappingProxyType({"type": a_text(), "handling": one_of(Handling)})
)
SEALED: Final = Part(
    "sealed",
    "vault",
    ("id",),
    MappingProxyType({"id": a_text(), "type": a_text(), "sealed": some_bytes(), "created_at": a_time()}),
)
UPKEEP: Final = Part(
    "upkeep",
    "upkeep",
    ("routine",),
    MappingProxyType({"routine": a_text(), "done_at": a_time(), "place": a_whole()}),
)
VECTOR: Final = Part(
    "vector",
    "vectors",
    ("space", "row", "part"),
    MappingProxyType({"space": a_text(), "row": a_whole(1), "part": a_whole(0, 10_000), "vector": a_vector()}),
)
HEAD: Final = Part(
    "bank",
    "banks",
    (),
    MappingProxyType(
        {
            "namespace": a_text(200),
            "user_id": a_text(200, optional=True),
            "created_at": a_time(),
            "next_row": a_whole(1),
            "next_event": a_whole(1),
            "log_first": a_whole(1),
            "log_base": some_bytes(64),
            "log_seal": some_bytes(64),
            "ranking": an_object(ranking),
        }
    ),
)
"""The line a bank begins with: its own row, but for what is counted anew."""

PARTS: Final = (EVENT, SESSION, MEMORY, RELATION, POLICY, SEALED, UPKEEP)
"""What a bank is made of besides its vectors, in the order of an archive. The log comes first: it tells whose it is."""

API_KEY: Final = Part(
    "api_key",
    "api_keys",
    ("id",),
    MappingProxyType(
        {
            "id": a_text(),
            "digest": a_text(),
            "name": a_text(),
            "namespace": a_text(200),
            "prefix": a_text(),
            "grants": some_texts(),
            "users": some_texts(optional=True),
            "agents": some_texts(optional=True),
            "created_at": a_time(),
            "created_by": a_text(),
            "expires_at": a_time(optional=True),
            "revoked_at": a_time(optional=True),
            "replaced_by": a_text(optional=True),
            "last_used_at": a_time(optional=True),
        }
    ),
    banked=False,
)
SPACE: Final = Part(
    "space",
    "spaces",
    ("name",),
    MappingProxyType(
        {
            "name": a_text(),
            "spec": a_text(),
            "dimension": a_whole(1, 100_000),
            "template": a_text(),
            "calibration": an_object(),
            "wanted": a_whole(0, 1),
        }
    ),
    banked=False,
)
SPENDING: Final = Part(
    "spending",
    "spending",
    ("day",),
    MappingProxyType({"day": a_whole(1), "tokens": a_whole(), "memories": a_whole()}),
    banked=False,
)
COMMON: Final = (SPACE, API_KEY, SPENDING)
"""What all banks share: it moves with a whole database only, and into no archive."""
