"""An archive read: each line checked against what it may say, counted and hashed; the first fault ends it.

Nothing is believed because it stands in a file: forms and bounds, order, counts, hashes and the log's own chain are
looked at before anything is stored, in memory that does not grow with the texts.
"""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, TypeAlias

from hindsight_memory.domain import AuditLine, Event, Scope, Status
from hindsight_memory.domain.audit import Chain, beginning
from hindsight_memory.errors import InvalidInput
from hindsight_memory.lifecycle.archive import BANK, END, FORMAT, HEADER, MANIFEST, PAGE, VERSION, Book
from hindsight_memory.lifecycle.packing import OTHER_COPY, PLAIN, lines_of
from hindsight_memory.store.parts import EVENT, HEAD, MEMORY, PARTS, VECTOR, Key, Line, Part

_ORDER: Final[Mapping[str, tuple[int, Part]]] = {
    part.name: (place, part) for place, part in enumerate((*PARTS, VECTOR))
}


@dataclass(frozen=True, slots=True)
class Opened:
    """A bank begins."""

    scope: Scope
    head: Line


@dataclass(frozen=True, slots=True)
class Page:
    """Lines of a part of the bank that began last."""

    part: Part
    lines: list[Line]


@dataclass(frozen=True, slots=True)
class Closed:
    """The bank that began last is at its end; ``note`` says what is to be known of it."""

    lines: Mapping[str, int]
    sha256: str
    note: str


Item: TypeAlias = Opened | Page | Closed


def read(path: Path, passphrase: str | None = None) -> Iterator[Item]:
    """What an archive holds, in its order.

    Raises ``InvalidInput`` naming the first line, and the field, that is not as it must be.
    """
    reading = _Reading()
    for number, data in enumerate(lines_of(path, passphrase), 1):
        try:
            yield from reading.line(data)
        except InvalidInput as error:
            said = f"Line {number} of the archive: {error.message}"
            raise InvalidInput(said, hint=error.hint or OTHER_COPY, field=error.field or "path") from error
    reading.must_be_done()


@dataclass(slots=True)
class _Bank:
    """What must fit together within one bank."""

    scope: Scope
    head: Line
    chain: Chain
    place: int = 0
    last: Key | None = None
    page: list[Line] = field(default_factory=list)
    part: Part | None = None
    rows: set[int] = field(default_factory=set)
    seen: set[bytes] = field(default_factory=set)
    fault: str = ""

    def add(self, part: Part, line: Line) -> None:
        """Take a line, in its order."""
        part.cells(line)
        place = _ORDER[part.name][0]
        key = part.key_of(line)
        if place < self.place or (place == self.place and self.last is not None and key <= self.last):
            raise InvalidInput(f"{part.name} {key} is not behind the line before it.", field=part.name)
        self.place, self.last = place, key
        if part is EVENT:
            self._event(line)
        elif part is MEMORY:
            self._memory(line)
        elif part is VECTOR and line["row"] not in self.rows:
            raise InvalidInput("vector.row is of no memory.", field="vector.row")

    def _event(self, line: Line) -> None:
        if not self.head["log_first"] <= line["number"] < self.head["next_event"]:
            raise InvalidInput("event.number is outside of the bank's log.", field="event.number")
        if not self.fault and (found := self.chain.follow([_audit_line(self.scope.bank, line)])) is not None:
            self.fault = f"line {found.bad}: {found.fault}"

    def _memory(self, line: Line) -> None:
        if line["row"] >= self.head["next_row"]:
            raise InvalidInput("memory.row is beyond what the bank counts.", field="memory.row")
        self.rows.add(line["row"])
        self._once(f"id {line['id']}", "memory.id")
        if line["status"] == Status.ACTIVE:
            self._once(f"hash {line['content_hash']}", "memory.content_hash")

    def _once(self, said: str, name: str) -> None:
        short = blake2b(said.encode(), digest_size=10).digest()
        if short in self.seen:
            raise InvalidInput(f"{name} is that of another memory too.", field=name)
        self.seen.add(short)

    def note(self) -> str:
        """What is to be said of its log."""
        if not self.fault:
            found = self.chain.end()
            told = (self.head["next_event"] - 1, _hexadecimal(self.head["log_seal"]) or beginning(self.scope.bank))
            if not found.whole:
                self.fault = f"line {found.bad}: {found.fault}"
            elif (self.chain.number, self.chain.seal) != told:
                self.fault = f"line {self.chain.number}: it is not the bank's last line"
        return f"Its log is not whole ({self.fault}); it is kept as it is." if self.fault else ""


class _Reading:
    """Follows the lines of an archive."""

    def __init__(self) -> None:
        self._book = Book()
        self._bank: _Bank | None = None
        self._before = ""
        self._begun = False
        self._done = False

    def line(self, data: bytes) -> Iterator[Item]:
        """What a line adds."""
        if self._done:
            raise InvalidInput("it stands behind the end.")
        if not self._begun and not data.startswith(PLAIN):
            self._header(None)
        name, value = _said(data)
        if name == MANIFEST:  # over all that stands before it
            self._close(value)
            return
        if name != END:
            self._take(name, data)
        if not self._begun:
            self._header(value if name == HEADER else None)
        elif name == BANK:
            yield self._open(value)
        elif self._bank is None:
            raise InvalidInput(f"{name!r} stands in no bank.")
        elif name == END:
            yield from self._end(self._bank, value, data)
        else:
            yield from self._add(self._bank, name, value)

    def must_be_done(self) -> None:
        """Raise ``InvalidInput`` where it ended too soon."""
        if not self._done:
            said = f"The archive was cut off: it ends with line {self._book.lines}, before its manifest."
            raise InvalidInput(said, hint=OTHER_COPY, field="path")

    def _take(self, name: str, data: bytes) -> None:
        if name == BANK:
            self._book.begin()
        self._book.add(data + b"\n", name if name in _ORDER else "")

    def _header(self, value: Any) -> None:
        if not isinstance(value, Mapping) or value.get("format") != FORMAT:
            raise InvalidInput("it is no archive of this program.", hint="Give what export wrote.")
        version = value.get("version")
        if isinstance(version, bool) or not isinstance(version, int) or version < 1:
            raise InvalidInput("its version is no number.")
        if version > VERSION:
            hint = "Upgrade with: pip install --upgrade hindsight-memory."
            raise InvalidInput(f"it is of version {version}; this program reads {VERSION} and older.", hint=hint)
        self._begun = True

    def _open(self, value: Any) -> Opened:
        if self._bank is not None:
            raise InvalidInput("a bank begins before the one before it has ended.")
        HEAD.cells(value)
        scope = Scope(namespace=value["namespace"], user_id=value.get("user_id"))
        if scope.bank <= self._before:
            raise InvalidInput("the bank is not behind the one before it.", field=BANK)
        self._before = scope.bank
        base = _hexadecimal(value["log_base"]) or beginning(scope.bank)
        self._bank = _Bank(scope, value, Chain(value["log_first"] - 1, base))
        return Opened(scope, value)

    def _add(self, bank: _Bank, name: str, value: Any) -> Iterator[Page]:
        if name not in _ORDER:
            raise InvalidInput(f"{name!r} is not known here.", field=name)
        part = _ORDER[name][1]
        if bank.page and (bank.part is not part or len(bank.page) >= PAGE):
            yield self._turned(bank)
        bank.add(part, value)
        bank.part = part
        bank.page.append(value)

    def _turned(self, bank: _Bank) -> Page:
        assert bank.part is not None
        page, bank.page = bank.page, []
        return Page(bank.part, page)

    def _end(self, bank: _Bank, value: Any, data: bytes) -> Iterator[Item]:
        if bank.page:
            yield self._turned(bank)
        counted = self._book.end()
        _must_agree(value, counted, "the bank")
        self._book.add(data + b"\n")
        self._bank = None
        yield Closed(counted["lines"], counted["sha256"], bank.note())

    def _close(self, value: Any) -> None:
        if self._bank is not None or not self._begun:
            raise InvalidInput("the manifest stands in the middle.")
        _must_agree(value, self._book.manifest(), "the archive")
        self._done = True


def _must_agree(value: Any, counted: Mapping[str, Any], what: str) -> None:
    if not isinstance(value, Mapping):
        raise InvalidInput(f"what it says of {what} is no object.")
    for name, number in counted.items():
        if value.get(name) != number:
            raise InvalidInput(f"{name} of {what} is not what stands before it: it was changed or damaged.", field=name)


def _said(data: bytes) -> tuple[str, Any]:
    try:
        value = json.loads(data.decode())
    except (ValueError, RecursionError) as error:
        raise InvalidInput("it is not JSON.") from error
    if not isinstance(value, dict) or len(value) != 1:
        raise InvalidInput("it is not an object with one name.")
    return next(iter(value.items()))


def _audit_line(bank: str, line: Line) -> AuditLine:
    event = Event(
        id=line["id"],
        bank_id=bank,
        at=datetime.fromisoformat(line["at"]),
        actor=line["actor"],
        verb=line["verb"],
        memory_id=line.get("memory_id"),
        reason=line["reason"],
        detail=line["detail"],
    )
    chained = {name: _hexadecimal(line[name]) for name in ("salt", "digest", "seal")}
    return AuditLine(number=line["number"], event=event, previous="", **chained)


def _hexadecimal(value: str) -> str:
    return b64decode(value).hex()
