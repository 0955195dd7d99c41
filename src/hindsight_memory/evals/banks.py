"""Evaluation data in a memory: each group written into a bank of its own, and asked there as any caller asks."""

from __future__ import annotations

import hashlib
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hindsight_memory.domain import Draft, Message, Query, Receipt, Role, Scope, Source, Wait, utc_now
from hindsight_memory.errors import InvalidInput, Unavailable
from hindsight_memory.evals.asking import TOP, Progress, Ranking
from hindsight_memory.evals.datasets import DataSet, Group, Item, Question
from hindsight_memory.models.base import Embedder
from hindsight_memory.service import Service
from hindsight_memory.settings import Settings

_BATCH: Final = 32
"""Memories written before their vectors are waited for: few, so that the bar moves and a stop loses little."""
_TRIES: Final = 3
_LONGEST_USER: Final = 200
_ASSISTANTS: Final = frozenset({"assistant", "助手"})

Same = Mapping[str, Mapping[str, tuple[str, ...]]]
"""By bank: the ids of the data that one record stands for, by the id it is stored with."""


def scope_of(data: str, group: str) -> Scope:
    """Where a group of a set is kept."""
    user = f"eval:{data}:{group}"
    if len(user) > _LONGEST_USER:
        digest = hashlib.blake2b(user.encode(), digest_size=8).hexdigest()
        user = f"{user[: _LONGEST_USER - 17]}:{digest}"
    return Scope(user_id=user)


class Clock:
    """The time at which questions are asked: that of the data, since «last week» is meant beside it."""

    def __init__(self) -> None:
        self.now = utc_now()

    def __call__(self) -> datetime:
        """The time it shows."""
        return self.now

    def set_to(self, group: Group, question: Question, *, foreign: bool = False) -> None:
        """Show when a question is asked: as the data say, or a day after the group's last memory."""
        asked = None if foreign else question.asked_at
        if asked is None:
            last = max((item.at for item in group.items if item.at is not None), default=None)
            asked = utc_now() if last is None else last + timedelta(days=1)
        self.now = asked


class Kept:
    """An embedder shared by several services: it outlives each, times its queries and may remember their vectors."""

    def __init__(self, embedder: Embedder, *, remembers: bool = False) -> None:
        self._embedder = embedder
        self.spec = embedder.spec
        self.dimension = embedder.dimension
        self.template = embedder.template
        self.calibration: Mapping[str, float] = embedder.calibration
        self.seconds = 0.0
        self._remembers = remembers
        self._known: dict[str, NDArray[np.float32]] = {}

    @property
    def space(self) -> str:
        """See ``Embedder``."""
        return self._embedder.space

    async def queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See ``Embedder.queries``."""
        if self._remembers and all(text in self._known for text in texts):
            return np.stack([self._known[text] for text in texts])
        begun = time.perf_counter()
        vectors = await self._embedder.queries(texts)
        self.seconds += time.perf_counter() - begun
        self._known |= dict(zip(texts, vectors, strict=True)) if self._remembers else {}
        return vectors

    async def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See ``Embedder.passages``."""
        return await self._embedder.passages(texts)

    async def close(self) -> None:
        """Nothing: another service may still use it."""


def unworn(settings: Settings) -> Settings:
    """The settings without what time and use change: how long a run takes and what it asked must not matter."""
    return replace(
        settings,
        retention=replace(settings.retention, use_span=0.0),
        lifecycle=replace(settings.lifecycle, schedule=False),
    )


async def fill(service: Service, sets: Sequence[DataSet], progress: Progress, *, indexed: bool) -> Same:
    """Write every group that is not there yet, and wait until each memory has its vector if it is to be ``indexed``.

    Every id is the data's own, so that a run that was stopped goes on where it was.
    """
    same: dict[str, dict[str, tuple[str, ...]]] = {}
    for data in sets:
        total, done = sum(len(group.items) for group in data.groups), 0
        for group in data.groups:
            scope = scope_of(data.name, group.id)
            held: dict[str, list[str]] = defaultdict(list)
            for session, items in _batches(group):
                try:
                    receipts = await _write(service, items, replace(scope, session_id=session), indexed=indexed)
                except InvalidInput as error:
                    message = f"A memory of {data.name}, group {group.id}, from {items[0].id!r} on: {error.message}"
                    raise InvalidInput(message, hint=error.hint, field="data") from error
                for item, receipt in zip(items, receipts, strict=True):
                    held[receipt.id].append(item.id)
                done += len(items)
                progress(f"{data.name}: stored", done, total)
            held.pop("", None)
            same[scope.bank] = {ids[0]: tuple(ids) for ids in held.values() if len(ids) > 1}
    return same


def _batches(group: Group) -> Iterator[tuple[str | None, Sequence[Item]]]:
    """Its sessions in the order they begin in, each a few items at a time in the order of the data."""
    sessions: dict[str | None, list[Item]] = defaultdict(list)
    for item in group.items:
        sessions[item.session].append(item)
    for session, items in sessions.items():
        for start in range(0, len(items), _BATCH):
            yield session, items[start : start + _BATCH]


async def _write(service: Service, items: Sequence[Item], scope: Scope, *, indexed: bool) -> list[Receipt]:
    for _ in range(_TRIES):
        if scope.session_id is None:
            receipts = await service.write_many([_draft(item) for item in items], scope, Wait.INDEXED)
        else:
            receipts = await service.write_conversation([_message(item) for item in items], scope, Wait.INDEXED)
        if not indexed or all(receipt.indexed for receipt in receipts if receipt.id):
            return receipts
    hint = "Look at the embedder with doctor; run it again on the same --database to go on."
    raise Unavailable("Some memories did not get their vectors.", hint=hint)


def _message(item: Item) -> Message:
    return Message(content=item.content, role=_role(item), speaker=item.speaker, occurred_at=item.at, id=item.id)


def _draft(item: Item) -> Draft:
    source = Source.AGENT if _role(item) is Role.ASSISTANT else Source.USER
    return Draft(content=item.content, source=source, source_ref=item.id, speaker=item.speaker, occurred_at=item.at)


def _role(item: Item) -> Role:
    return Role.ASSISTANT if (item.speaker or "").strip().lower() in _ASSISTANTS else Role.USER


def query_of(question: Question, *, foreign: bool) -> Query:
    """A question as a caller asks it, with the bounds that its data set."""
    if foreign:
        return Query(text=question.text, limit=TOP)
    return Query(text=question.text, limit=TOP, as_of=question.known_until, except_session=question.not_from)


@dataclass(slots=True)
class MemoryRanker:
    """Asks the memory itself, through the verb that everyone uses."""

    service: Service
    clock: Clock
    same: Same
    embedders: Sequence[Kept] = field(default=())

    async def __call__(self, data: str, group: Group, question: Question, *, foreign: bool) -> Ranking:
        """See ``Ranker``."""
        self.clock.set_to(group, question, foreign=foreign)
        scope = scope_of(data, group.id)
        query = query_of(question, foreign=foreign)
        before, begun = self._embedding(), time.perf_counter()
        hits = await self.service.search(query, scope)
        seconds, embedding = time.perf_counter() - begun, self._embedding() - before
        found = [
            (each, hit) for hit in hits for each in stored_ids(hit.memory.source_ref, self.same.get(scope.bank, {}))
        ][:TOP]
        return Ranking(
            ids=tuple(each for each, _ in found),
            confidences=tuple(hit.confidence for _, hit in found),
            passed=frozenset(each for each, hit in found if hit.sure),
            millis=1_000 * seconds,
            embed_millis=1_000 * embedding,
        )

    def _embedding(self) -> float:
        return sum(each.seconds for each in self.embedders)


def stored_ids(ref: str | None, same: Mapping[str, tuple[str, ...]]) -> Iterable[str]:
    """The ids of the data that a record stands for."""
    # A text that the data have twice outside of sessions is stored once: the record stands for each of them.
    return () if ref is None else same.get(ref, (ref,))
