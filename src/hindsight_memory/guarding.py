"""The guards as the faces have them: their verbs with keywords."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Unpack

from hindsight_memory.domain import Handling, Policies, Revealed, Review, ReviewListing, Scan, Scanned
from hindsight_memory.face import Face
from hindsight_memory.sessions import WhoFields


class AsyncGuarding(Face):
    """The verbs of the guards; ``AsyncHindsightMemory`` has them."""

    async def policy(
        self, rules: Mapping[str, Handling | str | None] | None = None, **who: Unpack[WhoFields]
    ) -> Policies:
        """What becomes of each type of personal data and secret; ``rules`` sets rules of the user's own first.

        Args:
            rules: By type, or by group (``personal``, ``secrets``): ``mask``, ``redact``, ``reject``, ``vault`` or
                ``allow``; ``None`` takes a rule back. They hold for what is written from then on: see ``scan``.
            **who: Whose memory is meant.
        """
        return await (await self._opened()).policy(self._split(who)[0], rules or {})

    async def reveal(self, vault_id: str, *, reason: str = "", **who: Unpack[WhoFields]) -> Revealed:
        """A value out of the vault, by the id that stands in its place; the log says who read it, and why."""
        return await (await self._opened()).reveal(vault_id, self._split(who)[0], reason)

    async def review(self, *, limit: int = 50, after: str | None = None, **who: Unpack[WhoFields]) -> Review:
        """What is in quarantine, newest first, and why: ``restore`` lets a memory in, ``forget`` refuses it."""
        listing = ReviewListing(limit=limit, after=after)
        return await (await self._opened()).review(listing, self._split(who)[0])

    async def scan(
        self, *, dry_run: bool = False, limit: int = 500, after: str | None = None, **who: Unpack[WhoFields]
    ) -> Scanned:
        """Screen again what is stored, a stretch at a time: go on with the answer's ``next`` as ``after``."""
        asked = Scan(dry_run=dry_run, limit=limit, after=after)
        return await (await self._opened()).scan(asked, self._split(who)[0])
