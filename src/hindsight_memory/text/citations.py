"""Reads out of an answer which lines of a context it cites."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from hindsight_memory.domain import Context

_NUMBER: Final = r"\d{1,3}"
_GAP: Final = r"[ \t\u3000]{0,2}"
_BRACKETS: Final = re.compile(
    rf"[\[【［]{_GAP}({_NUMBER}(?:{_GAP}[-–—~～,，、;；]{_GAP}{_NUMBER})*){_GAP}[\]】］]"  # [2], 【1、3】, ［1～3］
)
_SPAN: Final = re.compile(rf"({_NUMBER}){_GAP}(?:[-–—~～]{_GAP}({_NUMBER}))?")
_CODE: Final = re.compile(r"```.*?(?:```|\Z)|`[^`\n]{1,500}`", re.DOTALL)


def cited(answer: str, context: Context) -> tuple[str, ...]:
    """The ids of the memories that an answer cites, each once, in the order of their first citation.

    Numbers stand in brackets, Western or Chinese, alone, in a list or as a span: ``[2]``, ``[1, 3]``, ``【1-3】``. What
    stands in code, and a number that the context has no line for, cites nothing.
    """
    lines = {each.number: each.memory_id for each in context.citations}
    return tuple(dict.fromkeys(lines[number] for number in _numbers(_CODE.sub(" ", answer), sorted(lines))))


def _numbers(text: str, known: list[int]) -> Iterator[int]:
    for bracket in _BRACKETS.finditer(text):
        for first, last in _SPAN.findall(bracket.group(1)):
            low, high = sorted((int(first), int(last or first)))
            if {low, high} <= set(known):  # else it is a date or a score, such as [10-04]
                yield from (number for number in known if low <= number <= high)
