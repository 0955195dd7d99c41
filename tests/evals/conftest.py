"""A small set of our own: two people, their sessions, questions of every sort."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

LINES: list[dict[str, Any]] = [
    {"id": "a1", "content": "My sister Ines moved to Lisbon.", "timestamp": "2024-03-01T09:00:00", "speaker": "Maya",
     "session": "s1", "group": "maya"},
    {"id": "a2", "content": "Lisbon is lovely in spring.", "timestamp": "2024-03-01T09:01:00", "speaker": "Assistant",
     "session": "s1", "group": "maya"},
    {"id": "a3", "content": "ok", "speaker": "Maya", "session": "s1", "group": "maya"},
    {"id": "a4", "content": "I drive a red Volvo.", "timestamp": "2024-03-05", "session": "s2", "group": "maya"},
    {"id": "a5", "content": "I sold the Volvo and bought a green Skoda.", "timestamp": "2024-05-05", "session": "s3",
     "group": "maya"},
    {"id": "a6", "content": "The cat is called Pepper.", "group": "maya"},
    {"id": "b1", "content": "我喜欢喝拿铁咖啡。", "timestamp": "2024-04-01", "session": "t1", "speaker": "用户",
     "group": "li"},
    {"id": "b2", "content": "我在杭州做产品经理。", "timestamp": "2024-04-02", "session": "t2", "speaker": "用户",
     "group": "li"},
    {"query": "Where did Maya's sister Ines move?", "evidence": ["a1"], "answer": "Lisbon", "category": "plain",
     "group": "maya"},
    {"query": "Which car: Volvo or Skoda?", "evidence": ["a5"], "stale": ["a4"], "answer": "a green Skoda",
     "category": "current", "group": "maya"},
    {"query": "What is the cat called?", "evidence": ["a6", "gone"], "answer": "Pepper", "category": "plain",
     "group": "maya"},
    {"query": "Which Volvo or Skoda car?", "evidence": ["a4"], "ask_time": "2024-04-01", "ask_session": "s3",
     "category": "bounded", "group": "maya"},
    {"query": "How tall is the lighthouse keeper?", "evidence": [], "category": "unknown", "group": "maya"},
    {"query": "我喜欢喝什么咖啡？", "evidence": ["b1"], "answer": "拿铁", "category": "plain", "group": "li"},
]  # fmt: skip


def write_lines(path: Path, lines: Sequence[Mapping[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
    return path


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    return write_lines(tmp_path / "small.jsonl", LINES)
