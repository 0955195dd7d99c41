"""The demonstration: a sample conversation goes in, questions about it are answered from memory."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from importlib.resources import files
from typing import Any

from hindsight_memory.domain import Hit, Wait

TOP = 5
"""Results among which the expected memory must be."""


class Language(StrEnum):
    """The sample conversations there are."""

    EN = "en"
    ZH = "zh"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A question, the turns that answer it, and what was found."""

    question: str
    answer: str
    evidence: tuple[str, ...]
    found: tuple[str, ...]
    hits: tuple[Hit, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Demonstration:
    """What a demonstration showed; ``answered`` counts the questions with an expected turn among the first results."""

    title: str
    database: str
    turns: int
    answered: int
    questions: tuple[Answer, ...]


async def demonstrate(
    database: str, language: Language, who: Mapping[str, Any], progress: Callable[[int], None]
) -> Demonstration:
    """Store a sample conversation and ask its questions, each at the time it is meant to be asked."""
    from hindsight_memory.client import AsyncHindsightMemory

    sample = json.loads(files("hindsight_memory.examples").joinpath(f"{language}.json").read_text("utf-8"))
    now = _after(sample)
    memory = AsyncHindsightMemory(database, clock=lambda: now, **who)
    try:
        turns = 0
        for session in sample["sessions"]:
            messages = session["messages"]
            await memory.write_conversation(messages, wait=Wait.INDEXED, session_id=session["id"])
            turns += len(messages)
            progress(turns)
        answers = []
        for question in sample["questions"]:
            now = datetime.fromisoformat(question["ask_at"]) if "ask_at" in question else _after(sample)
            answers.append(_judged(question, await memory.search(question["question"], limit=TOP)))
    finally:
        await memory.close()
    answered = sum(bool(each.found) for each in answers)
    return Demonstration(
        title=sample["title"], database=database, turns=turns, answered=answered, questions=tuple(answers)
    )


def _after(sample: Mapping[str, Any]) -> datetime:
    # The sample is years away from today for most readers, and «last week» in a question is meant beside it.
    last = max(message["occurred_at"] for session in sample["sessions"] for message in session["messages"])
    return datetime.fromisoformat(last) + timedelta(days=1)


def _judged(question: Mapping[str, Any], hits: Sequence[Hit]) -> Answer:
    evidence = tuple(question["evidence"])
    refs = {hit.memory.source_ref for hit in hits}
    return Answer(
        question=question["question"],
        answer=question["answer"],
        evidence=evidence,
        found=tuple(each for each in evidence if each in refs),
        hits=tuple(hits),
    )
