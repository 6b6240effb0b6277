"""Which nodes name a file: one key for all the ways to write a path, and an index kept with every node write.

A key is `./src/a.py` or `../lib/b.py` (relative to the project's root), `~/notes.md`, `/etc/hosts` or `c:/x.txt`.
Nothing here looks at a file system: who asks says where root and home lie, and whether case counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from kg_server.graph.names import nfc

PATH_MAX_CHARACTERS = 4_096
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_SHARE = re.compile(r"\\\\[^\\/]")
_POSITION = re.compile(r"(?::L?\d{1,9}(?:[-–:,]L?\d{1,9}){0,4}|#L\d{1,9}(?:-L?\d{1,9})?)$")
_POSITION_CHARACTERS = 60
_FENCES = "`'\""


class TouchIndex:
    """The nodes that name a file. A lookup costs its keys, whatever the number of nodes."""

    __slots__ = ("_keys", "_named", "_nodes")

    def __init__(self) -> None:
        self._nodes: dict[str, dict[str, set[str]]] = {}  # folded key → key → nodes
        self._named: dict[str, set[str]] = {}  # folded file name → keys
        self._keys: dict[str, frozenset[str]] = {}

    def put(self, node: str, touches: Iterable[str]) -> None:
        """Index a node's touches, or index them anew."""
        self.remove(node)
        keys = frozenset(key for touch in touches for key in readings(touch))
        if not keys:
            return
        self._keys[node] = keys
        for key in keys:
            self._nodes.setdefault(key.casefold(), {}).setdefault(key, set()).add(node)
            self._named.setdefault(_file_name(key), set()).add(key)

    def remove(self, node: str) -> None:
        """Forget a node."""
        for key in self._keys.pop(node, ()):
            same = self._nodes[key.casefold()]
            same[key].discard(node)
            if same[key]:
                continue
            del same[key]
            if not same:
                del self._nodes[key.casefold()]
            named = self._named[_file_name(key)]
            named.discard(key)
            if not named:
                del self._named[_file_name(key)]

    def nodes(self, keys: Iterable[str], fold: bool = False) -> set[str]:
        """The nodes that name a file by one of its keys; with `fold` upper and lower case are the same."""
        found: set[str] = set()
        for key in keys:
            for stored, nodes in self._nodes.get(key.casefold(), {}).items():
                if fold or stored == key:
                    found |= nodes
        return found

    def named(self, path: str, most: int) -> list[str]:
        """Keys with the file name of `path`, whatever folder and case: at most `most` of them, none of very many."""
        keys = self._named.get(_file_name(path_key(path)), ())
        return sorted(keys)[:most] if len(keys) <= 10 * most else []

    def count(self, node: str) -> int:
        """How many keys a node names: the fewer, the more it is about each."""
        return len(self._keys.get(node, ()))


def readings(touch: str) -> set[str]:
    """The keys that a touch may mean: the path as it stands, and without `:12`, `:12-20`, `#L12`, `::name`, ` (note)`.

    A file may really be called `notes (old).md`, so that the path as it stands is always one of them.
    """
    if len(touch) > PATH_MAX_CHARACTERS:
        return set()
    text = touch.strip()
    if len(text) > 2 and text[0] in _FENCES and text[-1] == text[0]:
        text = text[1:-1]
    forms = {text, *_without_note(text)}
    forms |= {short for form in forms for short in _without_position(form)}
    forms |= {form.replace("\\", "/") for form in forms if "\\" in form and "/" not in form}
    return {key for form in forms if (key := path_key(form))}


def path_key(path: str) -> str:
    """The key of a path, `.` and `..` taken out as far as the text alone allows; empty when it names no file."""
    if not path or len(path) > PATH_MAX_CHARACTERS or "\0" in path:
        return ""
    path = nfc(path)
    if _SHARE.match(path):
        return _key("\\\\", path[2:].replace("\\", "/"))
    if _DRIVE.match(path):
        return _key(f"{path[0].lower()}:/", path[3:].replace("\\", "/"))
    if path.startswith("/"):
        return _key("/", path)
    if path.startswith("~/"):
        return _key("~/", path[2:])
    return _key("./", path)


def file_keys(path: str, root: str = "", homes: Sequence[str] = (), fold: bool = False) -> set[str]:
    """Every key by which a touch may name an absolute path, given the absolute paths of root and home.

    Relative to the root also the long way round: a file in it may be named `../<root>/src/a.py`.
    """
    key = path_key(path)
    if not key:
        return set()
    keys = {key}
    own = key.split("/")
    for home in homes:
        below = path_key(home).split("/")
        if (depth := _shared(own, below, fold)) == len(below) < len(own):
            keys.add("/".join(["~", *own[depth:]]))
    if root:
        folders = path_key(root).split("/")
        for depth in range(1, _shared(own, folders, fold) + 1):
            if depth < len(own):
                ups = [".."] * (len(folders) - depth)
                keys.add("/".join([*(ups or ["."]), *own[depth:]]))
    return keys


def _shared(one: Sequence[str], other: Sequence[str], fold: bool) -> int:
    """How many leading components two paths share."""
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right and not (fold and left.casefold() == right.casefold()):
            break
        count += 1
    return count


def _key(anchor: str, rest: str) -> str:
    parts: list[str] = []
    for part in rest.split("/"):
        if part in ("", "."):
            continue
        if part != "..":
            parts.append(part)
        elif parts and parts[-1] != "..":
            parts.pop()
        elif anchor in ("./", "~/"):
            parts.append(part)
    if not parts or parts[-1] == "..":
        return ""
    return "/".join(parts) if parts[0] == ".." and anchor == "./" else anchor + "/".join(parts)


def _file_name(key: str) -> str:
    return key[key.rfind("/") + 1 :].casefold()


def _without_note(text: str) -> Iterator[str]:
    if text.endswith(")"):
        for at in (text.find(" ("), text.rfind(" (")):
            if at > 0:
                yield text[:at].rstrip()


def _without_position(text: str) -> Iterator[str]:
    found = _POSITION.search(text, max(0, len(text) - _POSITION_CHARACTERS))
    if found and found.start():
        yield text[: found.start()]
    at = text.find("::", text.rfind("/") + 1)
    if at > 0:
        yield text[:at]
