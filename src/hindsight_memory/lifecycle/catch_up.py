"""Has language models read at once what waits for them: where no process stays open, nobody else does it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from hindsight_memory.domain import Stop
from hindsight_memory.errors import InvalidInput
from hindsight_memory.ingest.index import Indexer
from hindsight_memory.ingest.reading import Reading, terms_of
from hindsight_memory.models.base import ModelFailed
from hindsight_memory.store.base import Stage, Store


@dataclass(frozen=True, slots=True)
class CatchUp:
    """The workers behind the verbs, which are asked to work now."""

    store: Store
    indexer: Indexer
    reading: Reading

    async def due(self, bank: str) -> int:
        """How many memories of a bank wait to be read."""
        return await self.store.due(Stage.READ, terms_of(self.reading.settings, self.reading.clock()), bank)

    def shift(self, within_s: float, progress: Callable[[int], None]) -> Shift | None:
        """A span of work, for several banks together; ``None`` where there is no language model."""
        if not self.reading.assistant.models:
            return None
        return Shift(self, asyncio.get_running_loop().time() + within_s, progress)

    def needed(self, within_s: float, progress: Callable[[int], None]) -> Shift:
        """A span of work. Raises ``InvalidInput`` where there is no language model to do it."""
        shift = self.shift(within_s, progress)
        if shift is None:
            hint = "Set HINDSIGHT_MEMORY_LLM; until then what was written is found as it is, and waits."
            raise InvalidInput("No language model is set, so nothing can be read.", hint=hint, field="run")
        return shift


@dataclass(slots=True)
class Shift:
    """A span of work that ends at a time of the loop's clock, or where the models do not answer or have done enough.

    Whoever cancels it loses nothing: what is under way is given back as untried. ``stopped`` says why it ended before
    everything was read.
    """

    of: CatchUp
    until: float
    progress: Callable[[int], None]
    read: int = field(default=0, init=False)
    stopped: Stop | None = field(default=None, init=False)

    async def work(self, bank: str) -> int:
        """Have what waits in a bank read, the newest first; returns how many memories were."""
        before = self.read
        while self.stopped is None:
            await self._index(bank)
            taken = await self._step(bank)
            if not taken:
                break
            self.read += taken
            self.progress(self.read)
        if self.stopped is None and self.of.reading.is_spent and await self.of.due(bank):
            self.stopped = Stop.DAY
        return self.read - before

    async def _index(self, bank: str) -> None:
        """Make the vectors that are missing, those of what was just read off others too: they are read after them."""
        with suppress(ModelFailed):  # words do meanwhile
            while not self._is_over() and await self.of.indexer.step(bank):
                pass

    async def _step(self, bank: str) -> int:
        """Have a few memories read; none once the time is up, or where the model does not answer."""
        if self._is_over():
            if await self.of.due(bank):
                self.stopped = Stop.TIME
            return 0
        try:
            async with asyncio.timeout_at(self.until):
                return await self.of.reading.step(bank)
        except TimeoutError:
            self.stopped = Stop.TIME
        except ModelFailed:
            self.stopped = Stop.DAY if self.of.reading.is_spent else Stop.MODEL
        return 0

    def _is_over(self) -> bool:
        return asyncio.get_running_loop().time() >= self.until
