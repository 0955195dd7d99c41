"""search at a moment of a task: knowledge first at its start, the same error and what solved it when stuck."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from hindsight_memory import AsyncHindsightMemory, Hit, InvalidInput
from hindsight_memory.testing import StoppedClock, open_service
from samples import day


@pytest.fixture
async def memory(database: Path, clock: StoppedClock) -> AsyncIterator[AsyncHindsightMemory]:
    """Found by words, so that what leads is said by what is written here."""
    opened = AsyncHindsightMemory(user_id="alice", clock=clock)
    opened._service = await open_service(database, clock=clock, embedder=[])
    yield opened
    await opened.close()


async def an_episode(memory: AsyncHindsightMemory, content: str, **fields: Any) -> str:
    return (await memory.write(content, kind="episodic", **fields)).id


def moment_of(hit: Hit) -> tuple[float, str]:
    (factor,) = (each for each in hit.why.factors if each.name == "moment")
    return round(factor.value, 4), factor.because


def adds_up(hit: Hit) -> bool:
    given = math.fsum(share.amount for share in hit.why.shares)
    return hit.score == pytest.approx(given * math.prod(factor.value for factor in hit.why.factors))


ALIKE = {
    "en": ("The deploy of the web shop runs on port 8443", "deploy of the web shop"),
    "zh": ("网店的部署使用端口 8443", "网店的部署"),
}


@pytest.mark.parametrize("language", ALIKE)
@pytest.mark.parametrize("moment", ["task_start", "task_end"])
async def test_knowledge_comes_first_at_the_start_and_the_end(
    memory: AsyncHindsightMemory, language: str, moment: str
) -> None:
    text, question = ALIKE[language]
    for kind in ("episodic", "procedural", "semantic"):
        await memory.write(f"{text} {kind}", kind=kind, importance=1.0 if kind == "episodic" else 0.5)
    plain = await memory.search(question)
    assert plain[0].memory.kind == "episodic"
    assert all(factor.name != "moment" for hit in plain for factor in hit.why.factors)
    hits = await memory.search(question, moment=moment)
    assert {hit.memory.kind for hit in hits[:2]} == {"semantic", "procedural"}
    assert len(hits) == 3, "a preference and no filter"
    assert moment_of(hits[0]) == (1.15, f"{moment}: what is so, and how to do it, comes first")
    assert moment_of(hits[2]) == (1.0, f"{moment}: episodic memory")
    assert all(map(adds_up, hits))
    assert "moment 1.15" in hits[0].why.sentence
    assert hits[0] == await memory.explain(question, hits[0].memory.id, moment=moment)


ERRORS = {
    "en": (
        "Deploy failed: ConnectionRefusedError: connection to 10.0.0.7:5432 refused after 31 s",
        "Deploy:\nTraceback (most recent call):\nConnectionRefusedError: connection to 10.0.0.9:5432 refused, 12 s",
        "It went through from the office",
        "Turn the VPN on before any work on the database",
        "The deploy of the shop failed: disk is full",
    ),
    "zh": (
        "部署失败：数据库连接被拒绝，端口 5432，用时 31 秒",
        "再跑也不行。\n部署失败：数据库连接被拒绝，端口 5433，用时 12 秒",
        "连上内网之后就好了",
        "动数据库之前先打开 VPN",
        "部署失败：磁盘已满",
    ),
}  # fmt: skip


@pytest.mark.parametrize("language", ERRORS)
async def test_when_stuck_the_same_error_and_its_resolution_come_first(
    memory: AsyncHindsightMemory, language: str
) -> None:
    failed, question, solved, lesson, other = ERRORS[language]
    solution = await an_episode(memory, solved, task="job one", outcome="success", occurred_at=day(1))
    same = await an_episode(memory, failed, task="job one", outcome="failure", occurred_at=day(0))
    another = await an_episode(memory, other, task="job two", outcome="failure", occurred_at=day(0))
    await an_episode(memory, "All is well", task="job two", outcome="success", occurred_at=day(-1))
    await memory.write(lesson, kind="procedural")
    plain = [hit.memory.id for hit in await memory.search(question, limit=5)]
    assert solution not in plain, "it shares no word with the error"
    hits = await memory.search(question, moment="stuck", limit=5)
    found = {hit.memory.id: hit for hit in hits}
    assert all(map(adds_up, hits))
    assert "resolution" in {share.signal for share in found[solution].why.shares}
    assert "as what solved its task" in found[solution].why.sentence
    assert moment_of(found[solution]) == (1.15, "stuck: its task had failed with this error, and then succeeded")
    assert moment_of(found[same])[0] > 1.07
    assert moment_of(found[another])[0] < moment_of(found[same])[0]
    assert hits[0].memory.id == same
    assert "All is well" not in [hit.memory.content for hit in hits], "a success before the failure solves nothing"


async def test_a_lesson_about_the_error_is_preferred_to_talk_about_it(memory: AsyncHindsightMemory) -> None:
    error = "PermissionError: cannot write to the log folder"
    await memory.write(f"Someone mentioned {error} at lunch", importance=0.8)
    lesson = (await memory.write(f"On {error}: run chown first", kind="procedural")).id
    hits = await memory.search(error, moment="stuck")
    assert hits[0].memory.id == lesson
    assert moment_of(hits[0]) == (1.15, "stuck: a lesson, with 100% of the error's words")
    assert moment_of(hits[1]) == (1.0, "stuck: it is neither about this error nor a lesson")


async def test_what_others_keep_to_themselves_solves_nothing(memory: AsyncHindsightMemory) -> None:
    error = "TimeoutError: the build timed out"
    await an_episode(memory, error, task="build", outcome="failure")
    secret = {"visibility": "private", "agent_id": "other"}
    hidden = await an_episode(memory, "A larger machine", task="build", outcome="success", **secret)
    assert hidden not in [hit.memory.id for hit in await memory.search(error, moment="stuck")]
    seen = await memory.search(error, moment="stuck", agent_id="other")
    assert hidden in [hit.memory.id for hit in seen]


async def test_the_moment_reaches_the_context(memory: AsyncHindsightMemory) -> None:
    error = "TimeoutError: the build timed out"
    await an_episode(memory, error, task="job one", outcome="failure")
    await an_episode(memory, "A larger machine did it", task="job one", outcome="success")
    assert "larger machine" in (await memory.context(error, moment="stuck")).text
    assert "larger machine" not in (await memory.context(error)).text


@pytest.mark.parametrize(
    "text", ["?", "error", "🙂" * 300, "\n" * 9 + "x", "a\0b failed", "%_*'\" failed", "失败" * 900]
)
@pytest.mark.parametrize("moment", ["task_start", "stuck", "task_end"])
async def test_any_text_can_be_asked_at_any_moment(memory: AsyncHindsightMemory, text: str, moment: str) -> None:
    await an_episode(memory, "It failed with an error", task="x" * 2_000, outcome="failure")
    await an_episode(memory, "It works", task="x" * 2_000, outcome="success")
    assert all(map(adds_up, await memory.search(text, moment=moment)))


async def test_an_unknown_moment_is_named(memory: AsyncHindsightMemory) -> None:
    with pytest.raises(InvalidInput) as refused:
        await memory.search("x", moment="later")
    assert refused.value.field == "moment"
