"""What each tool does with its arguments. Arguments are valid against the schema when they arrive here."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kg_server.graph.errors import DomainError
from kg_server.plugins.records import EventSource
from kg_server.service import reading, renaming, searching, sync, useful, writing
from kg_server.service.context import Context
from kg_server.service.outcome import Outcome
from kg_server.service.sessions import Session
from kg_server.storage.errors import StorageBroken
from kg_server.tools.schemas import BY_NAME
from kg_server.tools.validation import problem

log = logging.getLogger(__name__)

Arguments = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolReply:
    """The text of a tool result, and whether it tells an error."""

    text: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call: its arguments, and who made it."""

    context: Context
    arguments: Arguments
    source: EventSource

    def session(self) -> Session:
        """The session the call names."""
        return self.context.session(self.arguments["session_id"])


async def call(context: Context, tool: str, arguments: Arguments, source: EventSource) -> ToolReply:
    """Run a tool. Every mistake of the caller comes back as an error text that says what to do."""
    if tool not in BY_NAME:
        return ToolReply(f"There is no tool {tool[:60]!r}. Tools: {', '.join(BY_NAME)}.", True)
    wrong = problem(tool, arguments)
    if wrong:
        return ToolReply(wrong, True)
    try:
        outcome = _HANDLERS[tool](Call(context, arguments, source))
    except (DomainError, StorageBroken) as error:
        return ToolReply(str(error), True)
    return await _acknowledged(outcome)


async def _acknowledged(outcome: Outcome) -> ToolReply:
    """The outcome's text, once its changes are on disk."""
    try:
        for write in outcome.writes:
            await asyncio.shield(asyncio.wrap_future(write))
    except OSError as error:
        log.error("a write is not on disk yet: %s", error)
        return ToolReply(
            f"NOT SAVED YET: the disk refused the write ({error.strerror or error}). The change is held in memory and "
            "written again with the next snapshot; `kg status` shows when it is safe.",
            True,
        )
    return ToolReply(outcome.text)


def _read(call: Call) -> Outcome:
    context, arguments = call.context, call.arguments
    harness = context.plugins.detect(call.source)
    session, notice = reading.open_session(
        context, harness.info.name if harness else "", arguments.get("cwd", ""), arguments.get("session_id", "")
    )
    if arguments.get("maintenance"):
        session.maintenance = True
        context.sessions.save()
    ids: Sequence[str] = [*([arguments["id"]] if arguments.get("id") else []), *arguments.get("ids", [])]
    level = arguments.get("level")
    if ids:
        text, writes = reading.read_nodes(context, session, ids, level)
        return Outcome(f"{notice}\n\n{text}" if notice else text, writes)
    if level == "maintain":
        return Outcome(reading.maintenance_read(context, session))
    return Outcome(reading.full_read(context, session, notice))


def _search(call: Call) -> Outcome:
    session = call.session() if call.arguments.get("session_id") else None
    return Outcome(searching.search_memory(call.context, session, call.arguments["query"]))


def _put_node(call: Call) -> Outcome:
    sent = call.arguments
    return writing.put_node(
        call.context, call.session(), sent["level"], sent["id"], sent["gist"], sent.get("notes"), sent.get("touches")
    )


def _put_edge(call: Call) -> Outcome:
    sent = call.arguments
    return writing.put_edge(
        call.context, call.session(), sent["level"], sent["from"], sent["to"], sent["rel"], sent.get("notes")
    )


def _delete_node(call: Call) -> Outcome:
    return writing.delete_node(call.context, call.session(), call.arguments["id"], call.arguments.get("level"))


def _delete_edge(call: Call) -> Outcome:
    sent = call.arguments
    return writing.delete_edge(call.context, call.session(), sent["from"], sent["to"], sent["rel"], sent.get("level"))


def _rename_node(call: Call) -> Outcome:
    sent = call.arguments
    return renaming.rename_node(call.context, call.session(), sent["old_id"], sent["new_id"], sent.get("level"))


def _useful(call: Call) -> Outcome:
    return useful.mark_useful(call.context, call.session(), call.arguments["ids"], call.arguments.get("credits"))


def _sync(call: Call) -> Outcome:
    return Outcome(sync.sync(call.context, call.session()))


_HANDLERS: Mapping[str, Callable[[Call], Outcome]] = {
    "kg_read": _read,
    "kg_search": _search,
    "kg_put_node": _put_node,
    "kg_put_edge": _put_edge,
    "kg_delete_node": _delete_node,
    "kg_delete_edge": _delete_edge,
    "kg_rename_node": _rename_node,
    "kg_useful": _useful,
    "kg_sync": _sync,
}
