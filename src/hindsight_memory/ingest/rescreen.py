"""What is stored, screened again: by a policy, or by guards, that it was not written under."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from typing import Any, Final

from hindsight_memory.domain import (
    Desk,
    Event,
    Finding,
    Memory,
    Relation,
    Scan,
    Scanned,
    Scope,
    SessionState,
    Source,
    Status,
    new_id,
)
from hindsight_memory.guard.injection import weigh
from hindsight_memory.guard.policy import Policy
from hindsight_memory.guard.redact import rewritten
from hindsight_memory.ingest.enrich import content_hash, identity, is_dated, marks_of, owner_of
from hindsight_memory.ingest.relate import is_id
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
    """A memory, what is to be changed of it, what was found, and whether it is to wait for a person.

    ``edges`` are its relations to names that are not left as they are, each with the name instead.
    """

    memory: Memory
    fields: Mapping[str, Any]
    findings: Sequence[Finding] = ()
    suspicious: bool = False
    edges: Sequence[tuple[Relation, str]] = ()


@dataclass(frozen=True, slots=True)
class Rescreener:
    """Screens stored memories again, a stretch at a time."""

    store: Store
    screener: Screener
    clock: Callable[[], datetime]

    async def __call__(self, asked: Scan, scope: Scope, actor: str) -> Scanned:
        """Look at a stretch of a bank, forgotten and superseded memories too; what is changed leaves nothing behind.

        What the policy would refuse, or put into the vault, is taken out. Done twice, it changes nothing. The states of
        sessions go with the first stretch.
        """
        after, reader = int(asked.after or 0), self.store.reading(scope.bank)
        page = await reader.stored(after, asked.limit)
        edges = _from(await reader.relations([memory.id for _, memory in page]) if page else [])
        policy = await self.screener.policy(scope.bank, lenient=True)
        seen = await asyncio.to_thread(lambda: [_seen(each, edges.get(each.id, ()), policy) for _, each in page])
        book = _Book(scope.bank, policy, asked.dry_run)
        if asked.after is None:
            await self._desks(book, scope, actor)
        due = [each for each in seen if each.fields or each.edges or each.suspicious]
        for start in range(0, len(due), _BATCH):
            async with self.store.transaction(scope) as tx:
                for each in due[start : start + _BATCH]:
                    await book.settle(each, actor, self.clock(), tx)
        if (book.changed or book.sessions) and not asked.dry_run:
            await self.store.scrub()
        return Scanned(
            dry_run=asked.dry_run,
            looked=len(page),
            found=dict(sorted(book.found.items())),
            memory_ids=tuple(book.changed),
            quarantined=tuple(book.quarantined),
            session_ids=tuple(book.sessions),
            next=str(page[-1][0]) if len(page) == asked.limit else None,
        )

    async def _desks(self, book: _Book, scope: Scope, actor: str) -> None:
        reader, after = self.store.reading(scope.bank), ""
        while page := await reader.desks(after, _BATCH):
            after = page[-1].session_id
            kept = await asyncio.to_thread(book.cleared, page)
            for desk, (state, findings) in zip(page, kept, strict=True):
                if state != desk.state and book.dry_run:
                    book.tell(desk.session_id, findings)
                elif state != desk.state:
                    async with self.store.transaction(scope) as tx:
                        await book.clear(desk.session_id, actor, self.clock(), tx)


@dataclass(slots=True)
class _Book:
    """What was done to the memories of a stretch, or would be."""

    bank: str
    policy: Policy
    dry_run: bool
    found: Counter[str] = field(default_factory=Counter)
    changed: list[str] = field(default_factory=list)
    quarantined: list[str] = field(default_factory=list)
    sessions: list[str] = field(default_factory=list)

    def cleared(self, desks: Sequence[Desk]) -> list[tuple[SessionState, list[Finding]]]:
        """The states of sessions as they could be put there today, each with what was found in it."""
        return [cleared(desk.state, self.policy) for desk in desks]

    def tell(self, session_id: str, findings: Sequence[Finding]) -> Counter[str]:
        """Count what was found in the state of a session."""
        kinds = Counter(each.rule for each in findings)
        self.found += kinds
        self.sessions.append(session_id)
        return kinds

    async def clear(self, session_id: str, actor: str, now: datetime, tx: Tx) -> None:
        """Change the state of a session, as it stands by now."""
        desk = await tx.take_desk(session_id)
        state, findings = cleared(desk.state, self.policy)
        if state == desk.state:
            return
        kinds = self.tell(session_id, findings)
        kept = replace(desk, state=state, version=desk.version + 1)
        await tx.put_desk(kept, now)
        await tx.wipe()
        detail = {"session": session_id, "version": kept.version, "findings": sorted(kinds)}
        event = Event(id=new_id(now), bank_id=self.bank, at=now, actor=actor, verb="scan", detail=detail)
        await tx.record([event])

    async def settle(self, seen: _Seen, actor: str, now: datetime, tx: Tx) -> None:
        """Change a memory, as it stands by now."""
        held = next(iter(await tx.get([seen.memory.id])), None)
        if held is None:
            return
        edges = _from(await tx.relations([held.id])).get(held.id, ())
        if held.version != seen.memory.version or _renamed(edges, self.policy, []) != list(seen.edges):
            seen = _seen(held, edges, self.policy)
        fields = dict(seen.fields)
        if seen.suspicious and not await _was_settled(held, tx):
            fields["status"] = Status.QUARANTINED
            self.quarantined.append(held.id)
        if not fields and not seen.edges:
            return
        kinds = Counter(each.rule for each in seen.findings)
        self.found += kinds
        if seen.fields or seen.edges:
            self.changed.append(held.id)
        if self.dry_run:
            return
        after = await self._changed(held, fields, seen.edges, tx)
        detail: dict[str, Any] = {"findings": sorted(kinds)}
        if after.status is not held.status:  # by this, restore brings it back
            detail |= {"before": {"status": held.status}, "after": {"status": after.status}}
        event = Event(id=new_id(now), bank_id=held.bank_id, at=now, actor=actor, verb="scan", memory_id=held.id)
        await tx.record([replace(event, detail=detail)])

    async def _changed(
        self, held: Memory, fields: dict[str, Any], edges: Sequence[tuple[Relation, str]], tx: Tx
    ) -> Memory:
        if fields.keys() == {"status"} and not edges:
            return await tx.change(held, **fields)
        await tx.unrelate([edge for edge, _ in edges])
        for edge, name in edges:
            await tx.relate(replace(edge, to_id=name))
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


def _seen(memory: Memory, edges: Sequence[Relation], policy: Policy) -> _Seen:
    findings: list[Finding] = []
    values = {name: getattr(memory, name) for name in _FIELDS}
    after = {name: rewritten(value, policy, findings) for name, value in values.items() if value}
    fields = {name: value for name, value in after.items() if value != values[name]}
    renamed = _renamed(edges, policy, findings)
    suspicious = memory.status is Status.ACTIVE and not memory.pinned
    said = (after["content"], *(edge.to_id for edge in edges)) if suspicious else ()
    suspicious = any(_is_suspicious(text, memory.source, policy) for text in said)
    return _Seen(memory, fields, findings, suspicious, renamed)


def _is_suspicious(text: str, source: Source, policy: Policy) -> bool:
    return weigh(text, source).score >= policy.towards(source).quarantine_at


def _from(relations: Sequence[Relation]) -> dict[str, list[Relation]]:
    """Edges to names, by the memory that each starts at; an id says nothing."""
    found: dict[str, list[Relation]] = {}
    for edge in relations:
        if not is_id(edge.to_id):
            found.setdefault(edge.from_id, []).append(edge)
    return found


def _renamed(edges: Sequence[Relation], policy: Policy, findings: list[Finding]) -> list[tuple[Relation, str]]:
    """The edges whose name the policy does not leave as it is, each with what it leaves."""
    after = [(edge, rewritten(edge.to_id, policy, findings)) for edge in edges]
    return [(edge, name) for edge, name in after if name != edge.to_id]


def cleared(state: SessionState, policy: Policy) -> tuple[SessionState, list[Finding]]:
    """A session's state as it could be put there today, and what was found in it.

    It cannot wait for a person, so what is suspicious goes.
    """
    findings: list[Finding] = []

    def kept(text: str, most: int) -> str:
        left = str(rewritten(text, policy, findings))[:most]
        suspicion = weigh(left, Source.AGENT)
        if suspicion.score < policy.towards(Source.AGENT).quarantine_at:
            return left
        findings.extend(suspicion.signals)
        return ""

    values: dict[str, Any] = {}
    for each in fields(SessionState):
        value, most = getattr(state, each.name), int(each.metadata["most"])
        if isinstance(value, str):
            values[each.name] = kept(value, most) if value else value
        else:
            values[each.name] = tuple(dict.fromkeys(left for text in value if (left := kept(text, most)).strip()))
    return SessionState(**values), findings
