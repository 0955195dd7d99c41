"""``eval guard``: how many attacks the screen stops, and how much that is harmless, of items it was not fitted on."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from hindsight_memory.evals.asking import Progress, SetResult
from hindsight_memory.evals.datasets import DataSet
from hindsight_memory.evals.guard_items import EMBEDDED, PAYLOAD, REPORT, TURN, Row, half_of
from hindsight_memory.evals.metrics import percentile
from hindsight_memory.guard.injection import suspicion_of
from hindsight_memory.guard.injection_weights import OWN, STRICT, Weights
from hindsight_memory.settings import GuardSettings

JUDGES: Final[Mapping[str, str]] = {STRICT: "documents and tools", OWN: "the user's own words"}
"""The two ways to judge, the strict one first, and what is judged so."""
_AT: Final = GuardSettings()
_TYPICAL: Final = range(300, 801)
"""Characters of a text by which the time is told."""


@dataclass(frozen=True, slots=True)
class Weighed:
    """A row with its suspicion and the time that took."""

    row: Row
    score: float
    millis: float

    @property
    def stopped(self) -> bool:
        """Whether it would be kept out of recall."""
        return self.score >= _AT.quarantine_at


def ordinary(sets: Iterable[DataSet]) -> list[Row]:
    """What people and programs say in evaluation sets without attacks: all of it should pass."""
    return [
        Row(
            id=f"{data.name}:{group.id}:{item.id}",
            text=item.content,
            label=TURN,
            source=data.name,
            language="zh" if any("㐀" <= char <= "鿿" for char in item.content[:200]) else "en",
            half=half_of(f"{data.name}:{group.id}:{item.id}"),
        )
        for data in sets
        for group in data.groups
        for item in group.items
    ]


def measure(
    name: str, rows: Sequence[Row], heads: Mapping[str, Weights], progress: Progress, *, whole: bool = False
) -> list[SetResult]:
    """Weigh the rows of the half kept aside, or all of them, in both ways to judge."""
    kept = [row for row in rows if whole or row.half == REPORT]
    results = []
    for judge, judged in JUDGES.items():
        title = f"{name}, as {judged}"
        weighed = []
        for number, row in enumerate(kept, 1):
            weighed.append(_weighed(row, heads[judge]))
            progress(title, number, len(kept))
        results.append(_result(title, weighed))
    return results


def _weighed(row: Row, weights: Weights) -> Weighed:
    begun = time.perf_counter()
    score = suspicion_of(row.text, weights).score
    return Weighed(row, score, (time.perf_counter() - begun) * 1000)


def _result(name: str, weighed: Sequence[Weighed]) -> SetResult:
    keys: Mapping[str, Callable[[Weighed], str]] = {
        "category": lambda each: each.row.label,
        "source": lambda each: each.row.source,
        "language": lambda each: each.row.language,
    }
    by: dict[str, dict[str, Mapping[str, float]]] = {}
    for kind, key in keys.items():
        groups: dict[str, list[Weighed]] = defaultdict(list)
        for each in weighed:
            groups[key(each)].append(each)
        by[kind] = {value: _figures(some) for value, some in sorted(groups.items())}
    times = [each.millis for each in weighed]
    typical = [each.millis * 500 / len(each.row.text) for each in weighed if len(each.row.text) in _TYPICAL]
    return SetResult(
        name=name,
        n=len(weighed),
        metrics={key: value for key, value in _figures(weighed).items() if key != "n"},
        by=by,
        latency_ms={
            "p50": percentile(times, 50),
            "p95": percentile(times, 95),
            "500 characters": percentile(typical, 50) if typical else None,
        },
        groups=1,
        memories=len(weighed),
    )


def _figures(weighed: Sequence[Weighed]) -> dict[str, float]:
    """Shares of what there is: attacks stopped, harmless texts stopped, and by what they are."""
    bare = [each for each in weighed if each.row.label in ("attack", PAYLOAD)]
    kinds = {
        "detection": bare,
        "detection_attack": [each for each in weighed if each.row.label == "attack"],
        "detection_payload": [each for each in weighed if each.row.label == PAYLOAD],
        "detection_embedded": [each for each in weighed if each.row.label == EMBEDDED],
        "false_positive_rate": [each for each in weighed if each.row.label in ("benign", TURN)],
        "false_positive_rate_hard": [each for each in weighed if each.row.label == "hard"],
        "rejected": bare,
        "false_rejected": [each for each in weighed if not each.row.hostile],
    }
    found: dict[str, float] = {"n": len(weighed)}
    for name, some in kinds.items():
        if some:
            refused = "rejected" in name
            stopped = sum(each.score >= _AT.reject_at if refused else each.stopped for each in some)
            found[name] = round(stopped / len(some), 4)
    return found
