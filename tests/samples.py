"""Memories for tests, one line each, and how to look for them."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime, timedelta
from typing import Any

from hindsight_memory import AsyncHindsightMemory
from hindsight_memory.domain import Event, Hit, Kind, Memory, Scope, new_id
from hindsight_memory.ingest.enrich import content_hash
from hindsight_memory.store.base import Marks, Store, Where

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
ALICE = Scope(user_id="alice")
BOB = Scope(user_id="bob")


def day(number: int) -> datetime:
    """Noon, some days later."""
    return NOON + timedelta(days=number)


def a_memory(content: str, scope: Scope = ALICE, *, at: datetime = NOON, **fields: Any) -> Memory:
    """A memory of a scope; whatever is not said is plain."""
    whole: dict[str, Any] = {
        "id": new_id(at),
        "bank_id": scope.bank,
        "content": content,
        "content_hash": content_hash(content, secrets.token_hex(4)),
        "kind": Kind.SEMANTIC,
        "created_at": at,
        "occurred_at": at,
        "agent_id": scope.agent_id,
        "session_id": scope.session_id,
    }
    return Memory(**whole | fields)


def a_turn(content: str, turn: int, scope: Scope = ALICE, session: str = "s", **fields: Any) -> Memory:
    """A turn of a session."""
    return a_memory(content, scope, kind=Kind.EPISODIC, session_id=session, turn=turn, **fields)


def an_event(memory: Memory, verb: str = "write", **fields: Any) -> Event:
    """A line of the log about a memory."""
    whole: dict[str, Any] = {
        "id": new_id(memory.created_at),
        "bank_id": memory.bank_id,
        "at": memory.created_at,
        "actor": "test",
        "verb": verb,
        "memory_id": memory.id,
    }
    return Event(**whole | fields)


def words_in(text: str) -> Marks:
    """The words of a text as a memory's marks: the store takes them as they are."""
    return Marks(tuple(text.lower().split()))


async def put(store: Store, *memories: Memory, scope: Scope = ALICE) -> list[Memory]:
    """Store memories of one bank, each under the words of its content."""
    async with store.transaction(scope) as tx:
        for memory in memories:
            await tx.add(memory, words_in(memory.content))
    return list(memories)


def where(now: datetime = NOON, **fields: Any) -> Where:
    """What a search may see, narrowed."""
    return Where(now=now, **fields)


def brought_by(hit: Hit) -> set[str]:
    """The signals whose lists held what was found; the others only weigh it."""
    return {share.signal for share in hit.why.shares if share.rank}


async def found_by_words(memory: AsyncHindsightMemory, text: str, **fields: Any) -> list[str]:
    """What words bring, best first. Vectors come behind, and bring what is merely nearest: when, no test can say."""
    hits = await memory.search(text, **fields)
    return [hit.memory.content for hit in hits if "words" in brought_by(hit)]
