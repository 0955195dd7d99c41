"""Who calls and what they may do: asked once, by the service, for every door."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from hindsight_memory.domain import ApiKey, Grant, Scope
from hindsight_memory.errors import NotAllowed

VERBS: Final[Mapping[Grant, frozenset[str]]] = MappingProxyType(
    {
        Grant.READ: frozenset({"search", "get", "suggest", "replay"}),
        Grant.WRITE: frozenset(
            {"write", "update", "forget", "restore", "feedback", "refit", "record_step", "reflect", "consolidate"}
        ),
        Grant.VOUCH: frozenset({"vouch"}),
        Grant.SHARED: frozenset(),
        Grant.PURGE: frozenset({"purge", "forget_all"}),
        Grant.VAULT: frozenset({"reveal"}),
        Grant.ADMIN: frozenset({"maintain", "scan", "set_policy", "keys", "audit", "export", "export_all", "import"}),
    }
)
"""What each grant lets a key do; ``require`` is asked by these names. ``shared`` lets it do so in the shared bank."""

OF_INSTALLATION: Final = frozenset({"doctor"})
"""What tells of every namespace at once: for no key, but for who runs the program and for the first key."""

_OF_ALL_USERS: Final = frozenset({"maintain", "keys", "export_all", "import"})
_OF_ALL_AGENTS: Final = VERBS[Grant.ADMIN] | {"forget_all"}


@dataclass(frozen=True, slots=True)
class Principal:
    """A caller, the one namespace it may act in, and the verbs it may use; ``None`` stands for all.

    ``users`` and ``agents`` are those it may act for, ``shared`` says whether it may write to the shared bank, and
    ``key_id`` is the key it has shown. Where ``apart`` is not empty, the agents it names are its own: it stands before
    their names.
    """

    name: str
    namespace: str | None = None
    verbs: frozenset[str] | None = None
    users: frozenset[str] | None = None
    agents: frozenset[str] | None = None
    shared: bool = True
    key_id: str = ""
    apart: str = ""


LOCAL: Final = Principal("local")
"""Whoever runs the program on this machine: the file is theirs."""

FIRST: Final = Principal("api-key", key_id="first")
"""Whoever shows the key that the server was started with: the administrator, who makes the others."""

NOBODY: Final = Principal("nobody", namespace="", verbs=frozenset(), shared=False)
"""Whoever shows no key where none is needed."""


def principal_of(key: ApiKey) -> Principal:
    """Whom a key speaks for. One that names no agents has agents of its own, unless it is an administrator's."""
    grants = frozenset(Grant) if Grant.ADMIN in key.grants else frozenset(key.grants)
    own = key.agents is None and Grant.ADMIN not in grants
    return Principal(
        name=key.name,
        namespace=key.namespace,
        verbs=frozenset[str]().union(*(VERBS[grant] for grant in grants)),
        users=None if key.users is None else frozenset(key.users),
        agents=None if key.agents is None else frozenset(key.agents),
        shared=Grant.SHARED in grants,
        key_id=key.id,
        apart=f"{key.name.replace('%', '%25').replace('/', '%2F')}/" if own else "",
    )


def within(principal: Principal, scope: Scope) -> Scope:
    """The scope that a caller from outside means: in its own namespace, whatever it says.

    A key that acts for one user only means that one by ``default``, and its one agent where none is named. Whoever
    has agents of their own means one of these, whether its name comes with what stands before it or not.
    """
    user, agent = scope.user_id, scope.agent_id
    if user == Scope().user_id and principal.users is not None and len(principal.users) == 1:
        (user,) = principal.users
    if agent is None and principal.agents is not None and len(principal.agents) == 1:
        (agent,) = principal.agents
    if agent is not None and not agent.startswith(principal.apart):
        agent = f"{principal.apart}{agent}"
    return replace(scope, namespace=principal.namespace or scope.namespace, user_id=user, agent_id=agent)


def require(principal: Principal, verb: str, scope: Scope | None) -> None:
    """Raise ``NotAllowed`` unless the principal may do this there; ``None`` is the whole installation.

    It looks at the key and at what was asked, and never at what is stored: a refusal tells nothing of that.
    """
    if principal.namespace is not None and (scope is None or scope.namespace != principal.namespace):
        raise NotAllowed("This key belongs to another namespace.", hint="Use a key of that namespace.")
    if principal.verbs is not None and verb not in principal.verbs:
        raise NotAllowed(f"This key may not {verb}.", hint="Ask for a key that may.")
    if scope is None:
        return
    if principal.users is not None:
        _require_user(principal, verb, scope)
    foreign = scope.agent_id is not None and not scope.agent_id.startswith(principal.apart)
    listed = principal.agents is not None and (verb in _OF_ALL_AGENTS or scope.agent_id not in principal.agents)
    if foreign or listed:
        hint = "Give one of its agents as agent_id; what is about all of them needs a key without such a list."
        raise NotAllowed("This key acts for other agents.", hint=hint, field="agent_id")
    if scope.user_id is None and not principal.shared and verb not in VERBS[Grant.READ]:
        raise NotAllowed(f"This key may not {verb} in the shared bank.", hint="It needs the grant shared.")


def _require_user(principal: Principal, verb: str, scope: Scope) -> None:
    assert principal.users is not None
    of_all = verb in _OF_ALL_USERS or (scope.user_id is None and verb in VERBS[Grant.ADMIN])
    if of_all or (scope.user_id is not None and scope.user_id not in principal.users):
        hint = "Give one of its users as user_id; what is about all of them needs a key without such a list."
        raise NotAllowed("This key acts for other users.", hint=hint, field="user_id")


def may(principal: Principal, verb: str, scope: Scope | None) -> bool:
    """Whether ``require`` would let it pass."""
    try:
        require(principal, verb, scope)
    except NotAllowed:
        return False
    return True
