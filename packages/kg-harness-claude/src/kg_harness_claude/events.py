"""Claude Code's hook payloads as events. Total: whatever arrives, the answer is an event and never an error.

Read off the payloads of 2.1.197 and 2.1.332 (tests/payloads); newer fields are ignored, missing or odd ones are
treated as absent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kg_server.plugins import Event, Ignored, Prompt, SessionEnd, SessionStart, ToolUse

Payload = Mapping[str, object]


def classify(event: str, payload: Payload) -> Event:
    """Answer the event that `payload` tells of; its own `hook_event_name` counts more than the request's path."""
    name = _text(payload, "hook_event_name") or event
    reader = _READERS.get(name)
    if reader is None:
        return Ignored(f"{name} tells the memory nothing")
    if payload.get("agent_id") not in (None, ""):
        # Same session id and transcript as the main conversation; only this field tells them apart.
        return Ignored(f"{name} of a subagent, whose context is its own")
    if not _text(payload, "session_id"):
        return Ignored(f"{name} without a session_id")
    return reader(payload)


def _session_start(payload: Payload) -> Event:
    return SessionStart(
        kind=_text(payload, "source") or "startup",  # newer words (fork came that way) pass through
        client_session=_text(payload, "session_id"),
        cwd=_text(payload, "cwd"),
        transcript_path=_text(payload, "transcript_path"),
    )


def _prompt(payload: Payload) -> Event:
    text = payload.get("prompt")
    if not isinstance(text, str):
        return Ignored("UserPromptSubmit without a prompt")
    return Prompt(
        client_session=_text(payload, "session_id"),
        cwd=_text(payload, "cwd"),
        text=text,
        transcript_path=_text(payload, "transcript_path"),
    )


def _tool_use(payload: Payload) -> Event:
    return _tool_call(payload, response=payload.get("tool_response"), failed=False)


def _tool_failure(payload: Payload) -> Event:
    return _tool_call(payload, response=payload.get("error"), failed=True)


def _tool_call(payload: Payload, *, response: object, failed: bool) -> Event:
    tool = _text(payload, "tool_name")
    if not tool:
        return Ignored("a tool call without a tool_name")
    arguments = payload.get("tool_input")
    return ToolUse(
        client_session=_text(payload, "session_id"),
        cwd=_text(payload, "cwd"),
        tool=tool,
        input=arguments if isinstance(arguments, Mapping) else {},
        response=response,
        tool_use_id=_text(payload, "tool_use_id"),
        failed=failed,
        transcript_path=_text(payload, "transcript_path"),
    )


def _session_end(payload: Payload) -> Event:
    return SessionEnd(
        client_session=_text(payload, "session_id"),
        cwd=_text(payload, "cwd"),
        reason=_text(payload, "reason"),
    )


def _text(payload: Payload, field: str) -> str:
    value = payload.get(field)
    return value if isinstance(value, str) else ""


# PreCompact and PostCompact are left out on purpose: a compaction announces itself as SessionStart with the source
# `compact`, and PostCompact comes after it, when the core has been preloaded again already.
_READERS: Mapping[str, Callable[[Payload], Event]] = {
    "SessionStart": _session_start,
    "UserPromptSubmit": _prompt,
    "PostToolUse": _tool_use,
    "PostToolUseFailure": _tool_failure,
    "SessionEnd": _session_end,
}
