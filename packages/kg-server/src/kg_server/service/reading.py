"""kg_read: opening a session, the full read, and nodes by id."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from typing import cast

from kg_server.graph import limits
from kg_server.graph.errors import InvalidEntry, UnknownEntry
from kg_server.graph.graph import Graph
from kg_server.graph.ladder import hidden
from kg_server.graph.model import Change, Level, Node, other_end, tier, with_tier
from kg_server.graph.names import nfc, shown
from kg_server.graph.render import Line, health_line, level_lines, node_block, text_of
from kg_server.service.context import Context
from kg_server.service.projects import Project
from kg_server.service.sessions import Session
from kg_server.service.useful import log_use

ANNOUNCEMENT = 'Tell the user in one short line: "I have recalled KG Memories", then go on with the task.'


def open_session(context: Context, harness: str, cwd: str, session_id: str) -> tuple[Session, str]:
    """The session a read is for, opened when needed, and a notice about its scope (often empty)."""
    if session_id:
        session = context.sessions.get(session_id)
        if session is not None:
            context.sessions.active(session)
            return session, _attach(context, session, cwd)
        if not cwd:
            context.session(session_id)  # raises, with the remedy
    if not cwd:
        return context.sessions.open("", "", harness), (
            "No project folder was given, so this session has user memory only. "
            "For a project's memory call kg_read again with session_id and cwd=<project folder>."
        )
    project = context.projects.of(cwd)
    if project is None:
        return context.sessions.open("", "", harness), _user_only(cwd)
    return context.sessions.open(str(project.path), project.key.slug, harness), ""


def full_read(context: Context, session: Session, notice: str = "") -> str:
    """The whole memory of the session's levels; gists it has from the preload stand as bare ids."""
    text = [notice] if notice else []
    if session.preloaded:
        text.append(
            f"{len(session.preloaded)} gist(s) of this session's preload stand as ids marked (preloaded) below."
        )
    with context.memory.lock:
        graphs = context.graphs(session)
        for graph in graphs:
            context.memory.settle(context.key(session, graph.level))
        left_out = hidden(graphs, limits.READ_BUDGET)
        for graph in graphs:
            held = {name.partition(":")[2] for name in session.preloaded if _holds(session, graph, name)}
            level = graph.level
            lines = level_lines(graph, held, left_out.archived.get(level, ()), left_out.edges.get(level, ()))
            text.append(text_of([*lines, Line(health_line(graph))]))
            context.delivered(session, graph, lines)
    first = not session.full_read_ts
    session.full_read_ts = context.now()
    context.sessions.save()
    text.append(f"Session: {session.id}" + (f"\n{ANNOUNCEMENT}" if first else ""))
    return "\n\n".join(text)


def maintenance_read(context: Context, session: Session) -> str:
    """The maintenance agent's own lessons."""
    with context.memory.lock:
        graph = context.graph(session, "maintain")
        lines = level_lines(graph)
        context.delivered(session, graph, lines)
        return f"{text_of([*lines, Line(health_line(graph))])}\n\nSession: {session.id}"


def read_nodes(
    context: Context, session: Session, ids: Sequence[str], level: Level | None
) -> tuple[str, list[Future[None]]]:
    """Blocks of the named nodes, and the writes to wait for: reading brings an archived node back to active."""
    blocks: list[str] = []
    writes: list[Future[None]] = []
    read: list[tuple[Level, str]] = []
    with context.memory.lock:
        for name in dict.fromkeys(map(nfc, ids)):
            found = _find(context, session, name, level)
            if found is None:
                blocks.append(f"▸ {shown(name)}: not found. kg_search finds nodes by what they are about.")
                continue
            graph, node = found
            state = tier(node)
            writes.extend(_brought_back(context, session, graph, node))
            shown_node = graph.nodes[name]
            note = {"active": "", "archived": "back from the archive", "orphaned": "back from the archive"}
            lines = node_block(graph, shown_node, note.get(state, state))
            blocks.append(text_of(lines))
            context.delivered(session, graph, lines)
            read.append((graph.level, name))
    for held, name in read if not session.maintenance else ():
        log_use(context, session, held, name, "read")
    return "\n\n".join([*blocks, f"Session: {session.id}"]), writes


def locate(context: Context, session: Session, name: str, level: Level | None) -> tuple[Graph, Node]:
    """The node an operation means: at `level`, or the one level that holds the id."""
    name = nfc(name)
    levels = [level] if level else context.levels(session)
    held = [graph for graph in (context.graph(session, one) for one in levels) if name in graph.nodes]
    if not held:
        where = f"level {level}" if level else " or ".join(levels)
        raise UnknownEntry(f"node {shown(name)} does not exist in {where}; kg_search finds nodes by their content")
    if len(held) > 1:
        raise InvalidEntry(f"both user and project hold a node {shown(name)}: say which with level")
    return held[0], held[0].nodes[name]


def _find(context: Context, session: Session, name: str, level: Level | None) -> tuple[Graph, Node] | None:
    for one in [level] if level else reversed(context.levels(session)):
        graph = context.graph(session, one)
        node = graph.nodes.get(name)
        if node is not None:
            return graph, node
    return None


def _brought_back(context: Context, session: Session, graph: Graph, node: Node) -> list[Future[None]]:
    """Stamp the read; promote the node and lift its orphaned neighbours to the archive."""
    key = context.key(session, graph.level)
    stamped = cast(Node, {**node, "_last_read_ts": context.now()})
    if session.maintenance or tier(node) in ("active", "retired"):
        if not session.maintenance:
            context.memory.touch(key, [Change("node", node["id"], node, stamped)])
        return []
    changes = [Change("node", node["id"], node, with_tier(stamped, "active"))]
    for edge in graph.adjacency.of(node["id"]):
        neighbour = graph.nodes.get(other_end(edge, node["id"]))
        if neighbour is not None and tier(neighbour) == "orphaned":
            changes.append(Change("node", neighbour["id"], neighbour, with_tier(neighbour, "archived")))
    return [context.memory.commit(key, changes, session.id)]


def _holds(session: Session, graph: Graph, key: str) -> bool:
    level, _, name = key.partition(":")
    node = graph.nodes.get(name)
    return level == graph.level and node is not None and session.has_seen(graph.level, node)


def _attach(context: Context, session: Session, cwd: str) -> str:
    if not cwd:
        return ""
    project = context.projects.of(cwd)
    if session.slug:
        return _other_project(session, project)
    if project is None:
        return _user_only(cwd)
    context.sessions.bind(session, project_path=str(project.path), slug=project.key.slug)
    return f"Project memory attached: {project.path}"


def _other_project(session: Session, project: Project | None) -> str:
    if project is None or project.path.is_relative_to(session.project_path):
        return ""
    return f"This session belongs to {session.project_path} and stays there; open another one for {project.path}."


def _user_only(cwd: str) -> str:
    return f"{cwd} is no project folder, so this session has user memory only."
