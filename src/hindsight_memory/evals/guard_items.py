"""Attacks and harmless texts with what they are, in two halves: the weights of the screen are fitted on one alone."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from hindsight_memory.errors import InvalidInput

FIT: Final = "fit"
REPORT: Final = "report"
PAYLOAD: Final = "attack_payload"
EMBEDDED: Final = "embedded"
"""A payload in an ordinary text."""
TURN: Final = "turn"
"""What somebody said or did, of the evaluation sets without attacks."""
OURS: Final = "ours"
ERRANDS: Final = "our errands"
"""Our own bare tasks: attacks only because a document says them."""
_HARD: Final = ("hard_negative", "benign:tricky")
_LABELS: Final = frozenset({"attack", PAYLOAD, "benign"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One text to be weighed; ``hidden`` is the payload of an embedded one.

    ``label`` is ``attack``, ``attack_payload``, ``embedded``, ``benign``, ``hard`` or ``turn``.
    """

    id: str
    text: str
    label: str
    source: str
    language: str
    category: str = ""
    half: str
    hidden: str = ""

    @property
    def hostile(self) -> bool:
        """Whether it should be stopped."""
        return self.label not in ("benign", "hard", TURN)


def half_of(row_id: str) -> str:
    """The half that an item belongs to, whatever else there is: by a hash of its id."""
    return REPORT if sha256(row_id.encode()).digest()[0] % 2 else FIT


def read_items(path: Path) -> list[Row]:
    """The items of a file, and each payload once more in an ordinary English text and once in a Chinese one.

    Raises ``InvalidInput`` for anything but ``{"items": [{"id", "text", "label"}]}``.
    """
    rows = [_row(path, each) for each in _read(path)]
    return rows + [hidden for row in rows if row.label == PAYLOAD for hidden in embedded(row, ("en", "zh"))]


def own_items() -> list[Row]:
    """The sentences that come with the program: attacks, bare and in an ordinary text, and what only looks like one."""
    rows: list[Row] = []
    for pair in _own()["pairs"]:
        for name, label in (("attack", "attack"), ("harmless", "hard")):
            row = Row(
                id=f"{pair['id']}-{name}",
                text=pair[name],
                label=label,
                source=OURS,
                language=pair["lang"],
                category=f"{pair['kind']} {name}",
                half=half_of(pair["id"]),
            )
            rows += [row, *embedded(row, (pair["lang"],))]
    for category, label in (("loose", "attack"), ("plain", "hard")):
        rows += [_own_row(each, category, label) for each in _own()[category]]
    for number, carrier in enumerate(_own()["carriers"]):
        rows.append(
            Row(
                id=f"carrier-{number}",
                text=carrier["text"].replace("{}", ""),
                label="benign",
                source=OURS,
                language=carrier["lang"],
                category="carrier",
                half=carrier["half"],
            )
        )
    return rows


def lessons() -> list[Row]:
    """The sentences to learn from alone: all are of the half for fitting, and no figure counts them."""
    rows: list[Row] = []
    for lesson in _own("lessons.json")["lessons"]:
        for number, text in enumerate(lesson["texts"]):
            row = Row(
                id=f"{lesson['kind']} {lesson['lang']} {number}",
                text=text,
                label=lesson["label"],
                source=ERRANDS if lesson["label"] == PAYLOAD else OURS,
                language=lesson["lang"],
                category=lesson["kind"],
                half=FIT,
            )
            rows.append(row)
            if row.hostile:
                rows += embedded(row, (row.language,))
    return rows


def _own_row(each: Mapping[str, Any], category: str, label: str) -> Row:
    row_id, text, language = each["id"], each["text"], each["lang"]
    half = half_of(row_id)
    return Row(id=row_id, text=text, label=label, source=OURS, language=language, category=category, half=half)


def embedded(row: Row, languages: Sequence[str]) -> Iterator[Row]:
    """The row inside an ordinary text of each language; the two halves share no such text."""
    for language in languages:
        fitting = [each for each in _own()["carriers"] if (each["lang"], each["half"]) == (language, row.half)]
        carrier = fitting[sha256(row.id.encode()).digest()[1] % len(fitting)]
        yield Row(
            id=f"{row.id} in {language}",
            text=carrier["text"].replace("{}", row.text.strip()),
            label=EMBEDDED if row.hostile else row.label,
            source=row.source,
            language=language,
            category=f"{row.category} in {carrier['kind']}",
            half=row.half,
            hidden=row.text.strip(),
        )


@cache
def _own(name: str = "attacks.json") -> Mapping[str, Any]:
    held: Mapping[str, Any] = json.loads((files("hindsight_memory.evals") / name).read_text(encoding="utf-8"))
    return held


def _read(path: Path) -> list[Mapping[str, Any]]:
    try:
        held = json.loads(path.read_text(encoding="utf-8-sig"))
        items = held["items"] if isinstance(held, dict) else held
    except (OSError, ValueError, KeyError, RecursionError) as error:
        hint = 'Give JSON: {"items": [{"id", "text", "label"}]}.'
        raise InvalidInput(f"{path} holds no items: {error}.", hint=hint, field="data") from error
    if not isinstance(items, list) or not all(isinstance(each, dict) for each in items):
        raise InvalidInput(f"{path} holds no list of items.", field="data")
    return items


def _row(path: Path, each: Mapping[str, Any]) -> Row:
    row_id, text, label = (each.get(name) for name in ("id", "text", "label"))
    if not isinstance(row_id, str) or not isinstance(text, str) or label not in _LABELS:
        raise InvalidInput(f"An item of {path} has no id, text or label: {str(each)[:120]}.", field="data")
    category = str(each.get("category") or "")
    source = str(each.get("source") or "")
    hard = label == "benign" and (category.startswith(_HARD) or "NotInject" in source)
    return Row(
        id=row_id,
        text=text,
        label="hard" if hard else str(label),
        source=source,
        language=str(each.get("lang") or ""),
        category=category,
        half=half_of(row_id),
    )
