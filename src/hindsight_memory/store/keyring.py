"""The store contract, as far as API keys go."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Protocol

from hindsight_memory.domain import ApiKey


class KeyTx(Protocol):
    """What a transaction on a bank may do to the keys of its namespace."""

    async def put_key(self, key: ApiKey, digest: str) -> None:
        """Store an API key, found from then on by the digest of its secret."""

    async def end_key(self, key: ApiKey) -> None:
        """Store when a key expires, when it was revoked, and what has replaced it."""


class KeyStore(Protocol):
    """What may be asked about keys before it is known whose they are."""

    async def key_of(self, digest: str) -> ApiKey | None:
        """The key with this digest, whether it works or not, as every process has left it."""

    async def key(self, key_id: str) -> ApiKey | None:
        """The key with this id."""

    async def keys(self, namespace: str | None, after: str | None, limit: int) -> list[ApiKey]:
        """The keys of a namespace, or of all, in the order of their ids, those behind ``after`` only."""

    async def working_keys(self, now: datetime) -> bool:
        """Whether there is a key that is neither revoked nor expired."""

    async def used_keys(self, used: Mapping[str, datetime]) -> None:
        """Keep when keys, by their ids, were last used."""
