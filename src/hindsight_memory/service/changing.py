"""The verbs that correct, take out of sight and bring back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hindsight_memory.check import parse_text
from hindsight_memory.domain import (
    Changes,
    Memory,
    Scope,
    Status,
)
from hindsight_memory.errors import Conflict, InvalidInput
from hindsight_memory.guard.access import require
from hindsight_memory.ingest.enrich import content_of, identity, marks_of, owner_of
from hindsight_memory.service.base import LONGEST_ID, Verbs, seen, visible
from hindsight_memory.store.base import Tx

_LONGEST_REASON = 2_000
_MARKED = {"content", "key", "tags", "occurred_at"}


class Changing(Verbs):
    """Verbs that correct, take out of sight and bring back."""

    async def update(self, memory_id: str, changes: Changes, scope: Scope) -> Memory:
        """Change fields of a memory; its version goes up.

        Raises ``Conflict`` when ``changes.version`` is not the stored one, or another memory says the same already.
        """
        require(self.principal, "update", scope)
        memory_id = parse_text("memory_id", memory_id, LONGEST_ID)
        values = changes.given()
        if not values:
            raise InvalidInput("There is nothing to change.", hint="Give at least one field.", field="content")
        async with self._parts.store.transaction(scope) as tx:
            memory = visible(await tx.get([memory_id]), memory_id, scope)
            if changes.version not in (None, memory.version):
                message = f"Memory {memory_id} is at version {memory.version}, not {changes.version}."
                raise Conflict(message, hint="Read it again and repeat the change.", field="version")
            values |= await _rehashed(memory, values, tx)
            marks = marks_of(replace(memory, **values)) if _MARKED & values.keys() else None
            changed = await tx.change(memory, marks, **values)
            before = {name: str(getattr(memory, name)) for name in values}
            await tx.record([self._event("update", changed, scope, {"before": before})])
        self._parts.indexer.wake()
        return changed

    async def forget(self, memory_id: str, scope: Scope, reason: str = "") -> Memory:
        """Take a memory out of sight; ``restore`` brings it back. Forgetting it twice is forgetting it once."""
        require(self.principal, "forget", scope)
        memory_id = parse_text("memory_id", memory_id, LONGEST_ID)
        reason = parse_text("reason", reason, _LONGEST_REASON)
        async with self._parts.store.transaction(scope) as tx:
            memory = seen(await tx.get([memory_id]), memory_id, scope)
            if memory.status is Status.DELETED:
                return memory
            gone = await tx.change(memory, status=Status.DELETED, deleted_at=self._parts.clock())
            await tx.record([self._event("forget", gone, scope, {}, reason)])
        return gone

    async def restore(self, memory_id: str, scope: Scope) -> Memory:
        """Bring a forgotten memory back as it was.

        Raises ``Conflict`` when the same, or another value of its key, has been stored in the meantime.
        """
        require(self.principal, "restore", scope)
        memory_id = parse_text("memory_id", memory_id, LONGEST_ID)
        async with self._parts.store.transaction(scope) as tx:
            memory = seen(await tx.get([memory_id]), memory_id, scope)
            if memory.status is not Status.DELETED:
                return memory
            status = Status.SUPERSEDED if memory.superseded_by else Status.ACTIVE
            if status is Status.ACTIVE:
                await _refuse_second(memory, tx)
            back = await tx.change(memory, marks_of(memory), status=status, deleted_at=None)
            await tx.record([self._event("restore", back, scope, {})])
        self._parts.indexer.wake()
        return back


async def _rehashed(memory: Memory, values: dict[str, Any], tx: Tx) -> dict[str, Any]:
    """Content and hash of a memory whose words change; a turn keeps the identity its conversation gave it."""
    content = content_of(values.get("content", memory.content))
    if memory.turn is not None or not {"content", "key"} & values.keys():
        return {"content": content} if "content" in values else {}
    key = values.get("key", memory.key)
    changed = identity(memory.kind, key, content, owner_of(memory))
    other = await tx.known(changed)
    if other is not None and other.id != memory.id and other.status is Status.ACTIVE:
        raise Conflict(f"Memory {other.id} says this already.", hint="Forget one of the two.", field="content")
    holder = None
    if key is not None and key != memory.key and memory.status is Status.ACTIVE:
        holder = await tx.current(key, owner_of(memory))
    if holder is not None:
        raise Conflict(f"Memory {holder.id} is the value of {key}.", hint="Update that one, or forget it.", field="key")
    return {"content": content, "content_hash": changed}


async def _refuse_second(memory: Memory, tx: Tx) -> None:
    same = await tx.known(memory.content_hash)
    other = same if same is not None and same.status is Status.ACTIVE else None
    if other is None and memory.key is not None:
        other = await tx.current(memory.key, owner_of(memory))
    if other is not None:
        hint = "Forget that one first, or leave this one forgotten."
        raise Conflict(f"Memory {other.id} has taken its place.", hint=hint, field="memory_id")
