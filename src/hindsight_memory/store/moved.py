"""The store contract, as far as moving goes: a bank line by line, out of one database and into another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from hindsight_memory.store.marks import Marks
from hindsight_memory.store.parts import Key, Line, Part


class MoveReader(Protocol):
    """What may be read of one bank, whoever may see it: for who moves all of it."""

    async def head(self) -> Line | None:
        """The line of the bank itself; ``None`` for one that does not exist."""

    async def lines(self, part: Part, after: Key | None, limit: int) -> list[Line]:
        """Lines of a part in the order of their keys, those behind the key ``after`` only."""

    async def faults(self, limit: int) -> list[str]:
        """Where what is kept twice disagrees: words with their counts, vectors with their spaces, one sentence each."""


class MoveTx(Protocol):
    """What a transaction may put into a bank as it was elsewhere. The log moves as it is: nothing is added to it."""

    async def set_head(self, head: Line) -> None:
        """Make the bank's own line this one."""

    async def put_memories(self, memories: Sequence[tuple[Line, Marks]]) -> None:
        """Store memories in their places, with what they are found by; one that is there is replaced."""

    async def put_lines(self, part: Part, lines: Sequence[Line]) -> None:
        """Store lines of any part but memories; one that is there is replaced, in the log by one that was emptied.

        A vector is passed over where its space is not known here, or of another length.
        """

    async def drop_lines(self, part: Part, keys: Sequence[Key]) -> None:
        """Remove lines by their keys; of memories their words, names, times and vectors too, and nothing else."""

    async def settle_vectors(self) -> None:
        """Ask for no vectors where all that are wanted are there."""


class MoveStore(Protocol):
    """What a whole database gives and takes."""

    async def common_lines(self, part: Part, after: Key | None, limit: int) -> list[Line]:
        """``lines`` of what all banks share."""

    async def put_common(self, part: Part, lines: Sequence[Line]) -> None:
        """``put_lines`` of what all banks share."""
