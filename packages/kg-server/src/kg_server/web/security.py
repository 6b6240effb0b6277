"""One ASGI middleware in front of every route: Host, Origin, token, storage root. Nothing runs before it."""

from __future__ import annotations

import hmac
import os
from collections.abc import Mapping
from urllib.parse import unquote_to_bytes, urlsplit

from kg_shim import state
from starlette.types import ASGIApp, Receive, Scope, Send

from kg_server.settings import DEFAULT_ROOT, stop_command
from kg_server.web.bodies import Body, refuse

LOOPBACK = frozenset(("127.0.0.1", "localhost", "::1"))
OPEN_PATHS = frozenset(("/health",))
"""Answered without a token (with a right Host and Origin)."""


class Security:
    """Refuses what a browser's foreign page, another host name or another user could send."""

    def __init__(self, app: ASGIApp, token: str, storage_root: str) -> None:
        self._app = app
        self._token = token.encode()
        self._root = storage_root

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer it here."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        refusal = self._refusal(scope)
        if refusal is None:
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008, "reason": refusal[1][:120]})
        else:
            status, text = refusal
            await refuse(scope, Body(receive), send, status, text)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        headers = _headers(scope)
        if not _is_loopback(headers.get("host", "")):
            return 421, "Refused: the Host header names no loopback address. Use http://127.0.0.1:<port>."
        if headers.get("sec-fetch-site") in ("cross-site", "same-site") or not _is_own_origin(headers):
            return 403, "Refused: a page of another origin may not use this memory."
        if scope["path"] in OPEN_PATHS:
            return None
        if not self._is_token(headers.get("authorization", "")):
            return 401, (
                "Refused: the token is missing or wrong. Send 'Authorization: Bearer <token>' with the token of the "
                "file `endpoint` in the state folder (`kg status` names it); no sign-in is needed."
            )
        expected = headers.get("x-kg-root")
        root = self._root if expected is None else _folder(expected)
        if not self._is_root(root):
            return 409, (
                f"Refused: this server keeps the memory in {_printable(self._root)}, the caller expects "
                f"{_printable(root)}. Stop this one with `{stop_command(_port(scope), _printable(self._root))}`, "
                "or give one of the two another port with KG_HTTP_PORT."
            )
        return None

    def _is_root(self, root: str) -> bool:
        if "\0" in root:
            return False
        return root == self._root or os.path.realpath(root) == os.path.realpath(self._root)

    def _is_token(self, authorization: str) -> bool:
        scheme, _, token = authorization.partition(" ")
        return scheme.lower() == "bearer" and hmac.compare_digest(token.strip().encode("latin-1"), self._token)


def _headers(scope: Scope) -> Mapping[str, str]:
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}


def _folder(value: str) -> str:
    """The folder that a caller's X-KG-Root means: as its environment has it, `~` and all."""
    root = os.fsdecode(unquote_to_bytes(value.encode("latin-1"))).strip() or DEFAULT_ROOT
    return os.path.expanduser(root)


def _port(scope: Scope) -> int:
    return (scope.get("server") or ("", state.DEFAULT_PORT))[1] or state.DEFAULT_PORT


def _printable(path: str) -> str:
    """A path for a message; a file name need not be text."""
    return path.encode("utf-8", "replace").decode()


def _is_loopback(host: str) -> bool:
    try:
        return urlsplit(f"//{host}").hostname in LOOPBACK
    except ValueError:
        return False


def _is_own_origin(headers: Mapping[str, str]) -> bool:
    origin = headers.get("origin")
    if origin is None:
        return True
    try:
        parts = urlsplit(origin)
        return parts.scheme in ("http", "https") and parts.hostname in LOOPBACK
    except ValueError:
        return False
