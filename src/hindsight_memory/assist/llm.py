"""The assistant that asks language models: a prompt out, a typed answer in, checked; every failure leaves the rules."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, Final, ParamSpec, TypeVar

from hindsight_memory.assist.answers import Answer, Form, ask
from hindsight_memory.assist.assistant import Advice, Assistant, Fact, Lesson, Opinion, Standing, Task
from hindsight_memory.assist.checks import (
    FactForm,
    LessonForm,
    OpinionForm,
    StateForm,
    SummaryForm,
    confirmed,
    facts_of,
    lesson_of,
    obvious,
    opinion_of,
    patch_of,
    summary_of,
)
from hindsight_memory.assist.prompts import prompt_for
from hindsight_memory.domain import SessionState, Source, StatePatch
from hindsight_memory.models.base import LLM
from hindsight_memory.text.tokens import count_tokens, truncate

T = TypeVar("T")
F = TypeVar("F")
P = ParamSpec("P")

_ANSWER_TOKENS: Final = 2_000
"""Of one answer; most of it is for models that think first."""
_STEPS: Final = 40
"""Steps of a task that are looked back on, the last ones."""
_ENTRIES: Final = 8
"""Entries of each list of a state that are shown, the last ones."""
_SPEAKER: Final = 200


class LLMAssistant:
    """Asks a model for each task that has one; what it answers is checked, and used only where it holds.

    Args:
        models: The model of each task; a task without one is for ``else_``.
        else_: Who answers where a model has none: no model, no time, no budget, nothing that can be used.
        wait_s: How long one question may take, repeats included.
        text_tokens: Longest text that a model is given; servers cut longer ones without a word.
    """

    def __init__(
        self, models: Mapping[Task, LLM], else_: Assistant, wait_s: float = 30.0, text_tokens: int = 3_000
    ) -> None:
        self._models = models
        self._else = else_
        self._wait_s = wait_s
        self._text_tokens = text_tokens

    @property
    def models(self) -> Mapping[Task, str]:
        """See ``Assistant.models``."""
        return {task: model.name for task, model in self._models.items()}

    async def answers(self, task: Task) -> bool:
        """See ``Assistant.answers``."""
        llm = self._models.get(task)
        if llm is None:
            return await self._else.answers(task)
        try:
            async with asyncio.timeout(self._wait_s):
                await llm.chat("Answer with one word.", "Are you there?", max_tokens=_ANSWER_TOKENS)
        except Exception:  # noqa: BLE001  # whatever it is, that was no answer
            return False
        return True

    async def extract(self, text: str, speaker: str = "", source: Source = Source.USER) -> Advice[tuple[Fact, ...]]:
        """See ``Assistant.extract``."""
        return await _first(self._extract, self._else.extract, text, speaker, source)

    async def _extract(self, text: str, speaker: str, source: Source) -> Advice[tuple[Fact, ...]]:
        speaker = speaker[:_SPEAKER]
        answer = await self._ask(Task.EXTRACT, Form(FactForm, "facts"), {"text": text, "speaker": speaker}, text)
        return await _checked(answer, lambda: facts_of(answer, text, speaker, source))

    async def judge(self, old: str, new: str) -> Advice[Opinion]:
        """See ``Assistant.judge``.

        The same words again need no model. That one text replaces the other is asked both ways round: a true statement
        retired is worse than an old one kept.
        """
        return await _first(self._judge, self._else.judge, old, new)

    async def _judge(self, old: str, new: str) -> Advice[Opinion]:
        if (opinion := await asyncio.to_thread(obvious, old, new)) is not None:
            return Advice(opinion)
        advice, _ = await self._opinion(old, new)
        if advice.value is None or advice.value.standing != "newer":
            return advice
        opinion = advice.value
        turned, said = await self._opinion(new, old)
        return confirmed(opinion, said) if said else turned

    async def _opinion(self, old: str, new: str) -> tuple[Advice[Opinion], Standing | None]:
        """The opinion as far as it holds, and what the model said."""
        answer = await self._ask(Task.JUDGE, Form(OpinionForm), {"old": old, "new": new}, f"{old}\n{new}")
        advice = await _checked(answer, lambda: opinion_of(answer.items[0], old, new))
        return advice, answer.items[0].standing if answer.items else None

    async def summarise(self, text: str) -> Advice[str]:
        """See ``Assistant.summarise``."""
        return await _first(self._summarise, self._else.summarise, text)

    async def _summarise(self, text: str) -> Advice[str]:
        answer = await self._ask(Task.SUMMARISE, Form(SummaryForm), {"text": text}, text)
        return await _checked(answer, lambda: summary_of(answer.items[0], text))

    async def reflect(self, steps: Sequence[str], task: str = "") -> Advice[Lesson]:
        """See ``Assistant.reflect``."""
        return await _first(self._reflect, self._else.reflect, steps, task)

    async def _reflect(self, steps: Sequence[str], task: str) -> Advice[Lesson]:
        shown = {place: truncate(steps[place], self._share) for place in range(len(steps))[-_STEPS:]}
        task = truncate(task, self._share)
        data = {"task": task, "tried": [f"{place + 1}. {text}" for place, text in shown.items()]}
        answer = await self._ask(Task.REFLECT, Form(LessonForm), data, "\n".join(shown.values()))
        return await _checked(answer, lambda: lesson_of(answer.items[0], shown, task))

    @property
    def _share(self) -> int:
        """Tokens of one step, so that all of them are not too long together."""
        return max(self._text_tokens // (_STEPS + 1), 10)

    async def state(self, current: SessionState, turn: str) -> Advice[StatePatch]:
        """See ``Assistant.state``."""
        return await _first(self._state, self._else.state, current, turn)

    async def _state(self, current: SessionState, turn: str) -> Advice[StatePatch]:
        lists = {
            name: held[-_ENTRIES:] if isinstance(held, tuple) else [held] for name, held in asdict(current).items()
        }
        # Lines, not an object of the answer's own form: a model that echoes them has not answered.
        notes = [f"{name}: {truncate(each, self._share)}" for name, held in lists.items() for each in held if each]
        answer = await self._ask(Task.STATE, Form(StateForm), {"notes": notes, "turn": turn}, turn)
        return await _checked(answer, lambda: patch_of(answer.items[0], current, turn))

    async def close(self) -> None:
        """See ``Assistant.close``."""
        for model in {id(each): each for each in self._models.values()}.values():
            await model.close()

    async def _ask(self, task: Task, form: Form[F], data: Mapping[str, Any], about: str) -> Answer[F]:
        """Put a task to its model; ``about`` is the text that sets the language, and that must not be too long."""
        llm = self._models.get(task)
        if llm is None:
            return Answer(reason=f"No language model is set for the task «{task}».")
        if not about.strip():
            return Answer(reason="There is nothing to read.")
        if count_tokens(about) > self._text_tokens:
            return Answer(reason=f"The text is longer than the {self._text_tokens:,} tokens that a model is given.")
        prompt = prompt_for(task, data, about)
        return await ask(llm, prompt, form, max_tokens=_ANSWER_TOKENS, wait_s=self._wait_s)


async def _first(
    asked: Callable[P, Awaitable[Advice[T]]],
    else_: Callable[P, Awaitable[Advice[T]]],
    *args: P.args,
    **kwargs: P.kwargs,
) -> Advice[T]:
    """The model's advice where it has any, else the others', with the reason why."""
    try:
        advice = await asked(*args, **kwargs)
    except Exception as error:  # noqa: BLE001  # a fault of ours in reading an answer must not stop who asked
        advice = Advice(reason=f"The answer could not be read ({type(error).__name__}).")
    if advice.value is not None:
        return advice
    return replace(advice, value=(await else_(*args, **kwargs)).value)


async def _checked(answer: Answer[Any], check: Callable[[], Advice[T]]) -> Advice[T]:
    """What an answer comes to; the check runs beside the event loop, for it reads whole texts."""
    if answer.reason:
        return Advice(reason=answer.reason, passing=answer.passing, dropped=answer.dropped)
    return await asyncio.to_thread(check)
