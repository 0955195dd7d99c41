"""Query to plan: what is asked, as every later stage needs it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from hindsight_memory.domain import Query, Scope, Window
from hindsight_memory.errors import InvalidInput
from hindsight_memory.models.base import Embedder, ModelFailed
from hindsight_memory.settings import RecallSettings
from hindsight_memory.store.base import Vector, Where
from hindsight_memory.text.dates import find_windows
from hindsight_memory.text.tokens import normalise, query_words


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A query, understood. ``inactive`` says which signals have nothing to work with, and why."""

    query: Query
    bank: str
    now: datetime
    where: Where
    words: Sequence[str]
    vectors: Mapping[str, Vector]
    calibration: Mapping[str, Mapping[str, float]]
    windows: Sequence[Window]
    wide: int
    inactive: tuple[str, ...]


@dataclass(slots=True)
class Understanding:
    """Makes plans; keeps the vectors of recent queries."""

    embedders: Sequence[Embedder]
    """Those asked by default: the first in the settings, and past ones whose vectors are still being replaced."""
    others: Sequence[Embedder]
    """Those asked only when a query names their space."""
    settings: RecallSettings
    _recent: OrderedDict[tuple[str, str], Vector] = field(default_factory=OrderedDict)

    async def __call__(self, query: Query, scope: Scope, now: datetime) -> Plan:
        """The plan of a query. A model that fails makes its signal inactive and nothing else."""
        text = normalise(query.text)
        asked = self._asked(query)
        vectors, inactive = await self._vectors(text, asked)
        words, spans = query_words(text), find_windows(text, query.as_of or now)
        if not words:
            inactive.append("words: the query has none")
        if not spans:
            inactive.append("time: the query names no time")
        return Plan(
            query=query,
            bank=scope.bank,
            now=now,
            where=_where(query, scope, now),
            words=words,
            vectors=vectors,
            calibration={embedder.space: embedder.calibration for embedder in asked},
            windows=spans,
            wide=max(self.settings.candidates, 2 * query.limit),
            inactive=tuple(inactive),
        )

    def _asked(self, query: Query) -> Sequence[Embedder]:
        if not query.spaces:
            return self.embedders
        known = {
            name: embedder for embedder in (*self.embedders, *self.others) for name in (embedder.space, embedder.spec)
        }
        unknown = [name for name in query.spaces if name not in known]
        if unknown:
            raise InvalidInput(f"No embedding space {unknown[0]}.", hint=f"Known: {', '.join(known)}.", field="spaces")
        return list({known[name].space: known[name] for name in query.spaces}.values())

    async def _vectors(self, text: str, asked: Sequence[Embedder]) -> tuple[dict[str, Vector], list[str]]:
        vectors: dict[str, Vector] = {}
        inactive: list[str] = []
        for embedder in asked:
            try:
                vectors[embedder.space] = await self._vector(embedder, text)
            except ModelFailed as error:
                inactive.append(f"vector: {error.message}")
        if not asked:
            inactive.append("vector: no embedding model is in use")
        return vectors, inactive

    async def _vector(self, embedder: Embedder, text: str) -> Vector:
        # Only the beginning of a very long query: an embedder reads a few hundred words and slows down with each.
        key = (embedder.space, text[:QUERY_CHARS])
        if key in self._recent:
            self._recent.move_to_end(key)
            return self._recent[key]
        vector: Vector = (await embedder.queries([key[1]]))[0]
        self._recent[key] = vector
        if len(self._recent) > self.settings.query_cache:
            self._recent.popitem(last=False)
        return vector


QUERY_CHARS = 1_000
"""Characters of a query that are embedded."""


def _where(query: Query, scope: Scope, now: datetime) -> Where:
    return Where(
        now=now,
        viewer=scope.agent_id,
        kinds=query.kinds,
        tags=query.tags,
        key=query.key,
        session=query.session,
        agent=query.agent,
        since=query.since,
        until=query.until,
        as_of=query.as_of,
        metadata=query.metadata,
    )
