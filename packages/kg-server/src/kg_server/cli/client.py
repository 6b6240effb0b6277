"""The command line as a client of the running server."""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from kg_shim import state

from kg_server.cli import process
from kg_server.settings import Settings

TIMEOUT_S = 60.0


class Refused(Exception):
    """The server refused, or cannot be had; the text says why and what to do."""


def request(settings: Settings, method: str, path: str, fields: Mapping[str, Any]) -> Any:
    """The server's JSON answer; it is started when it is down."""
    try:
        process.start(settings)
    except process.Failed as error:
        raise Refused(str(error)) from error
    endpoint = state.read_endpoint(str(settings.state_folder))
    if endpoint is None:
        raise Refused(f"the server has left no endpoint file in {settings.state_folder}; try `kg restart`")
    body = json.dumps(fields) if method == "POST" else None
    target = path if body is not None else f"{path}?{urlencode(fields)}"
    headers = {"Authorization": f"Bearer {endpoint.token}", "Content-Type": "application/json"}
    connection = http.client.HTTPConnection(settings.host, endpoint.port, timeout=TIMEOUT_S)
    try:
        connection.request(method, target, body, headers)
        answer = connection.getresponse()
        data = answer.read()
    except OSError as error:
        raise Refused(f"the server did not answer: {error}; `kg status` and `kg logs` show more") from error
    finally:
        connection.close()
    try:
        content: Any = json.loads(data)
    except ValueError:
        raise Refused(data.decode("utf-8", "replace")[:500] or f"the server answered {answer.status}") from None
    if answer.status != 200:
        raise Refused(str(content.get("error", content)))
    return content
