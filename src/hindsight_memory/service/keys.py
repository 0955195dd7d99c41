"""The verbs of API keys: made, listed, replaced, revoked; and whom a secret speaks for."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

from hindsight_memory.check import parse_text
from hindsight_memory.domain import ApiKey, Event, IssuedKey, KeyListing, KeyPage, NewKey, Scope, new_id
from hindsight_memory.errors import Conflict, InvalidInput, NotFound
from hindsight_memory.guard.access import Principal, principal_of, require
from hindsight_memory.guard.secrets import digest_of, mint
from hindsight_memory.service.base import LONGEST_ID, Verbs
from hindsight_memory.wire import to_wire

_LONGEST_REASON: Final = 2_000
_LONGEST_OVERLAP: Final = 24 * 90
_DEFAULT: Final = Scope().namespace

CREATED: Final = "create_key"
ROTATED: Final = "rotate_key"
REVOKED: Final = "revoke_key"
DEEDS: Final = frozenset({CREATED, ROTATED, REVOKED})
"""What the log of a namespace's shared bank says of keys; only who may manage them reads it."""


class Keys(Verbs):
    """Verbs of API keys."""

    async def create_key(self, asked: NewKey) -> IssuedKey:
        """Make an API key. Its secret is in the answer, this once, and is kept nowhere.

        Raises ``InvalidInput`` for an end that has passed.
        """
        namespace = self._namespace(asked.namespace)
        now = self._parts.clock()
        if asked.expires_at is not None and asked.expires_at <= now:
            raise InvalidInput("expires_at has passed.", hint="Give a time to come, or none.", field="expires_at")
        secret, digest, prefix = mint()
        made = ApiKey(
            id=new_id(now),
            name=asked.name,
            namespace=namespace,
            prefix=prefix,
            grants=tuple(dict.fromkeys(asked.grants)),
            users=asked.users,
            agents=asked.agents,
            created_at=now,
            created_by=self.principal.name,
            expires_at=asked.expires_at,
        )
        async with self._parts.store.transaction(Scope(namespace=namespace, user_id=None)) as tx:
            await tx.put_key(made, digest)
            await tx.record([self._deed(CREATED, made)])
        return IssuedKey(key=made, secret=secret)

    async def list_keys(self, asked: KeyListing) -> KeyPage:
        """The API keys of a namespace, those that have ended too, oldest first, a page at a time."""
        named = self.principal.namespace if asked.namespace is None else asked.namespace
        self._namespace(named)
        found = await self._parts.store.keys(named, asked.after, asked.limit + 1)
        more = len(found) > asked.limit
        return KeyPage(tuple(found[: asked.limit]), found[asked.limit - 1].id if more else None)

    async def rotate_key(self, key_id: str, overlap_hours: float = 24.0) -> IssuedKey:
        """Replace a key by a new one that may do the same; the old one works ``overlap_hours`` longer.

        The new one lives as long as the old one was to, from now on.

        Raises:
            NotFound: There is no such key in the caller's namespace.
            Conflict: It has ended, or has been replaced already.
        """
        overlap = _overlap(overlap_hours)
        old, now = await self._found(key_id), self._parts.clock()
        secret, digest, prefix = mint()
        async with self._parts.store.transaction(Scope(namespace=old.namespace, user_id=None)) as tx:
            old = await self._found(key_id)  # as it is now that no other can change it
            if not old.works(now) or old.replaced_by is not None:
                hint = "Create another key."
                raise Conflict(f"The key {old.prefix} has ended or been replaced.", hint=hint, field="key_id")
            lives = None if old.expires_at is None else now + (old.expires_at - old.created_at)
            made = replace(
                old,
                id=new_id(now),
                prefix=prefix,
                created_at=now,
                created_by=self.principal.name,
                expires_at=lives,
                last_used_at=None,
            )
            ends = min(now + overlap, old.expires_at or now + overlap)
            ended = replace(old, expires_at=ends, replaced_by=made.id)
            await tx.put_key(made, digest)
            await tx.end_key(ended)
            await tx.record([self._deed(ROTATED, ended)])
        return IssuedKey(key=made, secret=secret)

    async def revoke_key(self, key_id: str, reason: str = "") -> ApiKey:
        """End a key at once, in every process. Revoking it twice is revoking it once.

        Raises ``NotFound`` where the caller's namespace has no such key.
        """
        reason = parse_text("reason", reason, _LONGEST_REASON)
        key = await self._found(key_id)
        async with self._parts.store.transaction(Scope(namespace=key.namespace, user_id=None)) as tx:
            key = await self._found(key_id)
            if key.revoked_at is not None:
                return key
            key = replace(key, revoked_at=self._parts.clock())
            await tx.end_key(key)
            await tx.record([self._deed(REVOKED, key, reason)])
        return key

    async def caller(self, secret: str) -> Principal | None:
        """Whom a secret speaks for now: no door's verb, but what doors begin with.

        The store is asked each time, so that a key revoked by another process is refused at once.
        """
        key = await self._parts.store.key_of(digest_of(secret))
        now = self._parts.clock()
        if key is None or not key.works(now):
            return None
        hour = now.replace(minute=0, second=0, microsecond=0)
        if key.last_used_at is None or key.last_used_at < hour:
            self._parts.used[key.id] = hour
        return principal_of(key)

    async def keyed(self) -> bool:
        """Whether there are keys that work, so that a server is to ask for one."""
        return await self._parts.store.working_keys(self._parts.clock())

    def _namespace(self, asked: str | None) -> str:
        """The namespace that is meant. Raises ``NotAllowed`` for one whose keys are none of the caller's business."""
        namespace = asked or self.principal.namespace or _DEFAULT
        require(self.principal, "keys", Scope(namespace=namespace, user_id=None))
        return namespace

    async def _found(self, key_id: str) -> ApiKey:
        self._namespace(None)
        key_id = parse_text("key_id", key_id, LONGEST_ID)
        found = await self._parts.store.key(key_id)
        if found is None or self.principal.namespace not in (None, found.namespace):
            raise NotFound(f"There is no key {key_id[:80]} here.", hint="See list_keys.", field="key_id")
        return found

    def _deed(self, verb: str, key: ApiKey, reason: str = "") -> Event:
        now = self._parts.clock()
        shown = ("id", "name", "prefix", "grants", "users", "agents", "expires_at", "revoked_at", "replaced_by")
        detail: dict[str, Any] = {name: to_wire(getattr(key, name)) for name in shown}
        bank = Scope(namespace=key.namespace, user_id=None).bank
        actor = self.principal.name
        return Event(id=new_id(now), bank_id=bank, at=now, actor=actor, verb=verb, reason=reason, detail=detail)


def _overlap(hours: Any) -> timedelta:
    if isinstance(hours, bool) or not isinstance(hours, int | float) or not 0 <= hours <= _LONGEST_OVERLAP:
        raise InvalidInput(f"overlap_hours must be from 0 to {_LONGEST_OVERLAP}.", field="overlap_hours")
    return timedelta(hours=hours)
