"""What we saved, what we hold, and what somebody else left in the file, made one."""

from __future__ import annotations

from typing import Any

from graph_builders import edge, graph_of, histories, node, put
from hypothesis import given
from kg_server.graph.graph import Graph
from kg_server.graph.merge import merged, merged_fields, unlike
from kg_server.graph.model import Change


def after(base: Graph, ours: Graph, theirs: Graph) -> tuple[dict[str, Any], list[str]]:
    """Our records once theirs are taken in, and the clashes."""
    changes, clashes = merged(base, ours, theirs)
    ours.apply(changes)
    return {**ours.nodes, **ours.edges}, clashes


def at(name: str, gist: str, ts: float) -> Any:
    return node(name, gist, _written={"ts": ts})


def test_what_only_they_changed_is_taken_over_deletions_too() -> None:
    base = graph_of(node("a"), node("b"), edge("a", "b"))
    theirs = graph_of(node("a", "new"), node("c"))
    assert after(base, graph_of(node("a"), node("b"), edge("a", "b")), theirs) == (
        {"a": node("a", "new"), "c": node("c")},
        [],
    )


def test_what_only_we_changed_stays_deletions_too() -> None:
    base = graph_of(node("a"), node("b"), edge("a", "b"))
    ours = graph_of(node("a", "new"), node("c"))
    assert after(base, ours, graph_of(node("a"), node("b"), edge("a", "b")))[0] == {
        "a": node("a", "new"),
        "c": node("c"),
    }


def test_of_two_changes_to_one_entry_the_later_stands_and_the_clash_is_named() -> None:
    base = graph_of(at("a", "old", 1), at("b", "old", 1))
    ours = graph_of(at("a", "ours", 3), at("b", "ours", 2))
    theirs = graph_of(at("a", "theirs", 2), at("b", "theirs", 3))
    records, clashes = after(base, ours, theirs)
    assert {name: record["gist"] for name, record in records.items()} == {"a": "ours", "b": "theirs"}
    assert clashes == ["node a", "node b"]


def test_a_deletion_yields_to_a_change_whoever_made_it() -> None:
    base = graph_of(at("a", "old", 1), at("b", "old", 1))
    records, clashes = after(base, graph_of(at("a", "ours", 2)), graph_of(at("b", "theirs", 2)))
    assert {name: record["gist"] for name, record in records.items()} == {"a": "ours", "b": "theirs"}
    assert clashes == ["node a", "node b"]


def test_the_same_change_on_both_sides_is_no_clash() -> None:
    assert after(graph_of(node("a")), graph_of(node("a", "new")), graph_of(node("a", "new"))) == (
        {"a": node("a", "new")},
        [],
    )


def built(changes: list[Change], *more: Change) -> Graph:
    graph = Graph("project")
    graph.apply([*changes, *more])
    return graph


@given(histories, histories)
def test_an_unchanged_file_changes_nothing_and_an_unchanged_memory_takes_all(
    one: list[Change], other: list[Change]
) -> None:
    base, changed = built(one), built(one, *other)
    assert merged(base, changed, base) == ([], [])
    ours = built(one)
    records, clashes = after(base, ours, changed)
    assert records == {**changed.nodes, **changed.edges}
    assert clashes == []


@given(histories, histories, histories)
def test_an_entry_that_nobody_else_touched_is_never_lost(
    one: list[Change], two: list[Change], new: list[Change]
) -> None:
    base, ours, theirs = (
        built(one),
        built(one, *two, put(node("only-ours"))),
        built(one, *new, put(node("only-theirs"))),
    )
    records, clashes = after(base, ours, theirs)
    assert {"only-ours", "only-theirs"} <= records.keys()
    touched = {*(change.key for change in two), *(change.key for change in new)}
    for key in touched & {name.partition(" ")[2] for name in clashes}:
        assert key in {change.key for change in two} & {change.key for change in new}
    assert merged(theirs, ours, theirs) == ([], [])


def test_a_stamp_of_ours_is_no_change_and_goes_with_their_text() -> None:
    base, ours = graph_of(node("a", "old")), graph_of(node("a", "old", _last_read_ts=9.0))
    changes, clashes = merged(base, ours, graph_of(node("a", "new")))
    assert clashes == []
    assert [change.after for change in changes] == [node("a", "new", _last_read_ts=9.0)]


def test_a_stamp_of_theirs_leaves_our_text() -> None:
    base, ours = graph_of(node("a", "old")), graph_of(node("a", "new"))
    assert merged(base, ours, graph_of(node("a", "old", _last_read_ts=9.0))) == ([], [])


@given(histories, histories, histories)
def test_their_file_and_the_entry_that_follows_it_are_the_whole_merged_graph(
    one: list[Change], two: list[Change], new: list[Change]
) -> None:
    base, ours, theirs = built(one), built(one, *two), built(one, *new)
    changes, _ = merged(base, ours, theirs)
    kept = unlike(ours, theirs)
    known = {(change.kind, change.key) for change in changes}
    theirs.apply([*changes, *(change for change in kept if (change.kind, change.key) not in known)])
    ours.apply(kept)  # leaves all as it was
    ours.apply(changes)
    assert (theirs.nodes, theirs.edges) == (ours.nodes, ours.edges)


def test_fields_that_only_they_changed_are_taken_over_and_the_counts_of_each_stay_its_own() -> None:
    base = {"progress": {"t": 1}, "own": 1, "seq": 3, "versions": {}}
    ours = {"progress": {"t": 1}, "own": 2, "seq": 5, "versions": {"node:a": {}}}
    theirs = {"progress": {"t": 2}, "own": 3, "new": 4, "seq": 9, "versions": {"node:b": {}}}
    assert merged_fields(base, ours, theirs) == {"progress": {"t": 2}, "new": 4}
