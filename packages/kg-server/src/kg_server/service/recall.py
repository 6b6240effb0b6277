"""Recall at the prompt: a few nodes the session has not seen, or silence."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kg_server.graph import gates, limits
from kg_server.graph.graph import Graph
from kg_server.graph.index import Hit
from kg_server.graph.query import query
from kg_server.graph.search import Found
from kg_server.graph.secrets import without_secrets
from kg_server.graph.units import Limit
from kg_server.service.context import Context
from kg_server.service.injection import injection
from kg_server.service.sessions import Session

HEADING = "Memory on this prompt:"


@dataclass(frozen=True, slots=True)
class Decision:
    """What recall did at one prompt and why: a line of the decision log.

    `needed` is what the score gate asked for; `hits` are those told or held back, or the best that were turned away.
    """

    reason: str
    text: str = ""
    terms: Sequence[str] = ()
    hits: Sequence[Found] = ()
    needed: float = 0.0


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
            "needed": round(decision.needed, 4),
            "hits": [_logged(one) for one in decision.hits],
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
        "titled": one.hit.titled,
        "rarest": round(one.hit.rarest, 4),
    }


def _decide(context: Context, session: Session, typed: str, limit: Limit) -> Decision:
    if not session.full_read_ts:
        return Decision("full_read_due", reminder(session))
    graphs = context.graphs(session)
    asked = query(without_secrets(typed))  # its terms are logged
    enough = gates.says_enough(typed, asked)
    named = _named(graphs, typed, any_id=not enough)
    if not named and not enough:
        return Decision("not_typed" if gates.columns(typed) < limits.TYPED_MIN_COLUMNS else "no_terms")
    needed = gates.required(graphs, asked)
    ranked = gates.candidates(graphs, asked) if enough else []
    hits = _first(named, gates.passing(graphs, asked, ranked))
    if not hits:
        return Decision("no_hits", terms=asked.evidence, hits=ranked[:3], needed=needed)
    return replace(_inject(context, session, hits, limit), terms=asked.evidence, hits=hits, needed=needed)


def _named(graphs: Sequence[Graph], typed: str, any_id: bool) -> list[Found]:
    """Nodes that the prompt names in full: asked for by name, they pass every gate but that of novelty."""
    found = [
        Found(graph, Hit(name, gates.GATES.score_min, (name,), (name,), 1.0), gates.GATES.score_min)
        for graph, name in gates.named(graphs, typed, any_id)
    ]
    return found[: limits.RECALL_HITS]


def _first(named: Sequence[Found], passed: Sequence[Found]) -> list[Found]:
    known = {(one.graph.level, one.hit.id) for one in named}
    others = [one for one in passed if (one.graph.level, one.hit.id) not in known]
    return [*named, *others][: limits.RECALL_HITS]


def _inject(context: Context, session: Session, hits: Sequence[Found], limit: Limit) -> Decision:
    told = injection(HEADING, session, [(one.graph, one.hit.id) for one in hits], limit, limits.RECALL_CHARACTERS)
    if not told.had_news:
        return Decision("all_seen")
    if not told.has_news:
        return Decision("trimmed")
    for one in told.lines:
        context.delivered(session, one.graph, [one.line])
    return Decision("injected", told.text)


def reminder(session: Session) -> str:
    """What is said at each prompt until the full read."""
    return (
        f'The memory of this project is not read yet: call kg_read(session_id="{session.id}") first, '
        "then go on with this prompt."
    )
