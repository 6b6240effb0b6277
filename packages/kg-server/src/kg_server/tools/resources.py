"""The memory as MCP resources: `kg://user`, `kg://project/<slug>`, `kg://node/<level>/<id>`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote, unquote

from kg_server.graph.errors import UnknownEntry
from kg_server.service import browsing
from kg_server.service.context import Context
from kg_server.storage.layout import USER, GraphKey

SCHEME = "kg://"
MIME_TYPE = "text/plain"
KNOWN = "resources/list and resources/templates/list name those that exist"


@dataclass(frozen=True, slots=True)
class Resource:
    """A resource as listed to clients; with places in braces in its URI, a template."""

    uri: str
    name: str
    description: str


TEMPLATES: Sequence[Resource] = (
    Resource("kg://project/{slug}", "project", "Every active lesson about a code base, and the ids of archived ones."),
    Resource("kg://node/user/{id}", "user node", "One lesson of the user's own level, whole."),
    Resource("kg://node/project/{slug}/{id}", "project node", "One lesson about a code base, whole."),
)


def listed(context: Context) -> list[Resource]:
    """The levels that the memory holds."""
    return [_level(key) for key in browsing.listed(context)]


def read(context: Context, uri: str) -> str:
    """The text of a resource. UnknownEntry when there is none, StorageBroken when its graph cannot be read."""
    match [unquote(part) for part in uri.removeprefix(SCHEME).split("/")]:
        case ["user"]:
            return browsing.level_text(context, USER)
        case ["project", slug]:
            return browsing.level_text(context, GraphKey("project", slug))
        case ["node", "user", name]:
            return browsing.node_text(context, USER, name)
        case ["node", "project", slug, name]:
            return browsing.node_text(context, GraphKey("project", slug), name)
    raise UnknownEntry(KNOWN)


def _level(key: GraphKey) -> Resource:
    if key == USER:
        return Resource("kg://user", "user", "Every active lesson that is true in all projects.")
    return Resource(f"kg://project/{quote(key.slug, safe='')}", key.slug, f"Every active lesson about {key.slug}.")
