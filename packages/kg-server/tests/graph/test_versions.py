"""Versions and tombstones: who changed what when."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pytest
from graph_builders import changes, commit, edge, graph_of, node, put, rebuilt
from hypothesis import given
from hypothesis import strategies as st
from kg_server.graph.graph import Graph
from kg_server.graph.model import Change, with_tier
from kg_server.graph.score import last_use
from kg_server.graph.versions import (
    changed_since,
    content_changed,
    entry_key,
    prune,
    stamp,
    tombstones,
    version_of,
    versions,
)


def now(graph: Graph, change: Change) -> Change:
    """The change as it is made: with what stands there now as its `before`."""
    held: Any = graph.nodes if change.kind == "node" else graph.edges
    return Change(change.kind, change.key, held.get(change.key), change.after)


def delete(graph: Graph, name: str) -> Change:
    return Change("node", name, graph.nodes[name], None)


@pytest.mark.requirement("files.meta")
def test_every_write_of_content_is_a_new_version_with_time_and_session() -> None:
    graph = Graph("user")
    for number, gist in enumerate(("one", "two", "three"), start=1):
        commit(graph, [now(graph, put(node("a", gist)))], ts=float(number), session=f"s{number}")
        assert versions(graph.meta)["node:a"] == {"v": number, "ts": float(number), "session": f"s{number}"}
    assert version_of(graph.meta, "node", "a") == 3
    assert version_of(graph.meta, "node", "b") == 0
    assert graph.meta["seq"] == 3


def test_tiers_and_stamps_are_no_content() -> None:
    before = node("a", _last_read_ts=1.0)
    for after in (with_tier(before, "archived"), node("a", _last_read_ts=2.0), node("a", _useful_ts=[1.0])):
        assert not content_changed(Change("node", "a", before, after))
    for after in (node("a", "other"), node("a", notes=["n"]), node("a", locked=True), None):
        assert content_changed(Change("node", "a", before, after))
    graph = Graph("user")
    commit(graph, [put(before)], ts=1.0)
    commit(graph, [Change("node", "a", before, with_tier(before, "archived"))], ts=2.0)
    assert versions(graph.meta)["node:a"]["v"] == 1
    assert graph.meta["seq"] == 2


def test_a_deleted_entry_leaves_a_tombstone_that_its_return_takes_away() -> None:
    graph = Graph("user")
    commit(graph, [put(node("a"))], ts=1.0)
    commit(graph, [delete(graph, "a")], ts=2.0, session="who")
    assert "node:a" not in versions(graph.meta)
    grave = tombstones(graph.meta)["node:a"]
    assert (grave["ts"], grave["session"]) == (2.0, "who")
    commit(graph, [put(node("a"))], ts=3.0)
    assert tombstones(graph.meta) == {}


@given(st.lists(changes, max_size=40))
def test_a_version_never_stands_for_two_contents_of_an_entry(history: list[Change]) -> None:
    graph, seen = Graph("project"), defaultdict[tuple[str, int], list[Any]](list)
    for number, change in enumerate(history):
        commit(graph, [now(graph, change)], ts=float(number))
        held: Any = graph.nodes if change.kind == "node" else graph.edges
        record = held.get(change.key)
        if record is None:
            assert version_of(graph.meta, change.kind, change.key) == 0
            continue
        content = {field: value for field, value in record.items() if not field.startswith("_")}
        known = seen[entry_key(change.kind, change.key), version_of(graph.meta, change.kind, change.key)]
        assert all(content == other for other in known)
        known.append(content)


def test_a_session_that_saw_a_deleted_node_has_not_seen_the_one_after_it() -> None:
    graph = Graph("user")
    commit(graph, [put(node("a", "first"))])
    seen = version_of(graph.meta, "node", "a")
    commit(graph, [delete(graph, "a")])
    commit(graph, [Change("node", "a", None, None)])  # deleting it once more forgets nothing
    commit(graph, [put(node("a", "second"))])
    assert version_of(graph.meta, "node", "a") > seen


def rename(graph: Graph, old: str, new: str, **more: Any) -> None:
    record = graph.nodes[old]
    pair = [Change("node", old, record, None), Change("node", new, None, {**record, "id": new})]  # type: ignore[arg-type]
    commit(graph, pair, renames=((old, new),), **more)


def test_a_renamed_node_keeps_its_version_and_its_old_id_says_what_it_is_called_now() -> None:
    graph = Graph("user")
    commit(graph, [put(node("a"))], ts=1.0, session="author")
    rename(graph, "a", "b", ts=5.0, session="other")
    assert versions(graph.meta) == {"node:b": {"v": 1, "ts": 1.0, "session": "author"}}
    grave = tombstones(graph.meta)["node:a"]
    assert (grave["renamed"], grave["ts"], grave["session"]) == ("b", 5.0, "other")


def test_a_node_renamed_to_an_id_that_was_used_before_is_told_from_what_had_it() -> None:
    graph = Graph("user")
    for gist in ("one", "two", "three"):
        commit(graph, [now(graph, put(node("b", gist)))])
    commit(graph, [delete(graph, "b")])
    for gist in ("four", "five"):
        commit(graph, [now(graph, put(node("a", gist)))])
    rename(graph, "a", "b")
    assert version_of(graph.meta, "node", "b") == 4
    rename(graph, "b", "a")
    assert version_of(graph.meta, "node", "a") > 2


@pytest.mark.parametrize("known", [True, False])
def test_upkeep_changes_the_version_and_leaves_the_activity_as_it_was(known: bool) -> None:
    record = node("a", _created_ts=3.0, _written={"ts": 4.0})
    graph = graph_of(record)
    if known:
        commit(graph, [Change("node", "a", None, record)], ts=4.0)
    tidied = node("a", "tidier", _created_ts=3.0, _written={"ts": 90.0})
    for number in range(2):
        tidied = {**tidied, "gist": f"tidier {number}"}
        commit(graph, [now(graph, put(tidied))], ts=90.0 + number, upkeep=True)
        assert last_use(graph, "a") == 4.0
    assert version_of(graph.meta, "node", "a") == 2 + known
    commit(graph, [now(graph, put(node("a", "used")))], ts=95.0)
    assert last_use(graph, "a") == 95.0


def test_old_tombstones_are_forgotten() -> None:
    graph = graph_of(*(node(name) for name in "abc"))
    for number, name in enumerate("abc"):
        commit(graph, [delete(graph, name)], ts=float(number))
    prune(graph.meta, 1.0)
    assert set(tombstones(graph.meta)) == {"node:b", "node:c"}


def test_what_others_changed_is_listed_oldest_first_and_ones_own_left_out() -> None:
    graph = Graph("user")
    commit(graph, [put(node("old"))], ts=1.0, session="other")
    commit(graph, [put(node("z")), put(node("a"))], ts=5.0, session="other")
    commit(graph, [put(edge("a", "z"))], ts=4.0, session="third")
    commit(graph, [put(node("mine"))], ts=6.0, session="me")
    listed = [name for name, _ in changed_since(graph.meta, 1.0, "me")]
    assert listed == ["edge:a->z:requires", "node:a", "node:z"]
    assert list(changed_since(graph.meta, 6.0, "other")) == []


@given(st.lists(st.lists(changes, max_size=3), max_size=8))
def test_stamping_again_from_the_same_change_sets_gives_the_same_marks(batches: list[list[Change]]) -> None:
    graph, entries = Graph("project"), []
    for number, batch in enumerate(batches):
        entries.append(
            commit(graph, [now(graph, change) for change in batch], ts=float(number), session=f"s{number % 3}")
        )
    again: dict[str, Any] = {}
    for entry in entries:
        stamp(again, entry)
    assert again == graph.meta == rebuilt(graph).meta
