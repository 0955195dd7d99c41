"""The block that memories are put into a prompt in: how to write one, and how to know one when it comes back."""

from __future__ import annotations

import re
from typing import Final

TAG: Final = "recalled-memory"
_BLOCK: Final = re.compile(rf"<{TAG}>.*?(?:</{TAG}>|\Z)", re.DOTALL | re.IGNORECASE)
_MARK: Final = re.compile(rf"<(\s*/?\s*{TAG})", re.IGNORECASE)


def framed(text: str) -> str:
    """The text as a block."""
    return f"<{TAG}>\n{text}\n</{TAG}>"


def harmless(text: str) -> str:
    """Stored text on one line that can neither close its block nor open another."""
    return _MARK.sub(r"‹\1", " ".join(text.split()))


def without_frames(text: str) -> str:
    """The text without blocks that were put into it: what was recalled must not be stored again as new."""
    return _BLOCK.sub("", text)


def frames_blanked(text: str) -> str:
    """The text with such blocks made blank: everything else stays where it is."""
    return _BLOCK.sub(lambda found: " " * len(found[0]), text)
