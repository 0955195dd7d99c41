"""What can be asked about API keys over a wire: make one, list them, replace one, end one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from hindsight_memory.check import Limits
from hindsight_memory.domain import ApiKey, IssuedKey, KeyListing, KeyPage, NewKey, Scope, Who
from hindsight_memory.server.call import Call, part

if TYPE_CHECKING:
    from hindsight_memory.service import Service  # only its name: a stdio server answers before the service is loaded


@dataclass(frozen=True, kw_only=True)
class CreateKeyBody(NewKey, Who):
    """What ``create_key`` takes."""


@dataclass(frozen=True, kw_only=True)
class ListKeysBody(KeyListing, Who):
    """What ``list_keys`` takes."""


@dataclass(frozen=True, kw_only=True)
class RotateKeyBody(Who):
    """What ``rotate_key`` takes."""

    key_id: str
    overlap_hours: float = field(default=24.0, metadata=Limits(least=0, most=24 * 90))


@dataclass(frozen=True, kw_only=True)
class RevokeKeyBody(Who):
    """What ``revoke_key`` takes."""

    key_id: str
    reason: str = field(default="", metadata=Limits(most=2_000))


async def _create_key(service: Service, body: CreateKeyBody, _: Scope) -> IssuedKey:
    return await service.create_key(part(body, NewKey))


async def _list_keys(service: Service, body: ListKeysBody, _: Scope) -> KeyPage:
    return await service.list_keys(part(body, KeyListing))


async def _rotate_key(service: Service, body: RotateKeyBody, _: Scope) -> IssuedKey:
    return await service.rotate_key(body.key_id, body.overlap_hours)


async def _revoke_key(service: Service, body: RevokeKeyBody, _: Scope) -> ApiKey:
    return await service.revoke_key(body.key_id, body.reason)


KEY_CALLS: Final[Mapping[str, Call]] = MappingProxyType(
    {
        "create_key": Call(CreateKeyBody, IssuedKey, _create_key, changes=True),
        "list_keys": Call(ListKeysBody, KeyPage, _list_keys),
        "rotate_key": Call(RotateKeyBody, IssuedKey, _rotate_key, changes=True),
        "revoke_key": Call(RevokeKeyBody, ApiKey, _revoke_key, changes=True),
    }
)
"""The verbs of API keys, by their names."""
