"""``eval pii``: which spans of personal data and secrets the screen finds, and what it takes for one and is none."""

from __future__ import annotations

import json
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from hindsight_memory.errors import InvalidInput
from hindsight_memory.evals.asking import Progress, SetResult
from hindsight_memory.evals.metrics import percentile
from hindsight_memory.guard.detect_numbers import has_right_checksum, is_card
from hindsight_memory.guard.policy import policy_of
from hindsight_memory.guard.redact import find, redact
from hindsight_memory.settings import GuardSettings

_TYPES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "PHONE": "phone",
        "PHONE_NUMBER": "phone",
        "EMAIL": "email",
        "EMAIL_ADDRESS": "email",
        "CN_ID": "national_id",
        "US_SSN": "national_id",
        "US_DRIVER_LICENSE": "national_id",
        "PASSPORT": "national_id",
        "CREDIT_CARD": "card",
        "BANK_CARD": "card",
        "BANK_ACCOUNT": "account",
        "IBAN": "iban",
        "IBAN_CODE": "iban",
        "ADDRESS": "address",
        "STREET_ADDRESS": "address",
        "PASSWORD": "password",
        "API_KEY": "token",
        "SECRET": "token",
        "TOKEN": "token",
    }
)
"""Labels of the data, by the type of ours that they are; other labels are of what is not looked for."""
_WRONG: Final = ", wrong checksum"
_EVERY: Final = 20
_USUAL: Final = policy_of(GuardSettings(), {})


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch that the data label, by its type here."""

    kind: str
    start: int
    end: int
    found: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """A text of the data with its spans, each found or not, and how many stretches were found that bear no label."""

    source: str
    language: str
    clean: bool
    spans: tuple[Span, ...]
    other: int
    millis: float


def read_items(path: Path) -> list[Mapping[str, Any]]:
    """The items of a file, each with a text and its labelled spans. Raises ``InvalidInput`` for anything else."""
    try:
        held = json.loads(path.read_text(encoding="utf-8-sig"))
        items = held["items"] if isinstance(held, dict) else held
    except (OSError, ValueError, KeyError) as error:
        hint = 'Give JSON: {"items": [{"text", "spans": [{"type", "start", "end"}]}]}.'
        raise InvalidInput(f"{path} holds no items: {error}.", hint=hint, field="data") from error
    if not isinstance(items, list) or not all(isinstance(each, dict) and _is_item(each) for each in items):
        raise InvalidInput(f"{path} holds no list of texts with spans.", field="data")
    return items


def _is_item(item: Mapping[str, Any]) -> bool:
    spans = item.get("spans")
    whole = isinstance(item.get("text"), str) and isinstance(spans, list)
    return whole and all(
        isinstance(each, dict)
        and isinstance(each.get("type"), str)
        and isinstance(each.get("start"), int)
        and isinstance(each.get("end"), int)
        for each in spans or ()
    )


def read(items: Sequence[Mapping[str, Any]], progress: Progress) -> list[Read]:
    """Look at each text as the screen does, for every type; the time is that of the usual policy."""
    redact(
        "13812345678 a@b.example sk-ant-0123456789abcdefghij", _USUAL
    )  # what the libraries load first is not the text's time
    looked = []
    for number, item in enumerate(items, 1):
        looked.append(_looked(item))
        if number % _EVERY == 0 or number == len(items):
            progress("texts", number, len(items))
    return looked


def _looked(item: Mapping[str, Any]) -> Read:
    text = item["text"]
    began = time.perf_counter()
    redact(text, _USUAL)
    millis = (time.perf_counter() - began) * 1_000
    found = find(text)
    labels = [(each["type"], each["start"], each["end"]) for each in item["spans"]]
    spans = [
        Span(_kind(kind, text[start:end]), start, end, any(a.start <= start and end <= a.end for a in found))
        for kind, start, end in labels
        if kind in _TYPES
    ]
    other = sum(not any(start < each.end and each.start < end for _, start, end in labels) for each in found)
    return Read(
        source=str(item.get("source") or ""),
        language=str(item.get("lang") or ""),
        clean=not labels,
        spans=tuple(spans),
        other=other,
        millis=millis,
    )


def _kind(label: str, said: str) -> str:
    """The type of a label; a number that its last digit gives away as no such number is told apart."""
    number = "".join(each for each in said if each.isalnum())
    right = {"CN_ID": has_right_checksum, "CREDIT_CARD": is_card, "BANK_CARD": is_card}.get(label)
    return _TYPES[label] + ("" if right is None or right(number) else _WRONG)


def summarise(name: str, looked: Sequence[Read]) -> SetResult:
    """Recall of spans, and false alarms on clean text: shares of 1, over all and by source, type and language.

    The one over all leaves out postal addresses and numbers with a wrong checksum, which stand by themselves.
    """
    by: dict[str, dict[str, list[Read]]] = {"source": defaultdict(list), "language": defaultdict(list)}
    for each in looked:
        by["source"][each.source].append(each)
        by["language"][each.language].append(each)
    kinds = sorted({span.kind for each in looked for span in each.spans})
    parts = {kind: {key: _measures(some, _checked) for key, some in sorted(g.items())} for kind, g in by.items()}
    parts["type"] = parts["category"] = {kind: _measures(looked, _only(kind)) for kind in kinds}
    parts["source_type"] = {
        f"{source} {kind}": found
        for source, some in sorted(by["source"].items())
        for kind in kinds
        if (found := _measures(some, _only(kind)))["spans"]
    }
    metrics = _measures(looked, _checked)
    times = [each.millis for each in looked]
    return SetResult(
        name=name,
        n=int(metrics.pop("n")),
        metrics=metrics,
        intervals={},
        by=parts,
        reliability=(),
        latency_ms={f"p{share}": round(percentile(times, share), 3) for share in (50, 95, 99)} if times else {},
        groups=len(by["source"]),
        memories=len(looked),
        memory_mb=None,
    )


def _checked(span: Span) -> bool:
    return span.kind != "address" and not span.kind.endswith(_WRONG)


def _only(kind: str) -> Callable[[Span], bool]:
    return lambda span: span.kind == kind


def _measures(looked: Sequence[Read], counts: Callable[[Span], bool]) -> dict[str, float]:
    spans = [span for each in looked for span in each.spans if counts(span)]
    clean = [each for each in looked if each.clean]
    return {
        "n": len(looked),
        "spans": len(spans),
        **({"span_recall": round(sum(span.found for span in spans) / len(spans), 4)} if spans else {}),
        **({"false_positive_rate": round(sum(each.other > 0 for each in clean) / len(clean), 4)} if clean else {}),
    }
