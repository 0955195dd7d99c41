"""Draft to memory: normalise, complete, and give it the hash that makes a repeated write the same write."""

from __future__ import annotations

import hashlib
import json
from datetime import datetime, timedelta

from hindsight_memory.domain import Draft, Kind, Memory, Scope, Visibility, new_id
from hindsight_memory.errors import InvalidInput
from hindsight_memory.settings import WriteSettings
from hindsight_memory.text.frame import without_frames
from hindsight_memory.text.tokens import index_words, normalise


def remember(draft: Draft, scope: Scope, now: datetime, settings: WriteSettings) -> Memory:
    """The memory a draft asks for.

    Raises ``InvalidInput`` when nothing is left of the content once it is cleaned, when a private memory names
    no agent, or when it would end before it begins.
    """
    content = content_of(draft.content)
    private = draft.visibility is Visibility.PRIVATE
    if private and scope.agent_id is None:
        raise InvalidInput("A private memory needs an agent_id.", hint="Give agent_id.", field="visibility")
    if draft.valid_from and draft.valid_until and draft.valid_until <= draft.valid_from:
        raise InvalidInput("valid_until is not after valid_from.", field="valid_until")
    return Memory(
        id=new_id(now),
        bank_id=scope.bank,
        agent_id=scope.agent_id,
        session_id=scope.session_id,
        content=content,
        content_hash=identity(draft.kind, draft.key, content, scope.agent_id if private else None),
        kind=draft.kind,
        key=draft.key,
        tags=tuple(dict.fromkeys(draft.tags)),
        metadata=draft.metadata,
        source=draft.source,
        source_ref=draft.source_ref,
        visibility=draft.visibility,
        trust=settings.trust[draft.source],
        importance=draft.importance,
        pinned=draft.pinned,
        speaker=draft.speaker,
        occurred_at=draft.occurred_at or now,
        created_at=now,
        valid_from=draft.valid_from,
        valid_until=draft.valid_until,
        expires_at=draft.expires_at or _end(draft.kind, now, settings),
        outcome=draft.outcome,
        task=draft.task,
        tools=draft.tools,
    )


def cleaned(text: str) -> str:
    """What is kept of a text: normalised, and without blocks of recalled memory; it may be nothing."""
    return normalise(without_frames(text))


def content_of(text: str) -> str:
    """The cleaned text. Raises ``InvalidInput`` when nothing is left of it."""
    content = cleaned(text)
    if not content:
        hint = "Control characters, and blocks of recalled memory, are taken out first."
        raise InvalidInput("content has nothing to remember.", hint=hint, field="content")
    return content


def identity(kind: Kind, key: str | None, content: str, owner: str | None) -> str:
    """The hash of what a memory says; what one agent keeps to itself is never the same as what another says."""
    return content_hash(kind, key, content) if owner is None else content_hash(kind, key, content, owner)


def owner_of(memory: Memory) -> str | None:
    """The one agent that may see a memory; ``None`` when all may."""
    return memory.agent_id if memory.visibility is Visibility.PRIVATE else None


def content_hash(*parts: str | int | None) -> str:
    """A hash of the parts, as a list: joined as text, two different lists could look alike."""
    text = json.dumps(parts, ensure_ascii=False)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def words_of(memory: Memory) -> list[str]:
    """The words a memory is found by: what it says, who said it, what it is about."""
    extra = (memory.speaker, memory.key, memory.task, *memory.tags)
    return index_words("\n".join((memory.content, *(part for part in extra if part))))


def _end(kind: Kind, now: datetime, settings: WriteSettings) -> datetime | None:
    return now + timedelta(seconds=settings.working_ttl_s) if kind is Kind.WORKING else None
