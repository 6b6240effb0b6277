"""Which files Claude Code's tools read and change, and what they ask the web. Total on any tool input."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from kg_server.plugins import FileTouch, ToolUse, WebLookup

OWN_FOLDER = ".claude"

_FILES: Mapping[str, tuple[str, Literal["read", "edit"]]] = {
    "Read": ("file_path", "read"),
    "Edit": ("file_path", "edit"),
    "Write": ("file_path", "edit"),
    "MultiEdit": ("file_path", "edit"),
    "NotebookEdit": ("notebook_path", "edit"),
}
_WEB: Mapping[str, tuple[str, Literal["fetch", "search"]]] = {
    "WebFetch": ("url", "fetch"),
    "WebSearch": ("query", "search"),
}


def file_touches(event: ToolUse) -> Sequence[FileTouch] | None:
    """The file of a file tool; the hook's folder is the one that its shell is in, too."""
    field, kind = _FILES.get(event.tool, ("", "read"))
    path = event.input.get(field)
    return [FileTouch(path, event.cwd, kind)] if isinstance(path, str) and path else None


def web_lookups(event: ToolUse) -> Sequence[WebLookup] | None:
    """The page that was fetched, or what was searched for."""
    field, kind = _WEB.get(event.tool, ("", "fetch"))
    target = event.input.get(field)
    return [WebLookup(kind, target)] if isinstance(target, str) and target else None
