"""The export over HTTP: bytes as they are read, and not a reply of JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Final

from fastapi import APIRouter, Body, Request
from starlette.responses import StreamingResponse

from hindsight_memory.domain import Export, Who
from hindsight_memory.server.call import part
from hindsight_memory.server.caller import read_as, scope_of, serving

EXPORT: Final = "export"
_BYTES: Final = "application/octet-stream"
_DESCRIBED: Final[dict[int | str, dict[str, Any]]] = {
    200: {
        "description": "The archive; it is whole if its last line is a manifest, which import sees to",
        "content": {_BYTES: {"schema": {"type": "string", "format": "binary"}}},
    }
}


@dataclass(frozen=True, kw_only=True)
class ExportBody(Export, Who):
    """What ``export`` takes."""


def add_export(router: APIRouter) -> None:
    """Add the route."""
    router.add_api_route(
        f"/v1/{EXPORT}",
        _export,
        methods=["POST"],
        name=EXPORT,
        operation_id=EXPORT,
        response_class=StreamingResponse,
        responses=_DESCRIBED,
        summary="An archive of all that is kept of a user, or of everybody, piece by piece",
        description="See Service.export. The import is done where the database is: hindsight-memory import FILE.",
        tags=["memory"],
    )


async def _export(request: Request, body: Annotated[Any, Body(), read_as(ExportBody)]) -> StreamingResponse:
    pieces = await serving(request).export(part(body, Export), scope_of(request, body))
    return StreamingResponse(pieces, media_type=_BYTES)
