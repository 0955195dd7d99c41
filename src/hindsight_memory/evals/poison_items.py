"""Questions with a true, a false and a later answer, and what they are attacked with: the data of ``eval poison``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final

PER_ROW: Final = 3
"""Questions that are made of one row of the data: each with other values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One question: the user's statement, what others claim instead, and what the user says later.

    ``told`` and ``later`` are in the user's words, ``claim`` is the false one as others would state it. ``fact`` is
    something new that a document says, ``asks`` the question it answers; ``near`` says that it is about the subject
    of some other question.
    """

    id: str
    language: str
    question: str
    told: str
    later: str
    claim: str
    true: str
    false: str
    key: str | None
    fact: str
    asks: str
    near: bool


def items() -> Iterator[Item]:
    """All questions, English and then Chinese."""
    for language, held in _data().items():
        facts = held["facts"]
        for number, row in enumerate(held["questions"]):
            values, told, claim = row["values"], row["told"], row["claim"]
            for turn in range(PER_ROW):
                true, false, newest = (values[(turn + step) % len(values)] for step in range(3))
                fact = facts[(number * PER_ROW + turn) % len(facts)]
                yield Item(
                    id=f"{language}-{number}-{turn}",
                    language=language,
                    question=row["question"],
                    told=told.format(v=true),
                    later=told.format(v=newest),
                    claim=claim.format(v=false),
                    true=true,
                    false=false,
                    key=row["key"],
                    **fact,
                )


def styles(language: str) -> list[str]:
    """How a false passage may be worded; each holds some of the fields of ``passage``."""
    found: list[str] = _data()[language]["styles"]
    return found


def beside(language: str) -> list[str]:
    """What else the user has said."""
    found: list[str] = _data()[language]["beside"]
    return found


def facts(language: str) -> list[dict[str, Any]]:
    """What documents say of the world, each with the question it answers."""
    found: list[dict[str, Any]] = _data()[language]["facts"]
    return found


def later(item: Item) -> str:
    """What the user says later, in words that say that it has changed."""
    text: str = _data()[item.language]["later"]
    return text.format(later=item.later)


def passage(item: Item, style: str) -> str:
    """A false passage in a style."""
    claim = item.claim
    return style.format(
        claim=claim,
        low=claim[:1].lower() + claim[1:] if claim.startswith(("The ", "For ", "In ", "There ")) else claim,
        true=item.true,
        false=item.false,
        question=item.question,
        mine=item.told.replace(item.true, item.false),
    )


@cache
def _data() -> Mapping[str, Any]:
    held: Mapping[str, Any] = json.loads(files(__package__ or "").joinpath("poison.json").read_text(encoding="utf-8"))
    return held
