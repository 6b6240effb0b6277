"""kg_sync: what other sessions changed since this one last asked."""

from __future__ import annotations

from kg_server.graph.graph import Graph
from kg_server.graph.lines import connection, cut_gist
from kg_server.graph.model import tier
from kg_server.graph.versions import changed_since, tombstones
from kg_server.service.context import Context
from kg_server.service.sessions import Session


def sync(context: Context, session: Session) -> str:
    """All changes by other sessions since the last sync (or the start), deletions included."""
    asked = context.now()
    text: list[str] = []
    with context.memory.lock:
        for level in context.levels(session):
            changes = _changes(session, context.graph(session, level))
            if changes:
                text.extend([f"{level.upper()}:", *changes])
    session.synced_ts = asked
    context.sessions.save()
    return "\n".join(["Changed by other sessions:", *text]) if text else "No changes by other sessions."


def _changes(session: Session, graph: Graph) -> list[str]:
    lines = []
    for name, _ in changed_since(graph.meta, session.synced_ts, session.id):
        kind, _, key = name.partition(":")
        if kind == "node" and key in graph.nodes:
            node = graph.nodes[key]
            state = tier(node)
            mark = "" if state == "active" else f" [{state}]"
            lines.append(f"  node {key}{mark}: {cut_gist(node, 100)}")
        elif kind == "edge" and key in graph.edges:
            lines.append(f"  edge {connection(graph.edges[key])}")
    for name, tombstone in sorted(tombstones(graph.meta).items()):
        if tombstone.get("ts", 0.0) > session.synced_ts and tombstone.get("session") != session.id:
            kind, _, key = name.partition(":")
            now = tombstone.get("renamed")
            lines.append(f"  node renamed: {key} is now {now}" if now else f"  {kind} deleted: {key}")
    return lines
