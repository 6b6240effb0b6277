"""Edges of projects whose user node is gone: they go with it."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from concurrent.futures import Future

from kg_server.graph.graph import Graph
from kg_server.graph.model import Change, key_of
from kg_server.service.memory import Memory
from kg_server.storage.layout import GraphKey


def edges_gone(graph: Graph, names: Iterable[str]) -> list[Change]:
    """Deletions of all edges that meet one of the named nodes."""
    edges = {key_of(edge): edge for name in names for edge in graph.adjacency.of(name)}
    return [Change("edge", key, edge, None) for key, edge in edges.items()]


def cut_links(
    memory: Memory, names: Collection[str], keys: Iterable[GraphKey], session: str, cause: str
) -> tuple[dict[GraphKey, Future[None]], int]:
    """Delete the edges of the projects `keys` to user nodes that are gone; the writes, and how many edges it were.

    An id that a project has itself means the project's own node. Hold the memory's lock.
    """
    writes: dict[GraphKey, Future[None]] = {}
    count = 0
    for key in keys:
        graph = memory.graph(key)
        changes = edges_gone(graph, [name for name in names if name not in graph.nodes])
        if changes:
            writes[key] = memory.commit(key, changes, session, cause=cause)
            count += len(changes)
    return writes, count
