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
_NOTABLE = {
    "order-flow": "An order goes cart, reserve stock, pay, confirm; stock is reserved before the payment is asked for.",
    "payment-webhook": "The payment provider calls the webhook up to five times; handlers must be idempotent.",
    "stock-service": "Stock lives in one table with a row lock per article; never cache it.",
    "test-database": "Tests run against a real PostgreSQL started by make; SQLite hid two locking faults.",
}
_ARCHIVED = {
    "invoice-rounding": "Invoice totals are rounded per line and then summed; rounding the sum is off by a cent.",
    "mail-retries": "Confirmation mails are retried for two days; a bounce stops them at once.",
}
_TOUCHES = {"mail-retries": ["src/mail.py"]}
_EDGES = (
    ("order-flow", "reserves-in", "stock-service"),
    ("order-flow", "is-confirmed-by", "payment-webhook"),
    ("stock-service", "is-implemented-in", "src/stock.py"),
)
_PARTS = (
    *("cart", "catalog", "search", "checkout", "shipping", "customer", "voucher"),
    *("review", "report", "import", "admin", "pricing", "profile"),
)
_LESSONS = {
    "limits": "The {0} API takes at most 200 entries a call and answers 413 beyond that; callers send pages, and the "
    "page size is a setting because two large partners asked for more.",
    "timeouts": "Calls from the {0} module to its neighbours end after two seconds and are tried once more; a third "
    "try made the peak of last spring worse, so it was taken out again.",
    "naming": "Tables of the {0} module carry its name as a prefix and are never joined from outside; other modules "
    "ask through its service class, which is where the checks live.",
    "startup": "The {0} module warms its lookup tables at start in a thread; requests that come earlier wait for it "
    "up to five seconds and are then answered from the database.",
    "logging": "Log lines of the {0} module carry the request id and never a customer's address or mail; the formatter "
    "drops such fields, so new ones must be added to its list.",
    "migrations": "Migrations of the {0} tables run in two releases: add and fill in the first, switch over in the "
    "second; a rollback between the two loses nothing.",
    "fixtures": "Test data of the {0} module is built by factory functions in tests/factories; the recorded dump is "
    "only for the nightly run, as it takes a minute to load.",
    "ownership": "Questions about the {0} module go to the team that runs it; changes to its public functions need a "
    "note in the release text, because two other teams call them.",
}
"""What such a memory is mostly made of; with it the demo's project fills its budget, as a real one soon does."""


def prepare(layout: Layout, slug: str, project_path: str, now: float) -> None:
    """Write the demo's graphs into an empty storage root."""
    storage = JsonFiles(layout)
    try:
        archived = [with_tier(_node(name, gist, now - 90 * DAY_S), "archived") for name, gist in _ARCHIVED.items()]
        usual = [
            _node(f"{part}-{aspect}", text.format(part), now - 60 * DAY_S)
            for part in _PARTS
            for aspect, text in _LESSONS.items()
        ]
        notable = [_node(name, gist, now - 20 * DAY_S) for name, gist in _NOTABLE.items()]
        edges: list[Edge] = [{"from": source, "to": target, "rel": rel} for source, rel, target in _EDGES]
        edges += [{"from": f"{part}-limits", "to": f"src/{part}.py", "rel": "is-about"} for part in _PARTS]
        _write(storage, USER, [_node(name, gist, now - 40 * DAY_S) for name, gist in _USER.items()], [], "")
        _write(storage, GraphKey("project", slug), [*archived, *usual, *notable], edges, project_path)
    finally:
        storage.close()


def _node(name: str, gist: str, created: float) -> Node:
    touches: Node = {"touches": _TOUCHES[name]} if name in _TOUCHES else {}
    return {"id": name, "gist": gist, "_created_ts": created, **touches}


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
