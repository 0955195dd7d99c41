"""What a bank learns from feedback, as plans: the verdicts it was given, and the weights they led to."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from hindsight_memory.domain import Event, Ranking
from hindsight_memory.store.audit import EVENT
from hindsight_memory.store.rows import Bank, Params, Plan, Statement, from_micros, to_event, to_json, to_micros


def feedback(bank: Bank, since: datetime | None, limit: int, actor: str | None) -> Plan[list[Event]]:
    """See ``Reader.feedback``."""
    params: Params = {"bank": bank.number, "limit": limit}
    text = f"{EVENT} AND verb = 'feedback'"
    if since is not None:
        params["since"] = to_micros(since)
        text += " AND at > :since"
    if actor is not None:
        params["actor"] = actor
        text += " AND actor = :actor"
    rows = yield Statement(f"{text} ORDER BY at DESC, number DESC LIMIT :limit", params)
    return [to_event(bank.id, row) for row in rows]


def ranking(bank: Bank) -> Plan[Ranking]:
    """See ``Reader.ranking``."""
    rows = yield Statement("SELECT ranking FROM banks WHERE bank = :bank", {"bank": bank.number})
    held = {} if rows[0][0] == "{}" else json.loads(rows[0][0])
    times = {name: from_micros(held[name]) for name in ("fitted_at", "since") if name in held}
    return Ranking(weights=held.get("weights", {}), pairs=held.get("pairs", 0), **times)


def set_ranking(bank: Bank, value: Ranking) -> Plan[None]:
    """See ``Tx.set_ranking``."""
    times = {"fitted_at": value.fitted_at, "since": value.since}
    held: dict[str, Any] = {name: to_micros(each) for name, each in times.items() if each is not None}
    held |= {"weights": dict(value.weights), "pairs": value.pairs}
    params = {"bank": bank.number, "ranking": to_json(held)}
    yield Statement("UPDATE banks SET ranking = :ranking WHERE bank = :bank", params)
