"""One place for the check: every verb asks ``require`` before it touches anything, by a name that a grant covers."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import hindsight_memory.service
from hindsight_memory import NotAllowed
from hindsight_memory.domain import Grant, Scope
from hindsight_memory.guard.access import OF_INSTALLATION, VERBS, Principal
from hindsight_memory.service import Service
from verbs import ASKS, OF_NO_SCOPE, Case, verbs

SCOPE = Scope(user_id="ann", agent_id="coder", session_id="s1")
READING = {
    "search", "context", "explain", "get", "list", "history", "contradictions", "get_session", "suggest", "replay",
    "policy", "review",
}  # fmt: skip


class Nothing:
    """Parts of a service that no refused call may touch."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"{name} was used before anyone asked whether the caller may")


def acting(principal: Principal) -> Service:
    parts: Any = Nothing()
    return Service(parts, principal)


def test_every_verb_is_covered() -> None:
    assert set(ASKS) == verbs()


@pytest.mark.parametrize("verb", ASKS)
async def test_a_verb_that_is_not_granted_is_refused_before_anything_is_touched(verb: str) -> None:
    with pytest.raises(NotAllowed):
        await ASKS[verb](acting(Principal("key", "default", frozenset())), SCOPE, Case())


@pytest.mark.parametrize("verb", sorted(set(ASKS) - OF_NO_SCOPE | {"doctor"}))
async def test_no_verb_acts_in_another_namespace(verb: str) -> None:
    for namespace in ("elsewhere", "", "Default", "default/", "default%"):
        with pytest.raises(NotAllowed):
            await ASKS[verb](acting(Principal("key", namespace)), SCOPE, Case())


@pytest.mark.parametrize("verb", ASKS)
async def test_no_verb_acts_for_other_users_or_agents(verb: str) -> None:
    for principal in (Principal("key", "default", users=frozenset({"bob"})), agent_of("reviewer")):
        with pytest.raises(NotAllowed):
            await ASKS[verb](acting(principal), SCOPE, Case())
    with pytest.raises(NotAllowed):
        await ASKS[verb](acting(agent_of("coder")), replace(SCOPE, agent_id=None), Case())


def agent_of(name: str) -> Principal:
    return Principal("key", "default", agents=frozenset({name}))


@pytest.mark.parametrize("verb", sorted(set(ASKS) - READING - OF_NO_SCOPE))
async def test_what_changes_the_shared_bank_needs_its_grant(verb: str) -> None:
    with pytest.raises(NotAllowed, match="shared bank"):
        await ASKS[verb](acting(Principal("key", "default", shared=False)), replace(SCOPE, user_id=None), Case())


def asked() -> Iterator[str]:
    """The names by which the service asks what a caller may do."""
    for path in Path(hindsight_memory.service.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("require", "may"):
                yield from (each.value for each in ast.walk(node.args[1]) if isinstance(each, ast.Constant))


def test_every_name_that_is_asked_for_belongs_to_one_grant() -> None:
    granted = [verb for grant in Grant for verb in VERBS[grant]]
    assert len(granted) == len(set(granted))
    assert set(granted) | OF_INSTALLATION == set(asked())
