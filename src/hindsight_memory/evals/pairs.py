"""``eval conflicts`` and ``eval duplicates``: what two statements do to each other, through the ordinary write path."""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from hindsight_memory.build import build
from hindsight_memory.domain import Draft, RelationType, Scope, Wait, utc_now
from hindsight_memory.errors import InvalidInput, Unavailable
from hindsight_memory.evals.asking import Progress, SetResult
from hindsight_memory.models.base import Embedder
from hindsight_memory.service import Service
from hindsight_memory.settings import Settings

_CHANGES: Final = frozenset({"contradiction", "update"})
"""Relations of a pair whose second statement replaces the first."""
_START: Final = datetime(2025, 1, 1, 9, tzinfo=UTC)
_BATCH: Final = 16
"""Pairs in hand at the same time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two statements, the second one later, and what is known of them: ``expected`` is what should come of it."""

    id: str
    old: str
    new: str
    expected: bool
    relation: str
    source: str
    language: str
    old_at: datetime
    new_at: datetime


@dataclass(frozen=True, slots=True)
class Outcome:
    """A pair with what came of it: the first merged into the second, superseded by it, or flagged with it."""

    pair: Pair
    merged: bool
    superseded: bool
    flagged: bool


def read_conflicts(path: Path) -> list[Pair]:
    """Pairs with a ``relation``; a contradiction or an update should supersede."""
    return [_pair(path, each, _text(path, each, "relation") in _CHANGES) for each in _read(path)]


def read_duplicates(path: Path) -> list[Pair]:
    """Pairs with ``duplicate`` true or false; those of which the data are not sure are left out."""
    return [_pair(path, each, each["duplicate"]) for each in _read(path) if isinstance(each.get("duplicate"), bool)]


async def outcomes(
    pairs: Sequence[Pair], settings: Settings, embedders: Sequence[Embedder], progress: Progress
) -> list[Outcome]:
    """Write each pair into a bank of its own, have it looked at, and see what became of it."""
    service = await build(settings, utc_now, embedders)
    found: list[Outcome] = []
    try:
        for start in range(0, len(pairs), _BATCH):
            found += await asyncio.gather(*(_outcome(pair, service) for pair in pairs[start : start + _BATCH]))
            progress("pairs", len(found), len(pairs))
    finally:
        await service.close()
    return found


def conflicts(name: str, found: Sequence[Outcome]) -> SetResult:
    """Superseding: shares of 1, over all pairs and by source, language and relation."""
    return _result(name, found, _superseding)


def duplicates(name: str, found: Sequence[Outcome]) -> SetResult:
    """Merging: shares of 1, over all pairs and by source and language."""
    return _result(name, found, _merging)


def _superseding(found: Sequence[Outcome]) -> dict[str, float]:
    wanted = [each for each in found if each.pair.expected]
    others = [each for each in found if not each.pair.expected]
    right, wrong = sum(each.superseded for each in wanted), sum(each.superseded for each in others)
    return {
        "n": len(found),
        **(_share("precision", right, right + wrong) if wanted else {}),
        **_share("recall", right, len(wanted)),
        **_share("false_supersede_rate", wrong, len(others)),
        **_share("false_merge_rate", sum(each.merged for each in wanted), len(wanted)),
        **_share("flagged", sum(each.flagged for each in found), len(found)),
    }


def _merging(found: Sequence[Outcome]) -> dict[str, float]:
    wanted = [each for each in found if each.pair.expected]
    others = [each for each in found if not each.pair.expected]
    right, wrong = sum(each.merged for each in wanted), sum(each.merged for each in others)
    return {
        "n": len(found),
        **(_share("precision", right, right + wrong) if wanted else {}),
        **_share("recall", right, len(wanted)),
        **_share("false_merge_rate", wrong, len(others)),
        **_share("false_supersede_rate", sum(each.superseded for each in wanted), len(wanted)),
    }


def _share(name: str, some: int, of: int) -> dict[str, float]:
    """The share by its name; nothing where there is none."""
    return {name: round(some / of, 4)} if of else {}


def _result(name: str, found: Sequence[Outcome], measure: Callable[[Sequence[Outcome]], dict[str, float]]) -> SetResult:
    by: dict[str, dict[str, list[Outcome]]] = {
        kind: defaultdict(list) for kind in ("category", "source", "language", "relation")
    }
    for each in found:
        by["category"][f"{each.pair.source} {each.pair.relation}".strip()].append(each)
        by["source"][each.pair.source].append(each)
        by["language"][each.pair.language].append(each)
        by["relation"][each.pair.relation].append(each)
    metrics = measure(found)
    return SetResult(
        name=name,
        n=int(metrics.pop("n")),
        metrics=metrics,
        intervals={},
        by={kind: {key: measure(some) for key, some in sorted(groups.items())} for kind, groups in by.items()},
        reliability=(),
        latency_ms={},
        groups=len(found),
        memories=2 * len(found),
        memory_mb=None,
    )


async def _outcome(pair: Pair, service: Service) -> Outcome:
    scope = Scope(namespace="eval", user_id=f"pair:{pair.id}")
    old = await service.write(Draft(content=pair.old, occurred_at=pair.old_at), scope)
    new = await service.write(Draft(content=pair.new, occurred_at=pair.new_at), scope, Wait.INDEXED)
    if not new.id:
        raise Unavailable(f"The pair {pair.id} was not stored.", hint="Look at the store with doctor.")
    if old.id == new.id:
        return Outcome(pair, merged=True, superseded=False, flagged=False)
    told = await service.history(new.id, scope)
    between = [edge for edge in told.relations if {edge.from_id, edge.to_id} == {old.id, new.id}]
    same = any(edge.metadata.get("rule") == "same" for edge in between)
    replaced = any(edge.type is RelationType.SUPERSEDES and edge.from_id == new.id for edge in between)
    flagged = any(edge.type is RelationType.CONTRADICTS for edge in between)
    return Outcome(pair, merged=same, superseded=replaced and not same, flagged=flagged)


def _read(path: Path) -> list[Mapping[str, Any]]:
    try:
        held = json.loads(path.read_text(encoding="utf-8-sig"))
        pairs = held["pairs"] if isinstance(held, dict) else held
    except (OSError, ValueError, KeyError) as error:
        hint = 'Give JSON: {"pairs": [{"a", "b", …}]}.'
        raise InvalidInput(f"{path} holds no pairs: {error}.", hint=hint, field="data") from error
    if not isinstance(pairs, list) or not all(isinstance(each, dict) for each in pairs):
        raise InvalidInput(f"{path} holds no list of pairs.", field="data")
    return pairs


def _pair(path: Path, each: Mapping[str, Any], expected: bool) -> Pair:
    old_at = _time(path, each, "old_time") or _START
    return Pair(
        id=str(each.get("id", "")) or f"{_text(path, each, 'a')[:40]}",
        old=_text(path, each, "a"),
        new=_text(path, each, "b"),
        expected=expected,
        relation=str(each.get("relation") or ("duplicate" if expected else "different")),
        source=str(each.get("source") or ""),
        language=str(each.get("lang") or ""),
        old_at=old_at,
        new_at=max(_time(path, each, "new_time") or old_at, old_at + timedelta(minutes=1)),
    )


def _text(path: Path, each: Mapping[str, Any], name: str) -> str:
    value = each.get(name)
    if not isinstance(value, str) or not value.strip():
        raise InvalidInput(f"A pair of {path} has no {name}: {str(each)[:120]}.", field="data")
    return value


def _time(path: Path, each: Mapping[str, Any], name: str) -> datetime | None:
    value = each.get(name)
    if value is None:
        return None
    try:
        moment = datetime.fromisoformat(str(value))
    except ValueError as error:
        raise InvalidInput(f"{name} of a pair of {path} is no time: {value!r}.", field="data") from error
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
