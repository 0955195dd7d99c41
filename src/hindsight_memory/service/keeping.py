"""The verbs that keep memory in order over time: maintenance, models' jobs, purging for good, what happened when."""

from __future__ import annotations

from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Final

from hindsight_memory.check import parse_text
from hindsight_memory.domain import (
    Erased,
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
    new_id,
)
from hindsight_memory.errors import InvalidInput
from hindsight_memory.guard.access import require
from hindsight_memory.ingest.derived import quoting
from hindsight_memory.service.base import LONGEST_ID, Verbs, may_see, seen
from hindsight_memory.store.base import Mark, Stage
from hindsight_memory.strength import expired

_LONGEST_REASON: Final = 2_000
_ALL_TIME: Final = Window(datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 12, 30, tzinfo=UTC))
_LONGEST_NUMBER: Final = 18
"""Digits that a database takes for a number."""
_JOBS: Final = 20
"""Jobs that are told of by themselves."""
_SHARED: Final = "shared"
"""What confirms that the shared bank is meant: it has no user."""


class Keeping(Verbs):
    """Verbs that keep memory in order over time."""

    async def maintain(self, asked: Maintenance) -> MaintainReport:
        """Let go of what has had its time, in every bank that the caller may act in.

        Working memory ends, what nobody uses is put away, repeats are merged, what a full bank can spare is forgotten,
        and what was forgotten long enough ago is purged. ``restore`` takes back every step but the last.

        Raises ``Overloaded`` when another process is at it.
        """
        namespace = self.principal.namespace or (Scope().namespace if asked.users else None)
        require(self.principal, "maintain", Scope(namespace=namespace or Scope().namespace))
        return await self._parts.keeper.run(asked, namespace)

    async def jobs(self, scope: Scope, *, retry: bool = False) -> Jobs:
        """How far language models are with what was written here, and what went wrong lately; ``retry`` tries it again.

        Nothing waits for them: what is queued, running or failed is kept and found as it was written.
        """
        require(self.principal, "write" if retry else "get", scope)
        attempts = self.settings.read.attempts
        retried = 0
        if retry:
            async with self._parts.store.transaction(scope) as tx:
                retried = await tx.retry(Stage.READ, attempts)
                now = self._parts.clock()
                event = Event(id=new_id(now), bank_id=scope.bank, at=now, actor=self._actor(scope), verb="retry_jobs")
                await tx.record([replace(event, detail={"jobs": retried})] if retried else [])
            self._parts.reading.wake()
        found = await self._parts.store.reading(scope.bank).jobs(scope.agent_id, attempts, _JOBS)
        return replace(found, retried=retried)

    async def purge(self, memory_id: str, scope: Scope, reason: str = "") -> Erased:
        """Remove one memory for good, at once, with its words, vectors, relations and what the log holds of it.

        What was read off it, and would keep its words, goes along.

        Returns:
            What was removed, counted.
        """
        require(self.principal, "purge", scope)
        memory_id = parse_text("memory_id", memory_id, LONGEST_ID)
        reason = parse_text("reason", reason, _LONGEST_REASON)
        async with self._parts.store.transaction(scope) as tx:
            memory = seen(await tx.get([memory_id]), memory_id, scope)
            gone = [memory, *await quoting(memory, tx)]
            erased = await tx.erase([each.id for each in gone])
            await tx.record([self._event("purge", each, scope, asdict(erased), reason) for each in gone])
        self._parts.indexer.wake()  # a turn after it is to be embedded without it
        await self._parts.store.scrub()
        return erased

    async def forget_all(self, scope: Scope, confirm: str) -> Erased:
        """Remove everything a user's bank holds, for good: memories, sessions, relations, vectors and the log.

        One line of the log stays, which says when and by whom, and what was removed, counted.

        Args:
            scope: Whose memory is meant.
            confirm: The same ``user_id`` once more; ``shared`` for the shared bank.

        Raises:
            InvalidInput: ``confirm`` is not the user; nothing was removed.
        """
        require(self.principal, "forget_all", scope)
        if confirm != (_SHARED if scope.user_id is None else scope.user_id):
            message = "confirm is not the user whose memory is to be removed."
            raise InvalidInput(message, hint="Give the user_id once more; nothing was removed.", field="confirm")
        now = self._parts.clock()
        reader = self._parts.store.reading(scope.bank)
        if not await reader.events(None, 1) and not await reader.active():
            return Erased()  # nothing is known of this user, and that stays so
        async with self._parts.store.transaction(scope) as tx:
            erased = await tx.erase_bank()
            event = Event(
                id=new_id(now),
                bank_id=scope.bank,
                at=now,
                actor=self._actor(scope),
                verb="forget_all",
                detail=asdict(erased),
            )
            await tx.record([event])
        self._parts.touched.pop(scope.bank, None)
        self._parts.finder.understand.drop_recent()
        await self._parts.store.scrub()
        return erased

    async def replay(self, span: Span, scope: Scope) -> Replay:
        """What happened in a span, oldest first, each event with the memory it is about.

        What another agent keeps to itself is not told. A memory that was forgotten has its line and not its text.
        """
        require(self.principal, "replay", scope)
        reader = self._parts.store.reading(scope.bank)
        window = Window(span.since or _ALL_TIME.since, span.until or _ALL_TIME.until)
        found = await reader.replay(window, scope.agent_id, span.limit + 1, _mark(span.after))
        told, more = found[: span.limit], len(found) > span.limit
        held = {memory.id: memory for memory in await reader.get([event.memory_id or "" for _, event in told])}
        now = self._parts.clock()
        lines = [line for _, event in told if (line := _line(event, held.get(event.memory_id or ""), scope, now))]
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
