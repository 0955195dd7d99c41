"""The comparison of memory with none and with plain history, with and without a model that answers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hindsight_memory.errors import Unavailable
from hindsight_memory.evals.ab import Trial, compare, coverage
from hindsight_memory.evals.datasets import DataSet, read
from hindsight_memory.settings import Settings
from hindsight_memory.testing import HashEmbedder

ARMS = ["small memory", "small none", "small full", "small last 1"]


@pytest.fixture
def data(lines: Path) -> DataSet:
    return read(lines)


async def run(data: DataSet, database: Path, **trial: Any) -> dict[str, Any]:
    results = await compare([data], Settings(database=str(database)), [HashEmbedder()], Trial(last=1, **trial))
    assert [result.name for result in results] == ARMS
    return {result.name: result for result in results}


async def test_the_arms_are_compared_on_the_questions_with_an_answer(data: DataSet, database: Path) -> None:
    found = await run(data, database)
    assert {result.n for result in found.values()} == {4}
    assert found["small full"].metrics["coverage"] == 100
    assert found["small none"].metrics == {"coverage": 0, "tokens": 0}
    assert found["small memory"].metrics["coverage"] > found["small last 1"].metrics["coverage"]
    assert found["small full"].metrics["tokens"] > found["small last 1"].metrics["tokens"] > 0
    assert all(result.latency_ms["p95"] is not None for result in found.values())
    assert found["small memory"].by["category"].keys() == {"plain", "current"}


async def test_the_history_is_in_the_order_of_time(data: DataSet, database: Path) -> None:
    maya, _ = data.groups
    mixed = DataSet("small", (replace(maya, items=maya.items[::-1]),))
    assert (await run(mixed, database))["small last 1"].metrics["coverage"] == 33.3  # the car, bought last


async def test_a_budget_bounds_the_block(data: DataSet, database: Path) -> None:
    wide, narrow = await run(data, database), await run(data, database, budget_tokens=90)
    assert narrow["small memory"].metrics["tokens"] <= 90
    assert narrow["small memory"].metrics["tokens"] < wide["small memory"].metrics["tokens"]


async def test_a_model_answers_and_judges(data: DataSet, database: Path) -> None:
    prompts: list[str] = []
    lines: list[dict[str, Any]] = []

    async def ask(prompt: str) -> str:
        prompts.append(prompt)
        if "Right answer:" in prompt:
            given = prompt.partition("Given answer: ")[2]
            return " **Yes.**" if given.startswith("Lisbon") else "maybe" if given.startswith("I wonder") else "No"
        return "Lisbon" if "moved to Lisbon" in prompt else "I wonder" if "Pepper" in prompt else "I do not know."

    found = await run(data, database, ask=ask, judged=lines.append)
    assert len(prompts) == 2 * 4 * 4
    assert found["small none"].metrics["success"] == 0
    assert found["small full"].metrics["success"] > 0
    assert found["small none"].metrics["judged"] == 4
    assert len(lines) == 16
    first = lines[0]
    assert first.keys() == {
        "set", "arm", "group", "id", "question", "prompt", "answer", "right", "judge_prompt", "judge_output", "success",
    }  # fmt: skip
    assert (first["arm"], first["answer"], first["success"]) == ("memory", "Lisbon", True)
    assert "Lisbon" in first["prompt"]
    unclear = [line for line in lines if line["judge_output"] == "maybe"]
    assert all(line["success"] is None for line in unclear)


async def test_a_model_that_fails_is_counted_and_said(data: DataSet, database: Path) -> None:
    lines: list[dict[str, Any]] = []

    async def ask(prompt: str) -> str:
        raise Unavailable("The history is too long.")

    found = await run(data, database, ask=ask, judged=lines.append)
    assert found["small full"].metrics["failed"] == 4
    assert "success" not in found["small full"].metrics
    assert {line["error"] for line in lines} == {"The history is too long."}


@pytest.mark.parametrize(
    ("answer", "text", "share"),
    [
        ("Lisbon", "She moved to lisbon.", 1),
        ("a green Skoda", "a green Volvo", 0.5),
        ("", "anything", 0),
        ("Lisbon", "", 0),
        ("painted boats", "paints\na boat", 1),
        ("拿铁", "我喜欢喝拿铁咖啡。", 1),
    ],
)
def test_coverage(answer: str, text: str, share: float) -> None:
    assert coverage(answer, text) == share


def test_coverage_sees_the_end_of_a_long_history() -> None:
    assert coverage("pepper", "\n".join(f"a{n} b{n} c{n} d{n} e{n}" for n in range(5_000)) + "\npepper") == 1
