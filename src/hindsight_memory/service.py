"""The verbs: the only thing adapters call."""

from __future__ import annotations

import asyncio
import copy
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from hindsight_memory.check import parse_text
from hindsight_memory.domain import (
    Action,
    Changes,
    Check,
    Context,
    Draft,
    Event,
    Hit,
    ImportReport,
    Listing,
    Memory,
    Message,
    Page,
    Query,
    Receipt,
    Scope,
    Skipped,
    Status,
    Tier,
    Visibility,
    Wait,
    Why,
    new_id,
)
from hindsight_memory.errors import Conflict, HindsightMemoryError, InvalidInput, NotFound
from hindsight_memory.guard.access import LOCAL, Principal, require
from hindsight_memory.ingest.conversation import ConversationWriter
from hindsight_memory.ingest.enrich import content_of, identity, marks_of, owner_of
from hindsight_memory.ingest.index import Indexer
from hindsight_memory.ingest.pipeline import Writer
from hindsight_memory.ingest.transcripts import Transcript, detect, read
from hindsight_memory.models.base import LLM, Embedder, Reranker
from hindsight_memory.recall.pack import pack
from hindsight_memory.recall.pipeline import Finder
from hindsight_memory.settings import Settings
from hindsight_memory.store.base import Store, Tx, Where

_LONGEST_ID = 200
_LONGEST_REASON = 2_000
_IMPORT_BATCH = 200


@dataclass(slots=True)
class Parts:
    """What a service is made of, wired by ``build``. ``notes`` says in words what was chosen and why."""

    settings: Settings
    store: Store
    embedders: Sequence[Embedder]
    writer: Writer
    converser: ConversationWriter
    indexer: Indexer
    finder: Finder
    clock: Callable[[], datetime]
    llm: LLM | None = None
    reranker: Reranker | None = None
    notes: tuple[str, ...] = ()
    working: list[asyncio.Task[None]] = field(default_factory=list)
    touched: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))


class Service:
    """Memory of many banks, as one caller sees it: every verb asks whether the caller may."""

    def __init__(self, parts: Parts, principal: Principal = LOCAL) -> None:
        self._parts = parts
        self.principal = principal

    @property
    def finder(self) -> Finder:
        """The read path itself: what fits its weights measures it before it ranks."""
        return self._parts.finder

    def acting_as(self, principal: Principal) -> Service:
        """The same service for another caller."""
        other = copy.copy(self)
        other.principal = principal
        return other

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self._parts.settings

    async def start(self) -> None:
        """Begin the work behind the verbs: vectors for what lacks them, access counts."""
        await self._parts.indexer.start()
        self._parts.working += [asyncio.create_task(self._parts.indexer.run()), asyncio.create_task(self._count())]

    async def close(self) -> None:
        """Finish what this process wrote, within bounds, and let go of everything."""
        self._parts.indexer.stop()
        try:
            if self._parts.working:
                await asyncio.wait(self._parts.working[:1], timeout=self.settings.write.drain_s)
            for task in self._parts.working:
                task.cancel()
            await asyncio.gather(*self._parts.working, return_exceptions=True)
            with suppress(HindsightMemoryError):  # access counts are not worth an error at the end
                await self._flush()
        finally:
            for model in (*self._parts.embedders, self._parts.reranker, self._parts.llm):
                if model is not None:
                    await model.close()
            await self._parts.store.close()

    # Writing

    async def write(self, draft: Draft, scope: Scope, wait: Wait = Wait.STORED) -> Receipt:
        """Store one memory; it is durable and found by words when this returns.

        Args:
            draft: What to remember.
            scope: Whose memory it becomes, and who writes.
            wait: ``indexed`` waits for its vector too.

        Raises:
            InvalidInput: A field is wrong; nothing was stored.
        """
        return (await self.write_many([draft], scope, wait))[0]

    async def write_many(self, drafts: Sequence[Draft], scope: Scope, wait: Wait = Wait.STORED) -> list[Receipt]:
        """Store several memories, all or none; the receipts come in their order."""
        require(self.principal, "write", scope)
        receipts = await self._parts.writer(drafts, scope, self._actor(scope))
        return await self._waited(receipts, scope, wait)

    async def write_conversation(
        self, messages: Sequence[Message], scope: Scope, wait: Wait = Wait.STORED
    ) -> list[Receipt]:
        """Append messages to the scope's session, each one episodic memory; see ``ConversationWriter``."""
        require(self.principal, "write", scope)
        receipts = await self._parts.converser(messages, scope, self._actor(scope))
        return await self._waited(receipts, scope, wait)

    async def import_file(
        self,
        path: Path,
        scope: Scope,
        wait: Wait = Wait.STORED,
        progress: Callable[[int], None] = lambda _: None,
    ) -> ImportReport:
        """Read a conversation export, or a folder of them, into the bank. Run twice, it adds nothing.

        Args:
            path: A ChatGPT or Claude export, a Claude Code or Codex transcript, Markdown, or JSON lines of messages.
            scope: Whose memory it becomes. The sessions are the export's own.
            wait: ``indexed`` waits for the vectors too, which take far longer than the reading.
            progress: Called with the number of turns read so far.
        """
        require(self.principal, "write", scope)
        form = await asyncio.to_thread(lambda: "folder" if path.is_dir() else detect(path))
        report = ImportReport(format=form, sessions=0, turns=0, created=0, known=0)
        parts = await asyncio.to_thread(read, path)
        while (part := await asyncio.to_thread(next, parts, None)) is not None:
            if isinstance(part, Skipped):
                report = replace(report, skipped=(*report.skipped, part))
                continue
            for batch in _batches(part):
                receipts = await self.write_conversation(batch, replace(scope, session_id=part.session_id), wait)
                report = _counted(report, receipts)
                progress(report.turns)
            report = replace(report, sessions=report.sessions + 1)
        return report

    # Reading

    async def search(self, query: Query, scope: Scope) -> list[Hit]:
        """The memories that answer a query, best first, each with its reasons in numbers and words."""
        require(self.principal, "search", scope)
        hits = await self._parts.finder(query, scope)
        self._parts.touched[scope.bank].update(hit.memory.id for hit in hits)
        return hits

    async def context(self, query: Query, scope: Scope, budget_tokens: int | None = None) -> Context:
        """What is worth knowing for a query, as one prompt block of at most ``budget_tokens``."""
        require(self.principal, "search", scope)
        budget = self.settings.pack.budget_tokens if budget_tokens is None else budget_tokens
        if isinstance(budget, bool) or not isinstance(budget, int) or budget < 1:
            raise InvalidInput("budget_tokens must be a whole number, at least 1.", field="budget_tokens")
        wide = replace(query, limit=max(query.limit, self.settings.pack.candidates))
        return pack(await self.search(wide, scope), budget, self.settings.pack)

    async def explain(self, query: Query, memory_id: str, scope: Scope) -> Hit:
        """How one memory fares with a query, whether or not it is among the results.

        Raises ``NotFound`` when the bank has no such memory.
        """
        memory = await self.get(memory_id, scope)
        found = await self._parts.finder.explain(query, memory_id, scope)
        if found is not None:
            return found
        return Hit(memory, 0.0, 0.0, Why("No signal brought it, or the filters exclude it.", (), ()))

    async def get(self, memory_id: str, scope: Scope) -> Memory:
        """One memory. Raises ``NotFound`` for an unknown, a forgotten, or another agent's private one."""
        require(self.principal, "get", scope)
        memory_id = parse_text("memory_id", memory_id, _LONGEST_ID)
        return _visible(await self._parts.store.reading(scope.bank).get([memory_id]), memory_id, scope)

    # Changing

    async def update(self, memory_id: str, changes: Changes, scope: Scope) -> Memory:
        """Change fields of a memory; its version goes up.

        Raises ``Conflict`` when ``changes.version`` is not the stored one, or another memory says the same already.
        """
        require(self.principal, "update", scope)
        memory_id = parse_text("memory_id", memory_id, _LONGEST_ID)
        values = changes.given()
        if not values:
            raise InvalidInput("There is nothing to change.", hint="Give at least one field.", field="content")
        async with self._parts.store.transaction(scope) as tx:
            memory = _visible(await tx.get([memory_id]), memory_id, scope)
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
        memory_id = parse_text("memory_id", memory_id, _LONGEST_ID)
        reason = parse_text("reason", reason, _LONGEST_REASON)
        async with self._parts.store.transaction(scope) as tx:
            memory = _seen(await tx.get([memory_id]), memory_id, scope)
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
        memory_id = parse_text("memory_id", memory_id, _LONGEST_ID)
        async with self._parts.store.transaction(scope) as tx:
            memory = _seen(await tx.get([memory_id]), memory_id, scope)
            if memory.status is not Status.DELETED:
                return memory
            status = Status.SUPERSEDED if memory.superseded_by else Status.ACTIVE
            if status is Status.ACTIVE:
                await _refuse_second(memory, tx)
            back = await tx.change(memory, marks_of(memory), status=status, deleted_at=None)
            await tx.record([self._event("restore", back, scope, {})])
        self._parts.indexer.wake()
        return back

    # Health

    async def doctor(self) -> list[Check]:
        """What this service runs on, and whether it is well. Slow: it reads the whole database."""
        faults = await self._parts.store.check()
        _, *others = await self.ready()
        return [Check("database", not faults, self.settings.database, "; ".join(faults)), *others]

    async def ready(self) -> list[Check]:
        """Whether requests can be answered now; quick. Memories without a vector are found by words meanwhile."""
        due = await self._parts.store.due(self.settings.write.index_attempts)
        embedders = ", ".join(embedder.space for embedder in self._parts.embedders) or "none: words only"
        as_asked = bool(self._parts.embedders) or self.settings.embed.names == "none"
        llm, reranker = self._parts.llm, self._parts.reranker
        return [
            Check("database", True, self.settings.database),
            Check("embedder", as_asked, embedders, " ".join(self._parts.notes)),
            Check("vectors", True, f"{due} memories wait for one"),
            Check("llm", True, "none: rules only" if llm is None else llm.name),
            Check("reranker", True, "none" if reranker is None else reranker.name),
        ]

    # Inside

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

    async def _waited(self, receipts: list[Receipt], scope: Scope, wait: Wait) -> list[Receipt]:
        indexer = self._parts.indexer
        indexer.wake()
        if wait is Wait.STORED or not self._parts.embedders:
            return receipts
        ids = {receipt.id for receipt in receipts} - {""}
        done = ids - await indexer.finish(scope.bank, sorted(ids), self.settings.write.finish_s)
        return [replace(receipt, indexed=receipt.id in done) for receipt in receipts]

    async def _count(self) -> None:
        while True:
            await asyncio.sleep(self.settings.write.poll_s)
            with suppress(HindsightMemoryError):  # a few counts lost to a busy disk; the next ones are kept
                await self._flush()

    async def _flush(self) -> None:
        touched, self._parts.touched = self._parts.touched, defaultdict(set)
        for bank, ids in touched.items():
            async with self._parts.store.transaction(Scope.of_bank(bank)) as tx:
                await tx.touch(sorted(ids), self._parts.clock())

    async def list(self, listing: Listing, scope: Scope) -> Page:
        """Memories by filter, newest first, a page at a time."""
        require(self.principal, "get", scope)
        seen = {"now": self._parts.clock(), "viewer": scope.agent_id, "statuses": (listing.status,)}
        where = Where.of(listing, tiers=tuple(Tier), findable=False, **seen)
        reader = self._parts.store.reading(scope.bank)
        found = await reader.find(where, listing.limit + 1, listing.after)
        more = len(found) > listing.limit
        return Page(tuple(found[: listing.limit]), found[listing.limit - 1].id if more else None)


_MARKED = {"content", "key", "tags", "occurred_at"}


def _seen(found: Sequence[Memory], memory_id: str, scope: Scope) -> Memory:
    if not found or (found[0].visibility is Visibility.PRIVATE and found[0].agent_id != scope.agent_id):
        raise NotFound(
            f"There is no memory {memory_id[:80]} here.", hint="Check the id and the user.", field="memory_id"
        )
    return found[0]


def _visible(found: Sequence[Memory], memory_id: str, scope: Scope) -> Memory:
    memory = _seen(found, memory_id, scope)
    if memory.status is Status.DELETED:
        raise NotFound(f"Memory {memory.id} was forgotten.", hint="Restore it to see it again.", field="memory_id")
    return memory


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


def _batches(transcript: Transcript) -> Iterable[list[Message]]:
    # In a file a turn's place is sure, so it can serve as the id that a repeated import is known by.
    named = [
        message if message.id is not None else replace(message, id=f"turn {number}")
        for number, message in enumerate(transcript.messages)
    ]
    return (named[start : start + _IMPORT_BATCH] for start in range(0, len(named), _IMPORT_BATCH))


def _counted(report: ImportReport, receipts: Sequence[Receipt]) -> ImportReport:
    return replace(
        report,
        turns=report.turns + len(receipts),
        created=report.created + sum(receipt.created for receipt in receipts),
        known=report.known + sum(receipt.action is Action.DUPLICATE for receipt in receipts),
    )
