"""What the lists hold of what is left empty."""

from __future__ import annotations

from acme_plugin import plugin
from kg_server.plugins import Answer, McpPrompt, McpRequest, McpTool
from kg_server.plugins.manager import Plugins
from kg_server.tools import listing
from kg_server.tools.offered import Offered
from kg_server.tools.resources import TEMPLATES
from kg_server.tools.schemas import TOOLS


async def nothing(_: McpRequest) -> Answer:
    return ""


def test_without_plugins_the_lists_hold_the_servers_own() -> None:
    offered = Offered(Plugins({}))
    assert [tool["name"] for tool in listing.tools(offered)["tools"]] == [tool.name for tool in TOOLS]
    assert len(listing.templates(offered)["resourceTemplates"]) == len(TEMPLATES)
    assert listing.resources([], offered) == {"resources": []}
    assert listing.prompts(offered) == {"prompts": []}


def test_a_title_that_is_empty_is_left_out() -> None:
    tool, prompt = McpTool("clock", "Time.", {"type": "object"}, nothing), McpPrompt("review", "Review.", nothing)
    hooks = {"kg_mcp_tools": lambda: [tool], "kg_mcp_prompts": lambda: [prompt]}
    offered = Offered(Plugins({"acme": plugin(None, **hooks)}))
    assert "title" not in listing.tools(offered)["tools"][-1]["annotations"]
    assert listing.prompts(offered)["prompts"] == [{"name": "review", "description": "Review.", "arguments": []}]
