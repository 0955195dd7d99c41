"""What can be asked over a wire: each verb's fields, how they are read, and what answers them."""

from __future__ import annotations

import difflib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

from hindsight_memory.check import Checked, Limits
from hindsight_memory.domain import (
    Changes,
    Check,
    Context,
    Draft,
    Hit,
    Listing,
    Memory,
    Message,
    Page,
    Query,
    Receipt,
    Scope,
    Wait,
    Who,
)
from hindsight_memory.errors import InvalidInput

if TYPE_CHECKING:
    from hindsight_memory.service import Service  # only its name: a stdio server answers before the service is loaded

C = TypeVar("C", bound=Checked)


@dataclass(frozen=True, kw_only=True)
class Waiting(Who):
    """What every write says besides its content."""

    wait: Wait = Wait.STORED


@dataclass(frozen=True, kw_only=True)
class WriteBody(Draft, Waiting):
    """What ``write`` takes."""


@dataclass(frozen=True, kw_only=True)
class WriteManyBody(Waiting):
    """What ``write_many`` takes."""

    drafts: tuple[Draft, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "drafts", _each(Draft, "drafts", self.drafts))
        object.__setattr__(self, "wait", part(self, Waiting).wait)


@dataclass(frozen=True, kw_only=True)
class WriteConversationBody(Waiting):
    """What ``write_conversation`` takes."""

    messages: tuple[Message, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "messages", _each(Message, "messages", self.messages))
        object.__setattr__(self, "wait", part(self, Waiting).wait)


@dataclass(frozen=True, kw_only=True)
class SearchBody(Query, Who):
    """What ``search`` takes."""


@dataclass(frozen=True, kw_only=True)
class ContextBody(Query, Who):
    """What ``context`` takes."""

    budget_tokens: int | None = field(default=None, metadata=Limits(least=1, most=1_000_000))


@dataclass(frozen=True, kw_only=True)
class NamedBody(Who):
    """What ``get`` and ``restore`` take."""

    memory_id: str


@dataclass(frozen=True, kw_only=True)
class ExplainBody(Query, NamedBody):
    """What ``explain`` takes."""


@dataclass(frozen=True, kw_only=True)
class ListBody(Listing, Who):
    """What ``list`` takes."""


@dataclass(frozen=True, kw_only=True)
class UpdateBody(Changes, NamedBody):
    """What ``update`` takes."""


@dataclass(frozen=True, kw_only=True)
class ForgetBody(NamedBody):
    """What ``forget`` takes."""

    reason: str = field(default="", metadata=Limits(most=2_000))


@dataclass(frozen=True, slots=True)
class Receipts:
    """What became of several drafts, in their order."""

    receipts: tuple[Receipt, ...]


@dataclass(frozen=True, slots=True)
class Hits:
    """The memories found, best first."""

    hits: tuple[Hit, ...]


@dataclass(frozen=True, slots=True)
class Checks:
    """The lines of a health report."""

    checks: tuple[Check, ...]


_Run: TypeAlias = "Callable[[Service, Any, Scope], Awaitable[Any]]"


@dataclass(frozen=True, slots=True)
class Call:
    """A verb as a wire sees it: the fields it takes, what answers it, the form of its reply."""

    body: type[Who]
    reply: type[Any]
    run: _Run
    changes: bool = False


def parse(kind: type[C], data: object) -> C:
    """The dataclass that a JSON object stands for; every door reads its input with this.

    Raises ``InvalidInput`` naming the first field that is wrong, missing or not known.
    """
    if not isinstance(data, Mapping):
        raise InvalidInput("The request must be a JSON object.", hint="Send an object of named fields.")
    known = {each.name: each for each in fields_of(kind)}
    for name in data:
        if name not in known:
            near = difflib.get_close_matches(str(name)[:60], known, n=1)
            hint = f"Did you mean {near[0]}?" if near else f"Use one of: {', '.join(sorted(known))}."
            raise InvalidInput(f"{shown(name)} is not a field of this call.", hint=hint, field=shown(name))
    for name, each in known.items():
        if required(each) and name not in data:
            raise InvalidInput(f"{name} is missing.", hint=f"Give {name}.", field=name)
    return kind(**data)


def part(body: Any, kind: type[C]) -> C:
    """The domain's request among the fields of a body."""
    return kind(**{each.name: getattr(body, each.name) for each in fields_of(kind)})


def fields_of(kind: Any) -> tuple[Field[Any], ...]:
    """The fields of one of the domain's requests."""
    return fields(kind)


def required(each: Field[Any]) -> bool:
    """Whether a caller must give this field."""
    return each.default is MISSING and each.default_factory is MISSING


def shown(name: object) -> str:
    """A caller's name for something, short and printable."""
    return repr(str(name)[:60])[1:-1]


def _each(kind: type[C], name: str, values: object) -> tuple[C, ...]:
    if not isinstance(values, list | tuple):
        raise InvalidInput(f"{name} must be a list.", field=name)
    return tuple(_item(kind, f"{name}[{place}]", value) for place, value in enumerate(values))


def _item(kind: type[C], where: str, value: object) -> C:
    try:
        return value if isinstance(value, kind) else parse(kind, value)
    except InvalidInput as error:
        at = f"{where}.{error.field}" if error.field else where
        raise InvalidInput(f"{where}: {error.message}", hint=error.hint, field=at) from error


async def _write(service: Service, body: WriteBody, scope: Scope) -> Receipt:
    return await service.write(part(body, Draft), scope, body.wait)


async def _write_many(service: Service, body: WriteManyBody, scope: Scope) -> Receipts:
    return Receipts(tuple(await service.write_many(body.drafts, scope, body.wait)))


async def _write_conversation(service: Service, body: WriteConversationBody, scope: Scope) -> Receipts:
    return Receipts(tuple(await service.write_conversation(body.messages, scope, body.wait)))


async def _search(service: Service, body: SearchBody, scope: Scope) -> Hits:
    return Hits(tuple(await service.search(part(body, Query), scope)))


async def _context(service: Service, body: ContextBody, scope: Scope) -> Context:
    return await service.context(part(body, Query), scope, body.budget_tokens)


async def _explain(service: Service, body: ExplainBody, scope: Scope) -> Hit:
    return await service.explain(part(body, Query), body.memory_id, scope)


async def _get(service: Service, body: NamedBody, scope: Scope) -> Memory:
    return await service.get(body.memory_id, scope)


async def _list(service: Service, body: ListBody, scope: Scope) -> Page:
    return await service.list(part(body, Listing), scope)


async def _update(service: Service, body: UpdateBody, scope: Scope) -> Memory:
    return await service.update(body.memory_id, part(body, Changes), scope)


async def _forget(service: Service, body: ForgetBody, scope: Scope) -> Memory:
    return await service.forget(body.memory_id, scope, body.reason)


async def _restore(service: Service, body: NamedBody, scope: Scope) -> Memory:
    return await service.restore(body.memory_id, scope)


async def _doctor(service: Service, body: Who, scope: Scope) -> Checks:  # noqa: ARG001  # it is about the whole store
    return Checks(tuple(await service.doctor()))


CALLS: Final[Mapping[str, Call]] = MappingProxyType(
    {
        "write": Call(WriteBody, Receipt, _write, changes=True),
        "write_many": Call(WriteManyBody, Receipts, _write_many, changes=True),
        "write_conversation": Call(WriteConversationBody, Receipts, _write_conversation, changes=True),
        "search": Call(SearchBody, Hits, _search),
        "context": Call(ContextBody, Context, _context),
        "explain": Call(ExplainBody, Hit, _explain),
        "get": Call(NamedBody, Memory, _get),
        "list": Call(ListBody, Page, _list),
        "update": Call(UpdateBody, Memory, _update, changes=True),
        "forget": Call(ForgetBody, Memory, _forget, changes=True),
        "restore": Call(NamedBody, Memory, _restore, changes=True),
        "doctor": Call(Who, Checks, _doctor),
    }
)
"""Every verb that has a door, by its name."""
