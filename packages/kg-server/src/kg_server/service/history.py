"""What happened to a node, and taking a change back."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import cast

from kg_server.graph.errors import UnknownEntry, WriteRefused
from kg_server.graph.graph import Graph
from kg_server.graph.model import Change, Edge, Node, Record, tier, with_tier
from kg_server.graph.versions import ChangeSet, content_changed
from kg_server.service.commands import kg
from kg_server.service.context import Context
from kg_server.service.outcome import Outcome
from kg_server.storage.layout import GraphKey

_UNDO = "undo:"


@dataclass(frozen=True, slots=True)
class Step:
    """One recorded change of an entry."""

    seq: int
    ts: float
    session: str
    change: Change


def history(context: Context, key: GraphKey, name: str = "") -> list[Step]:
    """The recorded content changes of a node and of its edges, oldest first; of the whole graph without a name.

    A node that was renamed has the changes under its former ids too.
    """
    steps: list[Step] = []
    names = {name}
    for entry in reversed(list(context.memory.storage.history(key))):
        names.update(old for old, new in entry.renames if new in names)
        steps.extend(
            Step(entry.seq, entry.ts, entry.session, change)
            for change in reversed(entry.changes)
            if content_changed(change) and (not name or _concerns(change, names))
        )
    return steps[::-1]


def former_names(entries: Iterable[ChangeSet], name: str) -> set[str]:
    """The ids that a node had in the course of these change sets (oldest first), the present one among them."""
    names = {name}
    for entry in reversed(list(entries)):
        names.update(old for old, new in entry.renames if new in names)
    return names


def undo(context: Context, key: GraphKey, seq: int | None, session: str) -> Outcome:
    """Take a recorded change set back; without `seq` the last one that stands, so that each call goes one further back.

    Content is restored, not tiers. Refused where an entry was changed again since: that later change goes first. An
    undo is a change as well, and is taken back by its number.
    """
    with context.memory.lock:
        target = _target(list(context.memory.storage.history(key)), seq, key)
        followers = _followers(context, key, target)
        _refuse_if_changed_since(context, [(key, target), *followers])
        cause = f"{key}:{context.memory.graph(key).meta.get('seq', 0) + 1}"
        writes = [_take_back(context, key, target, session, f"{_UNDO}{target.seq}")]
        writes += [_take_back(context, one, entry, session, cause) for one, entry in followers]
    names = dict.fromkeys(change.key for _, entry in [(key, target), *followers] for change in entry.changes)
    return Outcome(f"Change {target.seq} of {key} is taken back: {', '.join(names)}.", writes)


def _followers(context: Context, key: GraphKey, target: ChangeSet) -> list[tuple[GraphKey, ChangeSet]]:
    """What a change of the user graph brought about in the projects."""
    if key.level != "user":
        return []
    cause = f"{key}:{target.seq}"
    return [
        (project, entry)
        for project in context.memory.projects()
        for entry in context.memory.storage.history(project)
        if entry.cause == cause
    ]


def _refuse_if_changed_since(context: Context, entries: Sequence[tuple[GraphKey, ChangeSet]]) -> None:
    for key, entry in entries:
        graph = context.memory.graph(key)
        changed = [change for change in entry.changes if content_changed(change)]
        later = [change.key for change in changed if _content(_standing(graph, change)) != _content(change.after)]
        if later:
            raise WriteRefused(
                f"change {entry.seq} of {key} cannot be taken back alone: {', '.join(later)} changed again since. "
                f"{kg(graph, key, 'history')} shows the later changes; take those back first"
            )


def _take_back(context: Context, key: GraphKey, entry: ChangeSet, session: str, cause: str) -> Future[None]:
    graph = context.memory.graph(key)
    back = [_inverse(graph, change) for change in reversed(entry.changes) if content_changed(change)]
    return context.memory.commit(key, back, session, renames=[(new, old) for old, new in entry.renames], cause=cause)


def _target(recorded: Sequence[ChangeSet], seq: int | None, key: GraphKey) -> ChangeSet:
    with_content = [entry for entry in recorded if any(content_changed(change) for change in entry.changes)]
    if seq is None:
        found, wanted = _standing_changes(with_content), f"a change of {key} that could be taken back"
    else:
        found, wanted = [entry for entry in with_content if entry.seq == seq], f"change {seq} of {key}"
    if not found:
        raise UnknownEntry(f"{wanted} is not recorded (any more): history reaches back 90 days and 8 MiB")
    return found[-1]


def _standing_changes(recorded: Sequence[ChangeSet]) -> list[ChangeSet]:
    """The change sets that are neither an undo nor taken back, oldest first; an undo that was undone counts as none."""
    taken_back: set[int] = set()
    standing: list[ChangeSet] = []
    for entry in reversed(recorded):
        if entry.seq in taken_back:
            continue
        if entry.cause.startswith(_UNDO):
            taken_back.add(int(entry.cause.removeprefix(_UNDO)))
        else:
            standing.append(entry)
    return standing[::-1]


def _inverse(graph: Graph, change: Change) -> Change:
    standing = _standing(graph, change)
    restored = change.before
    if change.kind == "node" and restored is not None and standing is not None:
        node = cast(Node, standing)
        restored = with_tier(cast(Node, restored), tier(node), node.get("_orphaned_ts", 0.0))
    return Change(change.kind, change.key, standing, restored)


def _standing(graph: Graph, change: Change) -> Record | None:
    return graph.nodes.get(change.key) if change.kind == "node" else graph.edges.get(change.key)


def _content(record: Record | None) -> dict[str, object] | None:
    if record is None:
        return None
    return {field: value for field, value in record.items() if not field.startswith("_")}


def _concerns(change: Change, names: Collection[str]) -> bool:
    if change.kind == "node":
        return change.key in names
    edge = cast(Edge, change.after or change.before)
    return edge["from"] in names or edge["to"] in names
