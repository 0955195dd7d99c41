"""The write path of conversations: each turn one episodic memory, in its place among its neighbours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from hindsight_memory.domain import (
    Action,
    Draft,
    Event,
    Finding,
    Kind,
    Memory,
    Message,
    Receipt,
    Role,
    Scope,
    Source,
    new_id,
)
from hindsight_memory.errors import InvalidInput
from hindsight_memory.guard.screen import Admission, Screened
from hindsight_memory.guard.trust import taken_for
from hindsight_memory.ingest.enrich import cleaned, content_hash, marks_of, remember
from hindsight_memory.ingest.pipeline import written
from hindsight_memory.ingest.resolve import added
from hindsight_memory.ingest.screening import Screener
from hindsight_memory.settings import WriteSettings
from hindsight_memory.store.base import Marks, Store, Tx
from hindsight_memory.text.signals import is_small_talk

_SOURCES: Final = {Role.USER: Source.USER, Role.ASSISTANT: Source.AGENT, Role.TOOL: Source.TOOL}
_NOT_STORED: Final = Receipt(id="", action=Action.REJECTED, created=False)


@dataclass(frozen=True, slots=True)
class Turn:
    """A message as it is to be stored, but for its place, and what it is found by."""

    memory: Memory
    marks: Marks
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class ConversationWriter:
    """Stores the turns of a session."""

    store: Store
    screener: Screener
    settings: WriteSettings
    clock: Callable[[], datetime]

    async def __call__(self, messages: Sequence[Message], scope: Scope, actor: str, most: float = 1.0) -> list[Receipt]:
        """Append turns to a session, in one transaction; the receipts come in their order.

        ``most`` is how far whoever writes is believed, whoever they say has spoken.

        A turn that is known already stays as it is: known by its message id, or by time, speaker and text. Messages
        with neither are taken for a repeated call when they are exactly the session's last turns. A turn that was
        forgotten does not come back. System prompts, blocks of recalled memory and what the guards refuse are not
        stored (``rejected``): the turns beside them are.
        """
        turns = await self.turns(messages, scope, most=most)
        async with self.store.transaction(scope) as tx:
            return await self.append(turns, scope, actor, tx, most)

    async def turns(
        self, messages: Sequence[Message], scope: Scope, until: datetime | None = None, *, most: float = 1.0
    ) -> list[Turn | Receipt]:
        """The messages as turns, or what is answered for those that are not stored.

        Working ones that expire ``until`` then, if given; ``most`` is how far whoever writes is believed. To be made
        before a transaction: while it lasts, others wait.
        """
        session_of(scope)
        said = [message for message in messages if message.role is not Role.SYSTEM and cleaned(message.content)]
        screened = await self.screener([(each, taken_for(_SOURCES[each.role], most)) for each in said], scope.bank)
        seen: Counter[str] = Counter()
        pairs = zip(screened, said, strict=True)
        made = {id(message): self._turn(each, message, scope, until, seen) for each, message in pairs}
        return [made.get(id(message), _NOT_STORED) for message in messages]

    async def append(
        self, turns: Sequence[Turn | Receipt], scope: Scope, actor: str, tx: Tx, most: float = 1.0
    ) -> list[Receipt]:
        """Append turns to the scope's session within a transaction; ``most`` is how far whoever writes is believed."""
        memories = [turn.memory if isinstance(turn, Turn) else None for turn in turns]
        believed = [each and replace(each, trust=min(each.trust, most)) for each in memories]
        placed = await _place(believed, session_of(scope), tx)
        receipts = [await _receipt(turn, memory, actor, tx) for turn, memory in zip(turns, placed, strict=True)]
        told = zip(placed, receipts, strict=True)
        await tx.record([written(turn, receipt, actor) for turn, receipt in told if turn and receipt.created])
        return receipts

    def _turn(
        self, screened: Screened[Message], told: Message, scope: Scope, until: datetime | None, seen: Counter[str]
    ) -> Turn | Receipt:
        if screened.verdict is Admission.REJECTED:
            return replace(_NOT_STORED, findings=screened.findings)
        message, content = screened.draft, cleaned(screened.draft.content)
        draft = Draft(
            content=content,
            kind=Kind.EPISODIC if until is None else Kind.WORKING,
            source=_SOURCES[message.role],
            source_ref=message.id,
            speaker=message.speaker,
            occurred_at=message.occurred_at,
            importance=message.importance,
            metadata=message.metadata,
            expires_at=until,
        )
        turn = remember(screened.made(draft), scope, self.clock(), self.settings)
        aside = message.role is Role.TOOL or is_small_talk(content)
        # By the id that it came with: of two ids, masked, may be left the same.
        turn = replace(turn, context_only=aside, content_hash=_identity(turn, told, seen))
        return Turn(turn, marks_of(turn), screened.findings)


def _identity(turn: Memory, message: Message, seen: Counter[str]) -> str:
    """What makes a turn the same turn when it is written again; empty while only its place can tell."""
    if message.id is not None:
        return content_hash("turn", turn.session_id, message.id)
    if message.occurred_at is None:
        return ""
    alike = content_hash("turn", turn.session_id, message.occurred_at.isoformat(), turn.speaker, turn.content)
    seen[alike] += 1
    return content_hash(alike, seen[alike])


async def _place(turns: Sequence[Memory | None], session_id: str, tx: Tx) -> list[Memory | None]:
    """The turns that nothing but their place tells apart, told apart.

    After a turn with an identity of its own, it is the distance from that one. Before any, it is the place in the
    session: the call repeats the session's end, or continues it.
    """
    given = [turn for turn in turns if turn]
    start = 0
    if given and not given[0].content_hash:
        start = await tx.next_turn(session_id, 0)
        tail = await tx.turns(session_id, start - len(given), start - 1)
        if [_said(turn) for turn in tail] == [_said(turn) for turn in given]:
            start -= len(given)
    anchor, distance = content_hash("turn", session_id), start
    placed: list[Memory | None] = []
    for turn in turns:
        if turn and turn.content_hash:
            anchor, distance = turn.content_hash, 0
        elif turn:
            turn = replace(turn, content_hash=content_hash(anchor, distance, turn.content))  # noqa: PLW2901
            distance += 1
        placed.append(turn)
    return placed


def _said(turn: Memory) -> tuple[str | None, Source, str]:
    return turn.speaker, turn.source, turn.content


async def _receipt(turn: Turn | Receipt, placed: Memory | None, actor: str, tx: Tx) -> Receipt:
    if isinstance(turn, Receipt):
        return turn
    assert placed is not None
    return replace(await _append(placed, turn.marks, actor, tx), findings=turn.findings)


async def _append(turn: Memory, marks: Marks, actor: str, tx: Tx) -> Receipt:
    known = await tx.known(turn.content_hash)
    if known is not None and known.kind is Kind.WORKING and turn.kind is Kind.EPISODIC:
        (known,) = await promote([known], actor, turn.created_at, tx)
    if known is not None:
        return Receipt(id=known.id, action=Action.DUPLICATE, created=False, version=known.version)
    assert turn.session_id is not None
    placed = replace(turn, turn=await tx.next_turn(turn.session_id, 1))
    await tx.add(placed, marks)
    return Receipt(id=placed.id, action=added(placed), created=True)


async def promote(working: Sequence[Memory], actor: str, now: datetime, tx: Tx) -> list[Memory]:
    """Make working messages what an ordinary conversation makes: the same memories, for good.

    Their place and identity are those of any turn, so that nothing else changes. One that was forgotten stays so.
    """
    kept = [await tx.change(memory, kind=Kind.EPISODIC, expires_at=None) for memory in working]
    await tx.record([about(memory, "promote", actor, now) for memory in kept])
    return kept


def about(memory: Memory, verb: str, actor: str, now: datetime, reason: str = "") -> Event:
    """The line of the log that something was done to a memory."""
    return Event(
        id=new_id(now), bank_id=memory.bank_id, at=now, actor=actor, verb=verb, memory_id=memory.id, reason=reason
    )


def session_of(scope: Scope) -> str:
    """The session that is meant. Raises ``InvalidInput`` where none is."""
    if scope.session_id is None:
        raise InvalidInput("A conversation needs a session.", hint="Give session_id.", field="session_id")
    return scope.session_id
