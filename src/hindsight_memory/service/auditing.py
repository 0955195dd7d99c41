"""The verbs of the audit log: whether it is whole, and all of it with its seals."""

from __future__ import annotations

from typing import Final

from hindsight_memory.domain import AuditCheck, Audited, AuditListing, AuditPage, Scope
from hindsight_memory.domain.audit import Chain, noted
from hindsight_memory.guard.access import require
from hindsight_memory.service.base import Verbs
from hindsight_memory.store.base import Reader

_PAGE: Final = 1_000
_TRIES: Final = 3
"""Looks at a log that is begun anew while it is looked at."""


class Auditing(Verbs):
    """Verbs of the audit log, which is one chain a bank; they are for who runs the program, and for ``admin``."""

    async def verify_audit(self, asked: AuditCheck, scope: Scope) -> Audited:
        """Follow the log from its first line to its end, and say whether a line was changed, removed, put in or moved.

        With the ``head`` of an earlier look, kept elsewhere, it is also found when all of it was written anew.

        Raises ``InvalidInput`` for a head that is none.
        """
        require(self.principal, "audit", scope)
        return await audited(self._parts.store.reading(scope.bank), noted(asked.head))

    async def export_audit(self, asked: AuditListing, scope: Scope) -> AuditPage:
        """A page of the log, oldest first, each line with what its seal was made of: enough to check it elsewhere."""
        require(self.principal, "audit", scope)
        found = await self._parts.store.reading(scope.bank).log(asked.after, asked.limit + 1)
        lines = tuple(found[: asked.limit])
        return AuditPage(lines, lines[-1].number if len(found) > asked.limit else None)


async def audited(reader: Reader, held: tuple[int, str] | None = None) -> Audited:
    """What a look at the log of a bank finds, held against an earlier head."""
    for _ in range(_TRIES):
        first = await reader.log_head()
        if first is None:
            return Chain(0, "", held).end()
        found = await _followed(Chain(first.first - 1, first.base, held), reader)
        after = await reader.log_head()
        if found.whole or after is None or after.first == first.first:
            break  # otherwise all was forgotten meanwhile, and the log begins later
    return found


async def _followed(chain: Chain, reader: Reader) -> Audited:
    if (found := chain.rewritten()) is not None:
        return found
    while True:
        page = await reader.log(chain.number, _PAGE)
        if (found := chain.follow(page)) is not None:
            return found
        if page:
            continue
        head = await reader.log_head()
        assert head is not None
        if head.last < chain.number:
            return chain.broken(head.last + 1, "the bank does not count the line")
        if head.last == chain.number:
            return chain.end() if head.seal == chain.seal else chain.broken(head.last, "it is not the bank's last line")
        if not await reader.log(chain.number, 1):  # nothing was appended in between: it is gone
            return chain.broken(chain.number + 1, "the line is missing")
