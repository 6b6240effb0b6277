"""The methods of the protocol that this server answers: its own tools and resources, and what plugins add."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any

from kg_server.graph.errors import UnknownEntry
from kg_server.plugins.offers import INTERNAL_ERROR, INVALID_PARAMS, McpError, McpRequest
from kg_server.plugins.records import JsonObject
from kg_server.service.context import Context
from kg_server.storage.errors import StorageBroken
from kg_server.tools import answering, listing, resources
from kg_server.tools.answering import Result
from kg_server.tools.handlers import call
from kg_server.tools.offered import Offered
from kg_server.tools.schemas import BY_NAME

Method = Callable[[McpRequest], Awaitable[Result]]


class Methods:
    """One handler for each method; requests arrive with the shape that the protocol gives them."""

    def __init__(self, context: Context, offered: Offered) -> None:
        self._context = context
        self._offered = offered
        self._tools, self._prompts = listing.tools(offered), listing.prompts(offered)
        self._templates = listing.templates(offered)

    def table(self) -> Mapping[str, Method]:
        """Every handler by the name of its method."""
        return {
            "tools/list": self._list_tools,
            "tools/call": self._call_tool,
            "resources/list": self._list_resources,
            "resources/templates/list": self._list_templates,
            "resources/read": self._read_resource,
            "prompts/list": self._list_prompts,
            "prompts/get": self._get_prompt,
            **{name: self._offered_method(name) for name in self._offered.methods},
        }

    def schema(self, tool: str) -> JsonObject | None:
        """The schema of a tool's arguments."""
        if tool in BY_NAME:
            return BY_NAME[tool].schema
        offer = self._offered.tools.get(tool)
        return offer.what.schema if offer else None

    async def _list_tools(self, _: McpRequest) -> Result:
        return self._tools

    async def _call_tool(self, request: McpRequest) -> Result:
        request = _with_arguments(request)
        name = str(request.params["name"])
        offer = self._offered.tools.get(name)
        if offer:
            return await answering.call_tool(offer, request)
        reply = await call(self._context, name, request.arguments, request.source)
        return answering.tool_text(reply.text, is_error=reply.is_error)

    async def _list_resources(self, _: McpRequest) -> Result:
        own = await asyncio.to_thread(resources.listed, self._context)  # a project's name lies on the disk
        return listing.resources(own, self._offered)

    async def _list_templates(self, _: McpRequest) -> Result:
        return self._templates

    async def _read_resource(self, request: McpRequest) -> Result:
        uri = str(request.params["uri"])
        if uri.startswith(resources.SCHEME):
            text = await asyncio.to_thread(_own_resource, self._context, uri)
            return {"contents": [{"uri": uri, "mimeType": resources.MIME_TYPE, "text": text}]}
        found = self._offered.resource(uri)
        if found is None:
            raise McpError(INVALID_PARAMS, f"Resource not found: {resources.KNOWN}", {"uri": uri})
        offer, values = found
        return await answering.read_resource(offer, uri, replace(request, arguments=values))

    async def _list_prompts(self, _: McpRequest) -> Result:
        return self._prompts

    async def _get_prompt(self, request: McpRequest) -> Result:
        name = str(request.params["name"])
        offer = self._offered.prompts.get(name)
        if offer is None:
            raise McpError(INVALID_PARAMS, f"there is no prompt {name[:60]!r}; prompts/list names those that exist")
        return await answering.get_prompt(offer, _with_arguments(request))

    def _offered_method(self, name: str) -> Method:
        offer = self._offered.methods[name]

        async def answer(request: McpRequest) -> Result:
            return await answering.answer_method(offer, request)

        return answer


def _with_arguments(request: McpRequest) -> McpRequest:
    arguments: Any = request.params.get("arguments")
    return replace(request, arguments=arguments) if arguments else request


def _own_resource(context: Context, uri: str) -> str:
    try:
        return resources.read(context, uri)
    except UnknownEntry as error:
        raise McpError(INVALID_PARAMS, f"Resource not found: {error}", {"uri": uri}) from None
    except StorageBroken as error:
        raise McpError(INTERNAL_ERROR, str(error), {"uri": uri}) from None
