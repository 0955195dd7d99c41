"""The tests' own guards: no test can reach the network, or a database that is not its own."""

from __future__ import annotations

import os
import socket
import sqlite3
from pathlib import Path

import pytest

from hindsight_memory import HindsightMemory


@pytest.mark.parametrize("address", [("192.0.2.1", 80), ("example.com", 443)])
def test_the_network_is_out_of_reach(address: tuple[str, int]) -> None:
    with socket.socket() as one, pytest.raises(RuntimeError, match="network"):
        one.connect(address)
    with socket.socket() as two, pytest.raises(RuntimeError, match="network"):
        two.connect_ex(address)


@pytest.mark.parametrize("path", ["/tmp/real.db", "~/real.db", "real.db"])
def test_a_database_elsewhere_is_out_of_reach(path: str) -> None:
    with pytest.raises(RuntimeError, match="outside"):
        sqlite3.connect(Path(path).expanduser())
    with pytest.raises(RuntimeError, match="outside"):
        HindsightMemory(f"sqlite:///{Path(path).expanduser()}")


def test_the_users_own_database_is_not_the_default_here(tmp_path: Path) -> None:
    assert not [name for name in os.environ if name.startswith("HINDSIGHT_MEMORY_")]
    with HindsightMemory(user_id="alice") as memory:
        memory.write("not in the user's file")
    assert list((tmp_path / "user data").rglob("memory.db"))
