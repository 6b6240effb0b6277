"""How much a node deserves to be in view: recency, connectedness and usefulness, as percentile ranks.

`score = 0.25 x recency + 0.40 x connectedness + 0.35 x usefulness`, each a tie-aware percentile among the nodes
that are scored together (specification 1.5).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from kg_server.graph import limits
from kg_server.graph.adjacency import Adjacency
from kg_server.graph.graph import Graph
from kg_server.graph.model import Node, is_path, other_end, tier

_STAMPS = ("_useful_ts", "_credited_ts", "_recurrence_ts")


@dataclass(frozen=True, slots=True)
class Score:
    """A node's score and the three percentiles it is made of, each 0 to 1."""

    total: float
    recency: float
    connectedness: float
    usefulness: float


def score(graph: Graph, names: Iterable[str], now: float, used: Mapping[str, float]) -> dict[str, Score]:
    """Score the named nodes of `graph` against one another. `used` is the time of last activity by id."""
    pool = list(names)
    weigh = neighbour_weight(graph)
    recency = percentiles([_last_use(graph.nodes[n], used.get(n, 0.0)) for n in pool])
    links = percentiles([connectedness(n, graph.adjacency, weigh) for n in pool])
    useful = percentiles([usefulness(graph.nodes[n], now) for n in pool])
    return {
        name: Score(
            limits.RECENCY_WEIGHT * r + limits.CONNECTEDNESS_WEIGHT * c + limits.USEFULNESS_WEIGHT * u,
            r,
            c,
            u,
        )
        for name, r, c, u in zip(pool, recency, links, useful, strict=True)
    }


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


def connectedness(name: str, adjacency: Adjacency, weigh: Callable[[str], float]) -> float:
    """Weighted edges of a node (in 0.66, out 0.33), never below half the logarithm of their number."""
    total = 0.0
    count = 0
    for edge in adjacency.of(name):
        count += 1
        direction = limits.IN_WEIGHT if edge["to"] == name else limits.OUT_WEIGHT
        total += direction * weigh(other_end(edge, name))
    return max(total, limits.HUB_FLOOR * math.log1p(count))


def neighbour_weight(graph: Graph) -> Callable[[str], float]:
    """What an edge's other end is worth: active 1.0, archived 0.2, orphaned 0; user nodes and paths 1.0."""
    nodes = graph.nodes

    def weigh(end: str) -> float:
        node = nodes.get(end)
        if node is None or is_path(end):
            return 1.0
        state = tier(node)
        return 1.0 if state == "active" else limits.ARCHIVED_NEIGHBOUR_WEIGHT if state == "archived" else 0.0

    return weigh


def usefulness(node: Node, now: float) -> float:
    """Sum of the node's stamps, each halved every 90 days."""
    total = 0.0
    for field in _STAMPS:
        for stamp in _times(node, field):
            total += 0.5 ** (max(0.0, now - stamp) / limits.USEFULNESS_HALF_LIFE_S)
    return total


def _last_use(node: Node, used: float) -> float:
    written = node.get("_written", {}).get("ts", 0.0)
    activity = used or written or node.get("_created_ts", 0.0)
    credits = (max(_times(node, field), default=0.0) for field in _STAMPS)
    return max(activity, node.get("_last_read_ts", 0.0), *credits)


def _times(node: Node, field: str) -> list[float]:
    value = node.get(field)
    return [float(stamp) for stamp in value if isinstance(stamp, int | float)] if isinstance(value, list) else []
