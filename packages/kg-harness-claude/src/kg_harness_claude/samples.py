"""Payloads as Claude Code sends them, made from recorded ones (2.1.332): for the demo and for checking an install."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from kg_server.plugins import Event, Prompt, SessionStart, ToolUse

Payload = Mapping[str, object]


def sample_payload(event: Event) -> tuple[str, Payload] | None:
    """Answer hook name and payload that `classify` reads as `event`; None for an event without a recording."""
    match event:
        case SessionStart():
            return _filled("SessionStart", event, source=event.kind)
        case Prompt():
            return _filled("UserPromptSubmit", event, prompt=event.text)
        case ToolUse(failed=False):
            tool = {"tool_name": event.tool, "tool_input": dict(event.input), "tool_response": event.response}
            return _filled("PostToolUse", event, **tool, tool_use_id=event.tool_use_id)
    return None


def sample_file_read(client_session: str, cwd: str, path: str) -> ToolUse:
    """A call of the tool Read."""
    recorded = _recorded("PostToolUse")
    return ToolUse(
        client_session=client_session,
        cwd=cwd,
        tool="Read",
        input={"file_path": path},
        response={**recorded["tool_response"], "file": {**recorded["tool_response"]["file"], "filePath": path}},
        tool_use_id=str(recorded["tool_use_id"]),
    )


def _recorded(name: str) -> dict[str, Any]:
    return dict(json.loads(files(__package__).joinpath(f"samples/{name}.json").read_text(encoding="utf-8")))


def _filled(name: str, event: SessionStart | Prompt | ToolUse, **fields: object) -> tuple[str, Payload]:
    common = {"session_id": event.client_session, "cwd": event.cwd, "transcript_path": event.transcript_path}
    return name, {**_recorded(name), **common, **fields}
