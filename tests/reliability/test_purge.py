"""Killed in the middle of a purge: it is done or it is not, the log is whole, and the next process tidies the files."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from hindsight_memory.domain import AuditCheck, Listing, Query, Scope
from hindsight_memory.testing import open_service
from reliability.test_processes import acknowledged, run

pytestmark = pytest.mark.slow
ALICE = Scope(user_id="alice")


@pytest.mark.parametrize("seconds", [0.03, 0.2, 0.55, 0.9, 1.4])
async def test_nothing_is_half_purged(database: Path, seconds: float) -> None:
    done = await asyncio.to_thread(lambda: acknowledged(run("purge_for_ever", database), seconds))
    service = await open_service(database, embedder=[], start=False)
    assert await service._parts.store.check() == []
    found = await service.verify_audit(AuditCheck(), ALICE)
    assert (found.whole, found.fault) == (True, "")
    held = (await service.list(Listing(limit=1_000), ALICE)).memories
    for memory in held:
        number = int(memory.content.split("zq")[0][-5:])
        assert number >= done or memory.content.endswith("second"), "what was acknowledged as purged is gone"
        asked = replace(ALICE, session_id=None)
        assert memory.id in {hit.memory.id for hit in await service.search(Query(text=memory.content, limit=50), asked)}
    await service._parts.store.scrub(compact=True)
    living = {memory.content for memory in held}
    raw = b"".join(path.read_bytes() for path in database.parent.glob(f"{database.name}*"))
    for number in range(done + 2):
        for part in ("first", "second"):
            text = f"canary {chr(0x7000 + number)}{number:05d}zq says the {part}"
            assert (text.encode() in raw) is (text in living), text
    with closing(sqlite3.connect(database)) as connection:
        assert connection.execute("SELECT count(*) FROM banks WHERE erasures <> scrubbed").fetchone() == (0,)
    await service.close()
