"""Programs that tests run beside themselves: ``python programs.py NAME DATABASE …``."""

# ruff: noqa: T201

from __future__ import annotations

import asyncio
import ctypes
import json
import os
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from hindsight_memory import HindsightMemoryError
from hindsight_memory.domain import Draft, Maintenance, Message, Query, Scope, StatePatch
from hindsight_memory.settings import LifecycleSettings, LLMSettings, ReadSettings, Settings
from hindsight_memory.testing import HashEmbedder, StoppedClock, open_service

SCOPE = Scope(user_id="alice", session_id="s")


async def write_for_ever(database: Path, _: str) -> None:
    """Write one memory after the other and print the number of each that was acknowledged."""
    service = await open_service(database, embedder=HashEmbedder())
    number = 0
    while True:
        await service.write(Draft(content=f"acknowledged write number {number}"), SCOPE)
        os.write(1, f"{number}\n".encode())
        number += 1


async def write_and_hang(database: Path, _: str) -> None:
    """Write three memories and never finish their vectors."""
    embedder = HashEmbedder()
    embedder.broken = "hang"
    service = await open_service(database, embedder=embedder)
    for number in range(3):
        await service.write(Draft(content=f"acknowledged write number {number}"), SCOPE)
    while not embedder.asked:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    os.write(1, b"0\n")
    await asyncio.Event().wait()


async def purge_for_ever(database: Path, _: str) -> None:
    """Write a turn after the other and purge it, forget all in between; print the number of each that was purged."""
    service = await open_service(database, embedder=HashEmbedder())
    number = 0
    while True:
        texts = [f"canary {chr(0x7000 + number)}{number:05d}zq says the {part}" for part in ("first", "second")]
        receipts = await service.write_conversation([Message(content=text) for text in texts], SCOPE)
        await service.purge(receipts[0].id, SCOPE)
        if number % 4 == 3:
            await service.forget_all(SCOPE, "alice")
        os.write(1, f"{number}\n".encode())
        number += 1


async def write_many(database: Path, name: str) -> None:
    """Write 200 memories, half of them into a session that all processes share."""
    service = await open_service(database, embedder=[])
    for number in range(100):
        await service.write(Draft(content=f"process {name} writes {number}"), SCOPE)
        message = Message(content=f"process {name} says {number}", id=f"{name}-{number}")
        await service.write_conversation([message], SCOPE)
        if number % 20 == 0:
            print(await service.search(Query(text=f"process {name}"), SCOPE) != [])
    await service.close()


async def patch_many(database: Path, name: str) -> None:
    """Change the state of a session that all processes share, and say something in it, 40 times each."""
    service = await open_service(database, embedder=[])
    for number in range(40):
        await service.patch_session(StatePatch(confirmed_facts=[f"process {name} found {number}"]), SCOPE)
        await service.append_session([Message(content=f"We decided that {name} does {number}.")], SCOPE)
    await service.close()


async def end_for_ever(database: Path, _: str) -> None:
    """Fill sessions and end them one after the other; print the number of each that was acknowledged as ended."""
    service = await open_service(database, embedder=[])
    batches = replace(service._parts.sessions.settings, batch=7)
    service._parts.sessions = replace(service._parts.sessions, settings=batches)
    number = 0
    while True:
        scope = replace(SCOPE, session_id=f"s{number}")
        await service.append_session([Message(content=f"line {n} of {number}") for n in range(30)], scope)
        await service.end_session(scope)
        os.write(1, f"{number}\n".encode())
        number += 1


async def write_one(database: Path, text: str) -> None:
    """Write one memory and print what came of it."""
    try:
        service = await open_service(database, embedder=[])
        try:
            await service.write(Draft(content=text), SCOPE)
            print("stored")
        finally:
            await service.close()
    except HindsightMemoryError as error:
        print(type(error).__name__, error)


async def maintain(database: Path, later: str) -> None:
    """Do maintenance some hours from now, and print a line for each batch and the totals in the end."""
    clock = StoppedClock(StoppedClock().now + timedelta(hours=float(later)))
    settings = replace(Settings(database=str(database)), lifecycle=LifecycleSettings(batch=20))
    service = await open_service(database, clock=clock, embedder=[], settings=settings, start=False)
    keeper = service._parts.keeper
    plain = type(keeper)._apply

    async def apply(self: Any, *arguments: Any) -> Any:
        made = await plain(self, *arguments)
        os.write(1, b"0\n")
        return made

    type(keeper)._apply = apply  # type: ignore[method-assign]
    try:
        report = await service.maintain(Maintenance())
        print(json.dumps(dict(report.totals)))
    except HindsightMemoryError as error:
        print(type(error).__name__)
    await service.close()


def without_override() -> None:
    """Give up root's right to write what may not be written, so that permissions count."""
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    data = (ctypes.c_uint32 * 6)()
    if libc.capget(header, data) or os.geteuid():
        return
    for place in (0, 1):  # effective, permitted
        data[place] &= ~0b110  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
    libc.capset(header, data)


class Quoting:
    """A language model that takes the whole of a text for a fact, and prints a line each time; or hangs then."""

    name = "quoting"

    def __init__(self, *, hangs: bool) -> None:
        self.hangs = hangs

    async def chat(self, system: str, prompt: str, *, max_tokens: int, schema: Any = None) -> str:
        text = json.loads(prompt)["text"]
        os.write(1, f"{text}\n".encode())
        if self.hangs:
            await asyncio.Event().wait()
        await asyncio.sleep(0.01)
        return json.dumps({"facts": [{"content": text.removesuffix("."), "quote": text}]})

    async def close(self) -> None:
        """Nothing is held."""


def quoting() -> Settings:
    """For this task only, at once, and held for long."""
    llm = LLMSettings(**dict.fromkeys(("judge", "summarise", "reflect", "state"), "none"), timeout_s=3_000)
    return Settings("", llm=llm, read=ReadSettings(begin_s=0, lease_s=3_000))


async def read_and_hang(database: Path, _: str) -> None:
    """Say five things and have the model read them, which never ends."""
    service = await open_service(database, embedder=[], settings=quoting(), llm=Quoting(hangs=True))
    for number in range(5):
        message = Message(content=f"Boat number {number} is moored at the pier.")
        await service.write_conversation([message], SCOPE)
    await asyncio.Event().wait()


async def read_for_all(database: Path, _: str) -> None:
    """Have the model read what nobody has read, until nothing is left."""
    service = await open_service(database, embedder=[], settings=quoting(), llm=Quoting(hangs=False))
    while (jobs := await service.jobs(SCOPE)).queued + jobs.running:  # noqa: ASYNC110
        await asyncio.sleep(0.05)
    await service.close()


if __name__ == "__main__":
    if sys.argv[1] == "write_one":
        without_override()
    asyncio.run(globals()[sys.argv[1]](Path(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else ""))
