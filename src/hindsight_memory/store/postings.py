"""The index of words: postings kept by hand in plain SQL, the same on both engines.

A memory is found by its own words and, at a lower weight, by those of the turns right before and after it in
its session, because a turn means what its neighbours make it mean. Adding a turn costs the same however long
the session is: its own postings and those of at most two neighbours.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from hindsight_memory.domain import Memory, Status
from hindsight_memory.settings import WordSettings
from hindsight_memory.store.rows import Params, Plan, Statement, among

_FOUND_BY_WORDS: Final = frozenset({Status.ACTIVE, Status.SUPERSEDED})

_NEIGHBOURS: Final = """
SELECT t.row, t.words FROM memories m JOIN texts t ON t.bank = m.bank AND t.row = m.row
WHERE m.bank = :bank AND m.session_id = :session AND m.turn IN (:before, :after)"""

_INSERT: Final = """
INSERT INTO postings (bank, word, row, own, near) VALUES (:bank, :word, :row, :own, :near)"""

_NEAR: Final = """
INSERT INTO postings (bank, word, row, own, near) VALUES (:bank, :word, :row, 0, :near)
ON CONFLICT (bank, word, row) DO UPDATE SET near = postings.near + excluded.near"""

_SCORE: Final = """
WITH asked (word, idf) AS (VALUES {values})
SELECT p.row, sum(a.idf * (:k1 + 1) * (p.own + :near * p.near)
  / (p.own + :near * p.near + :k1 * (1 - :b + :b * (l.own + :near * l.near) / :average))) AS score,
  sum(a.idf * (:k1 + 1) * p.own / (p.own + :k1 * (1 - :b + :b * l.own / :alone))) AS own
FROM asked a
JOIN postings p ON p.bank = :bank AND p.word = a.word
JOIN lengths l ON l.bank = p.bank AND l.row = p.row
GROUP BY p.row ORDER BY score DESC, p.row LIMIT :limit"""


FINDABLE: Final = "m.context_only = 0 AND m.status IN ('active', 'superseded')"
"""``findable`` as a condition on ``memories m``."""


def findable(memory: Memory) -> bool:
    """Whether a memory stands in the index at all; superseded ones do, for questions about the past."""
    return memory.status in _FOUND_BY_WORDS and not memory.context_only


def put_words(bank: int, row: int, memory: Memory, words: Sequence[str]) -> Plan[None]:
    """Index a memory that is not in the index."""
    own = Counter(words)
    beside = yield from _beside(bank, memory)
    near: Counter[str] = Counter()
    for _, others in beside:
        near.update(others)
    entries = [
        {"bank": bank, "row": row, "word": word, "own": own[word], "near": near[word]} for word in own.keys() | near
    ]
    yield Statement(_INSERT, many=entries)
    counts = {"bank": bank, "row": row, "own": len(words), "near": near.total()}
    yield Statement(
        "INSERT INTO texts (bank, row, words) VALUES (:bank, :row, :words)", counts | {"words": " ".join(words)}
    )
    yield Statement("INSERT INTO lengths (bank, row, own, near) VALUES (:bank, :row, :own, :near)", counts)
    yield from _tell(bank, beside, own, sign=1)
    yield from _count(bank, 1, len(words), near.total() + len(beside) * len(words))


def take_words(bank: int, row: int, memory: Memory) -> Plan[list[str]]:
    """Take a memory out of the index, its neighbours' share included; returns the words it had."""
    found = yield Statement("SELECT words FROM texts WHERE bank = :bank AND row = :row", {"bank": bank, "row": row})
    if not found:
        return []
    words: list[str] = found[0][0].split()
    own = Counter(words)
    beside = yield from _beside(bank, memory)
    near: Counter[str] = Counter()
    for _, others in beside:
        near.update(others)
    for table in ("texts", "lengths"):
        yield Statement(f"DELETE FROM {table} WHERE bank = :bank AND row = :row", {"bank": bank, "row": row})
    gone = [{"bank": bank, "row": row, "word": word} for word in own.keys() | near]
    yield Statement("DELETE FROM postings WHERE bank = :bank AND word = :word AND row = :row", many=gone)
    yield from _tell(bank, beside, own, sign=-1)
    yield from _count(bank, -1, -len(words), -near.total() - len(beside) * len(words))
    return words


def score_words(
    bank: int, words: Sequence[str], settings: WordSettings, limit: int
) -> Plan[list[tuple[int, float, float]]]:
    """Rows with the share of the query's weight they hold (0 to 1), best first: BM25 over its largest value.

    The second number counts a row's own words only.

    Statistics are the bank's own: no other bank moves a ranking.
    """
    totals = yield Statement("SELECT documents, length, near_length FROM banks WHERE bank = :bank", {"bank": bank})
    documents, length, near_length = totals[0]
    params: Params = {"bank": bank}
    listed = among("word", words, params)
    counted = yield Statement(
        f"SELECT word, count(*) FROM postings WHERE bank = :bank AND {listed} GROUP BY word",
        params,
    )
    rare = _within({word: count for word, count in counted}, settings.postings)  # noqa: C416
    if not rare:
        return []
    params = {"bank": bank, "k1": settings.k1, "b": settings.b, "near": settings.near, "limit": limit}
    params["average"] = max((length + settings.near * near_length) / documents, 1.0)
    params["alone"] = max(length / documents, 1.0)
    values, most = [], 0.0
    for number, (word, count) in enumerate(rare.items()):
        idf = math.log1p((documents - count + 0.5) / (count + 0.5))
        params |= {f"w{number}": word, f"i{number}": idf}
        most += idf * (settings.k1 + 1)
        values.append(f"(:w{number}, :i{number})")
    rows = yield Statement(_SCORE.format(values=", ".join(values)), params)
    return [(row, score / most, own / most) for row, score, own in rows]


def _within(counts: Mapping[str, int], budget: int) -> dict[str, int]:
    """The rarest words whose postings together stay within the budget; the rarest one always."""
    kept: dict[str, int] = {}
    for word in sorted(counts, key=lambda each: (counts[each], each)):
        budget -= counts[word]
        if kept and budget < 0:
            break
        kept[word] = counts[word]
    return kept


def _beside(bank: int, memory: Memory) -> Plan[list[tuple[int, list[str]]]]:
    if memory.session_id is None or memory.turn is None:
        return []
    params = {"bank": bank, "session": memory.session_id, "before": memory.turn - 1, "after": memory.turn + 1}
    rows = yield Statement(_NEIGHBOURS, params)
    return [(row, words.split()) for row, words in rows]


def _tell(bank: int, beside: Sequence[tuple[int, list[str]]], own: Counter[str], sign: int) -> Plan[None]:
    changes = [
        {"bank": bank, "row": row, "word": word, "near": sign * count}
        for row, _ in beside
        for word, count in own.items()
    ]
    yield Statement(_NEAR, many=changes)
    rows = [{"bank": bank, "row": row, "near": sign * own.total()} for row, _ in beside]
    yield Statement("UPDATE lengths SET near = near + :near WHERE bank = :bank AND row = :row", many=rows)
    if sign < 0:
        empty = "DELETE FROM postings WHERE bank = :bank AND word = :word AND row = :row AND own = 0 AND near = 0"
        yield Statement(empty, many=[{name: change[name] for name in ("bank", "word", "row")} for change in changes])


def _count(bank: int, documents: int, length: int, near_length: int) -> Plan[None]:
    yield Statement(
        "UPDATE banks SET documents = documents + :documents, length = length + :length,"
        " near_length = near_length + :near WHERE bank = :bank",
        {"bank": bank, "documents": documents, "length": length, "near": near_length},
    )
