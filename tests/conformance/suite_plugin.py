"""The tools, resources and prompts that the official conformance suite asks for, as a plugin like any other."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any

from kg_server import hookimpl
from kg_server.plugins import (
    Answer,
    McpArgument,
    McpError,
    McpMethod,
    McpPrompt,
    McpRequest,
    McpResource,
    McpTool,
)
from suite_questions import QUESTIONS, prompt_that_asks

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8Dwn4EIwDiqEAB9mAX/1UqXAgAAAABJRU5ErkJggg=="
WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="
NO_ARGUMENTS = {"type": "object", "properties": {}}
MISSING_CAPABILITY = -32021


def text(words: str) -> dict[str, Any]:
    """A block of text."""
    return {"type": "text", "text": words}


def picture() -> dict[str, Any]:
    """A block with a picture."""
    return {"type": "image", "data": PNG, "mimeType": "image/png"}


def embedded(uri: str, mime_type: str, words: str) -> dict[str, Any]:
    """A block that holds a resource."""
    return {"type": "resource", "resource": {"uri": uri, "mimeType": mime_type, "text": words}}


def says(*blocks: Mapping[str, Any]) -> Answer:
    """A tool's result of these blocks."""
    return {"content": list(blocks)}


def asks(*blocks: Mapping[str, Any]) -> Answer:
    """A prompt of these blocks, all of them the user's."""
    return {"messages": [{"role": "user", "content": block} for block in blocks]}


# --- tools


async def simple_text(_: McpRequest) -> Answer:
    return "This is a simple text response for testing."


async def image(_: McpRequest) -> Answer:
    return says(picture())


async def audio(_: McpRequest) -> Answer:
    return says({"type": "audio", "data": WAV, "mimeType": "audio/wav"})


async def embedded_resource(_: McpRequest) -> Answer:
    return says(embedded("test://embedded-resource", "text/plain", "This is an embedded resource content."))


async def mixed(_: McpRequest) -> Answer:
    document = embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}')
    return says(text("Multiple content types test:"), picture(), document)


async def error(_: McpRequest) -> Answer:
    return {"content": [text("This tool intentionally returns an error for testing")], "isError": True}


async def progress(request: McpRequest) -> Answer:
    for done in (0, 50, 100):
        await request.progress(done, 100, None)
        await asyncio.sleep(0.05)
    return "Worked to the end."


async def logging(request: McpRequest) -> Answer:
    for words in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await request.log("info", words)
        await asyncio.sleep(0.05)
    return "Logged to the end."


async def missing_capability(request: McpRequest) -> Answer:
    if "sampling" not in request.capabilities:
        raise McpError(MISSING_CAPABILITY, "sampling is needed", {"requiredCapabilities": {"sampling": {}}})
    return "The client can sample."


async def streaming(request: McpRequest) -> Answer:
    await request.progress(0, 1, None)
    return "Streamed."


TOOLS = {
    "test_simple_text": simple_text,
    "test_image_content": image,
    "test_audio_content": audio,
    "test_embedded_resource": embedded_resource,
    "test_multiple_content_types": mixed,
    "test_error_handling": error,
    "test_tool_with_progress": progress,
    "test_tool_with_logging": logging,
    "test_logging_tool": logging,
    "test_missing_capability": missing_capability,
    "test_streaming_elicitation": streaming,
    **QUESTIONS,
}


@hookimpl
def kg_mcp_tools() -> Sequence[McpTool]:
    """What the suite calls."""
    return [McpTool(name, f"For the suite: {name}.", NO_ARGUMENTS, call) for name, call in TOOLS.items()]


# --- resources


async def static_text(_: McpRequest) -> Answer:
    return "This is the content of the static text resource."


async def static_binary(_: McpRequest) -> Answer:
    return {"contents": [{"uri": "test://static-binary", "mimeType": "image/png", "blob": PNG}]}


async def filled_in(request: McpRequest) -> Answer:
    number = request.arguments["id"]
    return json.dumps({"id": number, "templateTest": True, "data": f"Data for ID: {number}"})


@hookimpl
def kg_mcp_resources() -> Sequence[McpResource]:
    """What the suite reads."""
    return [
        McpResource("test://static-text", "text", "A text.", static_text),
        McpResource("test://static-binary", "binary", "A picture.", static_binary, "image/png"),
        McpResource("test://template/{id}/data", "data", "Data by number.", filled_in, "application/json"),
    ]


# --- prompts


async def simple_prompt(_: McpRequest) -> Answer:
    return "This is a simple prompt for testing."


async def prompt_with_arguments(request: McpRequest) -> Answer:
    return "Prompt with arguments: arg1='{arg1}', arg2='{arg2}'".format(**request.arguments)


async def prompt_with_resource(request: McpRequest) -> Answer:
    document = embedded(str(request.arguments["resourceUri"]), "text/plain", "Embedded resource content for testing.")
    return asks(document, text("Please process the embedded resource above."))


async def prompt_with_image(_: McpRequest) -> Answer:
    return asks(picture(), text("Please analyze the image above."))


@hookimpl
def kg_mcp_prompts() -> Sequence[McpPrompt]:
    """What the suite picks."""
    two = (McpArgument("arg1", "The first."), McpArgument("arg2", "The second."))
    uri = (McpArgument("resourceUri", "What to embed."),)
    return [
        McpPrompt("test_simple_prompt", "A prompt.", simple_prompt),
        McpPrompt("test_prompt_with_arguments", "A prompt with arguments.", prompt_with_arguments, two),
        McpPrompt("test_prompt_with_embedded_resource", "A prompt with a resource.", prompt_with_resource, uri),
        McpPrompt("test_prompt_with_image", "A prompt with a picture.", prompt_with_image),
        McpPrompt("test_input_required_result_prompt", "A prompt that asks first.", prompt_that_asks),
    ]


# --- methods of older versions, and completion


async def nothing(_: McpRequest) -> Answer:
    return {}


async def completion(_: McpRequest) -> Answer:
    return {"completion": {"values": ["test one", "test two"], "total": 2, "hasMore": False}}


@hookimpl
def kg_mcp_methods() -> Sequence[McpMethod]:
    """What the suite expects of a server that has all of the protocol."""
    silent = ("logging/setLevel", "resources/subscribe", "resources/unsubscribe")
    return [*(McpMethod(name, nothing) for name in silent), McpMethod("completion/complete", completion)]
