"""JSON-RPC errors that the shim makes itself. The only module that parses a message; imported when one went wrong."""

from __future__ import annotations

import json

SERVER_ERROR = -32000
LONGEST_SENTENCE = 1000


def error_line(message: bytes, sentence: str) -> bytes | None:
    """Answer the error that belongs to a message; None when it is no request, for only a request may be answered."""
    try:
        request = json.loads(message.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    if not isinstance(request, dict) or "id" not in request or "method" not in request:
        return None
    error = {"code": SERVER_ERROR, "message": sentence}
    return json.dumps({"jsonrpc": "2.0", "id": request["id"], "error": error}).encode()


def sentence_of(status: int, body: bytes, place: str) -> str:
    """Answer what a reply that is not JSON-RPC says to a person."""
    text = " ".join(body.decode("utf-8", "replace").split())
    if text and text[0] not in "<{[":
        return text[:LONGEST_SENTENCE]
    return (
        f"What listens at {place} answered with HTTP status {status} and is no kg server, or not one of this version. "
        "`kg status` tells more."
    )
