"""A graph's snapshot file: written in chunks that let other threads in, read back with its journal."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

import orjson

from kg_server.graph.graph import Graph
from kg_server.graph.healing import heal
from kg_server.graph.model import Change, Edge, Level, Node
from kg_server.graph.names import one_line
from kg_server.graph.versions import ChangeSet, stamp

_CHUNK = 250


@dataclass(frozen=True, slots=True)
class GraphCopy:
    """A consistent copy: shallow dicts of records that are never changed in place."""

    nodes: Mapping[str, Node]
    edges: Mapping[str, Edge]
    meta: Mapping[str, Any]


def copy_of(graph: Graph) -> GraphCopy:
    """Copy a graph; the caller holds the graph lock."""
    meta = {name: dict(value) if isinstance(value, dict) else value for name, value in graph.meta.items()}
    return GraphCopy(dict(graph.nodes), dict(graph.edges), meta)


def encode(copy: GraphCopy) -> Iterator[bytes]:
    """The file's bytes in parts: indented by two, entries in the order of their keys."""
    yield b"{\n"
    yield from _section("nodes", copy.nodes)
    yield b",\n"
    yield from _section("edges", copy.edges)
    yield b",\n"
    meta = orjson.dumps({"_meta": copy.meta}, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS)
    yield meta[len(b"{\n") :]
    yield b"\n"


def _section(name: str, entries: Mapping[str, Any]) -> Iterator[bytes]:
    head = b'{\n  "%b": {' % name.encode()
    if not entries:
        yield head[len(b"{\n") :] + b"}"
        return
    yield head[len(b"{\n") :] + b"\n"
    keys = sorted(entries)
    for start in range(0, len(keys), _CHUNK):
        part = {key: entries[key] for key in keys[start : start + _CHUNK]}
        data = orjson.dumps({name: part}, option=orjson.OPT_INDENT_2)
        yield (b",\n" if start else b"") + data[len(head) + 1 : -len(b"\n  }\n}")]
        time.sleep(0)  # gives the interpreter to a waiting request
    yield b"\n  }"


def decode(level: Level, data: bytes) -> Graph:
    """The graph in a snapshot file; ValueError when it is not one."""
    content: Any = orjson.loads(data)
    if not isinstance(content, dict):
        raise ValueError("the file holds no JSON object")
    nodes, edges, meta = (content.get(name, {}) for name in ("nodes", "edges", "_meta"))
    if not all(isinstance(part, dict) for part in (nodes, edges, meta)):
        raise ValueError("nodes, edges and _meta must be JSON objects")
    graph = Graph(level, meta)
    graph.apply(Change("node", name, None, _node(name, node)) for name, node in nodes.items())
    graph.apply(Change("edge", key, None, _edge(key, edge)) for key, edge in edges.items())
    return graph


def replay(graph: Graph, entries: Iterator[ChangeSet]) -> int:
    """Apply the journal's change sets that the snapshot does not hold yet; returns how many."""
    count = 0
    for entry in entries:
        if entry.seq > graph.meta.get("seq", 0):
            graph.apply(entry.changes)
            for name, state in entry.moves:
                if name in graph.nodes:
                    graph.retier(name, state, entry.ts)
            stamp(graph.meta, entry)
            count += 1
    return count


def _node(name: str, node: Any) -> Node:
    if not isinstance(node, dict) or not isinstance(node.get("gist", ""), str):
        raise ValueError(f"node {name} is not a node")
    gist, notes = heal(node.get("gist", ""))
    gist = one_line(gist)
    if node.get("id") == name and gist == node.get("gist"):
        return cast(Node, node)
    healed = {**node, "id": name, "gist": gist}
    if notes and not node.get("notes"):
        healed["notes"] = notes
    return cast(Node, healed)


def _edge(key: str, edge: Any) -> Edge:
    if not isinstance(edge, dict) or not all(isinstance(edge.get(end), str) for end in ("from", "to", "rel")):
        raise ValueError(f"edge {key} is not an edge")
    return cast(Edge, edge)
