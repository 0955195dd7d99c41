"""Turns as exports hold them: cleaned, dated, cut to size, and counted where they are not conversation."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from hashlib import sha256
from typing import Final

from hindsight_memory.check import parse_time
from hindsight_memory.domain import Message, Role, Skipped
from hindsight_memory.errors import InvalidInput
from hindsight_memory.text.frame import TAG

LONGEST_MESSAGE: Final = 100_000
_LONGEST_ID: Final = 480  # of 500, which leaves room for the number of a piece
_LONGEST_NAME: Final = 200
_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_TEXT_BLOCKS: Final = frozenset({"", "text", "input_text", "output_text"})
_NOISE_BLOCKS: Final = {
    "tool_use": "tool call",
    "server_tool_use": "tool call",
    "mcp_tool_use": "tool call",
    "tool_result": "tool result",
    "web_search_tool_result": "tool result",
    "mcp_tool_result": "tool result",
    "thinking": "thinking block",
    "redacted_thinking": "thinking block",
    "reasoning": "thinking block",
    "token_budget": "token count",
}
_OUR_TAGS: Final = (TAG,)
"""What recall puts into prompts comes back in transcripts; stored again, it would outgrow the conversation."""

_EPOCH: Final = re.compile(r"-?\d{9,}(\.\d+)?")
_CLOCK: Final = (
    r"(?:[ T,]*(?P<hour>\d{1,2})[:\uff1a](?P<minute>\d{2})(?:[:\uff1a](?P<second>\d{2}))?"
    r"(?P<half>\s*[AaPp]\.?[Mm]\b)?)?"
)
_NUMERIC_DATE: Final = re.compile(
    r"(?P<year>\d{4})\s?[-/.年]\s?(?P<month>\d{1,2})\s?[-/.月]\s?(?P<day>\d{1,2})(?!\d)\s?日?" + _CLOCK
)
_NAMED_DATES: Final = tuple(
    re.compile(order + _CLOCK)
    for order in (
        r"(?P<name>[A-Za-z]{3,9})\.? (?P<day>\d{1,2})(?:st|nd|rd|th)?,? (?P<year>\d{4})",
        r"(?P<day>\d{1,2})(?:st|nd|rd|th)? (?P<name>[A-Za-z]{3,9})\.?,? (?P<year>\d{4})",
    )
)
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """One conversation of an export, in order. ``session_id`` is the same at every reading."""

    session_id: str
    messages: tuple[Message, ...]
    title: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What an export says of one turn, before it is checked; ``where`` is its place in the file."""

    where: str
    content: str
    role: Role
    speaker: object = None
    time: object = None
    id: object = None


@dataclass(slots=True, kw_only=True)
class Session:
    """One conversation while it is read.

    A turn without a time has that of the turn before it, or the conversation's own: an old chat must not be
    dated at its import.
    """

    where: str
    id: str = ""
    title: str = ""
    time: datetime | None = None
    messages: list[Message] = field(default_factory=list)
    notes: list[Skipped] = field(default_factory=list)
    noise: Counter[str] = field(default_factory=Counter)

    def note(self, where: str, reason: str) -> None:
        """Keep a line of the report."""
        self.notes.append(Skipped(where, reason))

    def starts(self, time: object) -> None:
        """Take the conversation's own time, unless a turn has already given one."""
        if self.time is None:
            self.time = self._when(time, self.where)

    def texts(self, content: object, where: str) -> list[str]:
        """List the texts of a content: a text, or a list of blocks of which some are tool noise or not text."""
        blocks = content if isinstance(content, list) else [content]
        if not any(block.strip() if isinstance(block, str) else block for block in blocks):
            self.noise["empty message"] += 1
            return []
        found: list[str] = []
        for block in blocks:
            kind = word(block, "type")
            text = block.get("text") if isinstance(block, dict) and kind in _TEXT_BLOCKS else block
            if isinstance(text, str):
                found.append(text)
            elif kind in _NOISE_BLOCKS:
                self.noise[_NOISE_BLOCKS[kind]] += 1
            else:
                self.note(where, f"A part ({label(kind, 40) or type(block).__name__}) is not text.")
        return found

    def take(self, turn: Turn) -> None:
        """Keep a turn, as several messages where it is too long for one. What emptied a blank one is counted."""
        text, injected = without_tags(clean(turn.content), _OUR_TAGS)
        self.noise["injected block"] += injected
        if not text:
            return
        moment = self._when(turn.time, turn.where)
        name = label(turn.id, _LONGEST_ID)
        speaker = label(turn.speaker, _LONGEST_NAME) or None
        for number, piece in enumerate(pieces(text), 1):
            part = name if number == 1 else f"{name}#{number}"
            self.messages.append(
                Message(content=piece, role=turn.role, speaker=speaker, occurred_at=moment, id=part if name else None)
            )

    def finish(self, name: str, position: int = 1) -> Iterator[Transcript | Skipped]:
        """Yield the report of what was left out, then the conversation; ``name`` and ``position`` may name it."""
        yield from self.notes
        if counted := ", ".join(f"{count} × {what}" for what, count in sorted(self.noise.items()) if count):
            yield Skipped(self.where, f"Not conversation, so not stored: {counted}.")
        if not self.messages:
            yield Skipped(self.where, "No turns to store.")
            return
        session_id = self.id or _made_id(name, position, self.messages[0])
        yield Transcript(session_id=session_id, messages=tuple(self.messages), title=self.title)

    def _when(self, value: object, where: str) -> datetime | None:
        if value is None or value == "":
            return self.time
        try:
            self.time = read_time(value)
        except ValueError:
            self.note(where, f"Its time, {str(value)[:60]!r}, could not be read; kept without one.")
            return None
        return self.time


def _made_id(name: str, position: int, first: Message) -> str:
    # The first turn tells apart files that share a name, wherever they lie, and stays when a file grows.
    seed = f"{first.role}\n{first.speaker}\n{first.occurred_at}\n{first.content}"
    digest = sha256(seed.encode()).hexdigest()[:12]
    return f"{label(name.rsplit('/', 1)[-1], 160)}#{position}-{digest}"


def clean(text: str) -> str:
    """Text that every store can hold: no NUL, no half of a surrogate pair, no space around it."""
    return _LONE_SURROGATE.sub("\ufffd", text.replace("\0", "")).strip()


def word(data: object, name: str) -> str:
    """Read a text field of what should be an object; empty where it is not one, or the field no text."""
    value = data.get(name) if isinstance(data, dict) else None
    return value if isinstance(value, str) else ""


def label(value: object, most: int = _LONGEST_NAME) -> str:
    """Make an id, a name or a title one line of at most ``most`` characters, still distinct; empty if there is none."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return ""
    text = " ".join(clean(str(value)).split())
    if len(text) <= most:
        return text
    return f"{text[: most - 13]}~{sha256(text.encode()).hexdigest()[:12]}"


def pieces(text: str, most: int = LONGEST_MESSAGE) -> Iterator[str]:
    """Cut a text into pieces of at most ``most`` characters, between paragraphs, lines, sentences or words."""
    while len(text) > most:
        cuts = (text.rfind(mark, most // 2, most) + len(mark) for mark in ("\n\n", "\n", "。", ". ", " "))
        cut = next((cut for cut in cuts if cut > most // 2), most)
        if piece := text[:cut].strip():
            yield piece
        text = text[cut:].lstrip()
    if text:
        yield text


def without_tags(text: str, tags: tuple[str, ...]) -> tuple[str, int]:
    """Take ``<tag>…</tag>`` blocks out of a text, and count them.

    An unclosed block counts only where it opens the text: further on it is somebody writing about the tag.
    """
    removed = 0
    for tag in tags:
        opening = re.compile(rf"<{tag}(?:\s[^<>]{{0,500}})?>")
        kept: list[str] = []
        start = 0
        while found := opening.search(text, start):
            end = text.find(f"</{tag}>", found.end())
            if end < 0 and "".join([*kept, text[start : found.start()]]).strip():
                break
            kept.append(text[start : found.start()])
            start = len(text) if end < 0 else end + len(tag) + 3
            removed += 1
        text = "".join([*kept, text[start:]])
    return text.strip(), removed


def read_time(value: object) -> datetime:
    """Read the moment an export gives; one without a zone is taken as UTC. Raises ``ValueError`` when it is none."""
    if isinstance(value, str) and _EPOCH.fullmatch(value.strip()):
        value = float(value)
    try:
        return parse_time("time", _from_text(value.strip()) if isinstance(value, str) else value)
    except InvalidInput as error:
        raise ValueError(str(error)) from error


def date_in_front(text: str) -> tuple[datetime | None, str]:
    """Read the date a heading or a file name opens with, as UTC, and what follows it."""
    first, _, rest = text.partition(" ")
    try:
        moment = datetime.fromisoformat(first)
    except ValueError:
        moment = None
    if moment is not None and moment.tzinfo:
        return moment, rest.strip()
    for pattern in (_NUMERIC_DATE, *_NAMED_DATES):
        if found := pattern.match(text):
            try:
                return _from_parts(found), text[found.end() :].strip()
            except ValueError:
                continue
    return None, text


def _from_text(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = _from_other_text(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _from_other_text(text: str) -> datetime:
    moment, rest = date_in_front(text)
    if moment is not None and rest.upper() in {"", "Z", "UTC", "GMT"}:
        return moment
    try:
        return parsedate_to_datetime(text)
    except (TypeError, IndexError, OverflowError) as error:  # what the parser raises for texts that are no mail date
        raise ValueError(text) from error


def _from_parts(found: re.Match[str]) -> datetime:
    part = found.groupdict()
    month = int(part["month"]) if "month" in part else _MONTHS.index(part["name"][:3].lower()) + 1
    hour = int(part["hour"] or 0)
    if half := (part["half"] or "").strip().lower():
        hour = hour % 12 + (12 if half.startswith("p") else 0)
    day = datetime(int(part["year"]), month, int(part["day"]), tzinfo=UTC)
    if hour > 23 or int(part["minute"] or 0) > 59 or int(part["second"] or 0) > 59:
        raise ValueError(found.group())
    return day + timedelta(hours=hour, minutes=int(part["minute"] or 0), seconds=int(part["second"] or 0))
