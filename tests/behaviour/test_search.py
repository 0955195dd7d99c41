"""search and explain: found by words with no model, safe for any text, and every number accounted for."""

from __future__ import annotations

import asyncio
import math
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_memory import AsyncHindsightMemory, Hit, InvalidInput, Listing, NotFound
from hindsight_memory.domain import Draft, Scope, Source
from hindsight_memory.service import Service
from hindsight_memory.settings import RecallSettings, Settings, StoreSettings, WriteSettings
from hindsight_memory.testing import Fault, HashEmbedder, StoppedClock, open_service
from samples import brought_by


@pytest.fixture
async def words_only(tmp_path: Path, clock: StoppedClock) -> AsyncIterator[AsyncHindsightMemory]:
    memory = AsyncHindsightMemory(user_id="alice", clock=clock)
    memory._service = await open_service(tmp_path / "words.db", clock=clock, embedder=[])
    yield memory
    await memory.close()


NOISE = [
    "We talked about the weather in the mountains",
    "The meeting moved to another room",
    "今天天气不错，适合散步",
    "他昨天去了上海出差",
    "Port 8442 is free and so is 8444",
    "/data/project_y is empty",
]


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("北京", "我下个月要搬到北京工作"),
        ("咖啡", "她每天早上都喝一杯咖啡"),
        ("咖啡", "记住我喜欢喝美式咖啡"),
        ("推荐个咖啡馆", "记住我喜欢喝美式咖啡"),
        ("8443", "The staging server listens on port 8443."),
        ("which port is 8443?", "The staging server listens on port 8443."),
        ("req_id-42", "The failing request was req_id-42 at noon"),
        ("/data/project_x", "Backups go to /data/project_x every night"),
        ("project_x", "Backups go to /data/project_x every night"),
        ("v1.2.3", "We pinned the library at v1.2.3"),
        ("ana@build-7", "Write to ana@build-7 about it"),
        ("running shoes", "She ran in her new shoe"),
        ("C++", "The core is written in C++"),
        ("ＡＢＣ１２３", "Ticket abc123 is open"),
    ],
)
async def test_words_alone_find_it(words_only: AsyncHindsightMemory, query: str, text: str) -> None:
    await words_only.write_many([*NOISE, text])
    hits = await words_only.search(query)
    assert hits[0].memory.content == text
    assert any("no embedding model" in note for note in hits[0].why.inactive)


async def test_meaning_finds_what_words_do_not(memory: AsyncHindsightMemory) -> None:
    receipt = await memory.write("alpha beta", wait="indexed")
    hit = (await memory.search("beta gamma"))[0]
    assert hit.memory.id == receipt.id
    assert brought_by(hit) == {"words", "vector:testing/plain"}


async def test_time_finds_what_happened_then(memory: AsyncHindsightMemory, clock: StoppedClock) -> None:
    for days in (1, 8, 40):
        await memory.write(f"walked {days} days ago", occurred_at=clock() - timedelta(days=days), wait="indexed")
    hits = await memory.search("what happened yesterday?")
    assert hits[0].memory.content == "walked 1 days ago"
    assert "time" in brought_by(hits[0])
    assert not any("time" in brought_by(hit) for hit in hits[1:])
    given = [share.amount for hit in hits for share in hit.why.shares if share.signal == "time"]
    assert len(given) == 3
    assert given[0] > max(given[1:]) + 0.1


HOSTILE = [
    "-", "'", '"', ":", "*", "(", ")", "AND", "NOT", "NEAR(a b)", "a OR", "\"' OR 1=1 --", "%", "_", "\\", "?", ";",
    "\0", "a\0b", "🙂", "\u200f", "{}", "[[", "^", "~", "a:b:c", "col:x", "x" * 100_000, "word " * 20_000,
    "中" * 50_000, "((((" * 1_000, "昨天" * 5_000, "yesterday " * 5_000, "100,000 years ago", "过去一万年",
    "9999-12-31", "0001-01-01",
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
async def test_hostile_queries_are_answered(memory: AsyncHindsightMemory, text: str) -> None:
    await memory.write_many(NOISE, wait="indexed")
    assert len(await memory.search(text)) <= 10
    assert (await memory.context(text, budget_tokens=200)).tokens <= 200


@given(text=st.text(max_size=300))
async def test_any_query_is_answered_or_refused_by_name(memory: AsyncHindsightMemory, text: str) -> None:
    await memory.write("one memory to find")
    try:
        await memory.search(text)
    except InvalidInput as error:
        assert error.field == "text"  # noqa: PT017


async def test_filters_narrow_a_search(memory: AsyncHindsightMemory, clock: StoppedClock) -> None:
    wanted = {"kind": "procedural", "tags": ["100%_a*", "b"], "key": "how.to", "session_id": "s", "agent_id": "a"}
    await memory.write("common one", metadata={"n": 1}, occurred_at=clock() - timedelta(days=2), **wanted)  # type: ignore[arg-type]
    await memory.write("common two", tags=["100xya"], metadata={"n": "1"})
    filters: list[dict[str, Any]] = [
        {"kinds": ["procedural"]}, {"tags": ["100%_a*"]}, {"tags": ["100%_a*", "b"]}, {"key": "how.to"},
        {"session": "s"}, {"agent": "a"}, {"metadata": {"n": 1}}, {"until": clock() - timedelta(days=1)},
        {"since": "2026-05-02T00:00:00Z", "until": "2026-05-03T00:00:00Z"}, {"as_of": clock() - timedelta(hours=1)},
    ]  # fmt: skip
    for narrow in filters:
        assert [hit.memory.content for hit in await memory.search("common", **narrow)] == ["common one"], narrow
    assert await memory.search("common", kinds=["working"]) == []
    assert len(await memory.search("common")) == 2


async def test_rows_that_a_filter_refuses_do_not_use_the_limit_up(memory: AsyncHindsightMemory) -> None:
    await memory.write_many([f"common words {number}" for number in range(300)])
    for number in range(12):
        await memory.write(f"common words and a few others that make it longer {number}", tags=["rare"])
    assert len(await memory.search("common words", tags=["rare"], limit=10)) == 10


async def test_the_limit_is_kept(memory: AsyncHindsightMemory) -> None:
    await memory.write_many([f"common {number}" for number in range(250)])
    for limit in (1, 7, 200):
        assert len(await memory.search("common", limit=limit)) == limit


WRONG: list[tuple[str, dict[str, Any]]] = [
    ("text", {"text": ""}), ("text", {"text": " "}), ("text", {"text": "x" * 100_001}), ("text", {"text": "\ud800"}),
    ("text", {"text": None}), ("limit", {"limit": 0}), ("limit", {"limit": 201}), ("limit", {"limit": "5"}),
    ("limit", {"limit": 1.5}), ("limit", {"limit": 10**400}), ("kinds", {"kinds": ["opinion"]}),
    ("kinds", {"kinds": "semantic"}), ("tags", {"tags": "t"}), ("key", {"key": ""}),
    ("since", {"since": "2026-05-04T09:00:00"}), ("as_of", {"as_of": "then"}), ("metadata", {"metadata": [1]}),
    ("spaces", {"spaces": ["unknown"]}), ("user_id", {"user_id": " "}),
]  # fmt: skip


@pytest.mark.parametrize(("field", "given"), WRONG, ids=[f"{field} {str(each)[:30]!a}" for field, each in WRONG])
async def test_a_wrong_field_is_named(memory: AsyncHindsightMemory, field: str, given: dict[str, Any]) -> None:
    await memory.write("something")
    with pytest.raises(InvalidInput) as refused:
        await memory.search(**{"text": "x"} | given)
    assert refused.value.field == field


def accounted(hit: Hit) -> None:
    """The score is the sum of the shares times the product of the factors, as explained."""
    assert hit.score == pytest.approx(
        math.fsum(share.amount for share in hit.why.shares) * math.prod(factor.value for factor in hit.why.factors)
    )
    assert "question" in {share.signal for share in hit.why.shares}
    assert [factor.name for factor in hit.why.factors] == ["recency", "importance", "trust", "use", "feedback"]
    assert all(factor.because for factor in hit.why.factors)
    assert 0 <= hit.confidence <= 1
    assert hit.why.sentence.startswith("Found ")
    told = brought_by(hit) | {note.partition(": ")[0] for note in hit.why.inactive}
    assert {signal.partition(":")[0] for signal in told} >= {"words", "vector", "time", "graph"}


WORDS = st.lists(
    st.sampled_from(["coffee", "lisbon", "port", "8443", "yesterday", "may", "咖啡", "北京", "the"]), min_size=1
)


@given(query=WORDS.map(" ".join))
async def test_every_score_is_explained(memory: AsyncHindsightMemory, clock: StoppedClock, query: str) -> None:
    texts = ("coffee in lisbon", "tea port 8443", "北京的咖啡", "may the tea", "lisbon in may", "the port")
    drafts = [
        Draft(content=text, source=source, importance=number / 5, pinned=number == 2)
        for number, (text, source) in enumerate(zip(texts, Source, strict=True))
    ]
    await memory.write_many(drafts, wait="indexed")  # a vector that comes meanwhile would change the numbers
    hits = await memory.search(query)
    for hit in hits:
        accounted(hit)
        again = await memory.explain(query, hit.memory.id)
        # What being found adds, some seconds behind, may come between the two.
        assert (again.confidence, again.why.shares) == (hit.confidence, hit.why.shares)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    clock.advance(days=1)


async def test_being_found_is_counted_behind_the_read(memory: AsyncHindsightMemory, service: Service) -> None:
    receipt = await memory.write("found often")
    for _ in range(3):
        await memory.search("found")
    assert (await memory.get(receipt.id)).access_count == 0
    await service._flush()
    held = await memory.get(receipt.id)
    assert held.access_count >= 1
    assert held.version == 1
    assert held.last_accessed_at is not None


async def test_counting_goes_on_after_the_file_was_held_by_another_process(tmp_path: Path, clock: StoppedClock) -> None:
    settings = Settings(database="", store=StoreSettings(busy_timeout_ms=20), write=WriteSettings(poll_s=0.02))
    memory = AsyncHindsightMemory(clock=clock)
    memory._service = await open_service(tmp_path / "m.db", clock=clock, embedder=[], settings=settings)
    receipt = await memory.write("found often")
    with closing(sqlite3.connect(tmp_path / "m.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        await memory.search("found")
        await asyncio.sleep(0.2)
        other.execute("ROLLBACK")
    await memory.search("found")
    await asyncio.sleep(0.2)
    assert (await memory.get(receipt.id)).access_count >= 1
    await memory.close()


async def test_a_search_makes_nothing(memory: AsyncHindsightMemory, service: Service) -> None:
    assert await memory.search("anything", user_id="nobody") == []
    assert (await memory.context("anything", user_id="nobody")).text == ""
    store: Any = service._parts.store
    assert (
        await store._engine.read(lambda connection: connection.execute("SELECT count(*) FROM banks").fetchone()[0]) == 0
    )


async def test_explain_tells_of_a_memory_that_was_not_found(memory: AsyncHindsightMemory) -> None:
    receipt = await memory.write("nothing in common")
    hit = await memory.explain("xylophone", receipt.id, kinds=["procedural"])
    assert (hit.score, hit.confidence, hit.memory.id) == (0.0, 0.0, receipt.id)
    assert hit.why.sentence
    with pytest.raises(NotFound):
        await memory.explain("xylophone", "unknown")


@pytest.mark.parametrize("fault", ["failed", "count", "nan", "zero", "hang"])
async def test_words_answer_when_the_model_fails(tmp_path: Path, clock: StoppedClock, fault: Fault) -> None:
    embedder = HashEmbedder()
    settings = Settings(database="", recall=replace(RecallSettings(), model_wait_s=0.05))
    service = await open_service(tmp_path / "m.db", clock=clock, embedder=embedder, settings=settings, start=False)
    memory = AsyncHindsightMemory(clock=clock)
    memory._service = service
    await memory.write("The staging server listens on port 8443", wait="indexed")
    embedder.broken = fault
    (hit,) = await memory.search("staging port")
    assert brought_by(hit) == {"words"}
    assert any(note.startswith("vector:testing/plain: ") for note in hit.why.inactive)
    embedder.broken = None
    (hit,) = await memory.search("staging port")
    assert brought_by(hit) == {"words", "vector:testing/plain"}
    await memory.close()


async def test_a_query_is_embedded_once(memory: AsyncHindsightMemory, embedder: HashEmbedder) -> None:
    await memory.write("a text", wait="indexed")
    before = len(embedder.asked)
    for _ in range(3):
        await memory.search("the same question")
    assert len(embedder.asked) == before + 1
    await memory.search("x" * 100_000)
    assert len(embedder.asked[-1]) <= 1_000


async def test_two_spaces_answer_side_by_side(tmp_path: Path, clock: StoppedClock) -> None:
    fast, precise = HashEmbedder("fast"), HashEmbedder("precise", dimension=32)
    memory = AsyncHindsightMemory(clock=clock)
    memory._service = await open_service(tmp_path / "m.db", clock=clock, embedder=[fast, precise])
    await memory.write("alpha beta", wait="indexed")
    for spaces, signals in (
        ([], {"vector:fast/plain"}),
        (["precise"], {"vector:precise/plain"}),
        (["fast", "precise/plain"], {"vector:fast/plain", "vector:precise/plain"}),
    ):
        (hit,) = await memory.search("alpha", spaces=spaces)
        assert brought_by(hit) == signals | {"words"}
        assert not any(note.startswith("vector:") for note in hit.why.inactive)
        assert hit.score > 0
    await memory.close()


async def test_no_user_sees_another(memory: AsyncHindsightMemory, service: Service) -> None:
    receipt = await memory.write("the secret of alice", wait="indexed", metadata={"user_id": "bob"})
    for user in ("bob", "alice ", "Alice", "alice/", None):
        assert await memory.search("secret alice", user_id=user) == []
        assert (await memory.context("secret alice", user_id=user)).text == ""
        assert not (await memory.list(user_id=user)).memories
        with pytest.raises(NotFound):
            await memory.get(receipt.id, user_id=user)
    assert not (await service.list(Listing(), Scope(namespace="other", user_id="alice"))).memories
