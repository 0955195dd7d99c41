"""How many tokens language models may take in a day: counted in this process, and anew each day of UTC."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime

from hindsight_memory.models.base import ModelFailed


class BudgetSpent(ModelFailed):
    """The day's tokens do not pay for this request; nothing was sent."""


@dataclass(slots=True)
class Bill:
    """What one request takes; ``tokens`` is what it may take at most, until its answer says what it did."""

    tokens: int


class Budget:
    """Shared by every model of a service, and held to by their adapters.

    Args:
        daily: Tokens a day; 0 for no limit.
        clock: Says which day it is.
    """

    def __init__(self, daily: int, clock: Callable[[], datetime]) -> None:
        self.daily = daily
        self._clock = clock
        self._day: date | None = None
        self._spent = 0

    @property
    def spent(self) -> int:
        """Tokens taken today, those of requests under way included."""
        self._turn()
        return self._spent

    @contextmanager
    def billed(self, most: int) -> Iterator[Bill]:
        """Hold back what a request may take at most, and take what its bill says in the end.

        So many requests at once cannot spend what is there for one. Raises ``BudgetSpent`` when it is not there.
        """
        if self.daily and self.spent + most > self.daily:
            hint = "Rules answer until tomorrow (UTC). Raise HINDSIGHT_MEMORY_LLM_DAILY_TOKENS for more."
            raise BudgetSpent(f"The day's {self.daily:,} tokens for language models are spent.", hint=hint)
        self._turn()
        day, bill = self._day, Bill(most)
        self._spent += most
        try:
            yield bill
        finally:
            self._turn()
            if self._day == day:
                self._spent += bill.tokens - most

    def _turn(self) -> None:
        today = self._clock().date()
        if today != self._day:
            self._day, self._spent = today, 0
