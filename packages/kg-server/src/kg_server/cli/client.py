"""The command line as a client of the running server."""

from __future__ import annotations

import http.client
import json
import os
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from kg_shim import state
from kg_shim.server import Address, NoServer, RemoteServer, Unreachable, choose

from kg_server.cli import process
from kg_server.settings import Settings

TIMEOUT_S = 60.0


class Refused(Exception):
    """The server refused, or cannot be had; the text says why and what to do."""


def elsewhere() -> RemoteServer | None:
    """The server that KG_URL names, if it is set. Refused when it cannot be meant."""
    if not os.environ.get("KG_URL", "").strip():
        return None
    server = choose(os.environ)
    if isinstance(server, NoServer):
        try:
            server.find()
        except Unreachable as error:
            raise Refused(str(error)) from None
    return server if isinstance(server, RemoteServer) else None


def connect(address: Address, timeout_s: float) -> http.client.HTTPConnection:
    """A connection to a server, not opened yet."""
    kind = http.client.HTTPSConnection if address.secure else http.client.HTTPConnection
    return kind(address.host, address.port, timeout=timeout_s)


def request(settings: Settings, method: str, path: str, fields: Mapping[str, Any]) -> Any:
    """The server's JSON answer; a server of this machine is started when it is down."""
    address = _address(settings)
    body = json.dumps(fields) if method == "POST" else None
    target = address.path.rstrip("/") + path + (f"?{urlencode(fields)}" if body is None else "")
    headers = {"Content-Type": "application/json"}
    if address.token:
        headers["Authorization"] = f"Bearer {address.token}"
    connection = connect(address, TIMEOUT_S)
    try:
        connection.request(method, target, body, headers)
        answer = connection.getresponse()
        data = answer.read()
    except (OSError, http.client.HTTPException) as error:
        raise Refused(f"the server at {address} did not answer: {error}; `kg status` shows more") from error
    finally:
        connection.close()
    return _content(answer.status, data)


def _address(settings: Settings) -> Address:
    remote = elsewhere()
    try:
        if remote is not None:
            return remote.find()
        process.start(settings)
    except (Unreachable, process.Failed) as error:
        raise Refused(str(error)) from error
    endpoint = state.read_endpoint(str(settings.state_folder))
    if endpoint is None:
        raise Refused(f"the server has left no endpoint file in {settings.state_folder}; try `kg restart`")
    return Address(settings.host, endpoint.port, endpoint.token)


def _content(status: int, data: bytes) -> Any:
    try:
        content: Any = json.loads(data)
    except ValueError:
        raise Refused(data.decode("utf-8", "replace")[:500] or f"the server answered {status}") from None
    if status != 200:
        raise Refused(str(content.get("error", content) if isinstance(content, dict) else content))
    return content
