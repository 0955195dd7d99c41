"""Sessions and what lies on their desks, as plans: the state, the working messages, and which have expired."""

from __future__ import annotations

import json
from dataclasses import fields
from datetime import datetime
from typing import Final

from hindsight_memory.domain import Desk, Memory, SessionState
from hindsight_memory.store.rows import COLUMNS, Bank, Plan, Row, Statement, from_micros, to_json, to_memory, to_micros

_STATE: Final = "session_id, state, version, expires_at"


def desk(bank: Bank, session_id: str) -> Plan[Desk]:
    """See ``Reader.desk``."""
    rows = yield Statement(
        f"SELECT {_STATE} FROM sessions WHERE bank = :bank AND session_id = :session",
        {"bank": bank.number, "session": session_id},
    )
    return _to_desk(rows[0]) if rows else Desk(session_id=session_id)


def desks(bank: Bank, after: str, limit: int) -> Plan[list[Desk]]:
    """See ``Reader.desks``."""
    rows = yield Statement(
        f"SELECT {_STATE} FROM sessions WHERE bank = :bank AND session_id > :after AND state <> '{{}}'"
        " ORDER BY session_id LIMIT :limit",
        {"bank": bank.number, "after": after, "limit": limit},
    )
    return [_to_desk(row) for row in rows]


def working(bank: Bank, session_id: str, limit: int) -> Plan[list[Memory]]:
    """See ``Reader.working``."""
    rows = yield Statement(
        f"SELECT {COLUMNS} FROM memories m WHERE m.bank = :bank AND m.session_id = :session AND m.kind = 'working'"
        " AND m.turn IS NOT NULL ORDER BY m.turn DESC LIMIT :limit",
        {"bank": bank.number, "session": session_id, "limit": limit},
    )
    return [to_memory(bank.id, row) for row in rows]


def expired_sessions(bank: Bank, now: datetime, limit: int) -> Plan[list[str]]:
    """See ``Reader.expired_sessions``."""
    rows = yield Statement(
        "SELECT session_id FROM sessions WHERE bank = :bank AND expires_at <= :now"
        " ORDER BY expires_at, session_id LIMIT :limit",
        {"bank": bank.number, "now": to_micros(now), "limit": limit},
    )
    return [row[0] for row in rows]


def take_desk(bank: Bank, session_id: str, now: datetime) -> Plan[Desk]:
    """See ``Tx.take_desk``. It writes, and changes nothing, so that others who want the line wait for this one."""
    rows = yield Statement(
        "INSERT INTO sessions (bank, session_id, created_at) VALUES (:bank, :session, :now)"
        f" ON CONFLICT (bank, session_id) DO UPDATE SET next_turn = sessions.next_turn RETURNING {_STATE}",
        {"bank": bank.number, "session": session_id, "now": to_micros(now)},
    )
    return _to_desk(rows[0])


def put_desk(bank: Bank, kept: Desk, now: datetime) -> Plan[None]:
    """See ``Tx.put_desk``."""
    until = None if kept.expires_at is None else to_micros(kept.expires_at)
    params = {"bank": bank.number, "session": kept.session_id, "until": until, "version": kept.version}
    state = {each.name: value for each in fields(SessionState) if (value := getattr(kept.state, each.name))}
    state |= {"given": kept.given} if kept.given else {}
    yield Statement(
        "UPDATE sessions SET state = :state, version = :version, expires_at = :until"
        " WHERE bank = :bank AND session_id = :session",
        params | {"state": to_json(state)},
    )
    if until is not None:
        yield Statement(
            "UPDATE memories SET expires_at = :until WHERE bank = :bank AND session_id = :session"
            " AND kind = 'working' AND turn IS NOT NULL AND expires_at > :now AND expires_at < :until",
            {"bank": bank.number, "session": kept.session_id, "until": until, "now": to_micros(now)},
        )


def _to_desk(row: Row) -> Desk:
    session_id, held, version, until = row
    state = json.loads(held)
    given = tuple(state.pop("given", ()))
    return Desk(
        session_id=session_id,
        state=SessionState(**state),
        given=given,
        version=version,
        expires_at=None if until is None else from_micros(until),
    )
