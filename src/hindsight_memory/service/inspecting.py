"""A look through every bank: whether its log is whole, and what is kept twice agrees, for as long as there is time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from hindsight_memory.domain import Check, Scope
from hindsight_memory.lifecycle.mirror import all_banks
from hindsight_memory.service.auditing import audited
from hindsight_memory.store.base import Store

WITHIN_S: Final = 60.0
"""How long a look may take before no further bank is begun."""
_MOST: Final = 5
"""Faults that are told of, of one kind."""


@dataclass(slots=True)
class _Found:
    """What is wrong, of one kind."""

    name: str
    count: int = 0
    faults: list[str] = field(default_factory=list)

    def add(self, scope: Scope, faults: list[str]) -> None:
        """Take down what is wrong in a bank."""
        whose = "the shared bank" if scope.user_id is None else scope.user_id
        self.count += len(faults)
        self.faults += [f"{whose}: {fault}" for fault in faults[: _MOST - len(self.faults)]]

    def check(self, looked: str, hint: str) -> Check:
        """The line of the report."""
        if not self.count:
            return Check(self.name, True, looked)
        return Check(self.name, False, f"{self.count} faults in {looked}. {'; '.join(self.faults)}", hint)


async def inspected(store: Store, within_s: float, progress: Callable[[int], None]) -> list[Check]:
    """What is wrong in any bank, as two lines of a report; after ``within_s`` no further bank is begun."""
    loop = asyncio.get_running_loop()
    end = loop.time() + within_s
    index, log = _Found("index"), _Found("log")
    looked, all_of_them = 0, True
    async for scope in all_banks(store):
        if loop.time() > end:
            all_of_them = False
            break
        async with store.snapshot(scope.bank) as reader:
            index.add(scope, await reader.faults(_MOST))
            found = await audited(reader)
            log.add(scope, [] if found.whole else [f"line {found.bad}: {found.fault}"])
        looked += 1
        progress(looked)
    said = f"{looked} banks" + ("" if all_of_them else f", as many as {within_s:g} s were enough for")
    return [
        index.check(said, "Export it and import it into another database: words and vectors are made anew."),
        log.check(said, "Somebody or something wrote past the program: see docs/audit.md."),
    ]
