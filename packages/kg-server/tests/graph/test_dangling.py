"""Edges whose end names nothing."""

from __future__ import annotations

import pytest
from graph_builders import edge, graph_of, graphs, node
from hypothesis import given
from kg_server.graph.dangling import dangling_edges
from kg_server.graph.graph import Graph
from kg_server.graph.model import is_path


@pytest.mark.requirement("entries.edge-ends")
@pytest.mark.parametrize("end", ["b", "user-node", "src/x.py", "~/x", "./README.md"])
def test_own_nodes_user_nodes_and_paths_are_something(end: str) -> None:
    graph = graph_of(node("a"), node("b", state="orphaned"), edge("a", end), edge(end, "a"))
    assert dangling_edges(graph, {"user-node"}) == []


@pytest.mark.parametrize("record", [edge("a", "gone"), edge("gone", "a"), edge("gone", "src/x.py"), edge("no", "gone")])
def test_an_edge_to_nothing_is_deleted_by_its_key(record: dict[str, str]) -> None:
    graph = graph_of(node("a"), edge("a", "a"), record)
    (change,) = dangling_edges(graph, {"user-node"})
    assert (change.kind, change.before, change.after) == ("edge", record, None)
    graph.apply([change])
    assert list(graph.edges) == ["a->a:requires"]


@pytest.mark.requirement("levels.maintain-own-edges")
def test_what_the_user_graph_holds_counts_only_where_it_is_given() -> None:
    graph = graph_of(node("a"), edge("a", "user-node"), level="maintain")
    assert len(dangling_edges(graph, {})) == 1


@given(graphs())
def test_afterwards_every_end_names_something(graph: Graph) -> None:
    graph.apply(dangling_edges(graph, {"user-node"}))
    ends = {end for one in graph.edges.values() for end in (one["from"], one["to"])}
    assert all(end in graph.nodes or end == "user-node" or is_path(end) for end in ends)
    assert dangling_edges(graph, {"user-node"}) == []
