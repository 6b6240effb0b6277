"""The records of a graph. A record is replaced, never changed in place: a shallow copy of the graph is a snapshot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypedDict, cast

Level = Literal["user", "project", "maintain"]
Tier = Literal["active", "archived", "orphaned", "retired"]
LEVELS: tuple[Level, ...] = ("user", "project", "maintain")


class Written(TypedDict, total=False):
    """Who wrote an entry last: `by` the session of the last write, `author` of the last one that was no tidying."""

    ts: float
    by: str
    author: str


class Node(TypedDict, total=False):
    """One lesson. Fields that begin with an underscore are the server's; unknown ones are kept as they came."""

    id: str
    gist: str
    notes: list[str]
    touches: list[str]
    locked: bool
    _created_ts: float
    _written: Written
    _last_read_ts: float
    _useful_ts: list[float]
    _credited_ts: list[float]
    _recurrence_ts: list[float]
    _gist_ts: list[float]
    _archived: bool
    _orphaned_ts: float
    _retired: Mapping[str, Any]


Edge = TypedDict("Edge", {"from": str, "to": str, "rel": str, "notes": list[str], "_written": Written}, total=False)

Record = Node | Edge
Kind = Literal["node", "edge"]


@dataclass(frozen=True, slots=True)
class Change:
    """One entry of a change set: what stood under `key` before, what stands there after (None = nothing)."""

    kind: Kind
    key: str
    before: Record | None
    after: Record | None


def tier(node: Node) -> Tier:
    """The state that decides where a node is visible."""
    if node.get("_retired"):
        return "retired"
    if node.get("_orphaned_ts") is not None:
        return "orphaned"
    return "archived" if node.get("_archived") else "active"


def with_tier(node: Node, wanted: Tier, now: float = 0.0) -> Node:
    """A copy of `node` in the wanted tier; `now` dates an orphaning. A retired node stays retired."""
    copy = cast(Node, {k: v for k, v in node.items() if k not in ("_archived", "_orphaned_ts")})
    if wanted in ("archived", "orphaned"):
        copy["_archived"] = True
    if wanted == "orphaned":
        copy["_orphaned_ts"] = now
    return copy


def is_path(endpoint: str) -> bool:
    """Whether an edge's endpoint names a file rather than a node."""
    return "/" in endpoint or endpoint.startswith("~")


def edge_key(source: str, rel: str, target: str) -> str:
    """The key an edge is stored under; written for people and git, never taken apart again."""
    return f"{source}->{target}:{rel}"


def key_of(edge: Edge) -> str:
    """The key of an edge record."""
    return edge_key(edge["from"], edge["rel"], edge["to"])


def other_end(edge: Edge, endpoint: str) -> str:
    """The endpoint opposite `endpoint` (itself for a self-loop)."""
    return edge["to"] if edge["from"] == endpoint else edge["from"]
