"""Paths in typed text, dragged in, quoted or mentioned, reduced to the name of the file.

Free of any client's ways: it knows how shells, file managers and people write paths, nothing else. One pass over
the text, whatever it holds.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from urllib.parse import unquote

from kg_harness_claude.forward import Ahead

_LONGEST_PATH = 4_096

# Words: an escaped blank belongs to its word, as terminals paste dragged files.
_WORD = re.compile(r"(?:\\[ ()&'\"\[\]]|\S)+")
_AROUND = "\"'`“”‘’"
_LEAD = "([{（「『【《" + _AROUND
_TAIL = ")]}）」』】》.,;:!?…。，、；：！？" + _AROUND
_SEPARATOR = re.compile(r"[/\\]")
_ESCAPED = re.compile(r"\\(.)")
_WINDOWS = re.compile(r"[A-Za-z]:[/\\]|\\\\\w[^/\\]*[/\\]")
_ANCHOR = re.compile(rf"file://|/(?!/)|~(?:[A-Za-z][\w.-]*)?[/\\]|\.{{1,2}}[/\\]|{_WINDOWS.pattern}")
_POSITION = re.compile(r":\d{1,9}(?:[-:]\d{1,9})?$|#L\d{1,9}(?:-L?\d{1,9})?$")
_FILE_NAME = re.compile(r"\.?[\w@+~-][\w.@+~-]*\.[A-Za-z]\w{0,7}|\.[A-Za-z]\w{1,15}")

# A quotation opens at the start of a word and closes at the end of one, so the apostrophe of `don't` is neither.
_CLOSINGS = {quote: re.compile(rf"{quote}(?=[\s)\]}},.;:!?]|$)") for quote in "\"'`"}
_LINE_END = re.compile(r"\n|$")


@dataclass(frozen=True, slots=True)
class Reduced:
    """`text` with every path reduced to its file name, and `beside`: the same without those names."""

    text: str
    beside: str


def columns(text: str) -> int:
    """Width of `text` without its blanks; wide characters count two, so that compact scripts are not at a loss."""
    return sum(2 if unicodedata.east_asian_width(one) in "WF" else 1 for one in "".join(text.split()))


def reduce_paths(text: str) -> Reduced:
    """Reduce the paths in `text` to their file names; a text without any comes back as it is."""
    if "/" not in text and "\\" not in text:
        return Reduced(text, text)
    quotations = _Quotations(text)
    reduced: list[str] = []
    beside: list[str] = []
    position = 0
    word = _WORD.search(text)
    while word:
        end = word.end()
        path = quotations.path_at(word) or _bare_path(word)
        if path is not None:
            before = text[position : path.start]
            reduced += (before, path.name)
            beside += (before, " ")
            position = path.end
            end = max(end, position)
        word = _WORD.search(text, end)
    return Reduced("".join([*reduced, text[position:]]), "".join([*beside, text[position:]]))


@dataclass(frozen=True, slots=True)
class _Path:
    start: int
    end: int
    name: str


class _Quotations:
    """Quoted paths, blanks and all; other quotations are left to be read word by word."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._closings = {quote: Ahead(pattern, text) for quote, pattern in _CLOSINGS.items()}
        self._line_ends = Ahead(_LINE_END, text)

    def path_at(self, word: re.Match[str]) -> _Path | None:
        """The quoted path that opens with `word`, if one does; an `@` before it belongs to it."""
        mentioned = word[0].startswith("@")
        opening = word.start() + mentioned
        if word[0][mentioned : mentioned + 1] in "([{":
            opening += 1
        closings = self._closings.get(self._text[opening : opening + 1])
        closing = closings.span(opening + 1) if closings else None
        if closing is None or closing[0] > min(opening + _LONGEST_PATH, self._line_ends.start(opening)):
            return None
        content = self._text[opening + 1 : closing[0]]
        name = _last_component(content) if mentioned else _quoted_name(content)
        return _Path(opening - mentioned, closing[1], name) if name else None


def _quoted_name(content: str) -> str:
    """File name of a quoted path; empty when the quotation is none (`"and/or maybe"`, `"/compact is slow"`)."""
    anchor = _ANCHOR.match(content)
    blank = any(character.isspace() for character in content)
    if anchor is None:
        return "" if blank else _relative_name(content)
    if blank and not _SEPARATOR.search(content, anchor.end()):
        return ""
    return _last_component(content)


def _bare_path(word: re.Match[str]) -> _Path | None:
    """The path that a word is, brackets, quotes and punctuation around it left standing."""
    token = word[0]
    if len(token) > _LONGEST_PATH or not _SEPARATOR.search(token):
        return None
    opened = len(token) - len(token.lstrip(_LEAD))
    core = token[opened:].rstrip(_TAIL)
    end = word.start() + opened + len(core)
    path = core.removeprefix("@")
    name = _anchored_name(path) if _ANCHOR.match(path) else _relative_name(path)
    return _Path(word.start() + opened, end, name) if name else None


def _anchored_name(path: str) -> str:
    return _last_component(path if _WINDOWS.match(path) else _ESCAPED.sub(r"\1", path))


def _relative_name(path: str) -> str:
    """File name of a path without an anchor, where it plainly is one: `src/a.py`, not `and/or`, not `host.org/x.js`."""
    *folders, name = _components(path)
    plain = folders and "://" not in path and _FILE_NAME.fullmatch(name)
    return name if plain and not any(_FILE_NAME.fullmatch(folder) for folder in folders) else ""


def _last_component(path: str) -> str:
    name = _components(path)[-1]
    return unquote(name) if path.startswith("file://") else name


def _components(path: str) -> list[str]:
    """The parts of a path, at least one, without a line number behind the last."""
    return [part for part in _SEPARATOR.split(_POSITION.sub("", path.strip())) if part] or [""]
