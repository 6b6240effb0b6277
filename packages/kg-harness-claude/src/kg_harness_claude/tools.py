"""Which files Claude Code's tools read and change, and what they ask the web. Total on any tool input."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from kg_server.plugins import FileTouch, ToolUse, WebLookup, shell_reads

OWN_FOLDER = ".claude"
SHELL = "Bash"

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
    """The file of a file tool, or those that a command line shows; the hook's folder is the shell's, too."""
    if event.tool == SHELL:
        return _shown(event)
    field, kind = _FILES.get(event.tool, ("", "read"))
    path = event.input.get(field)
    return [FileTouch(path, event.cwd, kind)] if isinstance(path, str) and path else None


def _shown(event: ToolUse) -> Sequence[FileTouch] | None:
    command = event.input.get("command")
    if not isinstance(command, str):
        return None
    reads = shell_reads(command, event.cwd)
    return [FileTouch(read.path, read.folder, certain=False, counted=False) for read in reads]


def web_lookups(event: ToolUse) -> Sequence[WebLookup] | None:
    """The page that was fetched, or what was searched for."""
    field, kind = _WEB.get(event.tool, ("", "fetch"))
    target = event.input.get(field)
    return [WebLookup(kind, target)] if isinstance(target, str) and target else None
