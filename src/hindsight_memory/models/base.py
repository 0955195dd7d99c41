"""What the rest of the system may ask of a model."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hindsight_memory.domain import Memory
from hindsight_memory.errors import Unavailable

_BEFORE: Final = 200
"""Characters of the turn before: enough to say what the turn answers, too few to drown it."""


class ModelFailed(Unavailable):
    """A model did not answer, or answered what cannot be used. ``passing`` is whether asking later may help."""

    code = "model_failed"
    passing = True


class Embedder(Protocol):
    """Turns texts into vectors of one space.

    ``space`` names the space: model, and the template its passages are written in. ``spec`` is what the settings
    call it. ``calibration`` holds ``mean`` and ``deviation`` of the cosine of unrelated texts in this space.
    """

    spec: str
    dimension: int
    template: str
    calibration: Mapping[str, float]

    @property
    def space(self) -> str:
        """The name of its space."""

    async def queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One vector of length 1 for each query."""

    async def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One vector of length 1 for each passage."""

    async def close(self) -> None:
        """Let go of what the model holds."""


class Reranker(Protocol):
    """Reads a query and its passages together. ``name`` is what the settings call it."""

    name: str

    async def scores(self, query: str, passages: Sequence[str]) -> list[float]:
        """One number for each passage, in their order; more is better, and only their order means something."""

    async def close(self) -> None:
        """Let go of what the model holds."""


class LLM(Protocol):
    """A language model that answers one prompt. ``name`` is what the settings call it."""

    name: str

    async def chat(self, system: str, prompt: str, *, max_tokens: int, schema: Mapping[str, Any] | None = None) -> str:
        """The answer, without what the model thought aloud before it; never empty.

        A JSON ``schema`` asks for an answer of that form. Where an endpoint takes none it is left out, so what comes
        must be read as any other text.
        """

    async def close(self) -> None:
        """Let go of what the model holds."""


def vetted_scores(scores: Sequence[object], count: int, model: str) -> list[float]:
    """Scores as they may enter the system: as many as passages, each a finite number. Raises ``ModelFailed``."""
    if len(scores) != count:
        raise ModelFailed(f"{model} gave {len(scores)} scores for {count} passages.")
    numbers = [float(each) for each in scores if isinstance(each, int | float) and not isinstance(each, bool)]
    if len(numbers) != count or not all(map(math.isfinite, numbers)):
        raise ModelFailed(f"{model} gave a score that is not a number.")
    return numbers


def vetted(vectors: ArrayLike, count: int, dimension: int, model: str) -> NDArray[np.float32]:
    """Vectors as they may enter the system: as many as asked for, of the right size, finite, scaled to length 1.

    Raises ``ModelFailed`` otherwise: a wrong vector would be found, or not found, for ever after.
    """
    try:
        array = np.asarray(vectors, np.float32)
    except (TypeError, ValueError) as error:
        raise ModelFailed(f"{model} gave something other than {count} vectors of one size.") from error
    if array.shape != (count, dimension):
        shape = "×".join(map(str, array.shape))
        raise ModelFailed(f"{model} gave {shape} numbers for {count} texts; {count}×{dimension} were expected.")
    lengths = np.linalg.norm(array, axis=1, keepdims=True)
    if not np.isfinite(lengths).all() or not (lengths > 1e-6).all():
        raise ModelFailed(f"{model} gave a vector that is zero or not a number.")
    scaled: NDArray[np.float32] = array / lengths
    return scaled


def passage(memory: Memory, before: Memory | None, template: str) -> str:
    """What is handed to the embedder for a memory; ``before`` is the turn right before it, if there is one.

    ``said`` puts date, speaker and the turn before around a turn of a conversation. Measured on four LoCoMo
    conversations, vectors alone, recall@5/10/20: the bare line 42/51/61, with date and speaker 55/65/73, with the
    turn before as well 63/74/81. ``plain`` gives every text as it is.
    """
    if template == "plain" or memory.turn is None:
        return memory.content
    day = f"{memory.occurred_at.day} {memory.occurred_at:%B, %Y}"
    said = f'On {day}, {_speaker(memory)} said: "{memory.content}"'
    if before is None:
        return said
    return f'{said} (after {_speaker(before)}: "{before.content[:_BEFORE]}")'


def _speaker(memory: Memory) -> str:
    return memory.speaker or memory.source.value


def windows(text: str, size: int, most: int) -> list[str]:
    """A long text in at most ``most`` pieces of at most ``size`` characters, cut between words where it can be."""
    pieces: list[str] = []
    start = 0
    while start < len(text) and len(pieces) < most:
        end = min(start + size, len(text))
        if end < len(text):
            space = max(text.rfind(mark, start + size // 2, end) for mark in (" ", "\n", "。", "，"))
            end = space + 1 if space > 0 else end
        pieces.append(text[start:end])
        start = end
    return pieces
