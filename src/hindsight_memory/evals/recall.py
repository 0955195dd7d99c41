"""``eval recall``: what of the evidence is found, by the memory, by a baseline, and without each signal in turn."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Final

from hindsight_memory.build import build
from hindsight_memory.domain import utc_now
from hindsight_memory.errors import InvalidInput
from hindsight_memory.evals.asking import Asked, Progress, Ranker, SetResult, ask_all, summarise
from hindsight_memory.evals.banks import Clock, Kept, MemoryRanker, Same, fill, unworn
from hindsight_memory.evals.baselines import Baseline, BaselineRanker
from hindsight_memory.evals.datasets import DataSet
from hindsight_memory.models.base import Embedder
from hindsight_memory.recall.signals import SIGNALS
from hindsight_memory.service import Service
from hindsight_memory.settings import Settings

_WARM: Final = "Which day was it?"


def nothing(_: str, _done: int, _total: int) -> None:
    """Progress that nobody follows."""


def unread(_: Asked) -> None:
    """Single questions that nobody reads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is to be measured, and who follows it: ``each`` is given every question, ``progress`` what is being done."""

    baseline: Baseline | None = None
    ablate: bool = False
    foreign: bool = False
    each: Callable[[Asked], None] = unread
    progress: Progress = nothing


async def measure(
    sets: Sequence[DataSet], settings: Settings, embedders: Sequence[Embedder], wanted: Wanted
) -> list[SetResult]:
    """The figures of every set; with ``ablate`` those without each signal follow their set's own.

    The embedders are the caller's to close.
    """
    if wanted.baseline is not None and (wanted.ablate or wanted.foreign):
        hint = "A baseline has one signal or two, and no confidence."
        raise InvalidInput("A baseline goes with neither ablate nor foreign.", hint=hint, field="baseline")
    kept = await warmed(embedders if wanted.baseline != "bm25" else [], remember=wanted.ablate)
    if wanted.baseline is not None:
        baseline = BaselineRanker(wanted.baseline, kept[0] if kept else None)
        await baseline.prepare(sets, wanted.progress)
        return [await _figures(baseline, data, wanted, f"{data.name} {wanted.baseline}") for data in sets]
    settings = unworn(settings)
    same = await filled(sets, settings, kept, wanted.progress)
    async with asked_in(settings, kept, same) as memory:
        results = [await _figures(memory, data, wanted, data.name) for data in sets]
    return await _with_ablations(results, sets, settings, kept, same, wanted) if wanted.ablate else results


async def warmed(embedders: Sequence[Embedder], *, remember: bool = False) -> list[Kept]:
    """The embedders as they are shared here, their models loaded before anything is timed."""
    kept = [Kept(embedder, remembers=remember) for embedder in embedders]
    for each in kept:
        await each.queries([_WARM])
    return kept


async def filled(sets: Sequence[DataSet], settings: Settings, kept: Sequence[Kept], progress: Progress) -> Same:
    """Every group in its bank, through a service with its worker, as a program would have it."""
    service = await build(settings, utc_now, kept)
    try:
        await service.start()
        return await fill(service, sets, progress, indexed=bool(kept))
    finally:
        await service.close()


@asynccontextmanager
async def asked_in(settings: Settings, kept: Sequence[Kept], same: Same) -> AsyncIterator[MemoryRanker]:
    """A memory to ask. Its worker is not started: nothing is to be written while the questions are timed."""
    clock = Clock()
    service: Service = await build(settings, clock, kept)
    try:
        yield MemoryRanker(service, clock, same, kept)
    finally:
        clock.now = utc_now()  # accesses are counted at the end, and happened now
        await service.close()


async def _figures(ranker: Ranker, data: DataSet, wanted: Wanted, name: str, *, timed: bool = True) -> SetResult:
    asked: list[Asked] = []
    foreign = wanted.foreign and timed
    async for one in ask_all(ranker, data, foreign=foreign, progress=wanted.progress, label=name):
        asked.append(one)
        wanted.each(one)
    return summarise(data, asked, name=name, timed=timed)


async def _with_ablations(
    results: Sequence[SetResult],
    sets: Sequence[DataSet],
    settings: Settings,
    kept: Sequence[Kept],
    same: Same,
    wanted: Wanted,
) -> list[SetResult]:
    """Each set's figures, then those without each signal: the same banks, and no query embedded twice."""
    without: dict[str, list[SetResult]] = {data.name: [result] for data, result in zip(sets, results, strict=True)}
    for signal in SIGNALS:
        off = replace(settings, recall=replace(settings.recall, off=frozenset({signal})))
        async with asked_in(off, kept, same) as memory:
            for data in sets:
                name = f"{data.name} without {signal}"
                # Not timed: the query's vector is remembered from the run before.
                without[data.name].append(await _figures(memory, data, wanted, name, timed=False))
    return [result for found in without.values() for result in found]
