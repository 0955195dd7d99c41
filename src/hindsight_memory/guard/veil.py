"""What a text says under its disguises: look-alike letters, unseen characters, spaced letters, encoded pieces."""

from __future__ import annotations

import base64
import binascii
import html
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final
from urllib.parse import unquote_to_bytes

_LONGEST_PIECE: Final = 20_000
"""Characters that one hidden piece may come to; what is beyond is not read."""
_MOST_PIECES: Final = 64
_DEPTH: Final = 2
"""How often a piece may be hidden in a piece."""
_LEAST_HIDDEN: Final = 4
"""Unseen characters that make a message: fewer are the flag of a country or a typing accident."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text to be read, plain or found hidden, and where each of its characters stands in the original.

    ``kind`` is ``plain``, or how it was hidden: ``unseen``, ``base64``, ``hex``, ``percent``, ``entities``,
    ``escapes``, ``comment``.
    """

    kind: str
    text: str
    places: Sequence[int]
    end: int

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The stretch of the original that a stretch of this piece came from; all of it for a hidden one."""
        if self.kind != "plain":
            return (self.places[0] if self.places else self.end), self.end
        first = self.places[start] if start < len(self.places) else self.end
        last = self.places[end - 1] + 1 if 0 < end <= len(self.places) else self.end
        return first, max(first, min(last, self.end))


@dataclass(frozen=True, slots=True)
class Veil:
    """A disguise that was taken off, and where."""

    name: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Unveiled:
    """A text without its disguises: ``pieces``, the plain text first, and what was taken off."""

    pieces: tuple[Piece, ...]
    veils: tuple[Veil, ...]


def unveil(text: str) -> Unveiled:
    """The text as it would be read, and each piece that is hidden in it; never raises."""
    veils: list[Veil] = []
    plain = _spaces_closed(_plain(text, veils), veils)
    pieces = [plain, *_unseen(text, veils)]
    for piece in list(pieces):
        pieces += _hidden(piece, veils, _DEPTH)
    return Unveiled(tuple(pieces[:_MOST_PIECES]), tuple(veils))


# -- characters ---------------------------------------------------------------------------------------------------

_ODD: Final = re.compile("[^\x00-\x7f、-】㐀-鿿！，．：；？（）～‐-”…·—«»°]")
"""Characters that may be something else than they seem; Chinese text has few of them."""
_UNSEEN: Final = frozenset(
    (
        *(0x00AD, 0x034F, 0x061C, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180E, 0x3164, 0xFEFF, 0xFFA0),
        *(*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070), *range(0xFE00, 0xFE10)),
        *(*range(0xE0000, 0xE0080), *range(0xE0100, 0xE01F0)),
    )
)
_OVERRIDES: Final = re.compile("[\u202d\u202e]")
"""Characters that turn the order of what follows; embeddings and isolates are met in honest Hebrew and Arabic."""
_LATIN_WORD: Final = re.compile(r"[^\W\d_]+")
_ALIKE: Final = dict(
    zip(
        "аеорсухіјѕһԁӏвкмнтАВЕКМНОРСТУХІЈЅԛԝɡɑɩοαενικρτυχωΑΒΕΖΗΙΚΜΝΟΡΤΥΧßɴıʀʏʙɢʜʟꜱᴀᴄᴅᴇᴊᴋᴍᴏᴘᴛᴜᴠᴡᴢɪ",
        "aeopcyxijshdlbkmhtABEKMHOPCTYXIJSqwgaioaevikptuxwABEZHIKMNOPTYXbniryBGHLsacdejkmoptuvwzi",
        strict=True,
    )
)
"""Letters of other scripts that look like Latin ones, where they stand among Latin ones."""
_MOST_STEPS: Final = 20_000


@lru_cache(maxsize=4096)
def _folded(char: str) -> str:
    """What one character is read as: nothing, itself, or plainer ones."""
    if ord(char) in _UNSEEN:
        return ""
    plainer = "".join(each for each in unicodedata.normalize("NFKD", char) if not unicodedata.combining(each))
    return unicodedata.normalize("NFC", plainer) or char


def _plain(text: str, veils: list[Veil]) -> Piece:
    """The text with unseen characters gone, and each letter in its plainest form."""
    if text.isascii() or not _ODD.search(text):
        return Piece("plain", text, range(len(text)), len(text))
    chars: list[str] = []
    places: list[int] = []
    done = 0
    for odd in _ODD.finditer(text):
        place = odd.start()
        plainer = _folded(odd.group())
        chars += text[done:place] + plainer
        places += [*range(done, place), *[place] * len(plainer)]
        done = place + 1
    chars += text[done:]
    places += range(done, len(text))
    veils += [Veil("turned", each.start(), each.end()) for each in _OVERRIDES.finditer(text)][:1]
    _unmask(chars, places, veils)
    return Piece("plain", "".join(chars), places, len(text))


def _unmask(chars: list[str], places: Sequence[int], veils: list[Veil]) -> None:
    """Put Latin letters for look-alikes of other scripts, in words that mix both, in place."""
    text = "".join(chars)
    if _ALIKE.keys().isdisjoint(text):
        return
    for word in _LATIN_WORD.finditer(text):
        found = word.group()
        if found.isascii() or not any(char in _ALIKE for char in found):
            continue
        unmasked = "".join(_ALIKE.get(char, char) for char in found)
        if unmasked.isascii() and any("a" <= char.lower() <= "z" for char in found):
            chars[word.start() : word.end()] = unmasked
            veils.append(Veil("alike", places[word.start()], places[word.end() - 1] + 1))


# -- letters apart ------------------------------------------------------------------------------------------------

_APART: Final = re.compile(
    r"(?<![^\s.,:;!?\"'(])(?:\w([ ._\-*|])(?!\1))(?:\w\1(?!\1)){3,}\w(?!\w)|(?:[㐀-鿿][ ·*_\-|]){4,}[㐀-鿿]"
)
_GAP: Final = re.compile(r"[ ._\-*|·]+")


def _spaces_closed(piece: Piece, veils: list[Veil]) -> Piece:
    """The piece with words that were written letter by letter put together; wider gaps part the words."""
    found = [each for each in _APART.finditer(piece.text) if not each.group().replace(" ", "").isdigit()]
    if not found:
        return piece
    chars: list[str] = []
    places: list[int] = []
    done = 0
    for run in found:
        start, end = run.span()
        chars += piece.text[done:start]
        places += piece.places[done:start]
        for place in range(start, end, 2):
            chars.append(piece.text[place])
            places.append(piece.places[place])
        veils.append(Veil("apart", *piece.span(start, end)))
        done = end
    chars += piece.text[done:]
    places += piece.places[done:]
    return Piece(piece.kind, "".join(chars), places, piece.end)


# -- what is not seen ---------------------------------------------------------------------------------------------

_TAGS: Final = re.compile("[\U000e0000-\U000e007f]+")
_SELECTORS: Final = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{4,}")
_BITS: Final = re.compile("[\u200b-\u200d\u2060-\u2064\ufeff]{8,}")
_FLAG: Final = "\U0001f3f4"


def _unseen(text: str, veils: list[Veil]) -> Iterator[Piece]:
    """Messages in characters that nobody sees: tags, variation selectors, runs of zero width."""
    if text.isascii():
        return
    for run in _TAGS.finditer(text):
        said = "".join(chr(ord(char) - 0xE0000) for char in run.group())
        if text[run.start() - 1 : run.start()] != _FLAG and len(said) >= _LEAST_HIDDEN:
            yield _found("unseen", said, run, veils)
    for run in _SELECTORS.finditer(text):
        yield _found("unseen", _of_bytes(bytes(map(_selected, run.group()))) or "", run, veils)
    veils += [Veil("unseen", each.start(), each.end()) for each in _BITS.finditer(text)][:_MOST_PIECES]


def _selected(char: str) -> int:
    point = ord(char)
    return point - 0xFE00 if point <= 0xFE0F else point - 0xE0100 + 16


def _found(kind: str, said: str, run: re.Match[str], veils: list[Veil]) -> Piece:
    veils.append(Veil(kind, run.start(), run.end()))
    said = "".join(char if char.isprintable() or char in "\n\t" else " " for char in said[:_LONGEST_PIECE])
    return Piece(kind, said, [run.start()] * len(said), run.end())


# -- what is encoded ----------------------------------------------------------------------------------------------

_BASE64: Final = re.compile(r"(?<![A-Za-z0-9+/_\-])[A-Za-z0-9+/_\-]{16,}={0,2}")
_HEX: Final = re.compile(
    r"(?<![0-9A-Za-z])(?:(?:[0-9a-fA-F]{2}){8,}|(?:(?:0x|\\x)[0-9a-fA-F]{2}[ ,]?){6,})(?![0-9A-Za-z])"
)
_PERCENT: Final = re.compile(r"(?:[\w.+\-]{0,20}%[0-9a-fA-F]{2}){3,}[\w.+\-%]{0,400}")
_ENTITIES: Final = re.compile(r"(?:[^\s&]{0,3}&(?:#\d{1,6}|#x[0-9a-fA-F]{1,5}|[a-z]{2,8});){4,}")
_ESCAPES: Final = re.compile(r"(?:\\u[0-9a-fA-F]{4}){3,}")
_COMMENT: Final = re.compile(
    r"<!--(?P<markup>[^<>]{1,4000})"
    r"|^[ ]{0,3}\[[^\]\n]{1,40}\]:[ ]*(?:#|<>)[ ]*[(\"'](?P<markdown>[^\n]{1,2000})[)\"']"
    r"|<(?:\w{1,20})[^<>]{0,300}?(?:display\s?:\s?none|visibility\s?:\s?hidden|font-size\s?:\s?0"
    r"|color\s?:\s?(?:#fff(?:fff)?|white)\b|\bhidden\b)[^<>]{0,300}>(?P<styled>[^<]{1,2000})",
    re.MULTILINE | re.IGNORECASE,
)


def _hidden(piece: Piece, veils: list[Veil], depth: int) -> Iterator[Piece]:
    """What is encoded in a piece, and what is hidden in what was found."""
    if depth == 0:
        return
    for kind, pattern, read, needs in _CODES:
        if needs not in piece.text:
            continue
        for run in _some(pattern.finditer(piece.text)):
            said = read(run)
            if said is None:
                continue
            start, end = piece.span(*run.span())
            found = Piece(kind, said[:_LONGEST_PIECE], [start] * min(len(said), _LONGEST_PIECE), end)
            veils.append(Veil(kind, start, end))
            yield found
            yield from _hidden(found, veils, depth - 1)


def _some(runs: Iterator[re.Match[str]]) -> Iterator[re.Match[str]]:
    for _, run in zip(range(_MOST_PIECES), runs, strict=False):
        yield run


def _of_base64(run: re.Match[str]) -> str | None:
    held = run.group().rstrip("=").replace("-", "+").replace("_", "/")[:_LONGEST_PIECE]
    if held.isdigit() or held.islower() or held.isupper():
        return None  # a long word or number
    try:
        return _of_bytes(base64.b64decode(held[: len(held) - (len(held) % 4 == 1)] + "=" * (-len(held) % 4)))
    except (binascii.Error, ValueError):
        return None


def _of_hex(run: re.Match[str]) -> str | None:
    digits = re.sub(r"0x|\\x|[ ,]", "", run.group())[:_LONGEST_PIECE]
    return None if digits.isdigit() and len(digits) > 40 else _of_bytes(bytes.fromhex(digits[: len(digits) // 2 * 2]))


def _of_percent(run: re.Match[str]) -> str | None:
    return _of_bytes(unquote_to_bytes(run.group()[:_LONGEST_PIECE].encode("utf-8", "replace")))


def _of_entities(run: re.Match[str]) -> str | None:
    return html.unescape(run.group()[:_LONGEST_PIECE])


def _of_escapes(run: re.Match[str]) -> str | None:
    return "".join(chr(int(digits, 16)) for digits in run.group().split("\\u")[1 : _LONGEST_PIECE + 1])


def _of_comment(run: re.Match[str]) -> str | None:
    return run.group("markup") or run.group("markdown") or run.group("styled")


_CODES: Final[Sequence[tuple[str, re.Pattern[str], Callable[[re.Match[str]], str | None], str]]] = (
    ("base64", _BASE64, _of_base64, ""),
    ("hex", _HEX, _of_hex, ""),
    ("percent", _PERCENT, _of_percent, "%"),
    ("entities", _ENTITIES, _of_entities, "&"),
    ("escapes", _ESCAPES, _of_escapes, "\\u"),
    ("comment", _COMMENT, _of_comment, ""),
)


def _of_bytes(held: bytes) -> str | None:
    """Bytes as text where they are one; ``None`` for anything else, such as a digest."""
    try:
        said = held.decode()
    except UnicodeDecodeError:
        return None
    good = sum(char.isprintable() or char in "\r\n\t" for char in said)
    letters = sum(char.isalpha() or char == " " for char in said)
    return said if len(said) >= _LEAST_HIDDEN and good == len(said) and letters * 4 >= len(said) else None
