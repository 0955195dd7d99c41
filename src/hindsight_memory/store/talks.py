"""Which sessions have turns that no episode was made of yet, as plans."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from hindsight_memory.domain import Memory
from hindsight_memory.store.base import Talk
from hindsight_memory.store.rows import Bank, Params, Plan, Statement, to_micros

TOLD: Final = frozenset({"content", "status", "superseded_by"})
"""What of a turn its episode tells."""
_LAST: Final = 10
"""Turns at the end of a session of which one says when something was last said: others may have been erased."""


def talks(bank: Bank, before: datetime, limit: int, after: str) -> Plan[list[Talk]]:
    """See ``Reader.talks``."""
    params: Params = {"bank": bank.number, "before": to_micros(before), "limit": limit, "after": after, "last": _LAST}
    said = "SELECT 1 FROM memories m WHERE m.bank = s.bank AND m.session_id = s.session_id"
    rows = yield Statement(
        "SELECT s.session_id, s.next_turn, s.told, s.settled FROM sessions s"
        " WHERE s.bank = :bank AND s.told < s.next_turn AND s.session_id > :after"
        f" AND NOT EXISTS ({said} AND m.kind = 'working' AND m.turn IS NOT NULL AND m.status = 'active')"
        " AND ((s.version > 0 AND s.expires_at IS NULL)"
        f" OR NOT EXISTS ({said} AND m.turn >= s.next_turn - :last AND m.created_at > :before))"
        " ORDER BY s.session_id LIMIT :limit",
        params,
    )
    return [Talk(*row) for row in rows]


def tell(bank: Bank, talk: Talk, told: int, settled: int) -> Plan[None]:
    """See ``Tx.tell``."""
    yield Statement(
        "UPDATE sessions SET told = :told, settled = :settled"
        " WHERE bank = :bank AND session_id = :session AND told = :before",
        {
            "bank": bank.number,
            "session": talk.session_id,
            "told": told,
            "settled": settled,
            "before": talk.told,
        },
    )


def untell(bank: int, turn: Memory) -> Plan[None]:
    """Have the episodes of a turn's session made anew: what they say of it may no longer be so."""
    if turn.session_id is None or turn.turn is None:
        return
    yield Statement(
        "UPDATE sessions SET told = CASE WHEN told > 0 THEN -1 ELSE told - 1 END, settled = 0"
        " WHERE bank = :bank AND session_id = :session",
        {"bank": bank, "session": turn.session_id},
    )
