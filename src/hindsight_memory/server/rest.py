"""REST: every verb as POST /v1/{verb}, sessions and keys as addresses too, health, and one form for what goes wrong."""

import logging
from collections.abc import Callable, Coroutine, Mapping
from functools import cache
from typing import Annotated, Any, Final, NamedTuple, get_args, get_type_hints

from fastapi import APIRouter, Body, FastAPI, Header, Request
from fastapi.exceptions import RequestValidationError
from pydantic import PlainValidator
from starlette.convertors import PathConvertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import BaseRoute

from hindsight_memory.domain import Erased, IssuedKey, Receipt, Revealed, Who
from hindsight_memory.errors import HindsightMemoryError, InvalidInput, NotFound, Unavailable
from hindsight_memory.guard.access import Principal, may
from hindsight_memory.server.archives import add_export
from hindsight_memory.server.call import Call, parse
from hindsight_memory.server.caller import read_as, scope_of, serving
from hindsight_memory.server.calls import CALLS, Checks
from hindsight_memory.server.faults import internal, place
from hindsight_memory.server.idempotency import Replies
from hindsight_memory.server.openapi import AT, parameters
from hindsight_memory.server.problems import JSON, problem
from hindsight_memory.service import Service

_log = logging.getLogger(__name__)


@cache
def routes() -> tuple[BaseRoute, ...]:
    """The routes, made once: reading what all the bodies and replies are takes longer than starting a service.

    They answer for the service, and keep the replies, in the state of the application that they stand in.
    """
    router = APIRouter()
    for verb, call in CALLS.items():
        summary, description = _said(getattr(Service, verb))
        router.add_api_route(
            f"/v1/{verb}",
            _writing(call) if call.changes else _reading(call),
            methods=["POST"],
            name=verb,
            operation_id=verb,
            response_model=call.reply,
            responses={201: {"model": Receipt, "description": "Stored anew"}} if verb == "write" else {},
            summary=summary,
            description=description,
            tags=["memory"],
        )
    for verb, (method, path, named) in _ADDRESSES.items():
        summary, description = _said(getattr(Service, verb))
        has_body = method not in {"GET", "DELETE"}
        router.add_api_route(
            path,
            _at_address(CALLS[verb], named, has_body=has_body),
            methods=[method],
            name=f"{AT}{verb}",
            operation_id=f"{AT}{verb}",
            response_model=CALLS[verb].reply,
            summary=summary,
            description=description,
            openapi_extra={"parameters": parameters(CALLS[verb].body, named, has_body=has_body)},
            tags=[path.split("/")[2]],
        )
    add_export(router)
    router.add_api_route("/health/live", _live, methods=["GET"], operation_id="live", tags=["health"])
    router.add_api_route(
        "/health/ready", _ready, response_model=Checks, methods=["GET"], operation_id="ready", tags=["health"]
    )
    return tuple(router.routes)


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
    """A method and an address, and the field that the address names."""

    method: str
    path: str
    named: str = ""


class _Whole(PathConvertor):
    """All of what is left of an address: ids may hold slashes and ends of lines."""

    regex = "(?s:.*)"


register_url_convertor("whole", _Whole())
_SESSION: Final = "/v1/sessions/{session_id:whole}"
_ADDRESSES: Final[Mapping[str, _Address]] = {
    "get_session": _Address("GET", _SESSION, "session_id"),
    "put_session": _Address("PUT", _SESSION, "session_id"),
    "patch_session": _Address("PATCH", _SESSION, "session_id"),
    "end_session": _Address("DELETE", _SESSION, "session_id"),
    "append_session": _Address("POST", f"{_SESSION}/messages", "session_id"),
    "list_keys": _Address("GET", "/v1/keys"),
    "create_key": _Address("POST", "/v1/keys"),
    "rotate_key": _Address("POST", "/v1/keys/{key_id}/rotate", "key_id"),
    "revoke_key": _Address("DELETE", "/v1/keys/{key_id}", "key_id"),
}
"""The verbs of sessions and keys as addresses have them too; a field that no body carries stands in the query."""


def _reading(call: Call) -> _Endpoint:
    async def answer(request: Request, body: Annotated[Any, Body(), read_as(call.body)]) -> Response:
        return await _answer(call, request, body)

    return answer


def _writing(call: Call) -> _Endpoint:
    async def answer(request: Request, body: Annotated[Any, Body(), read_as(call.body)], key: _Key = None) -> Response:
        return await _once(call, request, body, key)

    return answer


def _at_address(call: Call, named: str, *, has_body: bool) -> _Endpoint:
    whole = PlainValidator(lambda data: data, json_schema_input_type=call.body)

    async def bare(request: Request, key: _Key = None) -> Response:
        return await _once(call, request, _addressed(call, request, named, {}), key)

    async def read(request: Request) -> Response:
        return await _answer(call, request, _addressed(call, request, named, {}))

    async def full(request: Request, data: Annotated[Any, Body(), whole], key: _Key = None) -> Response:
        return await _once(call, request, _addressed(call, request, named, data), key)

    return full if has_body else bare if call.changes else read


def _addressed(call: Call, request: Request, named: str, data: Any) -> Any:
    """The body of a call to an address: what the address, its query and a JSON body say."""
    said = {named: request.path_params[named]} if named else {}
    if not isinstance(data, Mapping):
        return parse(call.body, data)
    if named and data.get(named, said[named]) != said[named]:
        raise InvalidInput(f"{named} is not that of the address.", hint="Leave it out.", field=named)
    hints = get_type_hints(call.body)
    query = {name: _spelt(value, hints.get(name)) for name, value in request.query_params.items()}
    return parse(call.body, {**query, **data, **said})


def _spelt(value: str, hint: Any) -> Any:
    """A flag or a number as a query spells it; what is neither is left for the domain to refuse."""
    if hint is bool:
        return {"true": True, "false": False}.get(value, value)
    if int in (hint, *get_args(hint)) and value.isascii() and value.isdigit() and len(value) < 20:
        return int(value)
    return value


_SECRETS: Final = (IssuedKey, Revealed)
"""Replies that are given once, and not remembered."""


async def _once(call: Call, request: Request, body: Who, key: str | None) -> Response:
    caller: Principal = request.state.principal
    replies: Replies = request.app.state.replies
    if key is not None and call.reply in _SECRETS:
        hint = "Leave it out: the reply holds a secret, and is kept nowhere."
        raise InvalidInput("This verb takes no Idempotency-Key.", hint=hint, field="Idempotency-Key")
    if key is None:
        reply = await _answer(call, request, body)
    else:
        address = f"{request.method} {request.url.path}?{request.url.query}\n"
        asked = address.encode() + await request.body()
        reply = await replies.once(caller, key, asked, lambda: _answer(call, request, body))
    if call.reply is Erased:
        replies.drop(caller, keep=key)  # others may hold the text of what is gone for good
    return reply


async def _answer(call: Call, request: Request, body: Who) -> Response:
    reply = await call.run(serving(request), body, scope_of(request, body))
    created = isinstance(reply, Receipt) and reply.created
    return JSON(reply, status_code=201 if created else 200)


async def _live() -> dict[str, str]:
    """Whether the process answers; it touches no database."""
    return {"status": "ok"}


async def _ready(request: Request) -> Response:
    """Whether requests can be answered, and for who may ask the doctor: what is in use, and how to get better."""
    try:
        return JSON(Checks(tuple(await serving(request).ready())))
    except HindsightMemoryError as error:
        told = may(request.state.principal, "doctor", None)  # the message may name a file
        return problem(Unavailable(error.message, hint=error.hint) if told else Unavailable("Not now."))


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
            hint = "Verbs are POST, health is GET; sessions and keys have addresses: see /openapi.json."
            return problem(InvalidInput(message, hint=hint), 405, headers)
    return problem(InvalidInput("The body cannot be read.", hint="Send a JSON object as application/json."))


async def _failed(_: Request, error: Exception) -> Response:
    _log.error("A request failed:\n%s", place(error))
    return problem(internal())


def _said(verb: object) -> tuple[str, str]:
    """First sentence and the rest of a docstring's prose."""
    prose = (verb.__doc__ or "").partition("\n\n        Args:")[0].partition("\n\n        Raises:")[0]
    summary = prose.partition("\n")[0].strip()
    return summary.rstrip("."), "\n".join(line.strip() for line in prose.splitlines())
