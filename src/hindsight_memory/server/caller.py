"""A request as a route sees it: who calls, for whom, and the body read with the domain's own checks."""

from __future__ import annotations

from typing import Any

from pydantic import PlainValidator
from starlette.requests import Request

from hindsight_memory.domain import Scope, Who
from hindsight_memory.guard.access import within
from hindsight_memory.server.call import parse, part
from hindsight_memory.service import Service


def serving(request: Request) -> Service:
    """The service of the application, acting as the caller."""
    service: Service = request.app.state.service
    return service.acting_as(request.state.principal)


def scope_of(request: Request, body: Who) -> Scope:
    """For whom the caller asks."""
    who = part(body, Who)
    said = Scope(user_id=who.user_id, agent_id=who.agent_id, session_id=who.session_id)
    return within(request.state.principal, said)


def read_as(kind: type[Any]) -> PlainValidator:
    """What reads a body with the domain's own checks, and not pydantic's, which only describes it.

    So every door gives the same messages.
    """
    return PlainValidator(lambda data: parse(kind, data), json_schema_input_type=kind)
