"""What a level is charged is what its reader gets, to the character."""

from __future__ import annotations

import pytest
from graph_builders import TIERS, changes, edge, edges, graph_of, graphs, node, put, rebuilt, rendered
from hypothesis import given
from hypothesis import strategies as st
from kg_server.graph.charge import citation_bounds, edge_is_live
from kg_server.graph.graph import Graph
from kg_server.graph.lines import ARCHIVED_HEADING, citation
from kg_server.graph.model import Change, Edge, key_of, tier


@pytest.mark.requirement("entries.locked-charged")
@pytest.mark.requirement("rendering.render-is-charge")
@given(graphs())
def test_the_charge_is_the_length_of_the_rendering(graph: Graph) -> None:
    assert graph.charge() == len(rendered(graph))


@given(graphs())
def test_the_bounds_enclose_the_charge(graph: Graph) -> None:
    low, high = graph.charge_bounds()
    assert low <= graph.charge() <= high


@pytest.mark.requirement("rendering.charge-incremental")
@given(graphs(), st.lists(changes, max_size=8))
def test_the_charge_follows_every_single_change(graph: Graph, more: list[Change]) -> None:
    for change in more:
        graph.apply([change])
        assert graph.charge() == len(rendered(graph))
        assert graph.charge_bounds() == rebuilt(graph).charge_bounds()


@given(graphs(), st.data())
def test_the_charge_follows_every_tier_flip(graph: Graph, data: st.DataObject) -> None:
    for name in data.draw(st.lists(st.sampled_from(sorted(graph.nodes)), max_size=8)) if graph.nodes else ():
        graph.retier(name, data.draw(st.sampled_from(TIERS[:3])), 5.0)
        assert graph.charge() == len(rendered(graph))
        assert graph.charge_bounds() == rebuilt(graph).charge_bounds()
        assert graph.archived_size() == sum(len(f"  {archived}\n") for archived in graph.archived_ids())


@given(graphs())
def test_an_archived_nodes_promotion_costs_what_the_upper_bound_grows_by(graph: Graph) -> None:
    for name in graph.archived_ids():
        cost, before = graph.promotion_cost(name), graph.charge_bounds()[1]
        graph.retier(name, "active", 1.0)
        assert graph.charge_bounds()[1] - before == cost
        graph.retier(name, "archived", 1.0)
        assert graph.charge_bounds()[1] == before


@pytest.mark.requirement("rendering.charge-parts")
@pytest.mark.requirement("tiers.orphaned-invisible")
def test_orphaned_and_retired_nodes_and_edges_without_an_active_end_charge_nothing() -> None:
    empty = Graph("project").charge()
    asleep = [node("o", state="orphaned"), node("r", state="retired"), edge("o", "r"), edge("o", "src/x.py")]
    assert graph_of(*asleep).charge() == empty
    archived = [node("x", state="archived"), node("y", state="archived")]
    assert graph_of(*archived, edge("x", "y"), edge("x", "user-node")).charge() == graph_of(*archived).charge()


def test_the_archive_charges_its_heading_and_one_line_a_node() -> None:
    empty = Graph("project").charge()
    assert graph_of(node("abc", state="archived")).charge() == empty + len(f"\n{ARCHIVED_HEADING}\n  abc")


def test_a_gist_over_the_cap_charges_what_is_shown_of_it() -> None:
    graph = graph_of(node("a", "x" * 5_000), node("b", "y" * 5_000, locked=True))
    assert graph.charge() == len(rendered(graph)) < 2_200


@pytest.mark.parametrize("state", TIERS)
def test_a_self_loop_is_charged_once_and_only_while_its_node_is_active(state: str) -> None:
    graph = graph_of(node("a", state=state), edge("a", "a"))  # type: ignore[arg-type]
    assert rendered(graph).count("→ requires → a") == (state == "active")
    assert graph.charge() == len(rendered(graph))
    assert graph.charge_bounds()[0] == graph.charge_bounds()[1]


@given(edges, st.booleans(), st.booleans())
def test_the_bounds_of_an_edge_are_its_shorter_and_its_longer_line(record: Edge, source: bool, target: bool) -> None:
    sizes = [len(citation(record, record[end])) + 1 for end, on in (("from", source), ("to", target)) if on]
    assert citation_bounds(record, source, target) == ((min(sizes), max(sizes)) if sizes else (0, 0))


@pytest.mark.requirement("rendering.live-predicate")
@given(graphs())
def test_exactly_the_edges_with_an_active_end_of_their_own_graph_are_live(graph: Graph) -> None:
    for record in graph.edges.values():
        ends = [graph.nodes.get(record["from"]), graph.nodes.get(record["to"])]
        assert edge_is_live(record, graph.is_active) == any(end is not None and tier(end) == "active" for end in ends)


@pytest.mark.requirement("rendering.outside-neighbour")
def test_a_node_of_the_user_graph_and_a_path_are_no_active_ends_in_a_project() -> None:
    graph = graph_of(node("a", state="archived"), edge("a", "user-node"), edge("a", "src/x.py"))
    assert not any(edge_is_live(record, graph.is_active) for record in graph.edges.values())


@pytest.mark.requirement("saving.cost-constant")
def test_a_change_of_one_node_does_not_walk_the_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at: list[str] = []

    class Counting(dict[str, Edge]):
        def __iter__(self):  # type: ignore[no-untyped-def]
            looked_at.append("all")
            return super().__iter__()

        def values(self):  # type: ignore[no-untyped-def]
            looked_at.append("all")
            return super().values()

    graph = graph_of(*(node(f"n{number}") for number in range(50)), *(edge(f"n{n}", f"n{n + 1}") for n in range(49)))
    graph.edges, graph.nodes = Counting(graph.edges), Counting(graph.nodes)  # type: ignore[assignment]
    graph.apply([put(node("n7", "changed")), put(edge("n7", "n20")), Change("node", "n9", None, None)])
    graph.retier("n7", "archived", 1.0)
    graph.charge_bounds()
    assert looked_at == []


@given(graphs())
def test_the_edges_in_view_are_the_live_ones_each_once(graph: Graph) -> None:
    live = [key for key, record in graph.edges.items() if edge_is_live(record, graph.is_active)]
    assert sorted(key_of(record) for record in graph.edges_in_view()) == sorted(live)


def test_a_charge_looks_at_what_is_in_view_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    asleep = [node(f"n{number}", state="archived") for number in range(50)]
    graph = graph_of(node("a"), node("bee"), edge("a", "bee"), *asleep, *(edge("n0", f"n{n}") for n in range(50)))
    seen: list[str] = []
    original = graph.adjacency.of
    monkeypatch.setattr(type(graph.adjacency), "of", lambda _, name: seen.append(name) or original(name))
    assert graph.charge() == len(rendered(graph))
    assert set(seen) == {"a", "bee"}
