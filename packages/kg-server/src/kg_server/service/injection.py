"""Nodes put in front of a model beside its work: what is new whole, what it knows by name, and how they hang together.

Stored text is data. It reaches the model folded to lines, and with the client's kind of markup taken out of it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kg_server.graph import limits
from kg_server.graph.graph import Graph
from kg_server.graph.lines import connection, cut_gist
from kg_server.graph.model import key_of
from kg_server.graph.render import Line
from kg_server.graph.search import connections
from kg_server.graph.units import Limit, cut, measure
from kg_server.service.sessions import Session

EDGES_MAX = 12
_MARKUP = re.compile(
    r"<(?=/|[a-z]\w*[-:_]\w|(?:system|user|assistant|human|tool|function|instructions?)\b)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Placed:
    """A line with the graph it is of; `news` tells that it shows what the session has not seen."""

    graph: Graph
    line: Line
    news: bool = False


@dataclass(frozen=True, slots=True)
class Injection:
    """What is said. `had_news` tells whether anything was new to the session, `has_news` whether that had room."""

    text: str
    lines: Sequence[Placed]
    had_news: bool
    has_news: bool


def injection(
    heading: str,
    session: Session,
    nodes: Sequence[tuple[Graph, str]],
    limit: Limit,
    characters: int,
    alone: bool = False,
) -> Injection:
    """Say these nodes, best first, within `limit` and `characters`; with connectors and edges unless `alone`.

    Trimmed are edges, then connectors, then the last nodes; a last one that is too long is cut, and not marked as seen.
    """
    placed = [_node_line(session, graph, name) for graph, name in nodes]
    edges: list[Placed] = []
    for graph in dict.fromkeys(graph for graph, _ in nodes) if not alone else ():
        connectors, links = connections(graph, [name for at, name in nodes if at is graph])
        placed.extend(_node_line(session, graph, name) for name in connectors)
        edges.extend(Placed(graph, Line(f"  {connection(edge)}")) for edge in sorted(links, key=key_of)[:EDGES_MAX])
    lines = _fitting(heading, placed, edges, limit, characters)
    return Injection(_text(heading, lines), lines, any(one.news for one in placed), any(one.news for one in lines))


def neutral(text: str) -> str:
    """Stored text as data: it can neither close nor open a block of a client's own markup."""
    return _MARKUP.sub("‹", text)


def _node_line(session: Session, graph: Graph, name: str) -> Placed:
    node = graph.nodes[name]
    if session.has_seen(graph.level, node):
        return Placed(graph, Line(f"  {name} (in context)"))
    text = cut_gist(node, limits.GIST_MAX_CHARACTERS)
    return Placed(graph, Line(f"  {name}: {text}", node if text == node["gist"] else None), news=True)


def _fitting(
    heading: str, nodes: Sequence[Placed], edges: Sequence[Placed], limit: Limit, characters: int
) -> list[Placed]:
    """As many lines as the channel holds, in their order of worth."""
    lines = [*nodes, *edges]
    while lines and not _fits(_text(heading, lines), limit, characters):
        if len(lines) == 1:
            return _cut(heading, lines[0], limit, characters)
        lines.pop()
    return lines


def _fits(text: str, limit: Limit, characters: int) -> bool:
    return len(text) <= characters and limit.fits(text)


def _cut(heading: str, one: Placed, limit: Limit, characters: int) -> list[Placed]:
    if one.line.gist_of is None:
        return []
    name = one.line.gist_of["id"]
    tail = f"… (kg_read {name})"
    frame = f"{heading}\n{tail}"
    text = neutral(one.line.text)[: max(0, characters - len(frame))]
    text = cut(text, Limit(limit.size - measure(frame, limit.unit), limit.unit))
    return [replace(one, line=Line(text + tail))] if len(text) > len(f"  {name}: ") else []


def _text(heading: str, lines: Sequence[Placed]) -> str:
    return "\n".join([heading, *(neutral(one.line.text) for one in lines)]) if lines else ""
