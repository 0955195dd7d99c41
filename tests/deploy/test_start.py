"""The stack as Compose would start it, with the same commands, over a real database."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from postgres import Server, running
from reliability.storm import free_port

DEPLOY = Path(__file__).parents[2] / "deploy"
KEY = "0123456789abcdef0123456789abcdef"
pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]


@pytest.fixture
def database() -> Iterator[Server]:
    with running() as server:
        yield server


def environment(service: dict[str, Any], url: str, port: int) -> dict[str, str]:
    """What Compose would give the service, with this test's database, key and port."""
    given = {name: str(value) for name, value in service["environment"].items()}
    given = {name: KEY if value.startswith("${HINDSIGHT_MEMORY_API_KEY") else value for name, value in given.items()}
    return os.environ | given | {"HINDSIGHT_MEMORY_DATABASE_URL": url, "HINDSIGHT_MEMORY_PORT": str(port)}


def healthy(port: int) -> bool:
    """Whether the container's own check finds it so."""
    check = re.search(r"HEALTHCHECK .*?CMD \\\n\s*(\[.*\])", (DEPLOY / "Dockerfile").read_text())
    assert check is not None
    command = [part.replace("8765", str(port)) for part in yaml.safe_load(check[1])]
    return subprocess.run([sys.executable, *command[1:]], capture_output=True, check=False).returncode == 0


def test_the_server_and_the_worker_of_the_stack_work_together(database: Server, tmp_path: Path) -> None:
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    port = free_port()
    programs = []
    for name in ("worker", "server"):
        given = environment(services[name], database.url, port)
        with (tmp_path / f"{name}.log").open("wb") as log:
            command = [sys.executable, "-m", "hindsight_memory.cli", *services[name]["command"]]
            programs.append(subprocess.Popen(command, env=given, stdout=log, stderr=log))
    try:
        while not healthy(port):
            ended = [shlex.join(program.args) for program in programs if program.poll() is not None]
            assert not ended, "".join(path.read_text() for path in tmp_path.glob("*.log"))
            time.sleep(0.2)
        with httpx.Client(
            base_url=f"http://127.0.0.1:{port}", timeout=60, headers={"Authorization": f"Bearer {KEY}"}
        ) as http:
            body = {"content": "I take oat milk in my coffee.", "user_id": "alice"}
            assert http.post("/v1/write", json=body).status_code == 201
            while "0 memories wait" not in http.get("/health/ready").text:  # the worker's to do
                time.sleep(0.2)
            found = http.post("/v1/search", json={"text": "what does she drink", "user_id": "alice"}).json()["hits"]
            assert found[0]["memory"]["content"] == body["content"]
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/list", data=b"{}")
    finally:
        for program in programs:
            program.terminate()
        codes = [program.wait(timeout=60) for program in programs]
    assert codes == [0, 0]
