"""The worker behind the write path: gives each memory its vector, in batches, and then has it looked at once more."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import groupby
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hindsight_memory.domain import Memory, Scope, Status
from hindsight_memory.errors import told
from hindsight_memory.ingest.extract import Extractor
from hindsight_memory.ingest.second_look import SecondLook
from hindsight_memory.models.base import Embedder, ModelFailed, passage, windows
from hindsight_memory.settings import WriteSettings
from hindsight_memory.store.base import Setback, Space, Stage, Store, Terms

_log: Final = logging.getLogger(__name__)
_LONGEST_PAUSE: Final = 60.0
_AT_ONCE: Final = 16
"""Texts handed to a model in one call."""
_OTHERS_WORK: Final = 0.05
"""Seconds between looks while another process holds the claim on what is waited for."""

Parts = Mapping[str, NDArray[np.float32]]


@dataclass(slots=True)
class Indexer:
    """Embeds what is due, and has it looked at. The rows themselves say what is due, so a crash loses nothing.

    Without an embedder memories are only looked at, unless this database is used with one elsewhere: then they wait.
    """

    store: Store
    embedders: Sequence[Embedder]
    settings: WriteSettings
    holder: str
    look: SecondLook
    extract: Extractor
    gone: Callable[[str], bool] = lambda _: False
    """Whether a holder of a claim has ended without giving it back."""
    then: Callable[[], None] = lambda: None
    """Called when memories were indexed: somebody may wait for that."""
    _news: asyncio.Event = field(default_factory=asyncio.Event)
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    _started: bool = False
    _waits: bool = False
    _wrote: bool = False
    _closing: bool = False

    async def start(self) -> None:
        """Take back what was claimed by processes that are gone."""
        if not self._started:
            self._waits = not self.embedders and bool(await self.store.spaces())
            await self.store.give_back(self.gone)
            self._started = True

    def wake(self) -> None:
        """Something was written here."""
        self._wrote = True
        self._news.set()

    def stop(self) -> None:
        """Let ``run`` end: at once, or when what this process wrote is indexed."""
        self._closing = True
        self._news.set()

    async def run(self) -> None:
        """Work until stopped; rests while nothing is due, longer and longer while a model fails."""
        pause = self.settings.poll_s
        while not self._closing or self._wrote:
            try:
                if await self.step():
                    continue
                pause = self.settings.poll_s
                wait = pause
            except Exception as error:  # noqa: BLE001  # the loop outlives whatever a model or the disk does to it
                wait, pause = pause, min(pause * 2, _LONGEST_PAUSE)
                _log.warning("Indexing waits %.0f s: %s", wait, told(error))
            self._wrote = False
            if not self._closing:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._news.wait(), wait)
                self._news.clear()

    async def finish(self, bank: str, ids: Sequence[str], within_s: float) -> set[str]:
        """Index these memories before anything else; returns those that still lack a vector after ``within_s``."""
        lacking = set(ids)
        with suppress(TimeoutError, ModelFailed):
            async with asyncio.timeout(within_s):
                while lacking := await self.store.reading(bank).lacking(sorted(lacking)):
                    if await self.step(bank):
                        continue
                    # What is not due any more is done, or given up.
                    if not await self.store.due(Stage.INDEX, terms_of(self.settings)):
                        return await self.store.reading(bank).lacking(sorted(lacking))
                    await asyncio.sleep(_OTHERS_WORK)
        return lacking

    async def step(self, bank: str | None = None) -> int:
        """Index one batch, of one bank if it is named; returns how many memories were taken.

        Raises ``ModelFailed`` when a model does not answer, after the batch has been given back.
        """
        async with self._turn:
            await self.start()
            if self._waits:
                return 0
            due = await self.store.claim(Stage.INDEX, self.holder, terms_of(self.settings), bank)
            groups = groupby(due, key=lambda each: each.bank)
            answered = [await self._index(name, [each.memory for each in group]) for name, group in groups]
        if due:
            self.then()
        if not all(answered):
            raise ModelFailed("The embedder does not answer.", hint="Words are searched meanwhile.")
        return len(due)

    async def _index(self, bank: str, memories: Sequence[Memory]) -> bool:
        """Give memories of one bank their vectors, and look at them; returns whether the models answered.

        They are due until both is done: who dies in between leaves them to be done again.
        """
        texts = await self._texts(bank, memories)
        vectors: dict[str, Parts] = {}
        failed: dict[str, str] = {}
        for embedder in self.embedders:
            vectors[embedder.space], refused = await _embed(embedder, memories, texts[embedder.template])
            failed |= refused
        answered = all(failed.values())
        async with self.store.transaction(Scope.of_bank(bank)) as tx:
            versions = {memory.id: memory.version for memory in await tx.get([memory.id for memory in memories])}
            # What was changed while its old text was being embedded is given back, to be embedded as it is now.
            changed = {memory.id for memory in memories if versions.get(memory.id) != memory.version}
            failed |= dict.fromkeys(changed, "")
            for space, parts in vectors.items():
                await tx.set_vectors(space, {each: part for each, part in parts.items() if each not in changed})
        done = [memory for memory in memories if memory.id not in failed]
        await self.look(bank, done, vectors)
        await self.extract(bank, done)
        async with self.store.transaction(Scope.of_bank(bank)) as tx:
            said = {memory.id: _said(memory) for memory in await tx.get([memory.id for memory in done])}
            failed |= {memory.id: "" for memory in done if said.get(memory.id) != _said(memory)}
            back = {each: Setback(reason=reason, tried=bool(reason)) for each, reason in failed.items()}
            await tx.settle(Stage.INDEX, [memory.id for memory in done if memory.id not in failed], back)
        return answered

    async def _texts(self, bank: str, memories: Sequence[Memory]) -> dict[str, list[list[str]]]:
        before = [await self._before(bank, memory) for memory in memories]
        size, most = self.settings.window_chars, self.settings.windows
        return {
            template: [windows(passage(m, b, template), size, most) for m, b in zip(memories, before, strict=True)]
            for template in {embedder.template for embedder in self.embedders}
        }

    async def _before(self, bank: str, memory: Memory) -> Memory | None:
        if memory.session_id is None or not memory.turn:
            return None
        found = await self.store.reading(bank).turns(memory.session_id, memory.turn - 1, memory.turn - 1)
        return next((turn for turn in found if turn.status is Status.ACTIVE), None)


def _said(memory: Memory) -> tuple[object, ...]:
    return memory.content, memory.occurred_at, memory.speaker


async def _embed(
    embedder: Embedder, memories: Sequence[Memory], texts: Sequence[Sequence[str]]
) -> tuple[Parts, dict[str, str]]:
    """Vectors by memory id, and why some have none. No reason at all means that the model does not answer."""
    flat = [piece for pieces in texts for piece in pieces]
    try:
        # A few at a time: a local model cannot be interrupted in the middle, and closing would wait for all of it.
        parts = [await embedder.passages(flat[at : at + _AT_ONCE]) for at in range(0, len(flat), _AT_ONCE)]
    except ModelFailed:
        if await _answers(embedder):
            return await _embed_singly(embedder, memories, texts)
        return {}, {memory.id: "" for memory in memories}
    ends = np.cumsum([len(pieces) for pieces in texts])[:-1]
    rows = np.split(np.concatenate(parts), ends)
    return {m.id: part for m, part in zip(memories, rows, strict=True)}, {}


async def _answers(embedder: Embedder) -> bool:
    # Tells a model that is down, which is waited for, from a text it cannot take, which is given up in the end.
    try:
        await embedder.passages(["hello"])
    except ModelFailed:
        return False
    return True


async def _embed_singly(
    embedder: Embedder, memories: Sequence[Memory], texts: Sequence[Sequence[str]]
) -> tuple[Parts, dict[str, str]]:
    # One text the model cannot take must not keep the others of its batch from their vectors.
    vectors: dict[str, NDArray[np.float32]] = {}
    failed: dict[str, str] = {}
    for memory, pieces in zip(memories, texts, strict=True):
        try:
            vectors[memory.id] = await embedder.passages(pieces)
        except ModelFailed as error:
            failed[memory.id] = str(error)
    return vectors, failed


def terms_of(settings: WriteSettings) -> Terms:
    """How memories without a vector are claimed."""
    return Terms(batch=settings.index_batch, lease_s=settings.index_lease_s, attempts=settings.index_attempts)


def space_of(embedder: Embedder) -> Space:
    """The space an embedder's vectors stand in."""
    return Space(
        name=embedder.space,
        spec=embedder.spec,
        dimension=embedder.dimension,
        template=embedder.template,
        calibration=embedder.calibration,
    )
