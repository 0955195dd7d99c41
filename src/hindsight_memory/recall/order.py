"""Which results step back: what says again what a better one says, and what has been replaced by another."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from hindsight_memory.domain import EXTRACTED_FROM, Hit, Memory

_UNITS: Final = re.compile(r"[\u4e00-\u9fff]|[^\W\u4e00-\u9fff]+")
_SAME: Final = 0.9
"""Share of words two texts have in common from which they say the same."""


def apart(hits: Sequence[Hit], limit: int) -> list[Hit]:
    """The first ``limit`` hits, where those that say again what a better one says come behind all others.

    A turn and what was read off it say the same.
    """
    first: list[Hit] = []
    again: list[Hit] = []
    said: list[frozenset[str]] = []
    shown: set[str] = set()
    for hit in hits:
        if len(first) == limit:
            break
        text = hit.memory.content.casefold()
        words = frozenset(_UNITS.findall(text)) or frozenset({text})
        told = told_by(hit.memory)
        if told in shown or any(len(words & other) >= _SAME * len(words | other) for other in said):
            again.append(hit)
        else:
            first.append(hit)
            said.append(words)
            shown.add(told)
    return [*first, *again][:limit]


def current(hits: Sequence[Hit]) -> list[Hit]:
    """The hits, where what replaced a part of another is lifted right before that one."""
    known = {hit.memory.id: hit for hit in hits}
    placed: dict[str, Hit] = {}
    for hit in hits:
        chain: dict[str, Hit] = {}
        each: Hit | None = hit
        while each is not None and each.memory.id not in chain and each.memory.id not in placed:
            chain[each.memory.id] = each
            each = known.get(each.memory.superseded_by or "")
        placed |= reversed(chain.items())
    return list(placed.values())


def told_by(memory: Memory) -> str:
    """The id of the turn that a memory is, or was read off."""
    return str(memory.metadata.get(EXTRACTED_FROM, memory.id))
