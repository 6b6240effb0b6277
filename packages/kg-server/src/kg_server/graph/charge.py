"""What a level costs in its full read, kept with every write.

Node lines and edges with one active end have a length of their own. An edge between two active nodes is cited
under the one that renders first, and `→ rel → to` and `← rel ← from` differ in length: for those the charge keeps
a lower and an upper bound, O(1) to read, and the exact figure comes from the render order when it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable

from kg_server.graph.lines import (
    ACTIVE_HEADING,
    ARCHIVED_HEADING,
    CITATION_FRAME,
    active_line,
    archived_line,
    citation_length,
    heading,
)
from kg_server.graph.model import Edge, Level, Node, tier


def edge_is_live(edge: Edge, is_active: Callable[[str], bool]) -> bool:
    """Whether an edge counts: at least one end is an active node of the graph that owns the edge."""
    return is_active(edge["from"]) or is_active(edge["to"])


def citation_bounds(edge: Edge, from_active: bool, to_active: bool) -> tuple[int, int]:
    """The least and the most characters of an edge's line with its break; nothing when no end is active."""
    if not (from_active or to_active):
        return 0, 0
    at_from = citation_length(edge, edge["from"]) + 1
    at_to = citation_length(edge, edge["to"]) + 1
    if not from_active:
        return at_to, at_to
    if not to_active:
        return at_from, at_from
    return min(at_from, at_to), max(at_from, at_to)


class Charge:
    """Running totals of a level's rendered lines, each with its line break."""

    __slots__ = ("active", "archived", "archived_size", "high", "level", "low", "nodes")

    def __init__(self, level: Level) -> None:
        self.level = level
        self.nodes = 0  # characters of active and archived node lines
        self.active = 0
        self.archived = 0
        self.archived_size = 0  # the part of `nodes` that is archived lines
        self.low = 0  # characters of live edges if every one were cited at its shorter side
        self.high = 0

    def count_node(self, node: Node, sign: int) -> None:
        """Add (+1) or take away (-1) a node's own line."""
        state = tier(node)
        if state == "active":
            self.active += sign
            self.nodes += sign * (len(active_line(node)) + 1)
        elif state == "archived":
            size = sign * (len(archived_line(node["id"])) + 1)
            self.archived += sign
            self.archived_size += size
            self.nodes += size

    def count_edge(self, edge: Edge, from_active: bool, to_active: bool, sign: int) -> None:
        """Add or take away an edge's citation, given which of its ends are active nodes of this graph."""
        low, high = citation_bounds(edge, from_active, to_active)
        self.low += sign * low
        self.high += sign * high

    def flip_node(self, name: str, edges: Iterable[Edge], active: Container[str], sign: int) -> None:
        """Follow the edges of a node that becomes active (+1) or stops being so (-1)."""
        low = high = 0
        own = CITATION_FRAME + 1 + len(name)
        for edge in edges:
            other = edge["to"] if edge["from"] == name else edge["from"]
            here = CITATION_FRAME + 1 + len(edge["rel"]) + len(other)
            if other == name or other not in active:
                low += here
                high += here
                continue
            there = own + len(edge["rel"])
            if here < there:
                low += here - there
            else:
                high += here - there
        self.low += sign * low
        self.high += sign * high

    def edge_cost(self, edge: Edge, from_active: bool, to_active: bool) -> int:
        """The most that an edge's citation can charge."""
        return citation_bounds(edge, from_active, to_active)[1]

    def headings(self, more_active: int = 0, more_archived: int = 0) -> int:
        """Characters of the heading lines, each with its line break, as they are or with other counts."""
        active, archived = self.active + more_active, self.archived + more_archived
        size = len(heading(self.level, active, archived)) + 1 + len(ACTIVE_HEADING) + 1
        return size + (len(ARCHIVED_HEADING) + 1 if archived else 0)

    def bounds(self) -> tuple[int, int]:
        """The least and the most that the level can charge; equal when no edge joins two active nodes."""
        fixed = self.headings() + self.nodes - 1  # the last line has no break
        return fixed + self.low, fixed + self.high
