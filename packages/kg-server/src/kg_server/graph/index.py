"""The inverted index of a graph: which nodes hold a term, how strongly, kept with every node write."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass

from kg_server.graph.model import Node
from kg_server.graph.postings import Postings
from kg_server.graph.query import Term
from kg_server.graph.synonyms import synonyms
from kg_server.graph.terms import terms
from kg_server.graph.topmost import TermGroup, topmost
from kg_server.graph.vocabulary import Vocabulary

ID_WEIGHT, GIST_WEIGHT, NOTE_WEIGHT, TOUCH_WEIGHT = 5.0, 2.0, 1.0, 1.0
SATURATION = 2.5
"""The strength at which a term has earned half of its weight."""
GIST_LENGTH, GIST_LENGTH_SHARE = 20, 0.7
NOTES_LENGTH, NOTES_LENGTH_SHARE = 60, 0.6
"""Common lengths in terms, and how much a longer text dilutes its terms. Fixed, so that a write changes one node."""
SYNONYM_WEIGHT = 0.6
RELATIVE_WEIGHT = 0.7
RARITY_POWER = 0.9


@dataclass(frozen=True, slots=True)
class Hit:
    """A node that a query found. `matched` are its evidence terms, `titled` those of them in its id or gist."""

    id: str
    score: float
    matched: tuple[str, ...]
    titled: tuple[str, ...]
    rarest: float


class SearchIndex:
    """Postings by term. `rank` walks only the postings that can bring a node among the best."""

    __slots__ = ("_free", "_named", "_names", "_postings", "_slots", "_terms", "_vocabulary")

    def __init__(self) -> None:
        self._postings: dict[str, Postings] = {}
        self._vocabulary = Vocabulary()
        self._slots: dict[str, int] = {}
        self._names: list[str] = []
        self._terms: list[tuple[str, ...]] = []
        self._free: list[int] = []
        self._named: dict[str, set[str]] = {}

    def __len__(self) -> int:
        return len(self._slots)

    def put(self, name: str, node: Node) -> None:
        """Index a node, or index it anew."""
        strengths, titled = _strengths(name, node)
        slot = self._slots.get(name)
        if slot is None:
            slot = self._take_slot(name)
        for term in self._terms[slot]:
            if term not in strengths:
                self._drop(term, slot)
        for term, strength in strengths.items():
            postings = self._postings.get(term)
            if postings is None:
                postings = self._postings[term] = Postings()
                self._vocabulary.add(term)
            postings.put(slot, strength / (strength + SATURATION), term in titled)
        self._terms[slot] = tuple(strengths)

    def remove(self, name: str) -> None:
        """Forget a node."""
        slot = self._slots.pop(name, None)
        if slot is None:
            return
        for term in self._terms[slot]:
            self._drop(term, slot)
        self._terms[slot] = ()
        self._free.append(slot)
        for term in _id_terms(name):
            self._named[term].discard(name)
            if not self._named[term]:
                del self._named[term]

    def holders(self, term: str) -> int:
        """How many nodes hold a term."""
        postings = self._postings.get(term)
        return 0 if postings is None else len(postings)

    def named(self, term: str, most: int = 100) -> list[str]:
        """Nodes that have the term in their id, by id; none where they are more than `most`."""
        found = self._named.get(term, ())
        return sorted(found) if len(found) <= most else []

    def holding(self, terms: Iterable[str]) -> list[str]:
        """Nodes that hold every one of the terms; none where there are no terms."""
        postings = [self._postings.get(term) for term in set(terms)]
        known = sorted((one for one in postings if one is not None), key=len)
        if not known or len(known) < len(postings):
            return []
        shortest, *others = known
        return [self._names[slot] for slot in shortest.slots if all(one.standing(slot) is not None for one in others)]

    def rarest(self, terms: Iterable[Term], most: int, holders: int) -> list[Term]:
        """The evidence terms among `terms` that the fewest nodes hold: at most `most`, and `holders` nodes in all.

        Two are always among them, if there are two: a question that walks few postings in a graph of any size.
        """
        known = [term for term in terms if term.evidence and term.text in self._postings]
        chosen: list[Term] = []
        for term in sorted(known, key=lambda term: (len(self._postings[term.text]), term.text))[:most]:
            holders -= len(self._postings[term.text])
            if holders < 0 and len(chosen) >= 2:
                break
            chosen.append(term)
        return chosen

    def rank(
        self,
        terms: Sequence[Term],
        most: int,
        rarity: Callable[[str], float] | None = None,
        without: Iterable[str] = (),
        *,
        kin: bool = True,
    ) -> list[Hit]:
        """The `most` best nodes that hold a term or a relative of one, best first; equal scores stand by id.

        `rarity` weighs the terms, by default as they stand in this index; nodes named in `without` are left out.
        Without `kin` only the terms themselves count, no synonyms and no words that begin alike.
        """
        rarity = rarity or Rarity([self])
        asked = {term.text for term in terms}
        groups = [group for term in terms if (group := self._group(term, rarity, asked, kin))]
        hidden = [self._slots[name] for name in without if name in self._slots]
        found = topmost(groups, most, hidden, self._names)
        evidence = [(term.text, rarity(term.text)) for term in terms if term.evidence and term.text in self._postings]
        return [self._hit(slot, score, evidence) for slot, score in found]

    def _group(self, term: Term, rarity: Callable[[str], float], asked: Set[str], kin: bool) -> TermGroup:
        """The postings that answer one term: its own, and less those of synonyms and of words that begin alike."""
        members = [(term.text, term.weight)]
        if kin and term.evidence:
            members += [(other, SYNONYM_WEIGHT) for other in synonyms(term.text) if other not in asked]
            members += [
                (other, RELATIVE_WEIGHT * likeness)
                for other, likeness in self._vocabulary.relatives(term.text)
                if other not in asked
            ]
        group: TermGroup = []
        for text, weight in members:
            postings = self._postings.get(text)
            if postings is not None and (factor := weight * rarity(text)) > 0:
                group.append((factor, postings))
        return group

    def _hit(self, slot: int, score: float, evidence: Sequence[tuple[str, float]]) -> Hit:
        standing = [(text, rare, self._postings[text].standing(slot)) for text, rare in evidence]
        held = [(text, rare, titled) for text, rare, titled in standing if titled is not None and rare > 0]
        return Hit(
            self._names[slot],
            score,
            tuple(text for text, _, _ in held),
            tuple(text for text, _, titled in held if titled),
            max((rare for _, rare, _ in held), default=0.0),
        )

    def _take_slot(self, name: str) -> int:
        if self._free:
            slot = self._free.pop()
            self._names[slot] = name
        else:
            slot = len(self._names)
            self._names.append(name)
            self._terms.append(())
        self._slots[name] = slot
        for term in _id_terms(name):
            self._named.setdefault(term, set()).add(name)
        return slot

    def _drop(self, term: str, slot: int) -> None:
        postings = self._postings[term]
        postings.drop(slot)
        if not postings:
            del self._postings[term]
            self._vocabulary.discard(term)


class Rarity:
    """How much a term tells, from 1 (in one node) to nearly 0 (in every one), the same in a small and in a large graph.

    Of several indexes that are asked together, a term's rarity is that in all of their nodes.
    """

    __slots__ = ("_indexes", "_known", "_nodes")

    def __init__(self, indexes: Sequence[SearchIndex]) -> None:
        self._indexes = indexes
        self._nodes = sum(len(index) for index in indexes)
        self._known: dict[str, float] = {}

    def __call__(self, term: str) -> float:
        """(1 - log(holders) / log(nodes + 1)) ** 0.9; 0 for an unknown term."""
        known = self._known.get(term)
        if known is None:
            known = self._known[term] = self._of(sum(index.holders(term) for index in self._indexes))
        return known

    def _of(self, holders: int) -> float:
        if not holders:
            return 0.0
        return float(max(0.0, 1.0 - math.log(holders) / math.log(self._nodes + 1)) ** RARITY_POWER)


def _id_terms(name: str) -> set[str]:
    return set(terms(name))


def _strengths(name: str, node: Node) -> tuple[dict[str, float], frozenset[str]]:
    strengths: dict[str, float] = {}
    _count(strengths, [name], ID_WEIGHT, 0, 0.0)
    _count(strengths, [node["gist"]], GIST_WEIGHT, GIST_LENGTH, GIST_LENGTH_SHARE)
    titled = frozenset(strengths)
    _count(strengths, node.get("notes", ()), NOTE_WEIGHT, NOTES_LENGTH, NOTES_LENGTH_SHARE)
    _count(strengths, node.get("touches", ()), TOUCH_WEIGHT, 0, 0.0)
    return strengths, titled


def _count(strengths: dict[str, float], texts: Iterable[str], weight: float, length: int, share: float) -> None:
    """Add a field's terms; of a field longer than its common `length` each counts less."""
    found = [term for text in texts for term in terms(text)]
    if share:
        weight /= 1 - share + share * len(found) / length
    for term in found:
        strengths[term] = strengths.get(term, 0.0) + weight
