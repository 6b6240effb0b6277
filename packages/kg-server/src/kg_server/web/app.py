"""The Starlette app: routes, the life of the background thread and the MCP endpoint, security around it all."""

from __future__ import annotations

import contextlib
import os
from collections.abc import AsyncIterator, Callable
from importlib.metadata import version
from typing import TYPE_CHECKING

import orjson
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from kg_server.service.background import Background
from kg_server.service.context import Context
from kg_server.settings import Settings
from kg_server.web.bodies import Bodies
from kg_server.web.hook_routes import routes as hook_routes
from kg_server.web.mcp_gate import McpGate
from kg_server.web.memory_routes import routes as memory_routes
from kg_server.web.modern_headers import ModernHeaders
from kg_server.web.security import Security

if TYPE_CHECKING:
    from kg_server.tools.endpoint import Managers


def create_app(
    context: Context,
    settings: Settings,
    token: str,
    *,
    started: Callable[[], None] = lambda: None,
    loaded: Callable[[], None] = lambda: None,
    stopped: Callable[[], None] = lambda: None,
) -> ASGIApp:
    """The whole app. `started` runs once it serves, `loaded` (in a thread) once MCP can be answered too,
    `stopped` after everything is flushed."""

    def build() -> Managers:
        from kg_server.tools.endpoint import build as build_endpoint

        managers = build_endpoint(context)
        loaded()
        return managers

    gate = McpGate(build)
    background = Background(settings.save_interval_s, jobs(context))

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        background.start()
        try:
            async with gate.running():
                started()
                yield
        finally:  # uvicorn raises its stop signal again when run() is left: flush here, not there
            background.stop()
            context.upkeep.commit_last()
            context.memory.storage.close()
            stopped()

    began = context.now()

    async def health(_: Request) -> Response:
        content = {
            "status": "ok",
            "version": version("kg-server"),
            "pid": os.getpid(),
            "uptime": round(context.now() - began, 1),
            "storage_root": str(settings.storage_root),
            "mcp": gate.state,
            "sessions": len(context.sessions.live()),
            "loaded_graphs": sorted(map(str, context.memory.loaded())),
            "unsaved_graphs": [str(key) for key in context.memory.unsaved()],
            "last_save_error": context.memory.last_error,
        }
        return Response(orjson.dumps(content), media_type="application/json")

    app = Starlette(
        lifespan=lifespan,
        routes=[
            Route("/health", health, methods=["GET"]),
            *hook_routes(context),
            *memory_routes(context),
            Route("/", ModernHeaders(gate)),
        ],
    )
    app.router.redirect_slashes = False
    return Security(Bodies(app), token, str(settings.storage_root))


def jobs(context: Context) -> list[Callable[[], None]]:
    """What every tick does, in this order: the snapshots hold what the jobs before them changed."""
    memory = context.memory
    return [
        memory.settle_due,
        context.upkeep.expire,
        memory.catch_up,
        memory.take_in_outside,
        memory.save_changed,
        context.sessions.save_changed,
        context.tool_events.save_changed,
        context.upkeep.commit,
    ]
