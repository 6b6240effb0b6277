"""The real app in this process: a world behind its HTTP side, asked through the ASGI interface."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from typing import Any

from httpx2 import Response
from kg_server.settings import Settings, read_settings
from kg_server.web.app import create_app
from kg_world import World
from starlette.testclient import TestClient

TOKEN = "t" * 43
URL = "http://127.0.0.1:8765"
MODERN = "2026-07-28"
LEGACY = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
_META = "io.modelcontextprotocol"
Json = Mapping[str, Any]


def settings_of(world: World) -> Settings:
    """Settings for a server over a world; its background ticks once a day."""
    return read_settings(
        {
            "KG_STORAGE_ROOT": str(world.layout.root),
            "XDG_STATE_HOME": str(world.home.parent / "state"),
            "KG_SAVE_INTERVAL": "86400",
        }
    )


def modern_meta(client: str = "acme") -> dict[str, Any]:
    """The `_meta` that every request of the newest era carries."""
    return {
        f"{_META}/protocolVersion": MODERN,
        f"{_META}/clientCapabilities": {},
        f"{_META}/clientInfo": {"name": client, "version": "1"},
    }


class Server:
    """A client of the app."""

    def __init__(self, world: World, client: TestClient) -> None:
        self.world = world
        self.client = client
        self._numbers = count(1)

    def request(self, method: str, path: str, *, token: str = TOKEN, **options: Any) -> Response:
        """A request with the token, or with another (none when empty)."""
        headers = {**({"authorization": f"Bearer {token}"} if token else {}), **options.pop("headers", {})}
        return self.client.request(method, path, headers=headers, **options)

    def hook(self, event: str, payload: Any, **headers: str) -> Response:
        """A hook event as Acme's poster sends it."""
        body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        agent = {"user-agent": "kg-hook/1 (acme)", "content-type": "application/json"}
        return self.request("POST", f"/api/hook/{event}", content=body, headers={**agent, **headers})

    def post(self, message: Any, accept: str = "application/json", **headers: str) -> Response:
        """An MCP message."""
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        usual = {"accept": accept, "content-type": "application/json"}
        return self.request("POST", "/", content=body, headers={**usual, **headers})

    def rpc(self, method: str, params: Json | None = None, **headers: str) -> dict[str, Any]:
        """A request's whole JSON-RPC answer."""
        message = {"jsonrpc": "2.0", "id": next(self._numbers), "method": method, "params": params or {}}
        answer = self.post(message, **headers)
        content: dict[str, Any] = answer.json()
        assert content["id"] in (message["id"], None)
        return content

    def call(self, tool: str, **arguments: Any) -> tuple[str, bool]:
        """A tool call of the oldest kind: its text, and whether it is an error."""
        result = self.rpc("tools/call", {"name": tool, "arguments": arguments})["result"]
        (content,) = result["content"]
        return content["text"], bool(result.get("isError"))


@contextmanager
def serving(world: World, **options: Any) -> Iterator[Server]:
    """The app over a world, from its start to its shutdown."""
    app = create_app(world.context, settings_of(world), TOKEN, **options)
    with TestClient(app, base_url=URL) as client:
        yield Server(world, client)
