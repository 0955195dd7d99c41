"""How much a memory still counts: arithmetic on one memory, no I/O."""

from __future__ import annotations

import math
from datetime import datetime

from hindsight_memory.domain import Memory
from hindsight_memory.settings import RetentionSettings


def retention(memory: Memory, now: datetime, settings: RetentionSettings) -> float:
    """What is left of a memory, 0 to 1: ``exp(-λ · days since it was last used)``; a pinned one never fades.

    The form is Ebbinghaus's forgetting curve; λ depends on the kind.
    """
    if memory.pinned:
        return 1.0
    return math.exp(-settings.decay_per_day[memory.kind] * idle_days(memory, now))


def idle_days(memory: Memory, now: datetime) -> float:
    """Days since a memory was last found, or since it was learnt."""
    used = memory.last_accessed_at or memory.created_at
    return max((now - used).total_seconds(), 0.0) / 86_400
