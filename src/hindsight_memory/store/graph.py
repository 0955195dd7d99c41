"""Spreading activation: from memories and names, over shared names, turns beside and relations, to what they lead to.

The graph is not kept: each search reads the small part around its seeds, widening from what is most activated, and
then iterates a personalised PageRank on it. The idea is that of Page, Brin, Motwani and Winograd, «The PageRank
Citation Ranking» (1999), with a start of its own per query as in Haveliwala, «Topic-Sensitive PageRank» (2002); its
use over names for an LLM's memory is described by Gutiérrez et al., «HippoRAG» (2024).
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hindsight_memory.settings import GraphSettings
from hindsight_memory.store.base import Scored, Where
from hindsight_memory.store.rows import Bank, Params, Plan, Statement, among, one_by_one
from hindsight_memory.store.search import allowed, chunks

Node: TypeAlias = int | str
"""A memory by its row, or a name."""

Pairs: TypeAlias = dict[tuple[Node, Node], float]
"""Edges with their weights."""


def spread(
    edges: Mapping[tuple[Node, Node], float], start: Mapping[Node, float], damping: float, rounds: int
) -> dict[Node, float]:
    """The activation that came to each node over edges; of ``start`` itself nothing, unless it came back.

    In each round a node passes on ``damping`` of what it has, to its neighbours by the weight of the edges, so that a
    node with n equal edges gives each one nth; and ``1 - damping`` starts anew. Edges run both ways.
    """
    total = math.fsum(start.values())
    if not edges or total <= 0:
        return {}
    nodes = {node: place for place, node in enumerate(dict.fromkeys(chain.from_iterable(edges)))}
    one, other = np.fromiter(map(nodes.__getitem__, chain.from_iterable(edges)), np.int64).reshape(-1, 2).T
    sources, targets = np.concatenate([one, other]), np.concatenate([other, one])
    weights = np.tile(np.fromiter(edges.values(), np.float64), 2)
    shares = weights / np.bincount(sources, weights)[sources]
    begun = np.zeros(len(nodes))
    for node, weight in start.items():
        if node in nodes:
            begun[nodes[node]] = weight / total
    arrived: NDArray[np.floating[Any]] = np.zeros(len(nodes))
    held: NDArray[np.floating[Any]] = begun
    for _ in range(rounds):
        arrived = damping * np.bincount(targets, held[sources] * shares, len(nodes))
        held = (1 - damping) * begun + arrived
    return dict(zip(nodes, arrived.tolist(), strict=True))


def search_graph(
    bank: Bank,
    seeds: Mapping[str, float],
    names: Mapping[str, float],
    where: Where,
    limit: int,
    settings: GraphSettings,
) -> Plan[list[Scored]]:
    """See ``Reader.search_graph``."""
    heaviest = _heaviest(seeds, settings.seeds)
    around = _Around(bank, where, settings)
    around.ids = yield from allowed(bank, where, list(heaviest), "m.id")
    start: dict[Node, float] = {row: heaviest[memory_id] for row, memory_id in around.ids.items()}
    named = _heaviest(names, settings.seeds)
    start.update(named)
    activation: Mapping[Node, float] = start
    for hop in range(settings.hops):
        fresh = {n: activation.get(n, 0.0) for n in around.ids if n not in around.widened}
        rows = [row for row, _ in sorted(fresh.items(), key=lambda each: (-each[1], each[0]))[: settings.frontier]]
        if not rows and hop:
            break
        yield from around.widen(rows, list(named) if not hop else [])
        activation = spread(around.edges, start, settings.damping, settings.rounds)
    if not around.edges:
        return []
    reached = ((-activation.get(row, 0.0), memory_id) for row, memory_id in around.ids.items())
    return [Scored(memory_id, -score) for score, memory_id in heapq.nsmallest(limit, reached) if score < 0]


@dataclass(slots=True)
class _Around:
    """The part of a bank's graph that was read: memories the filter lets through, and their edges."""

    bank: Bank
    where: Where
    settings: GraphSettings
    ids: dict[int, str] = field(default_factory=dict)
    edges: Pairs = field(default_factory=dict)
    widened: set[Node] = field(default_factory=set)
    _refused: set[int] = field(default_factory=set)

    def widen(self, rows: Sequence[int], names: Sequence[str]) -> Plan[None]:
        """Read what these memories and names touch, and add it."""
        ids = [self.ids[row] for row in rows]
        pairs = yield from self._beside(rows)
        pairs |= yield from self._related("from_id", ids)
        pairs |= yield from self._related("to_id", ids)
        given = {*names, *(node for pair in pairs for node in pair if isinstance(node, str))}
        told = yield from self._told(rows)
        fresh = sorted({*given, *told} - self.widened)
        self.widened.update(rows, fresh)
        pairs = (yield from self._mentioned(fresh, given)) | pairs  # what a caller said of an edge goes before
        pairs |= yield from self._related("to_id", fresh)
        yield from self._admit(pairs)
        refused = self._refused
        self.edges |= {(a, b): weight for (a, b), weight in pairs.items() if a not in refused and b not in refused}

    def _admit(self, pairs: Iterable[tuple[Node, Node]]) -> Plan[None]:
        """Ask the filter about memories that are met for the first time."""
        met = set(chain.from_iterable(pairs)) - self.ids.keys() - self._refused
        unknown = sorted(node for node in met if isinstance(node, int))
        let_through = yield from allowed(self.bank, self.where, unknown)
        self.ids |= let_through
        self._refused.update(row for row in unknown if row not in let_through)

    def _beside(self, rows: Sequence[int]) -> Plan[Pairs]:
        params: Params = {"bank": self.bank.number}
        found = yield Statement(
            "SELECT a.row, m.row FROM memories a JOIN memories m ON m.bank = a.bank AND m.session_id = a.session_id"
            " AND m.turn BETWEEN a.turn - 1 AND a.turn + 1 AND m.row <> a.row"
            f" WHERE a.bank = :bank AND {among('a.row', rows, params)}",
            params,
        )
        return {_pair(one, other): self.settings.beside for one, other in found}

    def _related(self, end: str, values: Sequence[str]) -> Plan[Pairs]:
        """Relations that have one of these ids or names at this end."""
        if not values:
            return {}
        params: Params = {"bank": self.bank.number, "most": self.settings.edges}
        found = yield Statement(
            f"{one_by_one(values, params)} SELECT r.from_id, r.to_id, r.weight FROM asked a CROSS JOIN relations r"
            f" WHERE r.bank = :bank AND r.{end} = a.value AND r.weight > 0"
            " ORDER BY r.weight DESC, r.from_id, r.to_id LIMIT :most",
            params,
        )
        if not found:
            return {}
        nodes = yield from self._nodes({each for one, other, _ in found for each in (one, other)})
        pairs: Pairs = {}
        for one, other, weight in reversed(found):  # of two relations between the same, the heavier one stays
            if one != other:
                pairs[_pair(nodes[one], nodes[other])] = weight
        return pairs

    def _nodes(self, ends: set[str]) -> Plan[dict[str, Node]]:
        """Ends of relations as nodes: what is no memory of the bank, seen or not, is a name."""
        nodes: dict[str, Node] = {end: end for end in ends}
        for chunk in chunks(sorted(ends)):
            params: Params = {"bank": self.bank.number}
            rows = yield Statement(
                f"SELECT m.id, m.row FROM memories m WHERE m.bank = :bank AND {among('m.id', chunk, params)}", params
            )
            nodes |= {memory_id: row for memory_id, row in rows}  # noqa: C416
        return nodes

    def _told(self, rows: Sequence[int]) -> Plan[list[str]]:
        """The names these memories mention."""
        params: Params = {"bank": self.bank.number}
        listed = among("row", rows, params)
        found = yield Statement(f"SELECT name FROM names WHERE bank = :bank AND {listed}", params)
        return sorted({row[0] for row in found})

    def _mentioned(self, names: Sequence[str], given: Collection[str]) -> Plan[Pairs]:
        """Edges from names to what mentions them; a name leads on the better, the fewer do."""
        counts = yield from self._counted(names, given)
        edges: Pairs = {}
        for chunk in chunks(list(counts)):
            params = {"bank": self.bank.number}
            listed = among("name", chunk, params)
            found = yield Statement(f"SELECT name, row FROM names WHERE bank = :bank AND {listed}", params)
            edges |= {(row, name): 1 / math.log2(1 + counts[name]) for name, row in found}
        return edges

    def _counted(self, names: Sequence[str], given: Collection[str]) -> Plan[dict[str, int]]:
        """Mentions of names, the rarest first and as many as the bounds allow; hubs are not counted to their end.

        A name that one memory mentions leads back to it only, unless something else than that memory ``given`` it.
        """
        counts: dict[str, int] = {}
        for chunk in chunks(names):
            params: Params = {"bank": self.bank.number, "hub": self.settings.hub}
            rows = yield Statement(
                f"{one_by_one(chunk, params)} SELECT a.value, (SELECT count(*) FROM (SELECT 1 FROM names n"
                " WHERE n.bank = :bank AND n.name = a.value LIMIT :hub) AS few) FROM asked a",
                params,
            )
            counts |= {name: n for name, n in rows if (1 if name in given else 2) <= n < self.settings.hub}
        budget = self.settings.edges
        kept: dict[str, int] = {}
        for name in sorted(counts, key=lambda each: (counts[each], each)):
            budget -= counts[name]
            if budget < 0:
                break
            kept[name] = counts[name]
        return kept


def _heaviest(weights: Mapping[str, float], most: int) -> dict[str, float]:
    ranked = sorted(
        ((key, weight) for key, weight in weights.items() if weight > 0), key=lambda each: (-each[1], each[0])
    )
    return dict(ranked[:most])


def _pair(one: Node, other: Node) -> tuple[Node, Node]:
    """An edge, whichever way it was met."""
    if isinstance(one, int) and isinstance(other, int):
        return (one, other) if one < other else (other, one)
    return (one, other) if isinstance(one, int) else (other, one)
