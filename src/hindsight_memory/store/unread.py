"""In which memories a language model has something to read."""

from __future__ import annotations

from typing import Final

from hindsight_memory.domain import EXTRACTED_FROM, Kind, Memory, Source
from hindsight_memory.store.postings import findable

_OURS: Final = (Source.USER, Source.AGENT)


def to_be_read(memory: Memory) -> bool:
    """Whether a language model has anything to read in a memory.

    What is said on a desk, what a user says, what is stated by itself, and whatever is long; not what was read off
    another, which has been read there.
    """
    if not findable(memory):
        return False
    if memory.summary is not None:
        return True
    if memory.turn is not None:
        return memory.source in (_OURS if memory.kind is Kind.WORKING else (Source.USER,))
    stated = memory.kind in (Kind.SEMANTIC, Kind.PROCEDURAL) and memory.source in _OURS
    return stated and EXTRACTED_FROM not in memory.metadata
