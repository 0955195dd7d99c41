"""What can be asked of the guards over a wire: what becomes of personal data here, and a look at what is stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from hindsight_memory.check import Limits
from hindsight_memory.domain import Policies, Revealed, Review, ReviewListing, Scan, Scanned, Scope, Who
from hindsight_memory.server.call import Call, part

if TYPE_CHECKING:
    from hindsight_memory.service import Service  # only its name: a stdio server answers before the service is loaded


@dataclass(frozen=True, kw_only=True)
class PolicyBody(Who):
    """What ``policy`` takes."""

    rules: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class RevealBody(Who):
    """What ``reveal`` takes."""

    vault_id: str
    reason: str = field(default="", metadata=Limits(most=2_000))


@dataclass(frozen=True, kw_only=True)
class ScanBody(Scan, Who):
    """What ``scan`` takes."""


@dataclass(frozen=True, kw_only=True)
class ReviewBody(ReviewListing, Who):
    """What ``review`` takes."""


async def _policy(service: Service, body: PolicyBody, scope: Scope) -> Policies:
    return await service.policy(scope, body.rules)


async def _reveal(service: Service, body: RevealBody, scope: Scope) -> Revealed:
    return await service.reveal(body.vault_id, scope, body.reason)


async def _scan(service: Service, body: ScanBody, scope: Scope) -> Scanned:
    return await service.scan(part(body, Scan), scope)


async def _review(service: Service, body: ReviewBody, scope: Scope) -> Review:
    return await service.review(part(body, ReviewListing), scope)


GUARD_CALLS: Final[Mapping[str, Call]] = MappingProxyType(
    {
        "policy": Call(PolicyBody, Policies, _policy, changes=True),
        "reveal": Call(RevealBody, Revealed, _reveal, changes=True),
        "review": Call(ReviewBody, Review, _review),
        "scan": Call(ScanBody, Scanned, _scan, changes=True),
    }
)
"""The verbs of the guards, by their names."""
