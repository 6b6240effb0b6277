"""How long a text is in the unit that its reader counts, and how to cut it without splitting a character."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Unit = Literal["characters", "utf16", "bytes"]


@dataclass(frozen=True, slots=True)
class Limit:
    """The most that a channel carries: `size` in `unit` (code points, UTF-16 code units or UTF-8 bytes)."""

    size: int
    unit: Unit

    def fits(self, text: str) -> bool:
        """Whether `text` is within the limit (exactly at it is within)."""
        return measure(text, self.unit) <= self.size


def measure(text: str, unit: Unit) -> int:
    """Length of `text` in `unit`; a lone surrogate counts as one UTF-16 unit and three bytes."""
    if unit == "characters":
        return len(text)
    if text.isascii():
        return len(text)
    if unit == "utf16":
        return len(text) + sum(1 for character in text if character > "\uffff")
    return len(text.encode("utf-8", "surrogatepass"))


def cut(text: str, limit: Limit) -> str:
    """The longest prefix of `text` within `limit`; never half a character."""
    if limit.fits(text):
        return text
    if limit.unit == "characters":
        return text[: max(0, limit.size)]
    used = 0
    for position, character in enumerate(text):
        used += measure(character, limit.unit)
        if used > limit.size:
            return text[:position]
    return text
