"""What is known of those who write, as plans: what became of their latest memories, and what was found to be false."""

from __future__ import annotations

from hindsight_memory.domain import Memory
from hindsight_memory.store.rows import COLUMNS, INDEXED, Bank, Params, Plan, Statement, beginning, to_memory


def record_of(bank: Bank, memory: Memory, most: int) -> Plan[tuple[int, int]]:
    """See ``Reader.record_of``."""
    params: Params = {"bank": bank.number, "source": memory.source.value, "most": most}
    if memory.agent_id is not None:
        params["agent"] = memory.agent_id
        whose = "agent_id = :agent"
    elif memory.source_ref is not None:
        params |= {"ref": memory.source_ref, "beginning": memory.source_ref[:INDEXED]}
        whose = f"agent_id IS NULL AND {beginning('source_ref')} = :beginning AND source_ref = :ref"
    else:
        whose = "agent_id IS NULL AND source_ref IS NULL"
    # The user is no writer with a record: said here, so that the index without the user's memories answers.
    rows = yield Statement(
        "SELECT count(*), coalesce(sum(bad), 0) FROM (SELECT CASE status WHEN 'quarantined' THEN 1 ELSE 0 END AS bad"
        f" FROM memories WHERE bank = :bank AND source = :source AND source <> 'user' AND {whose}"
        " ORDER BY row DESC LIMIT :most) latest",
        params,
    )
    written, bad = rows[0]
    return int(written), int(bad)


def lessons(bank: Bank, most: int) -> Plan[list[Memory]]:
    """See ``Reader.lessons``."""
    rows = yield Statement(
        f"SELECT {COLUMNS} FROM memories m WHERE m.bank = :bank AND m.status = 'quarantined' AND m.doubted > 0"
        " ORDER BY m.judged_at DESC, m.id DESC LIMIT :most",
        {"bank": bank.number, "most": most},
    )
    return [to_memory(bank.id, row) for row in rows]
