"""``hindsight-memory eval``: its JSON form, its files, its errors and exit codes."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from hindsight_memory.cli import app, evals
from hindsight_memory.evals.asking import SetResult

SHARED = Path(__file__).parents[3] / "shared" / "data"


@pytest.fixture(autouse=True)
def _words_only(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HINDSIGHT_MEMORY_EMBEDDER", "none")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def run(*args: str | Path) -> Result:
    return CliRunner().invoke(app, ["eval", *map(str, args)])


def sets_of(result: Result) -> list[dict[str, Any]]:
    assert result.exit_code == 0, result.output
    assert result.stdout.count("\n") == 1
    assert result.stderr == ""
    answer = json.loads(result.stdout)
    assert answer.keys() == {"sets"}
    for each in answer["sets"]:
        assert {"name", "n", "metrics", "by", "latency_ms"} <= each.keys()
        assert {"p50", "p95"} <= each["latency_ms"].keys()
        assert each["by"].keys() == {"category"}
        assert all(isinstance(value, int | float) for value in each["metrics"].values())
    return list(answer["sets"])


def test_recall_as_json_and_nothing_is_left(lines: Path, tmp_path: Path) -> None:
    (found,) = sets_of(run("recall", "--json", "--data", lines))
    assert (found["name"], found["n"], found["metrics"]["recall@20"]) == ("small", 5, 100)
    assert list(tmp_path.iterdir()) == [lines]


def test_recall_of_several_with_everything(lines: Path, tmp_path: Path, database: Path) -> None:
    out, page = tmp_path / "out.jsonl", tmp_path / "page.html"
    options: list[str | Path] = [
        "--data",
        lines,
        "--data",
        lines,
        "--ablate",
        "--foreign",
        "--limit-groups",
        "1",
        "--limit-queries",
        "2",
    ]
    options += ["--per-question", out, "--report", page, "--database", database, "--json"]
    found = sets_of(run("recall", *options))
    assert [each["name"] for each in found if "without" not in each["name"]] == ["small", "small 2"]
    questions = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert len(questions) == 2 * len(found)
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert database.exists()


def test_recall_for_people(lines: Path) -> None:
    result = run("recall", "--data", lines, "--ablate", "--foreign")
    assert result.exit_code == 0, result.output
    for said in ("small", "recall@10", "plain", "stale_first", "abstention_auroc", "Difference without a signal"):
        assert said in result.stdout
    assert all(name in run("recall", "--data", lines, "--baseline", "bm25").stdout for name in ("small bm25", "mrr"))


def test_ab(lines: Path, tmp_path: Path) -> None:
    found = sets_of(run("ab", "--json", "--data", lines, "--last", "2", "--report", tmp_path / "page.html"))
    assert [each["name"] for each in found] == ["small memory", "small none", "small full", "small last 2"]
    assert {"coverage", "tokens"} == found[0]["metrics"].keys()
    shown = run("ab", "--data", lines)
    assert "small last 10" in shown.stdout
    assert "tokens" in shown.stdout


class Oracle:
    """A language model that knows one answer and finds every answer right."""

    name = "oracle"
    closed = False

    async def chat(self, system: str, prompt: str, *, max_tokens: int) -> str:
        assert system
        assert max_tokens > 0
        return "yes" if "Right answer:" in prompt else "Lisbon ☕"

    async def close(self) -> None:
        self.closed = True


def test_ab_with_a_model_writes_what_it_said(lines: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    oracle, out = Oracle(), tmp_path / "judged.jsonl"
    monkeypatch.setattr("hindsight_memory.evals.ab.llm_of", lambda _: oracle)
    found = sets_of(run("ab", "--json", "--data", lines, "--judgements", out))
    assert {each["metrics"]["success"] for each in found} == {100}
    written = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert len(written) == 4 * 4
    assert all(line["answer"] == "Lisbon ☕" and line["judge_prompt"] and line["success"] for line in written)
    assert oracle.closed


def test_poison_of_data(lines: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    result = run("poison", "--data", lines, "--limit", "1", "--seed", "1", "--json", "--report", page)
    assert result.exit_code == 0, result.output
    (found,) = json.loads(result.stdout)["sets"]
    assert (found["name"], found["n"]) == ("small", 1)
    assert {"false_in_context_unmarked", "false_supersedes", "truths_lost", "false_marks"} <= found["metrics"].keys()
    assert {"category", "group", "style that got through"} == found["by"].keys()
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_without_a_model_there_is_nothing_to_judge(lines: Path, tmp_path: Path) -> None:
    result = run("ab", "--data", lines, "--judgements", tmp_path / "judged.jsonl")
    assert (result.exit_code, "HINDSIGHT_MEMORY_LLM" in result.stderr) == (2, True)


@pytest.mark.skipif(
    not SHARED.exists(), reason=f"the evaluation data are not at {SHARED}: their licences keep them out"
)
def test_public_data_run_through() -> None:
    chinese, project = sets_of(
        run("recall", "--json", *("--data", SHARED / "qmemory_conflict_zh.json", "--data", SHARED / "realmem.json"),
            *("--limit-groups", "1", "--limit-queries", "10"))
    )  # fmt: skip
    assert (chinese["name"], chinese["n"], chinese["memories"]) == ("qmemory_conflict_zh", 10, 82)
    assert "stale_first" in chinese["metrics"]
    assert (project["name"], project["n"]) == ("realmem", 10)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--data", "none.json"], "none.json cannot be read"),
        (["--baseline", "magic"], "bm25"),
        (["--baseline", "bm25", "--ablate"], "baseline"),
        (["--baseline", "vector"], "embedding model"),
        (["--report", "no/such/folder/x.html"], "cannot be written"),
        (["--per-question", "no/such/folder/x.jsonl"], "cannot be written"),
        (["--database", "http://127.0.0.1:9"], "database"),
        (["--limit-groups", "0"], "limit"),
    ],
)
def test_what_is_wrong_is_said(lines: Path, options: list[str], said: str) -> None:
    whole = [*options] if "--data" in options else ["--data", str(lines), *options]
    for extra in ([], ["--json"]):
        result = run("recall", *whole, *extra)
        assert result.exit_code == 2, result.output
        assert result.stdout == ""
        assert said in result.stderr
    assert json.loads(result.stderr)["error"]["hint"]


def test_no_data_is_an_error_of_use() -> None:
    result = run("recall", "--json")
    assert (result.exit_code, json.loads(result.stderr)["error"]["field"]) == (2, "data")


def test_a_stop_says_how_to_go_on(lines: Path, database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def stop(*_: Any) -> list[SetResult]:
        raise KeyboardInterrupt

    monkeypatch.setattr("hindsight_memory.evals.recall.measure", stop)
    result = run("recall", "--data", lines, "--database", database)
    assert result.exit_code == 130
    assert "Run the same command again" in result.stderr


def test_the_bar_moves(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    with evals._progress(quiet=False) as progress:
        progress("x: stored", 1, 2)
        progress("x: stored", 2, 2)
    with evals._progress(quiet=True) as silent:
        silent("x", 1, 2)
    assert capsys.readouterr().out == ""
