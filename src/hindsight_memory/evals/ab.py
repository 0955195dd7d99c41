"""``eval ab``: the same questions with memory, without, with the whole history and with its last turns."""

from __future__ import annotations

import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import fmean
from typing import Any, Final, TypeAlias

from hindsight_memory.build import llm_of
from hindsight_memory.domain import Query
from hindsight_memory.errors import HindsightMemoryError
from hindsight_memory.evals.asking import Progress, SetResult, resident_mb, unit
from hindsight_memory.evals.banks import MemoryRanker, query_of, scope_of, unworn
from hindsight_memory.evals.baselines import may_be_found
from hindsight_memory.evals.datasets import DataSet, Group, Item, Question
from hindsight_memory.evals.metrics import bootstrap, percentile
from hindsight_memory.evals.recall import asked_in, filled, nothing, warmed
from hindsight_memory.models.base import Embedder
from hindsight_memory.settings import Settings
from hindsight_memory.text.tokens import count_tokens, index_words

Ask: TypeAlias = Callable[[str], Awaitable[str]]
"""A model: a prompt in, its completion out."""

SYSTEM: Final = "You answer exactly what is asked, briefly."
ANSWER: Final = """{history}Answer the question in one short sentence. If you do not know, say so.

Question: {question}
Answer:"""
JUDGE: Final = """Does the given answer say the same as the right answer? It may say more, or say it in other words. \
A date in another form is the same date. An answer that does not know is not the same.

Question: {question}
Right answer: {right}
Given answer: {given}

Reply with one word, yes or no:"""

_LONGEST_ANSWER: Final = 1_000
"""Tokens: an answer is short, but some models think before it."""
_YES: Final = re.compile(r"\W*(yes|no)\b", re.IGNORECASE)


@asynccontextmanager
async def model_of(settings: Settings) -> AsyncIterator[Ask | None]:
    """The language model that the settings name, as something to ask; nothing where they name none."""
    llm = llm_of(settings.llm)
    if llm is None:
        yield None
        return

    async def ask(prompt: str) -> str:
        return await llm.chat(SYSTEM, prompt, max_tokens=_LONGEST_ANSWER)

    try:
        yield ask
    finally:
        await llm.close()


def unjudged(_: dict[str, Any]) -> None:
    """Judgements that nobody keeps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What is compared: ``last`` turns of the history are one arm, ``ask`` is the model if there is one."""

    last: int = 10
    budget_tokens: int | None = None
    ask: Ask | None = None
    judged: Callable[[dict[str, Any]], None] = unjudged
    progress: Progress = nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """One question under one arm. ``success`` is ``None`` where no model answered, or none could be judged."""

    group: str
    category: str
    coverage: float
    tokens: int
    millis: float
    success: bool | None = None
    failed: bool = False


@dataclass(slots=True)
class _Arms:
    """The ways a question may be given what was said before."""

    memory: MemoryRanker
    trial: Trial

    @property
    def names(self) -> tuple[str, ...]:
        return ("memory", "none", "full", f"last {self.trial.last}")

    async def injected(self, arm: str, data: str, group: Group, question: Question) -> str:
        """What an arm puts before the question."""
        if arm == "none":
            return ""
        if arm == "memory":
            self.memory.clock.set_to(group, question)
            query: Query = query_of(question, foreign=False)
            block = await self.memory.service.context(query, scope_of(data, group.id), self.trial.budget_tokens)
            return block.text
        told = sorted((item for item in group.items if may_be_found(item, question)), key=_when)
        return "\n".join(_said(item) for item in (told if arm == "full" else told[-self.trial.last :]))


async def compare(
    sets: Sequence[DataSet], settings: Settings, embedders: Sequence[Embedder], trial: Trial
) -> list[SetResult]:
    """The figures of every arm of every set, named «<set> <arm>». The embedders are the caller's to close.

    Asked are the questions that have an answer in the data; those without one, and those that cannot be answered,
    are left out.
    """
    settings = unworn(settings)
    kept = await warmed(embedders)
    same = await filled(sets, settings, kept, trial.progress)
    results: list[SetResult] = []
    async with asked_in(settings, kept, same) as memory:
        arms = _Arms(memory, trial)
        for data in sets:
            results += await _compare_set(data, arms)
    return results


async def _compare_set(data: DataSet, arms: _Arms) -> list[SetResult]:
    asked = [(g, q) for g in data.groups for q in g.questions if answer_words(q.answer) and not q.unanswerable]
    outcomes: dict[str, list[Tried]] = {arm: [] for arm in arms.names}
    for number, (group, question) in enumerate(asked, 1):
        for arm in arms.names:
            outcomes[arm].append(await _outcome(arm, data.name, group, question, arms))
        arms.trial.progress(f"{data.name}: compared", number, len(asked))
    return [_result(f"{data.name} {arm}", data, outcomes[arm]) for arm in arms.names]


async def _outcome(arm: str, data: str, group: Group, question: Question, arms: _Arms) -> Tried:
    begun = time.perf_counter()
    text = await arms.injected(arm, data, group, question)
    millis = 1_000 * (time.perf_counter() - begun)
    outcome = Tried(
        group=group.id,
        category=question.category or "none",
        coverage=coverage(question.answer, text),
        tokens=_tokens(text),
        millis=millis,
    )
    if arms.trial.ask is None:
        return outcome
    line: dict[str, Any] = {"set": data, "arm": arm, "group": group.id, "id": question.id, "question": question.text}
    try:
        success = await _judge(arms.trial.ask, text, question, line)
    except HindsightMemoryError as error:  # such as a history longer than the model reads
        line["error"] = str(error)
        outcome = replace(outcome, failed=True)
    else:
        outcome = replace(outcome, success=success)
    arms.trial.judged(line)
    return outcome


async def _judge(ask: Ask, text: str, question: Question, line: dict[str, Any]) -> bool | None:
    history = f"{text}\n\n" if text else ""
    line["prompt"] = ANSWER.format(history=history, question=question.text)
    line["answer"] = await ask(line["prompt"])
    line["right"] = question.answer
    line["judge_prompt"] = JUDGE.format(question=question.text, right=question.answer, given=line["answer"])
    line["judge_output"] = await ask(line["judge_prompt"])
    verdict = _YES.match(line["judge_output"])
    line["success"] = None if verdict is None else verdict[1].lower() == "yes"
    success: bool | None = line["success"]
    return success


def answer_words(answer: str) -> set[str]:
    """The different words of an answer, as our index sees them."""
    return set(index_words(answer)) if answer.strip() else set()


def coverage(answer: str, text: str) -> float:
    """The share of the answer's different words that occur in a text: what an answer could be copied from.

    No model is asked, so it neither sees other words for the same thing nor whether what was found says it.
    """
    wanted = answer_words(answer)
    if not wanted or not text:
        return 0.0
    held: set[str] = set().union(*(wanted & _words(line) for line in text.split("\n")))
    # Chinese is cut by what stands around it, so the same characters may be other words there.
    held |= {word for word in wanted - held if not word.isascii() and word in text}
    return len(held) / len(wanted)


@lru_cache(maxsize=50_000)
def _words(line: str) -> frozenset[str]:
    # By lines: a whole history has more words than one text may have, and the same lines come with every question.
    return frozenset(index_words(line))


@lru_cache(maxsize=64)
def _tokens(text: str) -> int:
    return count_tokens(text)


def _when(item: Item) -> float:
    # The order of a file need not be that of time: LifeBench's goes by the sort of record.
    return item.at.timestamp() if item.at is not None else 0.0


def _said(item: Item) -> str:
    at = f"({item.at:%Y-%m-%d}) " if item.at is not None else ""
    return f"{at}{item.speaker}: {item.content}" if item.speaker else f"{at}{item.content}"


def _result(name: str, data: DataSet, outcomes: Sequence[Tried]) -> SetResult:
    categories = sorted({one.category for one in outcomes})
    parts = {each: [one for one in outcomes if one.category == each] for each in categories}
    groups: dict[str, list[float]] = {}
    for one in outcomes:
        groups.setdefault(one.group, []).append(one.coverage)
    between = bootstrap(groups)
    millis = [one.millis for one in outcomes]
    return SetResult(
        name=name,
        n=len(outcomes),
        metrics=_means(outcomes),
        by={"category": {each: {"n": len(part), **_means(part)} for each, part in parts.items()}},
        latency_ms={f"p{share}": round(percentile(millis, share), 2) if millis else None for share in (50, 95)},
        intervals={} if between is None else {"coverage": (unit("", between[0]), unit("", between[1]))},
        groups=len(data.groups),
        memories=sum(len(group.items) for group in data.groups),
        memory_mb=resident_mb(),
    )


def _means(outcomes: Sequence[Tried]) -> dict[str, float]:
    if not outcomes:
        return {}
    found = {
        "coverage": unit("coverage", fmean(one.coverage for one in outcomes)),
        "tokens": round(fmean(one.tokens for one in outcomes), 1),
    }
    judged = [one.success for one in outcomes if one.success is not None]
    if judged or any(one.failed for one in outcomes):
        found |= {"judged": float(len(judged)), "failed": float(sum(one.failed for one in outcomes))}
    if judged:
        found["success"] = unit("success", fmean(judged))
    return found
