"""Query to plan: what is asked, as every later stage needs it."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from hindsight_memory.assist.queries import rewritten
from hindsight_memory.domain import Moment, Query, Ranking, Scope, Tier, Window
from hindsight_memory.errors import InvalidInput
from hindsight_memory.models.base import LLM, Embedder, ModelFailed
from hindsight_memory.settings import LLMSettings, RecallSettings
from hindsight_memory.store.base import Reader, Vector, Where
from hindsight_memory.text.dates import find_windows
from hindsight_memory.text.errors import error_tag
from hindsight_memory.text.names import candidate_names
from hindsight_memory.text.questions import needs_context, parts_of, resolved
from hindsight_memory.text.sought import keys_sought
from hindsight_memory.text.tokens import normalise, query_words

_QUERY_CHARS: Final = 1_000
"""Characters of a query that are embedded: a model reads a few hundred words and slows down with each."""
_LOOK_BACK: Final = 4
"""Turns of the session that «that one» may mean."""
_SHORT: Final = 200
"""Characters up to which every part of a compound question is asked by itself; of a longer text the first one is."""


@dataclass(frozen=True, slots=True)
class Ask:
    """One wording of what is asked: its text, and what the index knows of it."""

    text: str
    words: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A query, understood.

    ``asks`` holds the whole question and then its parts and further wordings, ``windows`` the spans of time it names,
    ``names`` the names of the bank that it mentions with the number of memories that share each, ``sought`` the keys
    it asks for. ``moment`` is when it is asked, or the moment it is asked about. ``embedders`` are those asked for its
    meaning, ``wide`` is how many candidates each retriever brings, ``limit`` how many results are wanted. ``stage`` is
    where in a task it is asked, ``ranking`` what the bank's feedback made of the weights of the signals. ``beside`` are
    the banks that are read beside ``bank``.
    """

    asks: Sequence[Ask]
    bank: str
    moment: datetime
    now: datetime
    where: Where
    windows: Sequence[Window]
    names: Mapping[str, int]
    embedders: Sequence[QueryEmbedder]
    wide: int
    limit: int
    sought: Sequence[str] = ()
    off: frozenset[str] = frozenset()
    stage: Moment | None = None
    ranking: Ranking = field(default_factory=Ranking)
    beside: tuple[str, ...] = ()

    @property
    def banks(self) -> tuple[str, ...]:
        """All banks that are read."""
        return (self.bank, *self.beside)

    @property
    def text(self) -> str:
        """The whole question."""
        return self.asks[0].text


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

    async def __call__(self, texts: Sequence[str]) -> list[Vector]:
        """The vectors of queries. Raises ``ModelFailed``."""
        asked = [text[:_QUERY_CHARS] for text in texts]
        fresh = [text for text in dict.fromkeys(asked) if text not in self._recent]
        made = dict(zip(fresh, await self._embed(fresh), strict=True))
        vectors = [made[text] if text in made else self._recent[text] for text in asked]
        for text, vector in zip(asked, vectors, strict=True):
            self._recent[text] = vector
            self._recent.move_to_end(text)
        while len(self._recent) > self.settings.query_cache:
            self._recent.popitem(last=False)
        return vectors

    def drop_recent(self) -> None:
        """Remember no query of the past."""
        self._recent.clear()

    async def _embed(self, texts: Sequence[str]) -> Sequence[Vector]:
        if not texts:
            return []
        try:
            async with asyncio.timeout(self.settings.model_wait_s):
                return list(await self.embedder.queries(texts))
        except TimeoutError:
            raise ModelFailed(f"The embedder took more than {self.settings.model_wait_s:g} s.") from None


@dataclass(frozen=True, slots=True)
class Models:
    """What a query may be put to: embedders, and a language model that words it anew where there is one.

    ``usual`` embedders are asked by default: the first in the settings, and past ones whose vectors are being
    replaced; ``others`` only when a query names their space.
    """

    usual: Sequence[Embedder]
    others: Sequence[Embedder] = ()
    llm: LLM | None = None


class Understanding:
    """Makes plans."""

    def __init__(self, models: Models, settings: RecallSettings, llm: LLMSettings) -> None:
        self._usual = [QueryEmbedder(each, settings) for each in models.usual]
        self._others = [QueryEmbedder(each, settings) for each in models.others]
        self._llm = models.llm
        self._wait_s = llm.rewrite_wait_s
        self._settings = settings

    def drop_recent(self) -> None:
        """Remember no query of the past: what somebody asked is theirs as well."""
        for embedder in (*self._usual, *self._others):
            embedder.drop_recent()

    async def __call__(self, query: Query, scope: Scope, reader: Reader, now: datetime) -> Plan:
        """The plan of a query. Raises ``InvalidInput`` for an embedding space that is not known."""
        # What was so at an earlier moment may have gone cold since.
        tiers = tuple(Tier) if query.cold or query.as_of is not None else (Tier.HOT, Tier.WARM)
        where = Where.of(query, now=now, viewer=scope.agent_id, desk=scope.session_id, tiers=tiers)
        embedders = self._asked(query)
        said = normalise(query.text)
        before = await self._before(said, scope, reader, now)
        asks = await self._asks(said, before)
        if query.moment is Moment.STUCK and (tag := error_tag(said)) is not None:  # the same error with other values
            asks = [replace(asks[0], words=[*asks[0].words, tag]), *asks[1:]]
        moment = (query.as_of or now).astimezone(ZoneInfo(query.zone or self._settings.zone))
        return Plan(
            asks=asks,
            bank=scope.bank,
            moment=moment,
            now=now,
            where=where,
            windows=find_windows(asks[0].text, moment),
            names=await reader.names_known(candidate_names(asks[0].text), where),
            sought=keys_sought(asks[0].text),
            embedders=embedders,
            wide=max(self._settings.candidates, query.limit),
            limit=query.limit,
            off=self._settings.off,
            stage=query.moment,
            ranking=await reader.ranking(),
        )

    async def there(self, plan: Plan, bank: str, reader: Reader) -> Plan:
        """The same question, put to another bank: with its names, and from none of its sessions."""
        where = replace(plan.where, desk=None)
        names = await reader.names_known(candidate_names(plan.text), where)
        return replace(plan, bank=bank, where=where, names=names)

    async def _before(self, said: str, scope: Scope, reader: Reader, now: datetime) -> list[str]:
        """The latest turns of the session that is asked from, oldest first; read only where they can matter."""
        if scope.session_id is None or not (self._llm or needs_context(said)):
            return []
        where = Where(now=now, viewer=scope.agent_id, session=scope.session_id, findable=False)
        turns = await reader.find(where, _LOOK_BACK + 1)
        # A host may have stored the question as a turn before it asks.
        return [turn.content for turn in reversed(turns) if normalise(turn.content) != said][-_LOOK_BACK:]

    async def _asks(self, said: str, before: Sequence[str]) -> list[Ask]:
        whole = resolved(said, before) if before else said
        parts = parts_of(whole) if "parts" not in self._settings.off else [whole]
        further = parts if len(whole) <= _SHORT else parts[:1]
        if self._llm is not None:
            further = [*further, *await rewritten(said, before, self._llm, self._wait_s)]
        texts = dict.fromkeys((whole, *(normalise(text) for text in further)))
        return [Ask(text, query_words(text)) for text in texts]

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
