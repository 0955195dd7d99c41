"""Memories, relations and events in SQL both engines share, as plans: what to ask and what to make of the answers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Final

from hindsight_memory.domain import Memory, Relation, Scope, Status
from hindsight_memory.errors import Conflict
from hindsight_memory.store.base import BankStats, Marks, Where
from hindsight_memory.store.mentions import put_mentions, take_mentions
from hindsight_memory.store.postings import FINDABLE, findable, put_words, take_words
from hindsight_memory.store.rows import (
    COLUMNS,
    Bank,
    Params,
    Plan,
    Statement,
    agrees,
    among,
    changed,
    conditions,
    equal,
    one_by_one,
    to_cell,
    to_json,
    to_memory,
    to_micros,
    to_params,
    to_relation,
)
from hindsight_memory.store.talks import TOLD, untell
from hindsight_memory.store.unread import to_be_read

_CHUNK: Final = 500
_FROM: Final = f"SELECT {COLUMNS} FROM memories m WHERE m.bank = :bank"


def number_of(bank_id: str) -> Plan[int | None]:
    """The bank's number, if it exists."""
    rows = yield Statement("SELECT bank FROM banks WHERE bank_id = :id", {"id": bank_id})
    return rows[0][0] if rows else None


def open_bank(scope: Scope, now: datetime) -> Plan[int]:
    """The bank's number; made when it does not exist."""
    known = yield from number_of(scope.bank)
    if known is not None:
        return known
    params = {"id": scope.bank, "namespace": scope.namespace, "user": scope.user_id, "now": to_micros(now)}
    rows = yield Statement(
        "INSERT INTO banks (bank_id, namespace, user_id, created_at) VALUES (:id, :namespace, :user, :now)"
        " ON CONFLICT (bank_id) DO UPDATE SET bank_id = excluded.bank_id RETURNING bank",
        params,
    )
    number: int = rows[0][0]
    return number


# Reading


def get(bank: Bank, ids: Sequence[str]) -> Plan[list[Memory]]:
    """See ``Reader.get``."""
    found: dict[str, Memory] = {}
    for chunk in _chunks(dict.fromkeys(ids)):
        params: Params = {"bank": bank.number}
        rows = yield Statement(f"{_FROM} AND {among('m.id', chunk, params)}", params)
        found |= {memory.id: memory for memory in (to_memory(bank.id, row) for row in rows)}
    return [found[each] for each in ids if each in found]


def rows_of(bank: Bank, ids: Sequence[str]) -> Plan[dict[int, str]]:
    """The row numbers of memories, each with its id; unknown ids are left out."""
    found: dict[int, str] = {}
    for chunk in _chunks(ids):
        params: Params = {"bank": bank.number}
        listed = among("m.id", chunk, params)
        rows = yield Statement(f"SELECT m.row, m.id FROM memories m WHERE m.bank = :bank AND {listed}", params)
        found |= {row: memory_id for row, memory_id in rows}  # noqa: C416
    return found


def find(bank: Bank, where: Where, limit: int, after: str | None) -> Plan[list[Memory]]:
    """See ``Reader.find``."""
    found: list[Memory] = []
    size = limit if not where.metadata else max(limit, _CHUNK)
    while True:
        params: Params = {"bank": bank.number, "limit": size}
        text = f"{_FROM} AND {conditions(where, params)}"
        if after is not None:
            params["after"] = after
            text += " AND m.id < :after"
        rows = yield Statement(f"{text} ORDER BY m.id DESC LIMIT :limit", params)
        page = [to_memory(bank.id, row) for row in rows]
        found += [memory for memory in page if agrees(memory, where.metadata)]
        if len(found) >= limit or len(page) < size:
            return found[:limit]
        after = page[-1].id


def count(bank: Bank, where: Where) -> Plan[int]:
    """See ``Reader.count``."""
    params: Params = {"bank": bank.number}
    text = conditions(where, params)
    if not where.metadata:
        rows = yield Statement(f"SELECT count(*) FROM memories m WHERE m.bank = :bank AND {text}", params)
        total: int = rows[0][0]
        return total
    rows = yield Statement(f"SELECT m.metadata FROM memories m WHERE m.bank = :bank AND {text}", params)
    return sum(equal(row[0], where) for row in rows)


def known(bank: Bank, content_hash: str) -> Plan[Memory | None]:
    """See ``Reader.known``."""
    rows = yield Statement(
        f"{_FROM} AND m.content_hash = :hash ORDER BY CASE m.status WHEN 'active' THEN 0 ELSE 1 END, m.id DESC LIMIT 1",
        {"bank": bank.number, "hash": content_hash},
    )
    return to_memory(bank.id, rows[0]) if rows else None


def happened(bank: Bank, said: str, at: datetime | None) -> Plan[Memory | None]:
    """See ``Reader.happened``."""
    params: Params = {"bank": bank.number, "said": said, "end": f"{said}g"}  # hashes are of hexadecimal digits
    then = ""
    if at is not None:
        params["at"] = to_micros(at)
        then = " AND m.occurred_at = :at"
    rows = yield Statement(
        f"{_FROM} AND m.content_hash >= :said AND m.content_hash < :end{then}"
        " ORDER BY CASE m.status WHEN 'active' THEN 0 ELSE 1 END, m.id DESC LIMIT 1",
        params,
    )
    return to_memory(bank.id, rows[0]) if rows else None


def current(bank: Bank, key: str, owner: str | None) -> Plan[Memory | None]:
    """See ``Reader.current``."""
    whose = "m.visibility = 'shared'" if owner is None else "m.visibility = 'private' AND m.agent_id = :owner"
    rows = yield Statement(
        f"{_FROM} AND m.key = :key AND m.status = 'active' AND {whose}"
        " ORDER BY m.trust DESC, m.occurred_at DESC, m.id DESC LIMIT 1",
        {"bank": bank.number, "key": key} | ({} if owner is None else {"owner": owner}),
    )
    return to_memory(bank.id, rows[0]) if rows else None


def turns(bank: Bank, session_id: str, first: int, last: int) -> Plan[list[Memory]]:
    """See ``Reader.turns``."""
    rows = yield Statement(
        f"{_FROM} AND m.session_id = :session AND m.turn BETWEEN :first AND :last ORDER BY m.turn",
        {"bank": bank.number, "session": session_id, "first": first, "last": last},
    )
    return [to_memory(bank.id, row) for row in rows]


def lacking(bank: Bank, ids: Sequence[str]) -> Plan[set[str]]:
    """See ``Reader.lacking``."""
    found: set[str] = set()
    for chunk in _chunks(ids):
        params: Params = {"bank": bank.number}
        rows = yield Statement(
            f"SELECT m.id FROM memories m WHERE m.bank = :bank AND m.unindexed = 1 AND {among('m.id', chunk, params)}",
            params,
        )
        found |= {row[0] for row in rows}
    return found


def relations(bank: Bank, ids: Sequence[str]) -> Plan[list[Relation]]:
    """See ``Reader.relations``."""
    found: dict[tuple[Any, ...], Relation] = {}
    for chunk in _chunks(ids):
        for end in ("from_id", "to_id"):
            params: Params = {"bank": bank.number}
            rows = yield Statement(
                f"{one_by_one(chunk, params)} SELECT r.type, r.from_id, r.to_id, r.created_at, r.weight, r.metadata"
                " FROM asked a CROSS JOIN relations k CROSS JOIN relations r"  # the index by its end, then the lines
                f" WHERE k.bank = :bank AND k.{end} = a.value AND r.bank = k.bank"
                " AND r.from_id = k.from_id AND r.type = k.type AND r.to_id = k.to_id",
                params,
            )
            found |= {tuple(row[:3]): to_relation(row) for row in rows}
    return sorted(found.values(), key=lambda edge: (edge.created_at, edge.from_id, edge.type, edge.to_id))


def stats(bank: Bank) -> Plan[BankStats]:
    """See ``Reader.stats``."""
    only = {"bank": bank.number}
    total = yield Statement("SELECT count(*) FROM memories m WHERE m.bank = :bank AND m.status = 'active'", only)
    lacking = yield Statement(
        f"SELECT count(*) FROM memories m WHERE m.bank = :bank AND m.unindexed = 1 AND {FINDABLE}", only
    )
    rows = yield Statement(
        "SELECT s.name, count(DISTINCT v.row) FROM vectors v JOIN spaces s ON s.space = v.space"
        " WHERE v.bank = :bank AND v.vector IS NOT NULL GROUP BY s.name",
        only,
    )
    return BankStats(total[0][0], lacking[0][0], {name: number for name, number in rows})  # noqa: C416


# Changing


def next_turn(bank: Bank, session_id: str, count: int, now: datetime) -> Plan[int]:
    """See ``Tx.next_turn``."""
    rows = yield Statement(
        "INSERT INTO sessions (bank, session_id, created_at, next_turn) VALUES (:bank, :session, :now, :count)"
        " ON CONFLICT (bank, session_id) DO UPDATE SET next_turn = sessions.next_turn + :count RETURNING next_turn",
        {"bank": bank.number, "session": session_id, "now": to_micros(now), "count": count},
    )
    end: int = rows[0][0]
    return end - count


def add(bank: Bank, memory: Memory, marks: Marks) -> Plan[None]:
    """See ``Tx.add``."""
    taken = yield Statement(
        "UPDATE banks SET next_row = next_row + 1 WHERE bank = :bank RETURNING next_row", {"bank": bank.number}
    )
    row = taken[0][0] - 1
    waits = {"unindexed": int(findable(memory)), "reading": int(to_be_read(memory))}
    params = to_params(memory) | {"bank": bank.number, "row": row} | waits
    names = ", ".join(params)
    values = ", ".join(f":{name}" for name in params)
    yield Statement(f"INSERT INTO memories ({names}) VALUES ({values})", params)
    yield from mark(bank, row, memory, marks)


def mark(bank: Bank, row: int, memory: Memory, marks: Marks) -> Plan[None]:
    """Put down what a memory is found by: its tags, and where it may be found its words, names and times."""
    yield from _tag(bank, row, memory.tags)
    if findable(memory):
        yield from put_words(bank.number, row, memory, marks.words)
        yield from put_mentions(bank.number, row, marks)


def change(bank: Bank, memory: Memory, marks: Marks | None, values: dict[str, Any]) -> Plan[Memory]:
    """See ``Tx.change``."""
    after = changed(memory, **values)
    params = {name: to_cell(name, value) for name, value in values.items()}
    let_in = memory.status is Status.QUARANTINED and findable(after)  # nobody has looked at it while it waited
    if let_in or "content" in values or "kind" in values:  # or what it says, or for how long: it is to be looked at
        params |= {"unindexed": int(not after.context_only), "reading": int(to_be_read(after))}
    assignments = "".join(f"{name} = :{name}, " for name in params)
    params |= {"bank": bank.number, "id": memory.id, "version": memory.version}
    rows = yield Statement(
        f"UPDATE memories SET {assignments}version = version + 1"
        " WHERE bank = :bank AND id = :id AND version = :version RETURNING row",
        params,
    )
    if not rows:
        message = f"Memory {memory.id} is no longer at version {memory.version}."
        raise Conflict(message, hint="Read it again and repeat the change.", field="version")
    row = rows[0][0]
    if "tags" in values:
        yield Statement("DELETE FROM tags WHERE bank = :bank AND row = :row", {"bank": bank.number, "row": row})
        yield from _tag(bank, row, after.tags)
    if marks is not None or not findable(after):
        yield from take_words(bank.number, row, memory)
        yield from take_mentions(bank.number, row)
    if marks is not None and findable(after):
        yield from put_words(bank.number, row, after, marks.words)
        yield from put_mentions(bank.number, row, marks)
    if "content" in values:
        yield from blank_vectors(bank, row)
        # Another text: how often the old one failed says nothing of it.
        yield Statement("DELETE FROM leases WHERE bank = :bank AND row = :row", {"bank": bank.number, "row": row})
    if TOLD & values.keys():
        yield from untell(bank.number, memory)
    return after


def change_all(bank: Bank, memories: Sequence[Memory], values: dict[str, Any]) -> Plan[list[Memory]]:
    """See ``Tx.change_all``."""
    after = []
    for memory in memories:
        after.append((yield from change(bank, memory, None, values)))  # noqa: PERF401  # no comprehension can yield
    return after


def blank_vectors(bank: Bank, row: int) -> Plan[None]:
    """Have a memory embedded anew: a line without a vector tells the caches of other processes to drop the old one.

    Removing the line would not.
    """
    number = yield from next_change(bank)
    yield Statement(
        "UPDATE vectors SET vector = NULL, change = :change WHERE bank = :bank AND row = :row",
        {"change": number, "bank": bank.number, "row": row},
    )


def next_change(bank: Bank) -> Plan[int]:
    """The next number in the bank's count of vector changes."""
    rows = yield Statement(
        "UPDATE banks SET changes = changes + 1 WHERE bank = :bank RETURNING changes", {"bank": bank.number}
    )
    number: int = rows[0][0]
    return number


def _tag(bank: Bank, row: int, tags: Sequence[str]) -> Plan[None]:
    entries = [{"bank": bank.number, "tag": tag, "row": row} for tag in dict.fromkeys(tags)]
    yield Statement("INSERT INTO tags (bank, tag, row) VALUES (:bank, :tag, :row)", many=entries)


def relate(bank: Bank, relation: Relation) -> Plan[None]:
    """See ``Tx.relate``."""
    yield Statement(
        "INSERT INTO relations (bank, from_id, type, to_id, weight, metadata, created_at)"
        " VALUES (:bank, :from, :type, :to, :weight, :metadata, :at)"
        " ON CONFLICT (bank, from_id, type, to_id) DO UPDATE"
        " SET weight = excluded.weight, metadata = excluded.metadata",
        {
            "bank": bank.number,
            "from": relation.from_id,
            "type": relation.type,
            "to": relation.to_id,
            "weight": relation.weight,
            "metadata": to_json(relation.metadata),
            "at": to_micros(relation.created_at),
        },
    )


def touch(bank: Bank, ids: Sequence[str], at: datetime) -> Plan[None]:
    """See ``Tx.touch``. Not a new version: being found does not change what a memory says."""
    for chunk in _chunks(ids):
        params: Params = {"bank": bank.number, "at": to_micros(at)}
        yield Statement(
            "UPDATE memories AS m SET last_accessed_at = :at, access_count = access_count + 1"
            f" WHERE m.bank = :bank AND {among('m.id', chunk, params)}",
            params,
        )


def _chunks(ids: Iterable[str]) -> Iterable[list[str]]:
    every = list(ids)
    return (every[start : start + _CHUNK] for start in range(0, len(every), _CHUNK))
