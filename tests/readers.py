"""A language model for tests that reads what it is given: it answers each task by what it was told about the text."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

from hindsight_memory.assist import examination
from hindsight_memory.assist.assistant import Task
from hindsight_memory.assist.prompts import instructions
from hindsight_memory.domain import Scope
from hindsight_memory.models.base import ModelFailed
from hindsight_memory.service import Service
from hindsight_memory.testing import ScriptedLLM

_TASKS = {instructions(task, language): task for task in Task for language in ("en", "zh")}


class ReadingLLM(ScriptedLLM):
    """Knows ``facts`` of texts (content and quote each), ``summaries``, ``verdicts`` on pairs and ``states`` of turns.

    What it knows nothing of holds nothing, and is unrelated. It passes the test of those who judge, unless ``foolish``.
    ``garbage`` is what it answers instead of JSON; on texts with ``stuck`` it hangs. ``counts`` says how often each
    task was asked, ``read`` which texts were read for facts.
    """

    def __init__(self) -> None:
        super().__init__("yes")
        self.facts: dict[str, list[tuple[str, str]]] = {}
        self.summaries: dict[str, str] = {}
        self.verdicts: dict[tuple[str, str], str] = {}
        self.states: dict[str, dict[str, Any]] = {}
        self.foolish = False
        self.garbage = ""
        self.stuck = ""
        self.counts: Counter[str] = Counter()
        self.read: list[str] = []

    async def chat(self, system: str, prompt: str, *, max_tokens: int, schema: Mapping[str, Any] | None = None) -> str:
        task = _TASKS.get(system)
        self.answers = ["yes" if task is None else self.garbage or json.dumps(self._answer(task, json.loads(prompt)))]
        answer = self.answers[0]
        if task is not None and self.stuck and self.stuck in prompt:
            raise ModelFailed("It did not answer in 30 s.")
        if "search" in system or "检索" in system:  # further wordings of a question: they are no part of what is tested
            raise ModelFailed("It knows no further wordings.")
        await asyncio.sleep(0)  # others may run, as while a real one thinks
        if self.broken is not None:
            return await super().chat(system, prompt, max_tokens=max_tokens, schema=schema)
        return answer

    def _answer(self, task: Task, data: Mapping[str, Any]) -> dict[str, Any]:
        self.counts[task] += 1
        if task is Task.EXTRACT:
            self.read.append(data["text"])
        match task:
            case Task.EXTRACT:
                known = self.facts.get(data["text"], [])
                return {"facts": [{"content": each, "quote": quote, "key": "fact.some"} for each, quote in known]}
            case Task.SUMMARISE:
                return {"summary": self.summaries.get(data["text"], "I do not know.")}
            case Task.JUDGE:
                return {"standing": self._standing(data["old"], data["new"]), "reason": "it is"}
            case Task.STATE:
                return self.states.get(data["turn"], {})
            case Task.REFLECT:
                return {}

    def _standing(self, old: str, new: str) -> str:
        if self.foolish:
            return "newer"
        if (old, new) in examination.CHANGED or (new, old) in examination.CHANGED:
            return "newer" if (old, new) in examination.CHANGED else "contradicts"
        return self.verdicts.get((old, new)) or self.verdicts.get((new, old)) or "unrelated"


async def indexed(service: Service) -> None:
    """Have everything indexed."""
    while await service._parts.indexer.step():
        pass


async def read_all(service: Service) -> None:
    """Have everything indexed and read, as far as the model answers and nothing has to wait."""
    await indexed(service)
    while await service._parts.reading.step():
        await indexed(service)


async def contents(service: Service, scope: Scope, text: str) -> list[str]:
    """What a search finds, best first."""
    from hindsight_memory.domain import Query

    return [hit.memory.content for hit in await service.search(Query(text=text), scope)]
