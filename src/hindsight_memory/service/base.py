"""What every group of verbs stands on: the parts, who calls, and the line a deed leaves in the log."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final, TypeVar

from hindsight_memory.assist.assistant import Assistant, Rules
from hindsight_memory.domain import (
    EXTRACTED_FROM,
    Draft,
    Event,
    Hit,
    Memory,
    Message,
    Scope,
    Source,
    Status,
    Visibility,
    new_id,
)
from hindsight_memory.errors import NotFound
from hindsight_memory.guard.access import LOCAL, Principal, may
from hindsight_memory.guard.trust import taken_for
from hindsight_memory.ingest.conversation import ConversationWriter
from hindsight_memory.ingest.index import Indexer
from hindsight_memory.ingest.pipeline import Writer
from hindsight_memory.ingest.reading import Reading
from hindsight_memory.ingest.rescreen import Rescreener
from hindsight_memory.ingest.screening import Screener
from hindsight_memory.ingest.sessions import SessionKeeper
from hindsight_memory.ingest.steps import StepWriter
from hindsight_memory.lifecycle.catch_up import CatchUp
from hindsight_memory.lifecycle.maintain import Keeper
from hindsight_memory.lifecycle.reflect import Reflector
from hindsight_memory.models.base import LLM, Embedder, Reranker
from hindsight_memory.recall.pipeline import Finder
from hindsight_memory.settings import Settings
from hindsight_memory.store.base import Reader, Store
from hindsight_memory.strength import expired

T = TypeVar("T", Draft, Message)
_SHARED: Final = "shared"
"""What switches it off that the shared bank is read beside one's own, among what a search may do without."""
LONGEST_ID: Final = 200
"""Characters of a memory's id that are read."""


@dataclass(slots=True)
class Parts:
    """What a service is made of, wired by ``build``. ``notes`` says in words what was chosen and why."""

    settings: Settings
    store: Store
    embedders: Sequence[Embedder]
    screener: Screener
    rescreener: Rescreener
    writer: Writer
    converser: ConversationWriter
    sessions: SessionKeeper
    steps: StepWriter
    reflector: Reflector
    indexer: Indexer
    reading: Reading
    finder: Finder
    keeper: Keeper
    catch_up: CatchUp
    clock: Callable[[], datetime]
    llm: LLM | None = None
    reranker: Reranker | None = None
    assistant: Assistant = field(default_factory=Rules)
    notes: tuple[str, ...] = ()
    working: list[asyncio.Task[None]] = field(default_factory=list)
    touched: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    used: dict[str, datetime] = field(default_factory=dict)


class Verbs:
    """Base of the groups of verbs."""

    def __init__(self, parts: Parts, principal: Principal = LOCAL) -> None:
        self._parts = parts
        self.principal = principal

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self._parts.settings

    def _actor(self, scope: Scope) -> str:
        return scope.agent_id or self.principal.name

    def _beside(self, scope: Scope) -> str | None:
        """The shared bank, where the caller reads it beside the scope's own; ``None`` where there is nothing beside."""
        shared = replace(scope, user_id=None)
        asked = scope.user_id is not None and _SHARED not in self.settings.recall.off
        return shared.bank if asked and may(self.principal, "search", shared) else None

    def _touch(self, hits: Sequence[Hit]) -> None:
        """Count an access of what was found, later, in the bank where each stands."""
        for hit in hits:
            self._parts.touched[hit.memory.bank_id].add(hit.memory.id)

    async def _looked_up(self, memory_id: str, scope: Scope) -> tuple[list[Memory], Reader]:
        """A memory by its id, if it is there, and the bank it stands in: the scope's own goes before the shared one."""
        reader = self._parts.store.reading(scope.bank)
        found = await reader.get([memory_id])
        beside = None if found else self._beside(scope)
        if beside is None:
            return found, reader
        shared = self._parts.store.reading(beside)
        return await shared.get([memory_id]), shared

    def _most(self, scope: Scope) -> float:
        """How far the caller is believed, whatever source they name: as the user where they may vouch for that."""
        trust = self.settings.write.trust
        return trust[Source.USER] if may(self.principal, "vouch", scope) else trust[Source.AGENT]

    def _speaker(self, scope: Scope, named: Source | None = None) -> Source:
        """Who speaks: whom the call names, else the agent where the scope names one; the user for who may vouch."""
        source = named or (Source.USER if scope.agent_id is None else Source.AGENT)
        return taken_for(source, self._most(scope))

    def _event(self, verb: str, memory: Memory, scope: Scope, detail: dict[str, Any], reason: str = "") -> Event:
        now = self._parts.clock()
        return Event(
            id=new_id(now),
            bank_id=memory.bank_id,
            at=now,
            actor=self._actor(scope),
            verb=verb,
            memory_id=memory.id,
            reason=reason,
            detail=detail,
        )


def own(said: Sequence[T]) -> list[T]:
    """What callers write, without what only the worker can know: of which turn something was read off.

    A context shows a turn or what was read off it; whoever could claim that would put theirs in the turn's place.
    """
    return [replace(each, metadata=without_origin(each.metadata)) for each in said]


def without_origin(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Metadata as a caller may write it."""
    return {name: value for name, value in metadata.items() if name != EXTRACTED_FROM}


def origin_of(memory: Memory) -> dict[str, Any]:
    """Of which turn a memory was read off, as its metadata says; nothing where it was not."""
    return {name: value for name, value in memory.metadata.items() if name == EXTRACTED_FROM}


def may_see(memory: Memory, scope: Scope) -> bool:
    """Whether a memory is shared, or the asking agent's own."""
    return memory.visibility is Visibility.SHARED or memory.agent_id == scope.agent_id


def seen(found: Sequence[Memory], memory_id: str, scope: Scope) -> Memory:
    """The memory that was looked for, forgotten or not. Raises ``NotFound`` where the scope may not see it."""
    if not found or not may_see(found[0], scope):
        raise NotFound(
            f"There is no memory {memory_id[:80]} here.",
            hint="Check the id and the user; what is shared is changed where user_id is null.",
            field="memory_id",
        )
    return found[0]


def visible(found: Sequence[Memory], memory_id: str, scope: Scope, now: datetime) -> Memory:
    """The memory that was looked for. Raises ``NotFound`` for what is not to be seen, forgotten or expired."""
    memory = seen(found, memory_id, scope)
    if memory.status is Status.DELETED:
        raise NotFound(f"Memory {memory.id} was forgotten.", hint="Restore it to see it again.", field="memory_id")
    if expired(memory, now):
        raise NotFound(f"Memory {memory.id} has expired.", hint="Restore it to see it again.", field="memory_id")
    return memory
