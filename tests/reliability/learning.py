"""Episodes and conclusions of ten thousand turns, measured: ``python learning.py DATABASE KIND`` prints JSON."""

# ruff: noqa: T201

from __future__ import annotations

import asyncio
import json
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from many import peak_mb

from hindsight_memory.domain import Maintenance, Message, Role, Scope
from hindsight_memory.testing import StoppedClock, open_service

SCOPE = Scope(user_id="alice")
SESSIONS, TURNS = 500, 20
_DEEDS = ["keep", "collect", "paint", "repair", "sell", "photograph", "draw", "restore", "polish", "weigh"]
_THINGS = [f"{a}{b}{c}" for a in "bdfgklmnprst" for b in "aeiou" for c in ("lars", "mins", "toks", "vents", "ruds")]


def same(number: int) -> str:
    """A text that all others repeat, more or less."""
    return f"I keep bees behind the old mill{('', ' as ever', ' these days', ' with my brother')[number % 4]}."


def distinct(number: int) -> str:
    """A text of its own."""
    chosen = np.random.default_rng(number).integers(0, len(_THINGS), 6)
    deed, things = _DEEDS[number % len(_DEEDS)], [_THINGS[each] for each in chosen]
    return f"I {deed} {things[0]} and {things[1]} behind the {things[2]} of {' '.join(things[3:])}."


async def main(database: Path, kind: str) -> None:
    """Let as many sessions be held in as many days, then the first maintenance, another day, and one more."""
    clock, text = StoppedClock(), {"same": same, "distinct": distinct}[kind]
    service = await open_service(database, clock=clock, embedder=[], start=False)
    for session in range(SESSIONS):
        messages = [
            Message(content=text(session * TURNS + turn), role=(Role.USER, Role.ASSISTANT)[turn % 2])
            for turn in range(TURNS)
        ]
        await service.write_conversation(messages, replace(SCOPE, session_id=f"s{session}"))
        clock.advance(days=1 / 8)
    filled = peak_mb()
    runs = []
    for _ in range(2):
        clock.advance(days=1)
        for routine in ("episodes", "consolidate"):
            began, busy = time.perf_counter(), time.process_time()
            report = await service.maintain(Maintenance(routines=(routine,)))
            seconds, cpu = time.perf_counter() - began, time.process_time() - busy
            runs.append({"routine": routine, "seconds": round(seconds, 1), "cpu_s": round(cpu, 1)} | report.totals)
    peak = peak_mb()
    print(json.dumps({"runs": runs, "filled_mb": filled, "peak_mb": peak}))
    await service.close()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
