"""What memories mention, kept beside their words: names and spans of time, put and taken as plans."""

from __future__ import annotations

from typing import Final

from hindsight_memory.store.base import Marks
from hindsight_memory.store.rows import Plan, Statement, to_micros

LONGEST_SPAN: Final = 366 * 86_400 * 1_000_000
"""Microseconds of the longest span that is kept: a search need not look further back for one that reaches its own."""


def put_mentions(bank: int, row: int, marks: Marks) -> Plan[None]:
    """Store the names and times of a memory that has none stored."""
    names = [{"bank": bank, "row": row, "name": name} for name in dict.fromkeys(marks.names)]
    if names:
        yield Statement("INSERT INTO names (bank, name, row) VALUES (:bank, :name, :row)", many=names)
    spans = dict.fromkeys((to_micros(window.since), to_micros(window.until)) for window in marks.times)
    kept = [(since, until) for since, until in spans if 0 < until - since <= LONGEST_SPAN]
    times = [{"bank": bank, "row": row, "since": since, "until": until} for since, until in kept]
    if times:
        yield Statement("INSERT INTO times (bank, since, until, row) VALUES (:bank, :since, :until, :row)", many=times)


def take_mentions(bank: int, row: int) -> Plan[tuple[int, int]]:
    """Remove the names and times of a memory; returns how many there were of each."""
    only = {"bank": bank, "row": row}
    names = yield Statement("DELETE FROM names WHERE bank = :bank AND row = :row RETURNING row", only)
    times = yield Statement("DELETE FROM times WHERE bank = :bank AND row = :row RETURNING row", only)
    return len(names), len(times)
