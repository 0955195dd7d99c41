"""The write path: what happens to a draft, in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from hindsight_memory.domain import Draft, Event, Memory, Receipt, Scope, new_id
from hindsight_memory.ingest.enrich import marks_of, remember
from hindsight_memory.ingest.relate import asked_of, relate
from hindsight_memory.ingest.resolve import settle, stand
from hindsight_memory.settings import WriteSettings
from hindsight_memory.store.base import Store


@dataclass(frozen=True, slots=True)
class Writer:
    """Stores drafts."""

    store: Store
    settings: WriteSettings
    clock: Callable[[], datetime]

    async def __call__(self, drafts: Sequence[Draft], scope: Scope, actor: str) -> list[Receipt]:
        """Store drafts, all in one transaction or none; the receipts come in their order."""
        memories = [remember(draft, scope, self.clock(), self.settings) for draft in drafts]
        asked = [asked_of(draft) for draft in drafts]
        marks = [marks_of(memory) for memory in memories]  # before the transaction: while it lasts, others wait
        async with self.store.transaction(scope) as tx:  # read, decide, write: one transaction
            pairs = zip(memories, marks, strict=True)
            receipts = [await settle(memory, found_by, await stand(memory, tx), tx) for memory, found_by in pairs]
            stored = list(zip(memories, receipts, asked, strict=True))
            edges = [await relate(wanted, memory, receipt, tx) for memory, receipt, wanted in stored]
            told = zip(memories, receipts, edges, strict=True)
            await tx.record([written(memory, receipt, actor, new) for memory, receipt, new in told])
        return receipts


def written(memory: Memory, receipt: Receipt, actor: str, relations: Sequence[str] = ()) -> Event:
    """The event of a write. It names the memory and its new relations, and holds none of its text."""
    detail = {"action": receipt.action, "related": list(receipt.related), "trust": memory.trust}
    return Event(
        id=new_id(memory.created_at),
        bank_id=memory.bank_id,
        at=memory.created_at,
        actor=actor,
        verb="write",
        memory_id=receipt.id,
        detail=detail | ({"relations": list(relations)} if relations else {}),
    )
