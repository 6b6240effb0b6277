"""Recall at the file: lessons that name a file which a tool just read or changed, or silence."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from kg_server.graph import limits
from kg_server.graph.graph import Graph
from kg_server.graph.model import tier
from kg_server.graph.names import one_line
from kg_server.graph.score import last_use, usefulness_rank
from kg_server.graph.units import Limit, cut
from kg_server.service.context import Context
from kg_server.service.injection import injection, neutral
from kg_server.service.places import Place
from kg_server.service.sessions import Session

NAMES_CHARACTERS = 200
"""So much of the files' names stands above the lessons."""

NAMESAKES = 16
"""So many touches of the same file name are looked at for a link that leads to the file."""

Named = Sequence[tuple[Graph, str]]


@dataclass(frozen=True, slots=True)
class Decision:
    """What was done about a tool's files, and why; `hits` are the nodes told, or those held back."""

    reason: str
    text: str = ""
    hits: Named = ()


def file_recall(context: Context, session: Session, places: Sequence[Place], limit: Limit) -> str:
    """The text to add to a tool's result for the files it touched; empty for silence. Logs the decision."""
    started = time.perf_counter()
    decision = _decide(context, session, places, limit)
    context.recall_log.write(
        {
            "ts": context.now(),
            "reason": decision.reason,
            "session": session.id,
            "client_session": session.client_session,
            "project": session.project_path,
            "files": [place.shown for place in places],
            "hits": [{"id": name, "level": graph.level} for graph, name in decision.hits],
            "ms": round((time.perf_counter() - started) * 1000, 3),
        }
    )
    return decision.text


def _decide(context: Context, session: Session, places: Sequence[Place], limit: Limit) -> Decision:
    if not session.full_read_ts:
        return Decision("file_full_read_due")
    if not places:
        return Decision("file_unresolved")
    with context.memory.lock:
        graphs = context.graphs(session)
        pairs = [(graph, place) for graph in graphs for place in places]
        others = [set(graph.touches.named(place.path, NAMESAKES)) - place.known_to(graph) for graph, place in pairs]
    linked = [  # asks the file system, and so without the lock; the user's graph knows no root
        context.places.leading(keys, place, session.project_path if graph.level == "project" else "")
        for keys, (graph, place) in zip(others, pairs, strict=True)
    ]
    with context.memory.lock:
        named = {
            (graph, name)
            for (graph, place), keys in zip(pairs, linked, strict=True)
            for name in graph.touches.nodes(place.known_to(graph) | keys, place.fold)
            if tier(graph.nodes[name]) != "retired"
        }
        return _tell(context, session, places, sorted(named, key=lambda one: _rank(*one)), limit)


def _tell(context: Context, session: Session, places: Sequence[Place], named: Named, limit: Limit) -> Decision:
    if not named:
        return Decision("file_unnamed")
    unseen = [(graph, name) for graph, name in named if not session.has_seen(graph.level, graph.nodes[name])]
    best = unseen[: limits.FILE_RECALL_NODES]
    if not best:
        return Decision("file_all_seen", hits=named[: limits.FILE_RECALL_NODES])
    now = context.now()
    recent = [ts for ts in session.file_recalls if 0 <= now - ts < limits.FILE_RECALL_WINDOW_S]
    if len(recent) >= limits.FILE_RECALLS:
        return Decision("file_throttled", hits=best)
    told = injection(_heading(places), session, best, limit, limits.FILE_RECALL_CHARACTERS, alone=True)
    if not told.has_news:
        return Decision("file_trimmed", hits=best)
    session.file_recalls = [*recent, now]
    for one in told.lines:
        context.delivered(session, one.graph, [one.line])
    return Decision("file_injected", told.text, best[: len(told.lines)])


def _rank(graph: Graph, name: str) -> tuple[float, int, float, str, str]:
    """Lessons that proved useful first, then those about few files, then the latest."""
    return -usefulness_rank(graph.nodes[name]), graph.touches.count(name), -last_use(graph, name), graph.level, name


def _heading(places: Sequence[Place]) -> str:
    names = neutral(one_line(", ".join(place.shown for place in places)))
    return f"Memory on {cut(names, Limit(NAMES_CHARACTERS, 'characters'))}:"
