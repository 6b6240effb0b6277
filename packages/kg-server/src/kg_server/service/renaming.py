"""kg_rename_node: a new id for a node, with its history, its edges in every graph, and what sessions know of it."""

from __future__ import annotations

from concurrent.futures import Future
from typing import cast

from kg_server.graph import names
from kg_server.graph.errors import WriteRefused
from kg_server.graph.graph import Graph
from kg_server.graph.model import Change, Edge, Level, Node, key_of
from kg_server.service.context import Context
from kg_server.service.outcome import Outcome
from kg_server.service.reading import locate
from kg_server.service.sessions import Session
from kg_server.storage.layout import GraphKey


def rename_node(context: Context, session: Session, old: str, new: str, level: Level | None) -> Outcome:
    """Rename a node; refused where the new id is taken or would capture an edge that means another node."""
    new = names.new_node_id(new, "new_id")
    with context.memory.lock:
        graph, node = locate(context, session, old, level)
        old = node["id"]
        if new == old:
            raise WriteRefused(f"node '{old}' has that id already")
        if node.get("locked"):
            raise WriteRefused(f"node '{old}' is locked by the user and keeps its id")
        if new in graph.nodes:
            raise WriteRefused(
                f"the {graph.level} graph has a node '{new}' already: read both, merge their texts into one with "
                "kg_put_node, then delete the other"
            )
        projects = context.memory.projects() if graph.level == "user" else {}
        _refuse_capture(context, session, graph, old, new, projects)
        writes, edges = _rename(context, session, graph, node, new, projects)
        context.sessions.renamed(graph.level, session.slug if graph.level == "project" else "", old, new)
    text = [f"Node '{old}' is now '{new}' in the {graph.level} graph; {edges} edge(s) follow."]
    unread = set(context.memory.storage.project_slugs()) - {key.slug for key in projects} if projects else set()
    text += [f"Not rewritten, as it cannot be read: project/{slug}." for slug in sorted(unread)]
    return Outcome("\n".join(text), writes)


def _refuse_capture(
    context: Context, session: Session, graph: Graph, old: str, new: str, projects: dict[GraphKey, Graph]
) -> None:
    """An edge that meant one node must not mean another afterwards."""
    if graph.level == "project" and graph.adjacency.degree(new) and new in context.graph(session, "user").nodes:
        raise WriteRefused(f"edges of this project already mean the user node '{new}': choose another id")
    captured = [
        str(key)
        for key, project in projects.items()
        if new in project.nodes and old not in project.nodes and project.adjacency.degree(old)
    ]
    if captured:
        raise WriteRefused(
            f"{', '.join(captured)} link to user node '{old}' and have a node '{new}' of their own, which those links "
            "would then mean: choose another id"
        )


def _rename(
    context: Context, session: Session, graph: Graph, node: Node, new: str, projects: dict[GraphKey, Graph]
) -> tuple[list[Future[None]], int]:
    old = node["id"]
    renamed = cast(Node, {**node, "id": new})
    edges = _rewired(graph, old, new)
    changes = [Change("node", old, node, None), Change("node", new, None, renamed), *edges]
    upkeep = session.maintenance
    key = context.key(session, graph.level)
    writes = [context.memory.commit(key, changes, session.id, renames=[(old, new)], upkeep=upkeep)]
    count = graph.adjacency.degree(new)
    cause = f"{key}:{graph.meta['seq']}"
    for other, project in projects.items():
        if old not in project.nodes:  # else the project's own node is meant
            follow = _rewired(project, old, new)
            if follow:
                writes.append(context.memory.commit(other, follow, session.id, upkeep=upkeep, cause=cause))
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
