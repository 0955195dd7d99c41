"""One database made equal to another, line by line: what differs is put, what is gone is dropped, until nothing does.

The source may be written to meanwhile: each round reads every bank as it is at one moment. A run that ended in the
middle is begun again, and finds equal what was moved.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Final

from hindsight_memory.domain import Migrated, Scope
from hindsight_memory.errors import Conflict
from hindsight_memory.lifecycle.archive import PAGE, digest, pages
from hindsight_memory.lifecycle.take_in import marks_of_lines, put, seal_at
from hindsight_memory.store.base import Reader, Store
from hindsight_memory.store.parts import COMMON, PARTS, VECTOR, Key, Line, Part

_ROUNDS: Final = 5
_BATCH: Final = 200
"""Lines changed in one transaction."""
_BANKS: Final = 100


async def migrate(source: Store, target: Store, progress: Callable[[int], None] = lambda _: None) -> Migrated:
    """Make ``target`` hold what ``source`` does, and compare both in the end.

    Raises ``Conflict`` where a bank of the target is not an earlier state of the source's.
    """
    mirror = _Mirror(source, target, progress)
    rounds = 0
    moving = True
    while moving and rounds < _ROUNDS:
        rounds += 1
        await mirror.common()
        moving = bool([scope async for scope in all_banks(source) if await mirror.bank(scope)])
    return await mirror.compared(rounds)


async def all_banks(store: Store, namespace: str | None = None) -> AsyncIterator[Scope]:
    """Every bank of a namespace, or of all, in the order of their ids."""
    page = await store.banks(namespace, None, _BANKS)
    while page:
        for scope in page:
            yield scope
        page = await store.banks(namespace, page[-1].bank, _BANKS)


@dataclass(slots=True)
class _Mirror:
    """A source, a target, and what was done so far."""

    source: Store
    target: Store
    progress: Callable[[int], None]
    seen: int = 0
    changed: int = 0

    async def common(self) -> None:
        """Move what all banks share: embedding spaces, the digests of API keys, what models took today."""
        for part in COMMON:
            after: Key | None = None
            while page := await self.source.common_lines(part, after, PAGE):
                after = part.key_of(page[-1])
                await self.target.put_common(part, page)

    async def bank(self, scope: Scope) -> bool:
        """Make one bank equal; returns whether anything was not."""
        async with self.source.snapshot(scope.bank) as source:
            head = await source.head()
            if head is None:
                return False
            held = await self.target.reading(scope.bank).head()
            await self._must_go_on(source, head, held, scope)
            before = self.changed
            if head != held:
                async with self.target.transaction(scope) as tx:
                    await tx.set_head(head)
                self.changed += 1
            for part in (*PARTS, VECTOR):
                await self._part(part, source, scope)
            if self.changed > before:
                async with self.target.transaction(scope) as tx:
                    await tx.settle_vectors()
            return self.changed > before

    async def _must_go_on(self, source: Reader, head: Line, held: Line | None, scope: Scope) -> None:
        if held is None or held["next_event"] == 1:
            return
        number = held["next_event"] - 1
        if await seal_at(source, head, number) != held["log_seal"]:
            whose = "the shared bank" if scope.user_id is None else f"the user {scope.user_id[:80]!r}"
            message = f"Where it is moved to, {whose} of namespace {scope.namespace[:80]!r} has another memory."
            raise Conflict(message, hint="Move into an empty database.", field="to")

    async def _part(self, part: Part, source: Reader, scope: Scope) -> None:
        """Go through both sides in the order of their keys."""
        changes = _Changes(part, self.target, scope)
        ours, theirs = _lines(source, part), _lines(self.target.reading(scope.bank), part)
        one, two = await anext(ours, None), await anext(theirs, None)
        while one is not None or two is not None:
            if two is None or (one is not None and part.key_of(one) < part.key_of(two)):
                assert one is not None
                await changes.put(one)
                one = await self._next(ours)
            elif one is None or part.key_of(two) < part.key_of(one):
                await changes.drop(part.key_of(two))
                two = await anext(theirs, None)
            else:
                if one != two:
                    await changes.put(one)
                one, two = await self._next(ours), await anext(theirs, None)
        await changes.end()
        self.changed += changes.count

    async def _next(self, lines: AsyncIterator[Line]) -> Line | None:
        self.seen += 1
        if self.seen % _BATCH == 0:
            self.progress(self.seen)
        return await anext(lines, None)

    async def compared(self, rounds: int) -> Migrated:
        """Hash every bank of both, and say which are not equal."""
        whole = hashlib.sha256()
        still: list[str] = []
        banks = lines = 0
        async for scope in all_banks(self.source):
            (ours, count), (theirs, _) = await self._hashed(self.source, scope), await self._hashed(self.target, scope)
            banks, lines = banks + 1, lines + count
            whole.update(ours.encode())
            if ours != theirs:
                still.append(scope.bank)
        self.progress(self.seen)
        return Migrated(
            banks=banks, rounds=rounds, lines=lines, changed=self.changed, sha256=whole.hexdigest(), open=tuple(still)
        )

    async def _hashed(self, store: Store, scope: Scope) -> tuple[str, int]:
        async with store.snapshot(scope.bank) as reader:
            return await digest(reader)


@dataclass(slots=True)
class _Changes:
    """What is to be done to a part of a bank, some lines at a time."""

    part: Part
    target: Store
    scope: Scope
    count: int = 0
    _put: list[Line] = field(default_factory=list)
    _drop: list[Key] = field(default_factory=list)

    async def put(self, line: Line) -> None:
        """Put a line there."""
        self._put.append(line)
        await self._flush(_BATCH)

    async def drop(self, key: Key) -> None:
        """Drop a line there."""
        self._drop.append(key)
        await self._flush(_BATCH)

    async def end(self) -> None:
        """Do what is left to do."""
        await self._flush(1)

    async def _flush(self, least: int) -> None:
        if len(self._put) + len(self._drop) < least:
            return
        marks = await asyncio.to_thread(marks_of_lines, self.part, self._put)
        async with self.target.transaction(self.scope) as tx:
            await tx.drop_lines(self.part, self._drop)
            await put(tx, self.part, self._put, marks)
        self.count += len(self._put) + len(self._drop)
        self._put, self._drop = [], []


async def _lines(reader: Reader, part: Part) -> AsyncIterator[Line]:
    async for page in pages(reader, part):
        for line in page:
            yield line
