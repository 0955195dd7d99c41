"""The verb that turns what came up again and again into what is so and how it is done, and takes a run of that back."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from hindsight_memory.domain import (
    Concluded,
    Consolidated,
    Consolidation,
    Event,
    Memory,
    Scope,
    Status,
    Window,
)
from hindsight_memory.errors import InvalidInput
from hindsight_memory.guard.access import require
from hindsight_memory.ingest.enrich import marks_of, owner_of
from hindsight_memory.lifecycle.bench import ACTOR, Planned
from hindsight_memory.lifecycle.conclude import EVIDENCE, NAME, SUPPORT
from hindsight_memory.lifecycle.derive import action_of
from hindsight_memory.service.base import Verbs
from hindsight_memory.store.base import Tx

_MOST: Final = 1_000
"""Lines of a report, and of the log that are read at once."""
_MOMENT: Final = timedelta(microseconds=1)


class Consolidating(Verbs):
    """The verb that concludes."""

    async def consolidate(self, asked: Consolidation, scope: Scope) -> Consolidated:
        """Conclude from one user's episodes and statements: what is usually so, and how tasks are done.

        Everything it writes is word for word what somebody said or did, and names its evidence. What it concluded
        before is strengthened, weakened or retired as the evidence has become. With ``propose`` new conclusions wait in
        quarantine: ``restore`` accepts one, ``forget`` refuses it for good. ``undo`` takes an earlier run back.

        Raises:
            InvalidInput: ``undo`` was given with something else.
            Overloaded: Another process is doing maintenance.
        """
        require(self.principal, "consolidate", scope)
        if asked.undo is not None:
            if asked.dry_run or asked.propose:
                raise InvalidInput("undo is given with something else.", hint="Give undo alone.", field="undo")
            return await self._undo(asked.undo, scope)
        run, done = await self._parts.keeper.conclude(scope, asked)
        self._parts.indexer.wake()
        lines = [each async for each in self._lines(done, scope)]
        return Consolidated(
            dry_run=asked.dry_run, run=run, conclusions=tuple(lines[:_MOST]), more=max(len(lines) - _MOST, 0)
        )

    async def _lines(self, done: list[Planned], scope: Scope) -> AsyncIterator[Concluded]:
        """What was done, as far as the caller may see the memories."""
        told = [each for each in done if each.change.what == NAME]
        ids = [each.change.memory_id for each in told if each.made is None]
        held = {memory.id: memory for memory in await self._parts.store.reading(scope.bank).get(ids)}
        for each in told:
            memory = held.get(each.change.memory_id) if each.made is None else each.made.memory
            if memory is None or owner_of(memory) not in (None, scope.agent_id):
                continue
            metadata = {**memory.metadata, **({} if each.made is None else each.made.values.get("metadata", {}))}
            yield Concluded(
                action=action_of(each),
                memory_id=memory.id,
                kind=memory.kind,
                content=memory.content,
                why=each.change.why,
                support=int(each.change.numbers.get(SUPPORT, 0)),
                evidence=tuple(metadata.get(EVIDENCE, ())),
            )

    async def _undo(self, run: datetime, scope: Scope) -> Consolidated:
        """Take back what a run did, the latest first, as far as nobody has changed it since."""
        events = [each async for each in self._of_run(run, scope)]
        lines = []
        for event in reversed(events):
            async with self._parts.store.transaction(scope) as tx:
                memory = await self._undone(event, scope, tx)
            if memory is not None:
                lines.append(Concluded(action="undone", memory_id=memory.id, kind=memory.kind, content=memory.content))
        self._parts.indexer.wake()
        more = max(len(lines) - _MOST, 0)
        return Consolidated(dry_run=False, run=run, conclusions=tuple(lines[:_MOST]), more=more)

    async def _of_run(self, run: datetime, scope: Scope) -> AsyncIterator[Event]:
        reader, after = self._parts.store.reading(scope.bank), None
        while page := await reader.replay(Window(run, run + _MOMENT), scope.agent_id, _MOST, after):
            for _, event in page:
                if event.verb == NAME and event.actor == ACTOR:
                    yield event
            after = page[-1][0]

    async def _undone(self, event: Event, scope: Scope, tx: Tx) -> Memory | None:
        memory = next(iter(await tx.get([event.memory_id or ""])), None)
        if memory is None:
            return None
        before, after = event.detail.get("before", {}), event.detail.get("after", {})
        match event.detail.get("action"):
            case "made" | "made again" | "proposed" if memory.status in (Status.ACTIVE, Status.QUARANTINED):
                values: dict[str, Any] = {"status": Status.DELETED, "deleted_at": self._parts.clock()}
                verb = "forget"  # what was taken back is refused: the next run does not make it again
            case "retired" if memory.status is Status.DELETED:
                values, verb = {"status": Status.ACTIVE, "deleted_at": None}, "restore"
            case "replaced" if memory.status is Status.SUPERSEDED:
                values = {"status": Status.ACTIVE, "superseded_by": None, "valid_until": None}
                verb = "restore"
            case "changed" if _as_after(memory, after):
                # The count stays: it is raised again when there is more, and not because it was lowered.
                values = {name: before[name] for name in before if name == "importance"}
                verb = "restore"
            case _:
                return None
        if not values:
            return None
        back = await tx.change(memory, marks_of(memory), **values)
        status = {"before": {"status": memory.status}, "after": {"status": back.status}}
        await tx.record([self._event(verb, back, scope, status, "consolidation undone")])
        return back


def _as_after(memory: Memory, after: Mapping[str, Any]) -> bool:
    return memory.status is Status.ACTIVE and memory.importance == after.get("importance", memory.importance)
