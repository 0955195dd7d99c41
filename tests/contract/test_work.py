"""Work on what memories lack: claimed by one, given back, given up; nothing else remembers it."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import pytest

from hindsight_memory.domain import Memory, Status
from hindsight_memory.store.base import Marks, Setback, Space, Stage, Store, Terms
from hindsight_memory.testing import StoppedClock
from samples import ALICE, BOB, a_memory, a_turn, put, words_in

FEW = Terms(batch=3, attempts=2, lease_s=60)
SPACE = Space(name="s", spec="s", dimension=2, template="plain", calibration={})


async def claimed(store: Store, holder: str = "me", bank: str | None = None) -> list[str]:
    """The contents of a batch."""
    return [due.memory.content for due in await store.claim(Stage.INDEX, holder, FEW, bank)]


async def settle(store: Store, memory: Memory, reason: str | None = None) -> None:
    """End the claim: done, failed for a reason, or only given back."""
    async with store.transaction(ALICE) as tx:
        if reason is None:
            await tx.settle(Stage.INDEX, [memory.id], {})
        else:
            await tx.settle(Stage.INDEX, [], {memory.id: Setback(reason=reason, tried=bool(reason))})


async def test_newest_first_and_each_to_one_holder(store: Store) -> None:
    await put(store, *(a_memory(f"m{number}") for number in range(5)))
    assert await claimed(store) == ["m4", "m3", "m2"]
    assert await claimed(store, "you") == ["m1", "m0"]
    assert await claimed(store) == []


async def test_two_stores_never_take_the_same(engine: Any) -> None:
    stores = [await engine.open(), await engine.open()]
    await put(stores[0], *(a_memory(f"m{number}") for number in range(12)))
    taken = await asyncio.gather(*(claimed(stores[number % 2], f"h{number}") for number in range(6)))
    flat = [content for batch in taken for content in batch]
    assert len(flat) == len(set(flat)) == 12


async def test_a_lease_that_ran_out_is_anothers_to_take(store: Store, clock: StoppedClock) -> None:
    await put(store, a_memory("m"))
    (first,) = await store.claim(Stage.INDEX, "me", FEW)
    assert (first.bank, first.attempts) == (ALICE.bank, 1)
    clock.advance(seconds=59)
    assert await claimed(store, "you") == []
    clock.advance(seconds=2)
    (second,) = await store.claim(Stage.INDEX, "you", FEW)
    assert second.attempts == 2


async def test_what_is_done_is_not_due(store: Store) -> None:
    (held,) = await put(store, a_memory("m"))
    assert await store.due(Stage.INDEX, FEW) == 1
    assert await claimed(store) == ["m"]
    await settle(store, held)
    assert await store.due(Stage.INDEX, FEW) == 0
    assert await store.reading(ALICE.bank).lacking([held.id]) == set()
    assert await claimed(store) == []


async def test_what_failed_too_often_is_left_with_its_reason(store: Store, engine: Any) -> None:
    (held,) = await put(store, a_memory("m"))
    for attempt in (1, 2):
        (due,) = await store.claim(Stage.INDEX, "me", FEW)
        assert due.attempts == attempt
        await settle(store, held, "the model chokes on it")
    assert await claimed(store) == []
    assert await store.due(Stage.INDEX, FEW) == 0
    assert engine.rows("SELECT reason FROM leases") == [("the model chokes on it",)]


async def test_what_is_given_back_was_not_tried(store: Store) -> None:
    (held,) = await put(store, a_memory("m"))
    for _ in range(5):
        assert await claimed(store) == ["m"]
        await settle(store, held, "")
    assert await store.due(Stage.INDEX, FEW) == 1


async def test_another_text_is_tried_anew(store: Store) -> None:
    """What was given up, or is being embedded right now, says nothing of the text that took its place."""
    (held,) = await put(store, a_memory("m"))
    for _ in range(2):
        await claimed(store)
        await settle(store, held, "it chokes")
    async with store.transaction(ALICE) as tx:
        await tx.change(held, words_in("better"), content="better")
    assert await store.due(Stage.INDEX, FEW) == 1
    assert await claimed(store) == ["better"]


async def test_another_model_tries_what_one_gave_up(store: Store) -> None:
    (held,) = await put(store, a_memory("m"))
    await store.use_spaces([SPACE])
    for _ in range(2):
        await claimed(store)
        await settle(store, held, "it chokes")
    assert await claimed(store) == []
    await store.use_spaces([Space(name="t", spec="t", dimension=2, template="plain", calibration={})])
    assert await claimed(store) == ["m"]


async def test_one_bank_if_it_is_named(store: Store) -> None:
    await put(store, a_memory("hers"))
    await put(store, a_memory("his", BOB), scope=BOB)
    assert await claimed(store, bank=BOB.bank) == ["his"]
    assert await claimed(store, bank="default/nobody") == []
    assert await claimed(store) == ["hers"]


@pytest.mark.parametrize("gone", [{"context_only": True}, {"status": Status.DELETED}, {"status": Status.QUARANTINED}])
async def test_what_cannot_be_found_needs_no_vector(store: Store, gone: dict[str, Any]) -> None:
    await put(store, a_turn("m", 0, **gone))
    assert await claimed(store) == []
    assert await store.due(Stage.INDEX, FEW) == 0


async def test_what_is_forgotten_is_no_longer_due_and_what_is_restored_is(store: Store) -> None:
    """A forgotten text must not be sent to a model any more."""
    (held,) = await put(store, a_memory("m"))
    async with store.transaction(ALICE) as tx:
        held = await tx.change(held, status=Status.DELETED)
    assert await store.due(Stage.INDEX, FEW) == 0
    assert await claimed(store) == []
    async with store.transaction(ALICE) as tx:
        await tx.change(held, Marks(("m",)), status=Status.ACTIVE)
    assert await claimed(store) == ["m"]


async def test_a_new_space_makes_everything_due_and_the_old_one_stays(store: Store) -> None:
    old, new = SPACE, Space(name="t", spec="t", dimension=3, template="plain", calibration={"mean": 0.1})
    (held, lacking) = await put(store, a_memory("held"), a_memory("lacking"))
    assert await store.use_spaces([old]) == 2
    async with store.transaction(ALICE) as tx:
        await tx.set_vectors(old.name, {m.id: np.eye(2, dtype=np.float32)[:1] for m in (held, lacking)})
        await tx.settle(Stage.INDEX, [held.id, lacking.id], {})
    assert await store.use_spaces([old]) == 0
    assert await store.use_spaces([new]) == 2
    assert await store.spaces() == [old, new]
    assert (await store.reading(ALICE.bank).stats()).vectors == {"s": 2}
    assert await store.use_spaces([new]) == 2


async def test_back_to_a_former_space_only_what_it_lacks_is_due(store: Store) -> None:
    other = Space(name="t", spec="t", dimension=2, template="plain", calibration={})
    (held,) = await put(store, a_memory("held"))
    await store.use_spaces([SPACE])
    async with store.transaction(ALICE) as tx:
        await tx.set_vectors("s", {held.id: np.eye(2, dtype=np.float32)[:1]})
        await tx.settle(Stage.INDEX, [held.id], {})
    await store.use_spaces([other])
    async with store.transaction(ALICE) as tx:
        await tx.set_vectors("t", {held.id: np.eye(2, dtype=np.float32)[:1]})
        await tx.settle(Stage.INDEX, [held.id], {})
    (late,) = await put(store, a_memory("late"))
    async with store.transaction(ALICE) as tx:
        await tx.set_vectors("t", {late.id: np.eye(2, dtype=np.float32)[:1]})
        await tx.settle(Stage.INDEX, [late.id], {})
    assert await store.use_spaces([SPACE]) == 1
    assert await claimed(store) == ["late"]


async def test_a_vector_blanked_by_a_new_text_is_lacking_in_a_former_space_too(store: Store) -> None:
    """An empty vector is no vector: coming back to a space must not leave it unfound there."""
    other = Space(name="t", spec="t", dimension=2, template="plain", calibration={})
    (held,) = await put(store, a_memory("held"))
    vector = {held.id: np.eye(2, dtype=np.float32)[:1]}
    await store.use_spaces([SPACE])
    async with store.transaction(ALICE) as tx:
        await tx.set_vectors("s", vector)
        await tx.settle(Stage.INDEX, [held.id], {})
    await store.use_spaces([other])
    async with store.transaction(ALICE) as tx:
        await tx.change(held, Marks(("new",)), content="new")
        await tx.set_vectors("t", vector)
        await tx.settle(Stage.INDEX, [held.id], {})
    assert await store.use_spaces([SPACE]) == 1


async def test_what_a_holder_that_is_gone_held_is_anothers_to_take(store: Store) -> None:
    await put(store, *(a_memory(f"m{number}") for number in range(6)))
    assert await claimed(store, "gone") == ["m5", "m4", "m3"]
    assert await claimed(store, "there") == ["m2", "m1", "m0"]
    await store.give_back(lambda holder: holder == "gone")
    assert await claimed(store, "me") == ["m5", "m4", "m3"]
    await store.give_back(lambda _: False)
    assert await claimed(store, "you") == []


async def test_what_is_let_in_out_of_quarantine_is_worked_on_then(store: Store) -> None:
    """While it waits nothing is done to it; once it may be found, it lacks what all others have."""
    waits = a_memory("waits for a person", status=Status.QUARANTINED)
    await put(store, waits)
    assert await claimed(store) == []
    assert await store.claim(Stage.READ, "me", FEW) == []
    async with store.transaction(ALICE) as tx:
        await tx.change(waits, words_in(waits.content), status=Status.ACTIVE)
    assert await claimed(store) == [waits.content]
    await settle(store, waits)
    assert [due.memory.id for due in await store.claim(Stage.READ, "me", FEW)] == [waits.id]
