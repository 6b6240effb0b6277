"""Records as a file has them: made usable where that changes no meaning, refused by name where it would."""

from __future__ import annotations

import json
from typing import Any, cast

import orjson

from kg_server.graph.healing import heal
from kg_server.graph.model import Edge, Node
from kg_server.graph.names import one_line

_LISTS = ("notes", "touches")
_TIMES = ("_created_ts", "_last_read_ts", "_orphaned_ts")
_COUNT_MAX = 2**53
"""No count of ours comes near; beyond it a number is not the same in every program."""
_STAMPS = ("_useful_ts", "_credited_ts", "_recurrence_ts", "_gist_ts")


def parse(data: bytes) -> Any:
    """The JSON in `data`; ValueError when there is none. A byte order mark and halves of characters are forgiven."""
    try:
        return orjson.loads(data)
    except ValueError:
        try:
            content = json.loads(data)
        except RecursionError:
            raise ValueError("the file is nested too deeply") from None
        return orjson.loads(json.dumps(content, ensure_ascii=False).encode("utf-8", "replace"))


def node_from(key: str, value: Any) -> Node:
    """The node stored under `key`; its id and gist are one line, stamps that are none are left out."""
    if not isinstance(value, dict) or not isinstance(value.get("gist", ""), str):
        raise ValueError(f"node {one_line(key)} is not a node")
    gist, leaked = heal(value.get("gist", ""))
    fields: dict[str, Any] = {"id": one_line(key), "gist": one_line(gist)}
    if leaked and not value.get("notes"):
        fields["notes"] = leaked
    record = {**value, **fields}
    _check_lists(f"node {one_line(key)}", record)
    for field in [field for field in record if field.startswith("_") and not _is_usable(field, record[field])]:
        del record[field]
    return cast(Node, value if record == value else record)


def edge_from(key: str, value: Any) -> Edge:
    """The edge stored under `key`, each of its names on one line."""
    names = ("from", "to", "rel")
    if not isinstance(value, dict) or not all(isinstance(value.get(name), str) for name in names):
        raise ValueError(f"edge {one_line(key)} is not an edge")
    record = {**value, **{name: one_line(value[name]) for name in names}}
    _check_lists(f"edge {one_line(key)}", record)
    if "_written" in record and not _is_usable("_written", record["_written"]):
        del record["_written"]
    return cast(Edge, value if record == value else record)


def meta_from(value: Any) -> dict[str, Any]:
    """A graph's `_meta`; versions, tombstones and a list of settling nodes that are none are left out."""
    if not isinstance(value, dict) or not isinstance(value.get("seq", 0), int) or value.get("seq", 0) > _COUNT_MAX:
        raise ValueError("_meta is not a JSON object with a whole number seq")
    if not _is_texts(value.get("settling", [])):
        del value["settling"]
    for part in ("versions", "tombstones"):
        if part in value:
            entries = value[part].items() if isinstance(value[part], dict) else ()
            value[part] = {name: entry for name, entry in entries if _is_stamped(entry)}
    return value


def _check_lists(what: str, record: dict[str, Any]) -> None:
    for field in _LISTS:
        texts = record.get(field, [])
        if texts is None:
            del record[field]
        elif not _is_texts(texts):
            raise ValueError(f"{field} of {what} is not a list of texts")


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


def _is_usable(field: str, value: Any) -> bool:
    if field in _TIMES:
        return isinstance(value, int | float)
    if field in _STAMPS:
        return isinstance(value, list) and all(isinstance(stamp, int | float) for stamp in value)
    return field != "_written" or _is_stamped(value)


def _is_stamped(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(value.get(name, 0), int | float) and value.get(name, 0) <= _COUNT_MAX
        for name in ("ts", "v", "used_ts")
    )
