"""When recall speaks: the gates between what search finds and what a prompt is told.

A hit passes when it scores high enough (the score gate, stricter for a prompt of several words and for one that talks
mostly of what the memory never heard of) and rests on more than one common word (the evidence gate); then the hits far
below the best are cut. Whether the session has seen the hits already is asked by its caller.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from unicodedata import east_asian_width, normalize

from kg_server.graph import limits
from kg_server.graph.directives import only_directive
from kg_server.graph.graph import Graph
from kg_server.graph.letters import word_class
from kg_server.graph.model import tier
from kg_server.graph.query import Query
from kg_server.graph.search import Found, search
from kg_server.graph.terms import is_stop_word


@dataclass(frozen=True, slots=True)
class Gates:
    """The parameters of the gates; the defaults are those in use, tuned on outside data (benchmarks/recall.py)."""

    score_min: float = 0.82
    several_terms_more: float = 0.2
    unknown_terms_more: float = 0.5
    """Times the share of the prompt's terms that no node holds."""
    matched_weight: float = 0.15
    """What each distinct matched term adds to a hit's score, for the score gate alone."""
    nearly_unique: float = 0.85
    relative_cut: float = 0.86
    other_part_cut: float = 0.7
    """A hit further below the best stays when it answers another part of the prompt: so many terms no better has."""
    other_part_terms: int = 2
    hits: int = limits.RECALL_HITS


GATES = Gates()
CANDIDATES = 8
_JOINT = re.compile(r"\w[.-]\w")
_END = "._-"


def says_enough(typed: str, asked: Query) -> bool:
    """Whether a text is long enough and says more than what to do next."""
    return columns(typed) >= limits.TYPED_MIN_COLUMNS and not only_directive(asked.evidence)


def columns(text: str) -> int:
    """Width of a text as it stands on a screen: wide characters count two, blanks none."""
    return sum(2 if east_asian_width(c) in "WF" else 1 for c in text if not c.isspace())


def named(graphs: Sequence[Graph], typed: str, any_id: bool) -> Iterator[tuple[Graph, str]]:
    """Nodes whose id stands in a text in full; an id of one word only when `any_id`, for it may be just a word."""
    words = dict.fromkeys(word.strip(_END) for word in _id_like(typed.isascii()).findall(normalize("NFC", typed)))
    for word in words:
        if (any_id and not is_stop_word(word.lower()) and len(word) > 1) or _JOINT.search(word):
            for graph in graphs:
                if word in graph.nodes and tier(graph.nodes[word]) != "retired":
                    yield graph, word


@cache
def _id_like(ascii_only: bool) -> re.Pattern[str]:
    letter = r"\w" if ascii_only else word_class() + "\u200c\u200d"
    return re.compile(rf"[{letter}.-]+")


def passing(graphs: Sequence[Graph], asked: Query, ranked: Sequence[Found], gates: Gates = GATES) -> list[Found]:
    """The hits of `ranked` (best first) that pass the gates, at most four: those named by the prompt first."""
    needed = required(graphs, asked, gates)
    passed = [one for one in ranked if has_evidence(one, gates) and weight(one, gates) >= needed]
    if not passed:
        return []
    kept: list[Found] = []
    answered: set[str] = set()
    for one in passed:
        further = len(set(one.hit.matched) - answered) >= gates.other_part_terms
        if one.score >= (gates.other_part_cut if further else gates.relative_cut) * passed[0].score:
            kept.append(one)
            answered.update(one.hit.matched)
    return sorted(kept[: gates.hits], key=lambda one: (not one.hit.titled, -one.score))


def candidates(graphs: Sequence[Graph], asked: Query) -> list[Found]:
    """What the gates look at: the best hits of a prompt."""
    return search(graphs, asked, CANDIDATES)


def required(graphs: Sequence[Graph], asked: Query, gates: Gates = GATES) -> float:
    """The weight that a hit must reach at this prompt."""
    terms = asked.evidence
    if not terms:
        return gates.score_min
    unknown = sum(1 for term in terms if not any(graph.index.holders(term) for graph in graphs))
    several = gates.several_terms_more if len(terms) > 1 else 0.0
    return gates.score_min + several + gates.unknown_terms_more * unknown / len(terms)


def weight(one: Found, gates: Gates = GATES) -> float:
    """A hit's score, and a little for each distinct term it matches."""
    return one.score + gates.matched_weight * len(one.hit.matched)


def has_evidence(one: Found, gates: Gates = GATES) -> bool:
    """Two terms, one nearly unique, or one in the node's own id or gist: never one common word in someone's notes."""
    return len(one.hit.matched) >= 2 or one.hit.rarest >= gates.nearly_unique or bool(one.hit.titled)
