"""What is in ``deploy`` is well formed, names nothing that does not exist, and has no password of its own."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from hindsight_memory.build import settings_from
from hindsight_memory.variables import VARIABLES

DEPLOY = Path(__file__).parents[2] / "deploy"
BIN = Path(sys.executable).parent
FILES = sorted(path for path in DEPLOY.iterdir() if path.is_file())


def checked(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def compose() -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    return read


@pytest.mark.slow
def test_the_dockerfile_is_clean() -> None:
    checked(str(BIN / "hadolint"), str(DEPLOY / "Dockerfile"))


@pytest.mark.slow
def test_the_compose_file_is_one() -> None:
    checked(str(BIN / "check-jsonschema"), "--builtin-schema", "vendor.compose-spec", str(DEPLOY / "compose.yaml"))


@pytest.mark.slow
def test_the_manifests_are_what_kubernetes_takes() -> None:
    checked(str(BIN / "kubernetes-validate"), "--strict", "-k", "1.31", str(DEPLOY / "kubernetes.yaml"))


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
def test_systemd_reads_the_unit(tmp_path: Path) -> None:
    program = tmp_path / "hindsight-memory"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    text = (DEPLOY / "hindsight-memory.service").read_text()
    unit = tmp_path / "hindsight-memory.service"
    unit.write_text(re.sub(r"/opt\S*/bin/hindsight-memory", str(program), text))
    checked("systemd-analyze", "verify", str(unit))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_variable_is_one_of_ours(path: Path) -> None:
    known = {f"HINDSIGHT_MEMORY_{variable.name}" for variable in VARIABLES}
    assert set(re.findall(r"HINDSIGHT_MEMORY_[A-Z_]+", path.read_text())) <= known


def test_a_stack_without_a_password_does_not_begin() -> None:
    text = (DEPLOY / "compose.yaml").read_text()
    secrets = re.findall(r"^\s*\S*(?:PASSWORD|API_KEY): (.*)$", text, re.MULTILINE)
    assert len(secrets) == 3
    assert all(re.fullmatch(r"\$\{[A-Z_]+:\?.+\}", value) for value in secrets)


def test_whatever_needs_the_database_waits_until_it_answers() -> None:
    services = compose()["services"]
    for name in ("server", "worker"):
        assert services[name]["depends_on"] == {"database": {"condition": "service_healthy"}}
    assert "pg_isready" in services["database"]["healthcheck"]["test"]


@pytest.mark.parametrize("name", ["server", "worker"])
def test_the_program_takes_what_it_is_given(name: str) -> None:
    given = compose()["services"][name]["environment"]
    settings = settings_from({key: str(value) for key, value in given.items()})
    assert settings.database == "postgresql://memory@database/memory"
    assert settings.write.work is (name == "worker")
