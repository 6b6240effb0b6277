"""Runs a plugin's handler: bounded in time, its faults told to the log, its answer in the protocol's own form."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import Any

from kg_server.plugins.offers import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    Handler,
    McpError,
    McpMethod,
    McpPrompt,
    McpRequest,
    McpResource,
    McpTool,
)
from kg_server.tools.offered import Offer
from kg_server.tools.validation import problem_with, validator_of

log = logging.getLogger(__name__)

CALL_S = 60.0
Result = dict[str, Any]


async def call_tool(offer: Offer[McpTool], request: McpRequest) -> Result:
    """A tool's result. Wrong arguments and faults of the plugin are results with `isError`, as of the server's own."""
    tool, what = offer.what, f"the tool {offer.what.name}"
    try:
        wrong = _problem(offer.plugin, tool, request)
        if wrong:
            return tool_text(wrong, is_error=True)
        return await _answer(offer.plugin, what, tool.call, request, tool_text)
    except Failed as failure:
        return tool_text(failure.message, is_error=True)


async def read_resource(offer: Offer[McpResource], uri: str, request: McpRequest) -> Result:
    """A resource's content."""
    resource = offer.what

    def content(text: str) -> Result:
        return {"contents": [{"uri": uri, "mimeType": resource.mime_type, "text": text}]}

    return await _answer(offer.plugin, f"the resource {resource.uri}", resource.read, request, content)


async def get_prompt(offer: Offer[McpPrompt], request: McpRequest) -> Result:
    """A prompt's messages. McpError when a required argument is missing."""
    prompt = offer.what
    missing = [one.name for one in prompt.arguments if one.required and one.name not in request.arguments]
    if missing:
        raise McpError(INVALID_PARAMS, f"the prompt {prompt.name} needs {', '.join(missing)}")
    return await _answer(offer.plugin, f"the prompt {prompt.name}", prompt.get, request, _prompt_text)


async def answer_method(offer: Offer[McpMethod], request: McpRequest) -> Result:
    """A method's result, which is never a text alone."""
    return await _answer(offer.plugin, f"the method {offer.what.method}", offer.what.answer, request, None)


class Failed(McpError):
    """A handler raised, took too long or answered what is no answer; the text is for the caller."""

    def __init__(self, what: str, plugin: str, how: str) -> None:
        super().__init__(INTERNAL_ERROR, f"{what} of the plugin {plugin} {how}; `kg logs` shows more")


def _problem(plugin: str, tool: McpTool, request: McpRequest) -> str:
    try:
        return problem_with(tool.name, request.arguments, lambda: validator_of(tool.schema))
    except Exception as error:  # a schema that is one may still lead nowhere
        log.exception("the plugin %s: the schema of %s cannot be used", plugin, tool.name)
        raise Failed(f"the tool {tool.name}", plugin, "has a schema that cannot be used") from error


async def _answer(
    plugin: str, what: str, handler: Handler, request: McpRequest, of_text: Callable[[str], Result] | None
) -> Result:
    try:
        async with asyncio.timeout(CALL_S) as limit:
            answer = await handler(request)
    except McpError:
        raise
    except TimeoutError as error:
        if not limit.expired():  # one of the plugin's own
            log.exception("the plugin %s: %s failed", plugin, what)
            raise Failed(what, plugin, "failed") from error
        log.error("the plugin %s: %s was cut off after %g s", plugin, what, CALL_S)
        raise Failed(what, plugin, f"did not answer within {CALL_S:g} s") from error
    except Exception as error:
        log.exception("the plugin %s: %s failed", plugin, what)
        raise Failed(what, plugin, "failed") from error
    if isinstance(answer, str) and of_text:
        return of_text(answer)
    if isinstance(answer, Mapping):
        return dict(answer)
    log.error("the plugin %s: %s answered %.200r", plugin, what, answer)
    raise Failed(what, plugin, "gave no answer that the protocol knows")


def tool_text(text: str, *, is_error: bool = False) -> Result:
    """A tool's result that is one text."""
    return {"content": [{"type": "text", "text": text}], "isError": is_error}


def _prompt_text(text: str) -> Result:
    return {"messages": [{"role": "user", "content": {"type": "text", "text": text}}]}
