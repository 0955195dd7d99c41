"""Rows to memories and back, and a filter as SQL conditions: the same for both engines."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, TypeAlias, TypeVar, get_args, get_type_hints

from hindsight_memory.domain import Event, Memory, Relation, RelationType, Status
from hindsight_memory.store.base import Where
from hindsight_memory.store.cells import from_micros as from_micros
from hindsight_memory.store.cells import to_json as to_json
from hindsight_memory.store.cells import to_micros as to_micros

Row: TypeAlias = Sequence[Any]
Params: TypeAlias = dict[str, Any]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement with its parameters, or with many sets of them."""

    sql: str
    params: Params | None = None
    many: Sequence[Params] | None = None


Plan: TypeAlias = Generator[Statement, list[Row], T]
"""Statements one after the other, each answered with its rows: logic once, driven by either engine."""


class Bank:
    """A bank's id with its number in this database."""

    __slots__ = ("id", "number")

    def __init__(self, bank_id: str, number: int) -> None:
        self.id = bank_id
        self.number = number


_IN_ROW: Final = tuple(f.name for f in fields(Memory) if f.name != "bank_id")
COLUMNS: Final = ", ".join(f"m.{name}" for name in _IN_ROW)


INDEXED: Final = 200
"""Characters of a long text that an index takes."""


def _plain_type(hint: Any) -> Any:
    return next((part for part in get_args(hint) if part is not type(None)), hint)


_HINTS: Final = get_type_hints(Memory)
_TIMES: Final = frozenset(n for n in _IN_ROW if _plain_type(_HINTS[n]) is datetime)
_FLAGS: Final = frozenset(n for n in _IN_ROW if _HINTS[n] is bool)
_LISTS: Final = frozenset({"tags", "tools"})
_ENUMS: Final = {n: e for n in _IN_ROW if isinstance(e := _plain_type(_HINTS[n]), type) and issubclass(e, StrEnum)}


def to_cell(name: str, value: Any) -> Any:
    """A field's value as its column holds it."""
    if value is None:
        return None
    if name in _TIMES:
        return to_micros(value)
    if name in _FLAGS:
        return int(value)
    if name in _LISTS:
        return to_json(list(value))
    return to_json(value) if name == "metadata" else value


def _decoder(name: str) -> Callable[[Any], Any] | None:
    """How a cell of this column becomes the field's value; ``None`` where it is that value already."""
    if name in _TIMES:
        return from_micros
    if name in _FLAGS:
        return bool
    if name in _LISTS:
        return lambda cell: () if cell == "[]" else tuple(json.loads(cell))
    if name == "metadata":
        return lambda cell: {} if cell == "{}" else json.loads(cell)
    enum = _ENUMS.get(name)
    return None if enum is None else {member.value: member for member in enum}.__getitem__


_DECODERS: Final = tuple((place, decode) for place, n in enumerate(_IN_ROW) if (decode := _decoder(n)) is not None)


def to_params(memory: Memory) -> Params:
    """A memory as parameters named like its columns."""
    return {name: to_cell(name, getattr(memory, name)) for name in _IN_ROW}


def to_memory(bank_id: str, row: Row) -> Memory:
    """A row of ``COLUMNS`` as a memory."""
    cells = list(row)
    for place, decode in _DECODERS:
        if cells[place] is not None:
            cells[place] = decode(cells[place])
    return Memory(bank_id=bank_id, **dict(zip(_IN_ROW, cells, strict=True)))


def to_relation(row: Row) -> Relation:
    """A row of type, from, to, created_at, weight, metadata as a relation."""
    kind, start, end, created, weight, metadata = row
    return Relation(
        type=RelationType(kind),
        from_id=start,
        to_id=end,
        created_at=from_micros(created),
        weight=weight,
        metadata=json.loads(metadata),
    )


def to_event(bank_id: str, row: Row) -> Event:
    """A row of id, at, actor, verb, memory_id, reason, detail as an event."""
    event_id, at, actor, verb, memory_id, reason, detail = row
    return Event(
        id=event_id,
        bank_id=bank_id,
        at=from_micros(at),
        actor=actor,
        verb=verb,
        memory_id=memory_id,
        reason=reason,
        detail=json.loads(detail),
    )


def among(column: str, values: Iterable[Any], params: Params) -> str:
    """``column IN (…)`` with each value a parameter of its own; nothing is in an empty list."""
    names = []
    for value in values:
        name = f"p{len(params)}"
        params[name] = value
        names.append(f":{name}")
    return f"{column} IN ({', '.join(names)})" if names else "1 = 0"


def beginning(column: str) -> str:
    """A column that may be long, as far as an index has it."""
    return f"substr({column}, 1, {INDEXED})"


def one_by_one(values: Iterable[Any], params: Params) -> str:
    """A table ``asked (value)`` of these values, at least one, each a parameter of its own.

    Joined with ``CROSS JOIN`` it is what a statement starts from: each value is looked up in an index, where a planner
    without statistics may prefer to read a whole bank for ``among``.
    """
    names = []
    for value in values:
        name = f"p{len(params)}"
        params[name] = value
        names.append(f"(:{name})")
    return f"WITH asked (value) AS (VALUES {', '.join(names)})"


def conditions(where: Where, params: Params) -> str:
    """A filter as conditions on ``memories m``; ``params`` receives their values."""
    now = to_micros(where.now)
    moment = now if where.as_of is None else to_micros(where.as_of)
    parts = [among("m.status", _statuses(where), params), among("m.tier", where.tiers, params)]
    params |= {"now": now, "moment": moment, "viewer": where.viewer or "", "desk": where.desk or ""}
    parts.append("(m.visibility = 'shared' OR m.agent_id = :viewer)")
    if where.ids is not None:
        parts.append(among("m.id", where.ids, params))
    parts += _standing(where)
    if where.kinds:
        parts.append(among("m.kind", where.kinds, params))
    if where.tasks:
        parts.append(among(beginning("m.task"), [task[:INDEXED] for task in where.tasks], params))
        parts.append(among("m.task", where.tasks, params))
    if where.doubted:
        parts.append("m.doubted > 0")
    exact = {"key": where.key, "session_id": where.session, "agent_id": where.agent, "outcome": where.outcome}
    for column, value in exact.items():
        if value is not None:
            params[column] = value
            parts.append(f"m.{column} = :{column}")
    if where.except_session is not None:
        params["except_session"] = where.except_session
        parts.append("(m.session_id IS NULL OR m.session_id <> :except_session)")
    parts += _bounds(where, params)
    parts += [_tagged(tag, params) for tag in where.tags]
    return " AND ".join(parts)


def _bounds(where: Where, params: Params) -> list[str]:
    found = []
    if where.trusted:
        params["trusted"] = where.trusted
        found.append("m.trust >= :trusted")
    if where.since is not None:
        params["since"] = to_micros(where.since)
        found.append("m.occurred_at >= :since")
    if where.until is not None:
        params["until"] = to_micros(where.until)
        found.append("m.occurred_at < :until")
    return found


def _standing(where: Where) -> list[str]:
    found = ["m.context_only = 0", "(m.valid_until IS NULL OR m.valid_until > :moment)"] if where.findable else []
    if where.findable:
        found.append("(m.kind <> 'working' OR m.session_id IS NULL OR m.session_id = :desk)")
    if where.findable or where.unexpired:
        found.append("(m.expires_at IS NULL OR m.expires_at > :now)")
    if where.as_of is not None:
        found.append("coalesce(m.valid_from, m.occurred_at) <= :moment")
    return found


def _statuses(where: Where) -> tuple[Status, ...]:
    if where.as_of is None or Status.SUPERSEDED in where.statuses:
        return where.statuses
    return (*where.statuses, Status.SUPERSEDED)


def _tagged(tag: str, params: Params) -> str:
    name = f"p{len(params)}"
    params[name] = tag
    return f"EXISTS (SELECT 1 FROM tags g WHERE g.bank = m.bank AND g.tag = :{name} AND g.row = m.row)"


def agrees(memory: Memory, metadata: Mapping[str, Any]) -> bool:
    """Whether a memory's metadata holds these values; compared here because engines differ in JSON."""
    return all(name in memory.metadata and memory.metadata[name] == value for name, value in metadata.items())


def equal(metadata: str, where: Where) -> bool:
    """``agrees`` for metadata as its column holds them."""
    held = json.loads(metadata)
    return all(name in held and held[name] == value for name, value in where.metadata.items())


def changed(memory: Memory, **values: Any) -> Memory:
    """The memory with these fields and the next version."""
    return replace(memory, version=memory.version + 1, **values)
