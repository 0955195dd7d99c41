"""The block that memories are put into a prompt in: how to write one, and how to know one when it comes back."""

from __future__ import annotations

import re
from typing import Final

TAG: Final = "recalled-memory"
_BLOCK: Final = re.compile(rf"<{TAG}>.*?(?:</{TAG}>|\Z)", re.DOTALL | re.IGNORECASE)
_UNSEEN: Final = re.compile("[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]")
"""What nobody sees, and what turns the order of letters round: it would hide a mark from whoever looks for one."""
_OPENING: Final = re.compile(r"[<＜﹤](?=[\W_]{0,16}(?:[a-z|]|\Z))", re.IGNORECASE)
"""What could begin a mark: of this block, of a role («<system>», «<|im_start|>»), or of a tool."""
_NUMBERED: Final = re.compile(r"[\[［【]\s*(/?\s*(?:\d{1,3}|INST|SYS))\s*[\]］】]", re.IGNORECASE)
"""What looks like the number of a line, or the mark of a role."""
_MARKED: Final = re.compile(
    r"[(（]\s*((?:unsure|disputed|unvouched|(?:un)?confirmed|verified|trusted)\b[^()（）]{0,40})[)）]", re.IGNORECASE
)
"""What looks like one of the marks of a line."""


def framed(text: str) -> str:
    """The text as a block."""
    return f"<{TAG}>\n{text}\n</{TAG}>"


def harmless(text: str) -> str:
    """Stored text on one line that can neither end its block, nor open one, nor look like a line, mark or role."""
    line = " ".join(_UNSEEN.sub("", text).split())
    line = _OPENING.sub("‹", line)
    return _MARKED.sub(r"‹\1›", _NUMBERED.sub(r"‹\1›", line))


def label(text: str) -> str:
    """A name for the head of a line: harmless, short, and without what heads are made of."""
    return " ".join(_HEAD.sub(" ", harmless(text)).split())[:_LONGEST_LABEL].strip()


_HEAD: Final = re.compile(r"[()\[\]{}（）［］【】,，]")
_LONGEST_LABEL: Final = 60


def without_frames(text: str) -> str:
    """The text without blocks that were put into it: what was recalled must not be stored again as new."""
    return _BLOCK.sub("", text)


def frames_blanked(text: str) -> str:
    """The text with such blocks made blank: everything else stays where it is."""
    return _BLOCK.sub(lambda found: " " * len(found[0]), text)
