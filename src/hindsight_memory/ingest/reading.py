"""The worker that has language models read what was written: facts in turns, summaries, verdicts, sessions' states.

Work is what rows lack, as in ``index``: a crash loses nothing, and no model holds up, changes or loses a write.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from itertools import groupby
from typing import Any, Final

from hindsight_memory.assist.assistant import Advice, Assistant, Task
from hindsight_memory.domain import Event, Kind, Memory, Role, Scope, Source, Status, new_id
from hindsight_memory.errors import HindsightMemoryError, InvalidInput, told
from hindsight_memory.ingest.derived import derived_from
from hindsight_memory.ingest.extract import is_told
from hindsight_memory.ingest.judge import Judge, is_judged
from hindsight_memory.ingest.pipeline import Writer
from hindsight_memory.ingest.sessions import SessionKeeper
from hindsight_memory.ingest.told import MODEL, drafts_told
from hindsight_memory.models.base import ModelFailed
from hindsight_memory.models.budget import Budget
from hindsight_memory.settings import Settings
from hindsight_memory.store.base import Due, Setback, Stage, Store, Terms

_log: Final = logging.getLogger(__name__)
_LONGEST_PAUSE: Final = 600.0
_SAID_AT_ONCE: Final = 2_000
"""Characters of one session's messages that are read together."""
_REASON: Final = 500

Question = tuple[Task, Callable[[], Awaitable[Advice[Any]]]]


@dataclass(frozen=True, slots=True)
class Job:
    """What is read at once: one memory, or messages of one session."""

    bank: str
    memories: tuple[Memory, ...]
    attempts: int

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of its memories."""
        return tuple(memory.id for memory in self.memories)


@dataclass(slots=True)
class Reading:
    """Has a language model read what none has read yet, the newest first; ``judge`` settles what it judges.

    A try that failed for good ends the job with its reason. One that may succeed later is repeated a few times. It does
    not count while the model answers nothing at all: then all wait; nor beside others, which a small server answers one
    by one: then each is read alone for a while.
    """

    store: Store
    assistant: Assistant
    write: Writer
    sessions: SessionKeeper
    judge: Judge
    settings: Settings
    holder: str
    clock: Callable[[], datetime]
    gone: Callable[[str], bool] = lambda _: False
    """Whether a holder of a claim has ended without giving it back."""
    budget: Budget | None = None
    """What the models of this process take their tokens from."""
    _news: asyncio.Event = field(default_factory=asyncio.Event)
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    _started: bool = False
    _closing: bool = False
    _heard: dict[Task, float] = field(default_factory=dict)
    _abreast: int = 0
    _crowded: bool = False
    _day: date | None = None
    _read: int = 0
    _elsewhere: int = 0
    _told: tuple[int, int] = (0, 0)

    def wake(self) -> None:
        """Something may be due."""
        self._news.set()

    def stop(self) -> None:
        """Let ``run`` end after what it is at."""
        self._closing = True
        self._news.set()

    async def close(self) -> None:
        """Tell the others what searches and looks back took since the last time."""
        if self.budget is not None and self.budget.spent:
            await self.account()

    async def run(self) -> None:
        """Work until stopped; rests while nothing is due, and longer and longer while the model fails."""
        if not self.assistant.models:
            return
        await asyncio.sleep(self.settings.read.begin_s)
        pause = self.settings.write.poll_s
        while not self._closing:
            try:
                if await self.step():
                    pause = self.settings.write.poll_s
                    continue
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._news.wait(), self.settings.write.poll_s)
                self._news.clear()
            except Exception as error:  # noqa: BLE001  # the loop outlives whatever a model or the disk does to it
                _log.warning("Reading waits %.0f s: %s", pause, told(error))
                await asyncio.sleep(pause)
                pause = min(pause * 2, _LONGEST_PAUSE)

    async def step(self, bank: str | None = None) -> int:
        """Have a batch read, of one bank if it is named; returns how many memories were taken.

        Raises ``ModelFailed`` when a model does not answer, after what it did not answer has been given back.
        """
        async with self._turn:
            if not self._started:
                await self.store.give_back(self.gone)
                self._started = True
            if not self.assistant.models:
                return 0
            await self.account()
            batch = self._left_today()
            if batch <= 0:
                return 0
            due = await self._claim(batch, bank)
            if not due:
                return 0
            try:
                answered = await self._all(list(_jobs(due)))
            finally:
                with suppress(HindsightMemoryError):  # it is told with the next
                    await asyncio.shield(self.account())
        if not answered:
            raise ModelFailed("The language model does not answer.", hint="Rules decide meanwhile.")
        return len(due)

    async def _claim(self, batch: int, bank: str | None) -> list[Due]:
        """Take memories to be read; whoever is stopped in the middle of it gives back what was taken."""
        terms = terms_of(self.settings, self.clock(), batch)
        taking = asyncio.ensure_future(self.store.claim(Stage.READ, self.holder, terms, bank))
        try:
            return await asyncio.shield(taking)
        except asyncio.CancelledError:
            for job in _jobs(await taking):
                with suppress(HindsightMemoryError):  # its lease will end
                    await self._settle(job, Setback(tried=False))
            raise

    @property
    def is_spent(self) -> bool:
        """Whether the day's memories are read, or its tokens taken."""
        return self._left_today() <= 0 or (self.budget is not None and self.budget.refused)

    async def account(self) -> None:
        """Tell the processes that share the store what was taken today, and learn what they took: it is one budget."""
        today = self.clock().date()
        if today != self._day:
            self._day, self._read, self._told = today, 0, (0, 0)
        tokens, read = 0 if self.budget is None else self.budget.spent, self._read
        before, self._told = self._told, (tokens, read)
        try:
            every = await self.store.spend(today, tokens - before[0], read - before[1])
        except BaseException:
            self._told = before
            raise
        self._elsewhere = every[1] - read
        if self.budget is not None:
            self.budget.elsewhere = every[0] - tokens

    def _left_today(self) -> int:
        """How many memories may be taken now."""
        settings = self.settings.read
        self._abreast = min(self._abreast or settings.at_once, settings.at_once)
        left = settings.daily_memories - self._read - self._elsewhere
        return min(self._abreast, left) if settings.daily_memories else self._abreast

    async def _all(self, jobs: Sequence[Job]) -> bool:
        """Do jobs side by side; returns whether the models answer. Whoever is stopped gives back what is not done."""
        left = list(jobs)
        holding = asyncio.create_task(self._hold())
        self._crowded = False
        try:
            async with asyncio.TaskGroup() as group:
                done = [group.create_task(self._do(job, left, alone=len(jobs) == 1)) for job in jobs]
            answered = all(task.result() for task in done)
            self._abreast = self._abreast + 1 if answered and not self._crowded else 1
            return answered
        finally:
            holding.cancel()
            for job in left:
                with suppress(HindsightMemoryError):  # its lease will end
                    await asyncio.shield(self._settle(job, Setback(tried=False)))

    async def _hold(self) -> None:
        """Keep what is worked on from the others."""
        while True:
            await asyncio.sleep(self.settings.read.lease_s / 3)
            with suppress(HindsightMemoryError):
                await self.store.renew(Stage.READ, self.holder, self.settings.read.lease_s)

    async def _do(self, job: Job, left: list[Job], *, alone: bool) -> bool:
        setback, answers = await self._ask(job)
        if setback is not None and setback.after is not None and not alone:
            self._crowded = True
            setback = replace(setback, tried=False, after=None)
        await self._settle(job, setback)
        left.remove(job)
        return answers

    async def _ask(self, job: Job) -> tuple[Setback | None, bool]:
        """Put a job's questions; returns what went wrong, if anything, and whether the model answers at all."""
        failed: list[tuple[Task, str]] = []
        for task, question in self._questions(job):
            try:
                advice = await question()
            except Exception as error:  # noqa: BLE001  # a fault of ours with one text must not stop the others
                _log.warning("Reading a memory failed: %s", type(error).__name__)  # its words may be the memory's
                return Setback(reason=f"{task}: {type(error).__name__}", after=self._later(job)), True
            if advice.value is not None:
                continue
            if not await self._answers(task, advice):
                return Setback(reason=f"{task}: {advice.reason}"[:_REASON], tried=False), False
            if advice.passing:
                return Setback(reason=f"{task}: {advice.reason}"[:_REASON], after=self._later(job)), True
            failed.append((task, advice.reason))
        reason = " ".join(f"{task}: {why}" for task, why in failed)[:_REASON]
        return (Setback(reason=reason, final=True) if failed else None), True

    async def _answers(self, task: Task, advice: Advice[Any]) -> bool:
        """Whether it is the text that a model could not answer about, or the model that answers nothing."""
        now = asyncio.get_running_loop().time()
        if advice.passing or self._heard.get(task, -math.inf) < now - self.settings.read.again_s:
            if not await self.assistant.answers(task):
                return False
            self._heard[task] = now
        return True

    def _later(self, job: Job) -> datetime:
        wait: float = self.settings.read.again_s * 4 ** (job.attempts - 1)
        return self.clock() + timedelta(seconds=wait)

    def _questions(self, job: Job) -> Iterator[Question]:
        """What a job's memories are asked about, of what there is a model for."""
        memory = job.memories[0]
        asked: list[Question] = []
        if memory.status is Status.ACTIVE and _on_desk(memory):
            asked.append((Task.STATE, lambda: self._note(job)))
        elif memory.status is Status.ACTIVE:
            if is_told(memory):
                asked.append((Task.EXTRACT, lambda: self._extract(memory)))
            if memory.summary is not None:
                asked.append((Task.SUMMARISE, lambda: self._summarise(memory)))
            if is_judged(memory):
                asked.append((Task.JUDGE, lambda: self.judge(job.bank, memory)))
        return (each for each in asked if each[0] in self.assistant.models)

    async def _extract(self, turn: Memory) -> Advice[Any]:
        advice = await self.assistant.extract(turn.content, turn.speaker or "", turn.source)
        if not advice.value:
            return advice
        known = await derived_from(turn, self.store.reading(turn.bank_id))
        if drafts := await asyncio.to_thread(drafts_told, turn, advice.value, known):
            scope = replace(Scope.of_bank(turn.bank_id), agent_id=turn.agent_id, session_id=turn.session_id)
            with suppress(InvalidInput):  # the turn was forgotten in the meantime
                await self.write(drafts, scope, MODEL, turn.trust)
        return advice

    async def _summarise(self, memory: Memory) -> Advice[str]:
        advice = await self.assistant.summarise(memory.content)
        if advice.value is None:
            return advice
        summary = await self.write.screener.text(advice.value, memory.bank_id)
        async with self.store.transaction(Scope.of_bank(memory.bank_id)) as tx:
            held = next(iter(await tx.get([memory.id])), None)
            if held is not None and _said(held) == _said(memory) and held.summary != summary:
                changed = await tx.change(held, summary=summary)
                await tx.record([self._event("summarise", changed)])
        return advice

    async def _note(self, job: Job) -> Advice[Any]:
        """Have a session's state kept by what was said; a step that is said to be the current one only by the last."""
        session_id, reader = job.memories[0].session_id, self.store.reading(job.bank)
        assert session_id is not None
        scope = replace(Scope.of_bank(job.bank), agent_id=job.memories[0].agent_id, session_id=session_id)
        desk = (await reader.desk(session_id)).at(self.clock())
        for text in _texts(job.memories):
            if desk.expires_at is None:
                break
            advice = await self.assistant.state(desk.state, text)
            if advice.value is None:
                return advice
            patch = advice.value
            if [each.id for each in await reader.working(session_id, 1)] != [job.memories[-1].id]:
                patch = replace(patch, current_step=None)
            with suppress(InvalidInput):  # a list is full
                desk = await self.sessions.note(patch, scope, MODEL)
        return Advice(True)

    async def _settle(self, job: Job, setback: Setback | None) -> None:
        if setback is None or setback.tried or setback.final:
            self._read += len(job.ids)
        async with self.store.transaction(Scope.of_bank(job.bank)) as tx:
            now = {memory.id: _said(memory) for memory in await tx.get(job.ids)}
            # What was changed meanwhile is due as it is now.
            other = {memory.id for memory in job.memories if now.get(memory.id) != _said(memory)}
            back = dict.fromkeys(other, Setback(tried=False))
            if setback is not None:
                back = dict.fromkeys(job.ids, setback) | back
            await tx.settle(Stage.READ, [each for each in job.ids if each not in back], back)

    def _event(self, verb: str, memory: Memory) -> Event:
        now = self.clock()
        return Event(id=new_id(now), bank_id=memory.bank_id, at=now, actor=MODEL, verb=verb, memory_id=memory.id)


def terms_of(settings: Settings, now: datetime, batch: int = 0) -> Terms:
    """How memories are claimed that no model has read."""
    read = settings.read
    return Terms(
        batch=batch,
        lease_s=read.lease_s,
        attempts=read.attempts,
        since=now - timedelta(days=read.backlog_days) if read.backlog_days else None,
        index_attempts=settings.write.index_attempts,
    )


def _jobs(due: Sequence[Due]) -> Iterator[Job]:
    """Memories one by one, and the messages of a session together, in their order."""
    desks = [each for each in due if _on_desk(each.memory)]
    yield from (Job(each.bank, (each.memory,), each.attempts) for each in due if not _on_desk(each.memory))
    desks.sort(key=lambda each: (each.bank, each.memory.session_id or "", each.memory.turn or 0))
    for (bank, _), group in groupby(desks, key=lambda each: (each.bank, each.memory.session_id)):
        held = list(group)
        yield Job(bank, tuple(each.memory for each in held), max(each.attempts for each in held))


def _on_desk(memory: Memory) -> bool:
    return memory.kind is Kind.WORKING and memory.turn is not None


def _texts(messages: Sequence[Memory]) -> Iterator[str]:
    """Messages with who said them, as many together as are not too long."""
    text = ""
    for message in messages:
        line = f"{Role.ASSISTANT if message.source is Source.AGENT else Role.USER}: {message.content}"
        if text and len(text) + len(line) > _SAID_AT_ONCE:
            yield text
            text = ""
        text = f"{text}\n{line}" if text else line
    yield text


def _said(memory: Memory) -> tuple[object, ...]:
    return memory.content, memory.kind
