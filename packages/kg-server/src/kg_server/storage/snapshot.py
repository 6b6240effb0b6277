"""A graph's snapshot file: written in chunks that let other threads in, read back with its journal."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from kg_server.graph.graph import Graph
from kg_server.graph.model import Change, Edge, Level, Node, key_of
from kg_server.graph.versions import ChangeSet, stamp
from kg_server.storage.format import FORMAT, refuse_newer
from kg_server.storage.records import edge_from, meta_from, node_from, parse

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
    meta = orjson.dumps({"_meta": {**copy.meta, "format": FORMAT}}, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS)
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
    """The graph in a snapshot file; ValueError when it is not one, StorageTooNew when a newer version wrote it."""
    content = parse(data)
    if not isinstance(content, dict):
        raise ValueError("the file holds no JSON object")
    refuse_newer(content.get("_meta"))
    stored = content.get("nodes", {}), content.get("edges", {})
    if not all(isinstance(part, dict) for part in stored):
        raise ValueError("nodes and edges must be JSON objects")
    nodes = [node_from(key, node) for key, node in stored[0].items()]
    edges = [edge_from(key, edge) for key, edge in stored[1].items()]
    graph = Graph(level, meta_from(content.get("_meta", {})))
    graph.meta.pop("format", None)
    graph.apply(Change("node", node["id"], None, node) for node in nodes)
    graph.apply(Change("edge", key_of(edge), None, edge) for edge in edges)
    if len(graph.nodes) < len(nodes):
        raise ValueError("two nodes have ids that are the same on one line")
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
