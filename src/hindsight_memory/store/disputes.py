"""Which memories contradict each other and both still stand, as a plan."""

from __future__ import annotations

from dataclasses import replace

from hindsight_memory.store.base import Where
from hindsight_memory.store.rows import Bank, Params, Plan, Statement, conditions


def contradictions(bank: Bank, where: Where, limit: int) -> Plan[list[tuple[str, str]]]:
    """See ``Reader.contradictions``."""
    params: Params = {"bank": bank.number, "limit": limit}
    seen = conditions(replace(where, ids=None), params)
    rows = yield Statement(
        "SELECT r.from_id, r.to_id FROM relations r WHERE r.bank = :bank AND r.type = 'contradicts'"
        f" AND EXISTS (SELECT 1 FROM memories m WHERE m.bank = r.bank AND m.id = r.from_id AND {seen})"
        f" AND EXISTS (SELECT 1 FROM memories m WHERE m.bank = r.bank AND m.id = r.to_id AND {seen})"
        " ORDER BY r.created_at DESC, r.from_id, r.to_id LIMIT :limit",
        params,
    )
    return [(start, end) for start, end in rows]
