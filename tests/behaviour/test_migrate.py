"""One database moved into another: while it is written to, again after a death, and compared to the last line."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from behaviour.test_moving import archive, live, settled
from hindsight_memory import AsyncHindsightMemory, Conflict, InvalidInput
from hindsight_memory.build import open_store
from hindsight_memory.databases import migrate as migrate_databases
from hindsight_memory.domain import AuditCheck, Draft, Listing, NewKey, Query, Scope
from hindsight_memory.lifecycle import mirror
from hindsight_memory.lifecycle.mirror import migrate
from hindsight_memory.service import Service
from hindsight_memory.settings import Settings
from hindsight_memory.store.sqlite_bank import SQLiteTx
from hindsight_memory.testing import HashEmbedder, StoppedClock, open_service

ALICE = Scope(user_id="alice")


@pytest.fixture
async def new(tmp_path: Path, clock: StoppedClock) -> AsyncIterator[Service]:
    opened = await open_service(tmp_path / "new.db", clock=clock, embedder=HashEmbedder(), start=False)
    yield opened
    await opened.close()


async def moved(old: Service, new: Service) -> Any:
    return await migrate(old._parts.store, new._parts.store)


async def equal(old: Service, new: Service, folder: Path) -> bool:
    asked: Any = {"all_users": True, "vectors": True}
    return await archive(old, folder / "old", **asked) == await archive(new, folder / "new", **asked)


async def test_everything_moves_and_a_second_run_has_nothing_to_do(
    memory: AsyncHindsightMemory, service: Service, new: Service, clock: StoppedClock, tmp_path: Path
) -> None:
    await live(memory, clock)
    issued = await service.create_key(NewKey(name="agent"))
    await settled(service)
    first = await moved(service, new)
    assert (first.banks, first.open) == (2, ())
    assert first.changed > 0
    assert await equal(service, new, tmp_path)
    again = await moved(service, new)
    assert (again.changed, again.rounds, again.sha256) == (0, 1, first.sha256)
    assert await new.caller(issued.secret) is not None
    found = await new.verify_audit(AuditCheck(), ALICE)
    assert found == await service.verify_audit(AuditCheck(), ALICE)
    assert found.whole
    for scope in await new._parts.store.banks(None, None, 10):
        assert await new._parts.store.reading(scope.bank).faults(10) == []
    for text in ("coffee milk", "Lisbon", "王小明"):
        ours = [hit.memory.id for hit in await service.search(Query(text=text), ALICE)]
        assert ours
        assert [hit.memory.id for hit in await new.search(Query(text=text), ALICE)] == ours


async def test_what_changes_afterwards_is_caught_up_with(
    memory: AsyncHindsightMemory, service: Service, new: Service, clock: StoppedClock, tmp_path: Path
) -> None:
    await live(memory, clock)
    one = await memory.write("The first wording of this")
    two = await memory.write("The second thing")
    three = await memory.write("The third thing")
    await settled(service)
    await moved(service, new)
    clock.advance(hours=1)
    await memory.update(one.id, content="完全不同的措辞", tags=["new"])
    await memory.purge(two.id)
    await memory.forget(three.id)
    again = await memory.write("The third thing")  # says the same as what was forgotten
    await memory.forget(again.id)
    await memory.restore(three.id)
    await memory.end_session(session_id="w")
    await memory.policy({"email": None, "phone": "mask"})
    await memory.write_conversation([{"content": "and then it rained again"}], session_id="s")
    await memory.search("Lisbon")
    await settled(service)
    done = await moved(service, new)
    assert done.open == ()
    assert await equal(service, new, tmp_path)
    assert await new._parts.store.reading(ALICE.bank).faults(10) == []
    assert (await new.verify_audit(AuditCheck(), ALICE)).whole
    hits = await new.search(Query(text="完全不同的措辞"), ALICE)
    assert hits[0].memory.id == one.id
    assert two.id not in {each.id for each in (await new.list(Listing(limit=100), ALICE)).memories}


async def test_who_was_forgotten_meanwhile_is_forgotten_there_too(
    memory: AsyncHindsightMemory, service: Service, new: Service, clock: StoppedClock, tmp_path: Path
) -> None:
    await live(memory, clock)
    await settled(service)
    await moved(service, new)
    await memory.forget_all(confirm="alice")
    await memory.write("a new life")
    await settled(service)
    assert (await moved(service, new)).open == ()
    assert await equal(service, new, tmp_path)
    assert len((await new.list(Listing(), ALICE)).memories) == 1


async def test_it_may_be_written_to_meanwhile(
    memory: AsyncHindsightMemory, service: Service, new: Service, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for number in range(10):
        await memory.write(f"number {number}")
    plain, left = mirror._Mirror.bank, [2]

    async def written_to(self: Any, scope: Scope) -> bool:
        found = await plain(self, scope)
        if left[0]:
            left[0] -= 1
            await memory.write(f"meanwhile {left[0]}")
            await settled(service)
        return found

    monkeypatch.setattr(mirror._Mirror, "bank", written_to)
    done = await moved(service, new)
    assert (done.open, done.rounds) == ((), 4)
    assert len((await new.list(Listing(), ALICE)).memories) == 12
    left[0] = 1_000
    assert (await moved(service, new)).open == (ALICE.bank,)  # never at rest: told, and not waited for
    left[0] = 0
    assert (await moved(service, new)).open == ()
    assert await equal(service, new, tmp_path)


@pytest.mark.parametrize("at", [1, 2, 3, 5, 8])
async def test_a_run_that_ended_in_the_middle_is_gone_on_with(
    memory: AsyncHindsightMemory,
    service: Service,
    new: Service,
    clock: StoppedClock,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    at: int,
) -> None:
    await live(memory, clock)
    await settled(service)
    calls = 0
    for name in ("put_lines", "put_memories", "set_head"):

        def failing(plain: Any) -> Any:
            async def put(self: SQLiteTx, *args: Any) -> None:
                nonlocal calls
                calls += 1
                if calls == at:
                    raise OSError("the power went")
                await plain(self, *args)

            return put

        monkeypatch.setattr(SQLiteTx, name, failing(getattr(SQLiteTx, name)))
    with pytest.raises(OSError, match="power"):
        await moved(service, new)
    assert (await moved(service, new)).open == ()
    assert await equal(service, new, tmp_path)


async def test_another_memory_is_not_overwritten(memory: AsyncHindsightMemory, service: Service, new: Service) -> None:
    await memory.write("one life")
    await new.write(Draft(content="another life"), ALICE)
    with pytest.raises(Conflict, match="'alice'"):
        await moved(service, new)
    assert [each.content for each in (await new.list(Listing(), ALICE)).memories] == ["another life"]


async def test_two_databases_are_named(tmp_path: Path) -> None:
    one = Settings(database=str(tmp_path / "a.db"))
    with pytest.raises(InvalidInput, match="no database"):
        await migrate_databases(one, replace(one, database=str(tmp_path / "b.db")))
    assert not list(tmp_path.iterdir())
    await (await open_store(one)).close()
    with pytest.raises(InvalidInput, match="same database"):
        await migrate_databases(one, one)
    with pytest.raises(InvalidInput):
        await migrate_databases(one, replace(one, database="http://127.0.0.1:1"))
    done = await migrate_databases(one, replace(one, database=str(tmp_path / "b.db")))
    assert (done.banks, done.lines, done.open) == (0, 0, ())
