"""What was erased, taken out of a SQLite file too: the log of writes cut off, the file compacted, its bytes searched.

Overwriting what is deleted (``secure_delete``) is not all: where a page was split, or filled up from its neighbour,
copies of moved rows stay in its free space. Of 400 deleted rows one or two are found there. Compacting leaves none.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from hindsight_memory.domain import Proof
from hindsight_memory.errors import HindsightMemoryError
from hindsight_memory.store import erasure, traces
from hindsight_memory.store.sqlite_engine import SQLiteEngine

_FILES: Final = ("", "-wal", "-shm", "-journal")
_SEARCH_S: Final = 300.0
_PATIENCE_MS: Final = 2_000
_BUSY: Final = "Something is in the way, such as others at work: the files are tidied later."
_LARGE: Final = "The file is too large to be compacted here: do it with VACUUM when nobody works, and purge again."
_UNSEARCHED: Final = "The files were not searched: no other process could be started."


async def scrub(engine: SQLiteEngine, samples: Sequence[str], *, compact: bool) -> Proof:
    """See ``Store.scrub``."""
    due = await engine.ask(erasure.unscrubbed)
    if not due and not samples:
        return Proof()
    size = engine.path.stat().st_size
    compact = bool(due) and (compact or size <= engine.settings.compact_at_once)
    note, done = await _cleaned(engine, due, compact=compact and size <= engine.settings.compact_most)
    proof = await _searched(engine, samples)
    if proof.found and not done and size <= engine.settings.compact_most:
        note, done = await _cleaned(engine, due, compact=True)
        proof = await _searched(engine, samples)
    if proof.found and not note and size > engine.settings.compact_most:
        note = _LARGE
    return replace(proof, compacted=done, note=note or proof.note)


async def _cleaned(engine: SQLiteEngine, due: Mapping[int, int], *, compact: bool) -> tuple[str, bool]:
    """Cut the log of writes off, after the file was compacted if it is to be; what was put off, and whether it was."""
    try:
        async with engine.turn:
            busy = await engine.write(lambda connection: _tidied(connection, compact=compact))
        engine.drop_vectors()
        if busy:
            return _BUSY, compact
        if compact and due:
            await engine.alone(lambda: erasure.scrubbed(due))
    except HindsightMemoryError:  # it is erased, whatever keeps the file from being tidied at once
        return _BUSY, False
    return "", compact


def _tidied(connection: sqlite3.Connection, *, compact: bool) -> bool:
    """Whether others kept it from being done to the end. They are not waited for as long as in a write."""
    (patience,) = connection.execute("PRAGMA busy_timeout").fetchone()
    connection.execute(f"PRAGMA busy_timeout = {min(patience, _PATIENCE_MS)}")
    try:
        if compact:
            connection.execute("VACUUM")
        return bool(connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0])
    finally:
        connection.execute(f"PRAGMA busy_timeout = {patience}")


async def _searched(engine: SQLiteEngine, samples: Sequence[str]) -> Proof:
    if not samples:
        return Proof()
    files = [f"{engine.path}{ending}" for ending in _FILES]
    answer = await asyncio.to_thread(_traces, files, samples)
    if answer is None:
        return Proof(note=_UNSEARCHED)
    left = 0
    for place in answer.pop("found"):
        text = samples[place]
        # What somebody else's memory says too is theirs, and nobody is told of it.
        left += not await engine.read(lambda connection, text=text: _is_held(connection, text))  # type: ignore[misc]
    return Proof(found=left, **answer)


def _traces(files: Sequence[str], samples: Sequence[str]) -> dict[str, Any] | None:
    asked = json.dumps({"files": files, "samples": samples})
    try:
        done = subprocess.run(  # noqa: S603  # our own program; what it looks for is not on its command line
            [sys.executable, "-I", "-S", traces.__file__],
            input=asked,
            capture_output=True,
            text=True,
            timeout=_SEARCH_S,
            check=True,
        )
        found: dict[str, Any] = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return found


def _is_held(connection: Any, text: str) -> bool:
    """Whether any row of any table holds a text, or the schema: that is words too."""
    names = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    for table in ("sqlite_master", *names):
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})") if row[2] == "TEXT"]
        found = " OR ".join(f"instr({column}, :text)" for column in columns)
        if found and connection.execute(f"SELECT 1 FROM {table} WHERE {found} LIMIT 1", {"text": text}).fetchone():
            return True
    return False
