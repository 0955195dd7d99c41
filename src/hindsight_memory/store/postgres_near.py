"""Nearest neighbours as plans: line by line in a small bank, by an index in a large one, filtered before the limit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from hindsight_memory.errors import InvalidInput
from hindsight_memory.store.base import Scored, Vector, Where
from hindsight_memory.store.postgres_indexes import Indexes, index_name
from hindsight_memory.store.postgres_wire import sent_vector
from hindsight_memory.store.rows import Bank, Params, Plan, Statement, among
from hindsight_memory.store.search import chunks, first_allowed
from hindsight_memory.store.sql import rows_of
from hindsight_memory.store.vectors import mean_of, to_blob

# The index knows the vectors in half precision, which is half of the memory: it answers where that is said, and where
# it is not it cannot. What it brings is scored as all else is.
# Its plan depends on the bank and on the limit: they are said as they are.
_NEAREST: Final = """
SELECT v.row, -(v.vector <#> :asked) AS score FROM vectors v
WHERE v.bank = :bank AND v.space = {space} AND v.vector IS NOT NULL
ORDER BY v.vector <#> :asked, v.row LIMIT :limit"""
_NEAREST_BY_INDEX: Final = """
SELECT v.row, -(v.vector <#> :asked) AS score FROM vectors v
WHERE v.bank = {bank} AND v.space = {space} AND v.vector IS NOT NULL
ORDER BY v.vector{half} <#> :asked{half} LIMIT {limit}"""

_ALIKE: Final = """
WITH asked AS MATERIALIZED (
  SELECT o.row, l2_normalize(avg(o.vector)) AS vector FROM vectors o
  WHERE o.bank = :bank AND o.space = {space} AND o.vector IS NOT NULL AND {listed} GROUP BY o.row
)
SELECT a.row, near.id FROM asked a LEFT JOIN LATERAL (
  SELECT m.id, m.row, v.vector <#> a.vector AS apart
  FROM vectors v JOIN memories m ON m.bank = v.bank AND m.row = v.row AND m.status = 'active'
  WHERE v.bank = :bank AND v.space = {space} AND v.vector IS NOT NULL
    AND v.row <= (SELECT max(row) FROM asked) AND v.row <> a.row
  ORDER BY v.vector{half} <#> a.vector{half} LIMIT :wide
) near ON true ORDER BY a.row, near.apart, near.row"""

_PART: Final = """
SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
WHERE i.inhparent = 'vectors'::regclass AND satisfies_hash_partition(
  i.inhparent, (SELECT count(*) FROM pg_inherits o WHERE o.inhparent = i.inhparent)::INTEGER,
  substring(c.relname, '[0-9]+$')::INTEGER, :bank)"""


@dataclass(frozen=True, slots=True)
class _Known:
    """A space as one bank sees it: its number, and whether an index answers for it."""

    space: int
    dimension: int
    indexed: bool

    @property
    def half(self) -> str:
        """What makes a vector one of those that the index knows."""
        return f"::halfvec({self.dimension})"


def search_vector(
    bank: Bank, space: str, vector: Vector, where: Where, limit: int, indexes: Indexes
) -> Plan[list[Scored]]:
    """See ``Reader.search_vector``."""
    known = yield from _known(bank, space, indexes)
    if known is None:
        return []
    if len(vector) != known.dimension:
        said = f"The vector has {len(vector)} numbers, the space {space} {known.dimension}."
        raise InvalidInput(said, field="vector")
    wide = 4 * limit
    if known.indexed:
        ranked, _ = yield from _nearest(bank, known, vector, wide, indexed=True)
        found = yield from first_allowed(bank, ranked, where, limit)
        if len(found) >= limit:
            return found
    while True:
        ranked, whole = yield from _nearest(bank, known, vector, wide, indexed=False)
        found = yield from first_allowed(bank, ranked, where, limit)
        if len(found) >= limit or whole:
            return found
        wide *= 16


def _nearest(
    bank: Bank, known: _Known, vector: Vector, limit: int, *, indexed: bool
) -> Plan[tuple[list[tuple[int, float]], bool]]:
    """Rows with their cosine, best first, each by its best part; and whether these are all that there are."""
    places = {"bank": bank.number, "space": known.space, "half": known.half, "limit": limit}
    text = (_NEAREST_BY_INDEX if indexed else _NEAREST).format(**places)
    rows = yield Statement(text, {"bank": bank.number, "asked": to_blob(vector), "limit": limit})
    best: dict[int, float] = {}
    for row, score in sorted(rows, key=lambda each: (-each[1], each[0])):
        best.setdefault(row, score)
    return list(best.items()), len(rows) < limit


def vectors(bank: Bank, space: str, ids: Sequence[str]) -> Plan[dict[str, Vector]]:
    """See ``Reader.vectors``."""
    known = yield from rows_of(bank, ids)
    parts: dict[int, list[Vector]] = {}
    for chunk in chunks(list(known)):
        params: Params = {"bank": bank.number, "space": space}
        held = yield Statement(
            "SELECT v.row, vector_send(v.vector) FROM vectors v WHERE v.bank = :bank"
            " AND v.space = (SELECT space FROM spaces WHERE name = :space) AND v.vector IS NOT NULL"
            f" AND {among('v.row', chunk, params)} ORDER BY v.row, v.part",
            params,
        )
        for row, sent in held:
            parts.setdefault(row, []).append(sent_vector(sent))
    return {known[row]: mean_of(several) for row, several in parts.items()}


def alike(bank: Bank, space: str, ids: Sequence[str], limit: int, indexes: Indexes) -> Plan[dict[str, list[str]]]:
    """See ``Reader.alike``."""
    rows = yield from rows_of(bank, ids)
    known = yield from _known(bank, space, indexes)
    if known is None or not rows:
        return {}
    params: Params = {"bank": bank.number, "wide": 4 * (limit + 1)}
    listed = among("o.row", rows, params)
    text = _ALIKE.format(space=known.space, half=known.half if known.indexed else "", listed=listed)
    near: dict[str, dict[str, None]] = {}
    for row, found in (yield Statement(text, params)):
        near.setdefault(rows[row], {}).update({} if found is None else {found: None})  # by its best part, and once
    return {asked: list(found)[:limit] for asked, found in near.items()}


def _known(bank: Bank, space: str, indexes: Indexes) -> Plan[_Known | None]:
    rows = yield Statement(
        "SELECT s.space, s.dimension, b.documents FROM spaces s, banks b WHERE s.name = :space AND b.bank = :bank",
        {"space": space, "bank": bank.number},
    )
    if not rows:
        return None
    number, dimension, documents = rows[0]
    if not indexes.wanted(documents, dimension):
        return _Known(number, dimension, indexed=False)
    part = yield from part_of(bank)
    if not indexes.made(part, number):
        there = yield Statement(
            "SELECT 1 FROM pg_index i WHERE i.indexrelid = to_regclass(:name) AND i.indisvalid",
            {"name": index_name(part, number)},
        )
        if there:
            indexes.found(part, number)
        else:
            indexes.make(part, number, dimension)
    return _Known(number, dimension, indexed=indexes.made(part, number))


def part_of(bank: Bank) -> Plan[str]:
    """The part of the table of vectors that this bank is in."""
    rows = yield Statement(_PART, {"bank": bank.number})
    name: str = rows[0][0]
    return name
