"""Moving memory through the doors: the command line, REST, a client of a running service, the blocking face."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from typer.testing import CliRunner

from adapters.conftest import BASE
from hindsight_memory import HindsightMemory, InvalidInput, NotFound
from hindsight_memory.cli import app as commands
from hindsight_memory.domain import Export, Scope
from hindsight_memory.guard import passphrase
from hindsight_memory.lifecycle.packing import zstd
from hindsight_memory.remote import Remote

ALICE = Scope(user_id="alice")


def run(database: Path | str, *args: str) -> Any:
    return CliRunner().invoke(commands, [*args, "--database", str(database)])


@pytest.fixture
def filled(database: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HINDSIGHT_MEMORY_EMBEDDER", "none")
    monkeypatch.setattr(passphrase, "_COST", 2)
    for user, text in (("alice", "oat milk"), ("bob", "燕麦奶")):
        assert run(database, "write", text, "--user-id", user).exit_code == 0
    return database


def contents(database: Path, user: str) -> list[str]:
    listed = json.loads(run(database, "list", "--user-id", user, "--json").stdout)
    return [memory["content"] for memory in listed["memories"]]


def test_an_archive_goes_out_and_comes_in_by_the_command_line(filled: Path, tmp_path: Path) -> None:
    out, other = tmp_path / "all.archive", tmp_path / "other.db"
    made = run(filled, "export", "--all", "--out", str(out), "--json")
    assert made.exit_code == 0, made.output
    assert json.loads(made.stdout) == {"file": str(out), "bytes": out.stat().st_size}
    assert out.stat().st_mode & 0o777 == 0o600
    assert run(filled, "export", "--all").stdout_bytes == out.read_bytes()
    shown = run(other, "import", str(out))
    assert shown.exit_code == 0, shown.output
    assert "alice (default): stored, 1 memories." in shown.output
    assert (contents(other, "alice"), contents(other, "bob")) == (["oat milk"], ["燕麦奶"])
    again = json.loads(run(other, "import", str(out), "--json").stdout)
    assert [bank["outcome"] for bank in again["banks"]] == ["known", "known"]
    run(other, "export", "--all", "--out", str(tmp_path / "again"))
    assert (tmp_path / "again").read_bytes() == out.read_bytes()


def test_one_user_is_chosen_by_the_command_line(filled: Path, tmp_path: Path) -> None:
    out, other = tmp_path / "a", tmp_path / "other.db"
    assert run(filled, "export", "--user-id", "nobody", "--out", str(out)).exit_code == 4
    assert not out.exists()
    assert run(filled, "export", "--user-id", "alice", "--out", str(out)).exit_code == 0
    assert run(filled, "export", "--all", "--out", str(tmp_path / "b")).exit_code == 0
    assert run(other, "import", str(tmp_path / "b"), "--user-id", "bob").exit_code == 0
    assert (contents(other, "alice"), contents(other, "bob")) == ([], ["燕麦奶"])
    assert run(other, "write", "something else", "--user-id", "alice").exit_code == 0
    refused = run(other, "import", str(out), "--json")
    assert (refused.exit_code, json.loads(refused.stderr)["error"]["code"]) == (5, "conflict")
    out.write_bytes(out.read_bytes()[:-9])
    damaged = run(other, "import", str(out))
    assert damaged.exit_code == 2
    assert "line" in damaged.stderr


def test_an_encrypted_one_asks_for_its_passphrase(filled: Path, tmp_path: Path) -> None:
    pytest.importorskip("cryptography")
    word, out, other = tmp_path / "word", tmp_path / "a", tmp_path / "other.db"
    word.write_text("käse 密码\n", encoding="utf-8")
    made = run(filled, "export", "--user-id", "alice", "--out", str(out), "--passphrase-file", str(word))
    assert made.exit_code == 0, made.output
    assert b"oat milk" not in out.read_bytes()
    silent = run(other, "import", str(out))
    assert (silent.exit_code, "--passphrase-file" in silent.stderr) == (2, True)
    assert run(other, "import", str(out), "--passphrase-file", str(word)).exit_code == 0
    assert contents(other, "alice") == ["oat milk"]
    word.write_text("another\n", encoding="utf-8")
    assert run(tmp_path / "third.db", "import", str(out), "--passphrase-file", str(word)).exit_code == 2
    word.write_text("\n", encoding="utf-8")
    assert run(filled, "export", "--out", str(out), "--passphrase-file", str(word)).exit_code == 2
    assert run(filled, "export", "--out", str(out), "--passphrase-file", str(tmp_path / "no")).exit_code == 2


def test_a_database_is_migrated_and_the_next_step_is_said(filled: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    moved = CliRunner().invoke(commands, ["migrate", "--from", str(filled), "--to", f"sqlite:///{other}"])
    assert moved.exit_code == 0, moved.output
    assert "Both are equal" in moved.output
    assert "HINDSIGHT_MEMORY_DATABASE_URL" in moved.output
    assert contents(other, "bob") == ["燕麦奶"]
    again = run(filled, "migrate", "--to", str(other), "--json")
    assert json.loads(again.stdout)["changed"] == 0
    assert run(filled, "migrate", "--to", str(filled)).exit_code == 2


def test_a_backup_is_made_and_put_back(filled: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    made = run(filled, "backup", str(copy))
    assert made.exit_code == 0, made.output
    assert copy.stat().st_mode & 0o777 == 0o600
    assert run(filled, "backup", str(copy)).exit_code == 5
    assert contents(copy, "alice") == ["oat milk"]
    assert run(filled, "write", "written later", "--user-id", "alice").exit_code == 0
    refused = run(filled, "restore-backup", str(copy))
    assert (refused.exit_code, "--replace" in refused.stderr) == (5, True)
    back = run(filled, "restore-backup", str(copy), "--replace", "--json")
    assert back.exit_code == 0, back.output
    assert contents(filled, "alice") == ["oat milk"]
    assert set(contents(Path(json.loads(back.stdout)["kept"]), "alice")) == {"oat milk", "written later"}
    assert run("postgresql://nowhere/x", "backup", str(tmp_path / "x")).exit_code == 2


async def test_rest_streams_it_and_the_client_too(app: FastAPI, http: httpx.AsyncClient, tmp_path: Path) -> None:
    await http.post("/v1/write", json={"user_id": "alice", "content": "oat milk"})
    reply = await http.post("/v1/export", json={"user_id": "alice"})
    assert (reply.status_code, reply.headers["content-type"]) == (200, "application/octet-stream")
    assert json.loads(zstd.decompress(reply.content).splitlines()[0])["archive"]["version"] == 1
    remote = Remote(BASE, transport=httpx.ASGITransport(app))
    pieces = await remote.export(Export(), ALICE)
    assert b"".join([piece async for piece in pieces]) == reply.content
    with pytest.raises(NotFound):
        await remote.export(Export(), Scope(user_id="nobody"))
    with pytest.raises(InvalidInput, match="where the database is"):
        await remote.import_archive(tmp_path / "a")
    for body in ({"vectors": "yes"}, {"everything": True}, {"passphrase": ""}, {"user_id": 7}, ["a"]):
        assert (await http.post("/v1/export", json=body)).status_code == 422
    await remote.close()


def test_the_blocking_face_goes_through_it_piece_by_piece(filled: Path, tmp_path: Path) -> None:
    with HindsightMemory(filled, user_id="alice") as memory:
        pieces = memory.export()
        (tmp_path / "a").write_bytes(b"".join(pieces))
        with pytest.raises(NotFound):
            memory.export(user_id="nobody")
    with HindsightMemory(tmp_path / "other.db", user_id="alice") as other:
        moved = other.import_archive(tmp_path / "a")
        assert [(bank.user_id, bank.outcome) for bank in moved.banks] == [("alice", "moved")]
        assert len(other.list().memories) == 1
