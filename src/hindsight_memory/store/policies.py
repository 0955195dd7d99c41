"""A bank's own rules for personal data and secrets, and all that they are to be held against, as plans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hindsight_memory.domain import Handling, Memory, Relation
from hindsight_memory.store.audit import empty
from hindsight_memory.store.erasure import count_erasure, forget_before
from hindsight_memory.store.rows import COLUMNS, Bank, Plan, Statement, to_memory


def rules(bank: Bank) -> Plan[Mapping[str, Handling]]:
    """See ``Reader.rules``."""
    rows = yield Statement("SELECT type, handling FROM policies WHERE bank = :bank", {"bank": bank.number})
    return {kind: Handling(handling) for kind, handling in rows}


def stored(bank: Bank, after: int, limit: int) -> Plan[list[tuple[int, Memory]]]:
    """See ``Reader.stored``."""
    rows = yield Statement(
        f"SELECT m.row, {COLUMNS} FROM memories m WHERE m.bank = :bank AND m.row > :after ORDER BY m.row LIMIT :limit",
        {"bank": bank.number, "after": after, "limit": limit},
    )
    return [(row[0], to_memory(bank.id, row[1:])) for row in rows]


def unrelate(bank: Bank, relations: Sequence[Relation]) -> Plan[None]:
    """See ``Tx.unrelate``."""
    gone = [{"bank": bank.number, "start": each.from_id, "type": each.type, "end": each.to_id} for each in relations]
    yield Statement(
        "DELETE FROM relations WHERE bank = :bank AND from_id = :start AND type = :type AND to_id = :end", many=gone
    )


def cleanse(bank: Bank, memory: Memory) -> Plan[None]:
    """See ``Tx.cleanse``."""
    yield from empty(bank, [memory.id])
    yield from forget_before(bank, memory)
    yield from count_erasure(bank)


def set_rules(bank: Bank, given: Mapping[str, Handling | None]) -> Plan[None]:
    """See ``Tx.set_rules``."""
    for kind, handling in given.items():
        params = {"bank": bank.number, "type": kind, "handling": handling}
        if handling is None:
            yield Statement("DELETE FROM policies WHERE bank = :bank AND type = :type", params)
        else:
            yield Statement(
                "INSERT INTO policies (bank, type, handling) VALUES (:bank, :type, :handling)"
                " ON CONFLICT (bank, type) DO UPDATE SET handling = excluded.handling",
                params,
            )
