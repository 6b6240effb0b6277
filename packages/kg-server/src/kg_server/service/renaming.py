"""A new id for a node, with its history, its edges in every graph, and what sessions know of it."""

from __future__ import annotations

from concurrent.futures import Future
from typing import cast

from kg_server.graph import names
from kg_server.graph.errors import WriteRefused
from kg_server.graph.graph import Graph
from kg_server.graph.model import Change, Edge, Level, Node, key_of
from kg_server.service.context import Context
from kg_server.service.curation import node_of
from kg_server.service.outcome import Outcome
from kg_server.service.reading import locate
from kg_server.service.sessions import Session
from kg_server.storage.layout import USER, GraphKey


def rename_node(context: Context, session: Session, old: str, new: str, level: Level | None) -> Outcome:
    """kg_rename_node: `rename` at the level that holds the node."""
    with context.memory.lock:
        graph, node = locate(context, session, old, level)
        return rename(
            context, context.key(session, graph.level), node["id"], new, session.id, upkeep=session.maintenance
        )


def rename(context: Context, key: GraphKey, old: str, new: str, by: str, *, upkeep: bool = False) -> Outcome:
    """Rename a node; refused where the new id is taken or would capture an edge that means another node."""
    new = names.new_node_id(new, "new_id")
    with context.memory.lock:
        graph = context.memory.graph(key)
        node = node_of(context, key, old)
        _refuse_clash(graph, node, new)
        projects = context.memory.projects() if key == USER else {}
        _refuse_capture(context, key, old, new, projects)
        writes, edges = _rename(context, key, node, new, projects, by, upkeep=upkeep)
        context.sessions.renamed(graph.level, key.slug, old, new)
    text = [f"Node '{old}' is now '{new}' in the {graph.level} graph; {edges} edge(s) follow."]
    unread = set(context.memory.storage.project_slugs()) - {key.slug for key in projects} if projects else set()
    text += [f"Not rewritten, as it cannot be read: project/{slug}." for slug in sorted(unread)]
    return Outcome("\n".join(text), writes)


def _refuse_clash(graph: Graph, node: Node, new: str) -> None:
    old = node["id"]
    if new == old:
        raise WriteRefused(f"node '{old}' has that id already")
    if node.get("locked"):
        raise WriteRefused(f"node '{old}' is locked by the user and keeps its id as long as it is")
    if new in graph.nodes:
        raise WriteRefused(
            f"the {graph.level} graph has a node '{new}' already: read both, merge their texts into one with "
            "kg_put_node, then delete the other"
        )


def _refuse_capture(context: Context, key: GraphKey, old: str, new: str, projects: dict[GraphKey, Graph]) -> None:
    """An edge that meant one node must not mean another afterwards."""
    graph = context.memory.graph(key)
    if key.level == "project" and graph.adjacency.degree(new) and new in context.memory.graph(USER).nodes:
        raise WriteRefused(f"edges of this project already mean the user node '{new}': choose another id")
    captured = [
        str(one)
        for one, project in projects.items()
        if new in project.nodes and old not in project.nodes and project.adjacency.degree(old)
    ]
    if captured:
        raise WriteRefused(
            f"{', '.join(captured)} link to user node '{old}' and have a node '{new}' of their own, which those links "
            "would then mean: choose another id"
        )


def _rename(
    context: Context, key: GraphKey, node: Node, new: str, projects: dict[GraphKey, Graph], by: str, *, upkeep: bool
) -> tuple[list[Future[None]], int]:
    old = node["id"]
    graph = context.memory.graph(key)
    renamed = cast(Node, {**node, "id": new})
    changes = [Change("node", old, node, None), Change("node", new, None, renamed), *_rewired(graph, old, new)]
    writes = [context.memory.commit(key, changes, by, renames=[(old, new)], upkeep=upkeep)]
    count = graph.adjacency.degree(new)
    cause = f"{key}:{graph.meta['seq']}"
    for other, project in projects.items():
        if old not in project.nodes:  # else the project's own node is meant
            follow = _rewired(project, old, new)
            if follow:
                writes.append(context.memory.commit(other, follow, by, upkeep=upkeep, cause=cause))
                count += project.adjacency.degree(new)
    return writes, count


def _rewired(graph: Graph, old: str, new: str) -> list[Change]:
    """The edges at `old` moved to `new`; two that fall on one key become one, with the notes of both."""
    changes: list[Change] = []
    after: dict[str, Edge] = {}
    for edge in sorted(graph.adjacency.of(old), key=key_of):
        changes.append(Change("edge", key_of(edge), edge, None))
        moved = cast(Edge, {**edge, **{end: new for end in ("from", "to") if edge[end] == old}})
        key = key_of(moved)
        standing = after.get(key) or graph.edges.get(key)
        after[key] = _united(standing, moved) if standing is not None else moved
    changes.extend(Change("edge", key, graph.edges.get(key), edge) for key, edge in after.items())
    return changes


def _united(standing: Edge, moved: Edge) -> Edge:
    notes = list(dict.fromkeys([*standing.get("notes", []), *moved.get("notes", [])]))
    return cast(Edge, {**standing, "notes": notes}) if notes else standing
