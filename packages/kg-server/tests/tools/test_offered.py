"""What of a plugin's additions is taken, and what is left out with a word to the log."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from acme_plugin import plugin
from kg_server.plugins import Answer, McpMethod, McpPrompt, McpRequest, McpResource, McpTool
from kg_server.plugins.manager import Plugins
from kg_server.tools.offered import MOST_OF_A_KIND, OWN_METHODS, Offered

OBJECT: dict[str, Any] = {"type": "object"}


async def nothing(_: McpRequest) -> Answer:
    return ""


def tool(name: Any = "clock", description: Any = "Tells the time.", schema: Any = OBJECT) -> McpTool:
    """A tool."""
    return McpTool(name, description, schema, nothing)


def offered(hook: str, *what: object) -> Offered:
    """What is taken of one plugin's additions."""
    return Offered(Plugins({"acme": plugin(None, **{hook: lambda: what})}))


def test_without_additions_there_is_nothing() -> None:
    assert not Offered(Plugins({"acme": plugin()}))


@pytest.mark.parametrize(
    ("hook", "what"),
    [
        ("kg_mcp_tools", tool()),
        ("kg_mcp_resources", McpResource("acme://now", "now", "The time.", nothing)),
        ("kg_mcp_resources", McpResource("acme://{zone}", "now", "The time.", nothing)),
        ("kg_mcp_prompts", McpPrompt("review", "Review it.", nothing)),
        ("kg_mcp_methods", McpMethod("acme/now", nothing)),
    ],
)
def test_each_kind_of_addition_is_one(hook: str, what: object) -> None:
    assert offered(hook, what)


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (tool("kg_read"), "the server has a tool of that name"),
        (tool("two words"), "a name is 1 to 64 letters"),
        (tool(""), "a name is 1 to 64 letters"),
        (tool("x" * 65), "a name is 1 to 64 letters"),
        (tool(7), "its name is no text"),
        (tool(description=""), "a description has 1 to 2,048 characters"),
        (tool(description="x" * 2_049), "a description has 1 to 2,048 characters"),
        (tool(description=7), "it cannot be read"),
        (tool(schema={"type": "strange"}), "no JSON Schema of an object"),
        (tool(schema={"type": "string"}), "no JSON Schema of an object"),
        (tool(schema={}), "no JSON Schema of an object"),
        (tool(schema=7), "no JSON Schema of an object"),
    ],
)
def test_a_tool_that_no_client_could_use_is_left_out(
    wrong: McpTool, why: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert list(offered("kg_mcp_tools", wrong, tool("fine")).tools) == ["fine"]
    assert "plugin acme: the tool" in caplog.text
    assert why in caplog.text


@pytest.mark.parametrize("uri", ["kg://user", "kg:", "no-scheme", "", "acme://{id}/{id}"])
def test_a_resource_with_a_wrong_uri_is_left_out(uri: str, caplog: pytest.LogCaptureFixture) -> None:
    assert not offered("kg_mcp_resources", McpResource(uri, "x", "A thing.", nothing))
    assert "plugin acme: the resource" in caplog.text


@pytest.mark.parametrize("method", sorted(OWN_METHODS))
def test_what_the_server_answers_itself_is_not_replaced(method: str, caplog: pytest.LogCaptureFixture) -> None:
    assert not offered("kg_mcp_methods", McpMethod(method, nothing))
    assert "the server answers it itself" in caplog.text


def test_a_name_belongs_to_the_first_that_has_it(caplog: pytest.LogCaptureFixture) -> None:
    first, second = tool(description="First."), tool(description="Second.")
    taken = offered("kg_mcp_tools", first, second)
    assert taken.tools["clock"].what is first
    assert taken.tools["clock"].plugin == "acme"
    assert "acme has one of that name" in caplog.text


def test_the_number_of_additions_is_bounded(caplog: pytest.LogCaptureFixture) -> None:
    many: Sequence[McpTool] = [tool(f"tool-{number}") for number in range(MOST_OF_A_KIND + 1)]
    assert len(offered("kg_mcp_tools", *many).tools) == MOST_OF_A_KIND
    assert f"there are {MOST_OF_A_KIND} already" in caplog.text


@pytest.mark.parametrize(
    ("uri", "found", "values"),
    [
        ("acme://now", "acme://now", {}),
        ("acme://zone/utc/hour/7", "acme://zone/{zone}/hour/{hour}", {"zone": "utc", "hour": "7"}),
        ("acme://zone/a%2Fb/hour/%C3%A9", "acme://zone/{zone}/hour/{hour}", {"zone": "a/b", "hour": "é"}),
        ("acme://zone/a/b/hour/7", None, None),
        ("acme://zone//hour/7", None, None),
        ("acme://zone/utc/hour/7/more", None, None),
        ("acme://zone/{zone}/hour/7", "acme://zone/{zone}/hour/{hour}", {"zone": "{zone}", "hour": "7"}),
        ("acme://", None, None),
    ],
)
def test_a_place_in_a_uri_takes_one_segment(uri: str, found: str | None, values: object) -> None:
    resources = [McpResource(one, "x", "A time.", nothing) for one in ("acme://now", "acme://zone/{zone}/hour/{hour}")]
    answer = offered("kg_mcp_resources", *resources).resource(uri)
    assert (answer and (answer[0].what.uri, answer[1])) == (found and (found, values))
