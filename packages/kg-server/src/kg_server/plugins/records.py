"""What passes between the core and a plugin: small frozen records, free of any client's vocabulary."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

JsonObject = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class HarnessInfo:
    """A client: `name` is what detection answers and the registry keys on, `title` what people read."""

    name: str
    title: str


@dataclass(frozen=True, slots=True)
class EventSource:
    """All that is known about who sent a hook event or an MCP call; empty where unknown.

    `headers` has lower-case names. `client_name` is the MCP clientInfo name, `meta` the `_meta` of the request.
    """

    transcript_path: str = ""
    user_agent: str = ""
    client_name: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    meta: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SessionStart:
    """A conversation begins or continues. `kind`: startup, resume, fork, clear, compact, or a newer word."""

    kind: str
    client_session: str
    cwd: str
    transcript_path: str = ""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt arrived; `text` is raw, what a person typed of it is `kg_typed_text`'s answer."""

    client_session: str
    cwd: str
    text: str
    transcript_path: str = ""


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A tool call ended. `failed` is true when the client reports it as a failure."""

    client_session: str
    cwd: str
    tool: str
    input: JsonObject
    response: object = None
    tool_use_id: str = ""
    failed: bool = False
    transcript_path: str = ""


@dataclass(frozen=True, slots=True)
class FileTouch:
    """A file that a tool call read or changed.

    `path` is as the client names it; `folder` is the absolute folder that a relative one counts from, empty where
    that is not known. Not `certain`: read off a command line, so that it counts only where a file lies there.
    Not `counted`: reading it again and again is no sign that the memory lacks something.
    """

    path: str
    folder: str = ""
    kind: Literal["read", "edit"] = "read"
    certain: bool = True
    counted: bool = True


@dataclass(frozen=True, slots=True)
class WebLookup:
    """A page that a tool call fetched (`target` is its URL), or what it searched the web for."""

    kind: Literal["fetch", "search"]
    target: str


@dataclass(frozen=True, slots=True)
class Compacted:
    """The client summarised the conversation: what it had been shown is no longer in front of the model."""

    client_session: str
    cwd: str
    transcript_path: str = ""


@dataclass(frozen=True, slots=True)
class SessionEnd:
    """The conversation was closed or left."""

    client_session: str
    cwd: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Ignored:
    """An event that memory has nothing to do with; `why` goes to the debug log."""

    why: str


Event = SessionStart | Prompt | ToolUse | Compacted | SessionEnd | Ignored


@dataclass(frozen=True, slots=True)
class Reply:
    """What the server wants said: `context` to the model, `message` to the person; either may be empty."""

    context: str = ""
    message: str = ""
