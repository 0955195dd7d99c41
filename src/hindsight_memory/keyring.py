"""API keys as the faces have them: their verbs with keywords."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, TypedDict, Unpack

from hindsight_memory.domain import ApiKey, Grant, IssuedKey, KeyListing, KeyPage, NewKey
from hindsight_memory.face import Face


class KeyFields(TypedDict, total=False):
    """The fields of a ``NewKey`` besides its name."""

    grants: Sequence[Grant | str]
    users: Sequence[str] | None
    agents: Sequence[str] | None
    expires_at: datetime | str | None
    namespace: str | None


class KeyListFields(TypedDict, total=False):
    """The fields of a ``KeyListing``."""

    namespace: str | None
    limit: int
    after: str | None


class AsyncKeys(Face):
    """The verbs of API keys, for who runs the program and for ``admin``; ``AsyncHindsightMemory`` has them."""

    async def create_key(self, name: str, **fields: Unpack[KeyFields]) -> IssuedKey:
        """Make an API key; its ``secret`` is in the answer, this once, and is kept nowhere.

        Args:
            name: What the key is called in lists and in the log.
            **fields: ``grants`` (``read``, ``write``, ``vouch``, ``shared``, ``purge``, ``vault``, ``admin``), the
                ``users`` it may act for, all by default, the ``agents`` it may act as, its own by default,
                ``expires_at``, and its ``namespace``.
        """
        values: dict[str, Any] = {**fields}
        return await (await self._opened()).create_key(NewKey(name=name, **values))

    async def list_keys(self, **fields: Unpack[KeyListFields]) -> KeyPage:
        """The API keys, those that have ended too, oldest first, a page at a time; without their secrets."""
        values: dict[str, Any] = {**fields}
        return await (await self._opened()).list_keys(KeyListing(**values))

    async def rotate_key(self, key_id: str, *, overlap_hours: float = 24.0) -> IssuedKey:
        """Replace a key by a new one that may do the same; the old one works ``overlap_hours`` longer."""
        return await (await self._opened()).rotate_key(key_id, overlap_hours)

    async def revoke_key(self, key_id: str, *, reason: str = "") -> ApiKey:
        """End a key at once, in every process."""
        return await (await self._opened()).revoke_key(key_id, reason)
