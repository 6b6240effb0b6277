"""Three versions of a graph made one: what we last saved, what we hold now, what somebody else left in the file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from kg_server.graph.model import Change, Edge, Kind, Node


class Entries(Protocol):
    """Anything that holds the records of a graph."""

    @property
    def nodes(self) -> Mapping[str, Node]:
        """Nodes by id."""

    @property
    def edges(self) -> Mapping[str, Edge]:
        """Edges by key."""


def merged(base: Entries, ours: Entries, theirs: Entries) -> tuple[list[Change], list[str]]:
    """The changes that bring `ours` up to date with `theirs`, and the entries that both changed differently.

    An entry that only one side changed (a deletion is a change) is that side's. Where both did, the one written
    later stands. Stamps of our own (when read, which tier) are no change of an entry: they go with either text.
    """
    changes: list[Change] = []
    clashes: list[str] = []
    _merge("node", (base.nodes, ours.nodes, theirs.nodes), changes, clashes)
    _merge("edge", (base.edges, ours.edges, theirs.edges), changes, clashes)
    return changes, clashes


def unlike(ours: Entries, theirs: Entries) -> list[Change]:
    """Changes that leave each entry as we have it, for those that they have otherwise."""
    pairs: tuple[tuple[Kind, Mapping[str, Any], Mapping[str, Any]], ...] = (
        ("node", ours.nodes, theirs.nodes),
        ("edge", ours.edges, theirs.edges),
    )
    return [
        Change(kind, key, own.get(key), own.get(key))
        for kind, own, other in pairs
        for key in sorted({*own, *other})
        if own.get(key) != other.get(key)
    ]


_OWN_FIELDS = frozenset(("seq", "versions", "tombstones", "settling", "format"))
"""Of `_meta`: what each server counts for itself."""


def merged_fields(base: Mapping[str, Any], ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of their `_meta` that only they changed since `base`."""
    return {
        name: value
        for name, value in theirs.items()
        if name not in _OWN_FIELDS and value != ours.get(name) and ours.get(name) == base.get(name)
    }


def _merge(kind: Kind, sides: tuple[Mapping[str, Any], ...], changes: list[Change], clashes: list[str]) -> None:
    base, ours, theirs = sides
    for key in sorted({*base, *theirs}):
        old, own, other = base.get(key), ours.get(key), theirs.get(key)
        if other in (old, own):
            continue
        if own != old and own is not None and other is not None and _text(own) == _text(old):
            other = {**other, **{name: value for name, value in own.items() if name not in _text(own)}}
        elif own != old:
            if other is not None and _text(other) == _text(old):
                continue
            clashes.append(f"{kind} {key}")
            if _written(own) >= _written(other):
                continue
        if other != own:
            changes.append(Change(kind, key, own, other))


def _text(record: Any) -> Any:
    """What a person or an agent wrote of a record."""
    return record and {name: value for name, value in record.items() if not name.startswith("_")}


def _written(record: Any) -> float:
    return float((record or {}).get("_written", {}).get("ts", 0.0))
