"""Arguments against their schema: errors name the field and never repeat what it holds."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kg_server.tools.schemas import BY_NAME
from kg_server.tools.validation import problem

SECRET = "hunter2-is-the-password"
NODE = {"session_id": "aaaaaaaa", "level": "project", "id": "x", "gist": "g"}


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("kg_read", {}),
        ("kg_read", {"cwd": "/p", "ids": ["a", "b"], "maintenance": True}),
        ("kg_search", {"query": "x"}),
        ("kg_put_node", NODE),
        ("kg_put_node", {**NODE, "notes": [], "touches": ["a"]}),
        ("kg_useful", {"session_id": "aaaaaaaa", "ids": ["a"], "credits": 3}),
    ],
)
def test_arguments_that_fit_have_no_problem(tool: str, arguments: dict[str, Any]) -> None:
    assert problem(tool, arguments) == ""


@pytest.mark.parametrize(
    ("tool", "arguments", "told"),
    [
        ("kg_search", {}, "query missing"),
        ("kg_put_node", {"session_id": "a"}, "level, id, gist missing"),
        ("kg_put_node", {**NODE, "gist": 7}, "gist must be of type string"),
        ("kg_put_node", {**NODE, "gist": None}, "gist must be of type string"),
        ("kg_put_node", {**NODE, "notes": SECRET}, "notes must be of type array"),
        ("kg_put_node", {**NODE, "notes": ["ok", 7]}, "notes.1 must be of type string"),
        ("kg_put_node", {**NODE, "level": SECRET}, "level must be one of user, project, maintain"),
        ("kg_put_node", {**NODE, "nodes": [SECRET]}, "unknown field nodes (known: session_id, level, id, gist"),
        ("kg_read", {"maintenance": "yes"}, "maintenance must be of type boolean"),
        ("kg_useful", {"session_id": "a", "ids": ["x"], "credits": 4}, "credits must be from 1 to 3"),
        ("kg_useful", {"session_id": "a", "ids": ["x"], "credits": 1.5}, "credits must be of type integer"),
    ],
)
def test_a_problem_names_its_tool_and_field(tool: str, arguments: dict[str, Any], told: str) -> None:
    sentence = problem(tool, arguments)
    assert sentence.startswith(f"Input validation error in {tool}: ")
    assert told in sentence
    assert SECRET not in sentence


def test_all_problems_are_told_at_once() -> None:
    sentence = problem("kg_put_node", {"gist": 7, "extra": 1})
    for part in ("session_id, level, id missing", "gist must be", "unknown field extra"):
        assert part in sentence


@pytest.mark.parametrize("count", [1_000, 2_000_000])
def test_thousands_of_problems_make_one_short_sentence(count: int) -> None:
    sentence = problem("kg_put_node", {**NODE, "notes": [1] * count})
    assert "notes" in sentence
    assert len(sentence) < 1_000


def test_a_list_that_is_too_long_to_check_is_refused_by_its_size() -> None:
    assert "notes has 1001 entries; at most 1000" in problem("kg_put_node", {**NODE, "notes": ["x"] * 1_001})


def test_many_unknown_fields_make_one_short_sentence() -> None:
    sentence = problem("kg_search", {"query": "x", **{f"field-{n}" + "x" * 500: 1 for n in range(1_000)}})
    assert "unknown field" in sentence
    assert len(sentence) < 1_000


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.just(SECRET),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
FIELDS = sorted({field for tool in BY_NAME.values() for field in tool.schema["properties"]})


@given(st.sampled_from(sorted(BY_NAME)), st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=5))
def test_no_problem_ever_repeats_a_value(tool: str, arguments: dict[str, Any]) -> None:
    assert SECRET not in problem(tool, arguments)
