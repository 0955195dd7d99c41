"""The verbs that keep memory in order over time: maintenance, models' jobs, what happened when."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from hindsight_memory.domain import (
    Event,
    Jobs,
    Line,
    MaintainReport,
    Maintenance,
    Memory,
    Replay,
    Scope,
    Span,
    Status,
    Window,
    Work,
    new_id,
)
from hindsight_memory.errors import InvalidInput
from hindsight_memory.guard.access import may, require
from hindsight_memory.service.base import Verbs, may_see
from hindsight_memory.service.keys import DEEDS
from hindsight_memory.store.base import Mark, Stage
from hindsight_memory.strength import expired

_ALL_TIME: Final = Window(datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 12, 30, tzinfo=UTC))
_LONGEST_NUMBER: Final = 18
"""Digits that a database takes for a number."""
_JOBS: Final = 20
"""Jobs that are told of by themselves."""


class Keeping(Verbs):
    """Verbs that keep memory in order over time."""

    async def maintain(self, asked: Maintenance, progress: Callable[[int], None] = lambda _: None) -> MaintainReport:
        """Let go of what has had its time, in every bank that the caller may act in.

        Working memory ends, what nobody uses is put away, repeats are merged, what was derived is weighed anew, what a
        full bank can spare is forgotten, and what was forgotten long enough ago is purged. ``restore`` takes back every
        step but the last. Where there is a language model, it reads what waits for it, for a minute at most.

        Args:
            asked: What to do, and where.
            progress: Called with the number of memories that a language model has read so far.

        Raises:
            Overloaded: Another process is at it.
        """
        namespace = self.principal.namespace or (Scope().namespace if asked.users else None)
        require(self.principal, "maintain", Scope(namespace=namespace or Scope().namespace))
        return await self._parts.keeper.run(asked, namespace, progress)

    async def jobs(
        self,
        scope: Scope,
        *,
        retry: bool = False,
        run: bool = False,
        within_s: int = 60,
        progress: Callable[[int], None] = lambda _: None,
    ) -> Jobs:
        """How far language models are with what was written here, and what went wrong lately.

        Nothing waits for them: what is queued, running or failed is kept and found as it was written.

        Args:
            scope: Whose memory is meant.
            retry: Try once more what had been given up.
            run: Have what waits read now, as far as the day's share and the time go.
            within_s: How long that may take.
            progress: Called with the number of memories read so far.

        Raises:
            InvalidInput: Something is to be read, and there is no language model.
        """
        require(self.principal, "write" if retry or run else "get", scope)
        asked = Work(retry=retry, run=run, within_s=within_s)
        shift = self._parts.catch_up.needed(asked.within_s, progress) if run else None
        attempts = self.settings.read.attempts
        retried = 0
        if retry:
            async with self._parts.store.transaction(scope) as tx:
                retried = await tx.retry(Stage.READ, attempts)
                now = self._parts.clock()
                event = Event(id=new_id(now), bank_id=scope.bank, at=now, actor=self._actor(scope), verb="retry_jobs")
                await tx.record([replace(event, detail={"jobs": retried})] if retried else [])
            self._parts.reading.wake()
        read = await shift.work(scope.bank) if shift is not None else 0
        stopped = None if shift is None else shift.stopped
        found = await self._parts.store.reading(scope.bank).jobs(scope.agent_id, attempts, _JOBS)
        return replace(found, retried=retried, read=read, stopped=stopped)

    async def replay(self, span: Span, scope: Scope) -> Replay:
        """What happened in a span, oldest first, each event with the memory it is about.

        What another agent keeps to itself is not told. A memory that was forgotten has its line and not its text.
        """
        require(self.principal, "replay", scope)
        reader = self._parts.store.reading(scope.bank)
        window = Window(span.since or _ALL_TIME.since, span.until or _ALL_TIME.until)
        found = await reader.replay(window, scope.agent_id, span.limit + 1, _mark(span.after))
        told, more = found[: span.limit], len(found) > span.limit
        hidden = frozenset[str]() if may(self.principal, "keys", scope) else DEEDS
        held = {memory.id: memory for memory in await reader.get([event.memory_id or "" for _, event in told])}
        now = self._parts.clock()
        shown = (event for _, event in told if event.verb not in hidden)
        lines = [line for event in shown if (line := _line(event, held.get(event.memory_id or ""), scope, now))]
        return Replay(tuple(lines), "{}.{}".format(*told[-1][0]) if more else None)


def _line(event: Event, memory: Memory | None, scope: Scope, now: datetime) -> Line | None:
    if memory is None:
        return Line(event)  # erased, with what the log held of it, or an event about no memory
    if not may_see(memory, scope):
        return None  # made private in the meantime
    if memory.status is Status.DELETED or expired(memory, now):
        # Corrections keep the former text; it is as forgotten as the memory.
        return Line(replace(event, detail={name: value for name, value in event.detail.items() if name != "before"}))
    return Line(event, memory)


def _mark(after: str | None) -> Mark | None:
    if after is None:
        return None
    at, _, number = after.partition(".")
    whole = after.isascii() and at.removeprefix("-").isdecimal() and number.isdecimal()
    if not whole or max(len(at), len(number)) > _LONGEST_NUMBER:
        raise InvalidInput("after is not the next of a page.", hint="Give it as it was.", field="after")
    return int(at), int(number)
