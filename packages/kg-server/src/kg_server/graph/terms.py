"""From text to terms: words of any script, the parts of compound ones, and a light stem."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import pairwise

from kg_server.graph.letters import word_class
from kg_server.graph.stems import fold, stem
from kg_server.graph.stopwords import STOP_WORDS

_JOINTS = "./_'’-"
_SPLIT = re.compile(rf"[{_JOINTS}]+")
_APOSTROPHE = re.compile(r"['’]")  # don't, it's: as common as their parts
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SECRET_MIN, _SECRET_FLIPS = 20, 4
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+"
)
"""Scripts that set no blank between words, and Hangul, whose words carry their particles with them."""
TEXT_MAX_CHARACTERS = 200_000
"""Beyond this a text is not indexed (an older store may hold a note of a megabyte)."""


def words(text: str) -> Iterator[tuple[str, ...]]:
    """The terms of each token of `text`, in order: the token whole, where it has parts, and its parts."""
    return map(_terms_of_any, _tokens(text))


def terms(text: str) -> list[str]:
    """All terms of a text, in order."""
    found: list[str] = []
    for token in _tokens(text):
        found += _terms_of_any(token)
    return found


def _tokens(text: str) -> list[str]:
    text = text[:TEXT_MAX_CHARACTERS]
    if text.isascii():
        return _token(True).findall(text)
    return _token(False).findall(unicodedata.normalize("NFKC", text))


def _terms_of_any(token: str) -> tuple[str, ...]:
    return _terms_of(token) if len(token) <= 64 else _terms_of.__wrapped__(token)  # long ones would fill the cache


def is_stop_word(term: str) -> bool:
    """Whether a term is too common in a language to say what a text is about."""
    return term in _stop_terms() or all(part in _stop_terms() for part in _APOSTROPHE.split(term))


def looks_secret(term: str) -> bool:
    """Whether a term has the shape of a key: a long mix of letters and digits."""
    if len(term) < _SECRET_MIN:
        return False
    kinds = [character.isdigit() for character in term if character.isalnum()]
    return sum(1 for left, right in pairwise(kinds) if left != right) >= _SECRET_FLIPS


@cache
def _token(ascii_only: bool) -> re.Pattern[str]:
    """Words with the joints between them."""
    word = r"\w+" if ascii_only else rf"\w[{word_class()}]*"
    return re.compile(rf"{word}(?:[{_JOINTS}]{word})*")


@lru_cache(maxsize=50_000)
def _terms_of(token: str) -> tuple[str, ...]:
    parts = [part for piece in _SPLIT.split(token) for part in _CAMEL.split(piece) if part]
    terms = [fold(token)] if len(parts) > 1 else []
    for part in parts:
        terms.extend(_terms_of_part(part))
    return tuple(term for term in dict.fromkeys(terms) if term)


def _terms_of_part(part: str) -> Iterator[str]:
    if part.isascii():
        yield stem(fold(part))
        return
    position = 0
    for run in _UNSPACED.finditer(part):
        if run.start() > position:
            yield stem(fold(part[position : run.start()]))
        yield from _pairs(run.group())
        position = run.end()
    if position < len(part):
        yield stem(fold(part[position:]))


def _pairs(run: str) -> list[str]:
    if len(run) == 1:
        return [run]
    return [run[i : i + 2] for i in range(len(run) - 1)]


@cache
def _stop_terms() -> frozenset[str]:
    folded = {fold(word) for word in STOP_WORDS}
    return frozenset(folded | {stem(word) for word in folded})
