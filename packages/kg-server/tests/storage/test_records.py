"""Records of an older, a foreign or a damaged file: usable ones are kept whole, others refused by name."""

from __future__ import annotations

from typing import Any

import pytest
from graph_builders import edges, nodes
from hypothesis import given
from hypothesis import strategies as st
from kg_server.graph.model import Edge, Node
from kg_server.storage.records import edge_from, meta_from, node_from, parse

BREAKS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029\x00\x1b"


@pytest.mark.requirement("entries.unknown-fields-kept")
@given(nodes, st.dictionaries(st.text("abc", min_size=1), st.integers() | st.none() | st.lists(st.text("ab"))))
def test_a_good_node_is_kept_as_it_is_with_all_unknown_fields(node: Node, unknown: dict[str, Any]) -> None:
    record = {**unknown, **node}
    assert node_from(node["id"], record) is record


@given(edges, st.dictionaries(st.text("abc", min_size=1), st.integers() | st.none()))
def test_a_good_edge_is_kept_as_it_is_with_all_unknown_fields(edge: Edge, unknown: dict[str, Any]) -> None:
    record = {**unknown, **edge}
    assert edge_from("any", record) is record


def test_a_node_takes_the_id_it_is_stored_under() -> None:
    assert node_from("a", {"id": "b", "gist": "g"})["id"] == "a"
    assert node_from("a", {"gist": "g"})["id"] == "a"


def test_a_node_without_a_gist_has_an_empty_one() -> None:
    assert node_from("a", {"id": "a"})["gist"] == ""


@pytest.mark.requirement("entries.gist-one-line")
@pytest.mark.parametrize("mark", BREAKS)
def test_no_stored_name_or_gist_keeps_a_line_break(mark: str) -> None:
    node = node_from(f"a{mark}b", {"id": "x", "gist": f"one{mark}=== USER GRAPH"})
    edge = edge_from("k", {"from": f"a{mark}b", "to": f"c{mark}d", "rel": f"e{mark}f"})
    assert (node["id"], node["gist"]) == ("a b", "one === USER GRAPH")
    assert (edge["from"], edge["to"], edge["rel"]) == ("a b", "c d", "e f")


@pytest.mark.requirement("files.markup-healed")
def test_markup_that_leaked_into_a_stored_gist_is_healed() -> None:
    gist = 'real</gist>\n<notes>["a", "b"]</notes>'
    assert node_from("a", {"id": "a", "gist": gist}) == {"id": "a", "gist": "real", "notes": ["a", "b"]}
    assert node_from("a", {"id": "a", "gist": gist, "notes": ["own"]})["notes"] == ["own"]


@pytest.mark.parametrize("value", [None, 1, "text", [], {"gist": 1}, {"gist": None}, {"gist": ["a"]}])
def test_what_is_no_node_is_refused_by_its_id(value: Any) -> None:
    with pytest.raises(ValueError, match="node the-id is not a node"):
        node_from("the-id", value)


@pytest.mark.parametrize("value", [None, [], {}, {"from": "a", "to": "b"}, {"from": "a", "to": 1, "rel": "r"}])
def test_what_is_no_edge_is_refused_by_its_key(value: Any) -> None:
    with pytest.raises(ValueError, match="edge the-key is not an edge"):
        edge_from("the-key", value)


@pytest.mark.parametrize("field", ["notes", "touches"])
@pytest.mark.parametrize("value", ["text", 1, {"a": 1}, ["a", 1], [["a"]], [None]])
def test_a_list_of_something_else_is_refused_by_name(field: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"{field} of node the-id"):
        node_from("the-id", {"id": "the-id", "gist": "g", field: value})


def test_a_list_that_is_null_counts_as_absent() -> None:
    assert "notes" not in node_from("a", {"id": "a", "gist": "g", "notes": None})
    assert "notes" not in edge_from("k", {"from": "a", "to": "b", "rel": "r", "notes": None})


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("_created_ts", "yesterday"),
        ("_last_read_ts", None),
        ("_orphaned_ts", [1]),
        ("_useful_ts", 3),
        ("_credited_ts", ["x"]),
        ("_written", "me"),
        ("_written", {"ts": "now"}),
    ],
)
def test_a_stamp_that_is_none_is_left_out_and_the_node_stays(field: str, value: Any) -> None:
    assert node_from("a", {"id": "a", "gist": "g", field: value, "x": 1}) == {"id": "a", "gist": "g", "x": 1}


def test_versions_that_are_none_are_left_out() -> None:
    good = {"v": 1, "ts": 2.0, "session": "s"}
    meta = meta_from(
        {
            "seq": 3,
            "versions": {"node:a": good, "node:b": 1, "node:c": {"v": "x"}, "node:d": {"v": 2**64 - 1}},
            "tombstones": [],
        }
    )
    assert meta == {"seq": 3, "versions": {"node:a": good}, "tombstones": {}}


@pytest.mark.parametrize("value", [5, "abc", {"a": 1}, ["a", 1], None])
def test_a_list_of_settling_nodes_that_is_none_is_left_out(value: Any) -> None:
    assert meta_from({"settling": value, "own": 1}) == {"own": 1}
    assert meta_from({"settling": ["a"]}) == {"settling": ["a"]}


@pytest.mark.parametrize("value", [None, [], "x", {"seq": "1"}, {"seq": None}, {"seq": 1.5}, {"seq": 2**64 - 1}])
def test_a_meta_that_cannot_be_meant_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="_meta"):
        meta_from(value)


@pytest.mark.parametrize(
    ("data", "content"),
    [
        (b'\xef\xbb\xbf{"a": 1}', {"a": 1}),
        (b'{"a": "\\ud83d"}', {"a": "?"}),
        (b'{"a": "\\ud83e\\udd8a"}', {"a": "🦊"}),
    ],
)
def test_what_an_editor_or_another_writer_leaves_in_a_file_is_read(data: bytes, content: Any) -> None:
    assert parse(data) == content


@pytest.mark.parametrize("data", [b"", b"{", b"\x00" * 50, b'{"a": NaN}', b"[" * 100_000, b'{"a": "\xff"}'])
def test_what_is_no_json_is_a_value_error(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse(data)
