"""What a write is told on the way: gists and ids that could be better, a likely duplicate, a hub left unlinked."""

from __future__ import annotations

from collections.abc import Sequence

from kg_server.graph import limits, names
from kg_server.graph.graph import Graph
from kg_server.graph.model import Node, other_end
from kg_server.graph.query import Term, query_terms

DUPLICATE_TERMS, DUPLICATE_HOLDERS = 8, 600
"""How many of the node's rarest terms are asked, and how many nodes that hold them in all."""
DUPLICATE_RATIO = 0.5
DUPLICATE_NODES = 10
HUB_TERM_LETTERS = 5
HUB_HOLDERS = 6
HUB_NAMED = 8
"""A word that more ids have is nobody's own."""
HUB_SHARE_MIN, HUB_SHARE_MAX = 0.08, 0.25


def node_hints(graph: Graph, node: Node, created: bool) -> list[str]:
    """Hints for a node as it stands after its write."""
    hints = [gist_hint(node)]
    if created:
        terms = query_terms(f"{node['id']} {node['gist']}")
        hints += [id_hint(node["id"]), duplicate_hint(graph, node, terms) or hub_hint(graph, node, terms)]
    return [hint for hint in hints if hint]


def gist_hint(node: Node) -> str:
    """A long gist is read less."""
    size = len(node["gist"])
    if size <= limits.GIST_SOFT_CHARACTERS:
        return ""
    return f"The gist has {size} characters; one sentence under {limits.GIST_SOFT_CHARACTERS} is read more often."


def id_hint(name: str) -> str:
    """A dated or long id is hard to find and to link."""
    if names.has_date(name):
        return "The id holds a date: name the lesson, and keep the date in a note."
    if names.id_words(name) == limits.ID_MAX_WORDS:
        return "The id has six words; two to four are easier to find and to link."
    return ""


def duplicate_hint(graph: Graph, node: Node, terms: Sequence[Term]) -> str:
    """Another node that answers the new one's own words at least half as well as it does itself.

    Asked of the index with the rarest terms of the new node alone, so that it costs the same in any graph.
    """
    if len(graph.nodes) <= DUPLICATE_NODES:
        return ""
    rarest = graph.index.rarest(terms, DUPLICATE_TERMS, DUPLICATE_HOLDERS)
    hits = graph.index.rank(rarest, 4, without=graph.in_tier("retired"), kin=False)
    own = next((hit.score for hit in hits if hit.id == node["id"]), 0.0)
    near = next((hit for hit in hits if hit.id != node["id"]), None)
    if near is None or len(near.matched) < 2 or near.score < DUPLICATE_RATIO * own:
        return ""
    return (
        f"It resembles '{near.id}': {graph.nodes[near.id]['gist'][:160]} "
        "If that is the same lesson, correct that node and delete this one; else link the two."
    )


def hub_hint(graph: Graph, node: Node, terms: Sequence[Term]) -> str:
    """A node that owns a word which many use, and that the new node mentions without a link."""
    linked = {other_end(edge, node["id"]) for edge in graph.adjacency.of(node["id"])}
    size = len(graph.nodes)
    low, high = max(HUB_HOLDERS, HUB_SHARE_MIN * size), HUB_SHARE_MAX * size
    for term in terms:
        if not term.evidence or len(term.text) < HUB_TERM_LETTERS or not low <= graph.index.holders(term.text) <= high:
            continue
        for hub in graph.index.named(term.text, HUB_NAMED):
            if hub != node["id"] and hub not in linked and not names.has_date(hub):
                return f"It mentions '{hub}', a node of its own: link the two with kg_put_edge if they belong together."
    return ""
