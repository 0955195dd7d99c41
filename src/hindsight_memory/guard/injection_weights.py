"""What each sign and word adds to a suspicion: fitted elsewhere, read from a file."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hindsight_memory.guard.injection_signals import NAMES

OWN: Final = "own"
"""How the words of the user and of the agent are judged: what they ask of the assistant is what memory is for."""
STRICT: Final = "strict"
"""How all else is judged: a document or a tool has nothing to ask."""
_STEPS: Final = 127
"""A weight is kept as one of so many steps, up and down, of the largest of its kind."""

Numbers = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Weights:
    """What each sign, pair of letters, word and pair of neighbours adds to a stretch's suspicion, and what all have.

    Pairs and words count the less the longer the stretch is; a sign counts once.
    """

    bias: float
    signs: Numbers
    pairs: Numbers
    words: Numbers
    grams: Numbers


@cache
def shipped() -> Mapping[str, Weights]:
    """The weights that come with the program, by how strictly they judge."""
    return parse((files("hindsight_memory.guard") / "weights" / "injection.json").read_text(encoding="utf-8"))


def parse(text: str) -> Mapping[str, Weights]:
    """Weights from the JSON that ``written`` makes."""
    return {name: _weights(held) for name, held in json.loads(text).items()}


def written(heads: Mapping[str, Weights]) -> str:
    """Weights as JSON, the signs to be read by people."""
    return json.dumps({name: _held(weights) for name, weights in heads.items()}, indent=1) + "\n"


def _weights(held: Mapping[str, Any]) -> Weights:
    return Weights(
        bias=held["bias"],
        signs=np.array([held["signs"].get(name, 0.0) for name in NAMES], dtype=np.float32),
        pairs=_unpacked(held["pairs"]),
        words=_unpacked(held["words"]),
        grams=_unpacked(held["grams"]),
    )


def _held(weights: Weights) -> dict[str, Any]:
    signs = {name: round(float(value), 3) for name, value in zip(NAMES, weights.signs, strict=True)}
    packed = {name: _packed(getattr(weights, name)) for name in ("pairs", "words", "grams")}
    return {"bias": round(weights.bias, 4), "signs": signs, **packed}


def _packed(values: Numbers) -> dict[str, Any]:
    step = float(np.abs(values).max()) / _STEPS or 1.0
    steps = np.rint(values / step).astype(np.int8)
    return {"step": step, "values": base64.b64encode(zlib.compress(steps.tobytes(), 9)).decode()}


def _unpacked(held: Mapping[str, Any]) -> Numbers:
    steps = np.frombuffer(zlib.decompress(base64.b64decode(held["values"])), dtype=np.int8)
    values: Numbers = steps.astype(np.float32) * np.float32(held["step"])
    return values
