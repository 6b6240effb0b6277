"""kg_put_node, kg_put_edge, kg_delete_node, kg_delete_edge: checked against what the session has seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kg_server.graph import limits, names
from kg_server.graph.entries import merged_edge, merged_node, same_content, written
from kg_server.graph.errors import InvalidEntry, UnknownEntry, WriteRefused
from kg_server.graph.graph import Graph
from kg_server.graph.lines import connection
from kg_server.graph.model import Change, Level, Node, edge_key, is_path, tier
from kg_server.graph.query import query_terms
from kg_server.graph.render import node_block, text_of
from kg_server.graph.versions import version_of
from kg_server.service.commands import kg
from kg_server.service.context import Context
from kg_server.service.dangling import cut_links, edges_gone
from kg_server.service.hints import node_hints
from kg_server.service.outcome import Outcome
from kg_server.service.reading import locate
from kg_server.service.sessions import Session, entry
from kg_server.service.useful import adds_case, log_use, note_credit, repeat_credits
from kg_server.storage.layout import USER


def put_node(
    context: Context,
    session: Session,
    level: Level,
    name: str,
    gist: str,
    notes: Sequence[str] | None,
    touches: Sequence[str] | None,
) -> Outcome:
    """Create or update a node. Refused when it would overwrite what the session has not seen."""
    key = context.key(session, level)
    with context.memory.lock:
        graph = context.graph(session, level)
        before = graph.nodes.get(names.node_id(name))
        name = names.node_id(name) if before else names.new_node_id(name)
        node = merged_node(before, name, gist, notes, touches)
        if before is not None and same_content(before, node) and tier(before) == "active":
            session.saw(level, before, version_of(graph.meta, "node", name))
            return Outcome(f"Node '{name}' stands in the {level} graph as it is; nothing to change.")
        if before is not None:
            _refuse_locked(before)
            _refuse_retired(before, kg(graph, key, "restore", name))
            if not same_content(before, node):
                _refuse_blind_write(context, session, graph, before, notes, touches)
        whole = before is None or _knows_whole(session, graph, before, notes, touches)
        dropped = _dropped(before, node)
        stored = written(node, before, context.now(), session.id, upkeep=session.maintenance)
        stored = note_credit(session, graph, before, stored, context.now())
        change = Change("node", name, before, stored)
        writes = [context.memory.commit(key, [change], session.id, upkeep=session.maintenance)]
        (session.read if whole else session.saw)(level, stored, version_of(graph.meta, "node", name))
        writes += repeat_credits(context, session, graph, [name])
        hints = [*([dropped] if dropped else []), *node_hints(graph, stored, created=before is None)]
    if before is not None and adds_case(session, before, stored):
        log_use(context, session, level, name, "notes")
    context.sessions.active(session)
    return Outcome("\n".join([f"Node '{name}' saved to the {level} graph.", *hints]), writes)


def put_edge(
    context: Context,
    session: Session,
    level: Level,
    source: str,
    target: str,
    rel: str,
    notes: Sequence[str] | None,
) -> Outcome:
    """Create or update an edge; an end that names nothing yet is accepted with a hint."""
    source, target = names.endpoint(source, "from"), names.endpoint(target, "to")
    key, edge_name = context.key(session, level), edge_key(source, names.relation(rel), target)
    with context.memory.lock:
        graph = context.graph(session, level)
        if is_path(source) and is_path(target):
            raise InvalidEntry("from and to are both paths: an edge joins a node with a node or with a file")
        before = graph.edges.get(edge_name)
        edge = merged_edge(before, source, names.relation(rel), target, notes)
        if same_content(before, edge):
            return Outcome(f"Edge {connection(edge)} stands in the {level} graph as it is; nothing to change.")
        edge["_written"] = {"ts": context.now(), "by": session.id, "author": session.id}
        change = Change("edge", edge_name, before, edge)
        writes = [context.memory.commit(key, [change], session.id, upkeep=session.maintenance)]
        writes += repeat_credits(context, session, graph, [source])
        hints = [_missing_end(context, session, graph, end) for end in dict.fromkeys((source, target))]
    context.sessions.active(session)
    return Outcome("\n".join([f"Edge {connection(edge)} saved to the {level} graph.", *filter(None, hints)]), writes)


def delete_node(context: Context, session: Session, name: str, level: Level | None) -> Outcome:
    """Delete a node and every edge that meets it, in all graphs; an undo brings them all back."""
    with context.memory.lock:
        graph, node = locate(context, session, name, level)
        name = node["id"]
        _refuse_locked(node)
        key = context.key(session, graph.level)
        projects = context.memory.projects() if key == USER else {}  # before: loading drops what then ends nowhere
        changes = edges_gone(graph, [name])
        count = len(changes)
        writes = [context.memory.commit(key, [*changes, Change("node", name, node, None)], session.id)]
        follow, more = cut_links(context.memory, [name], projects, session.id, f"{key}:{graph.meta['seq']}")
        writes += follow.values()
        count += more
    context.sessions.active(session)
    return Outcome(f"Node '{name}' and {count} edge(s) deleted from the {graph.level} graph.", writes)


def delete_edge(context: Context, session: Session, source: str, target: str, rel: str, level: Level | None) -> Outcome:
    """Delete one edge."""
    source, rel, target = names.nfc(source), names.nfc(rel), names.nfc(target)
    name = edge_key(source, rel, target)
    with context.memory.lock:
        levels: Sequence[Level] = [level] if level else context.levels(session)
        held = [graph for graph in (context.graph(session, one) for one in levels) if name in graph.edges]
        if not held:
            raise UnknownEntry(
                f"edge {names.shown(f'{source} --{rel}--> {target}')} does not exist in {' or '.join(levels)}; "
                "kg_read with the id of one end lists its edges"
            )
        if len(held) > 1:
            raise InvalidEntry("both user and project hold this edge: say which with level")
        change = Change("edge", name, held[0].edges[name], None)
        done = context.memory.commit(context.key(session, held[0].level), [change], session.id)
    context.sessions.active(session)
    return Outcome(f"Edge {source} --{rel}--> {target} deleted from the {held[0].level} graph.", [done])


def _refuse_blind_write(
    context: Context,
    session: Session,
    graph: Graph,
    before: Node,
    notes: Sequence[str] | None,
    touches: Sequence[str] | None,
) -> None:
    view = session.view_of(graph.level, before, version_of(graph.meta, "node", before["id"]))
    replaces = (notes is not None and before.get("notes")) or (touches is not None and before.get("touches"))
    if entry(graph.level, before["id"]) not in session.viewed:
        reason = "this session has not read the node that stands under this id"
    elif view is None:
        reason = "the node changed since this session last saw it"
    elif replaces and not view.whole:
        reason = "it would replace notes or touches that this session has not read"
    else:
        return
    lines = node_block(graph, before)
    context.delivered(session, graph, lines)
    raise WriteRefused(
        f"NOT WRITTEN: {reason}. Nothing was changed. The node as it stands:\n{text_of(lines)}\n"
        "Merge your lesson with this text and write again (sent lists replace the stored ones), "
        "or choose another id if it is another lesson."
    )


def _knows_whole(
    session: Session, graph: Graph, before: Node, notes: Sequence[str] | None, touches: Sequence[str] | None
) -> bool:
    """Whether a session knows all of a node once it has written it: a list it never read and did not send stays."""
    view = session.view_of(graph.level, before, version_of(graph.meta, "node", before["id"]))
    if view is not None and view.whole:
        return True
    return (notes is not None or not before.get("notes")) and (touches is not None or not before.get("touches"))


def _refuse_locked(node: Node) -> None:
    if node.get("locked"):
        raise WriteRefused(
            f"node '{node['id']}' is locked by the user and stays as it is; write your lesson as a new node"
        )


def _refuse_retired(before: Node, back: str) -> None:
    """Nobody would see what is written there."""
    if tier(before) == "retired":
        retired = before["_retired"]
        reason = retired.get("reason") if isinstance(retired, Mapping) else ""  # the field may be somebody else's
        reason = names.shown(str(reason or "no reason given"), limits.GIST_SOFT_CHARACTERS)
        raise WriteRefused(
            f"node '{before['id']}' was taken out of sight by the user ({reason}). If that does not hold any more, "
            f"ask the user for {back}; a different lesson needs another id"
        )


def _dropped(before: Node | None, after: Node) -> str:
    if before is None:
        return ""
    old: list[str] = [*before.get("notes", []), *before.get("touches", [])]
    new = {*after.get("notes", []), *after.get("touches", [])}
    gone = [names.shown(text) for text in old if text not in new]
    if not gone:
        return ""
    return (
        f"This write left out {len(gone)} stored note(s) or touch(es): {', '.join(gone)}. "
        "To take it back, write the node again with them."
    )


def _missing_end(context: Context, session: Session, graph: Graph, end: str) -> str:
    if graph.knows(end) or (graph.level == "project" and end in context.graph(session, "user").nodes):
        return ""
    near = graph.index.rank(query_terms(end), 3)
    nearest = f" Nearest ids: {', '.join(hit.id for hit in near)}." if near else ""
    return f"No node '{end}' yet: write it, or the edge is dropped when the graph is next loaded.{nearest}"
