"""The vault of a bank, as plans: encrypted values by their ids, apart from all that is searched."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Final

from hindsight_memory.domain import Memory
from hindsight_memory.store.rows import Bank, Plan, Statement, to_json, to_micros

_NAMED: Final = re.compile(r"\[vault:([a-p]{24})\]")


def seal(bank: Bank, sealed: Mapping[str, tuple[str, bytes]], now: datetime) -> Plan[None]:
    """See ``Tx.seal``."""
    entries = [
        {"bank": bank.number, "id": vault_id, "type": kind, "sealed": value, "now": to_micros(now)}
        for vault_id, (kind, value) in sealed.items()
    ]
    yield Statement(
        "INSERT INTO vault (bank, id, type, sealed, created_at) VALUES (:bank, :id, :type, :sealed, :now)"
        " ON CONFLICT (bank, id) DO NOTHING",
        many=entries,
    )


def sealed(bank: Bank, vault_id: str) -> Plan[tuple[str, bytes] | None]:
    """See ``Reader.sealed``."""
    rows = yield Statement(
        "SELECT type, sealed FROM vault WHERE bank = :bank AND id = :id", {"bank": bank.number, "id": vault_id}
    )
    return (rows[0][0], bytes(rows[0][1])) if rows else None


def forget_sealed(bank: Bank, memory: Memory) -> Plan[None]:
    """Remove the values that only this memory names."""
    for vault_id in sorted(set(_NAMED.findall(_texts(memory)))):
        params = {"bank": bank.number, "id": vault_id, "memory": memory.id, "like": f"%[vault:{vault_id}]%"}
        yield Statement(
            "DELETE FROM vault WHERE bank = :bank AND id = :id AND NOT EXISTS (SELECT 1 FROM memories m"
            " WHERE m.bank = :bank AND m.id <> :memory AND (m.content LIKE :like OR m.metadata LIKE :like))",
            params,
        )


def _texts(memory: Memory) -> str:
    said = (memory.content, memory.key, memory.speaker, memory.task, memory.source_ref, *memory.tags, *memory.tools)
    return "\n".join((to_json(memory.metadata), *(each for each in said if each)))
