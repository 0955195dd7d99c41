"""The house rules that a machine can hold: see AGENTS.md."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

import hindsight_memory
from hindsight_memory import client, domain, keyring, sessions

SOURCE = Path(hindsight_memory.__file__).parent
MODULES = sorted(SOURCE.rglob("*.py"))
IDS = [str(path.relative_to(SOURCE)) for path in MODULES]
LONGEST = 450
ENGINES = re.compile(r"\b(sqlite3?|postgres\w*|psycopg|pgvector|fts5)\b", re.IGNORECASE)
SQL = re.compile(r"\b(SELECT .+ FROM|INSERT INTO|UPDATE \w+ SET|DELETE FROM|CREATE TABLE|PRAGMA|BEGIN IMMEDIATE)\b")


@pytest.fixture(params=MODULES, ids=IDS)
def module(request: pytest.FixtureRequest) -> Path:
    path: Path = request.param
    return path


def code_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def test_a_module_opens_with_one_sentence(module: Path) -> None:
    said = ast.get_docstring(code_of(module)) or ""
    first = said.partition("\n\n")[0].replace("\n", " ")
    assert first.endswith("."), "say what the module is for"
    assert len(re.findall(r"[.!?](?:\s|$)", first)) == 1, first


def test_a_file_is_not_too_long(module: Path) -> None:
    assert len(module.read_text(encoding="utf-8").splitlines()) <= LONGEST, "it is probably two things"


def strings(code: ast.Module) -> Iterator[str]:
    """Texts a program uses: not those that explain it."""
    told = {
        id(node.value)
        for each in ast.walk(code)
        if isinstance(each, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        for node in each.body
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(code):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told:
            yield node.value


def test_sql_is_in_the_store_only(module: Path) -> None:
    if module.is_relative_to(SOURCE / "store"):
        return
    assert not [text for text in strings(code_of(module)) if SQL.search(text)]


NAMED_IN = {"build.py", "variables.py", "client.py", "cli", "testing.py"}
"""Where a URL of the store is read or explained; a user sees the engine there."""
SPOKEN_OF = {SOURCE / "text" / "alternatives.py", SOURCE / "assist" / "examination.py"}
"""Where it is a word that people say, and not the store."""


def test_engines_are_named_in_the_store_only(module: Path) -> None:
    if module.relative_to(SOURCE).parts[0] in {"store", *NAMED_IN} or module in SPOKEN_OF:
        return
    code = code_of(module)
    names = {node.id for node in ast.walk(code) if isinstance(node, ast.Name)}
    names |= {
        alias.name for node in ast.walk(code) if isinstance(node, ast.ImportFrom | ast.Import) for alias in node.names
    }
    assert not [name for name in (*names, *strings(code)) if ENGINES.search(name)]


def test_the_environment_is_read_in_build_only(module: Path) -> None:
    if module.name == "build.py":
        return
    found = [
        node
        for node in ast.walk(code_of(module))
        if isinstance(node, ast.Attribute) and node.attr in {"environ", "getenv"}
    ]
    assert not found


def test_exported_names() -> None:
    assert hindsight_memory.__all__ == sorted(hindsight_memory.__all__)
    assert set(hindsight_memory.__all__) == {
        "Action", "AsyncHindsightMemory", "Changes", "Citation", "Conflict", "Context", "Contradiction", "Draft",
        "Feedback", "HindsightMemory", "HindsightMemoryError", "History", "Hit", "ImportReport", "InvalidInput",
        "Kind", "Listing", "Memory", "Message", "Moment", "NotAllowed", "NotAuthenticated", "NotFound", "Outcome",
        "Overloaded", "Page", "Query", "Ranking", "Receipt", "Recorded", "Reflection", "Role", "cited", "Scope",
        "Session", "SessionState", "Source", "Status", "Step", "Suggestion", "Tier", "Unavailable", "Visibility",
        "Wait", "Why",
    }  # fmt: skip
    assert all(hasattr(hindsight_memory, name) for name in hindsight_memory.__all__)


@pytest.mark.parametrize(
    ("typed", "meant", "given_apart"),
    [
        (client.WhoFields, domain.Who, set()),
        (client.WriteFields, domain.Draft, {"content"}),
        (client.FilterFields, domain.Filter, set()),
        (client.SearchFields, domain.Query, {"text"}),
        (client.ListFields, domain.Listing, set()),
        (client.UpdateFields, domain.Changes, set()),
        (client.FeedbackFields, domain.Judgement, {"verdict"}),
        (client.SuggestFields, domain.Outlook, set()),
        (client.ConsolidateFields, domain.Consolidation, set()),
        (keyring.KeyListFields, domain.KeyListing, set()),
        (keyring.KeyFields, domain.NewKey, {"name"}),
        (sessions.PatchFields, domain.StatePatch, set()),
        (sessions.StepFields, domain.Step, {"tool", "input", "outcome"}),
    ],
)
def test_keywords_are_the_fields_they_stand_for(typed: Any, meant: Any, given_apart: set[str]) -> None:
    who = set() if typed is client.WhoFields else set(client.WhoFields.__annotations__)
    assert set(typed.__annotations__) - who == {f.name for f in fields(meant)} - given_apart


def test_every_error_says_its_status_code_and_exit() -> None:
    kinds = hindsight_memory.HindsightMemoryError.__subclasses__()
    assert len({kind.code for kind in kinds}) == len(kinds) == 7
    for kind in kinds:
        assert 400 <= kind.status < 600
        assert 2 <= kind.exit_code <= 6
        error = kind("What happened.", hint="What to do.", field="f")
        assert (str(error), error.field) == ("What happened. What to do.", "f")
