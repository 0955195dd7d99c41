"""The prompts, one file a task and language, and how what they are about is put before a model: as quoted data."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final, Literal, TypeAlias

from hindsight_memory.text.chinese_names import HAN

Language: TypeAlias = Literal["en", "zh"]

_READ: Final = 4_000
_HAN: Final = re.compile(f"[{HAN}]")
_KANA: Final = re.compile("[\u3041-\u30fa]")
_WORD: Final = re.compile(r"[^\W\d_]+")
_CONTROL: Final = re.compile(r"<(?=[|｜/!A-Za-z])|\[(?=/?(?:INST|SYS|AVAILABLE_TOOLS|TOOL_)\b)")
"""What opens a tag, or a control word of a chat template: some servers obey those wherever they stand."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a model is told to do, and the data it is about."""

    system: str
    data: str


def prompt_for(task: str, data: Mapping[str, Any], text: str) -> Prompt:
    """The prompt of a task in the language of ``text``, with its data."""
    return Prompt(instructions(task, language_of(text)), quoted_data(data))


@cache
def instructions(task: str, language: Language) -> str:
    """The text of the file that says what to do."""
    return (files(__package__) / language / f"{task}.md").read_text(encoding="utf-8").strip()


def language_of(text: str) -> Language:
    """Chinese where a text has more Chinese characters than words of other letters; else English, for want of more."""
    text = text[:_READ]
    chinese = len(_HAN.findall(text))
    if not chinese or len(_KANA.findall(text)) * 4 > chinese:
        return "en"
    words = sum(not _HAN.search(word) for word in _WORD.findall(_HAN.sub(" ", text)))
    return "zh" if chinese > words else "en"


def quoted_data(data: Mapping[str, Any]) -> str:
    """Data as JSON, which nothing inside can end: no quote, no fence, no tag, no control word of a chat template."""
    text = json.dumps(data, ensure_ascii=False).encode("utf-8", "replace").decode()  # no half of a surrogate pair
    return _CONTROL.sub(lambda found: f"\\u{ord(found.group()):04x}", text)
