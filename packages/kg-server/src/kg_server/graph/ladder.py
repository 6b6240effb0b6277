"""What a full read over its target leaves out, least valuable first; active gists are never left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from kg_server.graph.graph import Graph
from kg_server.graph.lines import archived_line, citation_length
from kg_server.graph.model import Level, key_of
from kg_server.graph.score import score

UNKNOWN_END = 0.5


@dataclass(slots=True)
class Hidden:
    """Per level: archived ids and edge keys that are left out."""

    archived: dict[Level, set[str]] = field(default_factory=dict)
    edges: dict[Level, set[str]] = field(default_factory=dict)


def hidden(graphs: Sequence[Graph], most: int) -> Hidden:
    """What to leave out so that the graphs together charge at most `most` characters, as far as that goes.

    First the lowest-scored archived lines of all levels in one pool, then the edges with the lowest sum of their
    ends' scores.
    """
    found = Hidden()
    over = sum(graph.charge() for graph in graphs) - most
    if over <= 0:
        return found
    for _, level, name, size in sorted(_anchors(graphs)):
        if over <= 0:
            return found
        found.archived.setdefault(level, set()).add(name)
        over -= size
    for _, level, key, size in sorted(_citations(graphs)):
        if over <= 0:
            return found
        found.edges.setdefault(level, set()).add(key)
        over -= size
    return found


def _anchors(graphs: Sequence[Graph]) -> list[tuple[float, Level, str, int]]:
    return [
        (value.total, graph.level, name, len(archived_line(name)) + 1)
        for graph in graphs
        for name, value in score(graph, graph.in_tier("archived")).items()
    ]


def _citations(graphs: Sequence[Graph]) -> list[tuple[float, Level, str, int]]:
    found: list[tuple[float, Level, str, int]] = []
    for graph in graphs:
        known = {name: value.total for name, value in score(graph, graph.active_ids()).items()}
        for edge in graph.edges_in_view():
            value = known.get(edge["from"], UNKNOWN_END) + known.get(edge["to"], UNKNOWN_END)
            size = min(citation_length(edge, edge["from"]), citation_length(edge, edge["to"])) + 1
            found.append((value, graph.level, key_of(edge), size))
    return found
