"""The routines of maintenance, and the only code that carries out what they plan."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final, TypeAlias

from hindsight_memory.domain import Consolidation, MaintainReport, Maintenance, Scope, Stop, Upkeep
from hindsight_memory.errors import HindsightMemoryError, InvalidInput, Overloaded, told
from hindsight_memory.ingest.sessions import promote_expired
from hindsight_memory.lifecycle.apply import apply
from hindsight_memory.lifecycle.bench import Bench, Planned, Repeats
from hindsight_memory.lifecycle.catch_up import CatchUp, Shift
from hindsight_memory.lifecycle.consolidate import consolidate
from hindsight_memory.lifecycle.episodes import episodes
from hindsight_memory.lifecycle.forget import evict, expire, promote, purge, tier
from hindsight_memory.lifecycle.lessons import lessons
from hindsight_memory.lifecycle.merge import merge, says_the_same
from hindsight_memory.settings import Settings
from hindsight_memory.store.base import Done, Store, Talk, Tx

_log: Final = logging.getLogger(__name__)
_ROLE: Final = "maintenance"
READ: Final = "read"
"""The routine in which language models do the work: others plan it, and no transaction of ours holds it."""
_BANKS: Final = 200
"""Banks listed at once."""
_LINES: Final = 1_000
"""Lines of a report."""
_EXAMPLES: Final = 3
_STOPPED: Final = {
    Stop.TIME: "the time for it is up",
    Stop.DAY: "what language models may do in a day is done",
    Stop.MODEL: "the language model does not answer",
}
_LONGEST_REST: Final = 0.025

Plan: TypeAlias = Callable[[Bench], AsyncIterator[Planned]]
Act: TypeAlias = Callable[[Store, str, datetime, int], Awaitable[int]]


@dataclass(frozen=True, slots=True)
class Routine:
    """Something that is done in every bank every so often.

    A ``guarded`` one is planned to its end before anything is done, and refused where it would empty half a bank.
    ``act`` carries out what is planned where that is another's work: at most so many changes of a bank, and how many.
    """

    name: str
    every: timedelta
    plan: Plan
    guarded: bool = False
    act: Act | None = None

    def due(self, done: Done | None, now: datetime) -> bool:
        """Whether it is time; what was done in the future was done by another clock."""
        return done is None or not timedelta() <= now - done.at < self.every


ROUTINES: Final = (
    Routine("promote", timedelta(hours=1), promote, act=promote_expired),
    Routine("expire", timedelta(hours=1), expire),
    Routine(READ, timedelta(), lambda _: _listed(())),
    Routine("tier", timedelta(days=1), tier),
    Routine("merge", timedelta(days=1), merge, guarded=True),
    Routine("episodes", timedelta(hours=1), episodes),
    Routine("lessons", timedelta(days=1), lessons),
    Routine("consolidate", timedelta(days=1), consolidate),
    Routine("evict", timedelta(days=1), evict, guarded=True),
    Routine("purge", timedelta(days=1), purge),
)
"""In the order they are done: each sees what the ones before it have left."""


@dataclass(slots=True)
class Keeper:
    """Does maintenance: one process at a time, however many share a store.

    ``holder`` names this process among them, and ``gone`` says whether another has ended without a word. ``repeats``
    judges what says the same, by words or in ``space``. ``catch_up`` has language models read what waits for them.
    """

    store: Store
    settings: Settings
    clock: Callable[[], datetime]
    holder: str
    gone: Callable[[str], bool] = lambda _: False
    repeats: Repeats = says_the_same
    space: str | None = None
    catch_up: CatchUp | None = None
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    _compacted: datetime | None = None
    _beat: asyncio.Task[None] | None = None
    _shift: Shift | None = None

    async def watch(self) -> None:
        """Do what is due, again and again, until cancelled; language models are seen to by the worker beside it."""
        chosen = [routine for routine in ROUTINES if routine.name != READ]
        while True:
            await asyncio.sleep(self.settings.lifecycle.look_s)
            try:
                async with self._leading(dry_run=False):
                    await self._run(Maintenance(due=True), chosen, None)
            except Overloaded:
                continue  # another process is at it
            except Exception as error:  # noqa: BLE001  # the loop outlives whatever the disk does to it
                _log.warning("Maintenance failed, and is tried again later: %s", told(error))

    async def run(
        self, asked: Maintenance, namespace: str | None, progress: Callable[[int], None] = lambda _: None
    ) -> MaintainReport:
        """Do, or only say, what is to be done in the banks of a namespace, or in all.

        ``progress`` is called with the number of memories that language models have read. Raises ``Overloaded`` when
        another process is at it; a dry run asks nobody.
        """
        chosen = _chosen(asked.routines)
        async with self._leading(dry_run=asked.dry_run):
            return await self._run(asked, chosen, namespace, progress)

    async def conclude(self, scope: Scope, asked: Consolidation) -> tuple[datetime, list[Planned]]:
        """Make episodes and conclusions of one bank, or only say which; returns when, and all that was done.

        Raises ``Overloaded`` when another process is doing maintenance; a dry run asks nobody.
        """
        async with self._leading(dry_run=asked.dry_run):
            return await self._conclude(scope, asked)

    async def _conclude(self, scope: Scope, asked: Consolidation) -> tuple[datetime, list[Planned]]:
        now, reader, done = self.clock(), self.store.reading(scope.bank), list[Planned]()
        bench = Bench(scope.bank, reader, self.settings, now, self.repeats, self.space, set(), propose=asked.propose)
        for plan in (episodes, consolidate):
            async for batch in _batches(plan(bench), self.settings.lifecycle.batch):
                done += batch if asked.dry_run else await self._apply(batch, scope, now)
        if bench.told and not asked.dry_run:
            async with self.store.transaction(scope) as tx:
                await _note(bench.told, tx)
        return now, done

    async def _run(
        self,
        asked: Maintenance,
        chosen: Sequence[Routine],
        namespace: str | None,
        progress: Callable[[int], None] = lambda _: None,
    ) -> MaintainReport:
        banks, lines, totals = 0, [], dict.fromkeys((routine.name for routine in chosen), 0)
        more = 0
        self._shift = None if self.catch_up is None else self.catch_up.shift(self.settings.read.work_s, progress)
        async for scope in self._banks(namespace):
            if asked.users and scope.user_id not in asked.users:
                continue
            banks += 1
            for line in await self._bank(scope, asked, chosen):
                totals[line.routine] += line.changes
                if line.changes or line.passed or line.stopped:
                    lines.append(line)
            more, lines = more + max(len(lines) - _LINES, 0), lines[:_LINES]
        if totals.get("purge") and not asked.dry_run:
            await self.store.scrub(compact=self._may_compact(due=asked.due))
        return MaintainReport(dry_run=asked.dry_run, banks=banks, totals=totals, upkeep=tuple(lines), more=more)

    def _may_compact(self, *, due: bool) -> bool:
        """Whether the files are to be made anew now: what comes by itself does it once a day, since writes wait."""
        now = self.clock()
        if due and self._compacted is not None and now - self._compacted < timedelta(days=1):
            return False
        self._compacted = now
        return True

    async def _banks(self, namespace: str | None) -> AsyncIterator[Scope]:
        after = None
        while page := await self.store.banks(namespace, after, _BANKS):
            for scope in page:
                yield scope
            after = page[-1].bank

    async def _bank(self, scope: Scope, asked: Maintenance, chosen: Sequence[Routine]) -> list[Upkeep]:
        now, reader = self.clock(), self.store.reading(scope.bank)
        done = await reader.upkeep()
        due = [routine for routine in chosen if not asked.due or routine.due(done.get(routine.name), now)]
        if not due:
            return []
        self._must_lead()
        gone: set[str] = set()
        settled: dict[str, Done] = {}
        grouped: list[tuple[Talk, int, int]] = []
        lines = []
        for routine in due:
            place = done[routine.name].place if routine.name in done else 0
            bench = Bench(scope.bank, reader, self.settings, now, self.repeats, self.space, gone, place)
            try:
                line = await self._routine(routine, bench, scope, asked)
            except HindsightMemoryError:
                raise
            except Exception as error:  # noqa: BLE001  # one routine in one bank keeps no other from its turn
                _log.warning("%s of %s failed: %s", routine.name, scope.bank, told(error))
                lines.append(Upkeep(user_id=scope.user_id, routine=routine.name, changes=0, stopped="it failed"))
                continue
            # What was left alone, since somebody used it, is looked at again.
            settled[routine.name] = Done(now, place if line.stopped or line.passed else bench.place)
            grouped += bench.told
            lines.append(line)
        settled.pop(READ, None)  # what was read says so by itself
        if (settled or grouped) and not asked.dry_run:
            async with self.store.transaction(scope) as tx:
                for name, each in settled.items():
                    await tx.settle_upkeep(name, each)
                await _note(grouped, tx)
        return lines

    async def _routine(self, routine: Routine, bench: Bench, scope: Scope, asked: Maintenance) -> Upkeep:
        if routine.name == READ:
            return await self._have_read(bench, scope, asked)
        if routine.act is not None and not asked.dry_run:
            return await self._acted(routine.name, routine.act, bench, scope)
        plan = routine.plan(bench)
        if routine.guarded:
            changes = [each async for each in plan]
            stopped = "" if asked.beyond_half else await self._too_many(changes, bench)
            if stopped:
                _log.warning("%s of %s stopped: %s", routine.name, scope.bank, stopped)
                return Upkeep(user_id=scope.user_id, routine=routine.name, changes=0, stopped=stopped)
            plan = _listed(changes)
        count = passed = 0
        examples: list[Planned] = []
        async for batch in _batches(plan, self.settings.lifecycle.batch):
            if asked.dry_run:
                made: Sequence[Planned] = batch
                bench.gone.update(each.change.memory_id for each in batch if each.hides)
            else:
                made = await self._apply(batch, scope, bench.now)
            count, passed = count + len(made), passed + len(batch) - len(made)
            examples = [*examples, *made][:_EXAMPLES]
        shown = tuple(each.change for each in examples)
        return Upkeep(user_id=scope.user_id, routine=routine.name, changes=count, passed=passed, examples=shown)

    async def _have_read(self, bench: Bench, scope: Scope, asked: Maintenance) -> Upkeep:
        """Have language models read what waits in a bank; where there is none, only who asked for that is told."""
        line, shift = Upkeep(user_id=scope.user_id, routine=READ, changes=0), self._shift
        if self.catch_up is None or (shift is None and READ not in asked.routines):
            return line
        if shift is None:
            waits = await self.catch_up.due(bench.bank)
            return replace(line, stopped="no language model is set" if waits else "")
        if asked.dry_run:
            return replace(line, changes=await self.catch_up.due(bench.bank))
        count = await shift.work(bench.bank)
        waits = shift.stopped is not None and await self.catch_up.due(bench.bank)
        return replace(line, changes=count, stopped=_STOPPED[shift.stopped] if waits and shift.stopped else "")

    async def _acted(self, name: str, act: Act, bench: Bench, scope: Scope) -> Upkeep:
        count, batch, made = 0, self.settings.lifecycle.batch, 1
        while made:
            made = await act(self.store, bench.bank, bench.now, batch)
            count += made
        return Upkeep(user_id=scope.user_id, routine=name, changes=count)

    async def _too_many(self, changes: Sequence[Planned], bench: Bench) -> str:
        """Why a routine is not to be carried out; empty where it may."""
        limits = self.settings.lifecycle
        hidden = sum(each.hides and not each.harmless for each in changes)
        if hidden <= limits.at_least:
            return ""
        held = await bench.reader.active() - len(bench.gone)
        if hidden <= limits.at_most * held:
            return ""
        return f"it would take {hidden} of {held} memories out of sight; run it with beyond_half if that is meant"

    async def _apply(self, batch: Sequence[Planned], scope: Scope, now: datetime) -> list[Planned]:
        self._must_lead()
        loop = asyncio.get_running_loop()
        began = loop.time()
        async with self.store.transaction(scope) as tx:
            made = await apply(batch, tx, scope, now)
        # Who waits for the file looks for it only now and then: it is left alone for a while.
        await asyncio.sleep(min((loop.time() - began) / 4, _LONGEST_REST))
        return made

    @asynccontextmanager
    async def _leading(self, *, dry_run: bool) -> AsyncIterator[None]:
        """Be the one that does maintenance while this lasts; a dry run asks nobody."""
        async with self._turn:
            if dry_run:
                yield
                return
            await self._lead()
            self._beat = asyncio.create_task(self._keep_leading())
            try:
                yield
            finally:
                self._beat.cancel()
                await asyncio.gather(self._beat, return_exceptions=True)
                self._beat = None
                await self.store.resign(_ROLE, self.holder)

    async def _lead(self) -> None:
        """Become the one that does maintenance, or stay it. Raises ``Overloaded`` when another is."""
        lease = self.settings.lifecycle.lease_s
        leader = await self.store.lead(_ROLE, self.holder, lease)
        if leader != self.holder and self.gone(leader):
            await self.store.resign(_ROLE, leader)
            leader = await self.store.lead(_ROLE, self.holder, lease)
        if leader != self.holder:
            hint = "It does what is due; try again later if that was not what you asked for."
            raise Overloaded("Another process is doing maintenance.", hint=hint)

    async def _keep_leading(self) -> None:
        while True:
            await asyncio.sleep(self.settings.lifecycle.lease_s / 3)
            await self._lead()

    def _must_lead(self) -> None:
        """Raise ``Overloaded`` where another process has taken over in the meantime."""
        if self._beat is not None and self._beat.done():
            self._beat.result()


async def _note(told: Sequence[tuple[Talk, int, int]], tx: Tx) -> None:
    """Remember how far sessions were grouped."""
    for talk, turns, settled in told:
        await tx.tell(talk, turns, settled)


def _chosen(names: Sequence[str]) -> Sequence[Routine]:
    known = {routine.name for routine in ROUTINES}
    wrong = next((name for name in names if name not in known), None)
    if wrong is not None:
        hint = f"Use one of: {', '.join(routine.name for routine in ROUTINES)}."
        raise InvalidInput(f"{wrong!r} is not a routine.", hint=hint, field="routines")
    return [routine for routine in ROUTINES if not names or routine.name in names]


async def _listed(changes: Sequence[Planned]) -> AsyncIterator[Planned]:
    for each in changes:
        yield each


async def _batches(plan: AsyncIterator[Planned], size: int) -> AsyncIterator[list[Planned]]:
    batch: list[Planned] = []
    async for each in plan:
        batch.append(each)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch
