"""The audit log, and what goes for good, as the faces have them: their verbs with keywords."""

from __future__ import annotations

from typing import Unpack

from hindsight_memory.domain import AuditCheck, Audited, AuditListing, AuditPage, Erased
from hindsight_memory.face import Face
from hindsight_memory.sessions import WhoFields


class AsyncAuditing(Face):
    """The verbs of the audit log and of erasure; ``AsyncHindsightMemory`` has them."""

    async def purge(self, memory_id: str, *, reason: str = "", **who: Unpack[WhoFields]) -> Erased:
        """Remove one memory for good, at once; returns what was removed, counted, and that no file holds it."""
        return await (await self._opened()).purge(memory_id, self._split(who)[0], reason)

    async def forget_all(self, *, confirm: str, **who: Unpack[WhoFields]) -> Erased:
        """Remove everything that is kept of a user, for good; ``confirm`` is the ``user_id`` once more."""
        return await (await self._opened()).forget_all(self._split(who)[0], confirm)

    async def verify_audit(self, *, head: str | None = None, **who: Unpack[WhoFields]) -> Audited:
        """Whether the log of a user's memory is whole: nothing changed, missing, put in or moved.

        ``head`` is that of an earlier look, kept elsewhere: with it, a log that was written anew is found too.
        """
        return await (await self._opened()).verify_audit(AuditCheck(head=head), self._split(who)[0])

    async def export_audit(self, *, after: int = 0, limit: int = 100, **who: Unpack[WhoFields]) -> AuditPage:
        """A page of the log, oldest first, each line with what its seal was made of."""
        asked = AuditListing(after=after, limit=limit)
        return await (await self._opened()).export_audit(asked, self._split(who)[0])
