"""The write path: what happens to a draft, in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from hindsight_memory.domain import Draft, Event, Memory, Receipt, Scope, Status, new_id
from hindsight_memory.ingest.enrich import marks_of, remember
from hindsight_memory.ingest.relate import asked_of, relate
from hindsight_memory.ingest.resolve import Verdict, settle, stand
from hindsight_memory.settings import WriteSettings
from hindsight_memory.store.base import Store, Tx
from hindsight_memory.strength import expired


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
            receipts = [
                await settle(memory, found_by, await _stand(memory, actor, tx), tx)
                for memory, found_by in zip(memories, marks, strict=True)
            ]
            stored = list(zip(memories, receipts, asked, strict=True))
            edges = [await relate(wanted, memory, receipt, tx) for memory, receipt, wanted in stored]
            told = zip(memories, receipts, edges, strict=True)
            await tx.record([written(memory, receipt, actor, new) for memory, receipt, new in told])
        return receipts


async def _stand(memory: Memory, actor: str, tx: Tx) -> Verdict:
    """How a memory stands to what has not expired: what has is forgotten first, as maintenance would do later."""
    now = memory.created_at
    while (verdict := await stand(memory, tx)).old is not None and expired(verdict.old, now):
        old = await tx.change(verdict.old, status=Status.DELETED, deleted_at=now)
        event = Event(id=new_id(now), bank_id=old.bank_id, at=now, actor=actor, verb="expire", memory_id=old.id)
        await tx.record([event])
    return verdict


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
