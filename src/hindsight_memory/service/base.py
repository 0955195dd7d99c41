"""What every group of verbs stands on: the parts, who calls, and the line a deed leaves in the log."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from hindsight_memory.assist.assistant import Assistant, Rules
from hindsight_memory.domain import (
    Event,
    Memory,
    Scope,
    Status,
    Visibility,
    new_id,
)
from hindsight_memory.errors import NotFound
from hindsight_memory.guard.access import LOCAL, Principal
from hindsight_memory.ingest.conversation import ConversationWriter
from hindsight_memory.ingest.index import Indexer
from hindsight_memory.ingest.pipeline import Writer
from hindsight_memory.ingest.reading import Reading
from hindsight_memory.ingest.sessions import SessionKeeper
from hindsight_memory.ingest.steps import StepWriter
from hindsight_memory.lifecycle.maintain import Keeper
from hindsight_memory.lifecycle.reflect import Reflector
from hindsight_memory.models.base import LLM, Embedder, Reranker
from hindsight_memory.recall.pipeline import Finder
from hindsight_memory.settings import Settings
from hindsight_memory.store.base import Store
from hindsight_memory.strength import expired

LONGEST_ID: Final = 200
"""Characters of a memory's id that are read."""


@dataclass(slots=True)
class Parts:
    """What a service is made of, wired by ``build``. ``notes`` says in words what was chosen and why."""

    settings: Settings
    store: Store
    embedders: Sequence[Embedder]
    writer: Writer
    converser: ConversationWriter
    sessions: SessionKeeper
    steps: StepWriter
    reflector: Reflector
    indexer: Indexer
    reading: Reading
    finder: Finder
    keeper: Keeper
    clock: Callable[[], datetime]
    llm: LLM | None = None
    reranker: Reranker | None = None
    assistant: Assistant = field(default_factory=Rules)
    notes: tuple[str, ...] = ()
    working: list[asyncio.Task[None]] = field(default_factory=list)
    touched: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))


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


def may_see(memory: Memory, scope: Scope) -> bool:
    """Whether a memory is shared, or the asking agent's own."""
    return memory.visibility is Visibility.SHARED or memory.agent_id == scope.agent_id


def seen(found: Sequence[Memory], memory_id: str, scope: Scope) -> Memory:
    """The memory that was looked for, forgotten or not. Raises ``NotFound`` where the scope may not see it."""
    if not found or not may_see(found[0], scope):
        raise NotFound(
            f"There is no memory {memory_id[:80]} here.", hint="Check the id and the user.", field="memory_id"
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
