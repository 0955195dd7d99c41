"""``eval pii`` on texts of our own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hindsight_memory.errors import InvalidInput
from hindsight_memory.evals.pii import read, read_items, summarise


def item(text: str, source: str = "one", lang: str = "en", **labels: str) -> dict[str, Any]:
    spans = [
        {"type": kind, "start": text.index(said), "end": text.index(said) + len(said)} for kind, said in labels.items()
    ]
    return {"text": text, "spans": spans, "source": source, "lang": lang}


ITEMS = [
    item("Call me at 415-555-2671 or write to ann@example.com", PHONE_NUMBER="415-555-2671", EMAIL="ann@example.com"),
    item("Ann Lee pays with 4111111111111111", CREDIT_CARD="4111111111111111", PERSON="Ann Lee"),
    item("Ann Lee pays with card 4111111111111112", CREDIT_CARD="4111111111111112"),
    item("我的身份证号码是110101199003077475", "two", "zh", CN_ID="110101199003077475"),
    item("尾号110101199003077474", "two", "zh", CN_ID="110101199003077474"),
    item("The phone rings", PHONE="rings"),
    item("Nothing here"),
    item("Two bees", "two"),
    item("By my friend Li 13812345678", "two"),
]


def test_spans_and_false_alarms_are_counted(tmp_path: Path) -> None:
    (tmp_path / "p.json").write_text(json.dumps({"items": ITEMS}, ensure_ascii=False), encoding="utf-8")
    seen: list[int] = []
    result = summarise("p", read(read_items(tmp_path / "p.json"), lambda _, done, __: seen.append(done)))
    assert (result.name, result.n, seen) == ("p", 9, [9])
    assert result.metrics == {"spans": 5, "span_recall": 0.8, "false_positive_rate": 0.3333}
    assert result.by["category"]["phone"]["span_recall"] == 0.5
    assert result.by["category"]["national_id"]["span_recall"] == 1
    assert result.by["category"]["national_id, wrong checksum"]["spans"] == 1
    assert result.by["category"]["card, wrong checksum"]["span_recall"] in (0, 1)
    assert result.by["language"]["zh"]["spans"] == 1
    assert result.by["source"]["two"]["false_positive_rate"] == 0.5
    assert "two national_id" in result.by["source_type"]


@pytest.mark.parametrize(
    "text", ["", "[1]", '{"items": 1}', '{"items": [{"text": "a"}]}', '[{"text": 1, "spans": []}]']
)
def test_a_file_without_items_is_an_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "p.json").write_text(text)
    with pytest.raises(InvalidInput):
        read_items(tmp_path / "p.json")


def test_a_label_that_is_missed_counts_against(tmp_path: Path) -> None:
    result = summarise("p", read([item("The key is xyz", PASSWORD="xyz")], lambda *_: None))
    assert result.metrics["span_recall"] == 0
