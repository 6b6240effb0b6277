"""What only the user does to a node: lock, retire, restore, purge."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import cast

from kg_server.graph.errors import UnknownEntry, WriteRefused
from kg_server.graph.model import Change, Node, with_tier
from kg_server.graph.names import one_line, shown
from kg_server.graph.query import query_terms
from kg_server.service.commands import kg
from kg_server.service.context import Context
from kg_server.service.dangling import cut_links, edges_gone
from kg_server.service.history import former_names
from kg_server.service.outcome import Outcome
from kg_server.storage.errors import StorageBroken
from kg_server.storage.layout import USER, GraphKey


def lock(context: Context, key: GraphKey, name: str, *, locked: bool) -> Outcome:
    """Lock a node against agents and compaction, or unlock it."""
    with context.memory.lock:
        node = node_of(context, key, name)
        after = cast(Node, {**node, "locked": True} if locked else {k: v for k, v in node.items() if k != "locked"})
        return _changed(context, key, node, after, f"Node '{name}' is {'locked' if locked else 'unlocked'}.")


def retire(context: Context, key: GraphKey, name: str, reason: str, by: str) -> Outcome:
    """Take a node out of sight, with a reason; it is kept until it is restored or purged."""
    with context.memory.lock:
        graph = context.memory.graph(key)
        node = node_of(context, key, name)
        if node.get("locked"):
            raise WriteRefused(f"node {shown(name)} is locked: unlock it first with {kg(graph, key, 'unlock', name)}")
        after = cast(Node, {**node, "_retired": {"ts": context.now(), "reason": one_line(reason), "by": by}})
        back = kg(graph, key, "restore", name)
        return _changed(context, key, node, after, f"Node '{name}' is retired; {back} brings it back.")


def restore(context: Context, key: GraphKey, name: str) -> Outcome:
    """Bring a retired, archived or orphaned node back into view."""
    with context.memory.lock:
        node = node_of(context, key, name)
        after = with_tier(cast(Node, {k: v for k, v in node.items() if k != "_retired"}), "active")
        return _changed(context, key, node, after, f"Node '{name}' is active again.")


def purge(context: Context, key: GraphKey, name: str, by: str) -> Outcome:
    """Delete a node and take its text out of all that is kept, for good: also what stood under its former ids.

    That is snapshots, journal, history, tombstones, files that were set aside, sessions and decision logs.
    """
    with context.memory.lock:
        others = context.memory.projects() if key == USER else {}  # before: loading drops what then ends nowhere
        graph = context.memory.graph(key)
        node = graph.nodes.get(name)
        recorded = list(context.memory.storage.history(key))
        if node is None and not any(name == change.key for entry in recorded for change in entry.changes):
            raise UnknownEntry(f"node {shown(name)} stands neither in {key} nor in its history")
        names = {one for one in former_names(recorded, name) if one == name or one not in graph.nodes}
        changes = edges_gone(graph, [name])
        if node is not None:
            changes.append(Change("node", name, node, None))
        if changes:
            context.memory.commit(key, changes, by)
        linked, _ = cut_links(context.memory, names, others, by, "")
    _forget(context, key, linked, names, kg(graph, key, "purge", name))
    git = context.upkeep.git_holds()
    former = ", ".join(sorted(names - {name}))
    also = f" (once {former})" if former else ""
    return Outcome(f"Node '{name}'{also} and its history are gone from {key}.{f' {git}' if git else ''}")


def _forget(context: Context, key: GraphKey, linked: Iterable[GraphKey], names: Collection[str], again: str) -> None:
    """Remove what is kept of the names; the journal last, which a second attempt learns them from."""
    try:
        context.sessions.forget(key.level, key.slug, names)
        for decisions in (context.recall_log, context.useful_log):
            decisions.forget(names)
        for one in (*linked, key):
            context.memory.forget(one, names)
    except OSError as error:
        raise StorageBroken(
            f"not every trace could be removed ({error}): see to the disk, then say {again} again"
        ) from error


def node_of(context: Context, key: GraphKey, name: str) -> Node:
    """The node, or UnknownEntry that says where else it could be meant; hold the memory's lock."""
    graph = context.memory.graph(key)
    node = graph.nodes.get(name)
    if node is None:
        near = [hit.id for hit in graph.index.rank(query_terms(name), 3)]
        hint = f" Nearest ids: {', '.join(near)}." if near else ""
        if key.level == "project" and name in context.memory.graph(USER).nodes:
            hint = " The user level has one of that name, which `--user` means."
        raise UnknownEntry(f"node {shown(name)} does not exist in {key}.{hint}")
    return node


def _changed(context: Context, key: GraphKey, before: Node, after: Node, text: str) -> Outcome:
    if before == after:
        return Outcome(text)
    return Outcome(text, [context.memory.commit(key, [Change("node", after["id"], before, after)], "user")])
