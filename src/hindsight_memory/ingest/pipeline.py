"""The write path: what happens to a draft, in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from hindsight_memory.domain import Action, Draft, Event, Memory, Receipt, Scope, Status, new_id
from hindsight_memory.guard.screen import Screened
from hindsight_memory.guard.trust import taken_for
from hindsight_memory.ingest.belief import Belief, Believed
from hindsight_memory.ingest.enrich import marks_of, remember
from hindsight_memory.ingest.relate import Asked, asked_of, relate
from hindsight_memory.ingest.resolve import Verdict, settle, stand
from hindsight_memory.ingest.screening import Screener
from hindsight_memory.settings import WriteSettings
from hindsight_memory.store.base import Marks, Store, Tx
from hindsight_memory.strength import expired


@dataclass(frozen=True, slots=True)
class _Drawn:
    """A screened draft, the memory it asks for, what that is found by, and the relations it asks for."""

    screened: Screened[Draft]
    memory: Memory
    marks: Marks
    asked: Sequence[Asked]


@dataclass(frozen=True, slots=True)
class Writer:
    """Stores drafts."""

    store: Store
    screener: Screener
    belief: Belief
    settings: WriteSettings
    clock: Callable[[], datetime]

    async def __call__(self, drafts: Sequence[Draft], scope: Scope, actor: str, most: float = 1.0) -> list[Receipt]:
        """Store drafts, all in one transaction or none; the receipts come in their order.

        ``most`` is how far whoever writes is believed, whatever source they name. What is suspicious is stored in
        quarantine. Raises ``InvalidInput`` for what the guards do not let in.
        """
        screened = await self.screener([(draft, taken_for(draft.source, most)) for draft in drafts], scope.bank)
        drawn = [self._drawn(each, scope) for each in screened]  # before the transaction: while it lasts, others wait
        async with self.store.transaction(scope) as tx:  # read, decide, write: one transaction
            believed = await self.belief([(each.memory, each.screened.suspicion) for each in drawn], most, tx)
            pairs = zip(drawn, believed, strict=True)
            stored = [await self._stored(each, held, actor, tx) for each, held in pairs]
            await tx.record([event for _, event in stored])
        return [receipt for receipt, _ in stored]

    def _drawn(self, screened: Screened[Draft], scope: Scope) -> _Drawn:
        memory = remember(screened, scope, self.clock(), self.settings)
        return _Drawn(screened, memory, marks_of(memory), asked_of(screened.draft))

    async def _stored(self, drawn: _Drawn, believed: Believed, actor: str, tx: Tx) -> tuple[Receipt, Event]:
        """What became of a draft, and the event that says so."""
        memory = believed.memory
        verdict = await _stand(memory, actor, tx)
        receipt = await settle(memory, drawn.marks, verdict, tx)
        if receipt.action is Action.DUPLICATE and verdict.old is not None:
            receipt = replace(receipt, version=(await self.belief.borne_out(verdict.old, memory, tx)).version)
        elif believed.lesson is not None:
            receipt = replace(receipt, related=(believed.lesson,))
        receipt = replace(receipt, findings=(*drawn.screened.findings, *believed.findings))
        # Edges of what waits in quarantine lead nowhere until it is let in.
        edges = await relate(drawn.asked, memory, receipt, tx)
        return receipt, written(memory, receipt, actor, edges)


async def _stand(memory: Memory, actor: str, tx: Tx) -> Verdict:
    """How a memory stands to what has not expired: what has is forgotten first, as maintenance would do later."""
    now = memory.created_at
    while (verdict := await stand(memory, tx)).old is not None and expired(verdict.old, now):
        old = await tx.change(verdict.old, status=Status.DELETED, deleted_at=now)
        event = Event(id=new_id(now), bank_id=old.bank_id, at=now, actor=actor, verb="expire", memory_id=old.id)
        await tx.record([event])
    return verdict


def written(memory: Memory, receipt: Receipt, actor: str, relations: Sequence[str] = ()) -> Event:
    """The event of a write. It names the memory, what was seen in it and its new relations, and holds no text of it."""
    detail: dict[str, Any] = {"action": receipt.action, "related": list(receipt.related), "trust": memory.trust}
    if receipt.findings:
        detail["findings"] = sorted({each.rule for each in receipt.findings})
    return Event(
        id=new_id(memory.created_at),
        bank_id=memory.bank_id,
        at=memory.created_at,
        actor=actor,
        verb="write",
        memory_id=receipt.id,
        detail=detail | ({"relations": list(relations)} if relations else {}),
    )
