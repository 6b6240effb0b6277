"""The newest protocol era wants method, name and version as headers; the shim sends bytes it does not parse.

For the shim's requests alone this middleware reads them out of the body. A client that speaks HTTP itself sends its
own headers and is held to them.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from typing import Any

import orjson
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
_NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
BODY_BYTES = 4 << 20


class ModernHeaders:
    """Adds MCP-Protocol-Version, Mcp-Method and Mcp-Name to a shim's request of the newest era."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, with the derived headers where it is the shim's."""
        if not any(name == b"x-kg-shim" for name, _ in scope["headers"]):
            await self._app({**scope, "headers": _trimmed(scope["headers"])}, receive, send)
            return
        body, messages = await _read(receive)
        headers = derived(body) if _VERSION_KEY.encode() in body else {}
        if headers:
            scope = {**scope, "headers": [*scope["headers"], *headers.items()]}
        await self._app(scope, _replay(messages, receive), send)


def derived(body: bytes) -> dict[bytes, bytes]:
    """The headers that the message in `body` implies; none when it is not of the newest era."""
    try:
        message: Any = orjson.loads(body)
        version = message["params"]["_meta"][_VERSION_KEY]
        method = message["method"]
    except (ValueError, KeyError, TypeError):
        return {}
    if not isinstance(version, str) or not isinstance(method, str):
        return {}
    headers = {b"mcp-protocol-version": _encoded(version), b"mcp-method": _encoded(method)}
    params: Mapping[str, object] = message["params"]
    name = params.get(_NAMED.get(method, ""))
    if isinstance(name, str):
        headers[b"mcp-name"] = _encoded(name)
    return headers


def _encoded(text: str) -> bytes:
    plain = text.isascii() and text.isprintable() and text == text.strip() and not text.startswith("=?")
    return text.encode() if plain else b"=?base64?%b?=" % base64.b64encode(text.encode("utf-8", "surrogatepass"))


def _trimmed(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Blanks around a value are not part of it, but the HTTP parser leaves those behind it."""
    return [(name, value.strip(b" \t") if name.startswith(b"mcp-") else value) for name, value in headers]


async def _read(receive: Receive) -> tuple[bytes, list[Message]]:
    parts: list[bytes] = []
    messages: list[Message] = []
    size = 0
    while True:
        message = await receive()
        messages.append(message)
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if message["type"] != "http.request" or not message.get("more_body") or size > BODY_BYTES:
            return b"".join(parts), messages


def _replay(messages: list[Message], receive: Receive) -> Receive:
    waiting = iter(messages)

    async def again() -> Message:
        message = next(waiting, None)
        return await receive() if message is None else message

    return again
