"""The worth of each node's edges, kept with every change."""

from __future__ import annotations

import math

import pytest
from graph_builders import edge, graph_of, graphs, node, rebuilt
from hypothesis import given
from kg_server.graph.graph import Graph
from kg_server.graph.links import UNIT
from kg_server.graph.model import Tier, other_end, tier

WORTH = {"active": 1.0, "archived": 0.2, "orphaned": 0.0, "retired": 0.0}


def by_hand(graph: Graph, name: str) -> float:
    total = 0.0
    for record in graph.adjacency.of(name):
        other = graph.nodes.get(other_end(record, name))
        worth = 1.0 if other is None else WORTH[tier(other)]
        total += (0.66 if record["to"] == name else 0.33) * worth
    return total


@pytest.mark.requirement("compaction.connectedness")
@given(graphs())
def test_weights_after_any_changes_are_those_worked_out_from_scratch(graph: Graph) -> None:
    fresh = rebuilt(graph)
    for name in {*graph.nodes, *graph.adjacency.endpoints()}:
        assert graph.links.weight(name) == fresh.links.weight(name)
    for name in graph.nodes:
        assert graph.links.weight(name) / UNIT == pytest.approx(by_hand(graph, name))
        floor = 0.5 * math.log(1 + graph.adjacency.degree(name))
        assert graph.connectedness(name) == pytest.approx(max(by_hand(graph, name), floor))


def test_an_edge_in_weighs_twice_an_edge_out() -> None:
    graph = graph_of(node("a"), node("b"), edge("a", "b"))
    assert (graph.links.weight("a"), graph.links.weight("b")) == (330, 660)


@pytest.mark.parametrize(("state", "weight"), [("active", 660), ("archived", 132), ("orphaned", 0), ("retired", 0)])
def test_a_neighbour_is_worth_what_its_tier_says(state: Tier, weight: int) -> None:
    graph = graph_of(node("a", state=state), node("b"), edge("a", "b"))
    assert graph.links.weight("b") == weight


@pytest.mark.requirement("rendering.outside-neighbour")
@pytest.mark.parametrize("end", ["user-node", "src/x.py", "~/x"])
def test_a_user_node_and_a_path_are_worth_a_full_neighbour(end: str) -> None:
    assert graph_of(node("a"), edge(end, "a")).links.weight("a") == 660


@pytest.mark.requirement("compaction.connectedness")
def test_a_self_loop_counts_once() -> None:
    graph = graph_of(node("a"), edge("a", "a"))
    assert graph.links.weight("a") == 660
    graph.retier("a", "archived", 1.0)
    assert graph.links.weight("a") == 132


def test_a_hub_whose_neighbours_all_sleep_keeps_a_floor() -> None:
    sleeping = [node(f"n{number}", state="orphaned") for number in range(25)]
    graph = graph_of(node("hub"), *sleeping, *(edge(one["id"], "hub") for one in sleeping))
    assert graph.links.weight("hub") == 0
    assert graph.connectedness("hub") == 0.5 * math.log(26)
