"""The verbs that move memory: a user's, or everybody's, out as an archive and in again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

from hindsight_memory.check import parse_text
from hindsight_memory.domain import Export, Moved, Scope
from hindsight_memory.errors import InvalidInput, NotFound
from hindsight_memory.guard.access import require
from hindsight_memory.lifecycle.archive import packed, plain_archive
from hindsight_memory.lifecycle.mirror import all_banks
from hindsight_memory.lifecycle.packing import is_archive as is_archive
from hindsight_memory.lifecycle.packing import is_encrypted as is_encrypted
from hindsight_memory.lifecycle.take_in import contents, take_in
from hindsight_memory.service.base import Verbs
from hindsight_memory.wire import to_wire

_LONGEST_PASSPHRASE = 1_000


class Moving(Verbs):
    """Verbs that move memory. They are for who runs the program, and for ``admin``."""

    async def export(self, asked: Export, scope: Scope) -> AsyncIterator[bytes]:
        """An archive of all that is kept of a user, or of everybody, piece by piece.

        Each user's memory stands in it as it is at one moment: memories of every status and agent, sessions, relations,
        the log with its seals, policies, and what the vault holds, encrypted as it is there. What can be made anew is
        left out: words always, vectors unless they are asked for. The same memory gives the same bytes.

        Raises ``NotFound`` where nothing is known of the user.
        """
        namespace = self.principal.namespace
        if asked.all_users:
            require(self.principal, "export_all", Scope(namespace=namespace or scope.namespace))
            scopes = all_banks(self._parts.store, namespace)
        else:
            require(self.principal, "export", scope)
            if await self._parts.store.reading(scope.bank).head() is None:
                raise NotFound("Nothing is known of this user.", hint="Check the user_id.", field="user_id")
            scopes = _only(scope)
        stamp = to_wire(self._parts.clock()) if asked.stamp else ""
        lines = plain_archive(self._parts.store, scopes, vectors=asked.vectors, stamp=stamp)
        return packed(lines, asked.passphrase)

    async def import_archive(
        self,
        path: Path,
        *,
        passphrase: str | None = None,
        users: Sequence[str | None] = (),
        progress: Callable[[int], None] = lambda _: None,
    ) -> Moved:
        """Take an archive in: every user's memory with its ids, times, trust and log, as it was. Twice is once.

        All of it is checked before anything is stored, and each user's memory is stored in one transaction. What it
        says of trust and status is believed, so it is for who may vouch for that.

        Args:
            path: What ``export`` wrote.
            passphrase: What it was encrypted with.
            users: Only these users' memories, ``None`` for the shared bank; by default all that the archive holds.
            progress: Called with the number of lines read, and then stored, so far.

        Raises:
            InvalidInput: The archive is damaged, cut off or of a newer version; line and field are named.
            Conflict: A user has another memory here already; nothing was stored.
        """
        require(self.principal, "import", Scope(namespace=self.principal.namespace or Scope().namespace))
        if passphrase is not None:
            passphrase = parse_text("passphrase", passphrase, _LONGEST_PASSPHRASE)
        found = await asyncio.to_thread(contents, path, passphrase, progress)
        wanted = {each.scope.bank: each for each in found if not users or each.scope.user_id in users}
        for each in wanted.values():
            require(self.principal, "import", each.scope)
        if users and not wanted:
            hint = "Leave users out to import all of it."
            raise InvalidInput("The archive holds nothing of these users.", hint=hint, field="users")
        moved = await take_in(self._parts.store, path, passphrase, wanted, progress)
        self._parts.indexer.wake()
        self._parts.reading.wake()
        return Moved(banks=tuple(moved))


async def _only(scope: Scope) -> AsyncIterator[Scope]:
    yield scope
