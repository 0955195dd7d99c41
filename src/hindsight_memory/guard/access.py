"""Who calls and what they may do: asked once, by the service, for every door."""

from __future__ import annotations

from dataclasses import dataclass

from hindsight_memory.domain import Scope
from hindsight_memory.errors import NotAllowed


@dataclass(frozen=True, slots=True)
class Principal:
    """A caller, the one namespace it may act in, and the verbs it may use; ``None`` stands for all."""

    name: str
    namespace: str | None = None
    verbs: frozenset[str] | None = None


LOCAL = Principal("local")
"""Whoever runs the program on this machine: the file is theirs."""


def require(principal: Principal, verb: str, scope: Scope) -> None:
    """Raise ``NotAllowed`` unless the principal may do this there."""
    if principal.namespace not in (None, scope.namespace):
        raise NotAllowed("This key belongs to another namespace.", hint="Use a key of that namespace.")
    if principal.verbs is not None and verb not in principal.verbs:
        raise NotAllowed(f"This key may not {verb}.", hint="Ask for a key that may.")
