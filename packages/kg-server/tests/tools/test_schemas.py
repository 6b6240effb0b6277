"""The table of tools: what clients list, and what the model pays for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from kg_server.tools.schemas import BY_NAME, INSTRUCTIONS, TOOLS, Tool

PROMISED = {
    "kg_read": {"cwd", "session_id", "id", "ids", "level", "maintenance"},
    "kg_search": {"query", "session_id"},
    "kg_put_node": {"session_id", "level", "id", "gist", "notes", "touches"},
    "kg_put_edge": {"session_id", "level", "from", "to", "rel", "notes"},
    "kg_rename_node": {"session_id", "old_id", "new_id", "level"},
    "kg_delete_node": {"session_id", "id", "level"},
    "kg_delete_edge": {"session_id", "from", "to", "rel", "level"},
    "kg_useful": {"session_id", "ids", "credits"},
    "kg_sync": {"session_id"},
}

each_tool = pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)


def walk(schema: Any) -> Iterator[dict[str, Any]]:
    """A schema and every schema inside it."""
    if isinstance(schema, dict):
        yield schema
        for value in schema.values():
            yield from walk(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from walk(value)


def test_the_promised_tools_have_their_promised_parameters() -> None:
    for name, parameters in PROMISED.items():
        assert parameters <= set(BY_NAME[name].schema["properties"]), name


def test_no_name_is_given_twice() -> None:
    assert len(BY_NAME) == len(TOOLS)


@each_tool
def test_a_description_is_whole_sentences_of_at_most_2048_characters(tool: Tool) -> None:
    assert 0 < len(tool.description) <= 2_048
    assert tool.description.endswith(".")
    assert tool.title


@each_tool
def test_a_schema_is_valid_and_closed(tool: Tool) -> None:
    Draft202012Validator.check_schema(dict(tool.schema))
    assert tool.schema["type"] == "object"
    assert tool.schema["additionalProperties"] is False
    assert set(tool.schema["required"]) <= set(tool.schema["properties"])


@each_tool
def test_no_schema_has_an_array_of_types(tool: Tool) -> None:
    assert not [one for one in walk(dict(tool.schema)) if isinstance(one.get("type"), list)]


@each_tool
def test_a_tool_that_only_reads_destroys_nothing(tool: Tool) -> None:
    assert not (tool.read_only and tool.destructive)


def test_reading_and_deleting_tools_say_so() -> None:
    assert {tool.name for tool in TOOLS if tool.read_only} == {"kg_search", "kg_sync"}
    assert {tool.name for tool in TOOLS if tool.destructive} == {"kg_delete_node", "kg_delete_edge"}


def test_tools_that_write_need_a_session() -> None:
    for tool in TOOLS:
        if tool.name not in ("kg_read", "kg_search"):
            assert "session_id" in tool.schema["required"], tool.name


def test_the_instructions_name_only_tools_that_exist() -> None:
    for text in (INSTRUCTIONS, *(tool.description for tool in TOOLS)):
        named = {word.strip(".,:;()*'\"`") for word in text.split() if word.startswith("kg_")}
        assert {name for name in named if not name.endswith("_")} <= set(BY_NAME)
