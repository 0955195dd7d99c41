"""What a suspicious mind looks at in a text: its stretches, and in each the signs, pairs of words and wording."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final
from zlib import crc32

from hindsight_memory.guard.injection_signals import ASKED, ASKING, BURIED, NAMES, Seen, seen_in
from hindsight_memory.guard.injection_words import BREAK, CHINESE, ENGLISH, LINK, NUMBER, OTHER, Shape, shape_of
from hindsight_memory.guard.veil import Piece, unveil

WORDS: Final = 1 << 14
"""Places among which words are spread."""
GRAMS: Final = 1 << 15
"""Places among which pairs of neighbours are spread."""
LETTERS: Final = "".join(dict.fromkeys([*ENGLISH, *CHINESE, LINK, NUMBER]))
_NUMBER: Final = {letter: number for number, letter in enumerate(LETTERS)}
PAIRS: Final = len(LETTERS) ** 2
_REACH: Final = 9
"""Words between which two letters make a pair."""
_LEAST: Final = 4
"""Words a sentence has at least; a shorter one is read with the next."""
_MOST_WHOLE: Final = 60
"""Words up to which a text is also looked at as one."""
_FEW: Final = 3
"""Bounds of so few sentences that none stands in the midst of others."""
_NUMBERS: Final = {name: number for number, name in enumerate(NAMES)}


@dataclass(frozen=True, slots=True)
class Stretch:
    """A run of words of a piece, from ``first`` up to ``last``, with the numbers of the signs in it."""

    first: int
    last: int
    signs: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Look:
    """A piece of text taken apart: what to add up, word by word, and the stretches to add it up over.

    ``words`` and ``grams`` are places of words and of pairs of neighbours, one of each a word; ``pairs`` are pairs of
    letters, each with the word that ends it.
    """

    piece: Piece
    shape: Shape
    words: Sequence[int]
    grams: Sequence[int]
    pairs: Sequence[tuple[int, int]]
    stretches: Sequence[Stretch]
    seen: Sequence[Seen]


def look(text: str) -> list[Look]:
    """Each piece of the text, plain and hidden, taken apart, with what disguised it among its signs."""
    found = unveil(text)
    veils = [Seen(veil.name, veil.start, veil.end) for veil in found.veils]
    return [_look(piece, veils) for piece in found.pieces if piece.text.strip()]


def _look(piece: Piece, veils: Sequence[Seen]) -> Look:
    shape = shape_of(piece.text)
    own = list(seen_in(piece.text, shape))
    seen = [Seen(each.name, *piece.span(each.start, each.end)) for each in own] + list(veils)
    throughout = {_NUMBERS[each.name] for each in veils}
    if own and piece.kind != "plain":
        throughout.add(_NUMBERS[BURIED])
    sums = [_sum(word) for word in shape.words]
    words = [each % WORDS for each in sums]
    grams = [(left * 31 + right) % GRAMS for left, right in zip([0, *sums], sums, strict=False)]
    stretches = list(_stretches(shape, own, frozenset(throughout)))
    return Look(piece, shape, words, grams, list(_pairs(shape.line)), stretches, seen)


@lru_cache(maxsize=1 << 15)
def _sum(word: str) -> int:
    return crc32(("0" if word.isdigit() else word[:40]).encode("utf-8", "replace"))


def _pairs(line: str) -> Iterator[tuple[int, int]]:
    """Pairs of letters that stand near each other in one sentence, each with the place of the second."""
    near: list[tuple[int, int]] = []
    for place, letter in enumerate(line):
        if letter == OTHER:
            continue
        if letter == BREAK:
            near = []
            continue
        number = _NUMBER[letter]
        near = [each for each in near if place - each[0] <= _REACH][-6:]
        for _, before in near:
            yield before * len(LETTERS) + number, place
        near.append((place, number))


def _stretches(shape: Shape, seen: Sequence[Seen], throughout: frozenset[int]) -> Iterator[Stretch]:
    """The sentences, each two in a row, and the whole where it is short; with the signs that begin in each."""
    bounds = _sentences(shape.line)
    begins = sorted((each.start, _NUMBERS[each.name]) for each in seen)
    runs = list(pairwise(bounds)) + list(zip(bounds, bounds[2:], strict=False))
    several = len(bounds) > _FEW
    if several and len(shape.words) <= _MOST_WHOLE:
        runs.append((0, len(shape.words)))
    for first, last in runs:
        start = 0 if first == 0 else shape.starts[first]
        end = shape.ends[last - 1] if last < len(shape.words) else 1 << 62
        inside = begins[bisect_left(begins, (start, 0)) : bisect_left(begins, (end, 0))]
        signs = throughout.union(number for _, number in inside)
        if several and first and last - first > _LEAST and shape.words[first] in ASKING:
            signs |= {_NUMBERS[ASKED]}
        yield Stretch(first, last, tuple(sorted(signs)))


def _sentences(line: str) -> list[int]:
    """Where sentences begin, and where the last one ends; what is too short goes with what follows."""
    bounds = [0]
    for place, letter in enumerate(line, 1):
        if letter == BREAK and place - bounds[-1] > _LEAST:
            bounds.append(place)
    if bounds[-1] != len(line):
        bounds.append(len(line))
    return bounds
