"""One level in memory: every index is as if built from the records that are there."""

from __future__ import annotations

from graph_builders import (
    TIERS,
    changes,
    edge,
    graph_of,
    graphs,
    histories,
    incident,
    node,
    postings,
    put,
    rebuilt,
    rendered,
)
from hypothesis import given
from hypothesis import strategies as st
from kg_server.graph.graph import Graph
from kg_server.graph.model import Change, tier


@given(histories, st.lists(changes, max_size=6))
def test_after_any_changes_every_index_equals_a_rebuild(history: list[Change], more: list[Change]) -> None:
    graph = Graph("project")
    graph.apply(history)
    graph.reading_order()  # kept orders must be given up where the next changes touch them
    graph.apply(more)
    fresh = rebuilt(graph)
    assert rendered(graph) == rendered(fresh)
    assert incident(graph.adjacency) == incident(fresh.adjacency)
    assert postings(graph.index) == postings(fresh.index)
    assert graph.charge_bounds() == fresh.charge_bounds()
    assert graph.counts() == fresh.counts()
    assert graph.archived_size() == fresh.archived_size()
    for state in TIERS:
        assert (
            graph.in_tier(state) == fresh.in_tier(state) == {n for n, one in graph.nodes.items() if tier(one) == state}
        )


@given(graphs(), st.data())
def test_a_tier_flip_changes_the_tier_alone(graph: Graph, data: st.DataObject) -> None:
    if not graph.nodes:
        return
    name = data.draw(st.sampled_from(sorted(graph.nodes)))
    indexed, before = postings(rebuilt(graph).index), graph.nodes[name]
    after = graph.retier(name, "archived", 5.0)
    assert graph.nodes[name] is after is not before
    assert after["gist"] == before["gist"]
    assert postings(graph.index) == indexed


def test_what_stood_before_is_replaced_whatever_the_change_says() -> None:
    graph = graph_of(node("a", "old"), edge("a", "b"))
    graph.apply([Change("node", "a", None, node("a", "new")), Change("edge", "a->b:requires", None, None)])
    assert graph.nodes["a"]["gist"] == "new"
    assert graph.edges == {}


def test_deleting_what_is_not_there_changes_nothing() -> None:
    graph = graph_of(node("a"))
    before = rendered(graph)
    graph.apply([Change("node", "zz", None, None), Change("edge", "a->zz:r", None, None)])
    assert rendered(graph) == before


def test_an_edge_may_come_before_its_nodes_and_outlive_them() -> None:
    graph = graph_of(edge("a", "b"))
    graph.apply([put(node("a")), put(node("b"))])
    assert rendered(graph) == rendered(graph_of(node("a"), node("b"), edge("a", "b")))
    graph.apply([Change("node", "a", None, None), Change("node", "b", None, None)])
    assert rendered(graph) == rendered(graph_of(edge("a", "b")))


def test_every_change_is_a_new_generation() -> None:
    graph = Graph("user")
    graph.apply([put(node("a")), put(node("b"))])
    assert graph.generation == 2
    graph.retier("a", "archived", 1.0)
    assert graph.generation == 3


def test_an_answer_does_not_move_when_the_graph_does() -> None:
    graph = graph_of(node("a"), node("b"), edge("a", "b"))
    active, archived, edges = graph.active_ids(), graph.in_tier("archived"), graph.adjacency.of("a")
    graph.retier("a", "archived", 1.0)
    graph.apply([Change("edge", "a->b:requires", None, None)])
    assert (active, archived, list(edges)) == ({"a", "b"}, frozenset(), [edge("a", "b")])


def test_a_graph_knows_its_own_nodes_and_every_path() -> None:
    graph = graph_of(node("a", state="orphaned"))
    assert [graph.knows(end) for end in ("a", "src/x.py", "~/x", "user-node")] == [True, True, True, False]


def test_what_a_node_would_cost_alone_is_its_line_and_its_edges_but_those_skipped() -> None:
    graph = graph_of(node("a", "gist"), node("bb"), edge("a", "bb"), edge("x/y", "a", "r"))
    graph.retier("a", "archived", 1.0)
    line, out, inward = len("  a: gist\n"), len("    → requires → bb\n"), len("    ← r ← x/y\n")
    assert graph.cost_alone("a") == line + out + inward
    assert graph.cost_alone("a", {"a->bb:requires"}) == line + inward
