"""What is to be written, screened by the policy of the bank that it goes to."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeVar

from hindsight_memory.check import Checked
from hindsight_memory.domain import Event, Scope, Source, new_id
from hindsight_memory.guard.policy import Policy, policy_of
from hindsight_memory.guard.redact import redact
from hindsight_memory.guard.screen import Admission, Screened, admitted, screen
from hindsight_memory.guard.vault import Box, Vault
from hindsight_memory.settings import GuardSettings
from hindsight_memory.store.base import Store

T = TypeVar("T", bound=Checked)


@dataclass(frozen=True, slots=True)
class Screener:
    """Screens what callers and models write, before the transaction that stores it."""

    store: Store
    settings: GuardSettings
    vault: Vault | None
    clock: Callable[[], datetime]

    async def __call__(self, requests: Sequence[tuple[T, Source]], bank: str) -> list[Screened[T]]:
        """Screen requests, each with who says it; in their order."""
        return await self._screened(requests, bank, await self.policy(bank))

    async def plain(self, request: T, source: Source, bank: str) -> T:
        """A request that becomes no memory of its own, such as a change: with what the policy leaves of it.

        It cannot wait for a person, so what would is refused. Raises ``InvalidInput``.
        """
        (screened,) = await self._screened([(request, source)], bank, await self.policy(bank))
        refused = screened.verdict is Admission.QUARANTINED
        return admitted(replace(screened, verdict=Admission.REJECTED) if refused else screened)

    async def text(self, text: str, bank: str) -> str:
        """A note or a reason, which goes into the log, with what the policy leaves of it; nothing is refused."""
        return redact(text, await self.policy(bank, lenient=True))[0] if text else text

    async def policy(self, bank: str, *, lenient: bool = False) -> Policy:
        """The policy in force; ``lenient`` for what is made of memories and refuses nothing."""
        own = await self.store.reading(bank).rules()
        return replace(policy_of(self.settings, own), lenient=lenient)

    async def _screened(self, requests: Sequence[tuple[T, Source]], bank: str, policy: Policy) -> list[Screened[T]]:
        box = None if self.vault is None else Box(self.vault, bank)
        if box is not None:
            policy = replace(policy, keep=box.put)
        screened = await asyncio.to_thread(lambda: [screen(request, policy, source) for request, source in requests])
        if box is not None and box.sealed and any(each.verdict is not Admission.REJECTED for each in screened):
            await self._seal(box)
        return screened

    async def _seal(self, box: Box) -> None:
        """Store what goes into the vault, before the text that names it: a death in between leaves no dead name."""
        now = self.clock()
        types = sorted({kind for kind, _ in box.sealed.values()})
        event = Event(id=new_id(now), bank_id=box.bank, at=now, actor="hindsight-memory", verb="seal")
        async with self.store.transaction(Scope.of_bank(box.bank)) as tx:
            await tx.seal(box.sealed, now)
            await tx.record([replace(event, detail={"types": types})])
