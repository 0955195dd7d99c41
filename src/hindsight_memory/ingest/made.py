"""Memories that maintenance makes of others: how they are named, and told from those that somebody wrote."""

from __future__ import annotations

from hashlib import blake2b
from typing import Final

from hindsight_memory.domain import Kind, Memory
from hindsight_memory.ingest.enrich import content_hash, owner_of

MADE_BY: Final = "made_by"
"""In the metadata of what was made: the routine that did."""
TURNS: Final = "turns"
"""In the metadata of an episode: the first and the last of its turns."""


def made_hash(memory: Memory) -> str:
    """The hash of what was made: of what it says, who said it, to whom, in which turns. No caller can write it."""
    turns = memory.metadata.get(TURNS)
    of_turns = turns if isinstance(turns, list) and all(isinstance(each, int) for each in turns) else []
    by = str(memory.metadata.get(MADE_BY))
    who = (owner_of(memory), memory.speaker)
    return content_hash("made", by, memory.kind, *who, memory.session_id, *of_turns, memory.content)


def is_made(memory: Memory, by: str) -> bool:
    """Whether a routine made this, and nobody has put it in other words since: then it is theirs."""
    return memory.metadata.get(MADE_BY) == by and memory.content_hash == made_hash(memory)


def made_id(made: str, source: Memory) -> str:
    """The id of what has this hash: the time of its first source, and the hash.

    So the same is made under the same id, and the log still knows that it was refused when it has long been purged.
    """
    digits = blake2b(made.encode(), digest_size=10).hexdigest()
    return f"{source.id[:13]}-7{digits[:3]}-{'89ab'[int(digits[3], 16) % 4]}{digits[4:7]}-{digits[7:19]}"


def is_account(memory: Memory) -> bool:
    """Whether this is an episode: it tells of its turns, and states nothing by itself."""
    return memory.kind is Kind.EPISODIC and is_made(memory, "episodes")
