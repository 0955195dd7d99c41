"""The index of words: neighbours lend theirs, nothing stays behind, and no other bank moves a ranking."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contract.conftest import Engine
from hindsight_memory.domain import Memory, Status
from hindsight_memory.store.base import Marks, Scored, Store
from hindsight_memory.text.tokens import index_words
from samples import ALICE, BOB, NOON, a_memory, a_turn, put, where, words_in


async def found(store: Store, *words: str) -> list[str]:
    """Contents found by words, best first."""
    reader = store.reading(ALICE.bank)
    scored = await reader.search_words(words, where(), 50)
    return [memory.content for memory in await reader.get([each.id for each in scored])]


async def test_more_and_rarer_words_rank_higher(store: Store) -> None:
    await put(store, *(a_memory(text) for text in ("cat dog", "cat dog bird", "dog", "dog fish", "cat cat")))
    assert (await found(store, "bird", "cat"))[0] == "cat dog bird"
    assert (await found(store, "cat"))[0] == "cat cat"
    assert await found(store, "absent") == []
    assert await found(store) == []


async def test_scores_are_a_share_of_the_whole_query(store: Store) -> None:
    await put(store, a_memory("one two three"), a_memory("one"), a_memory("other"))
    scored = await store.reading(ALICE.bank).search_words(["one", "two", "three"], where(), 5)
    assert [0 < each.score <= 1 for each in scored] == [True, True]


async def test_a_turn_is_found_by_its_neighbours_words_and_its_own_weigh_more(store: Store) -> None:
    turns = ["where to", "lisbon", "in june", "sounds nice"]
    await put(store, *(a_turn(text, place) for place, text in enumerate(turns)))
    assert await found(store, "lisbon") == ["lisbon", "in june", "where to"] or await found(store, "lisbon") == [
        "lisbon",
        "where to",
        "in june",
    ]
    assert "sounds nice" not in await found(store, "lisbon")


async def test_neighbours_are_of_one_session_and_one_bank(store: Store) -> None:
    await put(store, a_turn("lisbon", 0), a_turn("elsewhere", 1, session="t"), a_memory("loose", session_id="s"))
    await put(store, a_turn("foreign", 1, BOB), scope=BOB)
    assert await found(store, "lisbon") == ["lisbon"]


@pytest.mark.parametrize("way", ["forget", "erase"])
async def test_a_turn_that_goes_takes_its_words_from_its_neighbours(store: Store, way: str) -> None:
    _, middle, _ = await put(store, a_turn("left", 0), a_turn("lisbon", 1), a_turn("right", 2))
    async with store.transaction(ALICE) as tx:
        if way == "erase":
            await tx.erase([middle.id])
        else:
            await tx.change(middle, status=Status.DELETED)
    assert await found(store, "lisbon") == []
    assert await found(store, "left") == ["left"]


async def test_a_hub_of_postings_does_not_hide_the_rare_word(store: Store) -> None:
    await put(store, *(a_memory(f"the {number}") for number in range(50)), a_memory("the port 8443"))
    assert (await found(store, *(["the", "8443"] + [f"w{number}" for number in range(200)])))[0] == "the port 8443"


async def test_no_other_bank_moves_a_ranking(store: Store) -> None:
    await put(store, a_memory("cat dog"), a_memory("cat"), a_memory("dog bird bird"))
    reader = store.reading(ALICE.bank)
    before = await reader.search_words(["cat", "bird"], where(), 10)
    noise = [a_memory("cat " * 9 + "bird", BOB) for _ in range(40)]
    await put(store, *noise, scope=BOB)
    assert await reader.search_words(["cat", "bird"], where(), 10) == before


async def test_equal_scores_stand_in_one_order(store: Store) -> None:
    await put(store, *(a_memory("same words") for _ in range(30)))
    runs: list[list[Scored]] = [await store.reading(ALICE.bank).search_words(["same"], where(), 10) for _ in range(2)]
    assert runs[0] == runs[1]


@pytest.mark.parametrize("word", ["a'b", 'a"b', "a:b", "*", "(", "AND", "NEAR", "-", "--", ";", "%", "_", "\\", "🙂"])
async def test_any_word_is_only_a_word(store: Store, word: str) -> None:
    async with store.transaction(ALICE) as tx:
        await tx.add(a_memory("has it"), Marks((word,)))
        await tx.add(a_memory("has not"), Marks(("x",)))
    assert await found(store, word) == ["has it"]


@given(text=st.text(max_size=200))
def test_words_survive_being_kept(text: str) -> None:
    """The store keeps a memory's words as one text with spaces between."""
    words = index_words(text)
    assert " ".join(words).split() == words


def rebuilt(engine: Engine) -> tuple[Any, Any, Any]:
    """What the index must be, worked out anew from the memories that stand."""
    held = engine.rows(
        "SELECT m.row, m.session_id, m.turn, m.content FROM memories m"
        " WHERE m.context_only = 0 AND m.status IN ('active', 'superseded')"
    )
    own = {row: Counter(words_in(content).words) for row, _, _, content in held}
    place = {row: (session, turn) for row, session, turn, _ in held if turn is not None}
    near: dict[int, Counter[str]] = {row: Counter() for row in own}
    for row, (session, turn) in place.items():
        for other, (beside, number) in place.items():
            if beside == session and abs(number - turn) == 1:
                near[row] += own[other]
    postings = {
        (word, row, own[row][word], near[row][word]) for row in own for word in own[row].keys() | near[row].keys()
    }
    lengths = {(row, own[row].total(), near[row].total()) for row in own}
    sums = (len(own), sum(each.total() for each in own.values()), sum(each.total() for each in near.values()))
    return postings, lengths, sums


def kept(engine: Engine) -> tuple[Any, Any, Any]:
    """What the index is."""
    postings = set(engine.rows("SELECT word, row, own, near FROM postings"))
    lengths = set(engine.rows("SELECT row, own, near FROM lengths"))
    (sums,) = engine.rows("SELECT documents, length, near_length FROM banks")
    return postings, lengths, sums


STEP = st.tuples(st.sampled_from(["forget", "restore", "reword", "retire", "erase", "aside"]), st.integers(0, 5))
TEXT = st.lists(st.sampled_from("abcd"), min_size=1, max_size=4).map(" ".join)


@given(texts=st.lists(TEXT, min_size=2, max_size=6), steps=st.lists(st.tuples(STEP, TEXT), max_size=12))
async def test_the_index_is_what_a_rebuild_would_make_it(
    engines: Callable[[], Engine], texts: list[str], steps: list[Any]
) -> None:
    """Whatever is added, forgotten, restored, changed and erased, in whatever order."""
    engine = engines()
    store = await engine.open()
    memories: dict[int, Memory] = {}
    async with store.transaction(ALICE) as tx:
        for place, text in enumerate(texts):
            memories[place] = a_turn(text, place, context_only=place == 4)
            await tx.add(memories[place], words_in(text))
        for (verb, place), text in steps:
            held = memories.get(place)
            if held is not None:
                await _act(tx, verb, held, text, memories, place)
    assert kept(engine) == rebuilt(engine)
    await engine.close()


async def _act(tx: Any, verb: str, held: Memory, text: str, memories: dict[int, Memory], place: int) -> None:
    match verb:
        case "forget":
            memories[place] = await tx.change(held, status=Status.DELETED, deleted_at=NOON)
        case "restore":
            memories[place] = await tx.change(held, words_in(held.content), status=Status.ACTIVE, deleted_at=None)
        case "reword":
            memories[place] = await tx.change(held, words_in(text), content=text)
        case "retire" if held.status is Status.ACTIVE:
            memories[place] = await tx.change(held, status=Status.SUPERSEDED)
        case "aside":
            memories[place] = await tx.change(held, context_only=True)
        case "erase":
            await tx.erase([held.id])
            del memories[place]
