"""Stand-ins for tests: a clock that stands still, an embedder that needs no model, a service over both."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from hindsight_memory.build import build
from hindsight_memory.domain import utc_now
from hindsight_memory.models.base import LLM, Embedder, ModelFailed, Reranker, vetted, vetted_scores
from hindsight_memory.service import Service
from hindsight_memory.settings import Settings
from hindsight_memory.text.tokens import index_words

Fault: TypeAlias = Literal["failed", "count", "nan", "zero", "hang", "bug"]
"""How a model can fail: it says so, gives too few vectors, none of use, nothing at all, or an error of its own."""

_START: Final = datetime(2026, 5, 4, 9, tzinfo=UTC)
_DIMENSION: Final = 64


class StoppedClock:
    """A clock that stands still until it is moved: pass it wherever a ``clock`` is asked for."""

    def __init__(self, now: datetime = _START) -> None:
        self.now = now

    def __call__(self) -> datetime:
        """The time it shows."""
        return self.now

    def advance(self, **span: float) -> datetime:
        """Move it by a ``timedelta``'s arguments, such as ``days=1``; returns the time it then shows."""
        self.now += timedelta(**span)
        return self.now


class HashEmbedder:
    """An embedder whose vectors are hashed words: the same everywhere, and near where texts share words.

    Set ``broken`` to make it fail the way real models do, ``refuses`` to make it fail on texts that hold that one.
    ``asked`` keeps every text it was given.
    """

    def __init__(self, spec: str = "testing", *, dimension: int = _DIMENSION, template: str = "plain") -> None:
        self.spec = spec
        self.template = template
        self.space = f"{spec}/{template}"
        self.dimension = dimension
        self.calibration: Mapping[str, float] = {"mean": 0.0, "deviation": dimension**-0.5}
        self.broken: Fault | None = None
        self.refuses: str | None = None
        self.asked: list[str] = []
        self.closed = False

    async def queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See ``Embedder.queries``."""
        return await self._embed(texts)

    async def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See ``Embedder.passages``."""
        return await self._embed(texts)

    async def close(self) -> None:
        """See ``Embedder.close``."""
        self.closed = True

    async def _embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked += texts
        if self.refuses is not None and any(self.refuses in text for text in texts):
            raise ModelFailed(f"The embedder {self.spec} refuses a text.")
        vectors = np.array([self._vector(text) for text in texts])
        match self.broken:
            case "failed":
                raise ModelFailed(f"The embedder {self.spec} is out of order.")
            case "bug":
                raise TypeError("the model has a fault of its own")
            case "hang":
                await asyncio.Event().wait()
            case "count":
                vectors = vectors[1:]
            case "nan":
                vectors[-1, 0] = np.nan
            case "zero":
                vectors[-1] = 0
            case None:
                pass
        return vetted(vectors, len(texts), self.dimension, self.spec)

    def _vector(self, text: str) -> NDArray[np.float32]:
        vector = np.zeros(self.dimension, np.float32)
        for word in index_words(text) or [text]:
            number = int.from_bytes(blake2b(word.encode(), digest_size=8).digest())
            vector[(number >> 1) % self.dimension] += 1 if number & 1 else -1
        if not vector.any():  # two words of opposite sign in one place
            vector[0] = 1
        return vector


class ScriptedLLM:
    """A language model that gives the answers it was given, in their order, and the last one ever after.

    Set ``broken`` to make it fail the way real models do; ``asked`` keeps every system text and prompt, ``schemas``
    what form of answer was asked for.
    """

    def __init__(self, *answers: str, name: str = "testing") -> None:
        self.name = name
        self.answers = list(answers)
        self.broken: Fault | None = None
        self.asked: list[tuple[str, str]] = []
        self.schemas: list[Mapping[str, Any] | None] = []
        self.closed = False

    async def chat(self, system: str, prompt: str, *, max_tokens: int, schema: Mapping[str, Any] | None = None) -> str:
        """See ``LLM.chat``; a token is taken for four characters."""
        self.asked.append((system, prompt))
        self.schemas.append(schema)
        if self.broken == "hang":
            await asyncio.Event().wait()
        if self.broken == "bug":
            raise TypeError("the model has a fault of its own")
        answer = self.answers.pop(0) if len(self.answers) > 1 else "".join(self.answers)
        if self.broken is not None or not answer.strip():
            raise ModelFailed(f"{self.name} is out of order.")
        return answer[: 4 * max_tokens]

    async def close(self) -> None:
        """See ``LLM.close``."""
        self.closed = True


class ScriptedReranker:
    """A reranker by a function of query and passage; by default how many of the query's words a passage has.

    Set ``broken`` to make it fail the way real ones do; ``asked`` keeps every query with its passages.
    """

    def __init__(self, score: Callable[[str, str], float] | None = None, name: str = "testing") -> None:
        self.name = name
        self.score = score or _shared_words
        self.broken: Fault | None = None
        self.asked: list[tuple[str, tuple[str, ...]]] = []
        self.closed = False

    async def scores(self, query: str, passages: Sequence[str]) -> list[float]:
        """See ``Reranker.scores``."""
        self.asked.append((query, tuple(passages)))
        scores = [self.score(query, passage) for passage in passages]
        match self.broken:
            case "failed":
                raise ModelFailed(f"The reranker {self.name} is out of order.")
            case "bug":
                raise TypeError("the model has a fault of its own")
            case "hang":
                await asyncio.Event().wait()
            case "count":
                scores = scores[1:]
            case "nan":
                scores = [np.nan for _ in scores]
            case "zero":  # one that is of no use: every passage is as good as any other
                scores = [0.0 for _ in scores]
            case None:
                pass
        return vetted_scores(scores, len(passages), self.name)

    async def close(self) -> None:
        """See ``Reranker.close``."""
        self.closed = True


def _shared_words(query: str, passage: str) -> float:
    return float(len({*index_words(query)} & {*index_words(passage)}))


class Helpers(TypedDict, total=False):
    """Models that a service may do without."""

    llm: LLM | None
    reranker: Reranker | None


async def open_service(
    path: Path,
    *,
    clock: Callable[[], datetime] = utc_now,
    embedder: Embedder | Sequence[Embedder] | None = None,
    settings: Settings | None = None,
    start: bool = True,
    **helpers: Unpack[Helpers],
) -> Service:
    """A service over the file, wired as in earnest but for its models: ``[]`` for words only, else a stand-in.

    ``start=False`` leaves the worker out, so that vectors are made only by a write that waits for them.
    """
    if embedder is None:
        embedder = HashEmbedder()
    chosen = list(embedder) if isinstance(embedder, Sequence) else [embedder]
    given = settings or Settings(database=str(path))
    service = await build(replace(given, database=str(path)), clock, chosen, **helpers)
    if start:
        await service.start()
    return service
