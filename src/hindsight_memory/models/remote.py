"""Models behind an OpenAI-compatible address: OpenAI itself, Ollama, vLLM, TEI, llama.cpp."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final

import httpx
import numpy as np
from numpy.typing import NDArray

from hindsight_memory.models.base import ModelFailed, vetted
from hindsight_memory.settings import EmbedSettings

_FIRST_ANSWER_S: Final = 5.0
"""How long opening a memory waits for an endpoint it does not know yet."""
_UNKNOWN_BACKGROUND: Final = {"mean": 0.0, "deviation": 0.0}


class OpenAIEmbedder:
    """Embeddings from ``POST {base_url}/embeddings``.

    Args:
        model: The model's name there.
        settings: Address, key and time limit.
        dimension: How long its vectors are; ``connect`` asks.
        transport: For tests: what carries the requests instead of the network.
    """

    def __init__(
        self,
        model: str,
        settings: EmbedSettings,
        dimension: int,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self.spec = f"openai:{model}"
        self.template = "said"
        self.dimension = dimension
        self.calibration: Mapping[str, float] = _UNKNOWN_BACKGROUND
        self._model = model
        headers = {"Authorization": f"Bearer {settings.api_key}"} if settings.api_key else {}
        self._client = httpx.AsyncClient(
            base_url=settings.base_url.rstrip("/"), headers=headers, timeout=settings.timeout_s, transport=transport
        )

    @property
    def space(self) -> str:
        """See ``Embedder``; a model that is served at another dimension makes another space."""
        return f"{self.spec}/{self.template}/{self.dimension}"

    @classmethod
    async def connect(
        cls, model: str, settings: EmbedSettings, transport: httpx.AsyncBaseTransport | None = None
    ) -> OpenAIEmbedder:
        """Ask the endpoint for one vector, to learn how long its vectors are.

        Raises ``ModelFailed`` when it does not answer.
        """
        embedder = cls(model, settings, 0, transport)
        try:
            async with asyncio.timeout(_FIRST_ANSWER_S):
                first = await embedder._ask(["hello"])
            embedder.dimension = len(first[0]) if first else 0
            vetted(first, 1, embedder.dimension, embedder.spec)
        except TimeoutError as error:
            await embedder.close()
            raise ModelFailed(f"The embedder {embedder.spec} did not answer in {_FIRST_ANSWER_S:.0f} s.") from error
        except BaseException:
            await embedder.close()
            raise
        return embedder

    async def queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See ``Embedder.queries``."""
        return vetted(await self._ask(texts), len(texts), self.dimension, self.spec)

    async def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See ``Embedder.passages``."""
        return vetted(await self._ask(texts), len(texts), self.dimension, self.spec)

    async def close(self) -> None:
        """See ``Embedder.close``."""
        await self._client.aclose()

    async def _ask(self, texts: Sequence[str]) -> list[list[float]]:
        body = {"model": self._model, "input": list(texts), "encoding_format": "float"}
        hint = "Check the embedding address and key. Words are searched meanwhile."
        try:
            reply = await self._client.post("/embeddings", json=body)
            reply.raise_for_status()
            return _in_order(reply.json())
        except httpx.HTTPError as error:
            raise ModelFailed(f"The embedder {self.spec} did not answer: {error!r}", hint=hint) from error
        except (KeyError, TypeError, ValueError) as error:
            raise ModelFailed(f"The embedder {self.spec} answered in a form that is not known.", hint=hint) from error


def _in_order(reply: Any) -> list[list[float]]:
    # The reply may come in any order; each vector says which text it belongs to.
    return [each["embedding"] for each in sorted(reply["data"], key=lambda each: int(each["index"]))]
