"""The words of an index by how they begin, so that a word finds its other forms in any language that adds endings."""

from __future__ import annotations

import math

PREFIX_LETTERS = 4
LIKENESS_MIN = 0.45
"""Two words are relatives when the beginning they share is at least this much of the longer one."""
RELATIVES_MAX = 8


class Vocabulary:
    """Words kept in buckets of one beginning. Asking costs the bucket, which is small in any language."""

    __slots__ = ("_buckets", "_found")

    def __init__(self) -> None:
        self._buckets: dict[str, set[str]] = {}
        self._found: dict[str, list[tuple[str, float]]] = {}

    def add(self, word: str) -> None:
        """Take a word in; what is no plain word, or too short to have relatives, is passed over."""
        if len(word) >= PREFIX_LETTERS and word.isalpha():
            self._buckets.setdefault(word[:PREFIX_LETTERS], set()).add(word)
            self._found.clear()

    def discard(self, word: str) -> None:
        """Forget a word."""
        bucket = self._buckets.get(word[:PREFIX_LETTERS])
        if bucket is not None and word in bucket:
            bucket.discard(word)
            self._found.clear()
            if not bucket:
                del self._buckets[word[:PREFIX_LETTERS]]

    def relatives(self, word: str) -> list[tuple[str, float]]:
        """Other words that begin alike, at most 8, with the share of the longer word that is common (0.45…1)."""
        if len(word) < PREFIX_LETTERS or word[:PREFIX_LETTERS] not in self._buckets:
            return []
        found = self._found.get(word)
        if found is None:
            found = self._found[word] = self._search(word)
        return found

    def _search(self, word: str) -> list[tuple[str, float]]:
        beginning = word[: max(PREFIX_LETTERS, math.ceil(LIKENESS_MIN * len(word)))]
        found = []
        for other in self._buckets[word[:PREFIX_LETTERS]]:
            if other != word and other.startswith(beginning):
                likeness = _common(word, other) / max(len(word), len(other))
                if likeness >= LIKENESS_MIN:
                    found.append((other, likeness))
        return sorted(found, key=lambda one: (-one[1], one[0]))[:RELATIVES_MAX]


def _common(left: str, right: str) -> int:
    count = 0
    for a, b in zip(left, right, strict=False):
        if a != b:
            break
        count += 1
    return count
