"""kg_useful: endorsements by sessions, credits by maintenance passes; one ledger per session."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from typing import Literal

from kg_server.graph import limits
from kg_server.graph.credits import credited, repeats, stamped
from kg_server.graph.graph import Graph
from kg_server.graph.model import Change, Level, Node, tier
from kg_server.graph.names import nfc, shown
from kg_server.service.context import Context
from kg_server.service.outcome import Outcome
from kg_server.service.sessions import Session, entry


def mark_useful(context: Context, session: Session, ids: Sequence[str], credits: int | None) -> Outcome:
    """Endorse the named nodes for this session, or credit them in a maintenance pass."""
    lines: list[str] = []
    writes: list[Future[None]] = []
    done: list[str] = []
    with context.memory.lock:
        for name in dict.fromkeys(map(nfc, ids)):
            found = _find(context, session, name)
            refusal = "not found" if found is None else _refusal(session, found[0], name, credits)
            if refusal:
                lines.append(f"Left out {shown(name)}: {refusal}.")
                _log(context, session, name, found[0].level if found else "", credits, refusal)
            elif found is not None:
                writes.append(_write(context, session, *found, credits))
                _log(context, session, name, found[0].level, credits, "")
                done.append(name)
    context.sessions.save()  # the ledger is on disk with the stamp: a crash must not let a session vote twice
    if done:
        lines.insert(0, f"{'Credited' if credits else 'Marked useful'}: {', '.join(done)}.")
    lines.append(_balance(session, credits))
    return Outcome("\n".join(lines), writes)


def note_credit(session: Session, graph: Graph, before: Node | None, after: Node, now: float) -> Node:
    """`after`, endorsed when it adds a case as a note to a lesson that another session wrote (once per node)."""
    key = entry(graph.level, after["id"])
    if before is None or key in session.endorsed or not adds_case(session, before, after):
        return after
    if before.get("_written", {}).get("author", "") in ("", session.id):
        return after
    session.endorsed.append(key)
    return stamped(after, "_useful_ts", [now])


def adds_case(session: Session, before: Node, after: Node) -> bool:
    """Whether the session, at work and not maintaining, adds a note to a node that it did not write itself."""
    author = before.get("_written", {}).get("author", "")
    added = set(after.get("notes", [])) - set(before.get("notes", []))
    return bool(added) and author != session.id and not session.maintenance


def log_use(context: Context, session: Session, level: Level, name: str, use: Literal["read", "notes"]) -> None:
    """Record that a session read a node whole, or put a case into its notes: what `kg replay` judges recall by."""
    context.useful_log.write(
        {
            "ts": context.now(),
            "session": session.id,
            "project": session.project_path,
            "id": name,
            "level": level,
            "use": use,
        }
    )


def repeat_credits(context: Context, session: Session, graph: Graph, cases: Sequence[str]) -> list[Future[None]]:
    """Stamp the older lessons that the cases are linked to by `instance-of`; only projects reach up to the user."""
    writes = []
    levels = [graph] if graph.level != "project" else [graph, context.graph(session, "user")]
    for lessons in levels:
        for case in cases:
            for lesson in list(repeats(graph, case, lessons)):
                before = lessons.nodes[lesson["id"]]
                change = Change("node", lesson["id"], before, lesson)
                writes.append(context.memory.commit(context.key(session, lessons.level), [change], session.id))
    return writes


def _find(context: Context, session: Session, name: str) -> tuple[Graph, Node] | None:
    for level in reversed(context.levels(session)):
        graph = context.graph(session, level)
        if name in graph.nodes:
            return graph, graph.nodes[name]
    return None


def _refusal(session: Session, graph: Graph, name: str, credits: int | None) -> str:
    if credits is not None:
        if not session.maintenance:
            return "credits are for a maintenance pass; leave them out to endorse"
        if session.credits + credits > limits.PASS_CREDITS:
            return f"a pass has {limits.PASS_CREDITS} credits and {session.credits} are spent"
        return ""
    if entry(graph.level, name) in session.endorsed:
        return "this session has endorsed it already"
    if session.likes >= limits.LIKES_MAX:
        return f"a session has at most {limits.LIKES_MAX} endorsements"
    if tier(graph.nodes[name]) == "retired":
        return "it is retired"
    return ""


def _write(context: Context, session: Session, graph: Graph, node: Node, credits: int | None) -> Future[None]:
    now = context.now()
    if credits is None:
        session.endorsed.append(entry(graph.level, node["id"]))
        session.likes += 1
        after = stamped(node, "_useful_ts", [now])
    else:
        session.credits += credits
        after = credited(node, credits, now)
    change = Change("node", node["id"], node, after)
    return context.memory.commit(context.key(session, graph.level), [change], session.id)


def _balance(session: Session, credits: int | None) -> str:
    if credits is not None:
        return f"{limits.PASS_CREDITS - session.credits} credit(s) left in this pass."
    if session.likes <= limits.LIKES_GUIDE:
        return f"{session.likes} of about {limits.LIKES_GUIDE} endorsements used in this session."
    return f"{session.likes} endorsements in this session; about {limits.LIKES_GUIDE} keep the signal sharp."


def _log(context: Context, session: Session, name: str, level: str, credits: int | None, refused: str) -> None:
    context.useful_log.write(
        {
            "ts": context.now(),
            "session": session.id,
            "project": session.project_path,
            "id": name,
            "level": level,
            "seen": entry_seen(session, level, name),
            **({"credits": credits} if credits is not None else {}),
            **({"refused": refused} if refused else {}),
        }
    )


def entry_seen(session: Session, level: str, name: str) -> bool:
    """Whether the session had seen some version of the node."""
    return f"{level}:{name}" in session.seen
