"""``eval conflicts`` and ``eval duplicates`` on pairs of our own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hindsight_memory.errors import InvalidInput
from hindsight_memory.evals.pairs import conflicts, duplicates, outcomes, read_conflicts, read_duplicates
from hindsight_memory.settings import Settings
from hindsight_memory.testing import HashEmbedder

CONFLICTS = [
    {"a": "I love cats", "b": "I hate cats", "relation": "contradiction", "lang": "en", "source": "one"},
    {"a": "I love cats", "b": "I keep a ladder", "relation": "neutral", "lang": "en", "source": "one"},
    {"a": "我住在浦东", "b": "我住在徐汇区", "relation": "update", "lang": "zh", "source": "two",
     "old_time": "2024-01-20", "new_time": "2024-05-28T10:00:00"},
    {"a": "I love cats", "b": "Cats are fine animals", "relation": "update", "lang": "en", "source": "two"},
]  # fmt: skip
DUPLICATES = [
    {"a": "I love cats", "b": "I really love cats!", "duplicate": True, "lang": "en", "source": "one"},
    {"a": "I love cats", "b": "I love cats", "duplicate": True, "lang": "en", "source": "one"},
    {"a": "I love cats", "b": "I hate cats", "duplicate": False, "lang": "en", "source": "one"},
    {"a": "I love cats", "b": "I like cats", "duplicate": None, "lang": "en", "source": "one"},
]


def written(path: Path, pairs: Any) -> Path:
    numbered = [{"id": f"p{number}", **pair} for number, pair in enumerate(pairs)]
    path.write_text(json.dumps({"pairs": numbered}, ensure_ascii=False), encoding="utf-8")
    return path


@pytest.mark.parametrize("embedders", [[HashEmbedder()], []], ids=["vectors", "words"])
async def test_superseding_is_measured(tmp_path: Path, embedders: list[HashEmbedder]) -> None:
    pairs = read_conflicts(written(tmp_path / "c.json", CONFLICTS))
    seen: list[int] = []
    settings = Settings(database=str(tmp_path / "e.db"))
    found = await outcomes(pairs, settings, embedders, lambda _, done, __: seen.append(done))
    result = conflicts("c", found)
    assert [each.superseded for each in found] == [True, False, True, False]
    assert result.metrics["precision"] == 1
    assert result.metrics["recall"] == pytest.approx(2 / 3, abs=1e-4)
    assert (result.metrics["false_supersede_rate"], result.metrics["false_merge_rate"]) == (0, 0)
    assert result.by["source"]["two"]["recall"] == 0.5
    assert set(result.by["language"]) == {"en", "zh"}
    assert seen[-1] == 4


async def test_merging_is_measured(tmp_path: Path) -> None:
    pairs = read_duplicates(written(tmp_path / "d.json", DUPLICATES))
    assert len(pairs) == 3, "what the data are not sure of is left out"
    found = await outcomes(pairs, Settings(database=str(tmp_path / "e.db")), [HashEmbedder()], lambda *_: None)
    result = duplicates("d", found)
    assert (result.metrics["precision"], result.metrics["recall"], result.metrics["false_merge_rate"]) == (1, 1, 0)


@pytest.mark.parametrize(
    "held",
    [
        "not json",
        "[1]",
        '{"items": []}',
        '{"pairs": [{"a": "x"}]}',
        '{"pairs": [{"a": "x", "b": "", "relation": "y"}]}',
    ],
)
def test_a_file_that_is_no_pairs_is_named(tmp_path: Path, held: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(held, encoding="utf-8")
    with pytest.raises(InvalidInput) as error:
        read_conflicts(path)
    assert error.value.field == "data"
