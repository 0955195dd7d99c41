"""What is stored, screened again: by a policy, or by guards, that it was not written under."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final

from hindsight_memory.domain import Event, Finding, Memory, Scan, Scanned, Scope, Status, new_id
from hindsight_memory.guard.injection import weigh
from hindsight_memory.guard.policy import Policy
from hindsight_memory.guard.redact import rewritten
from hindsight_memory.ingest.enrich import content_hash, identity, is_dated, marks_of, owner_of
from hindsight_memory.ingest.screening import Screener
from hindsight_memory.store.base import Store, Tx

_FIELDS: Final = ("content", "summary", "key", "tags", "metadata", "source_ref", "speaker", "task", "tools")
"""The fields of a memory that hold text."""
_BATCH: Final = 100
"""Memories changed in one transaction: others wait while it lasts."""
_EVENTS: Final = 50
_SETTLED: Final = frozenset({"review", "restore", "update", "resolve"})
"""What a person does to a memory that says it may stand."""


@dataclass(frozen=True, slots=True)
class _Seen:
    """A memory, what is to be changed of it, what was found, and whether it is to wait for a person."""

    memory: Memory
    fields: Mapping[str, Any]
    findings: Sequence[Finding] = ()
    suspicious: bool = False


@dataclass(frozen=True, slots=True)
class Rescreener:
    """Screens stored memories again, a stretch at a time."""

    store: Store
    screener: Screener
    clock: Callable[[], datetime]

    async def __call__(self, asked: Scan, scope: Scope, actor: str) -> Scanned:
        """Look at a stretch of a bank, forgotten and superseded memories too; what is changed leaves nothing behind.

        What the policy would refuse, or put into the vault, is taken out. Done twice, it changes nothing.
        """
        after = int(asked.after or 0)
        page = await self.store.reading(scope.bank).stored(after, asked.limit)
        policy = await self.screener.policy(scope.bank, lenient=True)
        seen = await asyncio.to_thread(lambda: [_seen(memory, policy) for _, memory in page])
        book = _Book(policy, asked.dry_run)
        due = [each for each in seen if each.fields or each.suspicious]
        for start in range(0, len(due), _BATCH):
            async with self.store.transaction(scope) as tx:
                for each in due[start : start + _BATCH]:
                    await book.settle(each, actor, self.clock(), tx)
        if book.changed and not asked.dry_run:
            await self.store.scrub()
        return Scanned(
            dry_run=asked.dry_run,
            looked=len(page),
            found=dict(sorted(book.found.items())),
            memory_ids=tuple(book.changed),
            quarantined=tuple(book.quarantined),
            next=str(page[-1][0]) if len(page) == asked.limit else None,
        )


@dataclass(slots=True)
class _Book:
    """What was done to the memories of a stretch, or would be."""

    policy: Policy
    dry_run: bool
    found: Counter[str] = field(default_factory=Counter)
    changed: list[str] = field(default_factory=list)
    quarantined: list[str] = field(default_factory=list)

    async def settle(self, seen: _Seen, actor: str, now: datetime, tx: Tx) -> None:
        """Change a memory, as it stands by now."""
        held = next(iter(await tx.get([seen.memory.id])), None)
        if held is None:
            return
        if held.version != seen.memory.version:
            seen = _seen(held, self.policy)
        fields = dict(seen.fields)
        if seen.suspicious and not await _was_settled(held, tx):
            fields["status"] = Status.QUARANTINED
            self.quarantined.append(held.id)
        if not fields:
            return
        kinds = Counter(each.rule for each in seen.findings)
        self.found += kinds
        if seen.fields:
            self.changed.append(held.id)
        if self.dry_run:
            return
        after = await self._changed(held, fields, tx)
        detail: dict[str, Any] = {"findings": sorted(kinds)}
        if after.status is not held.status:  # by this, restore brings it back
            detail |= {"before": {"status": held.status}, "after": {"status": after.status}}
        event = Event(id=new_id(now), bank_id=held.bank_id, at=now, actor=actor, verb="scan", memory_id=held.id)
        await tx.record([replace(event, detail=detail)])

    async def _changed(self, held: Memory, fields: dict[str, Any], tx: Tx) -> Memory:
        if fields.keys() == {"status"}:
            return await tx.change(held, **fields)
        # The content goes along though only a tag has changed: then words and vectors are made anew.
        fields = {"content": held.content, **fields}
        if held.turn is None and {"content", "key"} & fields.keys():
            fields["content_hash"] = await _hash_of(replace(held, **fields), tx)
        after = await tx.change(held, marks_of(replace(held, **fields)), **fields)
        await tx.cleanse(after)
        return after


async def _hash_of(memory: Memory, tx: Tx) -> str:
    """The hash of what a memory says now; one of its own where another says the same."""
    at = memory.occurred_at if is_dated(memory) else None
    same = identity(memory.kind, memory.key, memory.content, owner_of(memory), memory.session_id, at=at)
    known = await tx.known(same)
    return same if known is None or known.id == memory.id else content_hash(same, memory.id)


async def _was_settled(memory: Memory, tx: Tx) -> bool:
    return any(each.verb in _SETTLED for each in await tx.events(memory.id, _EVENTS))


def _seen(memory: Memory, policy: Policy) -> _Seen:
    findings: list[Finding] = []
    values = {name: getattr(memory, name) for name in _FIELDS}
    after = {name: rewritten(value, policy, findings) for name, value in values.items() if value}
    fields = {name: value for name, value in after.items() if value != values[name]}
    suspicious = memory.status is Status.ACTIVE and not memory.pinned
    suspicious = (
        suspicious and weigh(after["content"], memory.source).score >= policy.towards(memory.source).quarantine_at
    )
    return _Seen(memory, fields, findings, suspicious)
