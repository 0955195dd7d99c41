"""Fitting: from labelled questions to weights that the program reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from hindsight_memory import InvalidInput
from hindsight_memory.evals.datasets import read_all
from hindsight_memory.evals.fit import fit
from hindsight_memory.evals.recall import nothing
from hindsight_memory.recall.rank import STANDING
from hindsight_memory.recall.signals import MEASURES
from hindsight_memory.recall.trees import parse
from hindsight_memory.settings import Settings
from hindsight_memory.testing import HashEmbedder

pytest.importorskip("lightgbm", reason="the extra «fit» is not installed")


@pytest.mark.slow
async def test_weights_are_what_the_program_reads_and_the_same_each_time(lines: Path, tmp_path: Path) -> None:
    kept: list[dict[str, str]] = []
    for _ in range(2):
        texts: dict[str, str] = {}
        settings = Settings(database=str(tmp_path / "fit.db"))
        results = await fit(read_all([lines]), settings, [HashEmbedder()], texts.__setitem__, nothing)
        kept.append(texts)
        assert {result.name for result in results} == {"small", "small words only"}
        assert all(0 <= result.metrics["recall@20"] <= 100 for result in results)
    assert kept[0] == kept[1]
    assert parse(kept[0]["rank"]).measures == tuple(MEASURES)
    assert parse(kept[0]["confidence"]).measures == STANDING


@pytest.mark.slow
async def test_without_answers_there_is_nothing_to_learn(tmp_path: Path) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.write_text('{"id": "a", "content": "tea"}\n{"query": "what?", "evidence": []}\n', encoding="utf-8")
    settings = Settings(database=str(tmp_path / "fit.db"))
    with pytest.raises(InvalidInput) as refused:
        await fit(read_all([empty]), settings, [HashEmbedder()], lambda _name, _text: None, nothing)
    assert refused.value.field == "data"
