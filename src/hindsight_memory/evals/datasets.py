"""Evaluation data as typed values: memories and labelled questions in groups, read from any of the known forms."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from hindsight_memory.errors import InvalidInput
from hindsight_memory.evals import forms
from hindsight_memory.evals.forms import Misfit

_KNOWN: Final = (
    "Known forms: {groups: [{memories, queries}]}, LoCoMo's locomo10.json, LongMemEval's files, and JSON lines of "
    'memories {"id", "content"} and queries {"query", "evidence"}; see docs/evaluation.md.'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One memory of the data. ``at`` is when it happened; a naive time of the data is read as UTC."""

    id: str
    content: str
    at: datetime | None = None
    speaker: str | None = None
    session: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One labelled question.

    ``evidence`` are the items that answer it, ``stale`` superseded ones that must not rank above them.
    ``unanswerable`` says that nothing in the group answers it. ``asked_at`` is the last moment of the time at which
    it is asked; with ``not_from``, the session it is asked in, only what was known before may be found.
    """

    id: str
    text: str
    evidence: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()
    category: str = ""
    answer: str = ""
    unanswerable: bool = False
    asked_at: datetime | None = None
    not_from: str | None = None

    @property
    def known_until(self) -> datetime | None:
        """The moment after which nothing may be found, where the data asks for such a bound.

        RealMem's questions name the session they are asked in, and its rule is «dated before, and not from there».
        A time without a session (LifeBench, LongMemEval) only says when the question is asked: everything in those
        groups may be found, so no filter is applied; none of LifeBench's evidence lies after it either.
        """
        return self.asked_at if self.not_from is not None else None


@dataclass(frozen=True, slots=True)
class Group:
    """One person or conversation: it becomes one bank."""

    id: str
    items: tuple[Item, ...]
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class DataSet:
    """The groups of one file, measured together and never with those of another."""

    name: str
    groups: tuple[Group, ...]

    def cut(self, groups: int | None, questions: int | None) -> DataSet:
        """Its first groups, and the first questions of each: for a quick run."""
        kept = self.groups[:groups]
        return replace(self, groups=tuple(replace(group, questions=group.questions[:questions]) for group in kept))


def read_all(paths: Sequence[Path]) -> list[DataSet]:
    """The sets of several files; a name that comes twice is numbered, so that no two share a bank."""
    found: list[DataSet] = []
    for path in paths:
        data = read(path)
        names = {each.name for each in found}
        name, number = data.name, 2
        while name in names:
            name, number = f"{data.name} {number}", number + 1
        found.append(replace(data, name=name))
    return found


def read(path: Path) -> DataSet:
    """The set in a file, whose form is told by what it holds.

    Raises ``InvalidInput`` naming the file, the place in it and what to do.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise InvalidInput(
            f"{path} cannot be read: {reason}.", hint="Give a file of JSON in UTF-8.", field="data"
        ) from (error)
    try:
        name, groups = _parsed(text)
        _unique((group["id"] for group in groups), "groups")
        return DataSet(name or path.stem, tuple(_group(each) for each in groups))
    except Misfit as error:
        where = f", {error.place}" if error.place else ""
        raise InvalidInput(f"{path}{where}: {error.message}", hint=error.hint or _KNOWN, field="data") from error


def _parsed(text: str) -> tuple[str | None, list[dict[str, Any]]]:
    try:
        data = json.loads(text)
    except RecursionError:
        raise Misfit("it is nested too deeply.") from None
    except ValueError as error:
        if _has_lines(text):
            return None, forms.of_lines(text)
        place = f"line {getattr(error, 'lineno', 1)}, column {getattr(error, 'colno', 1)}"
        raise Misfit(f"not JSON ({getattr(error, 'msg', error)}).", place) from error
    for fits, read_form in _FORMS:
        if fits(data):
            return read_form(data)
    raise Misfit("its form is not known.")


def _has_lines(text: str) -> bool:
    """Whether a text that is not one JSON value is a value a line: its first line is one by itself."""
    first = next((line for line in text.split("\n") if line.strip()), "")
    try:
        return isinstance(json.loads(first), dict)
    except (ValueError, RecursionError):
        return False


def _first(data: Any) -> Any:
    return data[0] if isinstance(data, list) and data else None


_FORMS: Final[Sequence[tuple[Callable[[Any], bool], Callable[[Any], tuple[str | None, list[dict[str, Any]]]]]]] = (
    (lambda data: isinstance(data, dict) and "groups" in data, forms.of_groups),
    (lambda data: isinstance(_first(data), dict) and {"conversation", "qa"} <= _first(data).keys(), forms.of_locomo),
    (lambda data: isinstance(_first(data), dict) and "haystack_sessions" in _first(data), forms.of_longmemeval),
    (lambda data: isinstance(data, dict) and bool({"content", "query"} & data.keys()), forms.of_one_line),
)


def _group(data: dict[str, Any]) -> Group:
    items = tuple(Item(**each) for each in data["items"])
    _unique((item.id for item in items), f"memories of group {data['id']!r}")
    return Group(data["id"], items, tuple(_question(each, items) for each in data["questions"]))


def _unique(ids: Iterable[str], what: str) -> None:
    twice = next((each for each, count in Counter(ids).items() if count > 1), None)
    if twice is not None:
        raise Misfit(f"two {what} have the id {twice!r}.", hint="Make ids unique.")


def _question(data: dict[str, Any], items: Sequence[Item]) -> Question:
    """A question with the evidence that is among the memories; its sessions are those of the evidence, if not given."""
    sessions = {item.id: item.session for item in items}
    evidence = tuple(each for each in dict.fromkeys(data.pop("evidence")) if each in sessions)
    stale = tuple(each for each in dict.fromkeys(data.pop("stale", ())) if each in sessions)
    named = data.pop("sessions", ()) or [sessions[each] for each in evidence]
    held = set(sessions.values())
    return Question(
        **data,
        evidence=() if data.get("unanswerable") else evidence,
        stale=stale,
        sessions=tuple(each for each in dict.fromkeys(named) if each is not None and each in held),
    )
