"""Whether a text names a file or a web page: by whole path components, never by a part of one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kg_server.graph.names import nfc
from kg_server.graph.terms import TEXT_MAX_CHARACTERS, words

COMPONENTS = 8
"""So many of a path's last components are compared."""


def name_terms(path: str) -> list[str]:
    """The terms of the parts of a file's name: a text that names the file, in whatever spelling, holds them all."""
    name = path.replace("\\", "/").rstrip("/").rpartition("/")[2]
    return [term for token in words(name) for term in (token[1:] if len(token) > 1 else token)]


def names_file(text: str, path: str) -> bool:
    """Whether a text names the file: `store.py`, `src/store.py` and `/any/app/src/store.py` name `src/store.py`.

    `restore.py`, `store.pyc`, `lib/store.py` and the folder `store.py/` do not.
    """
    parts = [part for part in nfc(path).replace("\\", "/").split("/") if part not in ("", ".", "..", "~")]
    if not parts:
        return False
    *folders, name = parts[-COMPONENTS:]
    text = nfc(text[:TEXT_MAX_CHARACTERS]).replace("\\", "/")
    return any(
        _ends(text, at + len(name)) and text[at + len(name) :][:1] != "/" and _lies_in(text, at, folders)
        for at in _occurrences(text, name)
    )


def names_page(text: str, url: str) -> bool:
    """Whether a text holds a page's whole address, whatever scheme stands before it and whatever query behind it."""
    address = url.partition("://")[2].rstrip("/")
    text = text[:TEXT_MAX_CHARACTERS]
    for at in _occurrences(text, address) if address else ():
        end = at + len(address)
        end += text[end : end + 1] == "/"
        if not _in_name(text[at - 1 : at]) and _ends(text, end):
            return True
    return False


def _occurrences(text: str, part: str) -> Iterator[int]:
    at = text.find(part)
    while at >= 0:
        yield at
        at = text.find(part, at + len(part))


def _lies_in(text: str, at: int, folders: Sequence[str]) -> bool:
    """Whether the folders that are written before a file's name, as many as there are, are those it lies in."""
    for folder in reversed(folders):
        if text[at - 1 : at] != "/":
            break
        at -= 1
        if not text.endswith(folder, 0, at):
            return _begins_path(text, at)
        at -= len(folder)
    return not _in_name(text[at - 1 : at])


def _begins_path(text: str, slash: int) -> bool:
    """Whether a slash is the first one of a path: nothing before it, or `.`, `..`, `~`."""
    at = slash
    while at > slash - 2 and text[at - 1 : at] == ".":
        at -= 1
    at -= at == slash and text[at - 1 : at] == "~"
    before = text[at - 1 : at]
    return before != "/" and not _in_name(before)


def _ends(text: str, end: int) -> bool:
    """Whether a name ends here; the full stop of a sentence ends it too."""
    if text[end : end + 1] == ".":
        return not _in_name(text[end + 1 : end + 2])
    return not _in_name(text[end : end + 1])


def _in_name(character: str) -> bool:
    return character.isalnum() or character in ("_", "-", ".")
