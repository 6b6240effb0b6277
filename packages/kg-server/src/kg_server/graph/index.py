"""The inverted index of a graph: which nodes hold a term, how strongly, kept with every node write."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from kg_server.graph.model import Node
from kg_server.graph.terms import is_stop_word, looks_secret, words

ID_WEIGHT, GIST_WEIGHT, NOTE_WEIGHT, TOUCH_WEIGHT = 3.0, 2.0, 1.0, 1.0
PAIR_WEIGHT = 0.2
STOP_WEIGHT = 0.4
SATURATION = 1.2
LENGTH_SHARE = 0.4
"""How much a long text dilutes its terms (0 = not at all, 1 = in full)."""


@dataclass(frozen=True, slots=True)
class Term:
    """One term of a query. Only a term with `evidence` can carry the decision to speak."""

    text: str
    weight: float = 1.0
    evidence: bool = True


@dataclass(frozen=True, slots=True)
class Hit:
    """A node that a query found. `matched` are its evidence terms, `titled` those of them in its id or gist."""

    id: str
    score: float
    matched: tuple[str, ...]
    titled: tuple[str, ...]
    rarest: float


def query_terms(text: str, most: int = 64) -> list[Term]:
    """The distinct terms of a query, in order, at most `most` single ones; secret-shaped ones are dropped."""
    found: dict[str, Term] = {}
    pairs: dict[str, Term] = {}
    last = ""
    for token in words(text):
        for term in token:
            if term not in found and not looks_secret(term) and len(found) < most:
                stop = is_stop_word(term)
                found[term] = Term(term, STOP_WEIGHT if stop else 1.0, not stop)
        head = token[-1] if token and not looks_secret(token[-1]) else ""
        if last and head and last != head:
            pairs[f"{last} {head}"] = Term(f"{last} {head}", PAIR_WEIGHT, False)
        last = head
    return [*found.values(), *list(pairs.values())[:most]]


class SearchIndex:
    """Postings by term. `rank` walks only the postings of the query's terms."""

    __slots__ = ("_lengths", "_named", "_postings", "_terms_of", "_total")

    def __init__(self) -> None:
        self._postings: dict[str, dict[str, float]] = {}
        self._terms_of: dict[str, tuple[dict[str, float], frozenset[str]]] = {}
        self._lengths: dict[str, float] = {}
        self._named: dict[str, set[str]] = {}
        self._total = 0.0

    def __len__(self) -> int:
        return len(self._terms_of)

    def put(self, name: str, node: Node) -> None:
        """Index a node, or index it anew."""
        if name in self._terms_of:
            self.remove(name)
        strengths, titled = _strengths(name, node)
        self._terms_of[name] = (strengths, titled)
        length = sum(strengths.values())
        self._lengths[name] = length
        self._total += length
        for term, strength in strengths.items():
            self._postings.setdefault(term, {})[name] = strength
        for term in _id_terms(name):
            self._named.setdefault(term, set()).add(name)

    def remove(self, name: str) -> None:
        """Forget a node."""
        entry = self._terms_of.pop(name, None)
        if entry is None:
            return
        self._total -= self._lengths.pop(name)
        for term in entry[0]:
            postings = self._postings[term]
            del postings[name]
            if not postings:
                del self._postings[term]
        for term in _id_terms(name):
            self._named[term].discard(name)
            if not self._named[term]:
                del self._named[term]

    def holders(self, term: str) -> int:
        """How many nodes hold a term."""
        return len(self._postings.get(term, ()))

    def named(self, term: str) -> list[str]:
        """Nodes that have the term in their id."""
        return sorted(self._named.get(term, ()))

    def rarest(self, terms: Iterable[Term], most: int) -> list[Term]:
        """The evidence terms among `terms` that the fewest nodes hold: a question that walks few postings."""
        known = [term for term in terms if term.evidence and term.text in self._postings]
        return sorted(known, key=lambda term: (len(self._postings[term.text]), term.text))[:most]

    def rarity(self, term: str) -> float:
        """How much a term tells, 0 (in every node) to 1 (in one), the same in a small and in a large graph."""
        count, nodes = len(self._postings.get(term, ())), len(self._terms_of)
        if not count:
            return 0.0
        if nodes <= 1:
            return 1.0
        share = max(0.0, math.log(nodes / count) / math.log(nodes))
        return share * math.sqrt(share)

    def rank(self, terms: Iterable[Term]) -> list[Hit]:
        """Nodes that hold at least one of the terms, best first; equal scores stand by id."""
        scores: dict[str, float] = {}
        evidence: dict[str, list[tuple[str, float]]] = {}
        mean = self._total / max(1, len(self._terms_of))
        for term in terms:
            rarity = self.rarity(term.text)
            if not rarity:
                continue
            for name, strength in self._postings[term.text].items():
                damping = SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * self._lengths[name] / mean)
                scores[name] = scores.get(name, 0.0) + term.weight * rarity * strength / (strength + damping)
                if term.evidence:
                    evidence.setdefault(name, []).append((term.text, rarity))
        ranked = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
        return [self._hit(name, score, evidence.get(name, [])) for name, score in ranked]

    def _hit(self, name: str, score: float, evidence: list[tuple[str, float]]) -> Hit:
        titled = self._terms_of[name][1]
        matched = tuple(text for text, _ in evidence)
        rarest = max((rarity for _, rarity in evidence), default=0.0)
        return Hit(name, score, matched, tuple(text for text in matched if text in titled), rarest)


def _id_terms(name: str) -> set[str]:
    return {term for token in words(name) for term in token}


def _strengths(name: str, node: Node) -> tuple[dict[str, float], frozenset[str]]:
    strengths: dict[str, float] = {}
    _count(strengths, name, ID_WEIGHT)
    _count(strengths, node["gist"], GIST_WEIGHT)
    titled = frozenset(strengths)
    for note in node.get("notes", ()):
        _count(strengths, note, NOTE_WEIGHT)
    for touch in node.get("touches", ()):
        _count(strengths, touch, TOUCH_WEIGHT)
    return strengths, titled


def _count(strengths: dict[str, float], text: str, weight: float) -> None:
    last = ""
    for token in words(text):
        for term in token:
            strengths[term] = strengths.get(term, 0.0) + weight
        head = token[-1] if token else ""
        if last and head and last != head:
            pair = f"{last} {head}"
            strengths[pair] = strengths.get(pair, 0.0) + weight
        last = head
