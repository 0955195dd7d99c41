"""The audit log as plans: lines appended to a bank's chain, read back, and emptied where a purge asks for it.

A line is hashed twice: ``digest`` over a salt of its own, its reason and its detail; ``seal`` over the seal before it,
the digest and the rest. A purge takes salt, reason and detail, and the chain still holds.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any, Final

from hindsight_memory.domain import AuditLine, Event, LogHead
from hindsight_memory.domain.audit import beginning, digest_of, seal_of
from hindsight_memory.store.rows import (
    Bank,
    Params,
    Plan,
    Row,
    Statement,
    among,
    from_micros,
    to_event,
    to_json,
    to_micros,
)

EVENT: Final = "SELECT id, at, actor, verb, memory_id, reason, detail FROM events WHERE bank = :bank"
_SALT: Final = 16
"""Bytes: whoever guesses what was purged cannot try his guesses against the digest that stays."""


def events(bank: Bank, memory_id: str | None, limit: int) -> Plan[list[Event]]:
    """See ``Reader.events``."""
    params: Params = {"bank": bank.number, "limit": limit}
    narrowed = ""
    if memory_id is not None:
        params["memory"] = memory_id
        narrowed = " AND memory_id = :memory"
    rows = yield Statement(f"{EVENT}{narrowed} ORDER BY number DESC LIMIT :limit", params)
    return [to_event(bank.id, row) for row in rows]


def record(bank: Bank, new: Sequence[Event]) -> Plan[None]:
    """See ``Tx.record``."""
    if not new:
        return
    rows = yield Statement(
        "UPDATE banks SET next_event = next_event + :count WHERE bank = :bank RETURNING next_event, log_seal",
        {"bank": bank.number, "count": len(new)},
    )
    first, seal = rows[0][0] - len(new), _named(rows[0][1], bank)
    salts = secrets.token_bytes(_SALT * len(new))
    entries: list[Params] = []
    for place, event in enumerate(new):
        salt, detail = salts[_SALT * place : _SALT * (place + 1)].hex(), to_json(event.detail)
        digest = digest_of(salt, event.reason, detail)
        seal = seal_of(seal, first + place, event, digest)
        entries.append(
            {
                "bank": bank.number,
                "number": first + place,
                "id": event.id,
                "at": to_micros(event.at),
                "actor": event.actor,
                "verb": event.verb,
                "memory": event.memory_id,
                "reason": event.reason,
                "detail": detail,
                "salt": bytes.fromhex(salt),
                "digest": bytes.fromhex(digest),
                "seal": bytes.fromhex(seal),
            }
        )
    yield Statement(
        "INSERT INTO events (bank, number, id, at, actor, verb, memory_id, reason, detail, salt, digest, seal)"
        " VALUES (:bank, :number, :id, :at, :actor, :verb, :memory, :reason, :detail, :salt, :digest, :seal)",
        many=entries,
    )
    yield Statement(
        "UPDATE banks SET log_seal = :seal WHERE bank = :bank", {"bank": bank.number, "seal": entries[-1]["seal"]}
    )


def log_head(bank: Bank) -> Plan[LogHead | None]:
    """See ``Reader.log_head``."""
    rows = yield Statement(
        "SELECT log_first, log_base, next_event - 1, log_seal FROM banks WHERE bank = :bank", {"bank": bank.number}
    )
    first, base, last, seal = rows[0]
    return LogHead(first=first, base=_named(base, bank), last=last, seal=_named(seal, bank))


def log(bank: Bank, after: int, limit: int) -> Plan[list[AuditLine]]:
    """See ``Reader.log``."""
    head = yield from log_head(bank)
    assert head is not None
    rows = yield Statement(
        "SELECT number, salt, digest, seal, id, at, actor, verb, memory_id, reason, detail FROM events"
        " WHERE bank = :bank AND number >= :after ORDER BY number LIMIT :limit",
        {"bank": bank.number, "after": after, "limit": limit + 1},
    )
    previous = head.base if after < head.first else ""  # unknown where the line before is not there
    number, lines = after, list[AuditLine]()
    for row in rows:
        line = _line(bank.id, row, previous, number + 1)
        if line.number > after and len(lines) < limit:
            lines.append(line)
        number, previous = line.number, line.seal
    return lines


def _line(bank_id: str, row: Row, previous: str, place: int) -> AuditLine:
    """A line as it stands, or without a seal where it holds what no line of ours does: somebody wrote to the file."""
    number, salt, digest, seal, *event = row
    whole: dict[str, Any] = {"previous": previous, "number": number if isinstance(number, int) else place}
    try:
        told = to_event(bank_id, event)
        return AuditLine(event=told, salt=salt.hex(), digest=digest.hex(), seal=seal.hex(), **whole)
    except (ValueError, TypeError, AttributeError, OverflowError, RecursionError):
        nothing = Event(id="", bank_id=bank_id, at=from_micros(0), actor="", verb="")
        return AuditLine(event=nothing, salt="", digest="", seal="", **whole)


def empty(bank: Bank, memory_ids: Sequence[str]) -> Plan[int]:
    """Remove what the log says of these memories, but for who did what and when; returns how many lines that is."""
    params: Params = {"bank": bank.number, "nothing": b""}
    lines = yield Statement(
        "UPDATE events SET detail = '{}', reason = '', salt = :nothing"
        f" WHERE bank = :bank AND {among('memory_id', memory_ids, params)} RETURNING number",
        params,
    )
    return len(lines)


def begin_anew(bank: Bank) -> Plan[int]:
    """Remove every line of the log; the next one follows the last that was there. Returns how many there were."""
    only: Params = {"bank": bank.number}
    rows = yield Statement("SELECT count(*) FROM events WHERE bank = :bank", only)
    yield Statement("UPDATE banks SET log_first = next_event, log_base = log_seal WHERE bank = :bank", only)
    yield Statement("DELETE FROM events WHERE bank = :bank", only)
    number: int = rows[0][0]
    return number


def _named(seal: Any, bank: Bank) -> str:
    """A seal as the chain has it; that of a log without a line is the bank's own."""
    return bytes(seal).hex() or beginning(bank.id)
