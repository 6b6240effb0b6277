"""The start of a conversation: the best of both levels within what the client keeps whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kg_server.graph import limits
from kg_server.graph.graph import Graph
from kg_server.graph.lines import active_line
from kg_server.graph.render import Line, partial_lines
from kg_server.graph.score import score
from kg_server.graph.units import Limit, measure
from kg_server.service.context import Context
from kg_server.service.sessions import Session, entry


@dataclass(frozen=True, slots=True)
class Candidate:
    """A node that may stand in the preload, with its place in the order of choice."""

    graph: Graph
    name: str
    rank: float


def preload(context: Context, session: Session, limit: Limit) -> tuple[str, str]:
    """The preload's text within `limit`, and one line for the person. Marks what it shows as seen."""
    with context.memory.lock:
        graphs = context.graphs(session)
        chosen = _choose(graphs, limit, session)
        text, lines = _compose(graphs, chosen, session)
        while chosen and not limit.fits(text):  # citations can turn longer once all nodes stand in order
            chosen.pop()
            text, lines = _compose(graphs, chosen, session)
        for graph in graphs:
            context.delivered(session, graph, lines[graph.level])
        session.preloaded_ts = context.now()
        session.preloaded = [entry(one.graph.level, one.name) for one in chosen]
        total = sum(graph.counts()[0] for graph in graphs)
    context.sessions.save()
    return text, _for_the_person(len(chosen), total, session)


def _choose(graphs: Sequence[Graph], limit: Limit, session: Session) -> list[Candidate]:
    candidates = sorted(
        (one for graph in graphs for one in _candidates(graph, limit)), key=lambda one: (-one.rank, one.name)
    )
    frame, _ = _compose(graphs, [], session)
    room = limit.size - measure(frame, limit.unit)
    chosen = []
    for one in candidates:
        cost = measure(active_line(one.graph.nodes[one.name]), limit.unit) + 1
        if cost <= room:
            room -= cost
            chosen.append(one)
    return chosen


def _candidates(graph: Graph, limit: Limit) -> list[Candidate]:
    """Active nodes, the newest first as long as they fill less than their share, then by score."""
    scores = score(graph, graph.active_ids())
    fresh: set[str] = set()
    room = limit.size * limits.FRESH_SHARE / 2
    for name in sorted(scores, key=lambda name: (-graph.nodes[name].get("_created_ts", 0.0), name)):
        room -= measure(active_line(graph.nodes[name]), limit.unit) + 1
        if room < 0 and fresh:
            break
        fresh.add(name)
    return [Candidate(graph, name, one.total + (name in fresh)) for name, one in scores.items()]


def _compose(
    graphs: Sequence[Graph], chosen: Sequence[Candidate], session: Session
) -> tuple[str, dict[str, list[Line]]]:
    text = [
        f"MEMORY OF EARLIER SESSIONS (partial view). session_id: {session.id} (pass it to every kg_* tool).",
        f'Before you start on the task call kg_read(session_id="{session.id}"): it shows the rest of this memory.',
    ]
    shown: dict[str, list[Line]] = {}
    for graph in graphs:
        names = {one.name for one in chosen if one.graph is graph}
        shown[graph.level] = partial_lines(graph, names)
        active, archived = graph.counts()
        text.append(f"{graph.level.upper()} ({len(names)} of {active} active, {archived} archived):")
        text.extend(line.text for line in shown[graph.level])
    text.append("A subagent sees none of this: put the lines it needs, or the use of the kg_* tools, into its prompt.")
    return "\n".join(text), shown


def _for_the_person(shown: int, total: int, session: Session) -> str:
    where = "" if session.slug else " (user memory only: this folder is no project)"
    if not total:
        return f"Memory is on and still empty{where}."
    return f"Memory: {shown} of {total} lessons preloaded{where}."
