"""Searches by words and by time, and which names are known, as plans: filtered before any limit is applied."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from hindsight_memory.domain import Tier, Window
from hindsight_memory.settings import WordSettings
from hindsight_memory.store.base import Scored, Where
from hindsight_memory.store.mentions import LONGEST_SPAN
from hindsight_memory.store.postings import score_words
from hindsight_memory.store.rows import Bank, Params, Plan, Statement, among, conditions, equal, to_micros

CHUNK: Final = 500
"""Rows or names asked for in one statement."""

_TIMED: Final = """
SELECT x.row, max(x.score) AS best FROM (
  SELECT m.row AS row, 1 - 0.5 * abs(m.occurred_at - :middle) / :half AS score
  FROM memories m
  WHERE m.bank = :bank AND m.occurred_at >= :from AND m.occurred_at < :to AND {conditions}
  UNION ALL
  SELECT m.row, (1 - 0.5 * abs((t.starts + t.ends) / 2 - :middle) / :half) * (t.ends - t.starts) / t.length
  FROM (
    SELECT s.row, 1.0 * (s.until - s.since) AS length,
      CASE WHEN s.since > :from THEN s.since ELSE :from END AS starts,
      CASE WHEN s.until < :to THEN s.until ELSE :to END AS ends
    FROM times s WHERE s.bank = :bank AND s.since > :earliest AND s.since < :to AND s.until > :from
  ) t JOIN memories m ON m.bank = :bank AND m.row = t.row
  WHERE {conditions}
) x GROUP BY x.row ORDER BY best DESC, x.row LIMIT :limit"""

# CROSS JOIN: the few lines of a name first, and then their memories; a planner without statistics may start with all.
_KNOWN: Final = """
SELECT n.name, count(*) FROM names n WHERE n.bank = :bank AND {listed} GROUP BY n.name
HAVING EXISTS (
  SELECT 1 FROM names o CROSS JOIN memories m
  WHERE o.bank = :bank AND o.name = n.name AND m.bank = o.bank AND m.row = o.row AND {conditions}
)"""

_RELATED_TO: Final = """
SELECT r.to_id, count(DISTINCT r.from_id) FROM relations r
JOIN memories s ON s.bank = r.bank AND s.id = r.from_id
WHERE r.bank = :bank AND {listed}
  AND NOT EXISTS (SELECT 1 FROM names n WHERE n.bank = r.bank AND n.name = r.to_id AND n.row = s.row)
GROUP BY r.to_id
HAVING EXISTS (
  SELECT 1 FROM relations o CROSS JOIN memories m
  WHERE o.bank = :bank AND o.to_id = r.to_id AND m.bank = o.bank AND m.id = o.from_id AND {conditions}
)"""

# In the order of text, «.» is right before «/».
_ALIASES: Final = """
SELECT other.name FROM memories m
JOIN names n ON n.bank = m.bank AND n.row = m.row
JOIN names other ON other.bank = m.bank AND other.row = m.row AND other.name <> n.name
WHERE m.bank = :bank AND m.key >= 'alias.' AND m.key < 'alias/' AND {listed} AND {conditions}"""


def search_words(
    bank: Bank, words: Sequence[str], where: Where, limit: int, settings: WordSettings
) -> Plan[list[Scored]]:
    """See ``Reader.search_words``."""
    if not words:
        return []
    wide = 4 * limit
    while True:
        ranked = yield from score_words(bank.number, words, settings, wide)
        found = yield from first_allowed(bank, ranked, where, limit)
        if len(found) >= limit or len(ranked) < wide:
            return found
        wide *= 16


def search_time(bank: Bank, window: Window, where: Where, limit: int) -> Plan[list[Scored]]:
    """See ``Reader.search_time``."""
    since, until = to_micros(window.since), to_micros(window.until)
    params: Params = {"bank": bank.number, "from": since, "to": until, "earliest": since - LONGEST_SPAN}
    params |= {"middle": (since + until) // 2, "half": max((until - since) / 2, 1.0)}
    params["limit"] = 2**31 if where.metadata else limit  # metadata are compared afterwards, and then the limit counts
    rows = yield Statement(_TIMED.format(conditions=conditions(where, params)), params)
    found = yield from first_allowed(bank, [(row, score) for row, score in rows], where, limit)
    return found


def first_allowed(
    bank: Bank, ranked: Sequence[tuple[int, *tuple[float, ...]]], where: Where, limit: int
) -> Plan[list[Scored]]:
    """The first ``limit`` of ranked rows, each with its scores, that the filter lets through, in their order."""
    found: list[Scored] = []
    start, size = 0, min(CHUNK, 2 * limit)
    while start < len(ranked) and len(found) < limit:
        chunk = ranked[start : start + size]
        ids = yield from allowed(bank, where, [row for row, *_ in chunk])
        found += [Scored(ids[row], *scores) for row, *scores in chunk if row in ids]
        start, size = start + size, CHUNK
    return found[:limit]


def allowed(
    bank: Bank, where: Where, values: Sequence[int] | Sequence[str], column: str = "m.row"
) -> Plan[dict[int, str]]:
    """Those of the memories with these values that the filter lets through: their ids, by row."""
    found: dict[int, str] = {}
    for chunk in chunks(values):
        params: Params = {"bank": bank.number}
        listed = among(column, chunk, params)
        rows = yield Statement(
            f"SELECT m.row, m.id, m.metadata FROM memories m WHERE m.bank = :bank AND {listed}"
            f" AND {conditions(where, params)}",
            params,
        )
        found |= {row: memory_id for row, memory_id, held in rows if not where.metadata or equal(held, where)}
    return found


def names_known(bank: Bank, candidates: Sequence[str], where: Where) -> Plan[dict[str, int]]:
    """See ``Reader.names_known``. Of ``where`` it counts who asks and when: a filter narrows results, not language."""
    seen = Where(now=where.now, viewer=where.viewer, desk=where.desk, as_of=where.as_of, tiers=tuple(Tier))
    seen = replace(seen, trusted=where.trusted)
    asked = dict.fromkeys(candidates)
    for chunk in chunks(list(asked)):
        params: Params = {"bank": bank.number}
        listed = among("n.name", chunk, params)
        rows = yield Statement(_ALIASES.format(listed=listed, conditions=conditions(seen, params)), params)
        asked |= dict.fromkeys(row[0] for row in rows)
    known: Counter[str] = Counter()
    for chunk in chunks(list(asked)):
        for statement, column in ((_KNOWN, "n.name"), (_RELATED_TO, "r.to_id")):
            params = {"bank": bank.number}
            listed = among(column, chunk, params)
            rows = yield Statement(statement.format(listed=listed, conditions=conditions(seen, params)), params)
            known.update({name: number for name, number in rows})  # noqa: C416
    return {name: known[name] for name in asked if name in known}


def chunks(values: Sequence[int] | Sequence[str]) -> Iterator[Sequence[int] | Sequence[str]]:
    """The values, as many at a time as one statement takes."""
    return (values[start : start + CHUNK] for start in range(0, len(values), CHUNK))
