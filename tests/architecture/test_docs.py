"""What the README says is so."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from hindsight_memory.build import PREFIX, VARIABLES
from hindsight_memory.server.calls import CALLS

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def test_the_python_of_the_readme_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(f"{PREFIX}DATABASE_URL", f"sqlite:///{tmp_path}/readme.db")
    monkeypatch.setenv(f"{PREFIX}EMBEDDER", "none")
    for block in blocks("python"):
        names: dict[str, object] = {}
        exec(block.replace("like to drink?", "drink coffee?"), names)  # by words: no model is loaded here
        names["memory"].close()  # type: ignore[attr-defined]
    assert "black, no sugar" in capsys.readouterr().out


def test_every_variable_is_documented_and_no_other() -> None:
    named = set(re.findall(rf"{PREFIX}[A-Z_]+", README))
    assert named == {PREFIX + variable.name for variable in VARIABLES}


def test_the_mcp_entry_is_json_and_starts_this_program() -> None:
    (entry,) = (json.loads(block) for block in blocks("json"))
    assert entry == {"mcpServers": {"hindsight-memory": {"command": "hindsight-memory", "args": ["mcp"]}}}


def test_the_addresses_of_the_readme_are_verbs() -> None:
    assert set(re.findall(r"/v1/(\w+)", README)) <= {*CALLS, "sessions", "keys"}


def test_decisions_are_numbered_without_a_gap() -> None:
    numbers = sorted(int(page.name[:4]) for page in (ROOT / "docs/decisions").glob("*.md"))
    assert numbers == list(range(1, len(numbers) + 1))
