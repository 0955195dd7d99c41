"""Maintenance of twenty thousand memories, measured: ``python many.py DATABASE DIMENSION`` prints JSON."""

# ruff: noqa: T201

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from hindsight_memory.domain import Action, Draft, Maintenance, Memory, Receipt, Scope
from hindsight_memory.guard.screen import Screened
from hindsight_memory.ingest.enrich import marks_of, remember
from hindsight_memory.ingest.pipeline import written
from hindsight_memory.service import Service
from hindsight_memory.store.base import Stage
from hindsight_memory.testing import HashEmbedder, StoppedClock, open_service
from hindsight_memory.text.tokens import index_words

SCOPE = Scope(user_id="alice")
COUNT = 10_000
_ENDS = ["", " again", " as ever", " tonight", " for once", "!", " it says", " I think"]
_WORDS = [f"{a}{b}{c}" for a in "bdfgklmnprst" for b in "aeiou" for c in ("lar", "min", "tok", "ves", "rud", "nip")]


def peak_mb() -> int:
    """The most memory that this program has had, in MB; ``ru_maxrss`` would count that of the one that started it."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) // 1_024


def near_identical(number: int) -> str:
    """A text that ten thousand others repeat, more or less."""
    return f"The nightly backup of the mail server ended without any error{_ENDS[number % 8]}{' ' * (number % 3)}."


def distinct(number: int) -> str:
    """A text of its own."""
    chosen = np.random.default_rng(number).integers(0, len(_WORDS), 9)
    return f"{' '.join(_WORDS[each] for each in chosen)} {number}"


async def fill(service: Service, embedder: HashEmbedder, clock: StoppedClock) -> None:
    """Store them as the write path would, a thousand at a time, with their vectors."""
    texts = [near_identical(n) for n in range(COUNT)] + [distinct(n) for n in range(COUNT)]
    for start in range(0, len(texts), 1_000):
        memories = [
            remember(Screened(Draft(content=text)), SCOPE, clock(), service.settings.write)
            for text in texts[start : start + 1_000]
        ]
        vectors = await embedder.passages([memory.content for memory in memories])
        async with service._parts.store.transaction(SCOPE) as tx:
            for number, memory in enumerate(memories):
                # As if each had been said under another key: equal ones would be one from the start.
                memory = memories[number] = replace(memory, content_hash=f"{start + number:032x}")  # noqa: PLW2901
                await tx.add(memory, marks_of(memory))
            receipts = [Receipt(id=memory.id, action=Action.ADDED, created=True) for memory in memories]
            await tx.record([written(m, r, "test") for m, r in zip(memories, receipts, strict=True)])
            parts = zip(memories, vectors, strict=True)
            await tx.set_vectors(embedder.space, {memory.id: vector[None] for memory, vector in parts})
            await tx.settle(Stage.INDEX, [memory.id for memory in memories], {})


@lru_cache(50_000)
def _words(text: str) -> frozenset[str]:
    return frozenset(index_words(text))


class Judge:
    """Says that two texts repeat each other when four words in five are the same; counts the pairs it was shown."""

    def __init__(self) -> None:
        self.pairs = 0

    def __call__(self, memory: Memory, neighbours: Sequence[Memory]) -> Memory | None:
        self.pairs += len(neighbours)
        words = _words(memory.content)
        for each in neighbours:
            others = _words(each.content)
            if len(words & others) >= 0.7 * len(words | others):
                return each
        return None


async def main(database: Path, dimension: int) -> None:
    """Fill a bank, and let ten days, then eight more, go by."""
    clock, embedder, judge = StoppedClock(), HashEmbedder(dimension=dimension), Judge()
    service = await open_service(database, clock=clock, embedder=embedder, start=False)
    await fill(service, embedder, clock)
    service._parts.keeper.repeats = judge
    filled = peak_mb()
    runs = []
    for days in (10, 8):
        clock.advance(days=days)
        began, busy = time.perf_counter(), time.process_time()
        report = await service.maintain(Maintenance())
        spent = {"seconds": round(time.perf_counter() - began, 1), "cpu_s": round(time.process_time() - busy, 1)}
        runs.append(spent | {"totals": dict(report.totals)})
    peak = peak_mb()
    print(json.dumps({"runs": runs, "pairs": judge.pairs, "filled_mb": filled, "peak_mb": peak}))
    await service.close()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))
