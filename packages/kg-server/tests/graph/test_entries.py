"""New and changed records: checked, folded, merged with what stands."""

from __future__ import annotations

from typing import Any

import pytest
from graph_builders import edge, node, nodes
from hypothesis import given
from kg_server.graph import limits
from kg_server.graph.entries import (
    checked_gist,
    checked_notes,
    checked_touches,
    merged_edge,
    merged_node,
    same_content,
    written,
)
from kg_server.graph.errors import InvalidEntry
from kg_server.graph.model import Node, tier


def test_lists_that_are_left_out_stay_and_lists_that_are_sent_replace() -> None:
    before = node("a", "old", notes=["n1"], touches=["x/y"], tags=["kept"])
    assert merged_node(before, "a", "new", None, None) == {**before, "gist": "new"}
    merged = merged_node(before, "a", "new", ["n2"], [])
    assert merged == {"id": "a", "gist": "new", "notes": ["n2"], "tags": ["kept"]}
    assert before["notes"] == ["n1"]


@pytest.mark.requirement("entries.node-fields")
def test_a_new_node_has_what_was_sent() -> None:
    assert merged_node(None, "a", " a\n gist ", [" n "], [" src/x.py:3 "]) == {
        "id": "a",
        "gist": "a gist",
        "notes": ["n"],
        "touches": ["src/x.py:3"],
    }


@pytest.mark.requirement("files.markup-healed")
def test_leaked_markup_is_healed_and_its_notes_taken_only_where_none_were_sent() -> None:
    gist = 'Real claim</gist>\n<notes>["n1"]</notes><invoke name='
    assert merged_node(None, "a", gist, None, None) == {"id": "a", "gist": "Real claim", "notes": ["n1"]}
    assert merged_node(None, "a", gist, ["own"], None)["notes"] == ["own"]
    assert "notes" not in merged_node(None, "a", gist, [], None)


@given(nodes)
def test_a_write_makes_a_node_active_and_dates_it(before: Node) -> None:
    stored = written(merged_node(before, before["id"], "another", None, None), before, 50.0, "me")
    assert tier(stored) == ("retired" if tier(before) == "retired" else "active")
    assert stored["_written"] == {"ts": 50.0, "by": "me", "author": "me"}
    assert stored["_created_ts"] == before.get("_created_ts", 50.0)
    assert stored["_gist_ts"] == [50.0]


def test_a_first_write_is_the_creation_and_later_ones_keep_its_date() -> None:
    first = written(node("a"), None, 5.0, "s")
    assert first["_created_ts"] == 5.0
    assert "_gist_ts" not in first
    second = written(merged_node(first, "a", "new", None, None), first, 9.0, "t")
    assert (second["_created_ts"], second["_gist_ts"]) == (5.0, [9.0])


@pytest.mark.requirement("entries.gist-history")
def test_only_the_last_gist_changes_are_kept() -> None:
    record = written(node("a", "0"), None, 0.0, "s")
    for number in range(1, 20):
        record = written(merged_node(record, "a", f"{number % 7}", None, None), record, float(number), "s")
    assert record["_gist_ts"] == [float(number) for number in range(12, 20)]
    same = written(merged_node(record, "a", record["gist"], ["n"], None), record, 99.0, "s")
    assert same["_gist_ts"] == record["_gist_ts"]


def test_tidying_leaves_the_tier_and_the_author_as_they_were() -> None:
    before = written(node("a"), None, 5.0, "author")
    asleep = {**before, "_archived": True}
    stored = written(merged_node(asleep, "a", "tidier", None, None), asleep, 9.0, "keeper", upkeep=True)  # type: ignore[arg-type]
    assert tier(stored) == "archived"
    assert stored["_written"] == {"ts": 9.0, "by": "keeper", "author": "author"}


def test_an_edge_is_merged_like_a_node() -> None:
    before = edge("a", "b", notes=["n"], colour="red")
    assert merged_edge(before, "a", "requires", "b", None) == before
    assert merged_edge(before, "a", "requires", "b", []) == edge("a", "b", colour="red")
    assert merged_edge(None, "a", "requires", "b", ["n"]) == edge("a", "b", notes=["n"])


def test_the_same_content_is_told_from_other_content_whatever_the_stamps() -> None:
    stored = written(node("a", "g", notes=["n"]), None, 5.0, "s")
    assert same_content(stored, merged_node(stored, "a", "g", ["n"], None))
    assert same_content(node("a", notes=[]), node("a"))
    assert not same_content(stored, merged_node(stored, "a", "g", [], None))
    assert not same_content(stored, merged_node(stored, "a", "h", None, None))
    assert not same_content(None, stored)


@pytest.mark.requirement("entries.caps-refused")
@pytest.mark.parametrize(
    ("check", "text"),
    [
        (lambda: checked_gist("é" * 1_001), "gist has 1001 characters; at most 1000"),
        (lambda: checked_notes(["a", "é" * 4_001]), "note 2 has 4001 characters; at most 4000"),
        (lambda: checked_notes(["a"] * 101), "notes has 101 entries; at most 100"),
        (lambda: checked_touches(["a"] * 101), "touches has 101 entries; at most 100"),
        (lambda: checked_touches(["a", "b", "x" * 1_001]), "touch 3 has 1001 characters; at most 1000"),
    ],
)
def test_what_is_over_a_cap_is_refused_with_field_and_size(check: Any, text: str) -> None:
    with pytest.raises(InvalidEntry, match=f"^{text}"):
        check()


def test_what_is_at_a_cap_is_accepted() -> None:
    assert len(checked_gist("é" * limits.GIST_MAX_CHARACTERS)) == 1_000
    assert checked_gist("\n" * 3_000 + "x") == "x"
    assert len(checked_notes(["é" * limits.NOTE_MAX_CHARACTERS] * limits.NOTES_MAX)) == 100
    assert len(checked_touches(["x" * limits.TOUCH_MAX_CHARACTERS] * limits.TOUCHES_MAX)) == 100


@pytest.mark.parametrize("gist", ["", " ", "\n\t\u2028", "\x00\x1b"])
def test_an_empty_gist_is_refused(gist: str) -> None:
    with pytest.raises(InvalidEntry, match=r"^gist is empty"):
        checked_gist(gist)


@pytest.mark.parametrize("blank", ["", " ", "\n\u2028"])
def test_blank_notes_and_touches_are_dropped(blank: str) -> None:
    assert checked_notes([blank, "a", blank]) == ["a"]
    assert checked_touches([blank, "a", blank]) == ["a"]


def test_a_touch_of_control_characters_alone_is_dropped() -> None:
    assert checked_touches(["\x01", "a\x02b"]) == ["a b"]


def test_a_touch_with_a_nul_is_refused() -> None:
    with pytest.raises(InvalidEntry, match=r"^touch 2 holds a NUL"):
        checked_touches(["a", "b\0c"])


@pytest.mark.parametrize(
    ("field", "check"),
    [("gist", checked_gist), ("note 1", lambda t: checked_notes([t])), ("touch 1", lambda t: checked_touches([t]))],
)
def test_half_a_character_is_refused_by_field(field: str, check: Any) -> None:
    with pytest.raises(InvalidEntry, match=f"^{field} holds half a character") as told:
        check("a \ud83d b")
    str(told.value).encode("utf-8")


def test_a_note_keeps_its_inner_line_breaks() -> None:
    assert checked_notes([" one\n\n  two\n"]) == ["one\n\n  two"]
