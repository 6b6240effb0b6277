"""The ASGI app at `/`: requests wait for the MCP SDK, which is imported in a thread once the server listens."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

if TYPE_CHECKING:
    from kg_server.tools.endpoint import Managers

log = logging.getLogger(__name__)

LOAD_S = 30.0


class McpGate:
    """Holds MCP requests until the endpoint is built; hooks and health never wait for it."""

    def __init__(self, build: Callable[[], Managers]) -> None:
        self._build = build
        self._ready: asyncio.Future[tuple[ASGIApp, ASGIApp]] | None = None
        self._stop = asyncio.Event()

    @property
    def state(self) -> str:
        """loading, ready or failed."""
        if self._ready is None or not self._ready.done():
            return "loading"
        return "failed" if self._ready.exception() else "ready"

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Import and run the endpoint while the block lasts; entered and left in one task of its own."""
        self._ready = asyncio.get_running_loop().create_future()
        task = asyncio.create_task(self._run(self._ready), name="mcp")
        try:
            yield
        finally:
            self._stop.set()
            await task

    async def _run(self, ready: asyncio.Future[tuple[ASGIApp, ASGIApp]]) -> None:
        try:
            json_replies, streams = await asyncio.to_thread(self._build)
            _freeze()
            async with json_replies.run(), streams.run():
                ready.set_result((json_replies.asgi_app, streams.asgi_app))
                await self._stop.wait()
        except Exception as error:  # a broken SDK takes MCP down, not the hooks
            log.exception("the MCP endpoint is not available")
            if not ready.done():
                ready.set_exception(error)
                ready.exception()  # marks it as looked at
            _freeze()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer an MCP request."""
        if scope["method"] != "POST":
            refusal = PlainTextResponse("MCP messages are sent with POST.", 405, {"Allow": "POST"})
            await refusal(scope, receive, send)
            return
        try:
            if self._ready is None:
                raise RuntimeError("the server is not running")
            as_json, as_stream = await asyncio.wait_for(asyncio.shield(self._ready), LOAD_S)
        except Exception as error:  # whatever the import raised
            text = f"MCP is not available: {error!r}. `kg logs` shows more; `kg restart` tries again."
            await PlainTextResponse(text, 503)(scope, receive, send)
            return
        accept = b",".join(value for name, value in scope["headers"] if name == b"accept")
        await (as_stream if b"text/event-stream" in accept else as_json)(scope, receive, send)


def _freeze() -> None:
    """Keep the SDK's objects out of every later collection: a full one over them stops the server for 40 ms."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)
    gc.enable()
