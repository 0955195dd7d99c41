"""Names with a form of their own: addresses, paths, identifiers, handles, numbered things, what stands in quotes.

Each pattern begins where its run begins and never gives back what it took, so that no text is read twice by any.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from hindsight_memory.text.chinese_names import HAN
from hindsight_memory.text.common import is_common
from hindsight_memory.text.patterns import Lazy

ENDS: Final = " \t\n.,;:!?'\"<>«»“”‘’「」『』《》。，、；：！？…·*"
"""What stands around a name and is no part of it."""

HUMPED: Final = Lazy("[a-z][A-Z]")
"""A capital inside a word: «FastAPI»."""

HAS_HAN: Final = Lazy(f"[{HAN}]")
"""Whether a text has Chinese characters."""

_URL: Final = Lazy(r"(?i)(?<![a-z0-9+])[a-z][a-z0-9+]{1,15}+://([^\s<>\"'`“”«»「」（），。；]++)")
_MAIL: Final = Lazy(r"(?<![A-Za-z0-9_.+@-])[A-Za-z0-9_.+-]++@[A-Za-z0-9-]++(?:\.[A-Za-z0-9-]++)++")
_HANDLE: Final = Lazy(r"(?<![A-Za-z0-9_.@/])@[A-Za-z_][A-Za-z0-9_-]{1,38}+")
_TAG: Final = Lazy(rf"(?<![\w#&/])\#(?:([^\W\d_{HAN}][\w-]{{1,50}}+)|([{HAN}]{{2,12}}+)(?=[#\s]|$))")
_PATH: Final = Lazy(
    r"(?<![A-Za-z0-9_.~/\\:-])(?:(?:~|\.{1,2})?(?:(?:/[A-Za-z0-9_.@{}+-]++){2,}+|/[A-Za-z0-9_.@{}+-]{3,}+)/?"
    r"|[A-Za-z0-9_.-]++(?:/[A-Za-z0-9_.-]++)+(?<=[A-Za-z0-9_])|[A-Za-z]:(?:\\[A-Za-z0-9_.-]++)++)"
)
_EXTENSION: Final = Lazy(r"\.[A-Za-z][A-Za-z0-9]{0,7}$")
_IDENTIFIER: Final = Lazy(
    r"(?<![A-Za-z0-9_.@/\\:-])[A-Za-z_][A-Za-z0-9_-]*+(?:(?:\.|::|->)[A-Za-z_][A-Za-z0-9_-]*+)*+(?::[0-9]{2,5}+(?![0-9:]))?"
)
_ADDRESS: Final = Lazy(r"(?<![0-9.])[0-9]{1,3}(?:\.[0-9]{1,3}){3}(?::[0-9]{2,5})?(?![0-9.])")
_BY_SIGN: Final = (("@", _MAIL), ("@", _HANDLE))
_NAMED_IN_CODE: Final = Lazy("_|[A-Za-z0-9](?:[.:][A-Za-z0-9]|::|->)|[a-z][A-Z]")
_DIGIT: Final = Lazy("[0-9]")
_MARK: Final = Lazy('[`“「『«"《]')
_NOT_DOTTED: Final = Lazy(r"(?i)^(?:e\.g|i\.e|a\.m|p\.m|vs|etc|mr|mrs|dr)\b")
_QUOTED: Final = Lazy(
    r"`([^`\n]{2,80}+)`|[“「『]([^“”「」『』\n]{2,60}+)[”」』]|«\s?([^«»\n]{2,60}+)»|(?<![\w\"])\"([^\"\n]{2,60}+)\"(?![\w\"])"
)
_TITLED: Final = Lazy(r"《([^《》\n]{1,60}+)》")
_SPEECH: Final = Lazy(r"[.!?,;:。！？，；：…、]|(?:^|\s)(?:I|I'm|you|we|it's|my)(?:\s|$)|^[我你他她您]|[了吗吧呢啊呀]$")
_NUMBERED: Final = Lazy(
    r"(?i)(?<![a-z0-9])(room|gate|flight|port|issue|ticket|pr|chapter|version|phase|step|level|floor|unit|apartment|episode"
    r"|season|line|route|highway|section|page|building|task|bug|error|sprint|order|invoice)\s#?([0-9][0-9.]{0,11})(?![0-9a-z%])"
)


def formed_names(text: str) -> Iterator[str]:
    """The names a text's forms give away, as they are written."""
    if "://" in text:
        for match in _URL.pattern.finditer(text):
            address = match[1].rstrip(ENDS + "/)]}")
            yield address.partition("/")[0].rpartition("@")[2]
            yield address
        text = _URL.pattern.sub(" ", text)
    for sign, each in _BY_SIGN:
        if sign in text:
            yield from (match.group() for match in each.pattern.finditer(text))
    if "#" in text:
        yield from (match[1] or match[2] for match in _TAG.pattern.finditer(text))
    if "/" in text or "\\" in text:
        yield from _paths(text)
    if _NAMED_IN_CODE.pattern.search(text):
        yield from (match.group() for match in _IDENTIFIER.pattern.finditer(text) if _is_identifier(match.group()))
    if _DIGIT.pattern.search(text):
        yield from (match.group() for match in _ADDRESS.pattern.finditer(text))
        yield from (f"{match[1]} {match[2]}" for match in _NUMBERED.pattern.finditer(text))
    yield from _quoted(text)


def _quoted(text: str) -> Iterator[str]:
    if not _MARK.pattern.search(text):
        return
    yield from (match[1] for match in _TITLED.pattern.finditer(text))
    for match in _QUOTED.pattern.finditer(text):
        term = match[1] or match[2] or match[3] or match[4]
        if match[1] or _is_term(term):
            yield term


def _paths(text: str) -> Iterator[str]:
    for match in _PATH.pattern.finditer(text):
        path = match.group().rstrip("/.")
        # «he/she», «and/or»: without a slash in front, only an ending makes words a path.
        if path[:1] in "/~." or "\\" in path or _EXTENSION.pattern.search(path):
            yield path
            if _EXTENSION.pattern.search(path):
                yield re.split(r"[/\\]", path)[-1]


def _is_identifier(text: str) -> bool:
    if "_" in text.strip("_") or "::" in text or "->" in text or re.search(r":[0-9]", text):
        return any(character.isalpha() for character in text)
    head, dot, last = text.rpartition(".")
    if not dot:
        return "-" not in text and bool(HUMPED.pattern.search(text)) and not text.endswith(("PMs", "AMs"))
    # A full stop without a space after it is no dot: «done.Then», «end.and».
    spaced = last[:1].isupper() and head[-1:].islower() and "." not in head and not head[:1].isupper()
    return (
        len(last) >= 2 and len(text) >= 4 and not (spaced or _NOT_DOTTED.pattern.match(text) or is_common(last.lower()))
    )


def _is_term(text: str) -> bool:
    """Whether what stands in quotation marks is a term, and not something someone says."""
    if text != text.strip() or _SPEECH.pattern.search(text):
        return False
    if HAS_HAN.pattern.search(text):
        return len(text) <= 12
    words = text.split()
    capitals = sum(word[0].isupper() for word in words)
    return len(words) <= 3 or (len(words) <= 8 and 2 * capitals >= len(words))
