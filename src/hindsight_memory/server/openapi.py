"""The OpenAPI description: what FastAPI knows, with the limits of each field and the form of each error."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Final

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import TypeAdapter

from hindsight_memory.domain import Draft, Message
from hindsight_memory.server.archives import EXPORT, ExportBody
from hindsight_memory.server.calls import CALLS
from hindsight_memory.server.problems import PROBLEM_JSON, Problem
from hindsight_memory.server.schema import input_schema

AT: Final = "at_"
"""What the name of an operation begins with when it is a verb at the address of what it is about."""

_PROBLEMS: Final = {
    401: "A key is needed",
    403: "Not allowed to this caller",
    404: "No such memory",
    409: "The memory changed in the meantime",
    413: "The request is too long",
    422: "A field is wrong",
    429: "Too much at once",
    500: "Something went wrong in the server",
    503: "The store or a model cannot answer now",
}
_VERBS: Final = {*CALLS, EXPORT}
_OF_ITS_OWN: Final = ("rotate_key", "revoke_key", EXPORT)
_ONLY: Final = {
    404: {"purge", "explain", "get", "update", "forget", "restore", "feedback", "history", "resolve", *_OF_ITS_OWN},
    409: {"update", "restore", "resolve", "put_session", "rotate_key"},
}


def install_openapi(app: FastAPI) -> None:
    """Make the application describe itself in full."""

    def described() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _described(app)
        return app.openapi_schema

    app.openapi = described  # type: ignore[method-assign]  # FastAPI's documented way


def _described(app: FastAPI) -> dict[str, Any]:
    document = get_openapi(
        title="Hindsight Memory", version=app.version, description=app.description, routes=app.routes
    )
    components = document.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    schemas["Problem"] = TypeAdapter(Problem).json_schema()
    for kind in [*(call.body for call in CALLS.values()), Draft, ExportBody, Message]:
        _limit(schemas.get(kind.__name__, {}).get("properties", {}), kind)
    components["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
    for path, operation in _operations(document):
        verb = operation["operationId"].removeprefix(AT)
        for status in _statuses(verb) if verb in _VERBS else [503] if path == "/health/ready" else []:
            schema = {"$ref": "#/components/schemas/Problem"}
            content = {PROBLEM_JSON: {"schema": schema}}
            operation["responses"][str(status)] = {"description": _PROBLEMS[status], "content": content}
        if verb in _VERBS:
            operation["security"] = [{}, {"key": []}]
    return document


def parameters(body: type[Any], name: str, *, has_body: bool) -> list[dict[str, Any]]:
    """What an address and its query say: of a call with a body only whose memory it is. ``name`` is in the address."""
    properties = input_schema(body)["properties"]
    _limit(properties, body)
    said = ("user_id", "agent_id") if has_body else tuple(properties)
    return [
        {
            "name": each,
            "in": "path" if each == name else "query",
            "required": each == name,
            "description": properties[each]["description"],
            "schema": {key: value for key, value in properties[each].items() if key != "description"},
        }
        for each in dict.fromkeys((name, *said))
        if each
    ]


def _operations(document: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    return ((path, operation) for path, methods in document["paths"].items() for operation in methods.values())


def _statuses(verb: str) -> list[int]:
    return [status for status in _PROBLEMS if verb in _ONLY.get(status, {verb})]


def _limit(properties: Mapping[str, Any], kind: type[Any]) -> None:
    for each in fields(kind) if is_dataclass(kind) else ():
        for schema in _plain(properties.get(each.name, {})):
            schema.update(_limits(schema, each.metadata))


def _plain(schema: dict[str, Any]) -> list[dict[str, Any]]:
    """The parts of a schema that hold values: itself, or each side of a union."""
    return [part for part in schema.get("anyOf", [schema]) if "type" in part]


def _limits(schema: Mapping[str, Any], given: Mapping[str, float]) -> dict[str, Any]:
    if not given:
        return {}
    finite = {name: int(value) for name, value in given.items() if value != float("inf")}
    match schema["type"]:
        case "string" if "format" not in schema:
            bounds = {"minLength": finite.get("least"), "maxLength": finite.get("most")}
        case "integer" | "number":
            bounds = {"minimum": finite.get("least"), "maximum": finite.get("most")}
        case "array":
            bounds = {"maxItems": finite.get("items")}
        case _:
            bounds = {}
    return {name: value for name, value in bounds.items() if value is not None}
