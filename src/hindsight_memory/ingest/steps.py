"""The write path of steps: each an episodic memory among the turns of its session, and whether its task is stuck."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from hindsight_memory.domain import Action, Draft, Kind, Memory, Outcome, Receipt, Scope, Source, Status, Step, Tier
from hindsight_memory.errors import InvalidInput
from hindsight_memory.guard.screen import Screened, admitted
from hindsight_memory.ingest.conversation import ConversationWriter, Turn, session_of
from hindsight_memory.ingest.enrich import cleaned, content_hash, marks_of, owner_of, remember
from hindsight_memory.ingest.screening import Screener
from hindsight_memory.settings import ReflectSettings, WriteSettings
from hindsight_memory.store.base import Store, Tx, Where
from hindsight_memory.text.errors import tag_of
from hindsight_memory.text.steps import Tried, failures_in_row, is_stuck, kept_of, same_aim, told, unsolved


@dataclass(frozen=True, slots=True)
class Taken:
    """A step that was stored, or was known; ``failures`` counts those in a row, ``fresh`` is being stuck anew."""

    receipt: Receipt
    step: Tried
    failures: int
    stuck: bool
    fresh: bool


@dataclass(frozen=True, slots=True)
class StepWriter:
    """Stores the steps of tasks."""

    store: Store
    screener: Screener
    converser: ConversationWriter
    write: WriteSettings
    settings: ReflectSettings
    clock: Callable[[], datetime]

    async def __call__(self, step: Step, scope: Scope, actor: str) -> Taken:
        """Store a step at the end of its session, in one transaction; with an ``id`` that is known it stays as it is.

        The first failure with an error can be found, and what overcame it. What fails again in the same way, and what
        simply goes well, is kept for what stands around it.
        """
        (screened,) = await self.screener([(step, Source.TOOL)], scope.bank)
        memory = self._memory(screened, step.id, scope)
        marks, tried = marks_of(memory), Tried.of(memory)
        async with self.store.transaction(scope) as tx:
            before = await self._before(memory, scope, tx)
            known = await tx.known(memory.content_hash)
            if known is not None:
                receipt = Receipt(id=known.id, action=Action.DUPLICATE, created=False, version=known.version)
                return _taken(
                    receipt, Tried.of(known), [each for each in before if in_order(each.memory) < in_order(known)]
                )
            aside = _is_aside(tried, before)
            turn = Turn(replace(memory, context_only=aside), marks, screened.findings)
            (receipt,) = await self.converser.append([turn], scope, actor, tx)
        return _taken(receipt, tried, before)

    def _memory(self, screened: Screened[Step], step_id: str | None, scope: Scope) -> Memory:
        session_id, step = session_of(scope), admitted(screened)
        if step.outcome is Outcome.PENDING:
            hint = "Record a step when it is over, as success or failure."
            raise InvalidInput("outcome is pending.", hint=hint, field="outcome")
        tool, given, error, output = map(cleaned, (step.tool, step.input, step.error, step.output))
        if not tool:
            raise InvalidInput("tool has nothing to remember.", hint="Name the tool.", field="tool")
        step = replace(step, tool=tool, input=given, error=error, output=output)
        kept = kept_of(step)
        tag = tag_of(kept.get("signature", ""))
        draft = Draft(
            content=told(step),
            kind=Kind.EPISODIC,
            tags=() if tag is None else (tag,),
            metadata=kept,
            source=Source.TOOL,
            source_ref=step.id,
            visibility=step.visibility,
            importance=self.settings.step_importance,
            occurred_at=step.occurred_at,
            outcome=step.outcome,
            task=step.task,
            tools=(step.tool,),
        )
        memory = remember(screened.made(draft), scope, self.clock(), self.write)
        at = None if step.occurred_at is None else step.occurred_at.isoformat()
        name = step_id or (None if at is None else content_hash(at, memory.content)) or memory.id
        first = memory.content.partition("\n")[0] if memory.summary else None
        return replace(memory, summary=first, content_hash=content_hash("step", session_id, owner_of(memory), name))

    async def _before(self, memory: Memory, scope: Scope, tx: Tx) -> list[Tried]:
        """The latest steps of the same task, or where none is named of the session, the earliest first."""
        most, now = self.settings.looked_back, self.clock()
        if memory.task:
            where = Where(now=now, viewer=scope.agent_id, tasks=(memory.task,), tiers=tuple(Tier), findable=False)
            found = sorted(await tx.find(where, most), key=in_order)
        else:
            end = await tx.next_turn(session_of(scope), 0)
            found = [each for each in await tx.turns(session_of(scope), end - most, end - 1) if stands(each, scope)]
        tried = [Tried.of(each) for each in found]
        return [each for each in tried if each.tool]


def in_order(memory: Memory) -> tuple[datetime, int]:
    """The place of a turn among those of all sessions."""
    return memory.created_at, memory.turn or 0


def stands(memory: Memory, scope: Scope) -> bool:
    """Whether a memory is there for who asks."""
    return memory.status is Status.ACTIVE and owner_of(memory) in (None, scope.agent_id)


def _taken(receipt: Receipt, step: Tried, before: Sequence[Tried]) -> Taken:
    steps = [*before, step]
    stuck = is_stuck(steps)
    fresh = stuck and (not is_stuck(before) or all(each.signature != step.signature for each in before))
    return Taken(receipt, step, failures_in_row(steps), stuck, fresh)


def _is_aside(step: Tried, before: Sequence[Tried]) -> bool:
    """Whether a step says nothing that should be found by itself."""
    open_ = unsolved(before)
    if step.outcome is Outcome.SUCCESS:
        return not any(same_aim(failure, step) for failure in open_)
    return any(_same_failure(step, failure) for failure in open_)


def _same_failure(one: Tried, other: Tried) -> bool:
    alike = one.signature == other.signature if one.signature else one.deed == other.deed
    return alike and one.tool == other.tool and one.memory.visibility is other.memory.visibility
