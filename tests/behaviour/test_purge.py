"""purge and forget_all: gone for good, at once, from everywhere, and counted."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from hindsight_memory import AsyncHindsightMemory, InvalidInput, NotAllowed, NotFound, Status
from hindsight_memory.domain import Erased, Message, Scope
from hindsight_memory.guard.access import Principal
from hindsight_memory.service import Service
from hindsight_memory.testing import HashEmbedder, StoppedClock, open_service
from samples import ALICE, BOB, found_by_words

SECRET = "xylophonequartz"


def raw(database: Path) -> bytes:
    """All bytes on disk."""
    return b"".join(path.read_bytes() for path in database.parent.glob(f"{database.name}*"))


async def test_a_purged_memory_is_nowhere(memory: AsyncHindsightMemory, database: Path, service: Service) -> None:
    receipt = await memory.write(
        f"the {SECRET} code of Anna", wait="indexed", tags=[SECRET], metadata={"m": SECRET}, relations=["mentions:Bert"]
    )
    await memory.update(receipt.id, content=f"the {SECRET} code of Anna and Bert")
    await memory.feedback(receipt.id, "helpful", query=f"{SECRET}?", note=SECRET)
    other = await memory.write("the plain code of Anna")
    assert await memory.search(SECRET) != []
    assert SECRET.encode() in raw(database)

    erased = await memory.purge(receipt.id, reason="she asked for it")
    assert (erased.memories, erased.relations) == (1, 1)
    assert min(erased.words, erased.vectors, erased.events, erased.names) >= 1
    assert SECRET.encode() not in raw(database)
    for verb in (memory.get, memory.restore, memory.purge, memory.forget):
        with pytest.raises(NotFound):
            await verb(receipt.id)
    assert await found_by_words(memory, f"{SECRET} code Anna") == ["the plain code of Anna"]
    assert [each.id for each in (await memory.list()).memories] == [other.id]
    event = (await service._parts.store.reading(ALICE.bank).events(receipt.id, 1))[0]
    assert (event.verb, event.actor, event.reason) == ("purge", "local", "she asked for it")
    assert event.detail["words"] == erased.words


async def test_a_turn_that_was_purged_is_not_in_the_vector_of_the_next(
    memory: AsyncHindsightMemory, service: Service, embedder: HashEmbedder
) -> None:
    talk: list[Any] = [{"content": text} for text in (f"my {SECRET} is 7", "and the garden is green", "so it is")]
    receipts = await memory.write_conversation(talk, session_id="s", wait="indexed")
    embedder.asked.clear()
    await memory.purge(receipts[0].id)
    assert await service._parts.indexer.finish(ALICE.bank, [receipts[1].id], 5) == set()
    assert any("garden" in text for text in embedder.asked)
    assert not any(SECRET in text for text in embedder.asked)


async def test_a_forgotten_memory_can_be_purged_and_another_agents_cannot(memory: AsyncHindsightMemory) -> None:
    forgotten = await memory.write("forgotten")
    await memory.forget(forgotten.id)
    assert (await memory.purge(forgotten.id)).memories == 1
    private = await memory.write("private", agent_id="coder", visibility="private")
    for who in ({}, {"agent_id": "other"}, {"user_id": "bob"}):
        with pytest.raises(NotFound):
            await memory.purge(private.id, **who)
    assert (await memory.purge(private.id, agent_id="coder")).memories == 1


@pytest.mark.parametrize("user", ["alice", "用户 % _ '", None])
async def test_everything_of_a_user_is_gone_and_nothing_of_another(
    memory: AsyncHindsightMemory, service: Service, database: Path, user: str | None
) -> None:
    scope = Scope(user_id=user)
    for number in range(3):
        await memory.write(f"{SECRET} {number}", user_id=user, key=f"fact.{number}", tags=[SECRET], wait="indexed")
    await memory.write(f"{SECRET} private", user_id=user, agent_id="coder", visibility="private")
    await memory.write(f"{SECRET} desk", user_id=user, kind="working")
    await memory.write(f"{SECRET} 0 again", user_id=user, key="fact.0")
    await memory.forget((await memory.list(user_id=user)).memories[0].id, user_id=user, reason=SECRET)
    await memory.write_conversation([{"content": f"I said {SECRET}"}], user_id=user, session_id=SECRET)
    await service.append_session([Message(content=f"{SECRET} on the desk")], Scope(user_id=user, session_id="d"))
    await memory.search(SECRET, user_id=user)
    his = await memory.write("his", user_id="bob", wait="indexed")

    erased = await memory.forget_all(confirm=user or "shared", user_id=user)
    assert erased.memories >= 8
    assert min(erased.words, erased.vectors, erased.relations, erased.events, erased.sessions) >= 1
    assert SECRET.encode() not in raw(database)
    assert await memory.search(SECRET, user_id=user, cold=True) == []
    for agent in (None, "coder"):
        for status in Status:
            assert (await memory.list(user_id=user, agent_id=agent, status=status)).memories == ()
    (line,) = (await memory.replay(user_id=user)).lines
    assert (line.event.verb, line.event.memory_id, line.event.detail["memories"]) == (
        "forget_all",
        None,
        erased.memories,
    )
    assert await found_by_words(memory, "his", user_id="bob") == ["his"]
    assert (await memory.get(his.id, user_id="bob")).content == "his"
    assert await service._parts.store.check() == []
    stats = await service._parts.store.reading(scope.bank).stats()
    assert (stats.memories, stats.unindexed) == (0, 0)

    again = await memory.write(f"{SECRET} anew", user_id=user, wait="indexed")
    assert [hit.memory.id for hit in await memory.search(SECRET, user_id=user)] == [again.id]


async def test_another_process_sees_none_of_it_either(
    memory: AsyncHindsightMemory, database: Path, clock: StoppedClock
) -> None:
    """Its caches held the bank's vectors, and its number."""
    other = await open_service(database, clock=clock, start=False)
    theirs = AsyncHindsightMemory(user_id="alice", clock=clock)
    theirs._service = other
    await memory.write(f"{SECRET} code", wait="indexed")
    assert len(await theirs.search(f"{SECRET} code")) == 1
    await memory.forget_all(confirm="alice")
    await memory.write("his first", user_id="carl", wait="indexed")
    assert await theirs.search("code first") == []
    await memory.write("her new one", wait="indexed")
    assert {hit.memory.content for hit in await theirs.search("her new one")} == {"her new one"}
    await other.close()


@pytest.mark.parametrize("confirm", ["", "Alice", "alice ", "bob", "shared", "*"])
async def test_it_wants_the_user_once_more(memory: AsyncHindsightMemory, confirm: str) -> None:
    await memory.write("kept")
    with pytest.raises(InvalidInput) as refused:
        await memory.forget_all(confirm=confirm)
    assert refused.value.field == "confirm"
    assert len((await memory.list()).memories) == 1


async def test_a_user_nobody_knows_is_not_made_by_being_forgotten(
    memory: AsyncHindsightMemory, service: Service
) -> None:
    assert await memory.forget_all(confirm="nobody", user_id="nobody") == Erased()
    assert await service._parts.store.banks(None, None, 9) == []
    await memory.write("once", user_id="nobody")
    await memory.forget_all(confirm="nobody", user_id="nobody")
    again = await memory.forget_all(confirm="nobody", user_id="nobody")
    assert (again.memories, again.events) == (0, 1)


@pytest.mark.parametrize("verb", ["purge", "forget_all", "replay"])
async def test_a_key_without_the_right_may_not(service: Service, verb: str) -> None:
    bound = service.acting_as(Principal("key", verbs=frozenset({"search", "forget", "get"})))
    arguments: dict[str, Any] = {"purge": ("x", BOB), "forget_all": (BOB, "bob"), "replay": (None, BOB)}
    with pytest.raises(NotAllowed):
        await getattr(bound, verb)(*arguments[verb])


async def test_writes_during_it_are_wholly_before_or_wholly_after(
    memory: AsyncHindsightMemory, service: Service
) -> None:
    async def write() -> None:
        for number in range(26):
            await memory.write(5 * chr(97 + number))

    async def forget() -> None:
        for _ in range(5):
            await asyncio.sleep(0)
            await memory.forget_all(confirm="alice")

    await asyncio.gather(write(), forget())
    held = {each.content for each in (await memory.list(limit=100)).memories}
    for content in held:
        assert await found_by_words(memory, content) == [content]
    assert await service._parts.store.check() == []
