"""One level's graph in memory: records, and the indexes that every write keeps exact."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from kg_server.graph.adjacency import Adjacency
from kg_server.graph.charge import Charge
from kg_server.graph.index import SearchIndex
from kg_server.graph.lines import citation
from kg_server.graph.model import Change, Edge, Level, Node, is_path, tier
from kg_server.graph.order import reading_order


class Graph:
    """Nodes and edges of a level. `apply` is the only way in: it replaces records and keeps every index.

    A write costs the lines and postings it changes (O(degree) of the node written), whatever the graph's size.
    """

    def __init__(self, level: Level, meta: dict[str, Any] | None = None) -> None:
        self.level = level
        self.nodes: dict[str, Node] = {}
        self.edges: dict[str, Edge] = {}
        self.meta: dict[str, Any] = meta if meta is not None else {}
        self.adjacency = Adjacency()
        self.index = SearchIndex()
        self.generation = 0
        self._charge = Charge(level)
        self._active: set[str] = set()
        self._order: list[str] | None = None

    def apply(self, changes: Iterable[Change]) -> None:
        """Put each change's `after` in place; what stood before is replaced, whatever the change says it was."""
        for change in changes:
            if change.kind == "node":
                self._set_node(change.key, cast("Node | None", change.after))
            else:
                self._set_edge(change.key, cast("Edge | None", change.after))
            self.generation += 1

    def is_active(self, endpoint: str) -> bool:
        """Whether `endpoint` is an active node of this graph."""
        return endpoint in self._active

    def active_ids(self) -> frozenset[str]:
        """Ids of the active nodes, as they are now."""
        return frozenset(self._active)

    def archived_ids(self) -> list[str]:
        """Ids of the archived nodes, alphabetical."""
        return sorted(name for name, node in self.nodes.items() if tier(node) == "archived")

    def reading_order(self) -> list[str]:
        """Active ids in the order they render; kept until an edge between active nodes or a tier changes."""
        if self._order is None:
            self._order = reading_order(self._active, self.adjacency)
        return self._order

    def live_edges(self, name: str) -> list[Edge]:
        """Edges at an active node, by key."""
        return sorted(self.adjacency.of(name), key=lambda edge: (edge["rel"], edge["to"], edge["from"]))

    def charge(self) -> int:
        """Characters of the level's full rendering, exactly."""
        low, high = self._charge.bounds()
        if low == high:
            return low
        place = {name: position for position, name in enumerate(self.reading_order())}
        return low + sum(self._excess(edge, place) for edge in self.edges.values())

    def charge_bounds(self) -> tuple[int, int]:
        """The least and the most that `charge` can be, in O(1)."""
        return self._charge.bounds()

    def counts(self) -> tuple[int, int]:
        """Numbers of active and archived nodes."""
        return self._charge.active, self._charge.archived

    def knows(self, endpoint: str) -> bool:
        """Whether an edge's endpoint names something here: a node of this graph, or any path."""
        return is_path(endpoint) or endpoint in self.nodes

    @staticmethod
    def _excess(edge: Edge, place: dict[str, int]) -> int:
        source, target = place.get(edge["from"]), place.get(edge["to"])
        if source is None or target is None:
            return 0
        at_from, at_to = len(citation(edge, edge["from"])), len(citation(edge, edge["to"]))
        return (at_from if source <= target else at_to) - min(at_from, at_to)

    def _set_node(self, name: str, after: Node | None) -> None:
        before = self.nodes.get(name)
        was_active = name in self._active
        now_active = after is not None and tier(after) == "active"
        if was_active != now_active:
            self._flip(name, now_active)
        if before is not None:
            self._charge.count_node(before, -1)
        if after is None:
            self.nodes.pop(name, None)
            self.index.remove(name)
            return
        self.nodes[name] = after
        self._charge.count_node(after, +1)
        self.index.put(name, after)

    def _flip(self, name: str, active: bool) -> None:
        edges = list(self.adjacency.of(name))
        for edge in edges:
            self._count_edge(edge, -1)
        if active:
            self._active.add(name)
        else:
            self._active.discard(name)
        for edge in edges:
            self._count_edge(edge, +1)
        self._order = None

    def _set_edge(self, key: str, after: Edge | None) -> None:
        before = self.edges.pop(key, None)
        if before is not None:
            self._count_edge(before, -1)
            self.adjacency.remove(before)
        if after is not None:
            self.edges[key] = after
            self.adjacency.add(after)
            self._count_edge(after, +1)
        edge = after or before
        if edge is not None and (before is None) != (after is None) and self._joins_active(edge):
            self._order = None

    def _joins_active(self, edge: Edge) -> bool:
        return edge["from"] in self._active and edge["to"] in self._active

    def _count_edge(self, edge: Edge, sign: int) -> None:
        self._charge.count_edge(edge, edge["from"] in self._active, edge["to"] in self._active, sign)
