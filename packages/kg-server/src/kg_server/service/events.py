"""What the server answers to a client's hook event."""

from __future__ import annotations

import logging

from kg_server.graph.errors import DomainError
from kg_server.plugins.manager import HarnessView
from kg_server.plugins.records import Compacted, Event, Prompt, Reply, SessionEnd, SessionStart, ToolUse
from kg_server.service.context import Context
from kg_server.service.preload import preload
from kg_server.service.recall import recall
from kg_server.service.sessions import Session
from kg_server.service.tool_use import after_tool

log = logging.getLogger(__name__)

SILENCE = Reply()


def answer(context: Context, harness: HarnessView, event: Event) -> Reply:
    """The reply to an event; an empty one is silence."""
    match event:
        case SessionStart():
            return _start(context, harness, event)
        case Prompt():
            return _prompt(context, harness, event)
        case ToolUse(failed=False):
            return _tool_use(context, harness, event)
        case Compacted():
            return _compacted(context, harness, event)
        case SessionEnd():
            return SILENCE
        case _:
            return SILENCE


def _start(context: Context, harness: HarnessView, event: SessionStart) -> Reply:
    resumed = event.kind == "resume"
    session = context.sessions.of_client(harness.info.name, event.client_session, expired=resumed)
    if session is None or event.kind == "clear":
        session = _open(context, harness, event)
    elif event.kind == "compact":
        session.forget_context()
    elif session.preloaded_ts or session.full_read_ts:
        context.sessions.active(session)
        context.sessions.save()  # one that had expired lives again: its prompts must find it after a crash too
        return Reply(context=_continuity(session))
    text, message = preload(context, session, harness.preload_limit(event))
    return Reply(text, message)


def _open(context: Context, harness: HarnessView, event: SessionStart) -> Session:
    try:
        project = context.projects.of(event.cwd)
    except DomainError as error:
        log.info("a session start names no usable folder (%s): user memory only", error)
        project = None
    path, slug = (str(project.path), project.key.slug) if project else ("", "")
    return context.sessions.open(path, slug, harness.info.name, event.client_session)


def _prompt(context: Context, harness: HarnessView, event: Prompt) -> Reply:
    session = context.sessions.of_client(harness.info.name, event.client_session)
    if session is None:
        return _unresolved(context, event)
    context.sessions.active(session)
    typed = harness.typed_text(event.text)
    return Reply(recall(context, session, typed, harness.reply_limit(event)))


def _tool_use(context: Context, harness: HarnessView, event: ToolUse) -> Reply:
    touches, lookups = harness.file_touches(event), harness.web_lookups(event)
    if not touches and not lookups:
        return SILENCE
    session = context.sessions.of_client(harness.info.name, event.client_session)
    if session is None:
        return _unresolved(context, event)
    context.sessions.active(session)
    return Reply(after_tool(context, session, touches, lookups, harness.reply_limit(event)))


def _unresolved(context: Context, event: Prompt | ToolUse) -> Reply:
    entry = {"ts": context.now(), "reason": "unresolved_session", "client_session": event.client_session}
    context.recall_log.write(entry)
    return SILENCE


def _compacted(context: Context, harness: HarnessView, event: Compacted) -> Reply:
    session = context.sessions.of_client(harness.info.name, event.client_session)
    if session is not None:
        session.forget_context()
        context.sessions.save()
    return SILENCE


def _continuity(session: Session) -> str:
    due = "" if session.full_read_ts else f' kg_read(session_id="{session.id}") is still due.'
    return f"Memory session {session.id} goes on; what it showed you still holds.{due}"
