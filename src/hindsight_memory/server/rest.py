"""REST: every verb as POST /v1/{verb}, sessions as addresses too, health, and one form for what goes wrong."""

import logging
from collections.abc import Callable, Coroutine, Mapping
from typing import Annotated, Any, Final, NamedTuple, get_args, get_type_hints

from fastapi import APIRouter, Body, FastAPI, Header, Request
from fastapi.exceptions import RequestValidationError
from pydantic import PlainValidator
from starlette.exceptions import HTTPException
from starlette.responses import Response

from hindsight_memory.domain import Erased, Receipt, Scope, Who
from hindsight_memory.errors import HindsightMemoryError, InvalidInput, NotFound, Unavailable
from hindsight_memory.server.call import Call, parse, part
from hindsight_memory.server.calls import CALLS, Checks
from hindsight_memory.server.idempotency import Replies
from hindsight_memory.server.openapi import AT, parameters
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
    for verb, (method, below) in _SESSIONS.items():
        summary, description = _said(getattr(Service, verb))
        has_body = method not in {"GET", "DELETE"}
        router.add_api_route(
            f"/v1/sessions/{{session_id:path}}{below}",
            _at_session(service, CALLS[verb], replies, has_body=has_body),
            methods=[method],
            name=f"{AT}{verb}",
            operation_id=f"{AT}{verb}",
            response_model=CALLS[verb].reply,
            summary=summary,
            description=description,
            openapi_extra={"parameters": parameters(CALLS[verb].body, has_body=has_body)},
            tags=["sessions"],
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

_Key = Annotated[
    str | None, Header(alias="Idempotency-Key", description="Repeated within 10 minutes, it is done once.")
]


class _Address(NamedTuple):
    method: str
    below: str = ""


_SESSIONS: Final[Mapping[str, _Address]] = {
    "get_session": _Address("GET"),
    "put_session": _Address("PUT"),
    "patch_session": _Address("PATCH"),
    "end_session": _Address("DELETE"),
    "append_session": _Address("POST", "/messages"),
}
"""The verbs of a session as its address has them; a field that no body carries stands in the query."""


def _reading(service: Service, call: Call) -> _Endpoint:
    async def answer(request: Request, body: Annotated[Any, Body(), _reader(call)]) -> Response:
        return await _answer(service, call, request, body)

    return answer


def _writing(service: Service, call: Call, replies: Replies) -> _Endpoint:
    async def answer(request: Request, body: Annotated[Any, Body(), _reader(call)], key: _Key = None) -> Response:
        return await _once(service, call, replies, request, body, key)

    return answer


def _at_session(service: Service, call: Call, replies: Replies, *, has_body: bool) -> _Endpoint:
    whole = PlainValidator(lambda data: data, json_schema_input_type=call.body)

    async def bare(request: Request, key: _Key = None) -> Response:
        return await _once(service, call, replies, request, _addressed(call, request, {}), key)

    async def read(request: Request) -> Response:
        return await _answer(service, call, request, _addressed(call, request, {}))

    async def full(request: Request, data: Annotated[Any, Body(), whole], key: _Key = None) -> Response:
        return await _once(service, call, replies, request, _addressed(call, request, data), key)

    return full if has_body else bare if call.changes else read


def _addressed(call: Call, request: Request, data: Any) -> Any:
    """The body of a call to a session's address: what the address, its query and a JSON body say."""
    session_id = request.path_params["session_id"]
    if not isinstance(data, Mapping):
        return parse(call.body, data)
    if data.get("session_id", session_id) != session_id:
        raise InvalidInput("session_id is not that of the address.", hint="Leave it out.", field="session_id")
    hints = get_type_hints(call.body)
    query = {name: _spelt(value, hints.get(name)) for name, value in request.query_params.items()}
    return parse(call.body, {**query, **data, "session_id": session_id})


def _spelt(value: str, hint: Any) -> Any:
    """A flag or a number as a query spells it; what is neither is left for the domain to refuse."""
    if hint is bool:
        return {"true": True, "false": False}.get(value, value)
    if int in get_args(hint) and value.isascii() and value.isdigit() and len(value) < 20:
        return int(value)
    return value


async def _once(
    service: Service, call: Call, replies: Replies, request: Request, body: Who, key: str | None
) -> Response:
    namespace = _scope(request, body).namespace
    if key is None:
        reply = await _answer(service, call, request, body)
    else:
        address = f"{request.method} {request.url.path}?{request.url.query}\n"
        asked = address.encode() + await request.body()
        reply = await replies.once(namespace, key, asked, lambda: _answer(service, call, request, body))
    if call.reply is Erased:
        replies.drop(namespace, keep=key)  # others may hold the text of what is gone for good
    return reply


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
            hint = "Verbs are POST, health is GET; a session takes GET, PUT, PATCH and DELETE."
            return problem(InvalidInput(message, hint=hint), 405, headers)
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
