"""A level as the model reads it, and a single node's block."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace

from kg_server.graph.graph import Graph
from kg_server.graph.lines import (
    ACTIVE_HEADING,
    ARCHIVED_HEADING,
    active_line,
    archived_line,
    citation,
    connection,
    heading,
    is_cut,
    note_item,
    preloaded_line,
)
from kg_server.graph.model import Edge, Node, key_of, tier
from kg_server.graph.names import one_line


@dataclass(frozen=True, slots=True)
class Line:
    """A rendered line, and what its delivery tells the reader.

    `gist_of` is the node whose whole gist the line shows; `ends` the node whose whole block ends with it.
    """

    text: str
    gist_of: Node | None = None
    ends: Node | None = None


def level_lines(
    graph: Graph,
    preloaded: Collection[str] = (),
    without_archived: Collection[str] = (),
    without_edges: Collection[str] = (),
) -> list[Line]:
    """A level's full read, from its first heading to its last archived line.

    Nodes in `preloaded` stand as bare ids; archived ids and edges (by key) to leave out are counted in a line of
    their own. Without any of these the joined lines are exactly as long as `graph.charge()`.
    """
    active, archived = graph.counts()
    lines = [Line(heading(graph.level, active, archived)), Line(ACTIVE_HEADING)]
    lines.extend(active_lines(graph, graph.reading_order(), preloaded, without_edges))
    if without_edges:
        lines.append(Line(f"  … {len(without_edges)} edge(s) of the least value left out"))
    if archived:
        lines.append(Line(ARCHIVED_HEADING))
        lines.extend(Line(archived_line(name)) for name in graph.archived_ids() if name not in without_archived)
    if without_archived:
        lines.append(
            Line(f"  … {len(without_archived)} archived id(s) of the least value left out; kg_search finds them")
        )
    return lines


def active_lines(
    graph: Graph, order: Iterable[str], preloaded: Collection[str] = (), without_edges: Collection[str] = ()
) -> Iterator[Line]:
    """Node lines in `order`, each followed by the edges that no earlier node has cited."""
    cited: set[str] = set(without_edges)
    for name in order:
        node = graph.nodes[name]
        if name in preloaded:
            yield Line(preloaded_line(node))
        else:
            yield Line(active_line(node), None if is_cut(node) else node)
        for edge in graph.live_edges(name):
            key = key_of(edge)
            if key not in cited:
                cited.add(key)
                yield Line(citation(edge, name))


def partial_lines(graph: Graph, chosen: Collection[str]) -> list[Line]:
    """The chosen active nodes in reading order, with the edges among them."""
    lines: list[Line] = []
    cited: set[str] = set()
    for name in graph.reading_order():
        if name not in chosen:
            continue
        node = graph.nodes[name]
        lines.append(Line(active_line(node), None if is_cut(node) else node))
        for edge in graph.live_edges(name):
            key = key_of(edge)
            if key not in cited and edge["from"] in chosen and edge["to"] in chosen:
                cited.add(key)
                lines.append(Line(citation(edge, name)))
    return lines


def health_line(graph: Graph) -> str:
    """How well the active part hangs together."""
    active, _ = graph.counts()
    names = graph.active_ids()
    live = sum(1 for _ in graph.edges_in_view())
    alone = sum(1 for name in names if not graph.adjacency.degree(name))
    mean = f"{live / active:.1f}" if active else "0"
    share = round(100 * alone / active) if active else 0
    return f"HEALTH: {active} nodes, {live} edges, {alone} unconnected ({share} %), {mean} edges per node"


def node_block(graph: Graph, node: Node, state: str = "") -> list[Line]:
    """A node whole: header with id, level and state, gist, notes, touches, all its edges."""
    name = node["id"]
    lock = ", locked" if node.get("locked") else ""
    lines = [
        Line(f"▸ {name} ({graph.level}, {state or tier(node)}{lock})"),
        Line(f"  gist: {node['gist']}", node),
    ]
    notes = node.get("notes", [])
    if notes:
        lines.append(Line("  notes:"))
        lines.extend(Line(note_item(note)) for note in notes)
    touches = node.get("touches", [])
    if touches:
        lines.append(Line("  touches: " + " · ".join(one_line(touch) for touch in touches)))
    edges = sorted(graph.adjacency.of(name), key=key_of)
    if edges:
        lines.append(Line("  edges:"))
        lines.extend(Line(edge_text) for edge in edges for edge_text in _edge_block(edge))
    lines[-1] = replace(lines[-1], ends=node)
    return lines


def _edge_block(edge: Edge) -> Iterator[str]:
    yield f"    {connection(edge)}"
    for note in edge.get("notes", []):
        yield note_item(note, "      ")


def text_of(lines: Iterable[Line]) -> str:
    """The lines as one text."""
    return "\n".join(line.text for line in lines)
