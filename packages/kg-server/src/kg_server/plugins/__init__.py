"""The plugin interface: what a harness or another extension implements, and nothing heavier than pluggy.

A plugin is a module named by an entry point of the group `kg`. It implements the hooks it cares about with
`hookimpl` and leaves the others to the defaults:

    from kg_server import hookimpl
    from kg_server.plugins import HarnessInfo

    @hookimpl
    def kg_harness() -> HarnessInfo:
        return HarnessInfo(name="acme", title="Acme CLI")

Every hook returns a description; none changes what it is given. The specifications, with their signatures, stand
in `kg_server.plugins.specs`, and docs/reference/hooks.md explains each with an example.
"""

from kg_server.graph.units import Limit
from kg_server.plugins.markers import GROUP, hookimpl, hookspec
from kg_server.plugins.offers import (
    Answer,
    McpArgument,
    McpError,
    McpMethod,
    McpPrompt,
    McpRequest,
    McpResource,
    McpTool,
)
from kg_server.plugins.records import (
    Compacted,
    Event,
    EventSource,
    FileTouch,
    HarnessInfo,
    Ignored,
    Prompt,
    Reply,
    SessionEnd,
    SessionStart,
    ToolUse,
    WebLookup,
)
from kg_server.plugins.shell import ShellRead, shell_reads

__all__ = [
    "GROUP",
    "Answer",
    "Compacted",
    "Event",
    "EventSource",
    "FileTouch",
    "HarnessInfo",
    "Ignored",
    "Limit",
    "McpArgument",
    "McpError",
    "McpMethod",
    "McpPrompt",
    "McpRequest",
    "McpResource",
    "McpTool",
    "Prompt",
    "Reply",
    "SessionEnd",
    "SessionStart",
    "ShellRead",
    "ToolUse",
    "WebLookup",
    "hookimpl",
    "hookspec",
    "shell_reads",
]
