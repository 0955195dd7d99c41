"""Turns of sessions that rest become episodes: plans that say which to make, to make anew and to retire."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import pairwise
from typing import Final

from hindsight_memory.domain import Kind, Memory, Relation, RelationType, Source, Status
from hindsight_memory.ingest.enrich import marks_of, owner_of, summary_for
from hindsight_memory.ingest.made import MADE_BY, TURNS, is_made, made_hash, made_id
from hindsight_memory.lifecycle.account import Account, account_of, turn_of
from hindsight_memory.lifecycle.bench import Bench, Made, Planned, planned
from hindsight_memory.lifecycle.derive import is_free
from hindsight_memory.store.base import Talk
from hindsight_memory.text.episodes import BEHIND, SETTLED, boundaries

NAME: Final = "episodes"
_IMPORTANCE: Final = 0.4
"""At most: what an episode is read off comes first."""
_SOURCES: Final = (Source.USER, Source.AGENT, Source.TOOL)
"""From the most to the least of a witness."""


async def episodes(bench: Bench) -> AsyncIterator[Planned]:
    """Group the turns of sessions that rest, those that were not grouped yet or that changed since."""
    limits, after = bench.settings.learning, ""
    before = bench.now - timedelta(seconds=limits.rest_s)
    while page := await bench.reader.talks(before, bench.settings.lifecycle.page, after):
        for talk in page:
            async for each in _Grouping(bench, talk).planned():
                yield each
        after = page[-1].session_id


@dataclass(frozen=True, slots=True)
class _Cut:
    """Turns that belong together, and whether more turns may still change that."""

    turns: Sequence[Memory]
    final: bool

    @property
    def first(self) -> int:
        return self.turns[0].turn or 0

    @property
    def last(self) -> int:
        return self.turns[-1].turn or 0


@dataclass(frozen=True, slots=True)
class _Grouping:
    """One session, a part after the other."""

    bench: Bench
    talk: Talk

    async def planned(self) -> AsyncIterator[Planned]:
        """What is to be made, made anew and retired; how far that reaches is noted when all of it is planned."""
        start, most = self.talk.settled, self.bench.settings.learning.turns
        while start < self.talk.turns:
            end = min(start + most, self.talk.turns)
            rows = await self._turns(start, end)
            cuts = await asyncio.to_thread(_cuts, rows, start)
            last = end == self.talk.turns
            settled = min((cut.first for cut in cuts if not cut.final), default=end)
            until = end if last or settled <= start else settled  # where a part ends without an end, it is cut
            cuts = [cut for cut in cuts if cut.last < until]
            async for each in self._compared(cuts, [row for row in rows if start <= (row.turn or 0) < until]):
                yield each
            start = until
        self.bench.told.append((self.talk, self.talk.turns, settled if self.talk.turns else 0))

    async def _turns(self, start: int, end: int) -> list[Memory]:
        """The turns of a part, whatever their status, with as many before it as its boundaries may depend on."""
        reader, back = self.bench.reader, BEHIND
        while True:
            rows = await reader.turns(self.talk.session_id, start - back, end - 1)
            before = sum(row.status is Status.ACTIVE for row in rows if (row.turn or 0) < start)
            if before >= BEHIND or back >= start:
                return rows
            back *= 4

    async def _compared(self, cuts: Sequence[_Cut], rows: Sequence[Memory]) -> AsyncIterator[Planned]:
        """What of the wanted episodes is not there, and what of those that are there is not wanted."""
        held = await self._held(rows)
        wanted = await asyncio.to_thread(self._wanted, cuts)
        theirs = [each for each in held.values() if not is_made(each, NAME)]  # somebody has put it in other words
        wanted = [each for each in wanted if not any(_overlap(each.memory, other) for other in theirs)]
        ids = {each.memory.id for each in wanted}
        old = [each for each in held.values() if is_made(each, NAME) and each.id not in ids]
        for made in wanted:
            if made.memory.id in held or not await is_free(made.memory.id, self.bench.reader):
                continue
            taken = [each for each in old if _overlap(made.memory, each)]
            old = [each for each in old if each not in taken]
            made = replace(made, instead_of=[(each.id, each.version) for each in taken])  # noqa: PLW2901
            turns = made.memory.metadata[TURNS]
            yield replace(planned(made.memory, NAME, f"{turns[1] - turns[0] + 1} turns belong together"), made=made)
        for each in old:
            yield planned(each, NAME, "its turns are gone, or belong to others now")

    async def _held(self, rows: Sequence[Memory]) -> Mapping[str, Memory]:
        """The episodes that stand and were read off these turns."""
        edges = await self.bench.reader.relations([row.id for row in rows])
        ids = {edge.from_id for edge in edges if edge.type is RelationType.DERIVED_FROM}
        found = await self.bench.reader.get(sorted(ids))
        return {
            each.id: each
            for each in found
            if each.metadata.get(MADE_BY) == NAME and each.kind is Kind.EPISODIC and each.status is Status.ACTIVE
        }

    def _wanted(self, cuts: Sequence[_Cut]) -> list[Made]:
        told = ((cut, account_of(cut.turns)) for cut in cuts)
        return [self._made(cut, account) for cut, account in told if account is not None]

    def _made(self, cut: _Cut, account: Account) -> Made:
        turns, now = cut.turns, self.bench.now
        quoted = [turns[place] for place in account.quoted]
        agents = {turn.agent_id for turn in turns}
        listed = _listed(turns, quoted, self.bench.settings.learning.edges)
        memory = Memory(
            id="",
            bank_id=self.bench.bank,
            content=account.content,
            content_hash="",
            summary=summary_for(account.content, self.bench.settings.write),
            kind=Kind.EPISODIC,
            created_at=now,
            occurred_at=turns[0].occurred_at,
            agent_id=agents.pop() if len(agents) == 1 else None,
            session_id=self.talk.session_id,
            visibility=turns[0].visibility,
            speaker=_only({turn.speaker for turn in quoted}),
            metadata={MADE_BY: NAME, TURNS: [cut.first, cut.last], "turn_ids": [turn.id for turn in listed]},
            # No more of a witness, and never before, what it is read off.
            source=max((turn.source for turn in quoted), key=_SOURCES.index),
            trust=min(turn.trust for turn in turns),
            importance=min(_IMPORTANCE, *(turn.importance for turn in quoted)),
            expires_at=min((turn.expires_at for turn in turns if turn.expires_at), default=None),
            outcome=account.outcome,
            task=account.task,
            tools=account.tools,
        )
        made = made_hash(memory)
        memory = replace(memory, id=made_id(made, turns[0]), content_hash=made)
        edges = [
            Relation(type=RelationType.DERIVED_FROM, from_id=memory.id, to_id=turn.id, created_at=now)
            for turn in listed
        ]
        sources = {turn.id: turn.content for turn in listed}
        return Made(memory=memory, marks=marks_of(memory), sources=sources, edges=edges)


def _cuts(rows: Sequence[Memory], start: int) -> list[_Cut]:
    """The episodes from a turn on; what one agent keeps to itself is never grouped with what others said."""
    by_owner: dict[str | None, list[Memory]] = defaultdict(list)
    for row in rows:
        if row.status is Status.ACTIVE and row.source in _SOURCES:
            by_owner[owner_of(row)].append(row)
    found: list[_Cut] = []
    for turns in by_owner.values():
        begins = [*boundaries([turn_of(turn) for turn in turns]), len(turns)]
        first = next((place for place, turn in enumerate(turns) if (turn.turn or 0) >= start), len(turns))
        begins = [first, *(place for place in begins if place > first)]
        settled = len(turns) - SETTLED
        found += [_Cut(turns[begin:end], final=end <= settled) for begin, end in pairwise(begins)]
    return found


def _listed(turns: Sequence[Memory], quoted: Sequence[Memory], most: int) -> list[Memory]:
    """The turns that an episode names: those it quotes, its ends, and others up to a bound; in their order."""
    first = dict.fromkeys(turn.id for turn in (*quoted, turns[0], turns[-1], *turns))
    kept = set(list(first)[:most])
    return [turn for turn in turns if turn.id in kept]


def _overlap(one: Memory, two: Memory) -> bool:
    mine, theirs = _span(one), _span(two)
    return owner_of(one) == owner_of(two) and mine[0] <= theirs[1] and theirs[0] <= mine[1]


def _span(memory: Memory) -> tuple[int, int]:
    """The turns that an episode tells; none where somebody has changed what says so."""
    match memory.metadata.get(TURNS):
        case [int(first), int(last)]:
            return first, last
    return 0, -1


def _only(values: set[str | None]) -> str | None:
    return values.pop() if len(values) == 1 else None
