"""New and changed records from what a caller sends: checked, folded, merged with what stands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from kg_server.graph import limits, names
from kg_server.graph.errors import InvalidEntry
from kg_server.graph.healing import heal
from kg_server.graph.model import Edge, Node, with_tier
from kg_server.graph.secrets import refuse_secret


def merged_node(
    before: Node | None,
    name: str,
    gist: str,
    notes: Sequence[str] | None,
    touches: Sequence[str] | None,
) -> Node:
    """The node's content after a put: omitted lists stay, sent ones replace; an empty list removes the field."""
    node = cast(Node, dict(before or {}))
    node["id"] = name
    gist, leaked = heal(gist)
    notes = leaked if notes is None and leaked else notes
    node["gist"] = checked_gist(gist)
    if notes is not None:
        _set_list(node, "notes", checked_notes(notes))
    if touches is not None:
        _set_list(node, "touches", checked_touches(touches))
    return node


def written(node: Node, before: Node | None, now: float, session: str, *, upkeep: bool = False) -> Node:
    """`node` as a write of `session` stores it: active, with the stamps of this write.

    A maintenance session's rewrite (`upkeep`) leaves the tier, and who the author is, as they were.
    """
    stored = cast(Node, dict(node)) if upkeep and before is not None else with_tier(node, "active")
    author = (before or {}).get("_written", {}).get("author", session) if upkeep else session
    stored["_created_ts"] = (before or {}).get("_created_ts", now)
    stored["_written"] = {"ts": now, "by": session, "author": author}
    if before is not None and before["gist"] != node["gist"]:
        stored["_gist_ts"] = [*before.get("_gist_ts", []), now][-limits.GIST_CHANGES_KEPT :]
    return stored


def merged_edge(before: Edge | None, source: str, rel: str, target: str, notes: Sequence[str] | None) -> Edge:
    """The edge's content after a put."""
    edge = cast(Edge, {**(before or {}), "from": source, "to": target, "rel": rel})
    if notes is not None:
        _set_list(edge, "notes", checked_notes(notes))
    return edge


def checked_gist(text: str) -> str:
    """One line of at most 1,000 characters that is no secret, or InvalidEntry."""
    gist = names.one_line(_printable(text, "gist"))
    if not gist:
        raise InvalidEntry("gist is empty: say the lesson in one sentence")
    if len(gist) > limits.GIST_MAX_CHARACTERS:
        raise InvalidEntry(
            f"gist has {len(gist)} characters; at most {limits.GIST_MAX_CHARACTERS} "
            f"(aim for {limits.GIST_SOFT_CHARACTERS}): keep the point, move the details to notes"
        )
    refuse_secret(gist, "gist")
    return gist


def checked_notes(notes: Sequence[str]) -> list[str]:
    """The notes as stored, or InvalidEntry that names the one that breaks a rule."""
    if len(notes) > limits.NOTES_MAX:
        raise InvalidEntry(f"notes has {len(notes)} entries; at most {limits.NOTES_MAX}")
    checked = []
    for number, note in enumerate(notes, start=1):
        field = f"note {number}"
        if len(note) > limits.NOTE_MAX_CHARACTERS:
            raise InvalidEntry(
                f"{field} has {len(note)} characters; at most {limits.NOTE_MAX_CHARACTERS}: split or shorten it"
            )
        refuse_secret(_printable(note, field), field)
        if note.strip():
            checked.append(note.strip())
    return checked


def checked_touches(touches: Sequence[str]) -> list[str]:
    """The file references as stored, or InvalidEntry."""
    if len(touches) > limits.TOUCHES_MAX:
        raise InvalidEntry(f"touches has {len(touches)} entries; at most {limits.TOUCHES_MAX}")
    checked = []
    for number, touch in enumerate(touches, start=1):
        field = f"touch {number}"
        if len(touch) > limits.TOUCH_MAX_CHARACTERS:
            raise InvalidEntry(f"{field} has {len(touch)} characters; at most {limits.TOUCH_MAX_CHARACTERS}")
        refuse_secret(_printable(touch, field), field)
        if "\0" in touch:
            raise InvalidEntry(f"{field} holds a NUL character; write the path as plain text")
        if folded := names.one_line(touch):
            checked.append(folded)
    return checked


def same_content(before: Node | Edge | None, after: Node | Edge) -> bool:
    """Whether a put changes nothing that people wrote."""
    return before is not None and _content(before) == _content(after)


def _content(record: Node | Edge) -> dict[str, Any]:
    return {field: value for field, value in record.items() if not field.startswith("_") and value not in ([], None)}


def _set_list(record: Any, field: str, values: list[str]) -> None:
    if values:
        record[field] = values
    else:
        record.pop(field, None)


def _printable(text: str, field: str) -> str:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise InvalidEntry(f"{field} holds half a character (a lone surrogate); send the text again whole") from None
    return text
