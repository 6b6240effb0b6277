"""What each node's edges are worth, kept with every edge and tier change.

A node's weight is the sum over its edges of the direction (in 0.66, out 0.33) times what the other end is worth
(active 1.0, archived 0.2, orphaned and retired 0; a user node or a path 1.0). Sums are whole thousandths: the order
in which they are added cannot change a tie.
"""

from __future__ import annotations

import math

from kg_server.graph import limits
from kg_server.graph.adjacency import Adjacency
from kg_server.graph.model import Edge, Tier

UNIT = 1000
_IN, _OUT = round(limits.IN_WEIGHT * 100), round(limits.OUT_WEIGHT * 100)
_WORTH: dict[Tier | None, int] = {
    None: 10,
    "active": 10,
    "archived": round(limits.ARCHIVED_NEIGHBOUR_WEIGHT * 10),
    "orphaned": 0,
    "retired": 0,
}


class Links:
    """Weights by endpoint."""

    __slots__ = ("_weights",)

    def __init__(self) -> None:
        self._weights: dict[str, int] = {}

    def weight(self, name: str) -> int:
        """The endpoint's weight, in thousandths."""
        return self._weights.get(name, 0)

    def connectedness(self, name: str, degree: int) -> float:
        """The weight of a node, never below half the logarithm of the number of its edges."""
        return max(self.weight(name) / UNIT, limits.HUB_FLOOR * math.log1p(degree))

    def count_edge(self, edge: Edge, from_tier: Tier | None, to_tier: Tier | None, sign: int) -> None:
        """Add (+1) or take away (-1) an edge; a self-loop counts once, as an edge in."""
        source, target = edge["from"], edge["to"]
        self._add(target, sign * _IN * _WORTH[from_tier])
        if source != target:
            self._add(source, sign * _OUT * _WORTH[to_tier])

    def move(self, name: str, before: Tier | None, after: Tier | None, adjacency: Adjacency) -> None:
        """Follow a node from one tier to another (None: no node of this graph)."""
        grown = _WORTH[after] - _WORTH[before]
        if not grown:
            return
        weights, inward, outward = self._weights, grown * _IN, grown * _OUT
        for edge in adjacency.of(name):
            if edge["from"] == name:
                near = edge["to"]
                weights[near] = weights.get(near, 0) + inward
            else:
                near = edge["from"]
                weights[near] = weights.get(near, 0) + outward

    def _add(self, name: str, amount: int) -> None:
        total = self._weights.get(name, 0) + amount
        if total:
            self._weights[name] = total
        else:
            self._weights.pop(name, None)
