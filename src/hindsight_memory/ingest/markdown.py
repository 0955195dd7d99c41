"""Markdown files: chat logs in the forms people keep them in, and notes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import PurePath
from typing import Final, NamedTuple

from hindsight_memory.domain import Role, Skipped
from hindsight_memory.ingest.turns import Session, Transcript, Turn, date_in_front, label, read_time

_ASKS: Final = {"user", "human", "you", "me", "prompt", "question", "用户", "我", "提问"}
_ANSWERS: Final = {
    "assistant", "ai", "bot", "chatgpt", "claude", "gemini", "gpt", "copilot", "codex", "deepseek", "kimi",
    "model", "response", "answer", "助手", "机器人", "回答", "豆包", "通义千问",
}  # fmt: skip
_OTHERS: Final = {"system": Role.SYSTEM, "developer": Role.SYSTEM, "系统": Role.SYSTEM, "tool": Role.TOOL}
_LONGEST_HEADING: Final = 1_000
_GENERIC: Final = _ASKS | {"assistant", "ai", "bot", "model", "response", "answer", "助手", "机器人", "回答"}

_NAME: Final = r"(?P<name>[^\W\d_][\w .'’·-]{0,39}?)"
_BEFORE: Final = r"(?:\[(?P<before>[^\]]{4,40})\]\s*)?"
_AFTER: Final = r"(?:\s*[(\uff08\[](?P<after>[^)\uff09\]]{4,40})[)\uff09\]])?"
_STARS: Final = r"(?:\*\*|__)"
_BOLD: Final = re.compile(  # the colon and the time stand inside or outside of the stars
    rf"{_BEFORE}{_STARS}{_NAME}{_AFTER}\s*"
    rf"(?:[:\uff1a]\s*{_STARS}|{_STARS}{_AFTER.replace('after', 'later')}\s*[:\uff1a])(?P<text>.*)"
)
_PLAIN: Final = re.compile(rf"{_BEFORE}{_NAME}{_AFTER}\s*(?::(?=\s|$|[^\x00-\x7f])|\uff1a)(?P<text>.*)")
_HEADING: Final = re.compile(r"#{1,6}\s+(?P<title>.*?)\s*#*")
_TURN_HEADING: Final = re.compile(rf"(?:\W\s*)?(?:\*\*)?{_NAME}(?:\*\*)?{_AFTER}\s*[:\uff1a]?(?:\*\*)?")
_FENCE: Final = re.compile(r"\s*(?:```|~~~)")
_RULE: Final = re.compile(r"\s*(?:-{3,}|\*{3,}|_{3,})\s*")
_CLOCK: Final = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}))?")
_FRONT: Final = re.compile(r"---[ \t]*\n(?P<body>.{0,20000}?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_FRONT_LINE: Final = re.compile(r"(?P<name>date|created|created_at|title)\s*:(?P<value>.*)", re.IGNORECASE)


class Mark(NamedTuple):
    """A line that opens a turn: who speaks, when, and what stands behind it on the line."""

    name: str
    text: str
    time: str


@dataclass(slots=True)
class Line:
    """One line, and what it is: in a code block, a heading, a date, the start of a turn."""

    number: int
    text: str
    code: bool = False
    heading: str | None = None
    date: datetime | None = None
    marks: dict[str, Mark] = field(default_factory=dict)


def read_markdown(text: str, name: str) -> Iterator[Transcript | Skipped]:
    """Read a chat log as one conversation with its speakers, any other file as a note, a message a section."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    session = Session(where=name)
    text, first = _front_matter(text, session)
    # Daily notes carry their date in their name.
    session.time = session.time or date_in_front(PurePath(name).stem)[0]
    lines = list(_lines(text, first))
    style = _style(lines)
    if style:
        _chat(session, lines, style, name)
    else:
        _note(session, lines, name)
    yield from session.finish(name)


def _front_matter(text: str, session: Session) -> tuple[str, int]:
    found = _FRONT.match(text)
    if not found:
        return text, 1
    for line in found["body"].split("\n"):
        if pair := _FRONT_LINE.fullmatch(line):
            value = pair["value"].strip().strip("\"'")
            if pair["name"].lower() == "title":
                session.title = label(value, 300)
            else:
                session.starts(value)
    return text[found.end() :], found.group().count("\n") + 1


def _lines(text: str, first: int) -> Iterator[Line]:
    fenced = False
    for number, raw in enumerate(text.split("\n"), first):
        line = Line(number, raw.rstrip())
        fence = _FENCE.match(raw)
        line.code = fenced or bool(fence)
        fenced ^= bool(fence)
        if not line.code:
            _describe(line)
        yield line


def _describe(line: Line) -> None:
    if len(line.text) <= _LONGEST_HEADING and (found := _HEADING.fullmatch(line.text)):
        line.heading = found["title"]
        line.date = date_in_front(line.heading)[0]
        turn = _TURN_HEADING.fullmatch(line.heading)
        if turn and line.date is None and _role(turn["name"]):
            line.marks["heading"] = Mark(turn["name"], "", turn["after"] or "")
        return
    if found := _BOLD.match(line.text):
        time = found["before"] or found["after"] or found["later"] or ""
        line.marks["bold"] = Mark(found["name"].strip(), found["text"].strip(), time)
    elif found := _PLAIN.match(line.text):
        time = found["before"] or found["after"] or ""
        line.marks["plain"] = Mark(found["name"].strip(), found["text"].strip(), time)


def _style(lines: Sequence[Line]) -> str | None:
    """How the file marks its turns: ``heading``, ``bold`` or ``plain``; ``None`` when it is a note."""
    body = [line for line in lines if line.text.strip() and not _RULE.fullmatch(line.text)]
    opening = next((line for line in body if line.heading is None or line.marks), None)
    for style in ("heading", "bold", "plain"):
        names = [line.marks[style].name for line in body if style in line.marks]
        opens = opening is not None and style in opening.marks
        if names and _is_chat(names, opens=opens, bold=style == "bold"):
            return style
    return None


def _is_chat(names: Sequence[str], *, opens: bool, bold: bool) -> bool:
    different = {name.casefold() for name in names}
    asks, answers = different & _ASKS, different & _ANSWERS
    if asks and answers:
        return True
    # "Name: value" lines are common in notes; people who talk do so from the start and more than once.
    repeated = len(different) >= 2 and (bold or len(names) >= 2 * len(different))
    return opens and bool(asks or answers or repeated)


def _role(name: str) -> Role | None:
    known = name.strip().casefold()
    if known in _ASKS:
        return Role.USER
    return Role.ASSISTANT if known in _ANSWERS else _OTHERS.get(known)


def _chat(session: Session, lines: Sequence[Line], style: str, name: str) -> None:
    mark: Mark | None = None
    said: list[str] = []
    where = name
    for line in lines:
        if style in line.marks:
            _said(session, mark, said, where)
            mark, where = line.marks[style], f"{name}:{line.number}"
            said = [mark.text]
        elif line.date is not None:
            _said(session, mark, said, where)
            session.time, mark, said = line.date, None, []
        elif line.heading and mark is None:
            session.title = session.title or label(line.heading, 300)
        elif line.code or not _RULE.fullmatch(line.text):
            said.append(line.text)
    _said(session, mark, said, where)


def _said(session: Session, mark: Mark | None, said: Sequence[str], where: str) -> None:
    text = "\n".join(said).strip()
    if mark is None:
        if text:
            session.note(where, f"Text outside any turn: {label(text, 60)}")
        return
    role = _role(mark.name) or Role.USER
    if role in {Role.SYSTEM, Role.TOOL}:
        session.noise[f"{role} message"] += 1
        return
    if not text:
        session.noise["empty message"] += 1
    speaker = None if mark.name.casefold() in _GENERIC else mark.name
    session.take(Turn(where=where, content=text, role=role, speaker=speaker, time=_clock(mark.time, session.time)))


def _clock(text: str, day: datetime | None) -> object:
    """Read the time beside a name; a bare clock time belongs to the day the log is at."""
    found = _CLOCK.fullmatch(text.strip())
    if not found:
        try:
            return read_time(text)
        except ValueError:
            return None  # "Maya (designer)": a remark, not a time
    if day is None:
        return None
    hour, minute, second = (int(part or 0) for part in found.groups())
    return day.replace(hour=0, minute=0, second=0) + timedelta(hours=hour, minutes=minute, seconds=second)


def _note(session: Session, lines: Sequence[Line], name: str) -> None:
    heading: Line | None = None
    said: list[str] = []
    for line in lines:
        if line.heading is None:
            said.append(line.text)
            continue
        _section(session, heading, said, name)
        session.title = session.title or label(line.heading, 300)
        session.time = line.date or session.time
        heading, said = line, []
    _section(session, heading, said, name)


def _section(session: Session, heading: Line | None, said: Sequence[str], name: str) -> None:
    body = "\n".join(said).strip()
    if not body:
        session.noise["heading without text"] += heading is not None
        return
    where = f"{name}:{heading.number if heading else 1}"
    text = f"{heading.heading}\n{body}" if heading else body
    session.take(Turn(where=where, content=text, role=Role.USER))
