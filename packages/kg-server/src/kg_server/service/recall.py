"""Recall at the prompt: a few nodes the session has not seen, or silence."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from unicodedata import east_asian_width

from kg_server.graph import limits
from kg_server.graph.graph import Graph
from kg_server.graph.lines import connection, cut_gist
from kg_server.graph.model import key_of
from kg_server.graph.query import query
from kg_server.graph.render import Line
from kg_server.graph.search import Found, connections, search
from kg_server.graph.units import Limit
from kg_server.service.context import Context
from kg_server.service.sessions import Session

SCORE_MIN = 0.82
SEVERAL_TERMS_MORE = 0.2
UNKNOWN_TERMS_MORE = 0.5
"""What a prompt must reach: more when it has several terms, and by the share of them that the memory never heard of."""
MATCHED_WEIGHT = 0.15
NEARLY_UNIQUE = 0.85
RELATIVE_CUT = 0.85
CANDIDATES = 12


@dataclass(slots=True)
class Decision:
    """What recall did at one prompt and why: a line of the decision log."""

    reason: str
    text: str = ""
    terms: Sequence[str] = ()
    hits: list[Found] = field(default_factory=list)


def recall(context: Context, session: Session, typed: str, limit: Limit) -> str:
    """The text to inject for what a person typed; empty for silence. Logs the decision."""
    started = time.perf_counter()
    with context.memory.lock:
        decision = _decide(context, session, typed, limit)
    context.recall_log.write(
        {
            "ts": context.now(),
            "reason": decision.reason,
            "session": session.id,
            "client_session": session.client_session,
            "project": session.project_path,
            "terms": list(decision.terms),
            "hits": [
                {
                    "id": one.hit.id,
                    "level": one.graph.level,
                    "score": round(one.score, 4),
                    "matched": one.hit.matched,
                }
                for one in decision.hits
            ],
            "ms": round((time.perf_counter() - started) * 1000, 3),
        }
    )
    return decision.text


def _logged(one: Found) -> dict[str, object]:
    return {
        "id": one.hit.id,
        "level": one.graph.level,
        "score": round(one.score, 4),
        "matched": one.hit.matched,
    }


def _decide(context: Context, session: Session, typed: str, limit: Limit) -> Decision:
    if not session.full_read_ts:
        return Decision("full_read_due", reminder(session))
    if columns(typed) < limits.TYPED_MIN_COLUMNS:
        return Decision("not_typed")
    asked = query(typed)
    words = asked.evidence
    if not words:
        return Decision("no_terms")
    graphs = context.graphs(session)
    ranked = search(graphs, asked, CANDIDATES)
    hits = select(ranked, required(graphs, words))
    if not hits:
        return Decision("no_hits", terms=words, hits=ranked[:3])
    return _inject(context, session, hits, words, limit)


def required(graphs: Sequence[Graph], words: Sequence[str]) -> float:
    """The weight that a hit must reach to be spoken of at a prompt of these evidence terms."""
    unknown = sum(1 for word in words if not any(graph.index.holders(word) for graph in graphs))
    several = SEVERAL_TERMS_MORE if len(words) > 1 else 0.0
    return SCORE_MIN + several + UNKNOWN_TERMS_MORE * unknown / len(words)


def select(ranked: Sequence[Found], needed: float) -> list[Found]:
    """The hits that pass the gates, at most four: nodes named by the prompt first, then by score."""
    passed = [one for one in ranked if _has_evidence(one) and _weight(one) >= needed]
    if not passed:
        return []
    kept = [one for one in passed if one.score >= RELATIVE_CUT * passed[0].score][: limits.RECALL_HITS]
    return sorted(kept, key=lambda one: (not one.hit.titled, -one.score))


def columns(text: str) -> int:
    """Width of a text as it stands on a screen: wide characters count two, blanks none."""
    return sum(2 if east_asian_width(c) in "WF" else 1 for c in text if not c.isspace())


def reminder(session: Session) -> str:
    """What is said at each prompt until the full read."""
    return (
        f'The memory of this project is not read yet: call kg_read(session_id="{session.id}") first, '
        "then go on with this prompt."
    )


def _weight(one: Found) -> float:
    return one.score + MATCHED_WEIGHT * len(one.hit.matched)


def _has_evidence(one: Found) -> bool:
    return len(one.hit.matched) >= 2 or one.hit.rarest >= NEARLY_UNIQUE or bool(one.hit.titled)


def _inject(context: Context, session: Session, hits: list[Found], words: Sequence[str], limit: Limit) -> Decision:
    nodes, edges = _lines(session, hits)
    if not any(line.gist_of for _, line in nodes):
        return Decision("all_seen", terms=words, hits=hits)
    lines = _fit(nodes, edges, limit)
    new = [(graph, line) for graph, line in lines if line.gist_of is not None]
    if not new:
        return Decision("trimmed", terms=words, hits=hits)
    for graph, line in new:
        context.delivered(session, graph, [line])
    text = "\n".join(["Memory on this prompt:", *(neutral(line.text) for _, line in lines)])
    return Decision("injected", text, words, hits)


def _lines(session: Session, hits: Sequence[Found]) -> tuple[list[tuple[Graph, Line]], list[tuple[Graph, Line]]]:
    nodes: list[tuple[Graph, Line]] = [(one.graph, _node_line(session, one.graph, one.hit.id)) for one in hits]
    edges: list[tuple[Graph, Line]] = []
    for graph in dict.fromkeys(one.graph for one in hits):
        connectors, links = connections(graph, [one.hit.id for one in hits if one.graph is graph])
        nodes.extend((graph, _node_line(session, graph, name)) for name in connectors)
        edges.extend((graph, Line(f"  {connection(edge)}")) for edge in sorted(links, key=key_of))
    return nodes, edges


def _node_line(session: Session, graph: Graph, name: str) -> Line:
    node = graph.nodes[name]
    if session.has_seen(graph.level, node):
        return Line(f"  {name} (in context)")
    text = cut_gist(node, limits.GIST_MAX_CHARACTERS)
    return Line(f"  {name}: {text}", node if text == node["gist"] else None)


def _fit(nodes: list[tuple[Graph, Line]], edges: list[tuple[Graph, Line]], limit: Limit) -> list[tuple[Graph, Line]]:
    """Drop edges, then connectors, then the lowest hits until the text fits."""
    nodes, edges = list(nodes), list(edges)
    while nodes:
        text = "\n".join(["Memory on this prompt:", *(neutral(line.text) for _, line in [*nodes, *edges])])
        if len(text) <= limits.RECALL_CHARACTERS and limit.fits(text):
            break
        (edges or nodes).pop()
    return [*nodes, *edges]


def neutral(text: str) -> str:
    """Stored text as data: it can neither close nor open a block of the client's own markup."""
    return text.replace("</", "‹/").replace("<system", "‹system")
