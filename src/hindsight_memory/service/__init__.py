"""The verbs: the only thing adapters call."""

from __future__ import annotations

import asyncio
import copy
from collections import defaultdict
from contextlib import suppress
from typing import Final

from hindsight_memory.domain import Scope
from hindsight_memory.errors import HindsightMemoryError
from hindsight_memory.guard.access import Principal
from hindsight_memory.recall.pipeline import Finder
from hindsight_memory.service.auditing import Auditing
from hindsight_memory.service.base import Parts
from hindsight_memory.service.changing import Changing
from hindsight_memory.service.consolidating import Consolidating
from hindsight_memory.service.disputes import Disputes
from hindsight_memory.service.erasing import Erasing
from hindsight_memory.service.foresight import Foresight
from hindsight_memory.service.guarding import Guarding
from hindsight_memory.service.keeping import Keeping
from hindsight_memory.service.keys import Keys
from hindsight_memory.service.learning import Learning
from hindsight_memory.service.moving import Moving
from hindsight_memory.service.reading import Reading
from hindsight_memory.service.reflecting import Reflecting
from hindsight_memory.service.reviewing import Reviewing
from hindsight_memory.service.sessions import Sessions
from hindsight_memory.service.writing import Writing

__all__ = ["Parts", "Service"]

_LONGEST_PAUSE: Final = 600.0
"""Seconds between looks at whether the files are to be scrubbed."""


class Service(
    Auditing,
    Writing,
    Reading,
    Changing,
    Consolidating,
    Disputes,
    Erasing,
    Foresight,
    Guarding,
    Keeping,
    Keys,
    Learning,
    Moving,
    Reflecting,
    Reviewing,
    Sessions,
):
    """Memory of many banks, as one caller sees it: every verb asks whether the caller may."""

    @property
    def finder(self) -> Finder:
        """The read path itself: what fits its weights measures it before it ranks."""
        return self._parts.finder

    def acting_as(self, principal: Principal) -> Service:
        """The same service for another caller."""
        other = copy.copy(self)
        other.principal = principal
        return other

    async def start(self) -> None:
        """Begin the work behind the verbs: vectors for what lacks them, access counts, maintenance.

        Where the settings leave it to a worker, only what this process alone knows is done: accesses are counted.
        """
        await self._parts.indexer.start()
        if not self.settings.write.work:
            self._parts.working.append(asyncio.create_task(self._count()))
            return
        self._parts.working += [asyncio.create_task(self._parts.indexer.run()), asyncio.create_task(self._count())]
        self._parts.working.append(asyncio.create_task(self._parts.reading.run()))
        self._parts.working.append(asyncio.create_task(self._scrub()))
        if self.settings.lifecycle.schedule:
            self._parts.working.append(asyncio.create_task(self._parts.keeper.watch()))

    async def close(self) -> None:
        """Finish what this process wrote, within bounds, and let go of everything."""
        self._parts.indexer.stop()
        self._parts.reading.stop()
        try:
            if self._parts.working and self.settings.write.work:
                await asyncio.wait(self._parts.working[:1], timeout=self.settings.write.drain_s)
            for task in self._parts.working:
                task.cancel()
            await asyncio.gather(*self._parts.working, return_exceptions=True)
            with suppress(HindsightMemoryError):  # access counts are not worth an error at the end
                await self._flush()
            with suppress(HindsightMemoryError):
                await self._parts.reading.close()
        finally:
            for model in (*self._parts.embedders, self._parts.reranker, self._parts.assistant, self._parts.llm):
                if model is not None:
                    await model.close()
            await self._parts.store.close()

    async def _count(self) -> None:
        while True:
            await asyncio.sleep(self.settings.write.poll_s)
            with suppress(HindsightMemoryError):  # a few counts lost to a busy disk; the next ones are kept
                await self._flush()

    async def _scrub(self) -> None:
        """Finish what a purge had to put off, or a process that ended in the middle of one: the files keep nothing."""
        pause = self.settings.write.poll_s
        while True:
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
            with suppress(HindsightMemoryError):  # it is erased, and tried again
                await self._parts.store.scrub()

    async def _flush(self) -> None:
        touched, self._parts.touched = self._parts.touched, defaultdict(set)
        for bank, ids in ((bank, ids) for bank, ids in touched.items() if ids):
            async with self._parts.store.transaction(Scope.of_bank(bank)) as tx:
                await tx.touch(sorted(ids), self._parts.clock())
        used, self._parts.used = self._parts.used, {}
        if used:
            await self._parts.store.used_keys(used)
