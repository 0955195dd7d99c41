"""What guards ask of any engine: a bank's own rules, and all that it holds, to be looked at again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from hindsight_memory.domain import Desk, Handling, Memory, Relation


class ScreenReader(Protocol):
    """What may be read of one bank."""

    async def rules(self) -> Mapping[str, Handling]:
        """The bank's own rules for personal data and secrets, by type."""

    async def sealed(self, vault_id: str) -> tuple[str, bytes] | None:
        """A value of the vault, by its id: its type, and the value encrypted."""

    async def stored(self, after: int, limit: int) -> list[tuple[int, Memory]]:
        """All memories, whatever their status and whoever may see them, in the order they were stored.

        Each with its place; those behind the place ``after`` only.
        """

    async def desks(self, after: str, limit: int) -> list[Desk]:
        """Sessions whose state says something, expired or not, in the order of their ids, those behind ``after``."""


class ScreenTx(Protocol):
    """What may be changed of one bank."""

    async def set_rules(self, rules: Mapping[str, Handling | None]) -> None:
        """Set rules of the bank's own for personal data and secrets, or take them back where there is ``None``."""

    async def seal(self, sealed: Mapping[str, tuple[str, bytes]], now: datetime) -> None:
        """Put values into the vault by their ids, each with its type; one that is there stays.

        They are erased with the last memory that names them.
        """

    async def unrelate(self, relations: Sequence[Relation]) -> None:
        """Remove edges; those that are gone are passed over."""

    async def wipe(self) -> None:
        """Have the files scrubbed: what something else than a memory said before it was changed is to be nowhere."""

    async def cleanse(self, memory: Memory) -> None:
        """Leave nothing of what a memory said before it was changed in its log or in the vector of the next turn."""
