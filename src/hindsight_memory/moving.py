"""Moving memory as the faces have it: out as an archive and in again, with keywords."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Unpack

from hindsight_memory.domain import Export, Moved
from hindsight_memory.face import Face, unheard
from hindsight_memory.sessions import WhoFields


class AsyncMoving(Face):
    """The verbs that move memory; ``AsyncHindsightMemory`` has them."""

    async def export(
        self,
        *,
        all_users: bool = False,
        vectors: bool = False,
        stamp: bool = False,
        passphrase: str | None = None,
        **who: Unpack[WhoFields],
    ) -> AsyncIterator[bytes]:
        """An archive of all that is kept of a user, to be iterated over: ``import_archive`` reads it.

        Args:
            all_users: Of everybody instead.
            vectors: With the vectors, which are made anew otherwise.
            stamp: Saying when it was made; without, the same memory gives the same bytes.
            passphrase: Encrypted with this; needs the extra ``vault``.
            **who: Whose memory is meant.
        """
        asked = Export(all_users=all_users, vectors=vectors, stamp=stamp, passphrase=passphrase)
        return await (await self._opened()).export(asked, self._split(who)[0])

    async def import_archive(
        self,
        path: str | Path,
        *,
        passphrase: str | None = None,
        users: Sequence[str | None] = (),
        progress: Callable[[int], None] = unheard,
    ) -> Moved:
        """Take an archive in: every user's memory as it was, each all or not at all. Done twice, it changes nothing.

        Args:
            path: What ``export`` wrote.
            passphrase: What it was encrypted with.
            users: Only these users, ``None`` for the shared bank; by default all that it holds.
            progress: Called with the number of lines read, and then stored, so far.
        """
        service = await self._opened()
        return await service.import_archive(Path(path), passphrase=passphrase, users=users, progress=progress)
