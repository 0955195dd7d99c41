"""The service on PostgreSQL: the same verbs, from writing to leaving no trace, as they are on a file."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from hindsight_memory import AsyncHindsightMemory, Conflict, NotFound, Status
from hindsight_memory.build import build
from hindsight_memory.settings import Settings, StoreSettings
from hindsight_memory.testing import HashEmbedder, StoppedClock
from postgres import Server
from samples import brought_by


@pytest.fixture
def settings(server: Server) -> Settings:
    server.empty()
    return Settings(database=server.url, store=StoreSettings(partitions=2, connections=3))


@pytest.fixture
async def memory(settings: Settings, clock: StoppedClock) -> AsyncIterator[AsyncHindsightMemory]:
    face = AsyncHindsightMemory(user_id="alice", clock=clock)
    face._service = await build(settings, clock, [HashEmbedder()])
    await face._service.start()
    yield face
    await face.close()


async def test_from_writing_to_leaving_no_trace(memory: AsyncHindsightMemory, server: Server) -> None:
    first = await memory.write("The gateway listens on port 8443", key="gateway.port", wait="indexed")
    other = await memory.write("周五下午三点与陈静开会讨论预算", wait="indexed")
    assert first.indexed
    (hit, *_) = await memory.search("which port does the gateway use")
    assert hit.memory.id == first.id
    assert "vector:testing/plain" in brought_by(hit)
    assert (await memory.search("陈静 预算"))[0].memory.id == other.id

    second = await memory.write("The gateway listens on port 9443", key="gateway.port", wait="indexed")
    assert (await memory.search("gateway port"))[0].memory.id == second.id
    told = await memory.history(second.id)
    assert [each.status for each in told.versions].count(Status.SUPERSEDED) == 1

    await memory.forget(other.id, reason="not needed")
    assert other.id not in [hit.memory.id for hit in await memory.search("陈静 预算")]
    await memory.restore(other.id)
    assert (await memory.search("陈静 预算"))[0].memory.id == other.id

    erased = await memory.purge(other.id)
    assert erased.memories == 1
    with pytest.raises(NotFound):
        await memory.get(other.id)
    for table in server.tables():
        assert "陈静" not in repr(server.run(f"SELECT * FROM {table}")), table

    assert (await memory.verify_audit()).whole
    page = await memory.export_audit()
    verbs = [line.event.verb for line in page.lines]
    assert verbs.index("write") < verbs.index("forget") < verbs.index("restore") < verbs.index("purge")
    assert all(check.ok for check in await memory.doctor())


async def test_two_processes_write_and_find_and_neither_loses_anything(
    memory: AsyncHindsightMemory, settings: Settings, clock: StoppedClock
) -> None:
    other = AsyncHindsightMemory(user_id="alice", clock=clock)
    other._service = await build(settings, clock, [HashEmbedder()])
    try:
        faces = [memory, other]
        written = await asyncio.gather(*(faces[n % 2].write(f"note number {n} about topic{n}") for n in range(20)))
        assert len({receipt.id for receipt in written}) == 20
        for number, receipt in enumerate(written):
            found = await faces[(number + 1) % 2].search(f"topic{number}")
            assert found[0].memory.id == receipt.id
        (held, *_) = [await memory.get(written[0].id)]
        await memory.update(held.id, importance=0.9, version=held.version)
        with pytest.raises(Conflict):
            await other.update(held.id, importance=0.1, version=held.version)
    finally:
        await other.close()


async def test_maintenance_and_conversations_work_there_too(memory: AsyncHindsightMemory, clock: StoppedClock) -> None:
    turns = [{"role": "user", "content": f"I moved to Lisbon in May, part {n}"} for n in range(4)]
    await memory.write_conversation(turns, session_id="s", wait="indexed")  # type: ignore[arg-type]  # as from the wire
    clock.advance(days=2)
    done = await memory.maintain()
    assert done
    assert await memory.search("where did I move")
    assert await memory.consolidate(dry_run=True)
    assert (await memory.context("Lisbon")).text


async def test_a_wrong_url_says_what_to_do(settings: Settings) -> None:
    from hindsight_memory import Unavailable

    with pytest.raises(Unavailable, match="does not answer"):
        await build(replace(settings, database="postgresql://me:sesame@127.0.0.1:1/m"), embedders=[])
