"""The hook specifications. A hook is added by the change that first calls it; docs/reference/hooks.md has them all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from kg_server.plugins.markers import hookspec

if TYPE_CHECKING:
    from kg_server.graph.units import Limit
    from kg_server.plugins.offers import McpMethod, McpPrompt, McpResource, McpTool
    from kg_server.plugins.records import (
        Event,
        EventSource,
        FileTouch,
        HarnessInfo,
        Reply,
        SessionStart,
        ToolUse,
        WebLookup,
    )


@hookspec(firstresult=True)
def kg_harness() -> HarnessInfo | None:
    """Name the client that this plugin serves; leave it out in a plugin that serves none."""


@hookspec(firstresult=True)
def kg_detect_harness(source: EventSource) -> str | None:
    """Answer the harness's name when `source` is certainly your client, else None.

    Asked of every plugin, one by one, for each hook event and MCP call; the first name wins.
    """


@hookspec(firstresult=True)
def kg_classify_payload(event: str, payload: Mapping[str, object]) -> Event | None:
    """Turn the client's hook payload into an event; `event` is the name in the request's path.

    Total on anything a client may send: a payload that is not understood gives None or `Ignored`, never an error.
    """


@hookspec(firstresult=True)
def kg_typed_text(prompt: str) -> str | None:
    """Answer the part of a prompt that a person typed; an empty text when none of it was."""


@hookspec(firstresult=True)
def kg_render_reply(event: Event, reply: Reply) -> Mapping[str, object] | None:
    """Answer the JSON object that the client expects on its hook's standard output."""


@hookspec(firstresult=True)
def kg_preload_limit(event: SessionStart) -> Limit | None:
    """Answer the most that one session-start reply may carry, in the unit that the client counts."""


@hookspec(firstresult=True)
def kg_reply_limit(event: Event) -> Limit | None:
    """Answer the most that one hook reply other than the preload may carry, in the client's unit."""


@hookspec(firstresult=True)
def kg_file_touches(event: ToolUse) -> Sequence[FileTouch] | None:
    """Answer the files that a tool call read or changed, as the client names them; None when it touches none.

    Lessons that name one of them are shown with the tool's result.
    """


@hookspec(firstresult=True)
def kg_web_lookups(event: ToolUse) -> Sequence[WebLookup] | None:
    """Answer the pages that a tool call fetched and what it searched the web for; None when it did neither."""


@hookspec
def kg_transient_paths() -> Sequence[str] | None:
    """Answer names of folders whose files come and go, such as your client's own folder below home and project.

    Asked of every plugin, once. Reading such a file again is never taken for a gap in the memory.
    """


@hookspec
def kg_mcp_tools() -> Sequence[McpTool] | None:
    """Answer tools that models may call beside the server's own; every plugin's are listed to every client.

    Asked once, when the MCP endpoint is built, like the three hooks after it. A name that is taken is left out.
    """


@hookspec
def kg_mcp_resources() -> Sequence[McpResource] | None:
    """Answer resources and templates of resources; URIs that begin with `kg:` are the server's own."""


@hookspec
def kg_mcp_prompts() -> Sequence[McpPrompt] | None:
    """Answer prompts that clients offer to their users, for clients that know no skills."""


@hookspec
def kg_mcp_methods() -> Sequence[McpMethod] | None:
    """Answer methods of the protocol, or of an extension of it, that the server does not answer itself."""


@hookspec(firstresult=True)
def kg_sample_file_read(client_session: str, cwd: str, path: str) -> ToolUse | None:
    """Answer a call of the tool with which your client reads a file, as if it had just read `path`.

    For the demo and for self-checks, like `kg_sample_payload`; `kg_file_touches` finds `path` in it again.
    """


@hookspec(firstresult=True)
def kg_sample_payload(event: Event) -> tuple[str, Mapping[str, object]] | None:
    """Answer the hook name and a payload as your client sends it that `kg_classify_payload` turns into `event`.

    Made from a recorded payload; the demo plays it, and it is what a self-check of the plugin sends.
    """
