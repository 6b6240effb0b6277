"""What is asked of the memory: a text, as weighted terms and as runs of letters."""

from __future__ import annotations

from dataclasses import dataclass

from kg_server.graph.likeness import runs
from kg_server.graph.terms import is_stop_word, looks_secret, words

STOP_WEIGHT = 0.4
TERMS_MAX = 64


@dataclass(frozen=True, slots=True)
class Term:
    """One term of a query. Only a term with `evidence` can carry the decision to speak."""

    text: str
    weight: float = 1.0
    evidence: bool = True


@dataclass(frozen=True, slots=True)
class Query:
    """The distinct terms of a text in their order, and its runs of letters."""

    terms: tuple[Term, ...]
    runs: tuple[str, ...]

    @property
    def evidence(self) -> list[str]:
        """The terms that say what the text is about."""
        return [term.text for term in self.terms if term.evidence]


def query(text: str) -> Query:
    """Read a text as a query: at most 64 terms; secret-shaped ones are dropped."""
    return Query(tuple(query_terms(text)), runs(text))


def query_terms(text: str, most: int = TERMS_MAX) -> list[Term]:
    """The distinct terms of a text, in order, at most `most`; secret-shaped ones are dropped."""
    found: dict[str, Term] = {}
    for token in words(text):
        for term in token:
            if term not in found and not looks_secret(term):
                stop = is_stop_word(term)
                found[term] = Term(term, STOP_WEIGHT if stop else 1.0, not stop)
        if len(found) >= most:
            break
    return list(found.values())[:most]
