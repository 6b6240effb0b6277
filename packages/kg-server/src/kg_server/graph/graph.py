"""One level's graph in memory: records, and the indexes that every write keeps exact."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from typing import Any, cast

from kg_server.graph.adjacency import Adjacency
from kg_server.graph.charge import Charge, edge_is_live
from kg_server.graph.index import SearchIndex
from kg_server.graph.lines import active_line, archived_line, citation
from kg_server.graph.links import Links
from kg_server.graph.model import Change, Edge, Level, Node, Tier, is_path, key_of, tier, with_tier
from kg_server.graph.order import reading_order
from kg_server.graph.touches import TouchIndex


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
        self.links = Links()
        self.index = SearchIndex()
        self.touches = TouchIndex()
        self.generation = 0
        self._charge = Charge(level)
        self._tiers: dict[Tier, set[str]] = {"active": set(), "archived": set(), "orphaned": set(), "retired": set()}
        self._active = self._tiers["active"]
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

    def in_tier(self, state: Tier) -> frozenset[str]:
        """Ids of the nodes in a tier, as they are now."""
        return frozenset(self._tiers[state])

    def archived_ids(self) -> list[str]:
        """Ids of the archived nodes, alphabetical."""
        return sorted(self._tiers["archived"])

    def retier(self, name: str, state: Tier, now: float) -> Node:
        """Move a node to another tier; its text, and with it the search index, stays as it is."""
        before = self.nodes[name]
        node = with_tier(before, state, now)
        self._retier(name, tier(before), tier(node))
        self._charge.count_node(before, -1)
        self._charge.count_node(node, +1)
        self.nodes[name] = node
        self.generation += 1
        return node

    def promotion_cost(self, name: str) -> int:
        """Characters that the level's highest charge grows by when an archived node becomes active."""
        node = self.nodes[name]
        grown = (
            self._charge.headings(+1, -1) - self._charge.headings() + len(active_line(node)) - len(archived_line(name))
        )
        for edge in self.adjacency.of(name):
            grown += self._charge.edge_cost(edge, *self._ends(edge, also=name)) - self._charge.edge_cost(
                edge, *self._ends(edge)
            )
        return grown

    def cost_alone(self, name: str, skip: Container[str] = ()) -> int:
        """Characters of a node's line and of its edges' citations, those in `skip` (by key) left out."""
        edges = (edge for edge in self.adjacency.of(name) if key_of(edge) not in skip)
        return (
            len(active_line(self.nodes[name]))
            + 1
            + sum(self._charge.edge_cost(e, *self._ends(e, also=name)) for e in edges)
        )

    def reading_order(self) -> list[str]:
        """Active ids in the order they render; kept until an edge between active nodes or a tier changes."""
        if self._order is None:
            self._order = reading_order(self._active, self.adjacency)
        return self._order

    def live_edges(self, name: str) -> list[Edge]:
        """Edges at an active node, by key."""
        return sorted(self.adjacency.of(name), key=lambda edge: (edge["rel"], edge["to"], edge["from"]))

    def edges_in_view(self) -> Iterator[Edge]:
        """Every live edge once, in no order; costs what is in view, whatever the size of the archive."""
        for name in self._active:
            for edge in self.adjacency.of(name):
                if edge["from"] == name or edge["from"] not in self._active:
                    yield edge

    def charge(self) -> int:
        """Characters of the level's full rendering, exactly."""
        low, high = self._charge.bounds()
        if low == high:
            return low
        place = {name: position for position, name in enumerate(self.reading_order())}
        return low + sum(self._excess(edge, place) for edge in self.edges_in_view())

    def charge_bounds(self) -> tuple[int, int]:
        """The least and the most that `charge` can be, in O(1)."""
        return self._charge.bounds()

    def connectedness(self, name: str) -> float:
        """How well a node is connected, by the edges it has and what their other ends are worth."""
        return self.links.connectedness(name, self.adjacency.degree(name))

    def archived_size(self) -> int:
        """Characters of all archived lines, each with its line break."""
        return self._charge.archived_size

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
        self._retier(name, None if before is None else tier(before), None if after is None else tier(after))
        if before is not None:
            self._charge.count_node(before, -1)
        if after is None:
            self.nodes.pop(name, None)
            self.index.remove(name)
            self.touches.remove(name)
            return
        self.nodes[name] = after
        self._charge.count_node(after, +1)
        if before is None or not _same_text(before, after):
            self.index.put(name, after)
            self.touches.put(name, after.get("touches", ()))

    def _retier(self, name: str, before: Tier | None, after: Tier | None) -> None:
        if before == after:
            return
        self.links.move(name, before, after, self.adjacency)
        if "active" in (before, after):
            sign = +1 if after == "active" else -1
            self._charge.flip_node(name, self.adjacency.of(name), self._active, sign)
            self._order = None
        if before is not None:
            self._tiers[before].discard(name)
        if after is not None:
            self._tiers[after].add(name)

    def _set_edge(self, key: str, after: Edge | None) -> None:
        before = self.edges.pop(key, None)
        if before is not None:
            self._count_edge(before, -1)
            self.adjacency.remove(before)
        if after is not None:
            self.edges[key] = after
            self._count_edge(after, +1)
            self.adjacency.add(after)
        edge = after or before
        if edge is not None and (before is None) != (after is None) and self._joins_active(edge):
            self._order = None

    def _joins_active(self, edge: Edge) -> bool:
        return edge["from"] in self._active and edge["to"] in self._active

    def _count_edge(self, edge: Edge, sign: int) -> None:
        if edge_is_live(edge, self.is_active):
            self._charge.count_edge(edge, *self._ends(edge), sign)
        self.links.count_edge(edge, self._tier_of(edge["from"]), self._tier_of(edge["to"]), sign)

    def _tier_of(self, end: str) -> Tier | None:
        node = self.nodes.get(end)
        return None if node is None else tier(node)

    def _ends(self, edge: Edge, also: str = "") -> tuple[bool, bool]:
        """Which ends of an edge are active nodes, `also` counted as one."""
        source, target = edge["from"], edge["to"]
        return source in self._active or source == also, target in self._active or target == also


def _same_text(before: Node, after: Node) -> bool:
    return all(before.get(field) == after.get(field) for field in ("id", "gist", "notes", "touches"))
