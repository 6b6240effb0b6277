"""`POST /api/hook/{event}`: a client's raw hook payload in, ready-made hook output (or nothing) out."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import Any

import orjson
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from kg_server.plugins.records import EventSource, Ignored, JsonObject
from kg_server.service.context import Context
from kg_server.service.events import SILENCE, answer

log = logging.getLogger(__name__)

INLINE_BYTES = 64 << 10
"""Larger payloads are parsed in a thread: a client sends 4 MB for a write of a 2 MB file."""


def routes(context: Context) -> list[BaseRoute]:
    """The hook endpoint."""

    async def hook(request: Request) -> Response:
        reply = await _reply(context, request, await request.body())
        if isinstance(reply, Response):
            return reply
        data = _output(reply) if reply else b""
        return Response(data, media_type="application/json" if data else None)

    return [Route("/api/hook/{event}", hook, methods=["POST"])]


async def _reply(context: Context, request: Request, body: bytes) -> JsonObject | Response | None:
    try:
        payload: Any = orjson.loads(body) if len(body) <= INLINE_BYTES else await asyncio.to_thread(orjson.loads, body)
    except ValueError:
        return PlainTextResponse("Refused: the hook payload is not JSON.", 422)
    if not isinstance(payload, dict):
        return PlainTextResponse("Refused: the hook payload is not a JSON object.", 422)
    try:
        return answered(context, request.path_params["event"], payload, dict(request.headers))
    except Exception:  # a hook never fails its client
        log.exception("the hook %s was not answered", request.path_params["event"])
        return None


def answered(context: Context, name: str, payload: JsonObject, headers: Mapping[str, str]) -> JsonObject | None:
    """The client's hook output for an event; None is silence."""
    transcript = payload.get("transcript_path")
    source = EventSource(
        transcript_path=transcript if isinstance(transcript, str) else "",
        user_agent=headers.get("user-agent", ""),
        headers=headers,
    )
    harness = context.plugins.detect(source)
    if harness is None:
        log.debug("no installed harness knows the sender of %s", name)
        return None
    event = harness.classify(name, payload)
    if event is None or isinstance(event, Ignored):
        log.debug("%s of %s ignored: %s", name, harness.info.name, event.why if event else "not understood")
        return None
    reply = answer(context, harness, event)
    return None if reply == SILENCE else harness.render(event, reply)


def _output(reply: JsonObject) -> bytes:
    """The bytes of a client's hook output; none when its plugin gave what is no JSON object."""
    try:
        if isinstance(reply, Mapping):
            return orjson.dumps(reply)
        log.error("a plugin rendered %.200r, which is no JSON object: the hook stays silent", reply)
    except TypeError as error:
        log.error("a plugin rendered a reply that is no JSON (%s): the hook stays silent", error)
    return b""
