"""What the memory holds, for a reader without a session: nothing is stamped, brought back or settled by looking."""

from __future__ import annotations

from kg_server.graph import limits
from kg_server.graph.errors import UnknownEntry
from kg_server.graph.ladder import hidden
from kg_server.graph.names import nfc, shown
from kg_server.graph.render import Line, health_line, level_lines, node_block, text_of
from kg_server.service.context import Context
from kg_server.storage.layout import USER, GraphKey

PROJECTS_LISTED = 200


def listed(context: Context) -> list[GraphKey]:
    """The user's graph and, by name, as many projects as a list may have."""
    return [USER, *sorted(_projects(context), key=str)[:PROJECTS_LISTED]]


def level_text(context: Context, key: GraphKey) -> str:
    """A level's full read. UnknownEntry for a project that the memory does not know."""
    _check(context, key)
    with context.memory.lock:
        graph = context.memory.graph(key)
        left_out = hidden([graph], limits.READ_BUDGET)
        level = graph.level
        lines = level_lines(graph, (), left_out.archived.get(level, ()), left_out.edges.get(level, ()))
        return text_of([*lines, Line(health_line(graph))])


def node_text(context: Context, key: GraphKey, name: str) -> str:
    """A node's whole block. UnknownEntry when there is none."""
    _check(context, key)
    with context.memory.lock:
        graph = context.memory.graph(key)
        node = graph.nodes.get(nfc(name))
        if node is None:
            raise UnknownEntry(f"node {shown(name)} does not exist in {key}; kg_search finds nodes by their content")
        return text_of(node_block(graph, node))


def _projects(context: Context) -> set[GraphKey]:
    stored = {GraphKey("project", slug) for slug in context.memory.storage.project_slugs()}
    return stored | {key for key in context.memory.loaded() if key.level == "project"}


def _check(context: Context, key: GraphKey) -> None:
    """Only a known project: a slug is the name of a folder, and opening one makes it."""
    if key != USER and key not in _projects(context):
        raise UnknownEntry(f"project {shown(key.slug)} is unknown; the list of resources names those that exist")
