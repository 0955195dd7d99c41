"""Reads the JSON in what a language model wrote, also where it is broken the ways models break it; nothing is run.

Prose and fences around it are passed over. Raw line breaks, bare quotes and back-ticks inside a text, single or
Chinese quotes, bare names, commas too many or too few, ``None`` and ``NaN``, and an end that never comes are read as
what was meant. In a list that breaks off, what was complete is kept.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

LONGEST: Final = 100_000
"""Characters of an answer that are looked at."""

_DEEPEST: Final = 16
_STARTS: Final = 200
"""Places where JSON may begin that are tried: prose is full of brackets."""
_WORK: Final = 4 * LONGEST
"""Characters read over all of them."""

_OPENING: Final = re.compile(r"[\[{]")
_SPACE: Final = re.compile(r"(?:\s|//[^\n]*\n|/\*.{0,2000}?\*/)*", re.DOTALL)
_COMMAS: Final = re.compile(r"[\s,，;；]*")
_COLON: Final = re.compile(r"\s*(?:[:：]|=>?)\s*")
_NUMBER: Final = re.compile(r"[-+]?(?:\d{1,40}(?:\.\d{0,40})?|\.\d{1,40})(?:[eE][-+]?\d{1,4})?(?![\w.])")
_BARE: Final = re.compile(r"[^\W\d][\w.-]{0,80}")
_WORDS: Final = {
    "true": True, "True": True, "false": False, "False": False, "null": None, "None": None, "undefined": None,
    "nan": None, "NaN": None, "Infinity": None,
}  # fmt: skip
_CLOSING: Final = {'"': '"”', "'": "'’", "`": "`", "“": '”"', "‘": "’'", "「": "」"}
_ESCAPED: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_AFTER_TEXT: Final = re.compile(
    r"\s*(?:[:：}\]]|\Z|=>|[,，]\s*(?:[\"'`“‘「{}\[\]]|/[/*]|\Z|-?\d|(?:true|false|null|None|True|False|NaN)\b|[^\W\d]\w*\s*[:：]))"
)
"""What may stand behind the end of a text; where something else does, the quote is part of the text."""
_NEW_LINE_KEY: Final = re.compile(r"\s*\n\s*[\"'“]\w+[\"'”]\s*[:：]")
_STRICT: Final = json.JSONDecoder(strict=False)


class _Broken(Exception):
    """What stands here is not JSON, not even broken JSON."""


class _Ended(Exception):
    """The text ended inside a value; ``held`` is the object or list as far as it goes, if it was one."""

    def __init__(self, held: Cut | list[Any] | None = None) -> None:
        super().__init__()
        self.held = held


class Cut(dict[str, Any]):
    """An object whose end never came: what it holds is complete, what it lacks is not known."""


def values_in(answer: str) -> Iterator[Any]:
    """Each JSON object or list in a text, in order, the outermost ones; one that breaks off as far as it goes."""
    text = answer[:LONGEST]
    at = read = 0
    for _ in range(_STARTS):
        opening = _OPENING.search(text, at)
        if opening is None or read > _WORK:
            return
        value, at, reached = _value_at(text, opening.start())
        read += reached - opening.start()
        if value is not None:
            yield value


def _value_at(text: str, start: int) -> tuple[Any, int, int]:
    """The value that begins here, where to go on, and how far was read; ``None`` where there is no value."""
    try:
        value, end = _STRICT.raw_decode(text, start)
    except (ValueError, RecursionError):
        pass
    else:
        return value, end, end
    reader = _Reader(text, start)
    try:
        return reader.value(0), reader.at, reader.at
    except _Ended as ended:
        if ended.held:
            return ended.held, max(reader.at, start + 1), reader.at
    except _Broken:
        pass
    return None, start + 1, reader.at


class _Reader:
    """One pass over a text from one place on."""

    def __init__(self, text: str, at: int) -> None:
        self.text = text
        self.at = at

    def value(self, depth: int) -> Any:
        self._skip(_SPACE)
        sign = self._sign()
        if sign in ("{", "["):
            if depth >= _DEEPEST:
                raise _Broken
            self.at += 1
            return self._object(depth) if sign == "{" else self._list(depth)
        if sign in _CLOSING:
            return self._quoted()
        if number := _NUMBER.match(self.text, self.at):
            self.at = number.end()
            if self.at == len(self.text):  # there may have been more of it
                raise _Ended
            return _number(number.group())
        word = _BARE.match(self.text, self.at)
        if word is not None and word.group() in _WORDS:
            self.at = word.end()
            return _WORDS[word.group()]
        raise _Broken

    def _list(self, depth: int) -> list[Any]:
        held: list[Any] = []
        while True:
            try:
                self._skip(_COMMAS)
                self._skip(_SPACE)
                if self._sign() == "]":
                    self.at += 1
                    return held
                held.append(self.value(depth + 1))
            except _Ended as ended:
                raise _Ended([*held, ended.held] if ended.held else held) from None
            except _Broken:  # the rest is read anew, as what stands behind
                raise _Ended(held) from None

    def _object(self, depth: int) -> dict[str, Any]:
        held: dict[str, Any] = {}
        name = ""
        while True:
            try:
                self._skip(_COMMAS)
                self._skip(_SPACE)
                if self._sign() == "}":
                    self.at += 1
                    return held
                name = self._name()
                held[name] = self.value(depth + 1)
            except _Ended as ended:
                raise _Ended(Cut({**held, name: ended.held} if ended.held else held)) from None
            except _Broken:
                raise _Ended(Cut(held)) from None

    def _name(self) -> str:
        if self._sign() in _CLOSING:
            name = self._quoted()
        else:
            bare = _BARE.match(self.text, self.at)
            if bare is None:
                raise _Broken
            name, self.at = bare.group(), bare.end()
        if not self._skip(_COLON):
            raise _Broken
        return name

    def _quoted(self) -> str:
        text, ends = self.text, _CLOSING[self.text[self.at]]
        parts: list[str] = []
        self.at += 1
        while self.at < len(text):
            sign = text[self.at]
            if sign == "\\":
                parts.append(self._escape())
                continue
            self.at += 1
            if sign in ends and (_AFTER_TEXT.match(text, self.at) or _NEW_LINE_KEY.match(text, self.at)):
                return "".join(parts)
            parts.append(sign)
        raise _Ended

    def _escape(self) -> str:
        text = self.text
        sign = text[self.at + 1 : self.at + 2]
        if sign == "u":
            digits = text[self.at + 2 : self.at + 6]
            if len(digits) == 4 and all(digit in "0123456789abcdefABCDEF" for digit in digits):
                self.at += 6
                return chr(int(digits, 16))
        self.at += 2
        if sign in _ESCAPED:
            return _ESCAPED[sign]
        return sign if sign in "\"'`\\/\n" else f"\\{sign}"

    def _sign(self) -> str:
        if self.at >= len(self.text):
            raise _Ended
        return self.text[self.at]

    def _skip(self, what: re.Pattern[str]) -> bool:
        found = what.match(self.text, self.at)
        if found is None:
            return False
        self.at = found.end()
        return True


def _number(digits: str) -> int | float:
    try:
        return int(digits)
    except ValueError:
        return float(digits)
