"""Tiers, keys and ends of records."""

from __future__ import annotations

from typing import Any

import pytest
from graph_builders import TIERS, edge, node, nodes
from hypothesis import given
from hypothesis import strategies as st
from kg_server.graph.model import Node, Tier, edge_key, is_path, key_of, other_end, tier, with_tier


@pytest.mark.parametrize(
    ("fields", "state"),
    [
        ({}, "active"),
        ({"_archived": False}, "active"),
        ({"_archived": True}, "archived"),
        ({"_archived": True, "_orphaned_ts": 5.0}, "orphaned"),
        ({"_orphaned_ts": 0}, "orphaned"),
        ({"_archived": True, "_orphaned_ts": None}, "archived"),
        ({"_archived": True, "_orphaned_ts": 5.0, "_retired": {"ts": 1}}, "retired"),
        ({"_retired": {}}, "active"),
    ],
)
def test_the_tier_follows_from_the_marks(fields: dict[str, Any], state: Tier) -> None:
    assert tier({"id": "a", "gist": "g", **fields}) == state  # type: ignore[typeddict-item]


@given(nodes, st.sampled_from(TIERS[:3]))
def test_a_node_in_another_tier_is_a_new_record_with_all_else_as_it_was(record: Node, wanted: Tier) -> None:
    before = dict(record)
    moved = with_tier(record, wanted, 77.0)
    assert record == before
    assert tier(moved) == ("retired" if tier(record) == "retired" else wanted)
    marks = ("_archived", "_orphaned_ts")
    assert {k: v for k, v in moved.items() if k not in marks} == {k: v for k, v in before.items() if k not in marks}
    assert moved.get("_orphaned_ts") == (77.0 if wanted == "orphaned" else None)


@pytest.mark.requirement("entries.path-ends")
@pytest.mark.parametrize("end", ["src/app.py", "./README.md", "~", "~/notes.md", "/etc/hosts", "a/b", "~tilde"])
def test_an_end_with_a_slash_or_a_leading_tilde_is_a_path(end: str) -> None:
    assert is_path(end)


@pytest.mark.parametrize("end", ["a", "README.md", "a~b", "ключ", "C:"])
def test_any_other_end_is_an_id(end: str) -> None:
    assert not is_path(end)


def test_an_edges_key_is_made_of_its_ends_and_relation() -> None:
    assert key_of(edge("a", "src/x.py", "part-of")) == edge_key("a", "part-of", "src/x.py") == "a->src/x.py:part-of"


def test_the_other_end_of_a_self_loop_is_the_node_itself() -> None:
    assert other_end(edge("a", "b"), "a") == "b"
    assert other_end(edge("a", "b"), "b") == "a"
    assert other_end(edge("a", "a"), "a") == "a"


def test_the_builders_make_what_they_say() -> None:
    assert [tier(node("a", state=state)) for state in TIERS] == list(TIERS)
