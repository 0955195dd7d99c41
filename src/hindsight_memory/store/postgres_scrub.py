"""What was erased, taken out of a PostgreSQL database's tables for good, and whether all is well with them.

Files are the server's: what stands in them, in its log of writes and in its replicas is not ours to search. What can be
done is done: deleted lines are vacuumed away at once, and not when the server comes by.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from hindsight_memory.domain import Proof
from hindsight_memory.store import erasure
from hindsight_memory.store.postgres_engine import PostgresEngine
from hindsight_memory.store.postgres_near import part_of
from hindsight_memory.store.postgres_wire import explained
from hindsight_memory.store.rows import Bank, Plan, Statement, among

_UNSEARCHED: Final = "The server's files were not searched: its log of writes and its backups keep copies for a while."
_REFUSED: Final = "Only who owns the tables may vacuum them: deleted lines go when the server does it by itself."
_TABLES: Final = (*erasure.OF_A_BANK, "events")


async def scrub(engine: PostgresEngine, *, searched: bool, compact: bool) -> Proof:
    """See ``Store.scrub``; ``searched`` where samples were given to be searched for."""
    note = _UNSEARCHED if searched else ""
    due = await engine.ask(erasure.unscrubbed)
    if not due:
        return Proof(note=note)
    tables = await engine.ask(lambda: _touched(due))
    size, allowed = await engine.ask(lambda: _size(tables))
    if not allowed:
        return Proof(note=_REFUSED)
    if not compact and size > engine.settings.compact_at_once:
        return Proof(note=note)
    with explained(engine.where):
        async with await engine.apart() as connection:
            for table in tables:
                await connection.execute(f"VACUUM (INDEX_CLEANUP ON) {table}")
    await engine.alone(lambda: erasure.scrubbed(due))
    return Proof(compacted=True, note=note)


def _touched(due: Iterable[int]) -> Plan[list[str]]:
    """The parts of tables that these banks are in."""
    places = set()
    for number in due:
        places.add((yield from part_of(Bank("", number))).removeprefix("vectors"))
    return ["banks", *(f"{table}{place}" for place in sorted(places) for table in _TABLES)]


def _size(tables: list[str]) -> Plan[tuple[int, bool]]:
    """The bytes of tables with their indexes, and whether this role may vacuum them."""
    params: dict[str, str] = {}
    rows = yield Statement(
        "SELECT sum(pg_total_relation_size(c.oid)), bool_and(pg_has_role(c.relowner, 'USAGE')) FROM pg_class c"
        f" WHERE c.relnamespace = current_schema()::regnamespace AND {among('c.relname', tables, params)}",
        params,
    )
    size, allowed = rows[0]
    return int(size), bool(allowed)


def faults() -> Plan[list[str]]:
    """See ``Store.check``."""
    broken = yield Statement(
        "SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid"
        " WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'i' AND NOT i.indisvalid"
        " AND NOT EXISTS (SELECT 1 FROM pg_stat_progress_create_index p WHERE p.index_relid = i.indexrelid)"
    )
    damaged = yield Statement(
        "SELECT checksum_failures FROM pg_stat_database WHERE datname = current_database() AND checksum_failures > 0"
    )
    found = [f"the index {row[0]} is unfinished" for row in broken]
    return found + [f"{row[0]} pages are damaged" for row in damaged]
