"""The ways a text can be read, for those who look for numbers and keys in it: plain, unescaped, decoded."""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode
from binascii import Error
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote_to_bytes

_DEPTH: Final = 2
"""How often a text may be encoded within another."""
_MOST: Final = 200
"""Encoded pieces of one text that are read."""
_UNSEEN: Final = (
    "\x00-\x08\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e01ef"
)
_GONE: Final = re.compile(f"[{_UNSEEN}]")
_DIGITS: Final = (0x660, 0x6F0, 0x966, 0x9E6, 0xFF10, 0x1D7CE, 0x1D7D8, 0x1D7E2, 0x1D7EC, 0x1D7F6)
"""Where the ten digits of other scripts begin."""
_PLAINER: Final = {
    **{start + digit: str(digit) for start in _DIGITS for digit in range(10)},
    **{start + letter: chr(first + letter) for start, first in ((0xFF21, 65), (0xFF41, 97)) for letter in range(26)},
    **{ord(wide): plain for wide, plain in zip("＠．－＿＋％＝＃（）／", "@.-_+%=#()/", strict=True)},
    **dict.fromkeys([0xA0, 0x3000, 0x202F, *range(0x2000, 0x200B)], " "),
    **dict.fromkeys([*range(0x2010, 0x2016), 0x2212], "-"),
}
"""The ASCII character that another stands for; one for one, so that places stay what they are."""
_ESCAPED: Final = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
_BASE64: Final = re.compile(r"(?<![A-Za-z0-9+/_\-])[A-Za-z0-9+/_\-]{12,}={0,2}")
_LONG: Final = re.compile(r"[A-Za-z]+|[0-9a-f]+|[0-9A-F-]+|[a-z_/-]+|[A-Z_/-]+")
"""What looks like base64 and is a word, a number, a path or a hash."""


@dataclass(frozen=True, slots=True)
class View:
    """One reading of a text, and for each of its characters where that stands in the text; ``whole`` if decoded."""

    text: str
    starts: Sequence[int]
    ends: Sequence[int]
    whole: bool = False

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where a stretch of this reading stands in the text."""
        return self.starts[start], self.ends[end - 1]


@dataclass(frozen=True, slots=True)
class Spot:
    """Something that was found, by its type, and where it stands in what was looked at."""

    kind: str
    start: int
    end: int


def views(text: str) -> list[View]:
    """The text as it is, and what comes out where something in it is escaped or encoded."""
    plain = _plain(text)
    return [plain, *_within(plain, _DEPTH)]


def _plain(text: str) -> View:
    plain = text if text.isascii() else text.translate(_PLAINER)
    if not _GONE.search(plain):
        return View(plain, range(len(plain)), range(1, len(plain) + 1))
    places = [place for place, each in enumerate(plain) if not _GONE.match(each)]
    return View("".join(plain[place] for place in places), places, [place + 1 for place in places])


def _within(view: View, depth: int) -> Iterator[View]:
    if depth == 0:
        return
    if "%" in view.text and _ESCAPED.search(view.text):
        unescaped = _unescaped(view)
        yield unescaped
        yield from _within(unescaped, depth - 1)
    for number, piece in enumerate(_BASE64.finditer(view.text)):
        if number == _MOST:
            break
        said = None if _LONG.fullmatch(piece[0]) else _decoded(piece[0])
        if said is not None:
            start, end = view.span(*piece.span())
            found = _plain(said)
            found = View(found.text, [start] * len(found.text), [end] * len(found.text), whole=True)
            yield found
            yield from _within(found, depth - 1)


def _unescaped(view: View) -> View:
    """The reading with its percent signs resolved."""
    chars: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    done = 0
    for found in _ESCAPED.finditer(view.text):
        start, end = found.span()
        said = unquote_to_bytes(found[0]).decode("utf-8", "replace")
        chars += [*view.text[done:start], *said]
        starts += [*view.starts[done:start], *([view.starts[start]] * len(said))]
        ends += [*view.ends[done:start], *([view.ends[end - 1]] * len(said))]
        done = end
    chars += view.text[done:]
    starts += view.starts[done:]
    ends += view.ends[done:]
    return View("".join(chars), starts, ends, view.whole)


def _decoded(piece: str) -> str | None:
    """What base64 says, where it is text; ``None`` for anything else."""
    body = piece.rstrip("=").replace("+", "-").replace("/", "_")
    if len(body) % 4 == 1:
        return None
    try:
        said = urlsafe_b64decode(body + "=" * (-len(body) % 4)).decode()
    except (Error, ValueError):
        return None
    return said if said.strip() and all(each.isprintable() or each in "\r\n\t" for each in said) else None
