"""What belongs to a word, in any script. A vowel sign is a letter of its word, which `\\w` does not know."""

from __future__ import annotations

import unicodedata
from functools import cache

_MARKS_FROM, _MARKS_TO = 0x300, 0x1E950
_JOINERS = "\u200c\u200d"
_UNSEEN = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0").union(
    *(map(chr, range(first, last + 1)) for first, last in ((0x180B, 0x180F), (0xFE00, 0xFE0F), (0xE0100, 0xE01EF)))
)
"""Letters and marks that nobody sees: fillers and variation selectors."""


def is_mark(character: str) -> bool:
    """Whether a character only stands on the one before it: an accent, a vowel sign."""
    return unicodedata.category(character) in ("Mn", "Mc")


@cache
def word_class() -> str:
    r"""The inside of a character class for a word that holds more than ASCII: `\w` and every mark."""
    return r"\w" + "".join(filter(is_mark, map(chr, range(_MARKS_FROM, _MARKS_TO))))


def is_name(text: str, longest: int) -> bool:
    """Whether a short text is letters, digits, `_`, `.`, `-` and marks, the first a letter, digit or `_`.

    The joiners that some scripts shape letters with may stand between two letters of such a script, nowhere else.
    """
    if not text or len(text) > longest or not (text[0].isalnum() or text[0] == "_"):
        return False
    if not text.isascii() and not _UNSEEN.isdisjoint(text):
        return False
    return all(_fits(text, at) for at in range(1, len(text)))


def _fits(text: str, at: int) -> bool:
    character = text[at]
    if character.isalnum() or character in "_.-":
        return True
    if character in _JOINERS:
        return at + 1 < len(text) and _is_shaped(text[at - 1]) and _is_shaped(text[at + 1])
    return character > "\u02ff" and is_mark(character) and text[at - 1] not in "_.-"


def _is_shaped(character: str) -> bool:
    return character > "\u05ff" and (character.isalpha() or is_mark(character))
