"""What is added to a tool's result: lessons on the files it touched, then a nudge to write one down."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kg_server.graph import limits
from kg_server.graph.units import Limit, measure
from kg_server.plugins.records import FileTouch, WebLookup
from kg_server.service.capture import nudge
from kg_server.service.context import Context
from kg_server.service.file_recall import file_recall
from kg_server.service.places import Place
from kg_server.service.sessions import Session

BETWEEN = "\n\n"
_LOOKED_AT = 8 * limits.FILES_OF_A_CALL
"""So many files of a call are looked for; at most eight of those that are there take part."""


def after_tool(
    context: Context, session: Session, touches: Sequence[FileTouch], lookups: Sequence[WebLookup], limit: Limit
) -> str:
    """The text to add to a tool's result, within `limit`; empty for silence."""
    root = session.project_path if session.slug else ""
    found = [(one, context.places.of(one.path, one.folder, root)) for one in touches[:_LOOKED_AT]]
    found = [(one, place) for one, place in found if place is None or one.certain or place.is_file()]
    found = found[: limits.FILES_OF_A_CALL]
    places = _distinct(place for _, place in found if place)
    recalled = file_recall(context, session, places, limit) if found else ""
    read = _distinct(place for one, place in found if place and one.kind == "read" and one.counted)
    room = Limit(limit.size - measure(recalled + BETWEEN, limit.unit), limit.unit) if recalled else limit
    asked = nudge(context, session, read, lookups, room)
    return BETWEEN.join(text for text in (recalled, asked) if text)


def _distinct(places: Iterable[Place]) -> list[Place]:
    return list({place.path: place for place in places}.values())
