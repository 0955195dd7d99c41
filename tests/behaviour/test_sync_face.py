"""The blocking face: the same verbs, arguments, types and errors, from any thread."""

from __future__ import annotations

import asyncio
import inspect
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, get_type_hints

import pytest

from hindsight_memory import AsyncHindsightMemory, HindsightMemory, InvalidInput, NotFound, Unavailable
from hindsight_memory.build import settings_from, sqlite_path
from hindsight_memory.service import Service


def verbs(face: type) -> dict[str, Any]:
    return {name: each for name, each in inspect.getmembers(face, callable) if not name.startswith("_")}


def test_both_faces_have_the_same_verbs() -> None:
    assert set(verbs(HindsightMemory)) == set(verbs(AsyncHindsightMemory)) - {"open"}
    service = {name for name, each in inspect.getmembers(Service) if inspect.iscoroutinefunction(each)}
    assert {name for name in service if not name.startswith("_")} - set(verbs(AsyncHindsightMemory)) == {
        "start",
        "ready",
        "caller",
        "keyed",
    }


@pytest.mark.parametrize("name", sorted({*verbs(HindsightMemory), "__init__"} - {"connect", "session", "export"}))
def test_a_verb_is_the_same_on_both_faces(name: str) -> None:
    one, two = getattr(HindsightMemory, name), getattr(AsyncHindsightMemory, name)
    assert inspect.signature(one) == inspect.signature(two)
    assert get_type_hints(one) == get_type_hints(two)
    assert inspect.getdoc(two) or name == "__init__"


def test_it_works_and_closes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HINDSIGHT_MEMORY_EMBEDDER", "none")
    with HindsightMemory(tmp_path / "m.db", user_id="alice") as memory:
        receipt = memory.write("Alice drinks her coffee black", key="preference.coffee")
        assert memory.search("coffee")[0].memory.id == receipt.id
        assert "black" in memory.context("coffee").text
        assert memory.explain("coffee", receipt.id).score > 0
        memory.update(receipt.id, importance=0.9)
        memory.forget(receipt.id)
        with pytest.raises(NotFound):
            memory.get(receipt.id)
        memory.restore(receipt.id)
        assert len(memory.list().memories) == 1
        memory.write_conversation([{"content": "It rained in Lisbon"}], session_id="s")
        assert memory.write_many(["one", "two"])[1].created
        with pytest.raises(InvalidInput) as refused:
            memory.write("")
        assert refused.value.field == "content"
        assert all(check.ok for check in memory.doctor() if check.name == "database")
    memory.close()
    with HindsightMemory(tmp_path / "m.db", user_id="alice") as again:
        assert again.get(receipt.id).importance == 0.9


def test_it_may_be_used_from_many_threads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HINDSIGHT_MEMORY_EMBEDDER", "none")
    with HindsightMemory(tmp_path / "m.db") as memory, ThreadPoolExecutor(8) as pool:
        receipts = list(pool.map(lambda number: memory.write(f"text {number}"), range(60)))
        assert len({receipt.id for receipt in receipts}) == 60
        assert len(memory.list(limit=100).memories) == 60


async def test_many_first_calls_at_once_open_it_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HINDSIGHT_MEMORY_EMBEDDER", "none")
    from hindsight_memory import build

    plain, opened = build.build, []

    async def counted(*args: Any) -> Service:
        opened.append(1)
        await asyncio.sleep(0.05)
        return await plain(*args)

    monkeypatch.setattr(build, "build", counted)
    async with AsyncHindsightMemory(tmp_path / "a.db") as memory:
        assert len(opened) == 1
    memory = AsyncHindsightMemory(tmp_path / "b.db")
    await asyncio.gather(*(memory.write(f"text {number}") for number in range(5)))
    assert len(opened) == 2
    await memory.close()


@pytest.mark.parametrize(
    "database",
    [
        "mysql://x",
        "sqlite://",
        "sqlite://relative",
        "sqlite:x.db",
        "file:/x.db",
        " ",
        "sqlite:///:memory:",
    ],
)
def test_a_database_it_cannot_open_is_named(database: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        HindsightMemory(database)
    assert refused.value.field == "database"


def test_a_misspelt_variable_is_an_error_that_names_the_right_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """A misnamed database variable once fell back to a throw-away store, and the memories were lost."""
    monkeypatch.setenv("HINDSIGHT_MEMORY_DATABSE_URL", "sqlite:///x.db")
    with pytest.raises(InvalidInput, match="HINDSIGHT_MEMORY_DATABASE_URL"):
        HindsightMemory()


def test_the_environment_and_the_argument_say_where(tmp_path: Path) -> None:
    url = "sqlite:////srv/m.db"
    assert settings_from({"HINDSIGHT_MEMORY_DATABASE_URL": url}).database == url
    assert settings_from({"HINDSIGHT_MEMORY_DATABASE_URL": url}, "other.db").database == "other.db"
    assert settings_from({"HINDSIGHT_MEMORY_DATABASE_URL": " "}).database.endswith("memory.db")
    assert settings_from({"HINDSIGHT_MEMORY_PORT": "99"}).server.port == 99
    with pytest.raises(InvalidInput) as refused:
        settings_from({"HINDSIGHT_MEMORY_PORT": "no"})
    assert refused.value.field == "HINDSIGHT_MEMORY_PORT"


def test_a_closed_memory_says_so(tmp_path: Path) -> None:
    memory = HindsightMemory(tmp_path / "m.db")
    memory.close()
    memory.close()
    with pytest.raises(Unavailable, match="closed"):
        memory.search("anything")


def test_a_path_is_taken_as_it_is_written(tmp_path: Path) -> None:
    assert sqlite_path("sqlite:////srv/a?b#c%20d.db") == Path("/srv/a?b#c d.db")
    assert sqlite_path("notes#1.db") == Path("notes#1.db")
    assert sqlite_path("sqlite:///notes.db") == Path("notes.db")
