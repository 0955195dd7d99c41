"""Draft to memory: normalise, complete, and give it the hash that makes a repeated write the same write."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime, timedelta
from typing import Final

from hindsight_memory.domain import EXTRACTED_FROM, Draft, Kind, Memory, Scope, Status, Visibility, new_id
from hindsight_memory.errors import InvalidInput
from hindsight_memory.guard.screen import Admission, Screened, admitted
from hindsight_memory.settings import WriteSettings
from hindsight_memory.store.base import Marks
from hindsight_memory.text.dates import mentioned_windows
from hindsight_memory.text.frame import without_frames
from hindsight_memory.text.names import MAX_NAME, fold_name, names_in
from hindsight_memory.text.summary import summary_of
from hindsight_memory.text.tokens import index_words, normalise

_ALIAS: Final = "alias."
_SAID: Final = 32
"""Digits of a hash that say what a memory says; behind them, in that of an event, may stand when it happened."""
_BEGINNING: Final = datetime.min.replace(tzinfo=UTC)


def remember(screened: Screened[Draft], scope: Scope, now: datetime, settings: WriteSettings) -> Memory:
    """The memory a draft asks for; what is suspicious waits in quarantine.

    Raises ``InvalidInput`` when nothing is left of the content once it is cleaned, when a private memory names
    no agent, or when it would end before it begins.
    """
    draft = admitted(screened)
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
        content_hash=identity(
            draft.kind, draft.key, content, scope.agent_id if private else None, scope.session_id, at=_at(draft)
        ),
        summary=summary_for(content, settings),
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
        expires_at=draft.expires_at or _end(draft, now, settings),
        outcome=draft.outcome,
        task=draft.task,
        tools=draft.tools,
        status=Status.QUARANTINED if screened.verdict is Admission.QUARANTINED else Status.ACTIVE,
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


def summary_for(content: str, settings: WriteSettings) -> str | None:
    """What is shown of a memory where its text is too long; ``None`` for a short one."""
    return summary_of(content, settings.summary_tokens) if len(content) > settings.summary_over else None


def identity(
    kind: Kind,
    key: str | None,
    content: str,
    owner: str | None,
    session_id: str | None = None,
    *,
    at: datetime | None = None,
) -> str:
    """The hash of what a memory says, and of an event also when it happened (``at``), where its writer said so.

    What one agent keeps to itself is never the same as what another says, nor what lies on the desks of two sessions.
    """
    desk = ("session", session_id) if kind is Kind.WORKING and session_id is not None else ()
    said = content_hash(kind, key, content, *(() if owner is None else (owner,)), *desk)
    if kind is not Kind.EPISODIC or at is None:
        return said
    return f"{said}{(at - _BEGINNING) // timedelta(microseconds=1):016x}"


def said_of(memory: Memory) -> str:
    """What the hash of a memory begins with: that of what it says, whenever it happened."""
    return memory.content_hash[:_SAID]


def is_dated(memory: Memory) -> bool:
    """Whether this is an event, written by itself, whose writer said when it happened."""
    return len(memory.content_hash) > _SAID


def happened_apart(one: Memory, two: Memory) -> bool:
    """Whether two memories that say the same tell of two things: what happened twice happened twice.

    Nor is what is so the same as that it happened.
    """
    dated = is_dated(one) or is_dated(two)
    return dated and (one.kind is not two.kind or one.occurred_at != two.occurred_at)


def _at(draft: Draft) -> datetime | None:
    """When an event happened, as its writer says; that it was told in a turn then does not say so."""
    return None if EXTRACTED_FROM in draft.metadata else draft.occurred_at


def owner_of(memory: Memory) -> str | None:
    """The one agent that may see a memory; ``None`` when all may."""
    return memory.agent_id if memory.visibility is Visibility.PRIVATE else None


def content_hash(*parts: str | int | None) -> str:
    """A hash of the parts, as a list: joined as text, two different lists could look alike."""
    text = json.dumps(parts, ensure_ascii=False)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def marks_of(memory: Memory) -> Marks:
    """What a memory is found by: its words, the names it mentions, the times it speaks of as seen from its own."""
    extra = (memory.speaker, memory.key, memory.task, *memory.tags)
    words = index_words("\n".join((memory.content, *(part for part in extra if part))))
    times = mentioned_windows(memory.content, memory.occurred_at)
    return Marks(tuple(words), _names_of(memory), tuple(times))


def _names_of(memory: Memory) -> tuple[str, ...]:
    """The names in a memory, and its speaker's. An alias (key ``alias.NAME``) mentions that name and what it is for."""
    if memory.key is not None and memory.key.startswith(_ALIAS) and len(memory.content) <= MAX_NAME:
        return tuple(dict.fromkeys(filter(None, map(fold_name, (memory.key.removeprefix(_ALIAS), memory.content)))))
    names = names_in(memory.content)
    speaker = fold_name(memory.speaker or "")
    return tuple(dict.fromkeys([speaker, *names] if 0 < len(speaker) <= MAX_NAME else names))


def _end(draft: Draft, now: datetime, settings: WriteSettings) -> datetime | None:
    ends = draft.kind is Kind.WORKING and not draft.pinned
    return now + timedelta(seconds=settings.working_ttl_s) if ends else None
