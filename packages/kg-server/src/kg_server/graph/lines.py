"""The lines of a rendered level. Renderer and charge build these same lines, so they cannot disagree."""

from __future__ import annotations

from kg_server.graph import limits
from kg_server.graph.model import Edge, Level, Node

ACTIVE_HEADING = "ACTIVE:"
ARCHIVED_HEADING = "ARCHIVED (ids only; kg_read with an id shows one and brings it back):"

CITATION_FRAME = len("    →  → ")


def heading(level: Level, active: int, archived: int) -> str:
    """First line of a level."""
    return f"=== {level.upper()} GRAPH — {active} active, {archived} archived ==="


def shown_gist(node: Node) -> str:
    """The gist as shown: one that is over the cap (an older store) is cut and says how to read it whole."""
    gist = node["gist"]
    if len(gist) <= limits.GIST_MAX_CHARACTERS:
        return gist
    return cut_gist(node, limits.GIST_MAX_CHARACTERS)


def cut_gist(node: Node, size: int) -> str:
    """The gist within `size` characters; a cut one ends with how to read it whole."""
    gist = node["gist"]
    if len(gist) <= size:
        return gist
    tail = f"… (kg_read {node['id']})"
    return gist[: max(0, size - len(tail))] + tail


def is_cut(node: Node) -> bool:
    """Whether `shown_gist` shows less than the whole gist (a cut text does not count as seen)."""
    return len(node["gist"]) > limits.GIST_MAX_CHARACTERS


def active_line(node: Node) -> str:
    """Line of an active node."""
    lock = " (locked)" if node.get("locked") else ""
    return f"  {node['id']}{lock}: {shown_gist(node)}"


def preloaded_line(node: Node) -> str:
    """Line of an active node whose gist the session has from its preload."""
    return f"  {node['id']} (preloaded)"


def archived_line(name: str) -> str:
    """Line of an archived node."""
    return f"  {name}"


def citation(edge: Edge, under: str) -> str:
    """Line of a live edge below the endpoint `under`."""
    if edge["from"] == under:
        return f"    → {edge['rel']} → {edge['to']}"
    return f"    ← {edge['rel']} ← {edge['from']}"


def citation_length(edge: Edge, under: str) -> int:
    """Length of `citation`, without building it."""
    return CITATION_FRAME + len(edge["rel"]) + len(edge["to"] if edge["from"] == under else edge["from"])


def note_item(note: str, indent: str = "    ") -> str:
    """A note as an item of a list; its further lines stand below the first, so that none passes for another line."""
    return f"{indent}- " + f"\n{indent}  ".join(note.splitlines())


def connection(edge: Edge) -> str:
    """An edge in full, for node blocks, search and recall."""
    return f"{edge['from']} --{edge['rel']}--> {edge['to']}"
