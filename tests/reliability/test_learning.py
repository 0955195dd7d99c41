"""Ten thousand turns become episodes and conclusions in bounded memory and time."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
PROGRAM = Path(__file__).with_name("learning.py")


@pytest.mark.parametrize(("kind", "told", "concluded"), [("same", 0, 1), ("distinct", 500, 0)])
async def test_ten_thousand_turns(database: Path, kind: str, told: int, concluded: int) -> None:
    """One sentence said ten thousand times is one conclusion, and no event; as many things are events to remember."""
    command = [sys.executable, str(PROGRAM), str(database), kind]
    process = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    figures = json.loads(out)
    first, concluding, *again = figures["runs"]
    assert told <= first["episodes"] <= 2 * told, figures
    assert concluding["consolidate"] == concluded, figures
    assert sum(run.get("episodes", 0) + run.get("consolidate", 0) for run in again) == 0, figures
    assert figures["peak_mb"] < 500, figures
    assert sum(run["cpu_s"] for run in (first, concluding)) < 60, figures
