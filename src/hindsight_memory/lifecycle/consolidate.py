"""Episodes and statements become what is usually so and how things are done: a plan over all that a bank holds."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field

from hindsight_memory.domain import Kind, Memory, Outcome, RelationType, Status
from hindsight_memory.ingest.made import TURNS, is_account
from hindsight_memory.lifecycle.bench import Bench, Planned, stirred
from hindsight_memory.lifecycle.claims import Claim, claims_of, conclusions, is_concluded
from hindsight_memory.lifecycle.conclude import EVIDENCE, Conclusion, settled
from hindsight_memory.lifecycle.procedures import Run, is_procedure, procedures, run_of
from hindsight_memory.strength import expired
from hindsight_memory.text.lessons import OUTCOME


async def consolidate(bench: Bench) -> AsyncIterator[Planned]:
    """Conclude from what came up often enough, and go over what was concluded before.

    Everything is looked at anew each time that anything has happened in the bank, so that what was forgotten or
    corrected since no longer counts. Statements and tasks are put together by the words they share, so that the work
    grows with their number and not its square.
    """
    until = await stirred(bench)
    if until is None:
        return
    found = await _found(bench)
    ids = {each for memory in (*found.concluded, *found.procedures) for each in _named(memory)}
    held = {
        memory.id: memory
        for memory in await bench.reader.get(sorted(ids))
        if memory.status is Status.ACTIVE and memory.superseded_by is None and memory.id not in bench.gone
    }
    for conclusion in await asyncio.to_thread(_concluded, found, held, bench.settings.learning.support):
        async for each in settled(bench, conclusion):
            yield each
    bench.place = until


@dataclass(frozen=True, slots=True)
class _Found:
    """What a bank holds that conclusions are drawn from, the latest, and what was concluded before."""

    claims: deque[Claim]
    runs: deque[Run]
    concluded: list[Memory] = field(default_factory=list)
    procedures: list[Memory] = field(default_factory=list)


def _concluded(found: _Found, held: Mapping[str, Memory], support: int) -> list[Conclusion]:
    return [
        *conclusions(found.claims, found.concluded, held, support),
        *procedures(found.runs, found.procedures, held, support),
    ]


async def _found(bench: Bench) -> _Found:
    most, page, after = bench.settings.learning.looked_at, bench.settings.lifecycle.page, 0
    found = _Found(deque(maxlen=most), deque(maxlen=most))
    while rows := await bench.reader.sweep(after, page):
        memories = [memory for _, memory in rows if memory.id not in bench.gone and not expired(memory, bench.now)]
        found.concluded.extend(memory for memory in memories if is_concluded(memory))
        found.procedures.extend(memory for memory in memories if is_procedure(memory))
        sources = await _sources([memory for memory in memories if memory.kind is Kind.SEMANTIC], bench)
        found.claims.extend(await asyncio.to_thread(_claims, memories, sources))
        for memory in memories:
            if _is_run(memory):
                found.runs.append(await _run(memory, bench))
        after = rows[-1][0]
    return found


def _claims(memories: Sequence[Memory], sources: Mapping[str, Sequence[Memory]]) -> list[Claim]:
    every = (memory for memory in memories if not is_concluded(memory))
    return [claim for memory in every for claim in claims_of(memory, sources.get(memory.id, ()))]


async def _sources(memories: Sequence[Memory], bench: Bench) -> Mapping[str, Sequence[Memory]]:
    """The turns that memories were read off, as far as they stand."""
    edges = [
        edge
        for edge in await bench.reader.relations([memory.id for memory in memories])
        if edge.type is RelationType.DERIVED_FROM
    ]
    turns = {turn.id: turn for turn in await bench.reader.get(sorted({edge.to_id for edge in edges}))}
    found: dict[str, list[Memory]] = {}
    for edge in edges:
        turn = turns.get(edge.to_id)
        if turn is not None and turn.status is Status.ACTIVE:
            found.setdefault(edge.from_id, []).append(turn)
    return found


def _is_run(memory: Memory) -> bool:
    """Whether a memory is of a task and how it ended: an episode, or one that somebody wrote."""
    told = memory.key is not None and memory.key.startswith(OUTCOME)  # the episode of the same task is there too
    ended = memory.outcome in (Outcome.SUCCESS, Outcome.FAILURE)
    return memory.kind is Kind.EPISODIC and memory.turn is None and memory.task is not None and ended and not told


async def _run(memory: Memory, bench: Bench) -> Run:
    if not is_account(memory) or memory.session_id is None or memory.outcome is Outcome.FAILURE:
        return run_of(memory, ())
    first, last = memory.metadata[TURNS]
    turns = await bench.reader.turns(memory.session_id, first, min(last, first + bench.settings.learning.turns))
    return run_of(memory, [turn for turn in turns if turn.status is Status.ACTIVE and _same_eyes(turn, memory)])


def _same_eyes(turn: Memory, episode: Memory) -> bool:
    return turn.visibility is episode.visibility and (turn.agent_id == episode.agent_id or episode.agent_id is None)


def _named(memory: Memory) -> list[str]:
    named = memory.metadata.get(EVIDENCE)
    return [each for each in named if isinstance(each, str)] if isinstance(named, list) else []
