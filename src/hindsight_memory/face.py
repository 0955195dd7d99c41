"""What every group of verbs with keywords stands on: whatever answers them, and whose memory is meant."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hindsight_memory.domain import Scope

if TYPE_CHECKING:
    from hindsight_memory.remote import Remote
    from hindsight_memory.service import Service


def unheard(_: int) -> None:
    """Progress that nobody follows."""


class Face:
    """Base of the groups of verbs; ``AsyncHindsightMemory`` says what these do."""

    async def _opened(self) -> Service | Remote:
        raise NotImplementedError

    def _split(self, fields: Mapping[str, Any]) -> tuple[Scope, dict[str, Any]]:
        raise NotImplementedError
