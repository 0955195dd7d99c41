"""The audit log as a chain: each line sealed over the one before it, so that what is changed or missing shows."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final

from hindsight_memory.check import Checked, Limits
from hindsight_memory.domain.records import Event
from hindsight_memory.errors import InvalidInput

EMPTYING: Final = frozenset({"purge", "scan"})
"""Verbs that empty what the log said of a memory: a line may be empty only where one of them follows."""
_SEAL: Final = re.compile("[0-9a-f]{64}")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


@dataclass(frozen=True, kw_only=True)
class AuditCheck(Checked):
    """What the log is held against: ``head`` is the ``NUMBER:SEAL`` of a line as it was noted earlier, elsewhere."""

    head: str | None = field(default=None, metadata=Limits(least=3, most=100))


@dataclass(frozen=True, kw_only=True)
class AuditListing(Checked):
    """A page of the log with its seals, oldest first, after the line with the number ``after``."""

    after: int = field(default=0, metadata=Limits(least=0, most=2**53))
    limit: int = field(default=100, metadata=Limits(least=1, most=1_000))


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditLine:
    """One event in its place in the chain; all of the chain in hexadecimal.

    ``digest`` stands for reason and detail, made of them and of ``salt``. When a memory is purged, reason, detail and
    salt of its lines go, and nothing tells what the digest was made of. ``seal`` is over ``previous``, the seal of the
    line before, and all the rest.
    """

    number: int
    event: Event
    salt: str
    digest: str
    previous: str
    seal: str

    @property
    def emptied(self) -> bool:
        """Whether what it said was removed with the memory it was about."""
        return not self.salt


@dataclass(frozen=True, slots=True)
class AuditPage:
    """A page of the log; ``next`` is the ``after`` of the following one, if there is one."""

    lines: tuple[AuditLine, ...]
    next: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LogHead:
    """Between which lines the log of a bank stands, as the bank counts them.

    ``first`` is the number of its first line, ``base`` the seal that one follows; ``last`` and ``seal`` are its end.
    """

    first: int
    base: str
    last: int
    seal: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Audited:
    """What a look at the log found: whether it is whole, else the first number that is wrong and what is wrong there.

    ``head`` is its end as ``NUMBER:SEAL``: noted elsewhere, it later proves that nothing up to there was rewritten.
    ``emptied`` lines belong to memories that were purged.
    """

    whole: bool
    lines: int
    emptied: int = 0
    head: str = ""
    bad: int | None = None
    fault: str = ""


def beginning(bank_id: str) -> str:
    """The seal that the first line of a bank's log follows, so that no line fits into another bank's."""
    return _hashed(["hindsight-memory audit log", bank_id])


def digest_of(salt: str, reason: str, detail: str) -> str:
    """What stands for the reason and the detail (as canonical JSON) of a line, once they may be gone."""
    return _hashed([salt, reason, detail])


def seal_of(previous: str, number: int, event: Event, digest: str) -> str:
    """The seal of a line."""
    at = (event.at - _EPOCH) // _MICROSECOND
    return _hashed([previous, number, event.id, at, event.actor, event.verb, event.memory_id, digest])


def canonical(value: object) -> str:
    """The one JSON text of a value: keys in order, no spaces, letters as they are."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def noted(head: str | None) -> tuple[int, str] | None:
    """Number and seal of a head as it was noted. Raises ``InvalidInput`` for a text that is none."""
    if head is None:
        return None
    number, _, seal = head.strip().partition(":")
    if not (number.isascii() and number.isdecimal() and len(number) < 18 and _SEAL.fullmatch(seal)):
        raise InvalidInput("head is not a NUMBER:SEAL.", hint="Give the head that verify printed.", field="head")
    return int(number), seal


def _hashed(parts: list[object]) -> str:
    return hashlib.sha256(canonical(parts).encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(slots=True)
class Chain:
    """Follows the lines of a log in their order, and says of the first that does not fit what is wrong.

    ``number`` and ``seal`` are those of the last line that fitted, ``noted`` the head it is held against.
    """

    number: int
    seal: str
    noted: tuple[int, str] | None = None
    lines: int = 0
    emptied: int = 0
    _unexplained: dict[str, int] = field(default_factory=dict)

    def rewritten(self) -> Audited | None:
        """The finding where the last line is the one whose seal was noted, and has another."""
        if self.noted is not None and self.noted[0] == self.number and self.noted[1] != self.seal:
            return self.broken(self.number, "the line or one before it was rewritten since its seal was noted")
        return None

    def follow(self, lines: Iterable[AuditLine]) -> Audited | None:
        """Go on with these lines; returns the finding where one does not fit."""
        for line in lines:
            if fault := self._fault(line):
                return self.broken(min(line.number, self.number + 1), fault)
            self.number, self.seal, self.lines = line.number, line.seal, self.lines + 1
            self._empty(line)
            if (found := self.rewritten()) is not None:
                return found
        return None

    def broken(self, number: int, fault: str) -> Audited:
        """The finding that the line with this number is wrong."""
        return Audited(whole=False, lines=self.lines, emptied=self.emptied, bad=number, fault=fault)

    def end(self) -> Audited:
        """The finding once there are no more lines."""
        if self._unexplained:
            number = min(self._unexplained.values())
            return self.broken(number, "the line was emptied, and no later one says why")
        if self.noted is not None and self.noted[0] > self.number:
            return self.broken(self.number + 1, "the log is shorter than when its head was noted")
        head = f"{self.number}:{self.seal}" if self.lines else ""
        return Audited(whole=True, lines=self.lines, emptied=self.emptied, head=head)

    def _fault(self, line: AuditLine) -> str:
        if line.number > self.number + 1:
            return "the line is missing"
        if line.number <= self.number or line.previous not in ("", self.seal):
            return "the line does not follow the one before it"
        if not line.seal:
            return "the line cannot be read"
        event = line.event
        if line.emptied:
            altered = bool(event.reason or event.detail)
        else:
            altered = digest_of(line.salt, event.reason, canonical(event.detail)) != line.digest
        if altered or seal_of(self.seal, line.number, event, line.digest) != line.seal:
            return "the line was changed, put in or moved, or the one before it was"
        return ""

    def _empty(self, line: AuditLine) -> None:
        about = line.event.memory_id or ""
        if line.emptied:
            self.emptied += 1
            self._unexplained.setdefault(about, line.number)
        elif line.event.verb in EMPTYING:
            self._unexplained.pop(about, None)


def checked(lines: Iterable[AuditLine], head: str | None = None) -> Audited:
    """What a look at an exported log finds, from its first line on. Raises ``InvalidInput`` for a head that is none."""
    held = noted(head)
    chain: Chain | None = None
    for line in lines:
        if chain is None:
            chain = Chain(line.number - 1, line.previous, held)
            if (found := chain.rewritten()) is not None:
                return found
        if (found := chain.follow([line])) is not None:
            return found
    return (chain or Chain(0, "", held)).end()
