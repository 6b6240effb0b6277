"""What a person does with the memory from the command line: history, undo, lock, retire, restore, purge, rename."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from kg_server.graph.errors import DomainError, InvalidEntry, UnknownEntry
from kg_server.graph.names import nfc, shown
from kg_server.service import curation, history, renaming
from kg_server.service.context import Context
from kg_server.service.outcome import Outcome
from kg_server.service.projects import PATH_CHARACTERS
from kg_server.storage.errors import StorageBroken
from kg_server.storage.layout import MAINTAIN, USER, GraphKey

PERSON = "user"
"""Stands as the session of what a person changes."""

Body = Mapping[str, Any]
Operation = Callable[[Context, GraphKey, Body], Outcome]


def routes(context: Context) -> list[BaseRoute]:
    """`GET /api/history`, and a POST for each operation."""

    async def show_history(request: Request) -> Response:
        query = request.query_params
        try:
            steps = await asyncio.to_thread(history.history, context, _key(context, query), nfc(query.get("id", "")))
        except (DomainError, StorageBroken) as error:
            return _refusal(error)
        return _json([_shown(step) for step in steps])

    def operation(perform: Operation) -> Callable[[Request], Any]:
        async def endpoint(request: Request) -> Response:
            try:
                body = _body(await request.body())
                outcome = await asyncio.to_thread(perform, context, _key(context, body), body)
                for write in outcome.writes:
                    await asyncio.shield(asyncio.wrap_future(write))
            except (DomainError, StorageBroken) as error:
                return _refusal(error)
            except OSError as error:
                return _json({"error": f"not saved yet: {error}; it is written again with the next snapshot"}, 503)
            return _json({"text": outcome.text})

        return endpoint

    posts = [Route(f"/api/{name}", operation(perform), methods=["POST"]) for name, perform in OPERATIONS.items()]
    return [Route("/api/history", show_history, methods=["GET"]), *posts]


def _undo(context: Context, key: GraphKey, body: Body) -> Outcome:
    seq = body.get("seq")
    if seq is not None and not isinstance(seq, int):
        raise InvalidEntry("seq must be a whole number: `kg history` shows it")
    return history.undo(context, key, seq, PERSON)


OPERATIONS: Mapping[str, Operation] = {
    "undo": _undo,
    "lock": lambda context, key, body: curation.lock(context, key, _id(body), locked=True),
    "unlock": lambda context, key, body: curation.lock(context, key, _id(body), locked=False),
    "retire": lambda context, key, body: curation.retire(context, key, _id(body), _text(body, "reason"), PERSON),
    "restore": lambda context, key, body: curation.restore(context, key, _id(body)),
    "rename": lambda context, key, body: renaming.rename(context, key, _id(body), _text(body, "new_id"), PERSON),
    "purge": lambda context, key, body: curation.purge(context, key, _id(body), PERSON),
}


def _key(context: Context, fields: Mapping[str, Any]) -> GraphKey:
    """The graph a request means: `level`, and for a project the folder `project`."""
    level = fields.get("level") or "user"
    if level == "user":
        return USER
    if level == "maintain":
        return MAINTAIN
    if level != "project":
        raise InvalidEntry("level must be user, project or maintain")
    folder = _text(fields, "project")
    project = context.projects.of(folder, "project folder")
    if project is None:
        raise UnknownEntry(
            f"{shown(folder, PATH_CHARACTERS)} is no project's folder, so there is only the user level, which `--user` "
            "names (in a request: level user)"
        )
    return project.key


def _id(body: Body) -> str:
    """The id in the form that ids are stored in."""
    return nfc(_text(body, "id"))


def _text(fields: Mapping[str, Any], name: str) -> str:
    value = fields.get(name)
    if not isinstance(value, str) or not value.strip():
        raise InvalidEntry(f"{name} must be a text that is not empty")
    return value


def _body(data: bytes) -> Body:
    try:
        body: Any = orjson.loads(data)
    except ValueError:
        raise InvalidEntry("the body is not JSON") from None
    if not isinstance(body, dict):
        raise InvalidEntry("the body is not a JSON object")
    return body


def _shown(step: history.Step) -> dict[str, Any]:
    change = step.change
    return {
        "seq": step.seq,
        "ts": step.ts,
        "session": step.session,
        "kind": change.kind,
        "key": change.key,
        "before": change.before,
        "after": change.after,
    }


def _refusal(error: Exception) -> Response:
    status = 404 if isinstance(error, UnknownEntry) else 422 if isinstance(error, InvalidEntry) else 409
    return _json({"error": str(error)}, status)


def _json(content: Any, status: int = 200) -> Response:
    return Response(orjson.dumps(content), status, media_type="application/json")
