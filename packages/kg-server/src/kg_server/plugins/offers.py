"""What a plugin adds to the MCP endpoint: tools, resources, prompts, and methods that the server does not know."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from kg_server.plugins.records import EventSource, JsonObject

Answer = str | Mapping[str, object]
"""A text, or the whole result in the protocol's own form, as in `{"content": […], "isError": True}`."""

INVALID_PARAMS, INTERNAL_ERROR = -32602, -32603


class McpError(Exception):
    """Answers the request with an error of the protocol instead of a result."""

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


@dataclass(frozen=True, slots=True)
class McpRequest:
    """A request as its handler sees it.

    `arguments` are those of the tool or the prompt, valid for a tool against its schema; for a resource they are the
    values that stand in the URI. `params` is all that the client sent, `capabilities` what it says it can do (empty
    before the version of 2026-07-28: the server keeps no handshake). `progress(done, total, message)` and
    `log(level, text)` reach clients that take event streams and asked for them; for others they do nothing.
    """

    params: JsonObject
    arguments: JsonObject
    capabilities: JsonObject
    source: EventSource
    progress: Callable[[float, float | None, str | None], Awaitable[None]]
    log: Callable[[str, str], Awaitable[None]]


Handler = Callable[[McpRequest], Awaitable[Answer]]
"""Runs on the server's event loop: what takes long belongs into a thread. Cut off after a minute."""


@dataclass(frozen=True, slots=True)
class McpTool:
    """A tool; `schema` is the JSON Schema of its arguments, the hints say what it does to the world."""

    name: str
    description: str
    schema: JsonObject
    call: Handler
    title: str = ""
    read_only: bool = False
    destructive: bool = False
    idempotent: bool = False
    open_world: bool = False


@dataclass(frozen=True, slots=True)
class McpResource:
    """A resource, or with `{name}` in its URI a template of resources: each name stands for one path segment."""

    uri: str
    name: str
    description: str
    read: Handler
    mime_type: str = "text/plain"


@dataclass(frozen=True, slots=True)
class McpArgument:
    """An argument of a prompt; always a text."""

    name: str
    description: str
    required: bool = True


@dataclass(frozen=True, slots=True)
class McpPrompt:
    """A prompt that a person picks in the client; a text as its answer is what the person says."""

    name: str
    description: str
    get: Handler
    arguments: Sequence[McpArgument] = ()
    title: str = ""


@dataclass(frozen=True, slots=True)
class McpMethod:
    """A method of the protocol that the server itself does not answer, such as `completion/complete`."""

    method: str
    answer: Handler
