"""One page over the verbs: search with reasons, or the newest memories."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from hindsight_memory.domain import Hit, Listing, Memory, Query, Scope
from hindsight_memory.errors import HindsightMemoryError
from hindsight_memory.guard.access import within
from hindsight_memory.service import Service

_HERE: Final = Path(__file__).parent
_SHOWN: Final = 20


def page_routes(service: Service) -> list[BaseRoute]:
    """The page at ``/`` and what it is dressed in."""
    templates = Environment(
        loader=FileSystemLoader(_HERE / "templates"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )

    async def page(request: Request) -> Response:
        text, user = request.query_params.get("q", "").strip(), request.query_params.get("user_id", "").strip()
        status, error, checks = 200, None, []
        found: list[tuple[Memory, Hit | None]] = []
        try:
            principal = request.state.principal
            acting = service.acting_as(principal)
            scope = within(principal, Scope(user_id=user or "default"))
            found = await _found(acting, text, scope)
            checks = [check for check in await acting.ready() if check.note]
        except HindsightMemoryError as refused:
            status, error = refused.status, str(refused)
        html = templates.get_template("page.html").render(text=text, user=user, found=found, error=error, checks=checks)
        return HTMLResponse(html.encode("utf-8", "replace"), status)

    return [Route("/", page), Mount("/static", StaticFiles(directory=_HERE / "static"))]


async def _found(service: Service, text: str, scope: Scope) -> list[tuple[Memory, Hit | None]]:
    if text:
        return [(hit.memory, hit) for hit in await service.search(Query(text=text, limit=_SHOWN), scope)]
    return [(memory, None) for memory in (await service.list(Listing(limit=_SHOWN), scope)).memories]
