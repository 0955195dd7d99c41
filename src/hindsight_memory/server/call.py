"""A verb as a wire sees it: the fields it takes, how they are read, what answers it."""

from __future__ import annotations

import difflib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import MISSING, Field, dataclass, fields
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from hindsight_memory.check import Checked
from hindsight_memory.domain import Scope, Who
from hindsight_memory.errors import InvalidInput

if TYPE_CHECKING:
    from hindsight_memory.service import Service  # only its name: a stdio server answers before the service is loaded

C = TypeVar("C", bound=Checked)

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


def all_of(kind: type[C], name: str, values: object) -> tuple[C, ...]:
    """The requests that a list of JSON objects stands for. Raises ``InvalidInput`` naming the first that is wrong."""
    if not isinstance(values, list | tuple):
        raise InvalidInput(f"{name} must be a list.", field=name)
    return tuple(_item(kind, f"{name}[{place}]", value) for place, value in enumerate(values))


def _item(kind: type[C], where: str, value: object) -> C:
    try:
        return value if isinstance(value, kind) else parse(kind, value)
    except InvalidInput as error:
        at = f"{where}.{error.field}" if error.field else where
        raise InvalidInput(f"{where}: {error.message}", hint=error.hint, field=at) from error
