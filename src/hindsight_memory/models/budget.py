"""How many tokens language models may take in a day: counted in this process, and anew each day of UTC.

What other processes took of the same day is told from outside: see ``Budget.elsewhere``.
"""

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
        self._elsewhere = 0
        self._refused = False

    @property
    def spent(self) -> int:
        """Tokens taken here today, those of requests under way included."""
        self._turn()
        return self._spent

    @property
    def elsewhere(self) -> int:
        """Tokens that other processes took today, as far as this one was told; they count too."""
        self._turn()
        return self._elsewhere

    @elsewhere.setter
    def elsewhere(self, tokens: int) -> None:
        self._turn()
        self._elsewhere = tokens

    @property
    def refused(self) -> bool:
        """Whether a request was refused today because the rest did not pay for it."""
        self._turn()
        return self._refused

    @contextmanager
    def billed(self, most: int) -> Iterator[Bill]:
        """Hold back what a request may take at most, and take what its bill says in the end.

        So many requests at once cannot spend what is there for one. Raises ``BudgetSpent`` when it is not there.
        """
        if self.daily and self.spent + self.elsewhere + most > self.daily:
            self._refused = True
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
            self._day, self._spent, self._elsewhere, self._refused = today, 0, 0, False
