"""Which results step back: what says again what a better one says, and what has been replaced by another."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Final

from hindsight_memory.domain import EXTRACTED_FROM, Hit, Memory, Relation, RelationType, is_shared
from hindsight_memory.text.keys import has_many

_UNITS: Final = re.compile(r"[\u4e00-\u9fff]|[^\W\u4e00-\u9fff]+")
_SAME: Final = 0.9
"""Share of words two texts have in common from which they say the same."""


def apart(hits: Sequence[Hit], limit: int, believed: float) -> list[Hit]:
    """The first ``limit`` hits, where those that say again what a better one says come behind all others.

    A turn and what was read off it say the same. A document that repeats the user, with another word in it or not,
    does not stand for them: what is trusted less than ``believed`` leaves its place to what is trusted more.
    """
    first: list[Hit] = []
    again: list[Hit] = []
    said: list[frozenset[str]] = []
    shown: set[str] = set()
    for hit in hits:
        text = hit.memory.content.casefold()
        words = frozenset(_UNITS.findall(text)) or frozenset({text})
        told = told_by(hit.memory)
        same = (place for place, other in enumerate(said) if len(words & other) >= _SAME * len(words | other))
        place = None if told in shown else next(same, None)
        if told not in shown and place is None:
            first.append(hit)
            said.append(words)
        elif place is not None and first[place].memory.trust < min(believed, hit.memory.trust):
            again.append(first[place])
            first[place], said[place] = hit, words
        else:
            again.append(hit)
        shown.add(told)
    return [*first, *again][:limit]


def own_first(hits: Sequence[Hit]) -> list[Hit]:
    """The hits, where a user's own value of a key comes right before the shared bank's, unless that is trusted more.

    It is as sure an answer as that one.
    """
    placed: list[Hit] = []
    for hit in hits:
        covered = [place for place, each in enumerate(placed) if covers(hit.memory, each.memory)]
        sure = max(hit.confidence, *(placed[place].confidence for place in covered)) if covered else hit.confidence
        placed.insert(covered[0] if covered else len(placed), replace(hit, confidence=sure))
    return placed


def covers(own: Memory, shared: Memory) -> bool:
    """Whether a memory is a user's own value of what a memory of the shared bank says for all."""
    if own.key is None or own.key != shared.key or has_many(own.key):
        return False
    return is_shared(shared.bank_id) and not is_shared(own.bank_id) and own.trust >= shared.trust


Replaced = Mapping[str, Collection[str]]
"""By id of a memory of which parts were replaced, the ids of what replaced them."""


def replaced(relations: Sequence[Relation]) -> dict[str, set[str]]:
    """What was replaced by what, as relations say it."""
    by: dict[str, set[str]] = {}
    for edge in relations:
        if edge.type is RelationType.SUPERSEDES:
            by.setdefault(edge.to_id, set()).add(edge.from_id)
    return by


def replacing(memory: Memory, by: Replaced) -> set[str]:
    """The ids of all that replaced a memory, or parts of it."""
    return set() if memory.superseded_by is None else {memory.superseded_by, *by.get(memory.id, ())}


def current(hits: Sequence[Hit], by: Replaced) -> list[Hit]:
    """The hits, where all that replaced a part of another is lifted right before that one, the better one first."""
    places = {hit.memory.id: place for place, hit in enumerate(hits)}
    found: list[Hit] = []
    met: set[int] = set()
    put: set[int] = set()
    for first in range(len(hits)):
        waiting = [first]
        while waiting:
            place = waiting[-1]
            newer = [places[each] for each in replacing(hits[place].memory, by) if each in places]
            ahead = [] if place in met else [each for each in newer if each not in met]
            met.add(place)
            waiting += sorted(ahead, reverse=True)
            if not ahead:
                waiting.pop()
                if place not in put:
                    put.add(place)
                    found.append(hits[place])
    return found


def told_by(memory: Memory) -> str:
    """The id of the turn that a memory is, or was read off."""
    return str(memory.metadata.get(EXTRACTED_FROM, memory.id))
