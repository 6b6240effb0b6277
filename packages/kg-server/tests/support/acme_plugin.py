"""Acme CLI, a client that does not exist: what a third party's plugin looks like, and what the tests talk through."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from kg_server import hookimpl
from kg_server.plugins import (
    Compacted,
    Event,
    EventSource,
    FileTouch,
    HarnessInfo,
    Ignored,
    Limit,
    Prompt,
    Reply,
    SessionEnd,
    SessionStart,
    ToolUse,
    WebLookup,
)

NAME = "acme"
USER_AGENT = "acme/7.0"
LIMIT = Limit(9_500, "utf16")
INFO = HarnessInfo(name=NAME, title="Acme CLI")


@hookimpl
def kg_harness() -> HarnessInfo:
    """The made-up client."""
    return INFO


@hookimpl
def kg_detect_harness(source: EventSource) -> str | None:
    """It says who it is in its User-Agent, in the poster's second argument, or as MCP clientInfo."""
    told = source.user_agent.startswith("acme/") or source.user_agent == "kg-hook/1 (acme)"
    return NAME if told or source.client_name == NAME else None


@hookimpl
def kg_classify_payload(event: str, payload: Mapping[str, object]) -> Event | None:
    """Payloads are `{"chat": …, "dir": …}` and a field or two more; unknown events are nobody's."""
    chat, folder = str(payload.get("chat", "")), str(payload.get("dir", ""))
    match event:
        case "begin":
            return SessionStart(str(payload.get("how", "startup")), chat, folder)
        case "ask":
            return Prompt(chat, folder, str(payload.get("text", "")))
        case "used":
            given = payload.get("with")
            return ToolUse(chat, folder, str(payload.get("tool", "")), given if isinstance(given, Mapping) else {})
        case "summed-up":
            return Compacted(chat, folder)
        case "leave":
            return SessionEnd(chat, folder)
        case "tick":
            return Ignored("a clock tick")
    return None


@hookimpl
def kg_typed_text(prompt: str) -> str:
    """Everything behind a bar is Acme's own addition."""
    return prompt.partition("|")[0].strip()


@hookimpl
def kg_render_reply(event: Event, reply: Reply) -> Mapping[str, object]:
    """`say` for the model, `show` for the person."""
    return {name: text for name, text in (("say", reply.context), ("show", reply.message)) if text}


@hookimpl
def kg_preload_limit() -> Limit:
    """Acme counts UTF-16 units."""
    return LIMIT


@hookimpl
def kg_reply_limit() -> Limit:
    """The same for all replies."""
    return LIMIT


@hookimpl
def kg_file_touches(event: ToolUse) -> Sequence[FileTouch] | None:
    """`open` and `change` name a file, `run` a line of files that may not be there and are not counted."""
    files = [word for word in str(event.input.get("file", "")).split("|") if word]
    match event.tool:
        case "open":
            return [FileTouch(file, event.cwd) for file in files]
        case "change":
            return [FileTouch(file, event.cwd, "edit") for file in files]
        case "run":
            return [FileTouch(file, event.cwd, certain=False, counted=False) for file in files]
    return None


@hookimpl
def kg_web_lookups(event: ToolUse) -> Sequence[WebLookup] | None:
    """`fetch` and `search`."""
    target = str(event.input.get("target", ""))
    match event.tool:
        case "fetch":
            return [WebLookup("fetch", target)]
        case "search":
            return [WebLookup("search", target)]
    return None


@hookimpl
def kg_transient_paths() -> Sequence[str]:
    """Acme keeps its things in a folder of its own."""
    return (".acme",)


@hookimpl
def kg_sample_file_read(client_session: str, cwd: str, path: str) -> ToolUse:
    """The tool that opens a file."""
    return ToolUse(client_session, cwd, "open", {"file": path})


@hookimpl
def kg_sample_payload(event: Event) -> tuple[str, Mapping[str, object]] | None:
    """A start, a prompt and a tool call."""
    match event:
        case SessionStart():
            return "begin", {"chat": event.client_session, "dir": event.cwd, "how": event.kind}
        case Prompt():
            return "ask", {"chat": event.client_session, "dir": event.cwd, "text": event.text}
        case ToolUse():
            return "used", {"chat": event.client_session, "dir": event.cwd, "tool": event.tool, "with": event.input}
    return None


HOOKS: Mapping[str, Any] = {
    name: hook for name, hook in list(globals().items()) if name.startswith("kg_") and callable(hook)
}


def plugin(base: Mapping[str, Any] | None = HOOKS, **hooks: Any) -> SimpleNamespace:
    """A plugin object: the hooks of `base` (Acme's, or none with base=None), with these in their place."""
    marked = {name: hookimpl(hook) for name, hook in hooks.items()}
    return SimpleNamespace(**{**(base or {}), **marked})
