"""How alike two texts read."""

from __future__ import annotations

import pytest
from graph_builders import node
from hypothesis import given
from hypothesis import strategies as st
from kg_server.graph.likeness import RUN_LETTERS, RUNS_MAX, likeness, runs


@given(st.text(max_size=3_000))
def test_runs_are_distinct_bounded_and_no_longer_than_a_run(text: str) -> None:
    found = runs(text)
    assert len(found) == len(set(found)) <= RUNS_MAX
    assert all(len(run) <= RUN_LETTERS for run in found)


@pytest.mark.parametrize(
    ("left", "right"), [("file-name", "file name"), ("File  NAME!", "file name"), ("a_b c", "a b c")]
)
def test_signs_and_case_make_no_difference(left: str, right: str) -> None:
    assert runs(left) == runs(right)


def test_a_compound_reads_like_its_parts() -> None:
    asked = runs("the data frame of the filename")
    assert likeness(asked, node("x", "a dataframe and its file name")) > likeness(asked, node("x", "another thing"))


def test_the_order_of_words_counts() -> None:
    asked = runs("retry before the timeout")
    assert likeness(asked, node("x", "retry before the timeout")) > likeness(
        asked, node("x", "timeout the before retry")
    )


def test_a_note_of_a_megabyte_is_read_at_its_beginning_alone() -> None:
    asked = runs("zebra")
    assert likeness(asked, node("x", "gist", notes=["y" * 1_000_000 + " zebra"])) == 0.0
    assert likeness(asked, node("x", "gist", notes=["zebra " + "y" * 1_000_000])) > 0.0


def test_an_empty_question_is_like_nothing() -> None:
    assert likeness((), node("x", "gist")) == 0.0
    assert likeness(runs(""), node("x", "gist")) <= 1.0
