"""Raw HTTP and MCP on a socket: what a call costs without a client library around it."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Mapping
from typing import Any

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)


class Refused(Exception):
    """The server answered, but not what was asked for."""


class Client:
    """Posts to a server on this machine, on a new connection each time or on one that stays."""

    def __init__(self, port: int, token: str = "", *, stays: bool = False) -> None:
        self._port = port
        self._stays = stays
        self._link: socket.socket | None = None
        key = f"Authorization: Bearer {token}\r\n" if token else ""
        ending = "keep-alive" if stays else "close"
        self._head = (
            f"Host: 127.0.0.1:{port}\r\n{key}Accept: application/json, text/event-stream\r\n"
            f"Content-Type: application/json\r\nConnection: {ending}\r\n"
        )
        if token:  # our server streams to clients that take event streams; the shim does not
            self._head = self._head.replace(", text/event-stream", "")

    def post(self, path: str, body: bytes) -> bytes:
        """The body of the answer; Refused unless it is a success."""
        head = f"POST {path} HTTP/1.1\r\n{self._head}Content-Length: {len(body)}\r\n\r\n"
        link = self._link or self._connect()
        link.sendall(head.encode() + body)
        status, answer = _answer(link)
        if self._stays:
            self._link = link
        else:
            link.close()
        if status >= 300:
            raise Refused(f"{path} answered {status}: {answer[:300]!r}")
        return answer

    def close(self) -> None:
        """Let go of the connection that stays."""
        if self._link:
            self._link.close()
            self._link = None

    def _connect(self) -> socket.socket:
        link = socket.create_connection(("127.0.0.1", self._port), timeout=120)
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return link


def _answer(link: socket.socket) -> tuple[int, bytes]:
    received = b""
    while b"\r\n\r\n" not in received:
        part = link.recv(262_144)
        if not part:
            raise Refused("the connection ended before the answer came")
        received += part
    head, _, body = received.partition(b"\r\n\r\n")
    length = _LENGTH.search(head)
    if length is None:
        raise Refused(f"an answer without a length: {head[:200]!r}")
    while len(body) < int(length[1]):
        part = link.recv(262_144)
        if not part:
            raise Refused("the connection ended within the answer")
        body += part
    return int(head[9:12]), body


def message(method: str, params: Mapping[str, Any], number: int = 1) -> bytes:
    """An MCP request."""
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode()


INITIALIZE = message(
    "initialize",
    {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "claude-code", "version": "2.1.332"}},
)


def call(name: str, **arguments: Any) -> bytes:
    """A tool call."""
    return message("tools/call", {"name": name, "arguments": arguments})


def text_of(answer: bytes) -> str:
    """The text of a tool's result; Refused when it tells an error."""
    content = json.loads(answer)
    result = content.get("result")
    if result is None:
        raise Refused(f"the call failed: {answer[:300]!r}")
    text: str = result["content"][0]["text"]
    if result.get("isError") or text.startswith(("Internal error", "Error")):
        raise Refused(text)
    return text
