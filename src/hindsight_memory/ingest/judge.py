"""What a language model makes of pairs that rules leave open: near in meaning, neither the same nor a change."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from hindsight_memory.assist.assistant import Advice, Assistant, Opinion, Task
from hindsight_memory.assist.examination import examine
from hindsight_memory.domain import EXTRACTED_FROM, Kind, Memory, Status, Tier
from hindsight_memory.ingest.second_look import Ruling, SecondLook, comparable, speaks
from hindsight_memory.models.base import Embedder
from hindsight_memory.settings import ReadSettings
from hindsight_memory.store.base import Reader, Store, Where
from hindsight_memory.text.bearing import Bearing, changed, same
from hindsight_memory.text.statements import statements

_log: Final = logging.getLogger(__name__)
_RULE: Final = "llm"
_LOOKED_AT: Final = 12
"""Nearest memories of each space among which those to be judged are looked for."""


@dataclass(slots=True)
class Judge:
    """Has a memory judged against its nearest neighbours, and settles what comes of it as the second look does.

    A model is believed only once it has passed a test (``examine``), which it takes when first there is something to
    judge. ``note`` says why one is not asked.
    """

    store: Store
    assistant: Assistant
    embedders: Sequence[Embedder]
    look: SecondLook
    settings: ReadSettings
    clock: Callable[[], datetime]
    note: str = ""
    _tested: asyncio.Lock = field(default_factory=asyncio.Lock)
    _trusted: bool | None = None

    async def __call__(self, bank: str, memory: Memory) -> Advice[bool]:
        """Judge a memory; advises nothing where the model did not answer, and whether it was believed elsewhere."""
        near = await self._near(memory, self.store.reading(bank)) if is_judged(memory) else []
        if not near:
            return Advice(True)
        trusted = await self._believed()
        failed: Advice[Opinion] | None = None
        for other in near if trusted.value else ():
            old, new = sorted((memory, other), key=lambda each: (each.occurred_at, each.id))
            opinion = await self.assistant.judge(old.content, new.content)
            if opinion.passing:
                return Advice(reason=opinion.reason, passing=True)
            failed = opinion if opinion.value is None else failed
            if opinion.value is not None and (ruling := _ruling(old, new, opinion.value)) is not None:
                await self.look.enact(bank, ruling)
        return trusted if failed is None else Advice(reason=failed.reason)

    async def _believed(self) -> Advice[bool]:
        async with self._tested:  # several memories wait for one test
            if self._trusted is None:
                advice = await examine(self.assistant)
                if advice.value is None:
                    return advice
                self._trusted = advice.value
                if not advice.value:
                    self.note = f"{self.assistant.models[Task.JUDGE]} is not asked to judge: {advice.reason}"
                    _log.warning("%s", self.note)
        return Advice(self._trusted)

    async def _near(self, memory: Memory, reader: Reader) -> list[Memory]:
        """The neighbours of which rules can tell nothing, the nearest first."""
        above: dict[str, float] = {}
        where = Where(now=self.clock(), viewer=memory.agent_id, tiers=tuple(Tier))
        for embedder in self.embedders:
            held = await reader.vectors(embedder.space, [memory.id])
            if memory.id not in held:
                continue
            mean, deviation = embedder.calibration["mean"], embedder.calibration["deviation"] or 1.0
            for found in await reader.search_vector(embedder.space, held[memory.id], where, _LOOKED_AT):
                above[found.id] = max((found.score - mean) / deviation, above.get(found.id, 0.0))
        edges = await reader.relations([memory.id])
        known = {memory.id, *(end for edge in edges for end in (edge.from_id, edge.to_id))}
        ids = [each for each in sorted(above, key=above.__getitem__, reverse=True) if above[each] >= self.settings.near]
        others = [each for each in await reader.get(ids) if each.id not in known and _matters(memory, each)]
        return (await asyncio.to_thread(_open, memory, others))[: self.settings.pairs]


def is_judged(memory: Memory) -> bool:
    """Whether a memory states something by itself: a user's turn, or a fact. What was read off a turn is judged there.

    An episode tells of many things, and replaces none.
    """
    stated = memory.turn is not None or memory.kind in (Kind.SEMANTIC, Kind.PROCEDURAL)
    return stated and speaks(memory) and EXTRACTED_FROM not in memory.metadata


def _matters(memory: Memory, other: Memory) -> bool:
    stands = other.status is Status.ACTIVE and other.superseded_by is None
    stated = other.turn is not None or other.kind in (Kind.SEMANTIC, Kind.PROCEDURAL)
    return stands and stated and comparable(memory, other)


def _open(memory: Memory, others: Sequence[Memory]) -> list[Memory]:
    """Those of which rules say neither that they say the same, nor that one changes the other."""
    left = []
    for other in others:
        old, new = sorted((memory, other), key=lambda each: (each.occurred_at, each.id))
        spoken = old.turn is not None or new.turn is not None
        if not same(old.content, new.content) and changed(old.content, new.content, spoken=spoken) is None:
            left.append(other)
    return left


def _ruling(old: Memory, new: Memory, opinion: Opinion) -> Ruling | None:
    """What follows of an opinion: nothing where both stand, or where two turns say the same."""
    match opinion.standing:
        case "same" if old.turn is None and new.turn is None:
            return Ruling(old, new, None, _RULE)
        case "newer" | "contradicts":
            # Of a text that states several things only one may have changed: it stays, and what is newer goes first.
            whole = old.content if len(statements(old.content)) == 1 else ""
            return Ruling(old, new, Bearing(_RULE, whole, new.content), open=opinion.standing == "contradicts")
    return None
