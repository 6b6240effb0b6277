"""One question to several graphs, and how the hits hang together."""

from __future__ import annotations

from itertools import pairwise

import pytest
from graph_builders import edge, graph_of, graphs, node, put, rebuilt, texts
from hypothesis import given
from hypothesis import strategies as st
from kg_server.graph.graph import Graph
from kg_server.graph.model import Tier, key_of, other_end
from kg_server.graph.query import query
from kg_server.graph.search import CONNECTOR_HOPS, connections, search

FILLER = [node(f"filler-{number}", f"text number {number}") for number in range(6)]


def chain(*names: str, state: Tier = "active") -> Graph:
    inner = [node(name, state=state) for name in names[1:-1]]
    return graph_of(node(names[0]), *inner, node(names[-1]), *(edge(a, b) for a, b in pairwise(names)))


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_ties_stand_by_level_and_id_whatever_the_order_of_the_graphs(order: tuple[int, int]) -> None:
    user = graph_of(node("b", "zebra"), node("a", "zebra"), *FILLER, level="user")
    project = graph_of(node("b", "zebra"), node("c", "zebra"), *FILLER)
    both = [user, project]
    found = search([both[at] for at in order], query("zebra"), 10)
    assert [(one.graph.level, one.hit.id) for one in found] == [
        ("project", "b"),
        ("project", "c"),
        ("user", "a"),
        ("user", "b"),
    ]
    assert len({one.score for one in found}) == 1
    assert found[0].node is project.nodes["b"]


@given(graphs(), graphs(), texts)
def test_a_search_gives_the_same_answer_every_time(one: Graph, other: Graph, text: str) -> None:
    first = [(found.graph.level, found.hit, found.score) for found in search([one, other], query(text), 10)]
    again = [
        (found.graph.level, found.hit, found.score) for found in search([rebuilt(one), rebuilt(other)], query(text), 10)
    ]
    assert first == again
    assert [score for *_, score in first] == sorted((score for *_, score in first), reverse=True)


@pytest.mark.parametrize(
    ("state", "is_found"), [("active", True), ("archived", True), ("orphaned", True), ("retired", False)]
)
def test_all_but_retired_nodes_are_found(state: Tier, is_found: bool) -> None:
    graph = graph_of(node("x", "zebra", state), *FILLER)
    assert bool(search([graph], query("zebra"), 10)) == is_found


def test_of_hits_with_the_same_terms_the_one_that_reads_like_the_query_stands_first() -> None:
    graph = graph_of(
        node("b", "the budget of a retry belongs to its caller"),
        node("a", "a retry has a caller and a budget"),
        *FILLER,
    )
    assert [one.hit.id for one in search([graph], query("budget of a retry"), 2)] == ["b", "a"]
    assert [one.hit.id for one in search([graph], query("a retry has a budget"), 2)] == ["a", "b"]


def test_only_as_many_hits_come_as_are_asked_for() -> None:
    graph = graph_of(*(node(f"n{number}", "zebra") for number in range(9)), *FILLER)
    assert [one.hit.id for one in search([graph], query("zebra"), 3)] == ["n0", "n1", "n2"]


def test_a_term_is_as_rare_as_it_is_in_all_the_graphs_together() -> None:
    common = graph_of(*(node(f"n{number}", f"deploy step {number}") for number in range(12)), level="user")
    lone = graph_of(node("x", "deploy"), *FILLER)
    alone, together = search([lone], query("deploy"), 1)[0], search([common, lone], query("deploy"), 20)
    assert max(one.hit.rarest for one in together) < alone.hit.rarest


def test_two_hits_are_joined_by_the_nodes_between_them() -> None:
    graph = chain("a", "m", "n", "b")
    connectors, edges = connections(graph, ["b", "a"])
    assert sorted(connectors) == ["m", "n"]
    assert [key_of(one) for one in edges] == ["a->m:requires", "m->n:requires", "n->b:requires"]


def test_hits_too_far_apart_are_not_joined() -> None:
    assert connections(chain("a", "m", "n", "o", "b"), ["a", "b"]) == ([], [])
    assert CONNECTOR_HOPS == 3


def test_the_shortest_way_joins() -> None:
    graph = chain("a", "m", "n", "b")
    graph.apply([put(node("s")), put(edge("a", "s")), put(edge("s", "b"))])
    assert connections(graph, ["a", "b"])[0] == ["s"]


def test_edges_between_hits_come_along_once_and_self_loops_too() -> None:
    graph = graph_of(node("a"), node("b"), edge("a", "b"), edge("b", "a", "r"), edge("a", "a"), edge("a", "x/y"))
    connectors, edges = connections(graph, ["a", "b", "a"])
    assert connectors == []
    assert [key_of(one) for one in edges] == ["a->a:requires", "a->b:requires", "b->a:r"]


def test_a_path_joins_nothing() -> None:
    graph = graph_of(node("a"), node("b"), edge("a", "src/x.py"), edge("b", "src/x.py"))
    assert connections(graph, ["a", "b"]) == ([], [])


def test_a_retired_node_joins_nothing() -> None:
    assert connections(chain("a", "m", "b", state="retired"), ["a", "b"]) == ([], [])
    assert connections(chain("a", "m", "b", state="archived"), ["a", "b"])[0] == ["m"]


@given(graphs(), st.data())
def test_connectors_are_no_hits_and_every_edge_has_both_ends_shown(graph: Graph, data: st.DataObject) -> None:
    names = data.draw(st.lists(st.sampled_from(sorted(graph.nodes)), unique=True)) if graph.nodes else []
    connectors, edges = connections(graph, names)
    shown = {*names, *connectors}
    assert len(connectors) == len(set(connectors))
    assert not set(connectors) & set(names)
    assert {key_of(one) for one in edges} == {
        key for key, one in graph.edges.items() if one["from"] in shown and one["to"] in shown
    }
    for name in connectors:
        near = {other_end(one, name) for one in graph.adjacency.of(name)} - {name}
        assert len(near & shown) >= 2
