"""A stdio proxy as the SDK makes it easy: its two transports joined. sdk_proxy.py URL TOKEN"""

from __future__ import annotations

import sys
from typing import Any

import anyio
import httpx2
from mcp.client.streamable_http import streamable_http_client
from mcp.server.stdio import stdio_server


async def _join(source: Any, sink: Any) -> None:
    async for item in source:
        await sink.send(item)


async def _main(url: str, token: str) -> None:
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        streamable_http_client(url, http_client=http) as server,
        stdio_server() as client,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(_join, server[0], client[1])
        await _join(client[0], server[1])
        tasks.cancel_scope.cancel()


anyio.run(_main, sys.argv[1], sys.argv[2])
