"""Snapshot files: what goes in comes out, in a layout that git can compare line by line."""

from __future__ import annotations

import json
from typing import Any

import pytest
from graph_builders import commit, edge, edges, graph_of, graphs, incident, node, nodes, postings, put, rendered, texts
from hypothesis import given
from hypothesis import strategies as st
from kg_server.graph.compaction import compact
from kg_server.graph.graph import Graph
from kg_server.graph.model import Change, with_tier
from kg_server.graph.score import score
from kg_server.graph.versions import ChangeSet
from kg_server.storage import journal
from kg_server.storage.format import FORMAT
from kg_server.storage.snapshot import GraphCopy, copy_of, decode, encode, replay

scalars = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    scalars | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("xyzé", max_size=3), inner, max_size=3),
    max_leaves=8,
)
unknown = st.dictionaries(st.sampled_from(("tags", "fields", "colour", "_new")), values, max_size=2)


def data_of(graph: Graph) -> bytes:
    return b"".join(encode(copy_of(graph)))


@given(graphs(), st.data())
def test_a_graph_comes_back_from_its_file_as_it_was(graph: Graph, data: st.DataObject) -> None:
    graph.apply([put({**record, **data.draw(unknown)}) for record in list(graph.nodes.values())])
    graph.apply([put({**record, **data.draw(unknown)}) for record in list(graph.edges.values())])
    graph.meta.update(project_path="/home/ünï/app", progress={"task": data.draw(values)}, later=data.draw(values))
    back = decode(graph.level, data_of(graph))
    assert back.nodes == graph.nodes
    assert back.edges == graph.edges
    assert back.meta == graph.meta
    assert rendered(back) == rendered(graph)
    assert back.charge() == graph.charge()
    assert incident(back.adjacency) == incident(graph.adjacency)
    assert postings(back.index) == postings(graph.index)


@pytest.mark.requirement("files.layout")
@given(graphs(), texts)
def test_the_layout_is_that_of_plain_json_indented_by_two(graph: Graph, text: str) -> None:
    graph.meta.update(project_path=text, versions={"node:b": {"v": 1}, "node:a": {"v": 2, "session": text}})
    content = {
        "nodes": dict(sorted(graph.nodes.items())),
        "edges": dict(sorted(graph.edges.items())),
        "_meta": json.loads(json.dumps({**graph.meta, "format": FORMAT}, sort_keys=True)),
    }
    assert data_of(graph).decode() == json.dumps(content, indent=2, ensure_ascii=False) + "\n"


@given(st.text(st.characters(exclude_categories=["Cs"])), values)
def test_any_text_and_any_value_stay_parseable(text: str, value: Any) -> None:
    graph = graph_of(node("a", "g", notes=[text], extra=value))
    assert json.loads(data_of(graph))["nodes"]["a"] == graph.nodes["a"]


@pytest.mark.parametrize("count", [0, 1, 249, 250, 251, 1_000])
def test_no_part_grows_with_the_graph_and_the_layout_is_the_same_at_every_size(count: int) -> None:
    graph = graph_of(*(node(f"n{number:04}") for number in range(count)))
    graph.apply(put(edge(f"n{number:04}", "src/x.py")) for number in range(count))
    graph.meta["versions"] = {f"node:n{number:04}": {"v": 1, "session": "ü"} for number in range(count)}
    graph.meta["unknown"] = {"deep": {f"é{number:04}": number for number in range(3)}}
    content = {
        "nodes": graph.nodes,
        "edges": dict(sorted(graph.edges.items())),
        "_meta": {**graph.meta, "format": FORMAT},
    }
    content["_meta"] = json.loads(json.dumps(content["_meta"], sort_keys=True))
    parts = list(encode(copy_of(graph)))
    assert b"".join(parts).decode() == json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    assert max(map(len, parts)) < 30_000


def test_a_file_of_many_entries_is_written_in_parts_and_is_one_json_document() -> None:
    records = [node(f"n{number}", f"gist {number} é") for number in range(1_234)]
    graph = graph_of(*records, *(edge(f"n{number}", f"n{number + 1}") for number in range(1_233)))
    parts = list(encode(copy_of(graph)))
    content = json.loads(b"".join(parts))
    assert content["nodes"] == graph.nodes
    assert content["edges"] == graph.edges
    assert max(map(len, parts)) < len(b"".join(parts)) / 4


@pytest.mark.requirement("files.layout")
def test_a_change_of_one_entry_changes_its_own_lines_alone() -> None:
    graph = graph_of(*(node(name, "g", notes=["n"]) for name in ("c", "a", "b")), edge("a", "b"))
    before = data_of(graph).decode().splitlines()
    graph.apply([put(node("b", "another", notes=["n"]))])
    after = data_of(graph).decode().splitlines()
    assert len(before) == len(after)
    assert [new for old, new in zip(before, after, strict=True) if old != new] == ['      "gist": "another",']


def test_the_file_does_not_depend_on_the_order_of_writing() -> None:
    records = [node("b"), node("a"), node("ü"), edge("a", "b"), edge("a", "b", "part-of")]
    assert data_of(graph_of(*records)) == data_of(graph_of(*reversed(records)))


def test_a_copy_stays_as_it_was_while_the_graph_goes_on() -> None:
    graph = graph_of(node("a", "old"), node("b"), edge("a", "b"), meta={"versions": {}})
    commit(graph, [put(node("a", "old"))])
    copy = copy_of(graph)
    before = b"".join(encode(copy))
    commit(graph, [put(node("a", "new")), Change("node", "b", node("b"), None), put(node("c"))])
    graph.retier("a", "archived", 5.0)
    assert b"".join(encode(copy)) == before


@given(graphs(), st.lists(nodes.map(put) | edges.map(put), max_size=8))
def test_no_write_ever_changes_a_record_in_place(graph: Graph, changes: list[Change]) -> None:
    held = {**graph.nodes, **graph.edges}
    before = json.dumps(held)
    graph.apply(changes)
    for name in sorted(graph.nodes):
        graph.retier(name, "archived", 1.0)
    compact(graph, 10.0, budget=400)
    assert json.dumps(held) == before


json_values = st.recursive(
    scalars | st.sampled_from(("a", "b", "ts", "from")),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ("id", "gist", "notes", "touches", "_written", "_created_ts", "_useful_ts", "ts", "_archived")
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=6,
)
files = st.fixed_dictionaries(
    {},
    optional={
        "nodes": st.dictionaries(
            st.sampled_from(("a", "b", "a\nb", "")),
            st.fixed_dictionaries(
                {"gist": st.text(max_size=5) | json_values},
                optional={
                    "notes": json_values,
                    "touches": json_values,
                    "_created_ts": json_values,
                    "_written": json_values,
                    "_useful_ts": json_values,
                    "_orphaned_ts": json_values,
                    "_retired": json_values,
                },
            )
            | json_values,
            max_size=3,
        )
        | json_values,
        "edges": st.dictionaries(
            st.sampled_from(("a->b:r", "x", "")),
            st.fixed_dictionaries(dict.fromkeys(("from", "to", "rel"), st.sampled_from(("a", "b", "x/y", "a\nb", 1))))
            | json_values,
            max_size=3,
        )
        | json_values,
        "_meta": st.fixed_dictionaries({}, optional={"versions": json_values, "seq": json_values}) | json_values,
    },
)


@given(files | json_values)
def test_any_json_is_either_a_graph_that_works_or_refused(content: Any) -> None:
    try:
        graph = decode("project", json.dumps(content).encode())
    except ValueError:
        return
    assert len(rendered(graph)) == graph.charge()
    assert not set("\n\r\u2028") & set("".join(graph.nodes) + "".join(graph.edges))
    score(graph, graph.nodes)
    compact(graph, 10.0, budget=200)
    commit(graph, [put(node("n"))])
    assert decode("project", data_of(graph)).nodes == graph.nodes


@given(st.binary(max_size=60))
def test_any_bytes_are_either_a_graph_or_refused(data: bytes) -> None:
    try:
        decode("user", data)
    except ValueError:
        pass


@given(graphs(), st.data())
def test_a_file_cut_short_anywhere_is_refused(graph: Graph, data: st.DataObject) -> None:
    whole = data_of(graph)
    with pytest.raises(ValueError, match=r"."):
        decode(graph.level, whole[: data.draw(st.integers(0, len(whole) - 3))])


@pytest.mark.requirement("entries.key-never-parsed")
def test_edges_are_held_under_their_own_key_whatever_the_file_calls_them() -> None:
    stored = {"nodes": {"a": node("a"), "b": node("b")}, "edges": {"one": edge("a", "b"), "two": edge("a", "b")}}
    graph = decode("project", json.dumps(stored).encode())
    assert list(graph.edges) == ["a->b:requires"]
    assert len(rendered(graph)) == graph.charge()


def test_two_ids_that_fold_to_one_are_refused_rather_than_one_of_them_lost() -> None:
    with pytest.raises(ValueError, match="same on one line"):
        decode("user", json.dumps({"nodes": {"a b": {"gist": "1"}, "a\nb": {"gist": "2"}}}).encode())


@given(st.lists(st.lists(nodes.map(put) | edges.map(put), max_size=3), max_size=8), st.integers(0, 8))
def test_a_snapshot_and_the_journal_beyond_it_make_the_graph(batches: list[list[Change]], at: int) -> None:
    graph, kept, lines = Graph("project"), Graph("project"), []
    for number, batch in enumerate(batches):
        if number == at:
            kept = decode("project", data_of(graph))
        lines.append(journal.encode(commit(graph, batch, float(number))))
    entries: list[ChangeSet] = [entry for entry in (journal.decode(line[:-1]) for line in lines) if entry is not None]
    replayed = replay(kept, iter(entries))
    assert replayed == len(batches) - (at if at < len(batches) else 0)
    assert (kept.nodes, kept.edges) == (graph.nodes, graph.edges)
    assert kept.meta.get("versions", {}) == graph.meta.get("versions", {})
    assert kept.meta.get("tombstones", {}) == graph.meta.get("tombstones", {})
    assert kept.charge() == graph.charge()
    assert replay(kept, iter(entries)) == 0


def test_tier_flips_in_the_wake_of_a_write_are_replayed() -> None:
    moves = (("a", "archived"), ("gone", "archived"), ("b", "orphaned"))
    graph = graph_of(node("a"), node("b"))
    assert replay(graph, iter([ChangeSet(1, 9.0, "s", (put(node("c")),), moves)])) == 1
    assert graph.nodes["a"] == with_tier(node("a"), "archived")
    assert graph.nodes["b"] == with_tier(node("b"), "orphaned", 9.0)
    assert graph.is_active("c")


def test_an_empty_graph_has_a_file_too() -> None:
    assert json.loads(b"".join(encode(GraphCopy({}, {}, {})))) == {
        "nodes": {},
        "edges": {},
        "_meta": {"format": FORMAT},
    }
