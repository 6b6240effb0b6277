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
    yield from _object(("nodes",), copy.nodes)
    yield b",\n"
    yield from _object(("edges",), copy.edges)
    yield b",\n"
    yield from _meta({**copy.meta, "format": FORMAT})
    yield b"\n}\n"


def _meta(fields: Mapping[str, Any]) -> Iterator[bytes]:
    """The last entry of the file; what grows with the graph (versions, tombstones) in parts of its own."""
    before, after = _around(("_meta",))
    yield before[len(b"{\n") :]
    for number, name in enumerate(sorted(fields)):
        yield b",\n" if number else b""
        value = fields[name]
        if isinstance(value, dict) and len(value) > _CHUNK:
            yield from _object(("_meta", name), value)
        else:
            yield _inside(("_meta",), {name: value})
    yield after[: -len(b"\n}")]


def _object(path: tuple[str, ...], entries: Mapping[str, Any]) -> Iterator[bytes]:
    """The entry of its parent that holds `entries`, in parts, without a line break behind it."""
    before, after = _around(path)
    outer_before, outer_after = _around(path[:-1])
    opening = before[len(outer_before) :]
    if not entries:
        yield opening.removesuffix(b"\n") + b"}"
        return
    yield opening
    keys = sorted(entries)
    for start in range(0, len(keys), _CHUNK):
        yield (b",\n" if start else b"") + _inside(path, {key: entries[key] for key in keys[start : start + _CHUNK]})
        time.sleep(0)  # gives the interpreter to a waiting request
    yield after[: -len(outer_after)]


def _inside(path: tuple[str, ...], entries: Mapping[str, Any]) -> bytes:
    """The lines of `entries` as they stand below `path`."""
    nested: Any = entries
    for name in reversed(path):
        nested = {name: nested}
    option = orjson.OPT_INDENT_2 | (orjson.OPT_SORT_KEYS if path[0] == "_meta" else 0)
    before, after = _around(path)
    return orjson.dumps(nested, option=option)[len(before) : -len(after)]


def _around(path: tuple[str, ...]) -> tuple[bytes, bytes]:
    """What stands before and behind the lines of an object at `path`, from the beginning and to the end of the file."""
    before = b"{\n" + b"".join(
        b"  " * depth + orjson.dumps(name) + b": {\n" for depth, name in enumerate(path, start=1)
    )
    after = b"".join(b"\n" + b"  " * depth + b"}" for depth in range(len(path), -1, -1))
    return before, after


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
