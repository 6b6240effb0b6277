"""Looking ahead in a text that is read from left to right, without reading any stretch of it twice."""

from __future__ import annotations

import re


class Ahead:
    """The next match of a pattern at or after a position, asked with positions that never decrease.

    A hostile text (half a megabyte of openings without an end) would make a plain search from every opening
    quadratic; remembering the last answer makes all of them together one pass.
    """

    def __init__(self, pattern: re.Pattern[str], text: str) -> None:
        self._pattern = pattern
        self._text = text
        self._start = -1
        self._end = -1

    def span(self, position: int) -> tuple[int, int] | None:
        """Start and end of the next match, None when there is no further one."""
        if self._start < position:
            match = self._pattern.search(self._text, position)
            beyond = len(self._text) + 1
            self._start, self._end = match.span() if match else (beyond, beyond)
        return (self._start, self._end) if self._start <= len(self._text) else None

    def start(self, position: int) -> int:
        """Start of the next match, the text's length when there is no further one."""
        found = self.span(position)
        return found[0] if found else len(self._text)
