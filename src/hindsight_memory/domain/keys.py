"""API keys: what each may do, where, for whom and until when; the secret itself is in none of them but the new one."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from hindsight_memory.check import Checked, Limits
from hindsight_memory.errors import InvalidInput


class Grant(StrEnum):
    """What a key may do: groups of verbs, and the shared bank. ``admin`` is all of it, and keys and maintenance too.

    What a key writes in the user's name is believed as the user's word where it may ``vouch`` for that, and else as an
    agent's.
    """

    READ = "read"
    WRITE = "write"
    VOUCH = "vouch"
    SHARED = "shared"
    PURGE = "purge"
    VAULT = "vault"
    ADMIN = "admin"


@dataclass(frozen=True, kw_only=True)
class NewKey(Checked):
    """What a new key is to be: ``users`` and ``agents`` are those it may act for.

    All users where they are not given, and agents of its own: what it calls ``coder`` is ``NAME/coder``, no other's.
    ``namespace`` is the caller's own where it is not given; a key never leaves its namespace.
    """

    name: str = field(metadata=Limits(least=1, most=100))
    grants: tuple[Grant, ...] = (Grant.READ, Grant.WRITE)
    users: tuple[str, ...] | None = field(default=None, metadata=Limits(least=1, most=200, items=1_000))
    agents: tuple[str, ...] | None = field(default=None, metadata=Limits(least=1, most=200, items=1_000))
    expires_at: datetime | None = None
    namespace: str | None = field(default=None, metadata=Limits(least=1, most=200))

    def __post_init__(self) -> None:
        Checked.__post_init__(self)
        for name in ("grants", "users", "agents"):
            if getattr(self, name) == ():
                hint = "Leave it out, or name at least one."
                raise InvalidInput(f"{name} is empty, and such a key could do nothing.", hint=hint, field=name)


@dataclass(frozen=True, kw_only=True)
class KeyListing(Checked):
    """A page of keys, oldest first; ``after`` is the ``next`` of the page before. ``namespace`` is as for a new one."""

    namespace: str | None = field(default=None, metadata=Limits(least=1, most=200))
    limit: int = field(default=100, metadata=Limits(least=1, most=1_000))
    after: str | None = field(default=None, metadata=Limits(most=200))


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """A key as it is kept and shown; ``prefix`` is how its secret begins, ``last_used_at`` is to the hour.

    After a rotation ``replaced_by`` names the new key, and ``expires_at`` is when this one stops working.
    """

    id: str
    name: str
    namespace: str
    prefix: str
    grants: tuple[Grant, ...]
    created_at: datetime
    created_by: str
    users: tuple[str, ...] | None = None
    agents: tuple[str, ...] | None = None
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    replaced_by: str | None = None
    last_used_at: datetime | None = None

    def works(self, now: datetime) -> bool:
        """Whether it opens anything now."""
        return self.revoked_at is None and (self.expires_at is None or self.expires_at > now)


@dataclass(frozen=True, slots=True, kw_only=True)
class IssuedKey:
    """A new key with its secret, which is shown this once and kept nowhere."""

    key: ApiKey
    secret: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class KeyPage:
    """A page of keys; ``next`` is where the following one starts, if there is one."""

    keys: tuple[ApiKey, ...]
    next: str | None = None
