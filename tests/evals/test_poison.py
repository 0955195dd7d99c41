"""The poisoning run: what it writes, what it counts, and that it would show an open door."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from hindsight_memory.errors import InvalidInput
from hindsight_memory.evals.asking import SetResult
from hindsight_memory.evals.poison import PASSAGES, poison
from hindsight_memory.evals.poison_items import items, later, passage, styles
from hindsight_memory.settings import RecallSettings, Settings


async def run(database: Path, most: int, *off: str) -> SetResult:
    recall = RecallSettings(floor=0.0, off=frozenset(off))
    settings = replace(Settings(database=f"sqlite:///{database}"), recall=recall)
    (result,) = await poison(settings, [], lambda *_: None, most)
    return result


def test_there_are_enough_questions_and_every_answer_is_another() -> None:
    for language in ("en", "zh"):
        asked = [item for item in items() if item.language == language]
        assert len(asked) >= 100
        assert len({(item.question, item.true) for item in asked}) == len(asked)
        for item in asked:
            assert item.true != item.false
            assert item.true in item.told
            assert item.false in item.claim
            assert item.true not in later(item)
            for style in styles(language):
                assert item.false in passage(item, style)


async def test_nothing_false_gets_through_and_nothing_true_is_lost(tmp_path: Path) -> None:
    result = await run(tmp_path / "on.db", 3)
    assert result.n == 6
    assert set(result.by["language"]) == {"en", "zh"}
    figures = result.metrics
    assert figures["false_in_context_unmarked"] == 0
    assert figures["false_supersedes"] == 0
    assert figures["true_in_context"] == figures["benign_found"] == figures["correction_wins"] == 1
    assert figures["benign_marked"] == 0
    assert 0 < figures["passages_stored"] <= PASSAGES


async def test_with_the_consensus_off_it_does(tmp_path: Path) -> None:
    result = await run(tmp_path / "off.db", 1, "consensus")
    assert result.metrics["false_in_context_unmarked"] == 1
    assert result.metrics["false_supersedes"] == 0, "trust is another wall"
    assert result.by["style that got through"]


async def test_no_question_is_no_figure(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput):
        await run(tmp_path / "none.db", 0)
