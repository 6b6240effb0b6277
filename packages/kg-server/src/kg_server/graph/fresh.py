"""The fresh tier: the newest nodes, protected while they fill a fixed share of the budget."""

from __future__ import annotations

import heapq

from kg_server.graph import limits
from kg_server.graph.graph import Graph
from kg_server.graph.model import key_of


def fresh_tier(graph: Graph, budget: int) -> list[str]:
    """Ids of the fresh nodes, newest first, archived ones among them; the newest node always belongs.

    Each charges its line and the edges it brings live, an edge once; the first that does not fit ends the tier.
    """
    room = limits.FRESH_SHARE * budget
    names = graph.in_tier("active") | graph.in_tier("archived")
    newest = [(-graph.nodes[name].get("_created_ts", 0.0), name) for name in names]
    heapq.heapify(newest)
    fresh: list[str] = []
    counted: set[str] = set()
    while newest:
        _, name = heapq.heappop(newest)
        room -= graph.cost_alone(name, counted)
        if room < 0 and fresh:
            break
        fresh.append(name)
        counted.update(key_of(edge) for edge in graph.adjacency.of(name))
    return fresh
