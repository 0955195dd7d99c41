"""``eval fit``: the weights of the ranking and of its confidence, fitted on labelled questions and tried on others."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from statistics import fmean
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hindsight_memory.domain import EXTRACTED_FROM
from hindsight_memory.errors import InvalidInput
from hindsight_memory.evals.asking import Progress, SetResult
from hindsight_memory.evals.banks import Kept, MemoryRanker, Same, query_of, scope_of, stored_ids, unworn
from hindsight_memory.evals.datasets import DataSet, Group, Question
from hindsight_memory.evals.metrics import auroc
from hindsight_memory.evals.recall import asked_in, filled, warmed
from hindsight_memory.models.base import Embedder
from hindsight_memory.recall.pool import Pool
from hindsight_memory.recall.rank import STANDING, standing
from hindsight_memory.recall.signals import MEASURES, SIGNALS, measured
from hindsight_memory.recall.trees import Table, Trees, parse
from hindsight_memory.settings import Settings

_FOLDS: Final = 4
_SEED: Final = 1
_WORDS_ONLY: Final = 0.3
"""Share of the questions that are also learnt from as a memory without an embedder sees them."""
_FRESH: Final = 0.1
"""Share of the questions in which some candidates lack their vectors, as those do that were written a moment ago."""
_BLINDED: Final = 0.15
"""Share of the questions in which one signal is blanked, so that the trees lean on none that may be missing."""
_SMALL: Final = (1, 2, 3, 5, 8, 13, 20)
"""Sizes of the pools that stand for small banks, which the sets have none of."""
_SINGLE: Final = 0.7
"""Share of those whose memories stand outside any session."""
_STALE: Final = 3.0
"""How much more a question weighs in which something replaced could come first."""
_SURE_OF: Final = 10
"""Results a question whose confidence is learnt from: what is looked at in practice."""
_RANK: Final[Mapping[str, Any]] = {
    "objective": "lambdarank",
    "lambdarank_truncation_level": 40,
    "learning_rate": 0.05,
    "num_leaves": 15,
    "max_depth": 6,
    "min_data_in_leaf": 200,
}
_SURE: Final[Mapping[str, Any]] = {
    "objective": "binary",
    "learning_rate": 0.05,
    "num_leaves": 8,
    "max_depth": 4,
    "min_data_in_leaf": 300,
}
_BOTH: Final[Mapping[str, Any]] = {
    "feature_fraction": 0.4,
    "bagging_fraction": 0.7,
    "bagging_freq": 1,
    "lambda_l2": 5,
    "seed": _SEED,
    "deterministic": True,
    "force_row_wise": True,
    "verbose": -1,
}
_RANK_TREES: Final = 200
_SURE_TREES: Final = 100
_LARGEST: Final = 3e38
"""Bound of a split that only tells what is missing from what is not; JSON has no infinity."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One question as the ranking sees it: a row a candidate, and which of them are evidence.

    ``fold`` is which part is kept aside together with it, ``wanted`` how much evidence there is, found or not.
    ``foreign`` questions are another group's, which nothing here answers; ``blind`` ones were asked without a model,
    ``small`` ones of a few candidates only.
    """

    data: str
    fold: int
    table: Table
    useful: NDArray[np.bool_]
    stale: NDArray[np.bool_]
    wanted: int
    foreign: bool = False
    blind: bool = False
    small: bool = False


async def fit(
    sets: Sequence[DataSet],
    settings: Settings,
    embedders: Sequence[Embedder],
    keep: Callable[[str, str], None],
    progress: Progress,
) -> list[SetResult]:
    """Fit weights on everything, and measure weights that were fitted without the questions they answer.

    ``keep`` is given each file of weights, its name and its text. The figures come from cross-validation in four
    folds: no question is answered by weights that saw its group (a set of one group is cut into blocks of neighbouring
    questions instead).
    """
    kept = await warmed(embedders, remember=True)
    settings = unworn(settings)
    same = await filled(sets, settings, kept, progress)
    examples = await _collected(sets, settings, kept, same, progress)
    figures = _tried(examples, progress)
    rank = _text(_rank_trees(examples), tuple(MEASURES))
    keep("rank", rank)
    keep("confidence", _text(_sure_trees(examples, parse(rank)), STANDING))
    return figures


async def _collected(
    sets: Sequence[DataSet], settings: Settings, kept: Sequence[Kept], same: Same, progress: Progress
) -> list[Example]:
    found: list[Example] = []
    for models in (kept, ()):
        async with asked_in(settings, models, same) as memory:
            for data in sets:
                pairs = _questions(data, sets, foreign=bool(models))
                for number, (fold, group, question, foreign) in enumerate(pairs, 1):
                    examples = await _examples(memory, data.name, group, question, foreign=foreign)
                    found += [replace(each, fold=fold, blind=not models) for each in examples]
                    progress(f"{data.name}: measured", number, len(pairs))
    return found


def _questions(data: DataSet, sets: Sequence[DataSet], *, foreign: bool) -> list[tuple[int, Group, Question, bool]]:
    """Every group's own questions and, if ``foreign``, half as many of others, each with its fold."""
    found = []
    for place, group in enumerate(data.groups):
        own = [each for each in group.questions if each.evidence]
        alone = len(data.groups) == 1
        found += [
            (number * _FOLDS // len(own) if alone else place % _FOLDS, group, each, False)
            for number, each in enumerate(own)
        ]
        if foreign:
            others = [q for other in data.groups if other is not group for q in other.questions]
            if not others:
                others = [q for other in sets if other is not data for g in other.groups for q in g.questions]
            picked = Random(f"{data.name}/{group.id}").sample(  # noqa: S311  # a draw that repeats
                others, min(len(others), max(20, len(own) // 2))
            )
            found += [(place % _FOLDS, group, each, True) for each in picked]
    return found


async def _examples(
    memory: MemoryRanker, data: str, group: Group, question: Question, *, foreign: bool
) -> list[Example]:
    """A question as it is asked of its bank, and as it would be of a bank of a few memories."""
    memory.clock.set_to(group, question, foreign=foreign)
    scope = scope_of(data, group.id)
    pool = await memory.service.finder.pool(query_of(question, foreign=foreign), scope)
    same = memory.same.get(scope.bank, {})

    def example(pool: Pool) -> Example:
        # What was read off a turn stands for the turn's own evidence, which is counted once.
        own = [None if EXTRACTED_FROM in each.metadata else each.source_ref for each in pool.memories]
        ids = [set(stored_ids(each, same)) for each in own]
        evidence, stale = (set(), set()) if foreign else (set(question.evidence), set(question.stale))
        return Example(
            data=data,
            fold=0,
            table=measured(pool) if len(pool) else np.zeros((0, len(MEASURES)), np.float32),
            useful=np.array([bool(each & evidence) for each in ids], bool),
            stale=np.array([bool(each & stale) for each in ids], bool),
            wanted=len(evidence),
            foreign=foreign,
        )

    whole = example(pool)
    few = _few(pool, whole.useful, Random(f"{data}/{question.id}/{foreign}"))  # noqa: S311  # a draw that repeats
    return [whole, replace(example(few), small=True)]


def _few(pool: Pool, useful: NDArray[np.bool_], chance: Random) -> Pool:
    """Some candidates by themselves, half of the times one that is useful among them, mostly as single memories."""
    rows = np.flatnonzero(~useful).tolist()
    kept = chance.sample(rows, min(chance.choice(_SMALL), len(rows)))
    if useful.any() and chance.random() < 0.5:
        kept = [*kept[1:], int(chance.choice(np.flatnonzero(useful).tolist()))]
    memories = [pool.memories[row] for row in sorted(kept)]
    if chance.random() < _SINGLE:
        memories = [replace(each, session_id=None, turn=None) for each in memories]
    ids = {each.id for each in memories}
    lists = {signal: [each for each in ranked if each.id in ids] for signal, ranked in pool.brought.lists.items()}
    return Pool(pool.plan, replace(pool.brought, lists=lists), memories, pool.space, pool.vectors)


def _tried(examples: Sequence[Example], progress: Progress) -> list[SetResult]:
    """Figures of each set, every fold answered by weights that were fitted on the others."""
    values: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    tops: dict[str, tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
    for fold in range(_FOLDS):
        seen = [each for each in examples if each.fold != fold]
        trees = parse(_text(_rank_trees(seen), tuple(MEASURES)))
        sure = parse(_text(_sure_trees(seen, trees), STANDING))
        for each in (one for one in examples if one.fold == fold and len(one.table) and not one.small):
            order, stands = _stood(each.table, trees)
            name = f"{each.data} words only" if each.blind else each.data
            top = float(sure(stands[:1])[0])
            tops[name][each.foreign].append(top)
            if not each.foreign:
                for metric, value in _figures(each, order).items():
                    values[name][metric].append(value)
        progress("tried on what was kept aside", fold + 1, _FOLDS)
    figures = {
        name: {metric: round(100 * fmean(every), 1) for metric, every in sorted(metrics.items())}
        for name, metrics in values.items()
    }
    for name, (own, foreign) in tops.items():
        if (apart := auroc(own, foreign)) is not None:
            figures[name]["foreign_auroc"] = round(100 * apart, 1)
    return [
        SetResult(name=name, n=len(tops[name][0]), metrics=figures[name], by={}, latency_ms={"p50": None, "p95": None})
        for name in figures
    ]


def _figures(example: Example, order: Sequence[int]) -> dict[str, float]:
    useful, stale = example.useful[order], example.stale[order]
    first = int(np.argmax(useful)) if useful[:20].any() else 20
    found = {f"recall@{k}": float(useful[:k].sum() / example.wanted) for k in (5, 10, 20)}
    found |= {"hit@5": float(useful[:5].any()), "mrr": 1 / (1 + first) if first < 20 else 0.0}
    if example.stale.any():
        found["stale_first"] = float(stale[:first].any())
    return found


def _rank_trees(examples: Sequence[Example]) -> Any:
    """Boosted trees that order each question's candidates by LambdaMART (Burges, 2010, MSR-TR-2010-82)."""
    chance = Random(_SEED)  # noqa: S311  # a draw that repeats
    sizes = Counter(each.data for each in examples if not each.foreign and not each.blind and not each.small)
    tables, labels, groups, weights = [], [], [], []
    for each in examples:
        if each.foreign or not each.useful.any() or each.useful.all() or (each.blind and chance.random() > _WORDS_ONLY):
            continue
        table = each.table
        if not each.blind and chance.random() < _BLINDED:
            table = _blinded(table, [chance.choice(sorted(SIGNALS))])
        if not each.blind and chance.random() < _FRESH:
            fresh = np.array([chance.random() < 0.2 for _ in table])
            table = np.where(fresh[:, None], _blinded(table, ["vector", "feedback"]), table)
        # Small sets would drown, and large ones be drowned out, if every question or every set weighed the same.
        weight = (0.5 if each.blind or each.small else 1.0) * 1_000 / sizes[each.data] ** 0.75
        parts = [(table, each.useful, weight)]
        if each.stale.any():
            # What was replaced is few among many candidates: the evidence is held against it once more, alone.
            both = each.useful | each.stale
            parts = [(table, each.useful, _STALE * weight), (table[both], each.useful[both], _STALE**2 * weight)]
        for part, useful, heavy in parts:
            tables.append(part)
            labels.append(useful.astype(int))
            groups.append(len(part))
            weights.append(np.full(len(part), heavy))
    if not tables:
        hint = "Give labelled questions of several groups, with memories that do not answer them too."
        raise InvalidInput("There are too few questions to learn from.", hint=hint, field="data")
    return _boosted(_RANK, _RANK_TREES, tables, labels, weights, groups)


def _blinded(table: Table, signals: Sequence[str]) -> Table:
    columns = [place for place, each in enumerate(MEASURES.values()) if each in signals]
    blind = table.copy()
    blind[:, columns] = np.nan
    return blind


def _sure_trees(examples: Sequence[Example], trees: Trees) -> Any:
    """Boosted trees for the log-odds that a result is evidence, from own questions and from foreign ones."""
    sizes = Counter((each.data, each.foreign, each.small) for each in examples if len(each.table))
    tables, labels, weights = [], [], []
    for each in examples:
        if not len(each.table):
            continue
        order, stands = _stood(each.table, trees)
        top = order[:_SURE_OF]
        tables.append(stands[:_SURE_OF])
        labels.append(each.useful[top].astype(int))
        weights.append(np.full(len(top), 1_000 / sizes[each.data, each.foreign, each.small] ** 0.75))
    return _boosted(_SURE, _SURE_TREES, tables, labels, weights, None)


def _stood(table: Table, trees: Trees) -> tuple[list[int], Table]:
    """Rows in the order of the ranking, and how each stands in it."""
    totals = trees(table)
    order = np.argsort(-totals, kind="stable").tolist()
    return order, standing(table, totals, order)


def _boosted(
    kind: Mapping[str, Any],
    rounds: int,
    tables: Sequence[Table],
    labels: Sequence[NDArray[np.int64]],
    weights: Sequence[NDArray[np.float64]],
    groups: Sequence[int] | None,
) -> Any:
    import lightgbm  # noqa: PLC0415  # an extra: only who fits needs it

    data = lightgbm.Dataset(
        np.concatenate(tables), np.concatenate(labels), weight=np.concatenate(weights), group=groups
    )
    return lightgbm.train({**_BOTH, **kind}, data, rounds)


def _text(booster: Any, measures: Sequence[str]) -> str:
    """What ``trees.parse`` reads."""
    roots = [each["tree_structure"] for each in booster.dump_model()["tree_info"]]
    head = json.dumps({"measures": list(measures), "depth": max(map(_depth, roots))})
    lines = ",\n".join(json.dumps(_nodes(root), separators=(",", ":")) for root in roots)
    return f'{head[:-1]}, "trees": [\n{lines}\n]}}\n'


def _depth(node: Any) -> int:
    return 0 if "leaf_value" in node else 1 + max(_depth(node["left_child"]), _depth(node["right_child"]))


def _nodes(root: Any) -> list[list[float]]:
    nodes: list[list[float]] = []

    def put(node: Any) -> tuple[int, float, float]:
        """Add a node and what is below it; returns its place, its mean and how many rows it saw."""
        place = len(nodes)
        nodes.append([])
        if "leaf_value" in node:
            nodes[place] = [_short(node["leaf_value"])]
            return place, node["leaf_value"], node.get("leaf_count", 1)
        low, low_mean, low_count = put(node["left_child"])
        high, high_mean, high_count = put(node["right_child"])
        count = low_count + high_count
        mean = (low_mean * low_count + high_mean * high_count) / max(count, 1)
        left = node["default_left"] if node["missing_type"] == "NaN" else node["threshold"] >= 0
        bound = float(np.clip(node["threshold"], -_LARGEST, _LARGEST))
        nodes[place] = [_short(mean), node["split_feature"], _short(bound, 9), low, high, low if left else high]
        return place, mean, count

    put(root)
    return nodes


def _short(value: float, digits: int = 6) -> float:
    return float(f"{value:.{digits}g}")
