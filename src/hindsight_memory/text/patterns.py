"""Regular expressions that are compiled when they are first used: together they would slow every start."""

from __future__ import annotations

import re
from functools import cached_property


class Lazy:
    """A regular expression that has not been needed yet."""

    def __init__(self, source: str) -> None:
        self.source = source

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The compiled expression."""
        return re.compile(self.source)
