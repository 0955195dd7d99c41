"""REST: every verb as POST /v1/{verb}, health, and one form for everything that goes wrong."""

import logging
from collections.abc import Callable, Coroutine
from typing import Annotated, Any

from fastapi import APIRouter, Body, FastAPI, Header, Request
from fastapi.exceptions import RequestValidationError
from pydantic import PlainValidator
from starlette.exceptions import HTTPException
from starlette.responses import Response

from hindsight_memory.domain import Receipt, Scope, Who
from hindsight_memory.errors import HindsightMemoryError, InvalidInput, NotFound, Unavailable
from hindsight_memory.server.calls import CALLS, Call, Checks, parse, part
from hindsight_memory.server.idempotency import Replies
from hindsight_memory.server.problems import JSON, problem
from hindsight_memory.service import Service

_log = logging.getLogger(__name__)


def routes(service: Service) -> APIRouter:
    """The routes of a service."""
    router = APIRouter()
    replies = Replies()
    for verb, call in CALLS.items():
        summary, description = _said(getattr(Service, verb))
        router.add_api_route(
            f"/v1/{verb}",
            _writing(service, call, replies) if call.changes else _reading(service, call),
            methods=["POST"],
            name=verb,
            operation_id=verb,
            response_model=call.reply,
            responses={201: {"model": Receipt, "description": "Stored anew"}} if verb == "write" else {},
            summary=summary,
            description=description,
            tags=["memory"],
        )
    router.add_api_route("/health/live", _live, methods=["GET"], operation_id="live", tags=["health"])
    router.add_api_route(
        "/health/ready", _ready(service), response_model=Checks, methods=["GET"], operation_id="ready", tags=["health"]
    )
    return router


def install_handlers(app: FastAPI) -> None:
    """Give everything that goes wrong the form of a problem."""
    app.add_exception_handler(HindsightMemoryError, _refused)
    app.add_exception_handler(RequestValidationError, _malformed)
    app.add_exception_handler(HTTPException, _unrouted)
    app.add_exception_handler(Exception, _failed)


_Endpoint = Callable[..., Coroutine[Any, Any, Response]]


def _reading(service: Service, call: Call) -> _Endpoint:
    async def answer(request: Request, body: Annotated[Any, Body(), _reader(call)]) -> Response:
        return await _answer(service, call, request, body)

    return answer


def _writing(service: Service, call: Call, replies: Replies) -> _Endpoint:
    async def answer(
        request: Request,
        body: Annotated[Any, Body(), _reader(call)],
        key: Annotated[
            str | None, Header(alias="Idempotency-Key", description="Repeated within 10 minutes, it is done once.")
        ] = None,
    ) -> Response:
        if key is None:
            return await _answer(service, call, request, body)
        asked = request.url.path.encode() + b"\n" + await request.body()
        namespace = _scope(request, body).namespace
        return await replies.once(namespace, key, asked, lambda: _answer(service, call, request, body))

    return answer


def _reader(call: Call) -> PlainValidator:
    # Reading with the domain's own checks, and not pydantic's, gives every door the same messages; pydantic
    # still describes the body.
    return PlainValidator(lambda data: parse(call.body, data), json_schema_input_type=call.body)


async def _answer(service: Service, call: Call, request: Request, body: Who) -> Response:
    reply = await call.run(service.acting_as(request.state.principal), body, _scope(request, body))
    created = isinstance(reply, Receipt) and reply.created
    return JSON(reply, status_code=201 if created else 200)


def _scope(request: Request, body: Who) -> Scope:
    who = part(body, Who)
    namespace = request.state.principal.namespace or "default"
    return Scope(namespace=namespace, user_id=who.user_id, agent_id=who.agent_id, session_id=who.session_id)


async def _live() -> dict[str, str]:
    """Whether the process answers; it touches no database."""
    return {"status": "ok"}


def _ready(service: Service) -> _Endpoint:
    async def ready() -> Response:
        """Whether requests can be answered: which database and embedder are in use, and how to get a better one."""
        try:
            return JSON(Checks(tuple(await service.ready())))
        except HindsightMemoryError as error:
            return problem(Unavailable(error.message, hint=error.hint))

    return ready


async def _refused(_: Request, error: Exception) -> Response:
    return problem(error) if isinstance(error, HindsightMemoryError) else await _failed(_, error)


async def _malformed(_: Request, error: Exception) -> Response:
    first = error.errors()[0] if isinstance(error, RequestValidationError) else {}
    if first.get("type") == "json_invalid":
        return problem(InvalidInput("The body is not JSON.", hint="Send a JSON object as application/json."))
    field = str(first.get("loc", ["body"])[-1])
    if first.get("type") == "missing" and field == "body":
        return problem(InvalidInput("The body is missing.", hint="Send a JSON object as application/json."))
    return problem(InvalidInput(f"{field} is wrong.", field=field))


async def _unrouted(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    match status:
        case 404:
            verbs = ", ".join(CALLS)
            return problem(NotFound("There is no such address.", hint=f"Use POST /v1/VERB; verbs: {verbs}."))
        case 405:
            headers = error.headers if isinstance(error, HTTPException) else None
            message = f"{request.method} is not possible here."
            return problem(InvalidInput(message, hint="Verbs are POST, health is GET."), 405, headers)
    return problem(InvalidInput("The body cannot be read.", hint="Send a JSON object as application/json."))


async def _failed(_: Request, error: Exception) -> Response:
    # Neither the reply nor this line says what the memory's text was; the traceback is the server's to log.
    _log.error("A request failed: %s", type(error).__name__)
    return problem(HindsightMemoryError("Something went wrong here.", hint="The server's log says what."))


def _said(verb: object) -> tuple[str, str]:
    """First sentence and the rest of a docstring's prose."""
    prose = (verb.__doc__ or "").partition("\n\n        Args:")[0].partition("\n\n        Raises:")[0]
    summary = prose.partition("\n")[0].strip()
    return summary.rstrip("."), "\n".join(line.strip() for line in prose.splitlines())
