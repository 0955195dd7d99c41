"""Sessions that several processes share, and one that is killed while it ends them."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from hindsight_memory.domain import Kind, Scope, utc_now
from hindsight_memory.ingest.sessions import promote_expired
from hindsight_memory.testing import StoppedClock, open_service
from reliability.test_processes import acknowledged, run

pytestmark = pytest.mark.slow
ALICE = Scope(user_id="alice", session_id="s")


async def test_two_processes_keep_every_patch_and_every_message(database: Path) -> None:
    first = await open_service(database, embedder=[])
    await first.close()
    processes = [run("patch_many", database, name) for name in ("one", "two")]
    for process in processes:
        _, log = await asyncio.to_thread(process.communicate)
        assert process.returncode == 0, log
    service = await open_service(database, embedder=[])
    session = await service.get_session(ALICE, 100_000)
    each = [(name, number) for name in ("one", "two") for number in range(40)]
    assert sorted(session.state.confirmed_facts) == sorted(f"process {name} found {number}" for name, number in each)
    assert sorted(session.state.decisions) == sorted(f"We decided that {name} does {number}" for name, number in each)
    assert session.version == 160
    assert sorted(message.turn or 0 for message in session.messages) == list(range(80))
    await service.close()


async def test_a_session_that_died_while_it_ended_is_promoted_once(database: Path) -> None:
    total = await asyncio.to_thread(lambda: acknowledged(run("end_for_ever", database), 0.3))
    later = StoppedClock(utc_now() + timedelta(hours=3))
    service = await open_service(database, clock=later, embedder=[], start=False)
    store = service._parts.store
    while await promote_expired(store, ALICE.bank, later(), 10):
        pass
    assert await store.reading(ALICE.bank).expired_sessions(later(), 10) == []
    for number in range(total + 1):
        turns = await store.reading(ALICE.bank).turns(f"s{number}", 0, 100)
        assert len({turn.content for turn in turns}) == len(turns)
        assert len(turns) == 30 or number == total
        assert {turn.kind for turn in turns} <= {Kind.EPISODIC}
    assert await store.check() == []
    await service.close()
