"""What is erased, as plans: memories, or all that a bank holds, from every table, and counted."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from hindsight_memory.domain import Erased, Memory
from hindsight_memory.store.audit import begin_anew, empty
from hindsight_memory.store.mentions import take_mentions
from hindsight_memory.store.postings import take_words
from hindsight_memory.store.rows import Bank, Params, Plan, Statement, among, one_by_one
from hindsight_memory.store.sql import blank_vectors, get
from hindsight_memory.store.talks import untell
from hindsight_memory.store.vault import forget_sealed

_COUNTED: Final = ("vectors", "names", "times", "relations", "sessions", "memories")
OF_A_BANK: Final = ("postings", "texts", "lengths", "tags", "leases", "policies", "vault", "upkeep", *_COUNTED)
"""Every table but the log that holds something of a bank; those that others point at come last."""
_CHUNK: Final = 500
_SAMPLES: Final = 40
_WORDS: Final = 20
_MOST: Final = 160
"""Memories of which texts are taken to be looked for, words of them by themselves, and texts altogether."""
_LONGEST: Final = 48
_SHORTEST: Final = 6
"""Characters of a text that is looked for, and bytes: a shorter one may stand anywhere by chance."""
_OF_ALL: Final = (("session_id", "sessions"), ("state", "sessions"), ("reason", "events"), ("id", "memories"))
"""What goes only with all of a bank: an id stays in the log that its memory was purged."""
_PLAIN: Final = re.compile(r'[^"\\\x00-\x1f\x7f]+')
"""What JSON does not escape."""


def erase(bank: Bank, ids: Sequence[str]) -> Plan[Erased]:
    """See ``Tx.erase``."""
    total: dict[str, Any] = Erased().counted()
    for start in range(0, len(ids), _CHUNK):
        for memory in (yield from get(bank, ids[start : start + _CHUNK])):
            gone = (yield from _erase_one(bank, memory)).counted()
            total = {name: count + gone[name] for name, count in total.items()}
    yield from count_erasure(bank)
    return Erased(**total)


def count_erasure(bank: Bank) -> Plan[None]:
    """Tell caches to start again, and whoever tidies the files that there is something to do."""
    yield Statement("UPDATE banks SET erasures = erasures + 1 WHERE bank = :bank", {"bank": bank.number})


def _erase_one(bank: Bank, memory: Memory) -> Plan[Erased]:
    only: Params = {"bank": bank.number, "id": memory.id}
    found = yield Statement("SELECT row FROM memories WHERE bank = :bank AND id = :id", only)
    row = {"bank": bank.number, "row": found[0][0]}
    words = yield from take_words(bank.number, row["row"], memory)
    names, times = yield from take_mentions(bank.number, row["row"])
    vectors = yield Statement("DELETE FROM vectors WHERE bank = :bank AND row = :row RETURNING row", row)
    edges = yield from _part(bank, memory.id)
    lines = yield from empty(bank, [memory.id])
    yield from forget_sealed(bank, memory)
    yield from forget_before(bank, memory)
    yield from untell(bank.number, memory)
    yield Statement("DELETE FROM memories WHERE bank = :bank AND row = :row", row)
    return Erased(1, len(words), len(vectors), edges, lines, names, times)


def _part(bank: Bank, memory_id: str) -> Plan[int]:
    """Remove the relations from and to a memory; returns how many there were."""
    only: Params = {"bank": bank.number, "id": memory_id}
    out = yield Statement("DELETE FROM relations WHERE bank = :bank AND from_id = :id RETURNING type", only)
    params: Params = {"bank": bank.number}
    into = yield Statement(  # found first: a planner without statistics would read all relations of the bank
        f"{one_by_one([memory_id], params)} SELECT r.from_id, r.type FROM asked a CROSS JOIN relations r"
        " WHERE r.bank = :bank AND r.to_id = a.value",
        params,
    )
    yield Statement(
        "DELETE FROM relations WHERE bank = :bank AND from_id = :from AND type = :type AND to_id = :id",
        many=[only | {"from": start, "type": kind} for start, kind in into],
    )
    return len(out) + len(into)


def forget_before(bank: Bank, memory: Memory) -> Plan[None]:
    """Have the next turn embedded anew: it was together with this one, and what is gone must not live on in it."""
    if memory.session_id is None or memory.turn is None:
        return
    rows = yield Statement(
        "UPDATE memories SET unindexed = 1 WHERE bank = :bank AND session_id = :session AND turn = :next"
        " AND context_only = 0 RETURNING row",
        {"bank": bank.number, "session": memory.session_id, "next": memory.turn + 1},
    )
    for row in rows:
        yield from blank_vectors(bank, row[0])


def erase_bank(bank: Bank) -> Plan[Erased]:
    """See ``Tx.erase_bank``. The bank keeps its number: another's that took it would meet caches of this one."""
    only: Params = {"bank": bank.number}
    words = yield Statement("SELECT coalesce(sum(own), 0) FROM lengths WHERE bank = :bank", only)
    counted: dict[str, Any] = {"words": words[0][0], "events": (yield from begin_anew(bank))}
    for table in OF_A_BANK:
        if table in _COUNTED:
            rows = yield Statement(f"SELECT count(*) FROM {table} WHERE bank = :bank", only)
            counted[table] = rows[0][0]
        yield Statement(f"DELETE FROM {table} WHERE bank = :bank", only)
    yield Statement(
        "UPDATE banks SET erasures = erasures + 1, documents = 0, length = 0, near_length = 0, ranking = '{}'"
        " WHERE bank = :bank",
        only,
    )
    return Erased(**counted)


def unscrubbed() -> Plan[dict[int, int]]:
    """The banks of which something was erased that the files may keep a trace of, with how often that was."""
    rows = yield Statement("SELECT bank, erasures FROM banks WHERE erasures <> scrubbed", {})
    return {bank: erasures for bank, erasures in rows}  # noqa: C416


def scrubbed(done: Mapping[int, int]) -> Plan[None]:
    """Remember up to which erasure of each bank the files were scrubbed."""
    entries = [{"bank": bank, "erasures": erasures} for bank, erasures in done.items()]
    yield Statement("UPDATE banks SET scrubbed = :erasures WHERE bank = :bank", many=entries)


def samples(bank: Bank, ids: Sequence[str] | None) -> Plan[list[str]]:
    """See ``Tx.samples``."""
    params: Params = {"bank": bank.number, "most": _SAMPLES}
    if ids is None:
        rows = yield Statement("SELECT max(row) / :most + 1 FROM memories WHERE bank = :bank", params)
        params["step"] = rows[0][0] or 1
        chosen = "m.row % :step = 0"
    else:
        chosen = among("m.id", ids[:_SAMPLES], params)
    told = yield Statement(
        "SELECT t.words, m.content, m.summary, m.source_ref, m.key, m.task, m.speaker, m.tags, m.metadata"
        " FROM memories m LEFT JOIN texts t ON t.bank = m.bank AND t.row = m.row"
        f" WHERE m.bank = :bank AND {chosen} ORDER BY m.row LIMIT :most",
        params,
    )
    words, *columns = zip(*told, strict=True) if told else [()]
    texts: list[str] = [text for column in columns for text in column if text]
    if ids is None:
        for column, table in _OF_ALL:
            held = yield Statement(
                f"SELECT {column} FROM {table} WHERE bank = :bank LIMIT :most", {"bank": bank.number, "most": _SAMPLES}
            )
            texts += [row[0] for row in held]
    each = max(_WORDS // max(len(told), 1), 1)
    texts += [word for row in words for word in sorted(set((row or "").split()), key=len)[-each:]]
    return list(dict.fromkeys(piece for text in texts if (piece := _piece(text))))[:_MOST]


def _piece(text: str) -> str:
    """The beginning of the longest stretch of a text that stands in every form of it alike; empty if it is short."""
    found = max(_PLAIN.findall(text), key=len, default="")[:_LONGEST]
    return found if len(found.encode()) >= _SHORTEST else ""
