"""Readers of the forms evaluation data come in: each gives groups as plain values, or says where a file misfits."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from hindsight_memory.evals.moments import last_moment, moment

Groups = tuple[str | None, list[dict[str, Any]]]

_LOCOMO_CATEGORIES: Final = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
_DIALOGUE: Final = re.compile(r"D:?(\d+):(\d+)")
_UNANSWERABLE: Final = re.compile(r"unanswerable|abstention", re.IGNORECASE)
_MISSING: Final = object()


class Misfit(Exception):
    """A file is not of the form it seems to have: what is wrong, where, and what to do."""

    def __init__(self, message: str, place: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.place = place
        self.hint = hint


class Record:
    """An object of a file that knows its place in it, so that a wrong field can be named."""

    def __init__(self, data: Any, place: str) -> None:
        if not isinstance(data, dict):
            raise Misfit("an object was expected.", place)
        self.data: Mapping[str, Any] = data
        self.place = place

    def text(self, *names: str, default: str | None = None) -> str:
        """The first of these fields that is there, as text; numbers are taken as they are written."""
        value = next((self.data[name] for name in names if self.data.get(name) is not None), _MISSING)
        if value is _MISSING:
            if default is None:
                raise Misfit(f"{names[0]} is missing.", self.place)
            return default
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise Misfit(f"{names[0]} must be a text.", self.place)
        return str(value).encode("utf-8", "replace").decode("utf-8")  # half a surrogate is no text a store takes

    def needed(self, name: str) -> str:
        """A text that must say something."""
        text = self.text(name)
        if not text.strip():
            raise Misfit(f"{name} is empty.", self.place)
        return text

    def maybe(self, *names: str) -> str | None:
        """The same, or ``None`` where it is missing or empty."""
        return self.text(*names, default="") or None

    def entries(self, name: str, *, needed: bool = True) -> list[Any]:
        """A field that holds a list."""
        value = self.data.get(name)
        if value is None and not needed:
            return []
        if not isinstance(value, list):
            raise Misfit(f"{name} must be a list.", self.place)
        return value

    def texts(self, name: str, *, needed: bool = True) -> list[str]:
        """A field that holds a list of texts."""
        values = self.entries(name, needed=needed)
        return [Record({name: each}, self._under(f"{name}[{n}]")).text(name) for n, each in enumerate(values)]

    def records(self, name: str, *, needed: bool = True) -> list[Record]:
        """A field that holds a list of objects."""
        return [Record(each, self._under(f"{name}[{n}]")) for n, each in enumerate(self.entries(name, needed=needed))]

    def inner(self, name: str) -> Record:
        """A field that holds an object; an empty one where it is missing."""
        return Record(self.data.get(name) or {}, self._under(name))

    def flag(self, name: str) -> bool:
        """A field that is true or false; false where it is missing."""
        value = self.data.get(name)
        if value is not None and not isinstance(value, bool):
            raise Misfit(f"{name} must be true or false.", self.place)
        return bool(value)

    def time(self, *names: str, last: bool = False) -> Any:
        """A time, or ``None`` where it is missing; ``last`` gives the end of a day or month that is named."""
        text = (self.maybe(*names) or "").strip()
        found = (last_moment if last else moment)(text) if text else None
        if text and found is None:
            hint = "Give ISO 8601, such as 2026-05-04T09:00:00Z."
            raise Misfit(f"{names[0]} is {text[:40]!r}, which is not a time.", self.place, hint)
        return found

    def _under(self, name: str) -> str:
        return f"{self.place}.{name}" if self.place else name


def of_groups(data: Any) -> Groups:
    """The common form: groups of memories and queries."""
    whole = Record(data, "")
    groups = []
    for number, group in enumerate(whole.records("groups")):
        items = [_item(record) for record in group.records("memories", needed=False)]
        questions = [_query(record, n) for n, record in enumerate(group.records("queries", needed=False))]
        groups.append({"id": group.text("id", default=str(number)), "items": _said(items), "questions": questions})
    return whole.inner("meta").maybe("name"), groups


def of_lines(text: str) -> list[dict[str, Any]]:
    """A user's own data: a line is a memory or a query, ``group`` says whose."""
    groups: dict[str, dict[str, Any]] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            _add_line(_line(line, f"line {number}"), groups)
    return [{**group, "items": _said(group["items"])} for group in groups.values()]


def of_one_line(data: Any) -> Groups:
    """The same, when there is only one."""
    return None, of_lines(json.dumps(data))


def of_locomo(data: Any) -> Groups:
    """LoCoMo as it is published: samples with a conversation and questions about it."""
    samples = [Record(each, f"[{n}]") for n, each in enumerate(data)]
    return "locomo10", [_locomo_sample(sample, n) for n, sample in enumerate(samples)]


def of_longmemeval(data: Any) -> Groups:
    """LongMemEval as it is published: each question with a history of its own, and so a group of its own."""
    entries = [Record(each, f"[{n}]") for n, each in enumerate(data)]
    return None, [_longmemeval_entry(entry) for entry in entries]


def _line(line: str, place: str) -> Record:
    try:
        return Record(json.loads(line), place)
    except (ValueError, RecursionError) as error:
        raise Misfit(f"not JSON ({getattr(error, 'msg', 'nested too deeply')}).", place) from error


def _add_line(record: Record, groups: dict[str, dict[str, Any]]) -> None:
    name = record.text("group", default="1")
    group = groups.setdefault(name, {"id": name, "items": [], "questions": []})
    if "query" in record.data:
        question = _query(record, len(group["questions"]))
        question["unanswerable"] = question["unanswerable"] or not question["evidence"]
        group["questions"].append(question)
    elif "content" in record.data:
        group["items"].append(_item(record))
    else:
        hint = 'A memory has "id" and "content", a query has "query" and "evidence".'
        raise Misfit("neither a memory nor a query.", record.place, hint)


def _item(record: Record) -> dict[str, Any]:
    return {
        "id": record.needed("id"),
        "content": record.text("content"),
        "at": record.time("timestamp", "occurred_at"),
        "speaker": record.maybe("speaker"),
        "session": record.maybe("session"),
    }


def _said(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Items that say something: a blank one cannot be remembered."""
    return [item for item in items if item["content"].strip()]


def _query(record: Record, number: int) -> dict[str, Any]:
    evidence = record.inner("audit").texts("correct_evidence", needed=False) or record.texts("evidence")
    category = record.text("category", default="")
    # An empty list alone says nothing: two of LoCoMo's answers are inferred from the whole and cite no turn.
    unanswerable = record.flag("abstention") or (not evidence and bool(_UNANSWERABLE.search(category)))
    return {
        "id": record.text("id", default=f"q{number}"),
        "text": record.needed("query"),
        "evidence": evidence,
        "sessions": record.texts("evidence_sessions", needed=False),
        "stale": record.texts("stale", needed=False),
        "category": category,
        "answer": _answer(record),
        "unanswerable": unanswerable,
        "asked_at": record.time("ask_time", last=True),
        "not_from": record.maybe("ask_session"),
    }


def _answer(record: Record) -> str:
    """What a right answer says; the answer of an adversarial question is the trap it sets."""
    if record.flag("adversarial"):
        return ""
    return record.inner("audit").text("correct_answer", default="") or record.text("answer", default="")


def _locomo_sample(sample: Record, number: int) -> dict[str, Any]:
    talk = sample.inner("conversation")
    items: list[dict[str, Any]] = []
    sessions = [name for name in talk.data if re.fullmatch(r"session_\d+", name)]
    for name in sorted(sessions, key=lambda each: int(each[8:])):
        at = talk.time(f"{name}_date_time")
        for turn in talk.records(name):
            said = turn.text("text", default="")
            shown = turn.maybe("blip_caption")
            content = f"{said} [shares image: {shown}]".strip() if shown else said
            speaker = turn.maybe("speaker")
            items.append(
                {
                    "id": turn.needed("dia_id"),
                    "content": content,
                    "at": at,
                    "speaker": speaker,
                    "session": f"S{name[8:]}",
                }
            )
    questions = [_locomo_question(each, f"qa{n}") for n, each in enumerate(sample.records("qa"))]
    return {"id": sample.text("sample_id", default=str(number)), "items": _said(items), "questions": questions}


def _locomo_question(record: Record, identity: str) -> dict[str, Any]:
    # Some lists hold several ids in one text, or a zero too many: «D8:6; D9:17», «D30:05».
    cited = _DIALOGUE.findall(" ".join(record.texts("evidence", needed=False)))
    category = record.data.get("category")
    named = _LOCOMO_CATEGORIES.get(category, str(category)) if isinstance(category, int) else str(category or "")
    return {
        "id": identity,
        "text": record.needed("question"),
        "evidence": [f"D{session}:{int(turn)}" for session, turn in cited],
        "category": named,
        "answer": "" if named == "adversarial" else record.text("answer", default=""),
    }


def _longmemeval_entry(entry: Record) -> dict[str, Any]:
    identity = entry.needed("question_id")
    names = entry.texts("haystack_session_ids")
    dates = [
        Record({"haystack_dates": each}, f"{entry.place}.haystack_dates[{n}]").time("haystack_dates")
        for n, each in enumerate(entry.entries("haystack_dates", needed=False))
    ]
    histories = entry.entries("haystack_sessions")
    if len(names) != len(histories) or (dates and len(dates) != len(histories)):
        raise Misfit("haystack_session_ids, haystack_dates and haystack_sessions differ in length.", entry.place)
    items: list[dict[str, Any]] = []
    evidence: list[str] = []
    for n, name in enumerate(names):
        if name in names[:n]:
            continue  # the same session given twice is remembered once
        turns = Record({"turns": histories[n]}, f"{entry.place}.haystack_sessions[{n}]").records("turns")
        for place, turn in enumerate(turns):
            mark = f"{name}:{place}"
            content, speaker = turn.text("content", default=""), turn.maybe("role")
            at = dates[n] if dates else None
            items.append({"id": mark, "content": content, "at": at, "speaker": speaker, "session": name})
            if turn.flag("has_answer"):
                evidence.append(mark)
    question = {
        "id": identity,
        "text": entry.needed("question"),
        "evidence": evidence,
        "sessions": entry.texts("answer_session_ids", needed=False),
        "category": entry.text("question_type", default=""),
        "answer": entry.text("answer", default=""),
        "unanswerable": "_abs" in identity,
        "asked_at": entry.time("question_date", last=True),
    }
    return {"id": identity, "items": _said(items), "questions": [question]}
