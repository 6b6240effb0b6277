"""What a level costs in its full read, kept with every write.

Node lines and edges with one active end have a length of their own. An edge between two active nodes is cited
under the one that renders first, and `→ rel → to` and `← rel ← from` differ in length: for those the charge keeps
a lower and an upper bound, O(1) to read, and the exact figure comes from the render order when it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable

from kg_server.graph.lines import (
    ACTIVE_HEADING,
    ARCHIVED_HEADING,
    active_line,
    archived_line,
    citation,
    heading,
)
from kg_server.graph.model import Edge, Level, Node, tier


def edge_is_live(edge: Edge, is_active: Callable[[str], bool]) -> bool:
    """Whether an edge counts: at least one end is an active node of the graph that owns the edge."""
    return is_active(edge["from"]) or is_active(edge["to"])


class Charge:
    """Running totals of a level's rendered lines, each with its line break."""

    __slots__ = ("active", "archived", "high", "level", "low", "nodes")

    def __init__(self, level: Level) -> None:
        self.level = level
        self.nodes = 0  # characters of active and archived node lines
        self.active = 0
        self.archived = 0
        self.low = 0  # characters of live edges if every one were cited at its shorter side
        self.high = 0

    def count_node(self, node: Node, sign: int) -> None:
        """Add (+1) or take away (-1) a node's own line."""
        state = tier(node)
        if state == "active":
            self.active += sign
            self.nodes += sign * (len(active_line(node)) + 1)
        elif state == "archived":
            self.archived += sign
            self.nodes += sign * (len(archived_line(node["id"])) + 1)

    def count_edge(self, edge: Edge, from_active: bool, to_active: bool, sign: int) -> None:
        """Add or take away an edge's citation, given which of its ends are active nodes of this graph."""
        if not (from_active or to_active):
            return
        at_from = len(citation(edge, edge["from"])) + 1
        at_to = len(citation(edge, edge["to"])) + 1
        if not from_active:
            at_from = at_to
        elif not to_active:
            at_to = at_from
        self.low += sign * min(at_from, at_to)
        self.high += sign * max(at_from, at_to)

    def headings(self) -> int:
        """Characters of the heading lines, each with its line break."""
        size = len(heading(self.level, self.active, self.archived)) + 1 + len(ACTIVE_HEADING) + 1
        return size + (len(ARCHIVED_HEADING) + 1 if self.archived else 0)

    def bounds(self) -> tuple[int, int]:
        """The least and the most that the level can charge; equal when no edge joins two active nodes."""
        fixed = self.headings() + self.nodes - 1  # the last line has no break
        return fixed + self.low, fixed + self.high
