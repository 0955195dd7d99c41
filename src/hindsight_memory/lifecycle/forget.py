"""What is to be forgotten, put away or purged: plans that say what should happen to which memory, and do nothing."""

from __future__ import annotations

import heapq
from collections.abc import AsyncIterator
from datetime import timedelta

from hindsight_memory.domain import Kind, Memory, Tier
from hindsight_memory.lifecycle.bench import Bench, Planned, aged, planned, swept
from hindsight_memory.store.base import Aged
from hindsight_memory.strength import idle_days, retention, tier_of, worth


async def promote(bench: Bench) -> AsyncIterator[Planned]:
    """Keep what was said in sessions that nobody ended: it becomes episodic memory."""
    for session_id in await bench.reader.expired_sessions(bench.now, bench.settings.lifecycle.page):
        for memory in await bench.reader.working(session_id, bench.settings.lifecycle.page):
            yield planned(memory, "promote", f"session {session_id} was not ended")


async def expire(bench: Bench) -> AsyncIterator[Planned]:
    """Forget what has reached the end that its writer or its kind set, but for messages, which their session keeps."""
    async for memory in aged(bench, Aged(by="expires", until=bench.now)):
        if memory.kind is Kind.WORKING and memory.turn is not None:
            continue
        yield planned(memory, "expire", f"its end was {memory.expires_at:%Y-%m-%d %H:%M}Z")


async def tier(bench: Bench) -> AsyncIterator[Planned]:
    """Put away what nobody used for long, and bring back close what was used again."""
    limits, now = bench.settings.lifecycle, bench.now
    hot, cold = limits.hot_days, min(limits.cold_days.values())
    fresh = now - timedelta(days=hot)
    idle = Aged(by="used", until=fresh, tier=Tier.HOT)
    colder = Aged(by="used", until=now - timedelta(days=max(cold, hot)), tier=Tier.WARM)
    used = [Aged(by="used", since=fresh, tier=each) for each in (Tier.WARM, Tier.COLD)]
    for asked in (idle, colder, *used):
        async for memory in aged(bench, asked):
            wanted = tier_of(memory, now, limits)
            if wanted is not memory.tier:
                days = idle_days(memory, now)
                numbers = {"idle_days": round(days, 2), "retention": _kept(memory, bench)}
                yield planned(memory, "tier", f"{memory.tier} to {wanted}", numbers, tier=wanted)


async def evict(bench: Bench) -> AsyncIterator[Planned]:
    """Forget what is worth least where a bank holds more than it may."""
    count = await bench.reader.active() - len(bench.gone)
    excess = count - bench.settings.lifecycle.most_memories
    if excess <= 0:
        return
    # The least of all by a heap of the greatest among them: no more is held than goes.
    least: list[tuple[float, str, Planned]] = []
    async for memory in swept(bench):
        if memory.pinned or memory.id in bench.gone:
            continue
        value = worth(memory, bench.now, bench.settings.retention)
        numbers = {"worth": round(value, 6), "importance": memory.importance, "trust": memory.trust}
        numbers |= {"retention": _kept(memory, bench), "found": memory.access_count}
        why = f"{count} memories, {excess} more than this bank may hold"
        entry = (-value, memory.id, planned(memory, "evict", why, numbers))
        if len(least) < excess:
            heapq.heappush(least, entry)
        else:
            heapq.heappushpop(least, entry)
    for _, _, each in sorted(least, key=lambda entry: (-entry[0], entry[1])):
        yield each


async def purge(bench: Bench) -> AsyncIterator[Planned]:
    """Remove for good what was forgotten long enough ago."""
    days = bench.settings.lifecycle.keep_deleted_days
    async for memory in aged(bench, Aged(by="deleted", until=bench.now - timedelta(days=days))):
        yield planned(memory, "purge", f"forgotten on {memory.deleted_at:%Y-%m-%d}, more than {days:g} days ago")


def _kept(memory: Memory, bench: Bench) -> float:
    return round(retention(memory, bench.now, bench.settings.retention), 4)
