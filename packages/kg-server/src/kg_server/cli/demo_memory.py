"""The memory that the demo begins with: a small shop's code base, some of it already archived."""

from __future__ import annotations

from kg_server.graph.graph import Graph
from kg_server.graph.model import Change, Edge, Node, edge_key, with_tier
from kg_server.graph.versions import ChangeSet, stamp
from kg_server.storage.json_files import JsonFiles
from kg_server.storage.layout import USER, GraphKey, Layout
from kg_server.storage.snapshot import copy_of

DAY_S = 86_400.0

_USER = {
    "small-commits": "The user wants small commits, each with its test, and reads every diff.",
    "say-what-failed": "When something fails, say the failing command and its last lines before proposing a fix.",
}
_ACTIVE = {
    "order-flow": "An order goes cart, reserve stock, pay, confirm; stock is reserved before the payment is asked for.",
    "payment-webhook": "The payment provider calls the webhook up to five times; handlers must be idempotent.",
    "stock-service": "Stock lives in one table with a row lock per article; never cache it.",
    "test-database": "Tests run against a real PostgreSQL started by make; SQLite hid two locking faults.",
}
_ARCHIVED = {
    "invoice-rounding": "Invoice totals are rounded per line and then summed; rounding the sum is off by a cent.",
    "mail-retries": "Confirmation mails are retried for two days; a bounce stops them at once.",
}
_EDGES = (
    ("order-flow", "reserves-in", "stock-service"),
    ("order-flow", "is-confirmed-by", "payment-webhook"),
    ("invoice-rounding", "is-part-of", "order-flow"),
    ("stock-service", "is-implemented-in", "src/stock.py"),
)


def prepare(layout: Layout, slug: str, project_path: str, now: float) -> None:
    """Write the demo's graphs into an empty storage root."""
    storage = JsonFiles(layout)
    try:
        project = [_node(name, gist, now - 20 * DAY_S) for name, gist in _ACTIVE.items()]
        archived = [with_tier(_node(name, gist, now - 90 * DAY_S), "archived") for name, gist in _ARCHIVED.items()]
        edges: list[Edge] = [{"from": source, "to": target, "rel": rel} for source, rel, target in _EDGES]
        _write(storage, USER, [_node(name, gist, now - 40 * DAY_S) for name, gist in _USER.items()], [], "")
        _write(storage, GraphKey("project", slug), [*project, *archived], edges, project_path)
    finally:
        storage.close()


def _node(name: str, gist: str, created: float) -> Node:
    return {"id": name, "gist": gist, "_created_ts": created}


def _write(storage: JsonFiles, key: GraphKey, nodes: list[Node], edges: list[Edge], project_path: str) -> None:
    graph = storage.load(key)
    if project_path:
        graph.meta["project_path"] = project_path
    for sequence, node in enumerate(nodes, start=1):
        _apply(graph, ChangeSet(sequence, node["_created_ts"], "demo", (Change("node", node["id"], None, node),)))
    changes = [Change("edge", edge_key(e["from"], e["rel"], e["to"]), None, e) for e in edges]
    _apply(graph, ChangeSet(len(nodes) + 1, nodes[0]["_created_ts"], "demo", tuple(changes)))
    storage.write_snapshot(key, copy_of(graph))


def _apply(graph: Graph, entry: ChangeSet) -> None:
    graph.apply(entry.changes)
    stamp(graph.meta, entry)
