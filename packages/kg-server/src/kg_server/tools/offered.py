"""What plugins add to the MCP endpoint, checked: each name once, none of the server's own, a bounded number."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar
from urllib.parse import unquote

from kg_server.plugins.manager import Plugins
from kg_server.plugins.offers import McpMethod, McpPrompt, McpResource, McpTool
from kg_server.tools.schemas import BY_NAME
from kg_server.tools.validation import is_schema

log = logging.getLogger(__name__)

MOST_OF_A_KIND = 200
DESCRIPTION_CHARACTERS = 2_048
OWN_SCHEME = "kg:"
OWN_METHODS = frozenset(
    (
        *("initialize", "ping", "server/discover", "subscriptions/listen", "tools/list", "tools/call"),
        *("resources/list", "resources/templates/list", "resources/read", "prompts/list", "prompts/get"),
    )
)
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_PLACE = re.compile(r"\{(\w+)\}")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Offer(Generic[T]):
    """One addition, and the plugin that it comes from."""

    plugin: str
    what: T


class Offered:
    """All additions of a kind by name, in the order of the plugins; resources and templates of resources by URI."""

    def __init__(self, plugins: Plugins) -> None:
        tools, resources = plugins.offers("kg_mcp_tools", McpTool), plugins.offers("kg_mcp_resources", McpResource)
        prompts, methods = plugins.offers("kg_mcp_prompts", McpPrompt), plugins.offers("kg_mcp_methods", McpMethod)
        self.tools = _taken("tool", tools, lambda tool: tool.name, _tool_fault)
        every = _taken("resource", resources, lambda resource: resource.uri, _resource_fault)
        self.resources = {uri: offer for uri, offer in every.items() if not _PLACE.search(uri)}
        self.templates = {uri: offer for uri, offer in every.items() if uri not in self.resources}
        self.prompts = _taken("prompt", prompts, lambda prompt: prompt.name, _prompt_fault)
        self.methods = _taken("method", methods, lambda method: method.method, _method_fault)
        self._patterns = {uri: _pattern(uri) for uri in self.templates}

    def __bool__(self) -> bool:
        return any((self.tools, self.resources, self.templates, self.prompts, self.methods))

    def resource(self, uri: str) -> tuple[Offer[McpResource], Mapping[str, str]] | None:
        """The resource that `uri` names, and the values in it where it belongs to a template."""
        if uri in self.resources:
            return self.resources[uri], {}
        for template, pattern in self._patterns.items():
            found = pattern.fullmatch(uri)
            if found:
                return self.templates[template], {name: unquote(value) for name, value in found.groupdict().items()}
        return None


def _taken(
    kind: str, offers: list[tuple[str, T]], name_of: Callable[[T], str], fault: Callable[[T], str]
) -> dict[str, Offer[T]]:
    taken: dict[str, Offer[T]] = {}
    for plugin, what in offers:
        name = name_of(what)
        if not isinstance(name, str):
            wrong = "its name is no text"
        elif name in taken:
            wrong = f"{taken[name].plugin} has one of that name"
        elif len(taken) == MOST_OF_A_KIND:
            wrong = f"there are {MOST_OF_A_KIND} already"
        else:
            wrong = _fault(what, fault)
        if wrong:
            log.error("plugin %s: the %s %.80r is left out: %s", plugin, kind, name, wrong)
        else:
            taken[name] = Offer(plugin, what)
    return taken


def _fault(what: T, fault: Callable[[T], str]) -> str:
    try:
        return fault(what)
    except (TypeError, AttributeError, ValueError) as error:  # a field of the wrong type
        return f"it cannot be read ({error})"


def _tool_fault(tool: McpTool) -> str:
    if tool.name in BY_NAME:
        return "the server has a tool of that name"
    if not is_schema(tool.schema):
        return "its schema is no JSON Schema of an object"
    return _text_fault(tool.name, tool.description)


def _resource_fault(resource: McpResource) -> str:
    if resource.uri.startswith(OWN_SCHEME):
        return f"URIs with {OWN_SCHEME} are the server's own"
    if not re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", resource.uri):
        return "its URI begins with no scheme"
    places = _PLACE.findall(resource.uri)
    if len(set(places)) < len(places):
        return "a name stands twice in its URI"
    return _text_fault("x", resource.description)


def _prompt_fault(prompt: McpPrompt) -> str:
    return _text_fault(prompt.name, prompt.description)


def _method_fault(method: McpMethod) -> str:
    return "the server answers it itself" if method.method in OWN_METHODS else ""


def _text_fault(name: str, description: str) -> str:
    if not _NAME.fullmatch(name):
        return "a name is 1 to 64 letters, digits, '_', '-' and '.'"
    if not 0 < len(description) <= DESCRIPTION_CHARACTERS:
        return f"a description has 1 to {DESCRIPTION_CHARACTERS:,} characters"
    return ""


def _pattern(template: str) -> re.Pattern[str]:
    parts = _PLACE.split(template)
    return re.compile(
        "".join(f"(?P<{part}>[^/?#]+)" if number % 2 else re.escape(part) for number, part in enumerate(parts))
    )
