"""Query to plan: what is asked, as every later stage needs it."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from hindsight_memory.domain import Query, Scope, Window
from hindsight_memory.errors import InvalidInput
from hindsight_memory.models.base import Embedder, ModelFailed
from hindsight_memory.settings import RecallSettings
from hindsight_memory.store.base import Vector, Where
from hindsight_memory.text.dates import find_windows
from hindsight_memory.text.tokens import normalise, query_words

_QUERY_CHARS: Final = 1_000
"""Characters of a query that are embedded: a model reads a few hundred words and slows down with each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A query, understood.

    ``text`` is the query normalised, ``words`` what the index knows of it, ``windows`` the spans of time it names,
    ``embedders`` those asked for its meaning. ``wide`` is how many candidates each retriever brings, ``deep`` how many
    of the fused ones are looked at.
    """

    text: str
    bank: str
    now: datetime
    where: Where
    words: Sequence[str]
    windows: Sequence[Window]
    embedders: Sequence[QueryEmbedder]
    wide: int
    deep: int


@dataclass(slots=True)
class QueryEmbedder:
    """An embedder as queries see it: it remembers the vectors of recent ones, and is not waited for for ever."""

    embedder: Embedder
    settings: RecallSettings
    _recent: OrderedDict[str, Vector] = field(default_factory=OrderedDict)

    @property
    def space(self) -> str:
        """The space its vectors stand in."""
        return self.embedder.space

    @property
    def calibration(self) -> Mapping[str, float]:
        """See ``Embedder``."""
        return self.embedder.calibration

    async def __call__(self, text: str) -> Vector:
        """The vector of a query. Raises ``ModelFailed``."""
        asked = text[:_QUERY_CHARS]
        if asked in self._recent:
            self._recent.move_to_end(asked)
            return self._recent[asked]
        try:
            async with asyncio.timeout(self.settings.model_wait_s):
                vector: Vector = (await self.embedder.queries([asked]))[0]
        except TimeoutError:
            raise ModelFailed(f"The embedder took more than {self.settings.model_wait_s:g} s.") from None
        self._recent[asked] = vector
        if len(self._recent) > self.settings.query_cache:
            self._recent.popitem(last=False)
        return vector


class Understanding:
    """Makes plans.

    Args:
        usual: Embedders asked by default: the first in the settings, and past ones whose vectors are being replaced.
        others: Embedders asked only when a query names their space.
        settings: The settings of recall.
    """

    def __init__(self, usual: Sequence[Embedder], others: Sequence[Embedder], settings: RecallSettings) -> None:
        self._usual = [QueryEmbedder(each, settings) for each in usual]
        self._others = [QueryEmbedder(each, settings) for each in others]
        self._settings = settings

    def __call__(self, query: Query, scope: Scope, now: datetime) -> Plan:
        """The plan of a query. Raises ``InvalidInput`` for an embedding space that is not known."""
        text = normalise(query.text)
        return Plan(
            text=text,
            bank=scope.bank,
            now=now,
            where=Where.of(query, now=now, viewer=scope.agent_id),
            words=query_words(text),
            windows=find_windows(text, query.as_of or now),
            embedders=self._asked(query),
            wide=max(self._settings.candidates, 2 * query.limit),
            deep=max(self._settings.looked_at, 2 * query.limit),
        )

    def _asked(self, query: Query) -> Sequence[QueryEmbedder]:
        if not query.spaces:
            return self._usual
        every = (*self._usual, *self._others)
        known = {name: each for each in every for name in (each.space, each.embedder.spec)}
        unknown = [name for name in query.spaces if name not in known]
        if unknown:
            hint = f"Known: {', '.join(known) or 'none'}."
            raise InvalidInput(f"No embedding space {unknown[0]}.", hint=hint, field="spaces")
        return list({known[name].space: known[name] for name in query.spaces}.values())
