"""The order in which a level reads: related lines stand together."""

from __future__ import annotations

from itertools import pairwise

import pytest
from graph_builders import edge, graph_of, graphs, node, rebuilt
from hypothesis import given
from kg_server.graph.graph import Graph
from kg_server.graph.model import Change, other_end


def near(graph: Graph, name: str) -> set[str]:
    """Active neighbours of an active node."""
    return {other_end(record, name) for record in graph.adjacency.of(name)} & graph.active_ids() - {name}


def component(graph: Graph, name: str) -> frozenset[str]:
    found, queue = {name}, [name]
    while queue:
        for other in near(graph, queue.pop()) - found:
            found.add(other)
            queue.append(other)
    return frozenset(found)


@pytest.mark.requirement("rendering.components")
@given(graphs())
def test_every_active_node_stands_once_and_components_stand_together_larger_ones_first(graph: Graph) -> None:
    order = graph.reading_order()
    assert sorted(order) == sorted(graph.active_ids())
    blocks = list(dict.fromkeys(component(graph, name) for name in order))
    at = 0
    for block in blocks:
        assert set(order[at : at + len(block)]) == block
        at += len(block)
    assert [len(block) for block in blocks] == sorted((len(block) for block in blocks), reverse=True)


@pytest.mark.requirement("rendering.components")
@given(graphs())
def test_inside_a_component_the_order_is_breadth_first_from_its_best_connected_node(graph: Graph) -> None:
    order = graph.reading_order()
    at = 0
    while at < len(order):
        block = order[at : at + len(component(graph, order[at]))]
        best = max(len(near(graph, name)) for name in block)
        assert block[0] == min(name for name in block if len(near(graph, name)) == best)
        hops, frontier = {block[0]: 0}, [block[0]]
        for name in frontier:
            for other in near(graph, name) - hops.keys():
                hops[other] = hops[name] + 1
                frontier.append(other)
        assert [hops[name] for name in block] == sorted(hops.values())
        parents = [min(block.index(other) for other in near(graph, name)) for name in block[1:]]
        assert parents == sorted(parents)
        at += len(block)


@given(graphs())
def test_the_order_does_not_depend_on_how_the_graph_came_about(graph: Graph) -> None:
    assert graph.reading_order() == rebuilt(graph).reading_order()


def test_equal_components_and_equal_neighbours_stand_by_id() -> None:
    graph = graph_of(*(node(name) for name in "fedcba"), edge("f", "e"), edge("a", "b"))
    assert graph.reading_order() == ["a", "b", "e", "f", "c", "d"]


def test_a_hub_reads_before_its_spokes_and_the_better_connected_spoke_first() -> None:
    spokes = [edge("z-hub", name) for name in "abc"]
    graph = graph_of(*(node(name) for name in ("a", "b", "c", "d", "z-hub")), *spokes, edge("c", "d"))
    assert graph.reading_order() == ["z-hub", "c", "a", "b", "d"]


def test_a_larger_component_reads_before_a_smaller_one_with_a_better_connected_node() -> None:
    star = [edge("star", name) for name in ("s1", "s2", "s3")]
    names = ["w", "v", "x", "y", "z"]
    graph = graph_of(*map(node, ["star", "s1", "s2", "s3", *names]), *star, *(edge(a, b) for a, b in pairwise(names)))
    assert graph.reading_order() == ["v", "x", "w", "y", "z", "star", "s1", "s2", "s3"]


def test_a_path_and_a_sleeping_node_join_nothing() -> None:
    sleeping = node("m", state="archived")
    shared = [edge("a", "src/x.py"), edge("c", "src/x.py"), edge("a", "m"), edge("m", "c")]
    graph = graph_of(node("a"), node("b"), node("c"), sleeping, *shared)
    assert graph.reading_order() == ["a", "b", "c"]
    graph.retier("m", "active", 1.0)
    assert graph.reading_order() == ["m", "a", "c", "b"]


def test_a_new_edge_and_a_deleted_node_change_the_order_at_once() -> None:
    graph = graph_of(*(node(name) for name in "abc"))
    assert graph.reading_order() == ["a", "b", "c"]
    graph.apply([Change("edge", "b->c:requires", None, edge("b", "c"))])
    assert graph.reading_order() == ["b", "c", "a"]
    graph.apply([Change("node", "c", node("c"), None)])
    assert graph.reading_order() == ["a", "b"]


def test_a_long_chain_is_no_trouble() -> None:
    names = [f"n{number:05}" for number in range(5_000)]
    graph = graph_of(*map(node, names), *(edge(a, b) for a, b in pairwise(names)))
    order = graph.reading_order()
    assert len(order) == 5_000
    assert order[0] == "n00001"
