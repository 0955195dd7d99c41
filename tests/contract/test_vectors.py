"""Vectors: each space by itself, each part counted once, none left of a text that is no longer there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from hindsight_memory.domain import Memory
from hindsight_memory.errors import InvalidInput
from hindsight_memory.store.base import Marks, Space, Stage, Store
from samples import ALICE, BOB, a_memory, put, where, words_in

ONE = Space(name="one/plain", spec="one", dimension=3, template="plain", calibration={"mean": 0.5})
TWO = Space(name="two/plain", spec="two", dimension=4, template="said", calibration={})


def unit(*numbers: float) -> NDArray[np.float32]:
    """A vector of length 1."""
    vector = np.array(numbers, np.float32)
    scaled: NDArray[np.float32] = vector / np.linalg.norm(vector)
    return scaled


async def give(store: Store, memory: Memory, *parts: NDArray[np.float32], space: str = ONE.name) -> None:
    """Set a memory's vectors, as the worker does."""
    async with store.transaction(ALICE) as tx:
        await tx.set_vectors(space, {memory.id: np.array(parts)})
        await tx.settle(Stage.INDEX, [memory.id], {})


async def nearest(store: Store, *numbers: float, space: str = ONE.name, limit: int = 10) -> list[tuple[str, float]]:
    """Contents with their cosines."""
    reader = store.reading(ALICE.bank)
    found = await reader.search_vector(space, unit(*numbers), where(), limit)
    held = {memory.id: memory.content for memory in await reader.get([each.id for each in found])}
    return [(held[each.id], round(each.score, 3)) for each in found]


async def test_nearest_first_with_their_cosines(store: Store) -> None:
    await store.use_spaces([ONE])
    x, y, between = await put(store, a_memory("x"), a_memory("y"), a_memory("between"))
    for memory, vector in ((x, unit(1, 0, 0)), (y, unit(0, 1, 0)), (between, unit(1, 1, 0))):
        await give(store, memory, vector)
    assert await nearest(store, 1, 0, 0) == [("x", 1.0), ("between", 0.707), ("y", 0.0)]
    assert await nearest(store, 1, 0, 0, limit=1) == [("x", 1.0)]


async def test_a_long_text_counts_by_its_best_part_and_once(store: Store) -> None:
    await store.use_spaces([ONE])
    long, short = await put(store, a_memory("long"), a_memory("short"))
    await give(store, long, unit(1, 0, 0), unit(0, 1, 0), unit(0, 0, 1))
    await give(store, short, unit(1, 1, 0))
    assert await nearest(store, 0, 1, 0) == [("long", 1.0), ("short", 0.707)]
    assert (await store.reading(ALICE.bank).stats()).vectors == {ONE.name: 2}


async def test_fewer_parts_leave_no_old_ones(engine: Any) -> None:
    store, other = await engine.open(), await engine.open()
    await store.use_spaces([ONE])
    (long,) = await put(store, a_memory("long"))
    await give(store, long, unit(1, 0, 0), unit(0, 1, 0), unit(0, 0, 1))
    assert await nearest(other, 0, 0, 1) == [("long", 1.0)]
    await give(store, long, unit(1, 0, 0))
    for each in (store, other):
        assert await nearest(each, 0, 0, 1) == [("long", 0.0)]


async def test_a_changed_text_is_not_found_by_its_old_vector_in_any_process(engine: Any) -> None:
    store, other = await engine.open(), await engine.open()
    await store.use_spaces([ONE])
    (held,) = await put(store, a_memory("old"))
    await give(store, held, unit(1, 0, 0))
    assert await nearest(other, 1, 0, 0) == [("old", 1.0)]
    async with store.transaction(ALICE) as tx:
        held = await tx.change(held, words_in("new"), content="new")
    for each in (store, other):
        assert await nearest(each, 1, 0, 0) == []
    assert await store.reading(ALICE.bank).lacking([held.id]) == {held.id}
    await give(store, held, unit(0, 1, 0))
    for each in (store, other):
        assert await nearest(each, 0, 1, 0) == [("new", 1.0)]


async def test_what_is_erased_is_gone_from_every_process(engine: Any) -> None:
    store, other = await engine.open(), await engine.open()
    await store.use_spaces([ONE])
    gone, stays = await put(store, a_memory("gone"), a_memory("stays"))
    await give(store, gone, unit(1, 0, 0))
    await give(store, stays, unit(0, 1, 0))
    assert len(await nearest(other, 1, 0, 0)) == 2
    async with store.transaction(ALICE) as tx:
        await tx.erase([gone.id])
    for each in (store, other):
        assert await nearest(each, 1, 0, 0) == [("stays", 0.0)]


async def test_two_spaces_are_never_mixed(store: Store) -> None:
    await store.use_spaces([ONE, TWO])
    first, second = await put(store, a_memory("first"), a_memory("second"))
    await give(store, first, unit(1, 0, 0))
    await give(store, second, unit(1, 0, 0, 0), space=TWO.name)
    assert await nearest(store, 1, 0, 0) == [("first", 1.0)]
    assert await nearest(store, 1, 0, 0, 0, space=TWO.name) == [("second", 1.0)]
    assert await nearest(store, 1, 0, 0, space="unknown") == []
    assert await store.spaces() == [ONE, TWO]


async def test_vectors_of_a_wrong_size_are_refused_on_both_ways(store: Store) -> None:
    await store.use_spaces([ONE])
    (held,) = await put(store, a_memory("held"))
    with pytest.raises(InvalidInput):
        await give(store, held, unit(1, 0, 0, 0))
    with pytest.raises(InvalidInput):
        await give(store, held, unit(1, 0, 0), space="unknown")
    await give(store, held, unit(1, 0, 0))
    with pytest.raises(InvalidInput):
        await nearest(store, 1, 0, 0, 0)
    assert await nearest(store, 1, 0, 0) == [("held", 1.0)]


async def test_vectors_of_what_is_gone_are_passed_over(store: Store) -> None:
    await store.use_spaces([ONE])
    held = a_memory("never stored")
    await give(store, held, unit(1, 0, 0))
    assert await nearest(store, 1, 0, 0) == []


async def test_a_bank_sees_its_own_vectors_only(store: Store) -> None:
    await store.use_spaces([ONE])
    (hers,) = await put(store, a_memory("hers"))
    await give(store, hers, unit(1, 0, 0))
    await put(store, a_memory("his", BOB), scope=BOB)
    assert await store.reading(BOB.bank).search_vector(ONE.name, unit(1, 0, 0), where(), 10) == []


VECTOR = st.tuples(*[st.integers(-3, 3)] * 3).filter(any)


@given(steps=st.lists(st.tuples(st.integers(0, 4), st.lists(VECTOR, max_size=3)), max_size=20), asked=VECTOR)
async def test_the_cached_matrix_answers_as_a_scan_would(
    store: Store, steps: list[tuple[int, list[Any]]], asked: Any
) -> None:
    """Vectors set, replaced and taken back, in whatever order: the nearest are those of the last state."""
    await store.use_spaces([ONE])
    memories = await put(store, *(a_memory(f"m{number}") for number in range(5)))
    held: dict[str, list[NDArray[np.float32]]] = {}
    try:
        for place, parts in steps:
            memory = memories[place]
            if parts:
                held[memory.content] = [unit(*part) for part in parts]
                await give(store, memory, *held[memory.content])
            else:
                held.pop(memory.content, None)
                async with store.transaction(ALICE) as tx:
                    memories[place] = await tx.change(memory, Marks(("word",)), content=memory.content)
        best = {name: max(float(part @ unit(*asked)) for part in parts) for name, parts in held.items()}
        found = await nearest(store, *asked)
        assert dict(found) == pytest.approx(best, abs=2e-3)
        assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)
    finally:
        async with store.transaction(ALICE) as tx:
            await tx.erase([memory.id for memory in memories])
