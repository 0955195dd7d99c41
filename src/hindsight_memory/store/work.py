"""Work on what memories lack, as plans: claimed, settled, and made due when another model is to be used."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hindsight_memory.errors import InvalidInput
from hindsight_memory.store.base import Due, Setback, Space, Stage, Terms
from hindsight_memory.store.jobs import NEVER
from hindsight_memory.store.postings import FINDABLE
from hindsight_memory.store.rows import COLUMNS, Bank, Params, Plan, Row, Statement, to_json, to_memory, to_micros
from hindsight_memory.store.sql import next_change, number_of
from hindsight_memory.store.vectors import to_blob

_LACKING: Final = {Stage.INDEX: f"m.unindexed = 1 AND {FINDABLE}", Stage.READ: f"m.reading = 1 AND {FINDABLE}"}
_READY: Final = {
    Stage.INDEX: _LACKING[Stage.INDEX],
    # Its vector comes first: by it is found what a text may bear on.
    Stage.READ: f"{_LACKING[Stage.READ]} AND (m.unindexed = 0 OR EXISTS (SELECT 1 FROM leases i"
    " WHERE i.bank = m.bank AND i.stage = 'index' AND i.row = m.row AND i.attempts >= :index_attempts))",
}
_SETTLED: Final = {Stage.INDEX: "unindexed = 0", Stage.READ: "reading = CASE reading WHEN 1 THEN 2 ELSE reading END"}
_ORDER: Final = {Stage.INDEX: "m.bank, m.row DESC", Stage.READ: "m.created_at DESC, m.bank, m.row DESC"}
_LEASED: Final = " LEFT JOIN leases l ON l.bank = m.bank AND l.stage = :stage AND l.row = m.row"
_ROW: Final = "row = (SELECT m.row FROM memories m WHERE m.bank = :bank AND m.id = :id)"


def claim(stage: Stage, holder: str, terms: Terms, bank: str | None, now: datetime, skip: str = "") -> Plan[list[Due]]:
    """See ``Store.claim``; ``skip`` is how a statement passes over lines that another transaction holds.

    What is chosen may have been taken by another by the time that it is written down, and then others are chosen.
    """
    found: list[Due] = []
    while len(found) < terms.batch:
        params, claimable = yield from _claimable(stage, terms, bank, now)
        rows = yield Statement(
            # Chosen first and read then: what is sorted is a few numbers of each.
            f"WITH chosen (bank, row, attempts) AS (SELECT m.bank, m.row, coalesce(l.attempts, 0) FROM {claimable}"
            f" ORDER BY {_ORDER[stage]} LIMIT :limit{skip})"
            f" SELECT m.bank, m.row, b.bank_id, c.attempts, {COLUMNS} FROM chosen c"
            " JOIN memories m ON m.bank = c.bank AND m.row = c.row JOIN banks b ON b.bank = c.bank"
            f" ORDER BY {_ORDER[stage]}",
            params | {"limit": terms.batch - len(found)},
        )
        taken = yield from _take(stage, holder, terms, [(row[0], row[1]) for row in rows], now)
        found += [Due(row[2], to_memory(row[2], row[4:]), row[3] + 1) for row in rows if (row[0], row[1]) in taken]
        if len(taken) == len(rows):
            break
    return found


def _take(
    stage: Stage, holder: str, terms: Terms, chosen: Sequence[tuple[int, int]], now: datetime
) -> Plan[set[tuple[int, int]]]:
    """Lease those of the chosen lines that are free still; returns which they are."""
    if not chosen:
        return set()
    params: Params = {"stage": stage, "holder": holder, "until": _until(now, terms.lease_s)}
    params |= {"now": to_micros(now), "attempts": terms.attempts}
    values: list[str] = []
    for bank, row in sorted(chosen):  # in one order, so that two who take the same wait for each other one way
        params |= {(at := f"b{len(values)}"): bank, (of := f"r{len(values)}"): row}
        values.append(f"(:{at}, :stage, :{of}, :holder, :until, 1, '')")
    rows = yield Statement(
        f"INSERT INTO leases (bank, stage, row, holder, until, attempts, reason) VALUES {', '.join(values)}"
        " ON CONFLICT (bank, stage, row) DO UPDATE SET holder = excluded.holder, until = excluded.until,"
        " attempts = leases.attempts + 1 WHERE leases.until < :now AND leases.attempts < :attempts"
        " RETURNING bank, row",
        params,
    )
    return {(bank, row) for bank, row in rows}


def anything(stage: Stage, terms: Terms, bank: str | None, now: datetime) -> Plan[bool]:
    """Whether ``claim`` would take anything."""
    params, claimable = yield from _claimable(stage, terms, bank, now)
    rows = yield Statement(f"SELECT 1 FROM {claimable} LIMIT 1", params)
    return bool(rows)


def _claimable(stage: Stage, terms: Terms, bank: str | None, now: datetime) -> Plan[tuple[Params, str]]:
    """What may be claimed, as tables and conditions."""
    params, ready = _wanted(_READY[stage], stage, terms)
    if stage is Stage.READ:
        params["index_attempts"] = terms.index_attempts
    params["now"] = to_micros(now)
    narrowed = ""
    if bank is not None:
        params["of"] = (yield from number_of(bank)) or 0
        narrowed = " AND m.bank = :of"
    free = "(l.row IS NULL OR (l.until < :now AND l.attempts < :attempts))"
    return params, f"memories m{_LEASED} WHERE {ready} AND {free}{narrowed}"


def _wanted(condition: str, stage: Stage, terms: Terms) -> tuple[Params, str]:
    """The condition on memories with what the terms add to it."""
    params: Params = {"stage": stage, "attempts": terms.attempts}
    if terms.since is not None:
        params["since"] = to_micros(terms.since)
        condition += " AND m.created_at >= :since"
    return params, condition


def _until(now: datetime, lease_s: float) -> int:
    return to_micros(now) + int(lease_s * 1_000_000)


def renew(stage: Stage, holder: str, lease_s: float, now: datetime) -> Plan[None]:
    """See ``Store.renew``."""
    yield Statement(
        "UPDATE leases SET until = :until WHERE stage = :stage AND holder = :holder AND until >= :now",
        {"stage": stage, "holder": holder, "until": _until(now, lease_s), "now": to_micros(now)},
    )


def set_vectors(bank: Bank, space: str, vectors: Mapping[str, NDArray[np.float32]]) -> Plan[None]:
    """See ``Tx.set_vectors``."""
    known = yield Statement("SELECT dimension FROM spaces WHERE name = :space", {"space": space})
    wrong = next((p.shape for p in vectors.values() if not known or p.shape[1:] != (known[0][0],)), None)
    if wrong is not None:
        raise InvalidInput(f"The space {space} does not take vectors of shape {wrong}.", field="vectors")
    change = yield from next_change(bank)
    for memory_id, parts in vectors.items():
        params = {"bank": bank.number, "id": memory_id, "space": space, "parts": len(parts)}
        yield Statement(
            "DELETE FROM vectors WHERE bank = :bank AND part >= :parts"
            " AND space = (SELECT space FROM spaces WHERE name = :space)"
            " AND row = (SELECT row FROM memories WHERE bank = :bank AND id = :id)",
            params,
        )
        lines = [
            {"bank": bank.number, "id": memory_id, "space": space, "part": part, "change": change, "vector": to_blob(v)}
            for part, v in enumerate(parts)
        ]
        yield Statement(
            "INSERT INTO vectors (bank, space, row, part, change, vector)"
            " SELECT m.bank, s.space, m.row, :part, :change, :vector FROM memories m, spaces s"
            " WHERE m.bank = :bank AND m.id = :id AND s.name = :space"
            " ON CONFLICT (bank, space, row, part) DO UPDATE SET change = excluded.change, vector = excluded.vector",
            many=lines,
        )


def settle(bank: Bank, stage: Stage, done: Sequence[str], failed: Mapping[str, Setback]) -> Plan[None]:
    """See ``Tx.settle``."""
    finished = [{"bank": bank.number, "id": each, "stage": stage} for each in done]
    yield Statement(f"DELETE FROM leases WHERE bank = :bank AND stage = :stage AND {_ROW}", many=finished)
    yield Statement(
        f"UPDATE memories SET {_SETTLED[stage]} WHERE bank = :bank AND id = :id",
        many=[{"bank": bank.number, "id": each} for each in done],
    )
    yield Statement(
        "UPDATE leases SET holder = '', until = :until, reason = :reason, attempts = attempts - :untried"
        f" WHERE bank = :bank AND stage = :stage AND {_ROW}",
        many=[
            {"bank": bank.number, "id": each, "stage": stage, "reason": why.reason, "untried": int(not why.tried)}
            | {"until": NEVER if why.final else 0 if why.after is None else to_micros(why.after)}
            for each, why in failed.items()
        ],
    )


def holders(now: datetime) -> Plan[list[str]]:
    """Who holds a claim now."""
    rows = yield Statement(
        "SELECT DISTINCT holder FROM leases WHERE until >= :now AND holder <> ''", {"now": to_micros(now)}
    )
    return [row[0] for row in rows]


def give_back(gone: Sequence[str]) -> Plan[None]:
    """See ``Store.give_back``."""
    yield Statement(
        "UPDATE leases SET until = 0, holder = '' WHERE holder = :holder", many=[{"holder": each} for each in gone]
    )


def due(stage: Stage, terms: Terms, bank: str | None = None) -> Plan[int]:
    """See ``Store.due``; what was given up is not due, what is to have its vector first is."""
    params, waiting = _wanted(_LACKING[stage], stage, terms)
    if bank is not None:
        params["of"] = (yield from number_of(bank)) or 0
        waiting += " AND m.bank = :of"
    rows = yield Statement(
        f"SELECT count(*) FROM memories m{_LEASED} WHERE {waiting}"
        f" AND coalesce(l.attempts, 0) < :attempts AND coalesce(l.until, 0) < {NEVER}",
        params,
    )
    number: int = rows[0][0]
    return number


def lacking_vectors() -> Plan[int]:
    """How many memories lack a vector, those that were given up too."""
    rows = yield Statement(f"SELECT count(*) FROM memories m WHERE {_LACKING[Stage.INDEX]}", {})
    number: int = rows[0][0]
    return number


def spaces() -> Plan[list[tuple[int, bool, Space]]]:
    """Number, whether wanted, and the space, oldest first."""
    rows = yield Statement(
        "SELECT space, wanted, name, spec, dimension, template, calibration FROM spaces ORDER BY space", {}
    )
    return [(row[0], bool(row[1]), _to_space(row[2:])) for row in rows]


def use_spaces(wanted: Sequence[Space]) -> Plan[None]:
    """See ``Store.use_spaces``."""
    held = yield from spaces()
    before = {space.name for _, is_wanted, space in held if is_wanted}
    names = {space.name for space in wanted}
    for space in wanted:
        yield Statement(
            "INSERT INTO spaces (name, spec, dimension, template, calibration, wanted)"
            " VALUES (:name, :spec, :dimension, :template, :calibration, 1)"
            " ON CONFLICT (name) DO UPDATE SET wanted = 1, spec = excluded.spec, calibration = excluded.calibration",
            {
                "name": space.name,
                "spec": space.spec,
                "dimension": space.dimension,
                "template": space.template,
                "calibration": to_json(space.calibration),
            },
        )
    if not names:
        return
    yield Statement("UPDATE spaces SET wanted = 0 WHERE name = :name", many=[{"name": n} for n in before - names])
    if names - before:
        yield Statement("DELETE FROM leases WHERE stage = 'index'")  # what one model gave up, another may take
        yield Statement(
            "UPDATE memories AS m SET unindexed = 1 WHERE m.unindexed = 0 AND m.context_only = 0"
            " AND EXISTS (SELECT 1 FROM spaces s WHERE s.wanted = 1 AND NOT EXISTS (SELECT 1 FROM vectors v"
            " WHERE v.bank = m.bank AND v.space = s.space AND v.row = m.row AND v.vector IS NOT NULL))"
        )


def _to_space(row: Row) -> Space:
    name, spec, dimension, template, calibration = row
    return Space(name=name, spec=spec, dimension=dimension, template=template, calibration=json.loads(calibration))
