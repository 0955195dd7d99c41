"""What maintenance and replay ask of a bank, as plans: whose time has come, what was done when, what happened."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from hindsight_memory.domain import Event, Memory, Scope, Tier, Window
from hindsight_memory.store.base import Aged, Done, Mark
from hindsight_memory.store.rows import (
    COLUMNS,
    Bank,
    Params,
    Plan,
    Statement,
    among,
    from_micros,
    to_event,
    to_memory,
    to_micros,
)
from hindsight_memory.store.search import chunks

_TIMES: Final = {
    "expires": ("m.expires_at", "m.expires_at IS NOT NULL AND m.status IN ('active', 'superseded')"),
    "deleted": ("m.deleted_at", "m.deleted_at IS NOT NULL AND m.status = 'deleted'"),
    "used": ("coalesce(m.last_accessed_at, m.created_at)", "m.status = 'active' AND m.pinned = 0"),
}


def aged(bank: Bank, asked: Aged, limit: int, after: Memory | None) -> Plan[list[Memory]]:
    """See ``Reader.aged``."""
    column, condition = _TIMES[asked.by]
    params: Params = {"bank": bank.number, "limit": limit}
    text = f"SELECT {COLUMNS} FROM memories m WHERE m.bank = :bank AND {condition}"
    if asked.tier is not None:
        params["tier"] = asked.tier
        text += " AND m.tier = :tier"
    for name, moment, sign in (("since", asked.since, ">"), ("until", asked.until, "<=")):
        if moment is not None:
            params[name] = to_micros(moment)
            text += f" AND {column} {sign} :{name}"
    if after is not None:
        params |= {"time": to_micros(_time(after, asked)), "id": after.id}
        text += f" AND ({column}, m.id) > (:time, :id)"
    rows = yield Statement(f"{text} ORDER BY {column}, m.id LIMIT :limit", params)
    return [to_memory(bank.id, row) for row in rows]


def _time(memory: Memory, asked: Aged) -> datetime:
    found = {
        "expires": memory.expires_at,
        "deleted": memory.deleted_at,
        "used": memory.last_accessed_at or memory.created_at,
    }[asked.by]
    assert found is not None
    return found


def sweep(bank: Bank, after: int, limit: int) -> Plan[list[tuple[int, Memory]]]:
    """See ``Reader.sweep``."""
    rows = yield Statement(
        f"SELECT m.row, {COLUMNS} FROM memories m"
        " WHERE m.bank = :bank AND m.row > :after AND m.status = 'active' ORDER BY m.row LIMIT :limit",
        {"bank": bank.number, "after": after, "limit": limit},
    )
    return [(row[0], to_memory(bank.id, row[1:])) for row in rows]


def keyed(bank: Bank, beginning: str, limit: int, after: str) -> Plan[list[Memory]]:
    """See ``Reader.keyed``."""
    rows = yield Statement(
        f"SELECT {COLUMNS} FROM memories m WHERE m.bank = :bank AND m.key IS NOT NULL"
        " AND substr(m.key, 1, CAST(:length AS INTEGER)) = :beginning AND m.status IN ('active', 'deleted')"
        " AND m.id > :after ORDER BY m.id LIMIT :limit",
        {"bank": bank.number, "beginning": beginning, "length": len(beginning), "after": after, "limit": limit},
    )
    return [to_memory(bank.id, row) for row in rows]


def last_event(bank: Bank, after: int, actor: str, verbs: Sequence[str]) -> Plan[int]:
    """See ``Reader.last_event``."""
    params: Params = {"bank": bank.number, "after": after, "actor": actor}
    listed = among("verb", verbs, params)
    rows = yield Statement(
        f"SELECT max(number) FROM events WHERE bank = :bank AND number > :after AND NOT (actor = :actor AND {listed})",
        params,
    )
    return rows[0][0] or 0


def active_of(bank: Bank, rows: Sequence[int]) -> Plan[dict[int, str]]:
    """The ids of those of the rows whose memories are active, whoever may see them."""
    found: dict[int, str] = {}
    for chunk in chunks(rows):
        params: Params = {"bank": bank.number}
        listed = among("m.row", chunk, params)
        held = yield Statement(
            f"SELECT m.row, m.id FROM memories m WHERE m.bank = :bank AND m.status = 'active' AND {listed}", params
        )
        found |= {row: memory_id for row, memory_id in held}  # noqa: C416
    return found


def deleted(bank: Bank) -> Plan[list[int]]:
    """The rows of what was forgotten and is not purged yet."""
    rows = yield Statement(
        "SELECT m.row FROM memories m WHERE m.bank = :bank AND m.deleted_at IS NOT NULL AND m.status = 'deleted'",
        {"bank": bank.number},
    )
    return [row[0] for row in rows]


def active(bank: Bank) -> Plan[int]:
    """See ``Reader.active``."""
    rows = yield Statement(
        "SELECT count(*) FROM memories m WHERE m.bank = :bank AND m.status = 'active'", {"bank": bank.number}
    )
    number: int = rows[0][0]
    return number


def upkeep(bank: Bank) -> Plan[dict[str, Done]]:
    """See ``Reader.upkeep``."""
    rows = yield Statement("SELECT routine, done_at, place FROM upkeep WHERE bank = :bank", {"bank": bank.number})
    return {routine: Done(from_micros(at), place) for routine, at, place in rows}


def settle_upkeep(bank: Bank, routine: str, done: Done) -> Plan[None]:
    """See ``Tx.settle_upkeep``."""
    yield Statement(
        "INSERT INTO upkeep (bank, routine, done_at, place) VALUES (:bank, :routine, :at, :place)"
        " ON CONFLICT (bank, routine) DO UPDATE SET done_at = excluded.done_at, place = excluded.place",
        {"bank": bank.number, "routine": routine, "at": to_micros(done.at), "place": done.place},
    )


def replay(
    bank: Bank, span: Window, viewer: str | None, limit: int, after: Mark | None
) -> Plan[list[tuple[Mark, Event]]]:
    """See ``Reader.replay``."""
    params: Params = {
        "bank": bank.number,
        "since": to_micros(span.since),
        "until": to_micros(span.until),
        "viewer": viewer or "",
        "limit": limit,
    }
    text = (
        "SELECT e.number, e.id, e.at, e.actor, e.verb, e.memory_id, e.reason, e.detail"
        " FROM events e LEFT JOIN memories m ON m.bank = e.bank AND m.id = e.memory_id"
        " WHERE e.bank = :bank AND e.at >= :since AND e.at < :until"
        " AND (m.row IS NULL OR m.visibility = 'shared' OR m.agent_id = :viewer)"
    )
    if after is not None:
        params |= {"time": after[0], "number": after[1]}
        text += " AND (e.at, e.number) > (:time, :number)"
    rows = yield Statement(f"{text} ORDER BY e.at, e.number LIMIT :limit", params)
    return [((row[2], row[0]), to_event(bank.id, row[1:])) for row in rows]


def set_tier(bank: Bank, ids: Sequence[str], tier: Tier) -> Plan[None]:
    """See ``Tx.set_tier``. Not a new version: where a memory is kept does not change what it says."""
    for chunk in chunks(ids):
        params: Params = {"bank": bank.number, "tier": tier}
        listed = among("m.id", chunk, params)
        yield Statement(f"UPDATE memories AS m SET tier = :tier WHERE m.bank = :bank AND {listed}", params)


def banks(namespace: str | None, after: str | None, limit: int) -> Plan[list[Scope]]:
    """See ``Store.banks``."""
    params: Params = {"after": after or "", "limit": limit}
    narrowed = ""
    if namespace is not None:
        params["namespace"] = namespace
        narrowed = " AND namespace = :namespace"
    rows = yield Statement(
        f"SELECT namespace, user_id FROM banks WHERE bank_id > :after{narrowed} ORDER BY bank_id LIMIT :limit", params
    )
    return [Scope(namespace=row[0], user_id=row[1]) for row in rows]


def leader(role: str, now: datetime, lease_s: float) -> Plan[str | None]:
    """Who has the role now. A lease longer than any that is given was made by another clock, and does not count."""
    rows = yield Statement(
        "SELECT holder FROM leads WHERE role = :role AND until > :now AND until <= :latest",
        {"role": role, "now": to_micros(now), "latest": to_micros(now) + int(lease_s * 1_000_000)},
    )
    return rows[0][0] if rows else None


def lead(role: str, holder: str, now: datetime, lease_s: float) -> Plan[str]:
    """See ``Store.lead``. One statement, so that of two who ask at once one gets it."""
    latest = to_micros(now) + int(lease_s * 1_000_000)
    rows = yield Statement(
        "INSERT INTO leads (role, holder, until) VALUES (:role, :holder, :latest)"
        " ON CONFLICT (role) DO UPDATE SET holder = excluded.holder, until = excluded.until"
        " WHERE leads.holder = :holder OR leads.until <= :now OR leads.until > :latest RETURNING holder",
        {"role": role, "holder": holder, "now": to_micros(now), "latest": latest},
    )
    return holder if rows else (yield from leader(role, now, lease_s)) or ""


def resign(role: str, holder: str) -> Plan[None]:
    """See ``Store.resign``."""
    yield Statement("DELETE FROM leads WHERE role = :role AND holder = :holder", {"role": role, "holder": holder})
