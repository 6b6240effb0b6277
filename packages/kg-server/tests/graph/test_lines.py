"""The lines of a rendered level."""

from __future__ import annotations

import pytest
from graph_builders import edge, edges, node
from hypothesis import given
from hypothesis import strategies as st
from kg_server.graph import limits
from kg_server.graph.lines import (
    active_line,
    archived_line,
    citation,
    citation_length,
    connection,
    cut_gist,
    heading,
    is_cut,
    preloaded_line,
    shown_gist,
)
from kg_server.graph.model import Edge


def test_each_line_has_its_form() -> None:
    assert heading("user", 3, 12) == "=== USER GRAPH — 3 active, 12 archived ==="
    assert active_line(node("a", "the gist")) == "  a: the gist"
    assert active_line(node("a", "the gist", locked=True)) == "  a (locked): the gist"
    assert preloaded_line(node("a")) == "  a (preloaded)"
    assert archived_line("a") == "  a"
    assert citation(edge("a", "b", "part-of"), "a") == "    → part-of → b"
    assert citation(edge("a", "b", "part-of"), "b") == "    ← part-of ← a"
    assert citation(edge("a", "a"), "a") == "    → requires → a"
    assert connection(edge("a", "b", "part-of")) == "a --part-of--> b"


@given(edges, st.booleans())
def test_a_citations_length_is_known_without_building_it(record: Edge, at_from: bool) -> None:
    under = record["from"] if at_from else record["to"]
    assert citation_length(record, under) == len(citation(record, under))


@pytest.mark.requirement("entries.oversized-kept")
def test_a_gist_at_the_cap_is_shown_whole_and_one_over_it_cut_with_the_way_to_read_it() -> None:
    whole, over = node("a", "é" * limits.GIST_MAX_CHARACTERS), node("a", "é" * (limits.GIST_MAX_CHARACTERS + 1))
    assert shown_gist(whole) == whole["gist"]
    assert not is_cut(whole)
    assert is_cut(over)
    assert shown_gist(over).endswith("é… (kg_read a)")
    assert len(shown_gist(over)) == limits.GIST_MAX_CHARACTERS


@pytest.mark.parametrize("size", [16, 40, 99])
def test_a_gist_is_cut_within_the_size_asked_for(size: int) -> None:
    assert cut_gist(node("a", "🦊" * 100), size) == "🦊" * (size - 13) + "… (kg_read a)"
    assert cut_gist(node("a", "short"), size) == "short"
