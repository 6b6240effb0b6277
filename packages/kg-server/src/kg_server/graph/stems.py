"""Word forms: a light stem for English and Arabic, letters without their accents for the rest of Europe.

Endings of other languages need no rules of their own: words that begin alike are found as relatives (vocabulary.py).
"""

from __future__ import annotations

import unicodedata
from functools import cache, lru_cache

_ACCENTED_END = 0x530
"""Latin, Greek and Cyrillic lie below; further up a mark is part of the word (が, की), not an accent."""
_ARABIC_LETTERS = {"أ": "ا", "إ": "ا", "آ": "ا", "ى": "ي", "ة": "ه", "ـ": None}
_ARABIC_PREFIXES = ("وال", "بال", "كال", "فال", "ال", "لل")
_ARABIC_SUFFIXES = ("ها", "ات", "ان", "ون", "ين", "يه", "ه", "ي")
_ENGLISH_SUFFIXES = (("ies", "y"), ("sses", "ss"), ("ing", ""), ("edly", ""), ("ed", ""), ("ly", ""))


def fold(word: str) -> str:
    """A word in small letters and without accents: Über, über and uber are one word."""
    if word.isascii():
        return word.lower()
    return word.casefold().translate(_folds())


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """A folded word without its common endings (schedule, scheduled, scheduling → schedul)."""
    if len(word) < 4 or not word.isalpha():
        return word
    if word.isascii():
        return _without_e(_without_english_suffix(word))
    if "\u0600" <= word[0] <= "\u06ff":
        return _arabic(word)
    return word


def _without_english_suffix(word: str) -> str:
    for suffix, instead in _ENGLISH_SUFFIXES:
        if word.endswith(suffix):
            rest = word[: -len(suffix)] + instead
            if len(rest) >= 3 and any(vowel in rest for vowel in "aeiouy"):
                return _undoubled(rest) if suffix in ("ing", "ed") else rest
    if word.endswith("s") and word[-2] not in "su":
        return word[:-1]
    return word


def _undoubled(word: str) -> str:
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz":
        return word[:-1]
    return word


def _without_e(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("e") else word


def _arabic(word: str) -> str:
    prefix = next((one for one in _ARABIC_PREFIXES if word.startswith(one) and len(word) - len(one) >= 3), "")
    rest = word[len(prefix) :]
    suffix = next((one for one in _ARABIC_SUFFIXES if rest.endswith(one) and len(rest) - len(one) >= 3), "")
    return rest[: len(rest) - len(suffix)]


@cache
def _folds() -> dict[int, str | None]:
    table: dict[int, str | None] = {ord(letter): plain for letter, plain in _ARABIC_LETTERS.items()}
    table.update(dict.fromkeys((*range(768, 880), *range(1611, 1619))))
    for code in (*range(0xC0, 0x250), *range(0x370, _ACCENTED_END), *range(0x1E00, 0x2000)):
        plain = "".join(c for c in unicodedata.normalize("NFKD", chr(code)) if not unicodedata.combining(c))
        if plain and plain != chr(code):
            table[code] = plain
    return table
