"""From text to terms: words of any script, their parts, a light stem, and pairs of neighbours."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import pairwise

from kg_server.graph.stopwords import STOP_WORDS

_TOKEN = re.compile(r"\w+(?:[./_'’-]\w+)*")
_SPLIT = re.compile(r"[./_'’-]+")
_APOSTROPHE = re.compile(r"['’]")  # don't, it's: as common as their parts
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_PAIRED = re.compile(r"[\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+")
_SECRET_MIN, _SECRET_FLIPS = 20, 4
TEXT_MAX_CHARACTERS = 200_000
"""Beyond this a text is not indexed (an older store may hold a note of a megabyte)."""


def words(text: str) -> Iterator[list[str]]:
    """The terms of each token of `text`, in order: the token whole, where it has parts, and its parts."""
    for match in _TOKEN.finditer(unicodedata.normalize("NFC", text[:TEXT_MAX_CHARACTERS])):
        yield _terms_of_token(match.group())


def is_stop_word(term: str) -> bool:
    """Whether a term is too common in a language to say what a text is about."""
    return term in _stop_terms() or all(part in _stop_terms() for part in _APOSTROPHE.split(term))


def looks_secret(term: str) -> bool:
    """Whether a term has the shape of a key: a long mix of letters and digits."""
    if len(term) < _SECRET_MIN:
        return False
    kinds = [character.isdigit() for character in term if character.isalnum()]
    return sum(1 for left, right in pairwise(kinds) if left != right) >= _SECRET_FLIPS


@lru_cache(maxsize=50_000)
def _terms_of_token_cached(token: str) -> tuple[str, ...]:
    parts = [part for piece in _SPLIT.split(token) for part in _CAMEL.split(piece) if part]
    terms: list[str] = []
    if len(parts) > 1:
        terms.append(token.lower())
    for part in parts:
        terms.extend(_terms_of_part(part))
    return tuple(dict.fromkeys(terms))


def _terms_of_token(token: str) -> list[str]:
    if len(token) > 64:  # long tokens are rare and would fill the cache
        return list(_terms_of_token_cached.__wrapped__(token))
    return list(_terms_of_token_cached(token))


def _terms_of_part(part: str) -> Iterator[str]:
    position = 0
    for run in _PAIRED.finditer(part):
        if run.start() > position:
            yield stem(part[position : run.start()].lower())
        yield from _pairs(run.group())
        position = run.end()
    if position < len(part):
        yield stem(part[position:].lower())


def _pairs(run: str) -> list[str]:
    if len(run) == 1:
        return [run]
    return [run[i : i + 2] for i in range(len(run) - 1)]


@cache
def _stop_terms() -> frozenset[str]:
    return STOP_WORDS | {stem(word) for word in STOP_WORDS}


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """A light English stem (schedule, scheduled, scheduling → schedul); other words come back unchanged."""
    if len(word) < 4 or not word.isascii() or not word.isalpha():
        return word
    return _strip_e(_strip_suffix(word))


def _strip_suffix(word: str) -> str:
    for suffix, instead in (("ies", "y"), ("sses", "ss"), ("ing", ""), ("edly", ""), ("ed", ""), ("ly", "")):
        if word.endswith(suffix):
            rest = word[: -len(suffix)] + instead
            if len(rest) >= 3 and any(vowel in rest for vowel in "aeiouy"):
                return _undouble(rest) if suffix in ("ing", "ed") else rest
    if word.endswith("s") and word[-2] not in "su":
        return word[:-1]
    return word


def _undouble(word: str) -> str:
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz":
        return word[:-1]
    return word


def _strip_e(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("e") else word
