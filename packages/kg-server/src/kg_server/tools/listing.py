"""The lists that a client shows or hands to its model, in the protocol's own form."""

from __future__ import annotations

from collections.abc import Sequence

from kg_server.plugins.offers import McpPrompt, McpResource, McpTool
from kg_server.tools import resources as own
from kg_server.tools.answering import Result
from kg_server.tools.offered import Offered
from kg_server.tools.schemas import TOOLS, Tool


def tools(offered: Offered) -> Result:
    """The server's own tools, then those of plugins."""
    return {"tools": [*map(_tool, TOOLS), *(_tool(offer.what) for offer in offered.tools.values())]}


def resources(listed: Sequence[own.Resource], offered: Offered) -> Result:
    """The resources that have a URI of their own: `listed` of the server's, and those of plugins."""
    added = [_resource("uri", offer.what) for offer in offered.resources.values()]
    return {"resources": [*(_resource("uri", one) for one in listed), *added]}


def templates(offered: Offered) -> Result:
    """The URIs with places to fill in."""
    added = [_resource("uriTemplate", offer.what) for offer in offered.templates.values()]
    return {"resourceTemplates": [*(_resource("uriTemplate", one) for one in own.TEMPLATES), *added]}


def prompts(offered: Offered) -> Result:
    """The prompts of plugins."""
    return {"prompts": [_prompt(offer.what) for offer in offered.prompts.values()]}


def _tool(tool: Tool | McpTool) -> Result:
    hints = {
        "readOnlyHint": tool.read_only,
        "destructiveHint": tool.destructive,
        "idempotentHint": tool.idempotent,
        "openWorldHint": tool.open_world if isinstance(tool, McpTool) else False,
    }
    annotations = {**({"title": tool.title} if tool.title else {}), **hints}
    schema = dict(tool.schema)
    return {"name": tool.name, "description": tool.description, "inputSchema": schema, "annotations": annotations}


def _resource(key: str, resource: own.Resource | McpResource) -> Result:
    kind = resource.mime_type if isinstance(resource, McpResource) else own.MIME_TYPE
    return {key: resource.uri, "name": resource.name, "description": resource.description, "mimeType": kind}


def _prompt(prompt: McpPrompt) -> Result:
    arguments = [
        {"name": one.name, "description": one.description, "required": one.required} for one in prompt.arguments
    ]
    title = {"title": prompt.title} if prompt.title else {}
    return {"name": prompt.name, "description": prompt.description, "arguments": arguments, **title}
