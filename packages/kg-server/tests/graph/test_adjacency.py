"""Edges by the ends that they meet."""

from __future__ import annotations

from graph_builders import edge, edges, graphs, incident
from hypothesis import given
from hypothesis import strategies as st
from kg_server.graph.adjacency import Adjacency
from kg_server.graph.graph import Graph
from kg_server.graph.model import Edge, key_of


def filled(*records: Edge) -> Adjacency:
    adjacency = Adjacency()
    for record in records:
        adjacency.add(record)
    return adjacency


@given(st.lists(st.tuples(edges, st.booleans()), max_size=30))
def test_after_any_adds_and_removals_it_is_as_if_built_from_what_is_left(steps: list[tuple[Edge, bool]]) -> None:
    adjacency, left = Adjacency(), dict[str, Edge]()
    for record, stays in steps:
        if stays:
            adjacency.add(record)
            left[key_of(record)] = record
        else:
            adjacency.remove(record)
            left.pop(key_of(record), None)
    assert incident(adjacency) == incident(filled(*left.values()))


@given(graphs())
def test_a_graphs_adjacency_is_as_if_built_from_its_edges(graph: Graph) -> None:
    assert incident(graph.adjacency) == incident(filled(*graph.edges.values()))
    for end in graph.adjacency.endpoints():
        assert graph.adjacency.degree(end) == len(list(graph.adjacency.of(end))) > 0


def test_a_self_loop_stands_once() -> None:
    adjacency = filled(edge("a", "a"))
    assert adjacency.degree("a") == 1
    assert list(adjacency.of("a")) == [edge("a", "a")]


def test_a_new_record_of_an_edge_takes_the_place_of_the_old_one_at_both_ends() -> None:
    adjacency = filled(edge("a", "b"), edge("a", "b", notes=["new"]))
    assert list(adjacency.of("a")) == list(adjacency.of("b")) == [edge("a", "b", notes=["new"])]


def test_an_end_that_nothing_meets_has_no_edges() -> None:
    adjacency = filled(edge("a", "b"))
    adjacency.remove(edge("a", "b"))
    adjacency.remove(edge("a", "b"))
    assert list(adjacency.of("a")) == []
    assert adjacency.degree("a") == 0
    assert list(adjacency.endpoints()) == []


def test_edges_can_be_removed_while_they_are_walked() -> None:
    adjacency = filled(*(edge("a", end) for end in "bcd"))
    for record in adjacency.of("a"):
        adjacency.remove(record)
    assert adjacency.degree("a") == 0
