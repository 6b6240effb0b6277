"""One question to one or more graphs: what they hold on it, and how the hits hang together."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from kg_server.graph.graph import Graph
from kg_server.graph.index import Hit, Rarity
from kg_server.graph.likeness import likeness
from kg_server.graph.model import Edge, Node, key_of, other_end, tier
from kg_server.graph.query import Query

LIKENESS_WEIGHT = 1.5
CONNECTOR_HOPS = 3
"""Two hits are joined when at most this many edges lie between them."""
CONNECTOR_VISITS = 400
"""How many nodes are looked at for that around each hit: in a dense graph the near ones alone."""


@dataclass(frozen=True, slots=True)
class Found:
    """A hit with the graph that holds it. `score` is that of its terms and of how alike it reads to the query."""

    graph: Graph
    hit: Hit
    score: float

    @property
    def node(self) -> Node:
        """The node found."""
        return self.graph.nodes[self.hit.id]


def search(graphs: Sequence[Graph], query: Query, most: int) -> list[Found]:
    """The `most` best hits of the graphs, best first; retired nodes are left out. Ties stand by level and id."""
    rarity = Rarity([graph.index for graph in graphs])
    found = [
        Found(graph, hit, hit.score + LIKENESS_WEIGHT * likeness(query.runs, graph.nodes[hit.id]))
        for graph in graphs
        for hit in graph.index.rank(query.terms, most, rarity, graph.in_tier("retired"))
    ]
    return sorted(found, key=lambda one: (-one.score, one.graph.level, one.hit.id))[:most]


def connections(graph: Graph, names: Sequence[str]) -> tuple[list[str], list[Edge]]:
    """Nodes that join the named ones over a short way, and the edges among all of these."""
    joined = list(dict.fromkeys(names))
    connectors: list[str] = []
    for start in joined:
        for name in _way(graph, start, {other for other in joined if other > start}):
            if name not in joined and name not in connectors:
                connectors.append(name)
    members = {*joined, *connectors}
    edges: dict[str, Edge] = {}
    for name in [*joined, *connectors]:
        for edge in graph.adjacency.of(name):
            if edge["from"] in members and edge["to"] in members:
                edges[key_of(edge)] = edge
    return connectors, [edges[key] for key in sorted(edges)]


def _way(graph: Graph, start: str, goals: set[str]) -> list[str]:
    """The inner nodes of the shortest ways from `start` to each goal within reach."""
    came: dict[str, str] = {start: ""}
    queue = deque([(start, 0)])
    inner: list[str] = []
    while queue and len(came) < CONNECTOR_VISITS:
        name, hops = queue.popleft()
        if name in goals:
            inner.extend(_inner(name, came))
        if hops == CONNECTOR_HOPS:
            continue
        for edge in graph.adjacency.of(name):
            near = other_end(edge, name)
            if near not in came and near in graph.nodes and tier(graph.nodes[near]) != "retired":
                came[near] = name
                queue.append((near, hops + 1))
    return inner


def _inner(goal: str, came: dict[str, str]) -> list[str]:
    names = []
    name = came[goal]
    while came[name]:
        names.append(name)
        name = came[name]
    return names
