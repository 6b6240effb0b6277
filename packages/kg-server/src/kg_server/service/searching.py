"""kg_search: what the memory holds on a question, within a fixed number of characters."""

from __future__ import annotations

from collections.abc import Sequence

from kg_server.graph import limits
from kg_server.graph.errors import InvalidEntry
from kg_server.graph.lines import connection, cut_gist, note_item, shown_gist
from kg_server.graph.model import tier
from kg_server.graph.names import shown
from kg_server.graph.query import query as read_query
from kg_server.graph.render import Line
from kg_server.graph.search import Found, connections, search
from kg_server.service.context import Context
from kg_server.service.sessions import Session


def search_memory(context: Context, session: Session | None, query: str) -> str:
    """The best hits in full, how they hang together, and one line for each of the next ones."""
    asked = read_query(query)
    if not asked.terms:
        raise InvalidEntry(f"query {shown(query)} holds no word to search for: name what you look for")
    with context.memory.lock:
        graphs = context.graphs(session)
        found = search(graphs, asked, limits.SEARCH_FULL_HITS + limits.SEARCH_LINE_HITS)
        if not found:
            return f"No match for {shown(query)}. Other words, or kg_read for the whole memory, may find it."
        full, rest = found[: limits.SEARCH_FULL_HITS], found[limits.SEARCH_FULL_HITS :][: limits.SEARCH_LINE_HITS]
        head = Line(f"The best {len(found)} match(es) for {shown(query)}, {len(full)} in full:")
        sections = [[head], *[_block(session, one) for one in full], _links(full), _more(rest)]
        lines = _within(sections, limits.SEARCH_CHARACTERS)
        if session is not None:
            for graph in graphs:
                context.delivered(session, graph, [line for line in lines if _belongs(line, full, graph)])
        return "\n".join(line.text for line in lines)


def _block(session: Session | None, one: Found) -> list[Line]:
    node, level = one.node, one.graph.level
    seen = session is not None and session.has_seen(level, node)
    state = tier(node)
    marks = [level, *([state] if state != "active" else []), *(["seen"] if seen else [])]
    gist = Line(f"  gist: {shown_gist(node)}", node if len(node["gist"]) <= limits.GIST_MAX_CHARACTERS else None)
    lines = [Line(f"▸ {node['id']} ({', '.join(marks)})"), gist]
    if not seen:
        lines.extend(Line(note_item(note)) for note in node.get("notes", []))
    return lines


def _links(full: Sequence[Found]) -> list[Line]:
    lines: list[Line] = []
    for graph in dict.fromkeys(one.graph for one in full):
        connectors, edges = connections(graph, [one.hit.id for one in full if one.graph is graph])
        lines.extend(Line(f"  {name}: {cut_gist(graph.nodes[name], 200)}") for name in connectors)
        lines.extend(Line(f"  {connection(edge)}") for edge in edges)
    return [Line("CONNECTIONS:"), *lines] if lines else []


def _more(rest: Sequence[Found]) -> list[Line]:
    lines = [Line(f"  {one.hit.id} ({one.graph.level}): {cut_gist(one.node, 200)}") for one in rest]
    return [Line("MORE MATCHES:"), *lines] if lines else []


def _within(sections: list[list[Line]], size: int) -> list[Line]:
    """As many lines, section by section, as `size` characters hold; a cut is said."""
    tail = "… cut here; kg_read with an id shows a node whole"
    lines: list[Line] = []
    used = 0
    for line in (line for section in sections for line in section):
        used += len(line.text) + 1
        if used + len(tail) > size:
            return [*lines, Line(tail)]
        lines.append(line)
    return lines


def _belongs(line: Line, full: Sequence[Found], graph: object) -> bool:
    return line.gist_of is not None and any(one.graph is graph and one.node is line.gist_of for one in full)
