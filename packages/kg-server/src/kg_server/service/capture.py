"""Capture: when a session works out again what another one did already, it is asked to write the lesson down."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from kg_server.graph import limits
from kg_server.graph.graph import Graph
from kg_server.graph.mentions import name_terms, names_file, names_page
from kg_server.graph.model import Node
from kg_server.graph.names import one_line
from kg_server.graph.query import query
from kg_server.graph.secrets import secret_kind
from kg_server.graph.terms import looks_secret, words
from kg_server.graph.units import Limit
from kg_server.plugins.records import WebLookup
from kg_server.service.context import Context
from kg_server.service.injection import neutral
from kg_server.service.places import Place
from kg_server.service.sessions import Session
from kg_server.service.tool_events import Target

_LONGEST = 4_096
"""Longer addresses and questions are not read to their end; none of that length is counted."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a tool asked for, in the form it is counted: a file (`read`), a page (`web`) or a search."""

    kind: str
    name: str
    place: Place | None = None

    @property
    def key(self) -> str:
        """The key in `tool_events.json`."""
        return f"{self.kind}:{self.name}"

    def repeated(self, counted: Target) -> bool:
        """Whether it was worked out again: a file by a second session, anything else a second time."""
        return len(counted.sessions) > 1 if self.kind == "read" else counted.count > 1


def nudge(context: Context, session: Session, read: Sequence[Place], lookups: Sequence[WebLookup], limit: Limit) -> str:
    """Count what a tool asked for; one sentence when it was asked for before and no node says what came of it."""
    if not session.slug or session.maintenance:
        return ""
    key, root = context.key(session, "project"), session.project_path
    said = ""
    for asked in [*_files(context, read, root), *_web(lookups)]:
        counted = context.tool_events.count(key, root, asked.key, session.id)
        if said or not session.full_read_ts or not asked.repeated(counted):
            continue
        if context.tool_events.may_nudge(key, root, counted, session.id) and not _covered(context, session, asked):
            text = _text(asked)
            if limit.fits(text):
                context.tool_events.nudged(key, root, asked.key, session.id)
                said = text
    return said


def _files(context: Context, read: Iterable[Place], root: str) -> Iterator[Asked]:
    for place in read:
        passing = context.places.passing(place, root, context.plugins.transient_paths)
        if not passing and _may_be_kept(place.shown):
            yield Asked("read", place.shown, place)


def _web(lookups: Sequence[WebLookup]) -> Iterator[Asked]:
    for one in lookups[: limits.FILES_OF_A_CALL]:
        text = plain_url(one.target) if one.kind == "fetch" else _one_line(one.target)
        if _may_be_kept(text):
            if one.kind == "fetch":
                yield Asked("web", text)
            elif query(text).evidence:
                yield Asked("search", text.casefold())


def _may_be_kept(name: str) -> bool:
    """Whether a name may stand in a file: of bounded length, and nothing in it looks like a key."""
    if not 0 < len(name) <= limits.CAPTURE_TARGET_CHARACTERS or secret_kind(name):
        return False
    return not any(looks_secret(term) for token in words(name) for term in token)


def plain_url(url: str) -> str:
    """Scheme, host, port and path: no user info, no query, no fragment. Empty for what is no web address."""
    try:
        parts = urlsplit(_one_line(url))
        port = f":{parts.port}" if parts.port else ""
        host = parts.hostname or ""
    except ValueError:
        return ""
    if parts.scheme not in ("http", "https") or not host:
        return ""
    host = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{host}{port}{parts.path or '/'}"


def _one_line(text: str) -> str:
    return one_line(text[:_LONGEST].encode("utf-8", "replace").decode("utf-8"))


def _covered(context: Context, session: Session, asked: Asked) -> bool:
    """Whether a node of the session's graphs says something on it; a retired one counts, as a person took it away."""
    with context.memory.lock:
        return any(_covers(graph, asked) for graph in context.graphs(session))


def _covers(graph: Graph, asked: Asked) -> bool:
    if asked.kind == "search":
        return bool(graph.index.holding(query(asked.name).evidence))
    if asked.place is None:
        address = urlsplit(asked.name)
        terms = [term for token in words(address.netloc) for term in token[1:] or token]
        return any(names_page(text, asked.name) for text in _texts(graph, graph.index.holding(terms)))
    keys = asked.place.known_to(graph)
    if graph.touches.nodes(keys, asked.place.fold) or any(graph.adjacency.degree(end) for end in (asked.name, *keys)):
        return True
    holding = graph.index.holding(name_terms(asked.name))
    return any(names_file(text, asked.name) for text in _texts(graph, holding))


def _texts(graph: Graph, names: Iterable[str]) -> Iterator[str]:
    for name in names:
        node: Node = graph.nodes[name]
        yield node["gist"]
        yield from node.get("notes", ())
        yield from node.get("touches", ())


def _text(asked: Asked) -> str:
    name = neutral(one_line(asked.name))
    said = {
        "read": f"{name} was read in an earlier session too, and no lesson names it",
        "web": f"{name} was fetched before, and no lesson names it",
        "search": f'"{name}" was searched for before, and no lesson answers it',
    }[asked.kind]
    touches = f', touches ["{name}"]' if asked.kind == "read" else ""
    bottom_line = "If it taught you what will hold, write the bottom line in one sentence"
    return f"Memory: {said}. {bottom_line}: kg_put_node{touches}."
