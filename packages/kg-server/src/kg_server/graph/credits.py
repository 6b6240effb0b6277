"""Stamps that say a node was useful: endorsements, repeats and maintenance credits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, cast

from kg_server.graph import limits
from kg_server.graph.graph import Graph
from kg_server.graph.model import Node, is_path, tier, with_tier

CASE_OF = "instance-of"
"""The relation by which a newer case points at the older lesson that it repeats."""

Stamp = Literal["_useful_ts", "_credited_ts", "_recurrence_ts"]


def stamped(node: Node, field: Stamp, stamps: list[float]) -> Node:
    """The node with more stamps of a kind; the oldest go when there are too many."""
    kept = [*node.get(field, []), *stamps][-limits.STAMPS_KEPT :]
    return cast(Node, {**node, field: kept})


def credited(node: Node, count: int, now: float) -> Node:
    """The node with a maintenance pass's credits; a credited orphan returns to the archive."""
    richer = stamped(node, "_credited_ts", [now] * count)
    return with_tier(richer, "archived") if tier(node) == "orphaned" else richer


def repeats(graph: Graph, name: str, lessons: Graph) -> Iterator[Node]:
    """Lessons of `lessons` that gain a repeat from the case `name` of `graph`: older, linked, not counted before."""
    case = graph.nodes.get(name)
    if case is None or "_created_ts" not in case:
        return
    for edge in graph.adjacency.of(name):
        target = edge["to"]
        if edge["from"] != name or edge["rel"] != CASE_OF or is_path(target):
            continue
        if lessons is not graph and target in graph.nodes:
            continue  # the project's own node of that id is meant
        lesson = lessons.nodes.get(target)
        if lesson is None or lesson.get("_created_ts", 0.0) >= case["_created_ts"]:
            continue
        if case["_created_ts"] not in lesson.get("_recurrence_ts", []):
            yield stamped(lesson, "_recurrence_ts", [case["_created_ts"]])
