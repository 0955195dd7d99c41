"""The worker behind the verbs: whatever lacks a vector gets one, whatever stood in the way."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hindsight_memory import AsyncHindsightMemory, build
from hindsight_memory.domain import Query, Scope
from hindsight_memory.ingest.index import terms_of
from hindsight_memory.models.base import ModelFailed
from hindsight_memory.service import Service
from hindsight_memory.settings import Settings, WriteSettings
from hindsight_memory.store.base import Stage
from hindsight_memory.testing import Fault, HashEmbedder, StoppedClock, open_service
from samples import brought_by

ALICE = Scope(user_id="alice")
QUICK = Settings(database="", write=WriteSettings(poll_s=0.02, drain_s=2, finish_s=5))


async def opened(path: Path, clock: StoppedClock, embedder: Any, start: bool = True) -> AsyncHindsightMemory:
    memory = AsyncHindsightMemory(user_id="alice", clock=clock)
    memory._service = await open_service(path, clock=clock, embedder=embedder, settings=QUICK, start=start)
    return memory


def inside(memory: AsyncHindsightMemory) -> Service:
    assert isinstance(memory._service, Service)
    return memory._service


async def unindexed(memory: AsyncHindsightMemory) -> int:
    return (await inside(memory)._parts.store.reading(ALICE.bank).stats()).unindexed


async def until_indexed(memory: AsyncHindsightMemory) -> None:
    async with asyncio.timeout(10):
        while await unindexed(memory):  # noqa: ASYNC110  # the worker tells nobody
            await asyncio.sleep(0.02)


async def signals(memory: AsyncHindsightMemory, text: str) -> set[str]:
    return {signal for hit in await memory.search(text) for signal in brought_by(hit)}


async def compared_in(memory: AsyncHindsightMemory) -> str | None:
    """The space in which findings are compared with each other."""
    return (await inside(memory)._parts.finder.pool(Query(text="text 7"), ALICE)).space


async def test_what_a_crash_left_without_a_vector_gets_one_at_the_next_start(
    database: Path, clock: StoppedClock
) -> None:
    first = await opened(database, clock, HashEmbedder(), start=False)
    await first.write("stored, not yet embedded")
    assert await unindexed(first) == 1
    await inside(first)._parts.store.close()  # as good as killed: nobody drained anything
    second = await opened(database, clock, HashEmbedder())
    await until_indexed(second)
    assert "vector:testing/plain" in await signals(second, "embedded")
    await second.close()


async def test_closing_finishes_what_was_written_here(database: Path, clock: StoppedClock) -> None:
    first = await opened(database, clock, HashEmbedder())
    await first.write_many([f"text {number}" for number in range(40)])
    await first.close()
    second = await opened(database, clock, HashEmbedder(), start=False)
    assert await unindexed(second) == 0
    await second.close()


async def test_one_bad_text_does_not_fail_its_batch_and_is_given_up_in_the_end(
    database: Path, clock: StoppedClock
) -> None:
    embedder = HashEmbedder()
    embedder.refuses = "bad"
    memory = await opened(database, clock, embedder)
    receipts = await memory.write_many([*(f"good {number}" for number in range(5)), "bad text"], wait="indexed")
    assert [receipt.indexed for receipt in receipts] == [True] * 5 + [False]
    store: Any = inside(memory)._parts.store
    assert await store.due(Stage.INDEX, terms_of(QUICK.write)) == 0
    tried = len(embedder.asked)
    await asyncio.sleep(0.2)
    assert len(embedder.asked) == tried, "it is not tried for ever"
    assert await signals(memory, "bad text") >= {"words"}
    await memory.close()


async def test_a_bad_text_alone_is_given_up_too(database: Path, clock: StoppedClock) -> None:
    embedder = HashEmbedder()
    embedder.refuses = "bad"
    memory = await opened(database, clock, embedder)
    async with asyncio.timeout(3):
        assert not (await memory.write("bad text", wait="indexed")).indexed
    assert embedder.asked.count("bad text") <= 2 * QUICK.write.index_attempts
    embedder.refuses = None
    receipt = (await memory.search("bad text"))[0].memory
    await memory.update(receipt.id, content="a better text")
    await until_indexed(memory)
    await memory.close()


@pytest.mark.parametrize("fault", ["failed", "count", "nan", "zero", "bug"])
async def test_a_model_that_is_down_is_waited_for(database: Path, clock: StoppedClock, fault: Fault) -> None:
    embedder = HashEmbedder()
    embedder.broken = fault
    memory = await opened(database, clock, embedder)
    await memory.write("hers one")
    await memory.write("his", user_id="bob")
    await asyncio.sleep(0.3)
    tries = len([text for text in embedder.asked if text == "hers one"])
    assert 1 <= tries <= 8, "it backs off"
    assert await unindexed(memory) == 1
    embedder.broken = None
    clock.advance(minutes=3)  # what a model's own fault interrupted is leased until then
    await memory.write("something new")
    await until_indexed(memory)
    bobs = inside(memory)._parts.store.reading(Scope(user_id="bob").bank)
    async with asyncio.timeout(5):
        while (await bobs.stats()).unindexed:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    await memory.close()


async def test_a_model_that_is_down_gives_every_bank_back(database: Path, clock: StoppedClock) -> None:
    embedder = HashEmbedder()
    memory = await opened(database, clock, embedder, start=False)
    for user in ("a", "b", "c"):
        await memory.write("text", user_id=user)
    embedder.broken = "failed"
    indexer = inside(memory)._parts.indexer
    with pytest.raises(ModelFailed):
        await indexer.step()
    embedder.broken = None
    assert await indexer.step() == 3, "none stays leased to nobody"
    await memory.close()


async def test_a_write_that_waits_does_not_wait_for_a_model_that_is_down(database: Path, clock: StoppedClock) -> None:
    embedder = HashEmbedder()
    embedder.broken = "failed"
    memory = await opened(database, clock, embedder, start=False)
    async with asyncio.timeout(2):
        receipt = await memory.write("stored all the same", wait="indexed")
    assert (receipt.created, receipt.indexed) == (True, False)
    await memory.close()


async def test_closing_does_not_wait_for_ever_for_a_model_that_hangs(database: Path, clock: StoppedClock) -> None:
    embedder = HashEmbedder()
    embedder.broken = "hang"
    memory = AsyncHindsightMemory(user_id="alice", clock=clock)
    settings = replace(QUICK, write=replace(QUICK.write, drain_s=0.2))
    memory._service = await open_service(database, clock=clock, embedder=embedder, settings=settings)
    await memory.write("stored")
    async with asyncio.timeout(3):
        await memory.close()
    again = await opened(database, clock, [])
    assert [hit.memory.content for hit in await again.search("stored")] == ["stored"]
    await again.close()


async def test_two_processes_share_the_work(database: Path, clock: StoppedClock) -> None:
    embedders = [HashEmbedder(), HashEmbedder()]
    first, second = [await opened(database, clock, embedder) for embedder in embedders]
    await first.write_many([f"text {number}" for number in range(60)])
    await until_indexed(first)
    asked = [text for embedder in embedders for text in embedder.asked]
    assert len(asked) == len(set(asked)), "none was embedded twice"
    assert await signals(second, "text 7") == {"words", "vector:testing/plain"}
    for each in (first, second):
        await each.close()


async def test_another_model_embeds_anew_while_the_old_one_answers(
    database: Path, clock: StoppedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = HashEmbedder("old"), HashEmbedder("new", dimension=32)
    first = await opened(database, clock, old)
    await first.write_many([f"text {number}" for number in range(20)], wait="indexed")
    await first.close()

    async def former(spec: str, *_: object) -> HashEmbedder:
        assert spec == "old"
        return old

    monkeypatch.setattr(build, "_embedder", former)
    second = await opened(database, clock, new, start=False)
    await inside(second)._parts.indexer.start()
    assert await signals(second, "text 7") == {"words", "vector:old/plain"}
    assert await compared_in(second) == "old/plain"
    while await inside(second)._parts.indexer.step():
        pass
    assert await signals(second, "text 7") >= {"words", "vector:new/plain"}
    assert await compared_in(second) == "new/plain"
    assert await unindexed(second) == 0
    await second.close()


async def test_without_a_model_nothing_is_lost_for_the_day_one_comes(database: Path, clock: StoppedClock) -> None:
    first = await opened(database, clock, [])
    receipt = await first.write("written without a model", wait="indexed")
    assert not receipt.indexed
    await first.close()
    second = await opened(database, clock, HashEmbedder())
    await until_indexed(second)
    assert "vector:testing/plain" in await signals(second, "model")
    await second.close()


async def test_a_long_text_is_found_by_its_end(database: Path, clock: StoppedClock) -> None:
    memory = await opened(database, clock, HashEmbedder())
    await memory.write("common words " * 400 + "omega psi chi", wait="indexed")
    hit = (await memory.search("omega psi chi"))[0]
    assert brought_by(hit) == {"words", "vector:testing/plain"}
    parts: Any = inside(memory)._parts.store
    count = await parts._engine.read(
        lambda connection: connection.execute("SELECT count(*) FROM vectors").fetchone()[0]
    )
    assert count > 1
    await memory.close()


async def test_doctor_and_ready_say_what_is_in_use(database: Path, clock: StoppedClock) -> None:
    memory = await opened(database, clock, HashEmbedder())
    await memory.write("text", wait="indexed")
    checks = {check.name: check for check in await memory.doctor()}
    assert checks["database"].ok
    assert "testing/plain" in checks["embedder"].note
    assert checks["vectors"].ok
    assert {check.name for check in await inside(memory).ready()} == set(checks) - {"encryption", "index", "log"}
    await memory.close()
