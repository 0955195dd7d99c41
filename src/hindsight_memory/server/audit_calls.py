"""What can be asked about the audit log over a wire: whether it is whole, and its lines with their seals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from hindsight_memory.domain import AuditCheck, Audited, AuditListing, AuditPage, Scope, Who
from hindsight_memory.server.call import Call, part

if TYPE_CHECKING:
    from hindsight_memory.service import Service  # only its name: a stdio server answers before the service is loaded


@dataclass(frozen=True, kw_only=True)
class VerifyAuditBody(AuditCheck, Who):
    """What ``verify_audit`` takes."""


@dataclass(frozen=True, kw_only=True)
class ExportAuditBody(AuditListing, Who):
    """What ``export_audit`` takes."""


async def _verify_audit(service: Service, body: VerifyAuditBody, scope: Scope) -> Audited:
    return await service.verify_audit(part(body, AuditCheck), scope)


async def _export_audit(service: Service, body: ExportAuditBody, scope: Scope) -> AuditPage:
    return await service.export_audit(part(body, AuditListing), scope)


AUDIT_CALLS: Final[Mapping[str, Call]] = MappingProxyType(
    {
        "verify_audit": Call(VerifyAuditBody, Audited, _verify_audit),
        "export_audit": Call(ExportAuditBody, AuditPage, _export_audit),
    }
)
"""The verbs of the audit log, by their names."""
