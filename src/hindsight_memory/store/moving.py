"""A bank line by line, as plans: read in the order of its keys, put into another database, and what must agree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from hindsight_memory.domain import Memory, Status
from hindsight_memory.errors import Conflict
from hindsight_memory.store.base import Marks
from hindsight_memory.store.erasure import count_erasure
from hindsight_memory.store.mentions import take_mentions
from hindsight_memory.store.parts import HEAD, MEMORY, VECTOR, Key, Line, Part
from hindsight_memory.store.postings import FINDABLE, findable, take_words
from hindsight_memory.store.rows import COLUMNS, Bank, Params, Plan, Statement, to_memory
from hindsight_memory.store.sql import blank_vectors, mark, next_change

_FOUND_BY: Final = (
    "content", "speaker", "key", "task", "tags", "occurred_at", "session_id", "turn", "status", "context_only",
)  # fmt: skip
"""The fields that say what a memory is found by."""


def head(bank: Bank) -> Plan[Line | None]:
    """See ``Reader.head``."""
    rows = yield Statement(f"SELECT {', '.join(HEAD.columns)} FROM banks WHERE bank = :bank", {"bank": bank.number})
    return HEAD.line(rows[0])


def lines(bank: Bank, part: Part, after: Key | None, limit: int) -> Plan[list[Line]]:
    """See ``Reader.lines``."""
    if part is VECTOR:
        return (yield from _vector_lines(bank, after, limit))
    return (yield from _lines(part, {"bank": bank.number}, after, limit))


def common_lines(part: Part, after: Key | None, limit: int) -> Plan[list[Line]]:
    """See ``Store.common_lines``."""
    return (yield from _lines(part, {}, after, limit))


def _lines(part: Part, params: Params, after: Key | None, limit: int) -> Plan[list[Line]]:
    conditions = ["bank = :bank"] if part.banked else []
    params = params | {"limit": limit}
    if after is not None:
        names = [f"k{place}" for place in range(len(part.key))]
        params |= dict(zip(names, after, strict=True))
        conditions.append(f"({', '.join(part.key)}) > ({', '.join(f':{name}' for name in names)})")
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    rows = yield Statement(
        f"SELECT {', '.join(part.columns)} FROM {part.table}{where} ORDER BY {', '.join(part.key)} LIMIT :limit", params
    )
    return [part.line(row) for row in rows]


def _vector_lines(bank: Bank, after: Key | None, limit: int) -> Plan[list[Line]]:
    """One space after the other, since vectors stand by the number of their space and not by its name."""
    held = yield Statement("SELECT name, space FROM spaces", {})
    found: list[Line] = []
    for name, number in sorted((row[0], row[1]) for row in held):
        if after is not None and name < after[0]:
            continue
        row, part = after[1:] if after is not None and name == after[0] else (0, 0)
        rows = yield Statement(
            "SELECT row, part, vector FROM vectors WHERE bank = :bank AND space = :space"
            " AND (row, part) > (:row, :part) AND vector IS NOT NULL ORDER BY row, part LIMIT :limit",
            {"bank": bank.number, "space": number, "row": row, "part": part, "limit": limit - len(found)},
        )
        found += [VECTOR.line((name, *each)) for each in rows]
        if len(found) >= limit:
            break
    return found


def set_head(bank: Bank, line: Line) -> Plan[None]:
    """See ``Tx.set_head``."""
    cells = HEAD.cells(line)
    del cells["namespace"], cells["user_id"]  # by these the bank was found
    assignments = ", ".join(f"{name} = :{name}" for name in cells)
    yield Statement(f"UPDATE banks SET {assignments} WHERE bank = :bank", cells | {"bank": bank.number})


def put_lines(bank: Bank, part: Part, given: Sequence[Line]) -> Plan[None]:
    """See ``Tx.put_lines``."""
    if part is VECTOR:
        yield from _put_vectors(bank, given)
    elif given:
        yield Statement(_upsert(part), many=[part.cells(line) | {"bank": bank.number} for line in given])


def put_common(part: Part, given: Sequence[Line]) -> Plan[None]:
    """See ``Store.put_common``."""
    if given:
        yield Statement(_upsert(part), many=[part.cells(line) for line in given])


def _upsert(part: Part) -> str:
    first = ["bank"] if part.banked else []
    names = [*first, *part.columns]
    rest = [name for name in part.columns if name not in part.key]
    return (
        f"INSERT INTO {part.table} ({', '.join(names)}) VALUES ({', '.join(f':{name}' for name in names)})"
        f" ON CONFLICT ({', '.join((*first, *part.key))})"
        f" DO UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in rest)}"
    )


def _put_vectors(bank: Bank, given: Sequence[Line]) -> Plan[None]:
    change = yield from next_change(bank)
    cells = [VECTOR.cells(line) for line in given]
    yield Statement(
        "INSERT INTO vectors (bank, space, row, part, change, vector)"
        " SELECT m.bank, s.space, m.row, :part, :change, :vector FROM memories m, spaces s"
        " WHERE m.bank = :bank AND m.row = :row AND s.name = :space AND s.dimension = :dimension"
        " ON CONFLICT (bank, space, row, part) DO UPDATE SET change = excluded.change, vector = excluded.vector",
        many=[each | {"bank": bank.number, "change": change, "dimension": len(each["vector"]) // 4} for each in cells],
    )


def put_memories(bank: Bank, given: Sequence[tuple[Line, Marks]]) -> Plan[None]:
    """See ``Tx.put_memories``."""
    for line, marks in given:
        cells = MEMORY.cells(line)
        memory = _memory(bank.id, cells)
        held = yield from _at(bank, cells["row"])
        if held is None:
            yield from _insert(bank, cells, memory, marks)
        else:
            yield from _replace(bank, cells, held, memory, marks)


def memory_of(line: Line) -> Memory:
    """The memory that a line says. Raises ``InvalidInput`` where it says none."""
    return _memory("", MEMORY.cells(line))


def _memory(bank_id: str, cells: Params) -> Memory:
    return to_memory(bank_id, [cells[name] for name in MEMORY.columns if name not in ("row", "reading")])


def _at(bank: Bank, row: int) -> Plan[Memory | None]:
    rows = yield Statement(
        f"SELECT {COLUMNS} FROM memories m WHERE m.bank = :bank AND m.row = :row", {"bank": bank.number, "row": row}
    )
    return to_memory(bank.id, rows[0]) if rows else None


def _insert(bank: Bank, cells: Params, memory: Memory, marks: Marks) -> Plan[None]:
    yield from _step_aside(bank, cells)
    params = cells | {"bank": bank.number, "unindexed": int(findable(memory))}
    names = ", ".join(params)
    values = ", ".join(f":{name}" for name in params)
    yield Statement(f"INSERT INTO memories ({names}) VALUES ({values})", params)
    yield from mark(bank, cells["row"], memory, marks)


def _replace(bank: Bank, cells: Params, held: Memory, memory: Memory, marks: Marks) -> Plan[None]:
    row = cells["row"]
    if held.id != memory.id:
        message = f"In the place of memory {memory.id} stands another, {held.id}."
        raise Conflict(message, hint="Move into a database that has no such bank.", field="memory.id")
    params = dict(cells)
    moved = any(getattr(held, name) != getattr(memory, name) for name in _FOUND_BY)
    if held.content != memory.content or findable(held) != findable(memory):
        params["unindexed"] = int(findable(memory))
    assignments = ", ".join(f"{name} = :{name}" for name in params if name != "row")
    if moved:
        yield from take_words(bank.number, row, held)
        yield from take_mentions(bank.number, row)
        yield Statement("DELETE FROM tags WHERE bank = :bank AND row = :row", {"bank": bank.number, "row": row})
    yield from _step_aside(bank, cells)
    yield Statement(
        f"UPDATE memories SET {assignments} WHERE bank = :bank AND row = :row", params | {"bank": bank.number}
    )
    if moved:
        yield from mark(bank, row, memory, marks)
    if held.content != memory.content:
        yield from blank_vectors(bank, row)


def _step_aside(bank: Bank, cells: Params) -> Plan[None]:
    """Let an active memory have its place where another one says the same: that one's own line comes later."""
    if cells["status"] == Status.ACTIVE:
        yield Statement(
            "UPDATE memories SET status = 'superseded' WHERE bank = :bank AND content_hash = :hash"
            " AND status = 'active' AND row <> :row",
            {"bank": bank.number, "hash": cells["content_hash"], "row": cells["row"]},
        )


def drop_lines(bank: Bank, part: Part, keys: Sequence[Key]) -> Plan[None]:
    """See ``Tx.drop_lines``."""
    if part is MEMORY:
        for (row,) in keys:
            yield from _drop_memory(bank, row)
    elif part is VECTOR:
        entries = [{"bank": bank.number, "space": name, "row": row, "part": place} for name, row, place in keys]
        yield Statement(
            "DELETE FROM vectors WHERE bank = :bank AND row = :row AND part = :part"
            " AND space = (SELECT space FROM spaces WHERE name = :space)",
            many=entries,
        )
    else:
        where = " AND ".join(f"{name} = :{name}" for name in ("bank", *part.key))
        entries = [dict(zip(part.key, key, strict=True)) | {"bank": bank.number} for key in keys]
        yield Statement(f"DELETE FROM {part.table} WHERE {where}", many=entries)
    if keys:
        yield from count_erasure(bank)  # what was removed there is to be in no cache and no file here


def _drop_memory(bank: Bank, row: int) -> Plan[None]:
    memory = yield from _at(bank, row)
    if memory is None:
        return
    only: Params = {"bank": bank.number, "row": row}
    yield from take_words(bank.number, row, memory)
    yield from take_mentions(bank.number, row)
    for table in ("vectors", "tags", "leases", "memories"):
        yield Statement(f"DELETE FROM {table} WHERE bank = :bank AND row = :row", only)


_INDEXED: Final = (
    "EXISTS (SELECT 1 FROM spaces s WHERE s.wanted = 1) AND NOT EXISTS (SELECT 1 FROM spaces s WHERE s.wanted = 1"
    " AND NOT EXISTS (SELECT 1 FROM vectors v WHERE v.bank = memories.bank AND v.space = s.space"
    " AND v.row = memories.row AND v.vector IS NOT NULL))"
)


def settle_vectors(bank: Bank) -> Plan[None]:
    """See ``Tx.settle_vectors``."""
    yield Statement(
        f"UPDATE memories SET unindexed = 0 WHERE bank = :bank AND unindexed = 1 AND {_INDEXED}", {"bank": bank.number}
    )


def faults(bank: Bank, limit: int) -> Plan[list[str]]:
    """See ``Reader.faults``."""
    only: Params = {"bank": bank.number, "limit": limit}
    found: list[str] = []
    for said, statement in _DISAGREE:
        rows = yield Statement(statement, only if ":limit" in statement else {"bank": bank.number})
        found += [f"{said}{f' ({row[0]})' if row[0] is not None else ''}" for row in rows]
    return found[:limit]


_DISAGREE: Final[Sequence[tuple[str, str]]] = (
    (
        "the count of its words is not what its memories say",
        (
            "SELECT NULL FROM banks b WHERE b.bank = :bank AND (b.documents, b.length, b.near_length) <>"
            " (SELECT count(*), coalesce(sum(l.own), 0), coalesce(sum(l.near), 0) FROM lengths l WHERE l.bank = :bank)"
        ),
    ),
    (
        "a memory is to be found by words and has none",
        (
            f"SELECT m.id FROM memories m WHERE m.bank = :bank AND {FINDABLE} AND NOT EXISTS"
            " (SELECT 1 FROM texts t WHERE t.bank = m.bank AND t.row = m.row) ORDER BY m.row LIMIT :limit"
        ),
    ),
    (
        "the index of its words is not what its memories say",
        (
            "SELECT NULL FROM (SELECT coalesce(sum(own), 0) AS own, coalesce(sum(near), 0) AS near FROM postings"
            " WHERE bank = :bank) p, (SELECT coalesce(sum(own), 0) AS own, coalesce(sum(near), 0) AS near FROM lengths"
            " WHERE bank = :bank) l WHERE p.own <> l.own OR p.near <> l.near"
        ),
    ),
    (
        "a memory is said to have its vector and has none",
        (
            f"SELECT m.id FROM memories m WHERE m.bank = :bank AND {FINDABLE} AND m.unindexed = 0"
            " AND EXISTS (SELECT 1 FROM spaces s WHERE s.wanted = 1 AND NOT EXISTS (SELECT 1 FROM vectors v"
            " WHERE v.bank = m.bank AND v.space = s.space AND v.row = m.row AND v.vector IS NOT NULL)) LIMIT :limit"
        ),
    ),
)
