"""Who changed which entry when: the versions, tombstones and sequence number in a graph's `_meta`."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any, TypedDict, cast

from kg_server.graph.model import Change, Kind, Tier


class Version(TypedDict, total=False):
    """State of an entry: how often it was written, when and by which session; `used_ts` its last real use."""

    v: int
    ts: float
    session: str
    used_ts: float


class Tombstone(TypedDict, total=False):
    """What is left of a deleted entry for `kg_sync`; `renamed` is the id that a renamed node has now.

    `v` goes on counting when the key is used again: who saw the old entry has not seen the new one.
    """

    v: int
    ts: float
    session: str
    renamed: str


@dataclass(frozen=True, slots=True)
class ChangeSet:
    """What one call changed: the unit of the journal, of undo and of what other sessions are told.

    `moves` are the tier changes that compaction made in its wake, `renames` old and new ids, `upkeep` says that a
    maintenance session wrote: its changes are no use of the nodes. `cause` names the change set of another graph
    (`graph:seq`) that this one follows from, they are taken back together; or the one of this graph (`undo:seq`) that
    this one takes back.
    """

    seq: int
    ts: float
    session: str
    changes: tuple[Change, ...]
    moves: tuple[tuple[str, Tier], ...] = ()
    renames: tuple[tuple[str, str], ...] = ()
    upkeep: bool = False
    cause: str = ""


def entry_key(kind: Kind, key: str) -> str:
    """The key of an entry in `versions` and `tombstones`."""
    return f"{kind}:{key}"


def versions(meta: dict[str, Any]) -> dict[str, Version]:
    """The versions by entry key; created when absent."""
    return cast("dict[str, Version]", meta.setdefault("versions", {}))


def tombstones(meta: dict[str, Any]) -> dict[str, Tombstone]:
    """The tombstones by entry key; created when absent."""
    return cast("dict[str, Tombstone]", meta.setdefault("tombstones", {}))


def version_of(meta: dict[str, Any], kind: Kind, key: str) -> int:
    """How often an entry was written; 0 for one that never was."""
    return versions(meta).get(entry_key(kind, key), {}).get("v", 0)


def stamp(meta: dict[str, Any], entry: ChangeSet) -> None:
    """Record a change set in `meta`; the same when it is made and when the journal is read back."""
    for change in entry.changes:
        _stamp_one(meta, change, entry)
    for old, new in entry.renames:
        before = tombstones(meta).get(entry_key("node", old))
        tombstones(meta)[entry_key("node", old)] = {
            **(before or {}),
            "ts": entry.ts,
            "session": entry.session,
            "renamed": new,
        }
    meta["seq"] = entry.seq


def _stamp_one(meta: dict[str, Any], change: Change, entry: ChangeSet) -> None:
    name = entry_key(change.kind, change.key)
    known = versions(meta)
    if change.before is None and change.after is None:
        return
    if change.after is None:
        carried = known.pop(name, None)
        renamed = dict(entry.renames).get(change.key) if change.kind == "node" else None
        if renamed is not None and carried is not None:
            grave = tombstones(meta).get(entry_key("node", renamed), {})
            known[entry_key("node", renamed)] = {**carried, "v": max(carried.get("v", 0), grave.get("v", -1) + 1)}
        last = max((carried or {}).get("v", 0), tombstones(meta).get(name, {}).get("v", 0))
        tombstones(meta)[name] = {"v": last, "ts": entry.ts, "session": entry.session}
        return
    grave = tombstones(meta).pop(name, {})
    if not content_changed(change) or (change.kind == "node" and change.key in dict(entry.renames).values()):
        return
    before = known.get(name, {})
    version: Version = {"v": before.get("v", grave.get("v", 0)) + 1, "ts": entry.ts, "session": entry.session}
    if entry.upkeep:
        version["used_ts"] = before.get("used_ts") or before.get("ts") or _dated(change.before)
    known[name] = version


def _dated(record: Any) -> float:
    """When a record says that it was written: an older or foreign file may have no version of it."""
    fields = record or {}
    return float(fields.get("_written", {}).get("ts") or fields.get("_created_ts", 0.0))


def prune(meta: dict[str, Any], oldest_ts: float) -> None:
    """Forget tombstones from before `oldest_ts`."""
    graves = tombstones(meta)
    for name in [name for name, grave in graves.items() if grave.get("ts", 0.0) < oldest_ts]:
        del graves[name]


def forget(meta: dict[str, Any], names: Collection[str]) -> None:
    """Forget the tombstones of the named nodes and of edges that met them."""
    graves = tombstones(meta)
    for grave in [grave for grave in graves if any(_mentions(grave, name) for name in names)]:
        del graves[grave]


def _mentions(grave: str, name: str) -> bool:
    edge = grave.partition(":")[2]
    return grave == entry_key("node", name) or edge.startswith(f"{name}->") or f"->{name}:" in edge


def content_changed(change: Change) -> bool:
    """Whether a change touches what people wrote; tiers, stamps and read times are not content."""
    return _content(change.before) != _content(change.after)


def _content(record: Any) -> dict[str, Any] | None:
    if record is None:
        return None
    return {field: value for field, value in record.items() if not field.startswith("_")}


def changed_since(meta: dict[str, Any], since: float, session: str) -> Iterable[tuple[str, Version]]:
    """Entries that sessions other than `session` wrote after `since`, oldest first."""
    found = [
        (name, version)
        for name, version in versions(meta).items()
        if version.get("ts", 0.0) > since and version.get("session") != session
    ]
    return sorted(found, key=lambda item: (item[1].get("ts", 0.0), item[0]))
