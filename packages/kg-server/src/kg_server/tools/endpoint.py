"""The MCP endpoint over the official SDK: the only module that imports it, and only after the server listens."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

import mcp_types as types
from mcp.server import Server, ServerRequestContext
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from kg_server.plugins.records import EventSource
from kg_server.service.context import Context
from kg_server.tools.handlers import call
from kg_server.tools.schemas import BY_NAME, INSTRUCTIONS, TOOLS, Tool

MCP_BODY_BYTES = 4 << 20
_CLIENT_INFO = "io.modelcontextprotocol/clientInfo"

Managers = tuple[StreamableHTTPSessionManager, StreamableHTTPSessionManager]


def build(context: Context) -> Managers:
    """Two transports over one server: JSON replies, and event streams for clients that ask for them."""
    server = _server(context)
    json_replies, streams = (
        StreamableHTTPSessionManager(
            server, json_response=as_json, stateless=True, max_request_body_size=MCP_BODY_BYTES
        )
        for as_json in (True, False)
    )
    return json_replies, streams


def _server(context: Context) -> Server[Any]:
    listed = types.ListToolsResult(tools=[_listed(tool) for tool in TOOLS])

    async def list_tools(_ctx: ServerRequestContext[Any, Any], _params: Any) -> types.ListToolsResult:
        return listed

    async def call_tool(
        ctx: ServerRequestContext[Any, Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        # A client that goes away in the middle of a stream must not leave half a write behind.
        work = asyncio.ensure_future(call(context, params.name, params.arguments or {}, _source(ctx)))
        reply = await asyncio.shield(work)
        return types.CallToolResult(content=[types.TextContent(type="text", text=reply.text)], is_error=reply.is_error)

    server: Server[Any] = Server(
        "knowledge-graph",
        version=version("kg-server"),
        instructions=INSTRUCTIONS,
        get_tool_input_schema=_schema,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
    server.middleware.clear()  # no tracing spans: they cost every request and nobody reads them
    return server


def _schema(name: str) -> dict[str, Any] | None:
    tool = BY_NAME.get(name)
    return dict(tool.schema) if tool else None


def _listed(tool: Tool) -> types.Tool:
    hints = types.ToolAnnotations(
        title=tool.title,
        read_only_hint=tool.read_only,
        destructive_hint=tool.destructive,
        idempotent_hint=tool.idempotent,
        open_world_hint=False,
    )
    return types.Tool(name=tool.name, description=tool.description, input_schema=dict(tool.schema), annotations=hints)


def _source(ctx: ServerRequestContext[Any, Any]) -> EventSource:
    headers: Mapping[str, str] = dict(ctx.request.headers) if ctx.request is not None else {}
    meta: dict[str, object] = dict(ctx.meta) if isinstance(ctx.meta, Mapping) else {}
    info = meta.get(_CLIENT_INFO)
    name = info.get("name", "") if isinstance(info, Mapping) else ""
    return EventSource(user_agent=headers.get("user-agent", ""), client_name=str(name), headers=headers, meta=meta)
