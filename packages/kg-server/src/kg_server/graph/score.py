"""How much a node deserves to be in view: recency, connectedness and usefulness, as percentile ranks.

`score = 0.25 x recency + 0.40 x connectedness + 0.35 x usefulness`, each a tie-aware percentile among the nodes
that are scored together (specification 1.5).

Nothing here depends on the clock: usefulness halves alike for all stamps, so the order of two sums never changes by
the passing of time alone, and it is computed against a fixed date, so that rounding cannot change it either.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from kg_server.graph import limits
from kg_server.graph.graph import Graph
from kg_server.graph.model import Node
from kg_server.graph.versions import Version, entry_key, versions

_STAMPS = ("_useful_ts", "_credited_ts", "_recurrence_ts")
_EPOCH_S = 1.7e9


@dataclass(frozen=True, slots=True)
class Score:
    """A node's score and the three percentiles it is made of, each 0 to 1."""

    total: float
    recency: float
    connectedness: float
    usefulness: float


def score(graph: Graph, names: Iterable[str]) -> dict[str, Score]:
    """Score the named nodes of `graph` against one another."""
    pool = list(names)
    recent = percentiles([last_use(graph, name) for name in pool])
    linked = percentiles([graph.connectedness(name) for name in pool])
    useful = percentiles([usefulness_rank(graph.nodes[name]) for name in pool])
    return {name: Score(combined(r, c, u), r, c, u) for name, r, c, u in zip(pool, recent, linked, useful, strict=True)}


def combined(recency: float, connectedness: float, usefulness: float) -> float:
    """The weighted sum of the three percentiles."""
    return (
        limits.RECENCY_WEIGHT * recency
        + limits.CONNECTEDNESS_WEIGHT * connectedness
        + limits.USEFULNESS_WEIGHT * usefulness
    )


def percentiles(values: list[float]) -> list[float]:
    """Rank of each value from 0 to 1; ties share their mean rank; one value, or equal values, give 0.5."""
    count = len(values)
    if count < 2:
        return [0.5] * count
    order = sorted(range(count), key=values.__getitem__)
    ranks = [0.0] * count
    start = 0
    while start < count:
        end = start
        while end + 1 < count and values[order[end + 1]] == values[order[start]]:
            end += 1
        shared = (start + end) / 2 / (count - 1)
        for position in range(start, end + 1):
            ranks[order[position]] = shared
        start = end + 1
    return ranks


def usefulness(node: Node, now: float) -> float:
    """Sum of the node's stamps, each halved every 90 days."""
    return usefulness_rank(node) * _halved(now - _EPOCH_S)


def usefulness_rank(node: Node) -> float:
    """As `usefulness`, at a fixed date: what nodes are ranked by."""
    return sum(_halved(_EPOCH_S - stamp) for field in _STAMPS if field in node for stamp in _times(node, field))


def last_use(graph: Graph, name: str) -> float:
    """The latest of a node's last write, last full read and newest credit."""
    node = graph.nodes[name]
    version: Version = versions(graph.meta).get(entry_key("node", name), {})
    written = node.get("_written", {}).get("ts", 0.0)
    activity = version.get("used_ts") or version.get("ts") or written or node.get("_created_ts", 0.0)
    latest = max(activity, node.get("_last_read_ts", 0.0))
    for field in _STAMPS:
        if field in node:
            latest = max(latest, *_times(node, field), 0.0)
    return latest


def _halved(age_s: float) -> float:
    return float(0.5 ** (max(-6e9, min(6e9, age_s)) / limits.USEFULNESS_HALF_LIFE_S))


def _times(node: Node, field: str) -> list[float]:
    value = node.get(field)
    if not isinstance(value, list):
        return []
    return [float(stamp) for stamp in value if isinstance(stamp, int | float) and math.isfinite(stamp)]


class Facts:
    """Last use and usefulness of nodes, each worked out once."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._known: dict[str, tuple[float, float]] = {}

    def of(self, name: str) -> tuple[float, float]:
        """Last use and usefulness (at the fixed date) of a node."""
        known = self._known.get(name)
        if known is None:
            known = self._known[name] = last_use(self._graph, name), usefulness_rank(self._graph.nodes[name])
        return known
