"""What can be asked of a session over a wire: each verb by itself, and all of them as one tool."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from hindsight_memory.check import Limits
from hindsight_memory.domain import (
    Appended,
    Desk,
    Ended,
    Message,
    Role,
    Scope,
    Session,
    SessionAction,
    SessionState,
    StatePatch,
    Who,
)
from hindsight_memory.errors import InvalidInput
from hindsight_memory.server.call import Call, all_of, part

if TYPE_CHECKING:
    from hindsight_memory.service import Service  # only its name: a stdio server answers before the service is loaded


@dataclass(frozen=True, kw_only=True)
class GetSessionBody(Who):
    """What ``get_session`` takes."""

    budget_tokens: int | None = field(default=None, metadata=Limits(least=1, most=1_000_000))


@dataclass(frozen=True, kw_only=True)
class PutSessionBody(SessionState, Who):
    """What ``put_session`` takes."""

    version: int | None = field(default=None, metadata=Limits(least=0, most=2**53))


@dataclass(frozen=True, kw_only=True)
class PatchSessionBody(StatePatch, Who):
    """What ``patch_session`` takes."""


@dataclass(frozen=True, kw_only=True)
class AppendSessionBody(Who):
    """What ``append_session`` takes."""

    messages: tuple[Message, ...]
    rules: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "messages", all_of(Message, "messages", self.messages))
        part(self, Who)
        if not isinstance(self.rules, bool):
            raise InvalidInput("rules must be true or false.", field="rules")


@dataclass(frozen=True, kw_only=True)
class EndSessionBody(Who):
    """What ``end_session`` takes."""

    discard: bool = False


@dataclass(frozen=True, kw_only=True)
class SessionBody(StatePatch, Who):
    """What the one tool for sessions takes: ``get`` a budget, ``patch`` the state, ``append`` a message, ``end``."""

    action: SessionAction
    content: str | None = field(default=None, metadata=Limits(least=1, most=100_000, prose=True))
    role: Role = Role.USER
    budget_tokens: int | None = field(default=None, metadata=Limits(least=1, most=1_000_000))
    discard: bool = False


async def _get_session(service: Service, body: GetSessionBody, scope: Scope) -> Session:
    return await service.get_session(scope, body.budget_tokens)


async def _put_session(service: Service, body: PutSessionBody, scope: Scope) -> Desk:
    return await service.put_session(part(body, SessionState), scope, body.version)


async def _patch_session(service: Service, body: PatchSessionBody, scope: Scope) -> Desk:
    return await service.patch_session(part(body, StatePatch), scope)


async def _append_session(service: Service, body: AppendSessionBody, scope: Scope) -> Appended:
    return await service.append_session(body.messages, scope, rules=body.rules)


async def _end_session(service: Service, body: EndSessionBody, scope: Scope) -> Ended:
    return await service.end_session(scope, discard=body.discard)


async def _session(service: Service, body: SessionBody, scope: Scope) -> Desk:
    match body.action:
        case SessionAction.GET:
            return await service.get_session(scope, body.budget_tokens)
        case SessionAction.PATCH:
            return await service.patch_session(part(body, StatePatch), scope)
        case SessionAction.END:
            return await service.end_session(scope, discard=body.discard)
        case SessionAction.APPEND:
            if body.content is None:
                raise InvalidInput("content is missing.", hint="Give content.", field="content")
            return await service.append_session([Message(content=body.content, role=body.role)], scope)


SESSION_CALLS: Final[Mapping[str, Call]] = MappingProxyType(
    {
        "get_session": Call(GetSessionBody, Session, _get_session),
        "put_session": Call(PutSessionBody, Desk, _put_session, changes=True),
        "patch_session": Call(PatchSessionBody, Desk, _patch_session, changes=True),
        "append_session": Call(AppendSessionBody, Appended, _append_session, changes=True),
        "end_session": Call(EndSessionBody, Ended, _end_session, changes=True),
    }
)
"""The verbs of sessions, by their names."""

SESSION: Final = Call(SessionBody, Desk, _session, changes=True)
"""The verbs of a session as one tool, which takes one place among an agent's tools instead of five."""
