"""The command line: the verbs, the same JSON as REST, errors that name the field, exit codes for scripts."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.main import get_command
from typer.testing import CliRunner, Result

from hindsight_memory import __version__
from hindsight_memory.cli import app
from hindsight_memory.cli.options import HELP
from hindsight_memory.domain import (
    AuditCheck,
    Changes,
    Check,
    Consolidation,
    Context,
    Draft,
    Export,
    Hit,
    ImportReport,
    Judgement,
    KeyListing,
    Listing,
    Maintenance,
    Memory,
    NewKey,
    Outlook,
    Page,
    Query,
    Receipt,
    Span,
    StatePatch,
    Step,
    Who,
    Work,
)

EXAMPLES = Path(sys.modules["hindsight_memory"].__path__[0]) / "examples"
COMMANDS = [
    "write",
    "write-conversation",
    "search",
    "context",
    "explain",
    "suggest",
    "get",
    "list",
    "update",
    "history",
    "contradictions",
    "resolve",
    "feedback",
    "refit",
    "step",
    "reflect",
    "forget",
    "restore",
    "purge",
    "replay",
    "maintain",
    "jobs",
    "consolidate",
    "policy",
    "reveal",
    "review",
    "scan",
    "import",
    "doctor",
    "encrypt",
    "serve",
    "worker",
    "mcp",
    "demo",
    "export",
    "migrate",
    "backup",
    "restore-backup",
]
Run = Callable[..., Result]


@dataclass
class Shell:
    """Runs commands on one database, in this process."""

    database: Path

    def run(self, *args: str, stdin: str | bytes | None = None) -> Result:
        runner = CliRunner()
        return runner.invoke(app, [args[0], "--database", str(self.database), *args[1:]], input=stdin)

    def json(self, *args: str, stdin: str | bytes | None = None) -> Any:
        result = self.run(args[0], "--json", *args[1:], stdin=stdin)
        assert result.exit_code == 0, result.output
        assert result.stdout.count("\n") == 1
        return json.loads(result.stdout)

    def write(self, content: str, *args: str) -> str:
        identity: str = self.json("write", content, *args)["id"]
        return identity


@pytest.fixture
def shell(database: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    monkeypatch.setenv("HINDSIGHT_MEMORY_EMBEDDER", "none")
    return Shell(database)


def names(kind: type) -> set[str]:
    return {field.name for field in fields(kind)}


def options(command: str) -> dict[str, Any]:
    found: Any = get_command(app)
    return {spelled: option for option in found.commands[command].params for spelled in option.opts}


# What there is


def test_help_lists_the_commands_in_order() -> None:
    result = CliRunner().invoke(app, ["--help"])
    assert result.exit_code == 0
    listed = result.stdout.partition("Commands:")[2].splitlines()
    assert [line.split()[0] for line in listed if line.strip()] == [*COMMANDS, "session", "keys", "audit", "eval"]
    assert not any(line.endswith("...") for line in listed)


def test_version() -> None:
    assert CliRunner().invoke(app, ["--version"]).stdout == f"hindsight-memory {__version__}\n"


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        ("write", Draft),
        ("search", Query),
        ("context", Query),
        ("explain", Query),
        ("list", Listing),
        ("update", Changes),
        ("replay", Span),
        ("feedback", Judgement),
        ("suggest", Outlook),
    ],
)
def test_every_field_is_an_option(command: str, kind: type) -> None:
    arguments = {Draft: {"content"}, Query: {"text"}, Judgement: {"verdict"}}.get(kind, set())
    spelled = {f"--{name.replace('_', '-')}" for name in names(kind) - arguments}
    assert spelled <= options(command).keys()
    assert {"--user-id", "--agent-id", "--session-id", "--shared"} <= options(command).keys()


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_takes_json_and_database(command: str) -> None:
    assert {"--json", "--database"} <= options(command).keys()


def test_every_field_is_explained_and_nothing_else() -> None:
    kinds = (
        Who,
        Draft,
        Query,
        Listing,
        Changes,
        StatePatch,
        Judgement,
        Outlook,
        Step,
        Export,
        Maintenance,
        Consolidation,
        Span,
        NewKey,
        Work,
        KeyListing,
        AuditCheck,
    )
    taken = {"text", "verdict", "tool", "input", "name", "all_users", "passphrase"}  # what a command has otherwise
    assert set(HELP) == set().union(*(names(kind) for kind in kinds)) - taken


# JSON is what REST has


def test_json_has_the_fields_of_the_domain(shell: Shell) -> None:
    receipt = shell.json("write", "The server listens on port 8443.", "--tag", "ops", "--tag", "net")
    assert receipt.keys() == names(Receipt)
    assert receipt["created"] is True
    hits = shell.json("search", "port 8443")
    assert hits.keys() == {"hits"}
    assert hits["hits"][0].keys() == names(Hit)
    assert hits["hits"][0]["memory"]["tags"] == ["ops", "net"]
    memory = shell.json("get", receipt["id"])
    assert memory.keys() == names(Memory)
    assert shell.json("explain", "port", receipt["id"]).keys() == names(Hit)
    page = shell.json("list")
    assert page.keys() == names(Page)
    assert page["memories"] == [memory]
    context = shell.json("context", "port", "--budget-tokens", "200")
    assert context.keys() == names(Context)
    assert context["memory_ids"] == [receipt["id"]]


def test_json_of_doctor(shell: Shell) -> None:
    result = shell.run("doctor", "--json")
    checks = json.loads(result.stdout)["checks"]
    assert all(check.keys() == names(Check) for check in checks)
    assert result.exit_code == (0 if all(check["ok"] for check in checks) else 1)


def test_json_is_utf8_and_not_escaped(shell: Shell) -> None:
    shell.write("我在北京喝咖啡 ☕", "--metadata", '{"城市": "北京"}')
    result = shell.run("search", "--json", "北京")
    assert "我在北京喝咖啡 ☕" in result.stdout_bytes.decode()


@pytest.mark.parametrize(
    ("content", "asked"),
    [
        ("我下周去北京出差", "北京"),
        ("早上要喝咖啡才清醒", "咖啡"),
        ("The router's admin page is on port 8443", "port 8443"),
        ("Ticket req_id-42 was closed", "req_id-42"),
        ("The data is in /data/project_x", "/data/project_x"),
        ("Mail goes to ines@example.org", "ines@example.org"),
        ("We run v1.2.3", "v1.2.3"),
    ],
)
def test_words_alone_find_it(shell: Shell, content: str, asked: str) -> None:
    for other in ("我喜欢上海的早餐", "The printer is on port 9100", "Ticket req_id-43 is open", "We ran v1.2.4"):
        shell.write(other)
    wanted = shell.write(content)
    assert shell.json("search", asked)["hits"][0]["memory"]["id"] == wanted


# The verbs


def test_write_twice_is_once(shell: Shell) -> None:
    first, second = (shell.json("write", "I like oat milk.") for _ in range(2))
    assert (second["id"], second["created"], second["action"]) == (first["id"], False, "duplicate")


def test_write_says_every_field(shell: Shell) -> None:
    said = [
        *("--kind", "episodic", "--key", "fact.port", "--metadata", '{"n": 1}', "--source", "tool"),
        *("--source-ref", "log:1", "--visibility", "private", "--importance", "0.9", "--pinned", "--speaker", "Maya"),
        *("--occurred-at", "2026-05-04T09:00:00+08:00", "--valid-from", "2026-05-04T00:00:00Z"),
        *("--valid-until", "2099-01-01T00:00:00Z", "--expires-at", "2099-01-01T00:00:00Z", "--outcome", "success"),
        *("--task", "deploy", "--tool", "bash", "--tools", "git", "--agent-id", "coder", "--session-id", "s1"),
    ]
    identity = shell.write("Deployed.", *said)
    memory = shell.json("get", identity, "--agent-id", "coder")
    expected: dict[str, Any] = {
        "kind": "episodic",
        "key": "fact.port",
        "metadata": {"n": 1},
        "source": "tool",
        "source_ref": "log:1",
    }
    expected |= {"visibility": "private", "importance": 0.9, "pinned": True, "speaker": "Maya", "outcome": "success"}
    expected |= {"occurred_at": "2026-05-04T01:00:00Z", "valid_until": "2099-01-01T00:00:00Z", "task": "deploy"}
    expected |= {"tools": ["bash", "git"], "agent_id": "coder", "session_id": "s1"}
    assert {name: memory[name] for name in expected} == expected
    assert shell.run("get", identity).exit_code == 4  # another agent's private memory


def test_content_from_standard_input(shell: Shell) -> None:
    identity = shell.json("write", "-", stdin="\ufeff喝茶 🍵\n".encode())["id"]
    assert shell.json("get", identity)["content"] == "喝茶 🍵"
    updated = shell.json("update", identity, "--content", "-", stdin="喝水")
    assert updated["content"] == "喝水"
    refused = shell.run("write", "-", stdin=b"\xff\xfe")
    assert (refused.exit_code, "content" in refused.stderr) == (2, True)


def test_update_forget_restore(shell: Shell) -> None:
    identity = shell.write("I drink coffee.", "--tag", "drink")
    updated = shell.json(
        "update", identity, "--content", "I drink rooibos.", "--no-pinned", "--tag", "", "--version", "1"
    )
    assert (updated["version"], updated["tags"], updated["pinned"]) == (2, [], False)
    assert shell.run("update", identity, "--importance", "1", "--version", "1").exit_code == 5
    assert shell.json("forget", identity, "--reason", "private")["status"] == "deleted"
    assert shell.json("search", "rooibos") == {"hits": []}
    assert shell.run("get", identity).exit_code == 4
    assert shell.json("restore", identity)["status"] == "active"
    assert len(shell.json("search", "rooibos")["hits"]) == 1


def test_list_pages(shell: Shell) -> None:
    written = [shell.write(f"Fact number {number}.") for number in range(5)]
    seen: list[str] = []
    after: list[str] = []
    while True:
        page = shell.json("list", "--limit", "2", *after)
        seen += [memory["id"] for memory in page["memories"]]
        if page["next"] is None:
            break
        after = ["--after", page["next"]]
    assert seen == written[::-1]


def test_filters(shell: Shell) -> None:
    old = shell.write("Old tea.", "--kind", "episodic", "--occurred-at", "2020-01-01T00:00:00Z", "--session-id", "s")
    new = shell.write("New tea.", "--kind", "semantic", "--tag", "x", "--agent-id", "a", "--metadata", '{"p": 1}')

    def found(*args: str) -> set[str]:
        return {hit["memory"]["id"] for hit in shell.json("search", "tea", *args)["hits"]}

    assert found() == {old, new}
    assert found("--kind", "episodic", "--kinds", "working") == {old}
    assert found("--until", "2021-01-01T00:00:00Z") == found("--session", "s") == {old}
    assert found("--since", "2021-01-01T00:00:00Z") == found("--tag", "x") == found("--agent", "a") == {new}
    assert found("--metadata", '{"p": 1}') == {new}


def test_users_are_apart_and_the_shared_bank_is_for_all(shell: Shell) -> None:
    mine = shell.write("Tea for me.", "--user-id", "maya")
    assert shell.json("list", "--user-id", "ines")["memories"] == []
    assert [each["id"] for each in shell.json("list", "--user-id", "maya")["memories"]] == [mine]
    shared = shell.write("Tea for all.", "--shared")
    assert [each["id"] for each in shell.json("list", "--shared")["memories"]] == [shared]
    both = shell.run("list", "--shared", "--user-id", "maya")
    assert (both.exit_code, "user_id" in both.stderr) == (2, True)


def test_write_conversation(shell: Shell, tmp_path: Path) -> None:
    turns = [
        {"role": "user", "content": "I moved to Lisbon.\u2028Really.", "id": "1"},
        {"role": "assistant", "content": "When?"},
    ]
    text = "".join(json.dumps(turn, ensure_ascii=False) + "\r\n" for turn in turns)
    receipts = shell.json("write-conversation", "--session-id", "s1", stdin=text)["receipts"]
    assert [receipt.keys() for receipt in receipts] == [names(Receipt)] * 2
    (tmp_path / "turns.jsonl").write_text(text, encoding="utf-8")
    again = shell.json("write-conversation", str(tmp_path / "turns.jsonl"), "--session-id", "s1")["receipts"]
    assert again[0]["id"] == receipts[0]["id"]


@pytest.mark.parametrize(
    ("text", "field", "said"),
    [
        ("{", "messages", "line 1"),
        ("[]", None, "line 1"),
        ('{"content": "a"}\n{"contnet": "b"}', "contnet", "line 2"),
        ('{"role": "user"}', "content", "line 1"),
        ('{"content": "a", "role": "robot"}', "role", "line 1"),
        ('{"content": "a", "occurred_at": "2026-05-04T09:00:00"}', "occurred_at", "time zone"),
    ],
)
def test_bad_messages(shell: Shell, text: str, field: str | None, said: str) -> None:
    result = shell.run("write-conversation", "--json", "--session-id", "s", stdin=text)
    error = json.loads(result.stderr)["error"]
    assert (result.exit_code, error["field"], said in error["message"]) == (2, field, True), error
    assert shell.json("list")["memories"] == []


@pytest.mark.parametrize("language", ["en", "zh"])
def test_import_twice_adds_nothing(shell: Shell, language: str) -> None:
    path = str(EXAMPLES / f"{language}.json")
    first, second = (shell.json("import", path) for _ in range(2))
    assert first.keys() == names(ImportReport)
    assert first["created"] > 90
    assert (second["created"], second["known"]) == (0, first["created"])


def test_import_says_what_it_left_out(shell: Shell, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    for number in range(25):
        (folder / f"{number}.xyz").write_text("?")
    result = shell.run("import", str(folder))
    assert "Database:" in result.stderr
    assert "25 parts skipped" in result.stdout
    assert "5 more" in result.stdout
    assert len(shell.json("import", str(folder))["skipped"]) == 25


def test_demo(shell: Shell) -> None:
    shown = shell.json("demo", "--language", "zh")
    assert shown["turns"] > 90
    assert len(shown["questions"]) == 12
    answered = [each for each in shown["questions"] if set(each["evidence"]) & set(each["found"])]
    assert shown["answered"] == len(answered) > 4
    for each in shown["questions"]:
        assert set(each["found"]) <= {hit["memory"]["source_ref"] for hit in each["hits"]}
    assert shell.json("list")["memories"] == []  # the sample is a user of its own


# For people


def test_search_shows_text_as_it_is(shell: Shell) -> None:
    shell.write("Markup [bold]is[/bold] not \x1b[31mread[/] here.")
    result = shell.run("search", "markup")
    assert "[bold]is[/bold]" in result.stdout
    assert "\x1b" not in result.stdout
    assert "Found 1st by its words" in result.stdout


@pytest.mark.parametrize("command", ["search", "list", "context"])
def test_nothing_is_no_error(shell: Shell, command: str) -> None:
    result = shell.run(command, *(["tea"] if command != "list" else []))
    assert result.exit_code == 0


def test_people_read_every_verb(shell: Shell) -> None:
    identity = shell.write("The launch is on 4 May.", "--speaker", "Maya")
    for args in (
        ["get", identity],
        ["list", "--limit", "1"],
        ["context", "launch"],
        ["explain", "launch", identity],
        ["update", identity, "--pinned"],
        ["forget", identity],
        ["restore", identity],
    ):
        result = shell.run(*args)
        assert result.exit_code == 0, result.output
        assert identity in result.stdout or "launch" in result.stdout


# What is wrong


@pytest.mark.parametrize(
    ("args", "code", "field"),
    [
        (["write", ""], 2, "content"),
        (["write", "   "], 2, "content"),
        (["write", "\0"], 2, "content"),
        (["write", "cut \udce4 off"], 2, "content"),
        (["write", "x" * 100_001], 2, "content"),
        (["write", "x", "--occurred-at", "2026-05-04T09:00:00"], 2, "occurred_at"),
        (["write", "x", "--valid-from", "yesterday"], 2, "valid_from"),
        (["write", "x", "--kind", "fact"], 2, "kind"),
        (["write", "x", "--source", "god"], 2, "source"),
        (["write", "x", "--importance", "1.5"], 2, "importance"),
        (["write", "x", "--importance", "high"], 2, "importance"),
        (["write", "x", "--wait", "for it"], 2, "wait"),
        (["write", "x", "--metadata", "{"], 2, "metadata"),
        (["write", "x", "--metadata", "[1]"], 2, "metadata"),
        (["write", "x", "--metadata", "[" * 100_000], 2, "metadata"),
        (["write", "x", "--metadata", '{"n": NaN}'], 2, "metadata"),
        (["write", "x", "--tag", "t" * 201], 2, "tags"),
        (["write", "x", "--user-id", ""], 2, "user_id"),
        (["write", "x", "--user-id", "\udce4"], 2, "user_id"),
        (["write"], 2, "content"),
        (["search", ""], 2, "text"),
        (["search", "x", "--limit", "0"], 2, "limit"),
        (["search", "x", "--limit", "ten"], 2, "limit"),
        (["search", "x", "--kind", "fact"], 2, "kinds"),
        (["context", "x", "--budget-tokens", "0"], 2, "budget_tokens"),
        (["get", "no-such-id"], 4, "memory_id"),
        (["get", ""], 4, "memory_id"),
        (["explain", "x", "no-such-id"], 4, "memory_id"),
        (["update", "no-such-id", "--content", "y"], 4, "memory_id"),
        (["forget", "no-such-id"], 4, "memory_id"),
        (["restore", "no-such-id"], 4, "memory_id"),
        (["import", "/no/such/file"], 2, "path"),
        (["serve", "--port", "0"], 2, "port"),
        (["serve", "--host", "0.0.0.0"], 2, "host"),
    ],
)
def test_bad_input_names_the_field(shell: Shell, args: list[str], code: int, field: str) -> None:
    result = shell.run(args[0], "--json", *args[1:])
    assert result.stdout == ""
    error = json.loads(result.stderr)["error"]
    assert (result.exit_code, error["field"]) == (code, field), error
    assert error.keys() == {"code", "message", "hint", "field"}
    for_people = shell.run(*args)
    assert for_people.exit_code == code
    assert "Traceback" not in for_people.output
    assert for_people.stdout == ""
    assert shell.json("list")["memories"] == []


def test_nothing_to_change(shell: Shell) -> None:
    identity = shell.write("x")
    assert shell.run("update", identity).exit_code == 2


@pytest.mark.parametrize("text", ["\"' OR 1=1 --", "😀👩‍👩‍👧", "مرحبا بالعالم", "[/]", "*AND(NEAR", "%_"])
def test_any_text_works(shell: Shell, text: str) -> None:
    identity = shell.write(text)
    assert shell.json("get", identity)["content"] == text
    assert shell.run("search", "--", text).exit_code == 0
    assert shell.run("list").exit_code == 0


def test_text_that_looks_like_an_option(shell: Shell) -> None:
    assert shell.run("write", "--", "--json").exit_code == 0
    assert shell.run("write", "--", "--json").stdout.startswith("duplicate")


def test_a_misspelt_variable_is_an_error(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HINDSIGHT_MEMORY_DATABSE_URL", "sqlite:///x.db")
    result = shell.run("list", "--json")
    error = json.loads(result.stderr)["error"]
    assert result.exit_code == 2
    assert error["hint"] == "Did you mean HINDSIGHT_MEMORY_DATABASE_URL?"


def test_wrong_command_line_as_json(shell: Shell) -> None:
    result = shell.run("search", "--json", "x", "--no-such-option")
    assert result.exit_code == 2
    assert json.loads(result.stderr)["error"]["code"] == "invalid_input"


def test_unknown_command() -> None:
    result = CliRunner().invoke(app, ["serach", "--json"])
    assert result.exit_code == 2
    assert "serach" in json.loads(result.stderr)["error"]["message"]


def test_a_database_that_cannot_be_opened(shell: Shell, tmp_path: Path) -> None:
    shell.database = tmp_path  # a folder
    result = shell.run("list")
    assert result.exit_code == 6
    assert "Traceback" not in result.output


@pytest.mark.parametrize(("command", "missing", "extra"), [("serve", "uvicorn", "server"), ("mcp", "mcp", "mcp")])
def test_what_to_install(shell: Shell, monkeypatch: pytest.MonkeyPatch, command: str, missing: str, extra: str) -> None:
    for name in [name for name in sys.modules if name.startswith("hindsight_memory.server.")]:
        monkeypatch.delitem(sys.modules, name)
    for name in [name for name in sys.modules if name.partition(".")[0] == missing]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, missing, None)
    result = shell.run(command)
    assert result.exit_code == 2
    assert f"pip install 'hindsight-memory[{extra}]'" in result.stderr


@pytest.mark.parametrize("command", ["get", "forget"])
def test_an_id_that_is_no_text(shell: Shell, command: str) -> None:
    result = shell.run(command, "\udce4")
    assert result.exit_code in (2, 4)


# Real processes

posix = pytest.mark.skipif(os.name == "nt", reason="arguments, pipes, terminals and signals are others there")


def started(
    args: list[str | bytes],
    database: Path,
    stdin: int = subprocess.DEVNULL,
    stderr: int = subprocess.PIPE,
    **environment: str,
) -> subprocess.Popen[bytes]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("HINDSIGHT_MEMORY_")}
    inherited |= {"HINDSIGHT_MEMORY_EMBEDDER": "none", "HINDSIGHT_MEMORY_DATABASE_URL": f"sqlite:///{database}"}
    return subprocess.Popen(
        [sys.executable, "-m", "hindsight_memory.cli", *args],
        env=inherited | environment,
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=stderr,
    )


def ended(process: subprocess.Popen[bytes]) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=40)
    return process.returncode, out.decode("utf-8", "replace"), (err or b"").decode("utf-8", "replace")


@pytest.mark.slow
def test_write_then_search_in_processes(database: Path) -> None:
    code, out, err = ended(started(["write", "--json", "我喜欢在北京喝咖啡"], database))
    assert (code, err) == (0, "")
    code, out, err = ended(started(["search", "--json", "咖啡"], database, PYTHONIOENCODING="cp1252"))
    assert (code, err) == (0, "")
    assert json.loads(out)["hits"][0]["memory"]["content"] == "我喜欢在北京喝咖啡"


@pytest.mark.slow
@posix
def test_bytes_that_are_no_text(database: Path) -> None:
    code, out, err = ended(started(["write", "--json", b"caf\xe9"], database))
    assert (code, out) == (2, "")
    assert json.loads(err)["error"]["field"] == "content"


@pytest.mark.slow
def test_a_narrow_console_does_not_crash(shell: Shell) -> None:
    identity = shell.write("Rocket 🚀 → 火箭 launch", "--speaker", "Ünal 🙂")
    for args in (["search", "launch"], ["list"], ["get", identity], ["explain", "launch", identity], ["doctor"]):
        code, out, err = ended(started([*args], shell.database, PYTHONIOENCODING="cp1252", PYTHONUTF8="0"))
        assert (code in (0, 1), err) == (True, ""), err
        assert "Rocket ?" in out or args == ["doctor"]


@pytest.mark.slow
@posix
@pytest.mark.parametrize("args", [["list"], ["list", "--json"], ["search", "filler"]])
def test_a_closed_pipe_is_quiet(shell: Shell, args: list[str]) -> None:
    for number in range(10):
        shell.write(f"filler {number} " + "word " * 3_000)
    process = started([*args], shell.database)
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(timeout=40) == 141


@pytest.mark.slow
def test_mcp_keeps_stdout_clean_and_names_the_database(database: Path) -> None:
    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    arguments = {"content": "记住我喜欢喝美式咖啡"}
    asked = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "memory_write", "arguments": arguments}},
    ]
    process = started(["mcp", "--user-id", "maya"], database, stdin=subprocess.PIPE)
    text = "".join(json.dumps(each) + "\n" for each in asked)
    out, err = process.communicate(text.encode(), timeout=40)
    assert process.returncode == 0
    assert [json.loads(line)["id"] for line in out.decode().splitlines()] == [1, 2]
    assert err.decode() == f"Database: sqlite:///{database}\n"
    code, listed, _ = ended(started(["list", "--json", "--user-id", "maya"], database))
    assert (code, json.loads(listed)["memories"][0]["content"]) == (0, arguments["content"])


@pytest.mark.slow
@posix
def test_serve_says_where_everything_is(database: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = started(["serve", "--json", "--port", str(port)], database)
    assert process.stdout is not None
    doors = json.loads(process.stdout.readline())
    assert doors["database"] == f"sqlite:///{database}"
    assert doors["mcp"] == f"http://127.0.0.1:{port}/mcp"
    written: Any = None
    for _ in range(100):
        code, out, _err = ended(started(["write", "--json", "tea", "--database", f"http://127.0.0.1:{port}"], database))
        if code == 0:
            written = json.loads(out)
            break
    assert written["created"] is True
    code, _, err = ended(started(["serve", "--port", str(port)], database))
    assert (code, str(port) in err) == (6, True)
    process.send_signal(signal.SIGINT)
    code, _, err = ended(process)
    assert (code, "Traceback" in err) == (130, False), err


@pytest.mark.slow
@posix
def test_the_welcome_shows_what_to_do_next(database: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = started(["serve", "--port", str(port)], database)
    assert process.stderr is not None
    lines: list[str] = []
    while "Ctrl-C ends it." not in lines:
        lines.append(process.stderr.readline().decode().rstrip())
    process.send_signal(signal.SIGINT)
    ended(process)
    text = "\n".join(lines)
    assert f"sqlite:///{database}" in text
    assert f"curl -s http://127.0.0.1:{port}/v1/search" in text
    assert '"mcpServers"' in text


@pytest.mark.slow
@posix
def test_an_import_shows_its_progress_to_who_watches(database: Path) -> None:
    import pty

    watching, terminal = pty.openpty()
    process = started(["import", str(EXAMPLES / "en.json")], database, stderr=terminal, TERM="xterm", COLUMNS="80")
    os.close(terminal)
    code, out, _ = ended(process)
    shown = os.read(watching, 100_000).decode()
    os.close(watching)
    assert (code, "turns in 7 sessions" in out) == (0, True)
    assert "turns read" in shown


@pytest.mark.slow
@posix
def test_an_import_that_is_interrupted_can_go_on(database: Path, tmp_path: Path) -> None:
    large = tmp_path / "many.jsonl"
    turns = ({"role": "user", "content": f"Turn number {number}, with words of its own."} for number in range(20_000))
    large.write_text("".join(json.dumps(turn) + "\n" for turn in turns))
    process = started(["import", str(large)], database)
    assert process.stderr is not None
    assert process.stderr.readline().startswith(b"Database: ")
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    code, out, err = ended(process)
    assert (code, out) == (130, "")
    assert "Run the same import again" in err
    assert "Traceback" not in err


def test_a_failure_we_did_not_foresee_is_not_hidden(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("hindsight_memory.cli.people.page", fails)
    result = shell.run("list")
    assert isinstance(result.exception, ZeroDivisionError)
    assert not isinstance(result.exception, typer.Exit)
