"""The store contract, as far as the log as a chain and erasure go."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from hindsight_memory.domain import AuditLine, Erased, LogHead, Proof


class LogReader(Protocol):
    """What may be read of the log of one bank, as a chain."""

    async def log_head(self) -> LogHead | None:
        """Between which lines the log of the bank stands; ``None`` for a bank that does not exist."""

    async def log(self, after: int, limit: int) -> list[AuditLine]:
        """The lines of the log behind the number ``after``, in their order, as they stand in the chain."""


class ErasingTx(Protocol):
    """What a transaction on a bank may remove from it for good."""

    async def samples(self, ids: Sequence[str] | None = None) -> list[str]:
        """Texts of these memories, or of all that the bank holds, by which one can tell that they are gone."""

    async def erase(self, ids: Sequence[str]) -> Erased:
        """Remove memories with their words, names, times, vectors, relations and the content of their events."""

    async def erase_bank(self) -> Erased:
        """Remove everything the bank holds, its sessions and its log too."""


class ErasingStore(Protocol):
    """What is done to the files, when something was removed from them."""

    async def scrub(self, samples: Sequence[str] = (), *, compact: bool = False) -> Proof:
        """Let no file keep what was erased; nothing is done where nothing was erased since.

        Args:
            samples: Texts of what was erased, to be looked for in every byte of the files.
            compact: Make the files anew, however long that takes; otherwise only small ones, and those in which a
                sample was found.
        """
