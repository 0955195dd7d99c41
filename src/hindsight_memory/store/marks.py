"""What a memory is found by."""

from __future__ import annotations

from dataclasses import dataclass

from hindsight_memory.domain import Window


@dataclass(frozen=True, slots=True)
class Marks:
    """What a memory is found by: its words, in order and with repeats, the names and the spans of time it mentions.

    They are read off a text together and stored together, so that none can be forgotten. Spans longer than 366 days
    are not kept: they tell no memory from another.
    """

    words: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    times: tuple[Window, ...] = ()
