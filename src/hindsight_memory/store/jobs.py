"""How far language models are with what they are to read, as plans."""

from __future__ import annotations

from datetime import date, datetime
from typing import Final

from hindsight_memory.domain import Job, Jobs, JobState
from hindsight_memory.store.base import Stage
from hindsight_memory.store.postings import FINDABLE
from hindsight_memory.store.rows import Bank, Params, Plan, Statement, from_micros, to_micros

NEVER: Final = 2**62
"""The time at which what was given up is due again."""

GIVEN_UP: Final = f"(l.until >= {NEVER} OR (l.attempts >= :attempts AND (l.holder = '' OR l.until < :now)))"
"""As a condition on ``leases l``."""
_HELD: Final = f"(l.holder <> '' AND l.until >= :now AND l.until < {NEVER})"
_STATES: Final = (JobState.QUEUED, JobState.RUNNING, JobState.DONE, JobState.FAILED)


def jobs(bank: Bank, viewer: str | None, attempts: int, limit: int, now: datetime) -> Plan[Jobs]:
    """See ``Reader.jobs``."""
    params: Params = {
        "bank": bank.number,
        "viewer": viewer or "",
        "attempts": attempts,
        "now": to_micros(now),
        "stage": Stage.READ,
    }
    state = (
        f"CASE WHEN m.reading = 2 THEN 'done' WHEN l.row IS NULL THEN 'queued' WHEN {_HELD} THEN 'running'"
        f" WHEN {GIVEN_UP} THEN 'failed' ELSE 'queued' END"
    )
    of = (
        " FROM memories m LEFT JOIN leases l ON l.bank = m.bank AND l.stage = :stage AND l.row = m.row"
        f" WHERE m.bank = :bank AND m.reading > 0 AND {FINDABLE} AND (m.visibility = 'shared' OR m.agent_id = :viewer)"
    )
    rows = yield Statement(f"SELECT {state} AS state, count(*){of} GROUP BY 1", params)
    counts = {JobState(name): number for name, number in rows}
    latest = yield Statement(
        f"SELECT m.id, {state} AS state, l.attempts, l.reason, l.until{of} AND m.reading = 1 AND l.reason <> ''"
        " ORDER BY m.row DESC LIMIT :limit",
        params | {"limit": limit},
    )
    listed = tuple(_job(JobState(name), now, memory_id, *rest) for memory_id, name, *rest in latest)
    return Jobs(**{each.value: counts.get(each, 0) for each in _STATES}, latest=listed)


def _job(state: JobState, now: datetime, memory_id: str, attempts: int, reason: str, until: int) -> Job:
    again = max(from_micros(until), now) if state is JobState.QUEUED else None
    return Job(memory_id=memory_id, state=state, attempts=attempts, reason=reason, next=again)


def retry(bank: Bank, stage: Stage, attempts: int, now: datetime) -> Plan[int]:
    """See ``Tx.retry``."""
    gone = yield Statement(
        f"DELETE FROM leases AS l WHERE l.bank = :bank AND l.stage = :stage AND {GIVEN_UP} RETURNING row",
        {"bank": bank.number, "stage": stage, "attempts": attempts, "now": to_micros(now)},
    )
    return len(gone)


def spent(day: date) -> Plan[tuple[int, int]]:
    """What language models took that day, by all processes together: tokens and memories."""
    rows = yield Statement("SELECT tokens, memories FROM spending WHERE day = :day", {"day": day.toordinal()})
    return (rows[0][0], rows[0][1]) if rows else (0, 0)


def spend(day: date, tokens: int, memories: int) -> Plan[tuple[int, int]]:
    """See ``Store.spend``. Of days before no more is kept than one."""
    params = {"day": day.toordinal(), "tokens": tokens, "memories": memories}
    yield Statement("DELETE FROM spending WHERE day < :day - 1", {"day": params["day"]})
    rows = yield Statement(
        "INSERT INTO spending (day, tokens, memories) VALUES (:day, :tokens, :memories)"
        " ON CONFLICT (day) DO UPDATE SET tokens = spending.tokens + excluded.tokens,"
        " memories = spending.memories + excluded.memories RETURNING tokens, memories",
        params,
    )
    return rows[0][0], rows[0][1]
