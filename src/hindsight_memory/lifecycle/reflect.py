"""Looks back over one task: lessons learnt, borne out again, replaced or retired, and what the task came to."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final

from hindsight_memory.assist.assistant import Assistant
from hindsight_memory.domain import (
    Change,
    Draft,
    Event,
    Kind,
    Memory,
    Outcome,
    Reflection,
    Relation,
    RelationType,
    Scope,
    Source,
    Status,
    Tier,
    Visibility,
    new_id,
)
from hindsight_memory.guard.policy import Policy
from hindsight_memory.guard.screen import screen
from hindsight_memory.ingest.enrich import marks_of, owner_of, remember
from hindsight_memory.ingest.resolve import Standing, Verdict, settle
from hindsight_memory.ingest.screening import Screener
from hindsight_memory.ingest.steps import in_order, stands
from hindsight_memory.lifecycle.lessons import LOST, is_kept, weigh
from hindsight_memory.settings import ReflectSettings, WriteSettings
from hindsight_memory.store.base import Marks, Reader, Store, Tx, Where
from hindsight_memory.text.errors import tag_of
from hindsight_memory.text.lessons import (
    EVIDENCE,
    LESSON,
    MOST,
    Run,
    Taught,
    followed_in_vain,
    is_reflected,
    key_of,
    lessons_of,
    outcome_key,
    run_of,
)
from hindsight_memory.text.steps import Tried

_ENDED: Final = (Outcome.SUCCESS, Outcome.FAILURE)
_GONE: Final = (Status.DELETED, Status.QUARANTINED)
_VERSIONS: Final = 50
"""Versions of a lesson, and lessons of a task, that are looked at."""


@dataclass(frozen=True, slots=True)
class Reflector:
    """Looks back over tasks."""

    store: Store
    screener: Screener
    write: WriteSettings
    settings: ReflectSettings
    clock: Callable[[], datetime]

    async def __call__(self, scope: Scope, task: str, assistant: Assistant, actor: str) -> Reflection:
        """Look back over a session, or over the steps of a task in it, or in all sessions where none is named.

        Done twice, the second time writes nothing: each lesson knows what it rests on.
        """
        tried = await asyncio.to_thread(_tried, await self._turns(scope, task))
        taught = await asyncio.to_thread(lessons_of, tried)
        run = run_of(tried, task, taught)
        taught, note = await self._worded(taught, tried, run, assistant, scope)
        policy = await self.screener.policy(scope.bank, lenient=True)
        drafts = await asyncio.to_thread(self._drafts, taught, scope, policy)
        told = await asyncio.to_thread(self._outcome, run, tried, scope, policy) if run.steps else None
        async with self.store.transaction(scope) as tx:
            book = _Book(tx, scope, actor, self.clock(), self.settings)
            await book.recheck(task)
            lessons = [await book.learn(each, written) for each, written in drafts]
            await book.doubt(tried)
            episode = await book.close(told, tried) if told is not None else None
            await tx.record(book.events)
        return Reflection(
            task=run.task,
            outcome=run.outcome,
            steps=run.steps,
            failures=run.failures,
            lessons=tuple(each for each in lessons if each is not None),
            episode=episode,
            changes=tuple(book.changes),
            note=note,
        )

    async def _turns(self, scope: Scope, task: str) -> list[Memory]:
        """The latest turns of the run, the earliest first, as far as the scope may see them."""
        asked = Where(
            now=self.clock(),
            viewer=scope.agent_id,
            session=scope.session_id,
            tasks=(task,) if task and scope.session_id is None else (),
            kinds=(Kind.EPISODIC, Kind.WORKING),
            tiers=tuple(Tier),
            findable=False,
            unexpired=True,
        )
        found = await self.store.reading(scope.bank).find(asked, self.settings.turns)
        turns = [each for each in found if each.turn is not None]
        return sorted((each for each in turns if not task or each.task in (None, task)), key=in_order)

    async def _worded(
        self, taught: list[Taught], tried: Sequence[Tried], run: Run, assistant: Assistant, scope: Scope
    ) -> tuple[list[Taught], str]:
        """The lessons, one of them in a model's words where it has some that hold; a note of what became of them.

        A model is asked only where there is something new to word.
        """
        ids = list(dict.fromkeys(each for lesson in taught for each in lesson.evidence))
        if await _taught_by(ids, self.store.reading(scope.bank)) >= set(ids):
            return taught, ""
        # What an agent keeps to itself must not come into words that others see.
        shown = [each for each in tried if each.memory.visibility is Visibility.SHARED] or tried
        advice = await assistant.reflect(
            [each.memory.content for each in shown], run.task if len(shown) == len(tried) else ""
        )
        if advice.value is None:
            return taught, f"By rules. {advice.reason}".strip()
        lesson = advice.value
        named = {shown[place].memory.id for place in lesson.steps if place < len(shown)}
        best = max(taught, key=lambda each: len(named.intersection(each.evidence)))
        if not named.intersection(best.evidence):
            return taught, "By rules. The model's lesson rests on no failure that was overcome."
        worded = replace(best, words=(lesson.trigger, lesson.do, lesson.avoid, lesson.why))
        return [worded if each is best else each for each in taught], "A language model worded a lesson."

    def _drafts(self, taught: Sequence[Taught], scope: Scope, policy: Policy) -> list[tuple[Taught, _Told]]:
        return [(each, _told(self._lesson(each, scope, policy))) for each in taught]

    def _lesson(self, taught: Taught, scope: Scope, policy: Policy) -> Memory:
        tag, task = tag_of(taught.signature), taught.last.task
        draft = Draft(
            content=taught.text,
            kind=Kind.PROCEDURAL,
            key=taught.key,
            tags=() if tag is None else (tag,),
            metadata={
                "trigger": taught.trigger,
                "do": list(taught.do),
                "avoid": list(taught.avoid),
                "signature": taught.signature,
                "again": taught.again,
                "evidence": list(taught.evidence),
                "worked": [taught.worked],
                "against": [],
                "support": 1,
                "by": "rules" if taught.words is None else "language-model",
            },
            source=Source.AGENT,
            visibility=Visibility.PRIVATE if taught.private else Visibility.SHARED,
            importance=self.settings.lesson_importance,
            occurred_at=taught.last.occurred_at,
            task=task,
            tools=(taught.tool,) if taught.tool else (),
        )
        lesson = remember(screen(draft, policy, Source.AGENT), scope, self.clock(), self.write)
        return replace(lesson, summary=None)  # it is short, and one piece

    def _outcome(self, run: Run, tried: Sequence[Tried], scope: Scope, policy: Policy) -> _Told:
        steps = [each.memory for each in tried if each.tool]
        private = any(each.visibility is Visibility.PRIVATE for each in steps)
        draft = Draft(
            content=run.text,
            kind=Kind.EPISODIC,
            key=outcome_key(scope.session_id, run.task),
            source=Source.AGENT,
            visibility=Visibility.PRIVATE if private else Visibility.SHARED,
            importance=self.settings.outcome_importance,
            occurred_at=steps[-1].occurred_at,
            outcome=run.outcome,
            task=run.task or None,
            tools=run.tools[:EVIDENCE],
        )
        return _told(remember(screen(draft, policy, Source.AGENT), scope, self.clock(), self.write))


@dataclass(frozen=True, slots=True)
class _Told:
    """A memory as it would be stored, and what it is found by."""

    memory: Memory
    marks: Marks


def _told(memory: Memory) -> _Told:
    return _Told(memory, marks_of(memory))


def _tried(turns: Sequence[Memory]) -> list[Tried]:
    return [Tried.of(each) for each in turns]


async def _taught_by(ids: Sequence[str], reader: Reader) -> set[str]:
    """Those of the memories that a lesson rests on."""
    edges = [edge for edge in await reader.relations(ids) if edge.type is RelationType.DERIVED_FROM] if ids else []
    found = await reader.get(list(dict.fromkeys(edge.from_id for edge in edges)))
    lessons = {each.id for each in found if (each.key or "").startswith(LESSON)}
    return {edge.to_id for edge in edges if edge.from_id in lessons}


@dataclass(slots=True)
class _Book:
    """The lessons of a bank within one transaction, and what was done to them."""

    tx: Tx
    scope: Scope
    actor: str
    now: datetime
    settings: ReflectSettings
    changes: list[Change] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)

    async def recheck(self, task: str) -> None:
        """Weaken the lessons of this run whose evidence has gone, and take out those of which nothing shows the use."""
        asked: Mapping[str, Any] = (
            {"session": self.scope.session_id} if self.scope.session_id is not None else {"tasks": (task,)}
        )
        found = await self.tx.find(self._where(kinds=(Kind.PROCEDURAL,), **asked), _VERSIONS)
        for lesson in (each for each in found if (each.key or "").startswith(LESSON) and not each.pinned):
            held = await self.tx.get([*_ids(lesson, "evidence"), *_ids(lesson, LOST)])
            weight = weigh(lesson, {each.id: each for each in held})
            if not weight.now:
                if not await is_kept(lesson, self.tx):
                    fields = {"status": Status.DELETED, "deleted_at": self.now}
                    await self._change(lesson, "forgotten", "its evidence has gone", fields)
            elif weight.now < weight.before:
                await self._change(lesson, "weakened", "part of its evidence has gone", weight.fields)
            elif weight.now > weight.before:
                await self._change(lesson, "strengthened", "evidence of it is back", weight.fields)

    async def learn(self, taught: Taught, new: _Told) -> Memory | None:
        """Write a lesson, or what it adds to the one that stands; returns the one that stands then."""
        owner = owner_of(new.memory)
        versions = await self.tx.find(self._where(key=taught.key, statuses=tuple(Status)), _VERSIONS)
        versions = [each for each in versions if owner_of(each) == owner]
        old = next((each for each in versions if each.status is Status.ACTIVE), None)
        edges = await self.tx.relations([each.id for each in versions]) if versions else []
        known = {edge.to_id for edge in edges if edge.type is RelationType.DERIVED_FROM}
        evidence = [each for each in await self.tx.get(taught.evidence) if stands(each, self.scope)]
        if known.issuperset(taught.evidence) or len(evidence) < len(taught.evidence):
            return old  # nothing new, or something that it rests on has gone in the meantime
        same = [each for each in versions if each.metadata.get("do") == list(taught.do)]
        if any(each.status is Status.QUARANTINED for each in same):
            return old  # somebody has called this advice wrong
        if old is not None and (old in same or old.content_hash == new.memory.content_hash):
            return await self._strengthen(old, taught)
        if old is not None and taught.last.occurred_at < old.occurred_at:
            return old
        verdict = Verdict(Standing.UNRELATED) if old is None else Verdict(Standing.NEWER, old)
        receipt = await settle(new.memory, new.marks, verdict, self.tx)
        await self._derive(receipt.id, taught.evidence)
        what, why = ("learnt", "an error was overcome") if old is None else ("replaced", "something else worked")
        self._note(receipt.id, what, why, {"importance": new.memory.importance}, receipt.related)
        return replace(new.memory, version=receipt.version)

    async def _strengthen(self, old: Memory, taught: Taught) -> Memory:
        held = dict(old.metadata)
        support = held.get("support")
        held["support"] = (support if isinstance(support, int) else 1) + 1
        held["evidence"] = [*_ids(old, "evidence"), *taught.evidence][-EVIDENCE:]
        held["worked"] = [*_ids(old, "worked"), taught.worked][-EVIDENCE:]
        importance = old.importance + self.settings.gain * (1 - old.importance)
        fields = {"metadata": held, "importance": importance, "last_accessed_at": self.now}
        await self._derive(old.id, taught.evidence)
        return await self._change(old, "strengthened", "it worked again", fields)

    async def doubt(self, tried: Sequence[Tried]) -> None:
        """Weaken the lessons whose advice was followed in vain, and retire those that are too weak then.

        A lesson that this run has borne out, or made, rests on its steps: they do not count against it.
        """
        failed = [each for each in tried if each.outcome is Outcome.FAILURE and each.signature]
        keys = list(dict.fromkeys(key_of(each.signature, each.tool) for each in reversed(failed)))[:MOST]
        for key in keys:
            for owner in dict.fromkeys((None, self.scope.agent_id)):
                lesson = await self.tx.current(key, owner)
                if lesson is not None and (against := followed_in_vain(lesson, tried)):
                    await self._weaken(lesson, against)

    async def _weaken(self, lesson: Memory, against: Sequence[str]) -> None:
        importance = lesson.importance * self.settings.loss
        held = {**lesson.metadata, "against": [*_ids(lesson, "against"), *against][-EVIDENCE:]}
        fields: dict[str, Any] = {"importance": importance, "metadata": held}
        if importance >= self.settings.least or lesson.pinned:
            await self._change(lesson, "weakened", "its advice was followed in vain", fields)
            return
        fields |= {"status": Status.SUPERSEDED, "valid_until": self.now}
        await self._change(lesson, "retired", "its advice was followed in vain too often", fields)

    async def close(self, told: _Told, tried: Sequence[Tried]) -> Memory | None:
        """Write what the task came to, unless an episode over its steps says so; returns the memory that does."""
        ids = [each.memory.id for each in tried if each.tool][-EVIDENCE:]
        episode = await self._episode(ids)
        known = await self.tx.known(told.memory.content_hash)
        if episode is not None or (known is not None and known.status in (Status.ACTIVE, *_GONE)):
            return episode or (known if known is not None and known.status is Status.ACTIVE else None)
        assert told.memory.key is not None
        old = await self.tx.current(told.memory.key, owner_of(told.memory))
        verdict = Verdict(Standing.UNRELATED) if old is None else Verdict(Standing.NEWER, old)
        receipt = await settle(told.memory, told.marks, verdict, self.tx)
        await self._derive(receipt.id, ids)
        self._note(receipt.id, "recorded", "what the task came to", {}, receipt.related)
        return replace(told.memory, version=receipt.version)

    async def _episode(self, ids: Sequence[str]) -> Memory | None:
        edges = await self.tx.relations(ids)
        told = [edge.from_id for edge in edges if edge.type is RelationType.DERIVED_FROM and edge.to_id in ids]
        found = [each for each in await self.tx.get(list(dict.fromkeys(told))) if stands(each, self.scope)]
        ended = (each for each in found if each.kind is Kind.EPISODIC and each.outcome in _ENDED)
        return next((each for each in ended if not is_reflected(each.key)), None)

    async def _derive(self, memory_id: str, evidence: Sequence[str]) -> None:
        for each in evidence:
            edge = Relation(type=RelationType.DERIVED_FROM, from_id=memory_id, to_id=each, created_at=self.now)
            await self.tx.relate(edge)

    async def _change(self, lesson: Memory, what: str, why: str, fields: Mapping[str, Any]) -> Memory:
        after = await self.tx.change(lesson, **fields)
        self._note(lesson.id, what, why, {"importance": after.importance, "before": lesson.importance})
        return after

    def _note(
        self, memory_id: str, what: str, why: str, numbers: Mapping[str, float], related: Sequence[str] = ()
    ) -> None:
        self.changes.append(Change(memory_id, what, why, numbers))
        self.events.append(
            Event(
                id=new_id(self.now),
                bank_id=self.scope.bank,
                at=self.now,
                actor=self.actor,
                verb="reflect",
                memory_id=memory_id,
                reason=why,
                detail={"action": what, **numbers, "related": list(related)},
            )
        )

    def _where(self, **asked: Any) -> Where:
        """Those that the scope may see, wherever they are kept."""
        return Where(now=self.now, viewer=self.scope.agent_id, tiers=tuple(Tier), findable=False, **asked)


def _ids(lesson: Memory, name: str) -> list[str]:
    value = lesson.metadata.get(name)
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []
