"""A server with the SDK and no tools: what memory and start cost before a product adds anything. bare_server.py PORT"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import AsyncIterator
from typing import Any

import mcp_types as types
import uvicorn
from mcp.server import Server, ServerRequestContext
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.routing import Route


async def _no_tools(_context: ServerRequestContext[Any, Any], _params: Any) -> types.ListToolsResult:
    return types.ListToolsResult(tools=[])


_manager = StreamableHTTPSessionManager(Server("bare", on_list_tools=_no_tools), json_response=True, stateless=True)


@contextlib.asynccontextmanager
async def _life(_app: Starlette) -> AsyncIterator[None]:
    async with _manager.run():
        yield


_app = Starlette(lifespan=_life, routes=[Route("/", _manager.asgi_app)])
uvicorn.run(_app, port=int(sys.argv[1]), log_level="error", loop="uvloop", http="httptools")
