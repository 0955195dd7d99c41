"""How much a text looks like an attempt to steer the assistant, or to claim an authority it has not."""

from __future__ import annotations

from dataclasses import dataclass

from hindsight_memory.domain import Finding


@dataclass(frozen=True, slots=True)
class Suspicion:
    """A score from 0 to 1, and the signals that made it, with their spans."""

    score: float = 0.0
    signals: tuple[Finding, ...] = ()
