"""How much a memory still counts: arithmetic on one memory, no I/O."""

from __future__ import annotations

import math
from datetime import datetime

from hindsight_memory.domain import Memory, Tier
from hindsight_memory.settings import LifecycleSettings, RetentionSettings


def retention(memory: Memory, now: datetime, settings: RetentionSettings) -> float:
    """What is left of a memory, 0 to 1: ``exp(-λ · days since it was last used)``; a pinned one never fades.

    The form is Ebbinghaus's forgetting curve; λ depends on the kind.
    """
    if memory.pinned:
        return 1.0
    return math.exp(-settings.decay_per_day[memory.kind] * idle_days(memory, now))


def worth(memory: Memory, now: datetime, settings: RetentionSettings) -> float:
    """How much there is to lose with a memory: what is left of it × importance × trust × how often it was found."""
    use = 1 + math.log1p(max(memory.access_count, 0))
    return retention(memory, now, settings) * memory.importance * memory.trust * use


def tier_of(memory: Memory, now: datetime, settings: LifecycleSettings) -> Tier:
    """Where a memory belongs by the days since it was last used; a pinned one is always close at hand."""
    idle = idle_days(memory, now)
    if memory.pinned or idle <= settings.hot_days:
        return Tier.HOT
    return Tier.WARM if idle <= settings.cold_days[memory.kind] else Tier.COLD


def expired(memory: Memory, now: datetime) -> bool:
    """Whether a memory has reached the end that was set for it: it is as good as gone, and can be restored."""
    return memory.expires_at is not None and memory.expires_at <= now


def idle_days(memory: Memory, now: datetime) -> float:
    """Days since a memory was last found, or since it was learnt."""
    used = memory.last_accessed_at or memory.created_at
    return max((now - used).total_seconds(), 0.0) / 86_400


def verdict(memory: Memory) -> float:
    """What feedback says of a memory, -1 to 1: each further verdict of a sort says less; doubt moves no pinned one."""
    doubted = 0 if memory.pinned else memory.doubted
    return (memory.helpful - doubted) / (memory.helpful + doubted + 1)


def verdict_said(memory: Memory) -> str:
    """The same in words."""
    counts = {"helpful": memory.helpful, "doubted": memory.doubted}
    said = [f"{name} {_times(count)}" for name, count in counts.items() if count]
    if memory.judged_at is None or not said:
        return "none"
    return f"{', '.join(said)}, last on {memory.judged_at:%Y-%m-%d}"


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def began(memory: Memory) -> datetime:
    """When what a memory says began to be so: as its writer said, or when it happened."""
    return memory.valid_from or memory.occurred_at
