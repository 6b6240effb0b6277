"""Edges whose end names nothing."""

from __future__ import annotations

from collections.abc import Container

from kg_server.graph.graph import Graph
from kg_server.graph.model import Change


def dangling_edges(graph: Graph, user_nodes: Container[str]) -> list[Change]:
    """Deletions of the edges with a bare-id end that names no node of `graph` nor, for a project, of the user's."""
    return [
        Change("edge", key, edge, None)
        for key, edge in graph.edges.items()
        if not all(graph.knows(end) or end in user_nodes for end in (edge["from"], edge["to"]))
    ]
