"""The MCP endpoint over the official SDK: the only module that imports it, and only after the server listens."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Awaitable, Callable, Mapping
from importlib.metadata import version
from typing import Any, cast, get_args

import mcp_types as types
from mcp.server import CacheHint, Server, ServerRequestContext
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError
from mcp_types.methods import CacheableMethod
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from kg_server.plugins.offers import McpError, McpRequest
from kg_server.plugins.records import EventSource
from kg_server.service.context import Context
from kg_server.tools.answering import Result
from kg_server.tools.methods import Method, Methods
from kg_server.tools.offered import Offered
from kg_server.tools.schemas import INSTRUCTIONS

NAME = "knowledge-graph"
MCP_BODY_BYTES = 4 << 20
_CLIENT_INFO = "io.modelcontextprotocol/clientInfo"

Managers = tuple[StreamableHTTPSessionManager, StreamableHTTPSessionManager]
Request = ServerRequestContext[Any, Any]


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
    offered = Offered(context.plugins)
    methods = Methods(context, offered)
    server: Server[Any] = Server(
        NAME,
        version=version("kg-server"),
        instructions=INSTRUCTIONS,
        get_tool_input_schema=methods.schema,
        cache_hints={method: CacheHint() for method in get_args(CacheableMethod)},  # nobody tells a client of a change
    )
    for name, method in methods.table().items():
        server.add_request_handler(name, types.RequestParams, _handler(method))
    server.middleware.clear()  # no tracing spans: they cost every request and nobody reads them
    if offered:  # a plugin's answer may leave its state with the client, which must not be able to change it
        server.middleware.append(RequestStateBoundary(RequestStateSecurity.ephemeral(), default_audience=NAME))
    return server


def _handler(method: Method) -> Callable[[Request, types.RequestParams], Awaitable[Result]]:
    """The SDK has checked the request's shape; the method gets it as the client sent it."""

    async def handle(ctx: Request, _: types.RequestParams) -> Result:
        try:
            # A client that goes away in the middle of a stream must not leave half a write behind.
            result = await asyncio.shield(asyncio.ensure_future(method(_request(ctx))))
        except McpError as error:
            raise MCPError(error.code, error.message, error.data) from error
        return {"resultType": "complete", **result} if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS else result

    return handle


def _request(ctx: Request) -> McpRequest:
    capabilities = ctx.session.client_capabilities
    told = capabilities.model_dump(by_alias=True, exclude_none=True, mode="json") if capabilities else {}

    async def log(level: str, text: str) -> None:
        with warnings.catch_warnings():  # deprecated since the newest version, wanted by clients of the others
            warnings.simplefilter("ignore", MCPDeprecationWarning)
            sent = ctx.session.send_log_message(
                cast(types.LoggingLevel, level), text, related_request_id=ctx.request_id
            )
        await sent

    return McpRequest(
        params=ctx.params or {},
        arguments={},
        capabilities=told,
        source=_source(ctx),
        progress=ctx.session.report_progress,
        log=log,
    )


def _source(ctx: Request) -> EventSource:
    headers: Mapping[str, str] = dict(ctx.request.headers) if ctx.request is not None else {}
    meta: dict[str, object] = dict(ctx.meta) if isinstance(ctx.meta, Mapping) else {}
    info = meta.get(_CLIENT_INFO)
    name = info.get("name", "") if isinstance(info, Mapping) else ""
    return EventSource(user_agent=headers.get("user-agent", ""), client_name=str(name), headers=headers, meta=meta)
