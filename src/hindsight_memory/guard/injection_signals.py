"""Signs of poison that have a name: what a line of words shows, and what the letters themselves do."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, NamedTuple

from hindsight_memory.guard.injection_texts import TEXTS, Sign
from hindsight_memory.guard.injection_words import Shape, lowered

_MOST: Final = 8
"""Times that one signal is told of in one text."""


SHAPES: Final[Mapping[str, Sign]] = {
    # Over the letters of ``injection_words``; ``/`` ends a sentence, so no sign reaches across one.
    "override": Sign(
        4.5, "O", r"O[^/FO]{0,6}(?:[PAN][^/]{0,3})?I|O[^/O]{0,3}P[^/]{0,3}[IQVdR]|P[^/]{0,3}[IMd][^/]{0,5}O"
    ),
    "new_orders": Sign(1.5, "I", r"N[^/]{0,2}I[^/]{0,6}[oO]|P[^/]{0,3}I[^/]{0,4}[FOo]"),
    "prompt_leak": Sign(2.0, "I", r"[XRd][^/]{0,5}(?:Y|P)[^/]{0,3}I|Y[^/]{0,3}(?:P|K)[^/]{0,2}I"),
    "secrets": Sign(2.5, "K", r"[XRS][^/F]{0,6}K|wK|w[^/]{0,4}[Yi][^/]{0,2}K"),
    "exfiltration": Sign(
        4.0,
        "S",
        r"S[^/F]{0,12}e|S[^/F]{0,12}(?:K|d)[^/]{0,10}(?:@|e)|S[^/F]{0,8}@[^/]{0,8}[Kd]|[SKd][^/F]{0,8}S[^/]{0,6}[@e]",
    ),
    "not_told": Sign(1.5, "Ft", r"F[^/]{0,3}t"),
    "deceit": Sign(3.0, "y", r"[WLAnR@][^/]{0,24}y|y[^/]{0,8}[FVJ$@n]"),
    "come_what_may": Sign(1.0, "n", r"n[^/]{0,12}[RSBDXyVCH]|[RSBDXyVCHU][^/]{0,12}n"),
    "standing_order": Sign(1.5, "L", r"L[^/]{0,8}[SBXD$H][^/]{0,12}[@K$deUd]"),
    "persistence": Sign(3.0, "M", r"M[^/]{0,8}(?:L[^/]{0,8}[RSBXDO]|YI)|[SRM][^/]{0,4}V?[^/]{0,3}[AL][^/]{0,4}M"),
    "secrecy": Sign(
        3.5, "", r"F[^/]{0,1}t[^/]{0,4}(?:U|p)|Z[^/]{0,3}[tCQ][^/]{0,3}U|T[^/]{0,4}[SBDRMOX$]|[SBDRMO$][^/]{0,8}T"
    ),
    "no_confirmation": Sign(3.5, "", r"Z[^/]{0,5}[CH]|F[^/]{0,3}(?:[CQ])[^/]{0,3}(?:C|H|U)|[CH][^/]{0,3}Z"),
    "permission": Sign(3.0, "H", r"[UiYG][^/]{0,4}H[^/]{0,8}[ABSDXLd$G]|H[^/]{0,6}[ABL][^/]{0,4}[SBDX$d]"),
    "authority": Sign(3.0, "", r"i[^/]{0,3}G[^/]{0,8}[XBCHKDQ]|i[^/]{0,2}Y[^/]{0,2}G|G[^/]{0,4}[HI]"),
    "false_role": Sign(2.0, "", r"Y[^/]{0,2}E|EY|E[^/]{0,5}(?:Y|I|Z)|F[^/]{0,3}I[^/]{0,3}[AY]|E[^/]{0,8}I"),
    "destruction": Sign(1.5, "D", r"D[^/F]{0,3}[Ai]?[^/]{0,3}(?:d|K|C)"),
    "payment": Sign(0.5, "$", r"\$[^/]{0,6}[\$@K]|[BL][^/]{0,3}\$"),
    "crime": Sign(2.0, "J", r"J[^/]{0,6}[JKd$SB@]|[BSTR][^/]{0,4}J"),
}
"""Signs over a line of words."""

VEILS: Final[Mapping[str, float]] = {
    "unseen": 3.0, "turned": 2.0, "alike": 0.8, "apart": 1.0, "base64": 0.5, "hex": 0.5, "percent": 0.3,
    "entities": 1.0, "escapes": 0.3, "comment": 2.5,
}  # fmt: skip
"""What a disguise weighs by itself; what is said under it weighs besides."""

REPEATED: Final = "repeated"
"""The sign that one word is said over and over."""
_REPEATED_WEIGHT: Final = 1.5
_OFTEN: Final = 12
BURIED: Final = "buried"
"""The sign that another sign stands in a hidden piece."""
_BURIED_WEIGHT: Final = 3.0


ASKED: Final = "asked"
"""The sign that a sentence in the midst of a text asks something of its reader."""
_ASKED_WEIGHT: Final = 1.0
_ASKING: Final = (
    "please kindly can could would provide write show explain describe list give draft create recommend tell generate "
    "compose suggest include add append insert modify replace convert reverse translate shift summarize print output "
    "what how which why who where 请 帮 写 列 给 麻烦 什么 怎么 如何 为什么 翻译 推荐 生成 输出"
)
ASKING: Final = frozenset(_ASKING.split())
"""Words with which one asks."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A sign, where in the piece it stands, and as words from the first to the last."""

    name: str
    start: int
    end: int


class _Text(NamedTuple):
    """What finds a sign in a text, and what the text must hold for it: one of these, of which ``ascii`` are Latin."""

    name: str
    pattern: re.Pattern[str]
    ascii: Sequence[str]
    others: Sequence[str]


@cache
def _shapes() -> Mapping[str, re.Pattern[str]]:
    return {name: re.compile(sign.source) for name, sign in SHAPES.items()}


@cache
def _texts() -> Sequence[_Text]:
    found = []
    for name, sign in TEXTS.items():
        needs = sign.needs.split("|")
        latin = tuple(each for each in needs if each.isascii())
        found.append(_Text(name, re.compile(sign.source), latin, tuple(set(needs).difference(latin))))
    return found


def prior(name: str) -> float:
    """What a sign weighs before anything is fitted."""
    if name in VEILS:
        return VEILS[name]
    others = {BURIED: _BURIED_WEIGHT, ASKED: _ASKED_WEIGHT, REPEATED: _REPEATED_WEIGHT}
    return others[name] if name in others else (SHAPES.get(name) or TEXTS[name]).weight


NAMES: Final = (*SHAPES, *TEXTS, *VEILS, BURIED, ASKED, REPEATED)


def seen_in(text: str, shape: Shape) -> Iterator[Seen]:
    """The signs in a piece of text, as far as each is told of."""
    letters = set(shape.line)
    for name, pattern in _shapes().items():
        if letters.issuperset(SHAPES[name].needs):
            for _, found in zip(range(_MOST), pattern.finditer(shape.line), strict=False):
                yield Seen(name, shape.starts[found.start()], shape.ends[found.end() - 1])
    lower = lowered(text)
    plain = text.isascii()
    for each in _texts():
        if any(map(lower.__contains__, each.ascii)) or (not plain and any(map(lower.__contains__, each.others))):
            for _, found in zip(range(_MOST), each.pattern.finditer(lower), strict=False):
                yield Seen(each.name, found.start(), found.end())
    run = 1
    for place in range(1, len(shape.words)):
        run = run + 1 if shape.words[place] == shape.words[place - 1] else 1
        if run == _OFTEN:
            yield Seen(REPEATED, shape.starts[place - run + 1], shape.ends[place])
