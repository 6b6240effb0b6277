"""What the newest era wants as headers, read out of the shim's bytes."""

from __future__ import annotations

import asyncio
import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kg_http import MODERN, modern_meta
from kg_server.web.modern_headers import BODY_BYTES, ModernHeaders, derived
from starlette.types import Message, Receive, Scope, Send


def message(method: str = "tools/call", **params: Any) -> bytes:
    """A message of the newest era."""
    content = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": modern_meta()}}
    return json.dumps(content, ensure_ascii=False).encode()


def read_back(value: bytes) -> str:
    """A header's text, as the protocol encodes what no header can carry."""
    if value.startswith(b"=?base64?") and value.endswith(b"?="):
        return base64.b64decode(value[len(b"=?base64?") : -len(b"?=")], validate=True).decode("utf-8")
    return value.decode("ascii")


def test_version_method_and_name_are_read_out_of_the_body() -> None:
    assert derived(message(name="kg_read")) == {
        b"mcp-protocol-version": MODERN.encode(),
        b"mcp-method": b"tools/call",
        b"mcp-name": b"kg_read",
    }


@pytest.mark.parametrize(
    ("method", "field"), [("tools/call", "name"), ("prompts/get", "name"), ("resources/read", "uri")]
)
def test_the_name_stands_where_the_method_has_it(method: str, field: str) -> None:
    assert derived(message(method, **{field: "wanted"}))[b"mcp-name"] == b"wanted"


def test_a_method_without_a_name_has_no_name_header() -> None:
    assert b"mcp-name" not in derived(message("server/discover", name="x"))
    assert b"mcp-name" not in derived(message("tools/call", name=7))


@given(st.text(max_size=40))
def test_any_name_comes_back_as_it_was_and_makes_a_header_that_is_one(name: str) -> None:
    value = derived(message(name=name))[b"mcp-name"]
    assert read_back(value) == name
    assert all(32 <= byte < 127 for byte in value)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b"7",
        b'"text"',
        b'{"params": null}',
        b'{"params": []}',
        b'{"params": {"_meta": 7}}',
        b'{"method": 7, "params": {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}}',
        b'{"method": "ping", "params": {"_meta": {"io.modelcontextprotocol/protocolVersion": 7}}}',
        b'{"method": "ping"}',
        b"[" * 100_000,
    ],
)
def test_what_is_no_message_of_the_newest_era_has_no_headers(body: bytes) -> None:
    assert derived(body) == {}


# --- as middleware


class Inner:
    """An app that keeps the headers and the body that reach it."""

    def __init__(self) -> None:
        self.headers: list[tuple[bytes, bytes]] = []
        self.body = b""
        self.after: Message | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.headers = list(scope["headers"])
        while True:
            part = await receive()
            if part["type"] != "http.request":
                self.after = part
                return
            self.body += part.get("body", b"")
            if not part.get("more_body"):
                self.after = await receive()
                return


def through(chunks: list[bytes], headers: list[tuple[bytes, bytes]], *, ends: bool = True) -> Inner:
    """Send a body in pieces through the middleware."""
    inner = Inner()
    pieces: list[Message] = [{"type": "http.request", "body": chunk, "more_body": True} for chunk in chunks]
    if ends:
        pieces[-1]["more_body"] = False
    pieces.append({"type": "http.disconnect"})

    async def receive() -> Message:
        return pieces.pop(0)

    async def send(_: Message) -> None:
        return None

    async def run() -> None:
        await ModernHeaders(inner)({"type": "http", "headers": headers}, receive, send)

    asyncio.run(run())
    return inner


SHIM = [(b"x-kg-shim", b"1"), (b"accept", b"application/json")]


def test_the_shims_request_gets_its_headers_and_keeps_its_body() -> None:
    body = message(name="kg_read")
    inner = through([body[:10], body[10:40], body[40:]], SHIM)
    assert inner.body == body
    assert dict(inner.headers) == {**dict(SHIM), **derived(body)}
    assert inner.after == {"type": "http.disconnect"}


def test_a_client_that_is_not_the_shim_gets_no_headers() -> None:
    body = message(name="kg_read")
    inner = through([body], SHIM[1:])
    assert inner.body == body
    assert inner.headers == SHIM[1:]


def test_a_message_of_an_older_era_passes_as_it_came() -> None:
    body = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
    inner = through([body], SHIM)
    assert (inner.body, inner.headers) == (body, SHIM)


def test_a_body_over_the_cap_is_handed_on_unread_for_the_endpoint_to_refuse() -> None:
    chunks = [message(name="kg_read"), *[b" " * (1 << 20)] * 6]
    inner = through(chunks, SHIM)
    assert len(inner.body) == sum(map(len, chunks)) > BODY_BYTES


def test_a_client_that_goes_away_is_told_to_the_endpoint() -> None:
    inner = through([b'{"half": '], SHIM, ends=False)
    assert inner.after == {"type": "http.disconnect"}
