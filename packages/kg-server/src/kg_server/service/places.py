"""Where a file lies, and every key by which the memory may name it: links, home and linked work trees resolved."""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from kg_server.graph.graph import Graph
from kg_server.graph.touches import PATH_MAX_CHARACTERS, file_keys
from kg_server.service.projects import project_root


@dataclass(frozen=True, slots=True)
class Place:
    """A file as a session sees it.

    `path` is absolute, links resolved. `shown` is how a lesson would name it: relative to the project's root, below
    `~`, or absolute. `keys` are for touches of the project's graph, `far_keys` for those of the user's, which know no
    root. With `fold` the file system takes upper and lower case for the same.
    """

    path: str
    shown: str
    keys: frozenset[str]
    far_keys: frozenset[str]
    fold: bool

    def known_to(self, graph: Graph) -> frozenset[str]:
        """The keys that a graph's touches may name it by."""
        return self.keys if graph.level == "project" else self.far_keys

    def is_file(self) -> bool:
        """Whether a regular file lies there."""
        return os.path.isfile(self.path)


class Places:
    """Finds files for sessions. `home` is the user's home folder, in whatever spelling.

    `store` holds the memory itself, `temporary` are the system's folders for what does not stay.
    """

    def __init__(self, home: Path, store: Path, *temporary: Path) -> None:
        self._home = str(home)
        self._real_home = os.path.realpath(home)
        self._store = os.path.realpath(store)
        self._temporary = tuple(os.path.realpath(folder) for folder in temporary)
        self._folds: dict[str, bool] = {}

    def of(self, named: str, folder: str = "", root: str = "") -> Place | None:
        """The place of a file as a client names it; None for what is no path, or relative to an unknown folder.

        `root` is the project's root with links resolved, empty for a session without project.
        """
        if not named or "\0" in named or len(named) > PATH_MAX_CHARACTERS:
            return None
        try:
            path = self._absolute(named, folder)
            return self._place(path, folder, root) if path else None
        except (OSError, ValueError):  # too long for the system, half characters
            return None

    def passing(self, place: Place, root: str, names: Container[str]) -> bool:
        """Whether the file is one that comes and goes, or the memory's own.

        It is when it lies below a folder of `names` (in small letters), seen from the project's root if it is in the
        project; in the store; or in a temporary folder, unless the project lies there too.
        """
        temporary = (_below(place.path, folder) and not _below(root, folder) for folder in self._temporary)
        if _below(place.path, self._store) or any(temporary):
            return True
        path = place.path[len(root) :] if _below(place.path, root) else place.path
        return any(part.casefold() in names for part in Path(path).parts[:-1])

    def leading(self, keys: Iterable[str], place: Place, root: str) -> set[str]:
        """Those of the keys that name the file through a link which only the file system knows.

        Only paths below root and home are looked at. Hold no lock: this asks the file system.
        """
        return {key for key in keys if self._leads(key, place, root)}

    def _absolute(self, named: str, folder: str) -> str:
        if named.startswith("~/") or (os.name == "nt" and named.startswith("~\\")):
            return os.path.join(self._home, named[2:])
        if os.path.isabs(named):
            return named
        return os.path.join(folder, named) if os.path.isabs(folder) else ""

    def _place(self, path: str, folder: str, root: str) -> Place:
        real = os.path.realpath(path)
        fold = self._fold(root or self._real_home)
        homes = (self._real_home, self._home)
        spellings = set(self._spellings(path, real, folder))
        far = {key for one in spellings for key in file_keys(one, homes=homes, fold=fold)}
        tops = [top for top in (root, _linked_tree(real, root)) if top]
        keys = far | {key for top in tops for one in spellings for key in file_keys(one, top, fold=fold)}
        return Place(real, _shown(real, tops, self._real_home), frozenset(keys), frozenset(far), fold)

    def _spellings(self, path: str, real: str, folder: str) -> Iterator[str]:
        """The file's absolute paths: resolved, as the client has it, and with home and folder as they are called."""
        plain = os.path.normpath(path)
        own = [real] if plain == real or os.path.realpath(plain) != real else [real, plain]
        yield from own
        for called in (self._home, folder):
            if not os.path.isabs(called):
                continue
            true, called = _without_common_end(os.path.realpath(called), os.path.normpath(called))
            for one in own:
                for before, after in ((true, called), (called, true)):
                    if one.startswith(before + os.sep):
                        yield after + one[len(before) :]

    def _leads(self, key: str, place: Place, root: str) -> bool:
        anchor, _, rest = key.partition("/")
        if anchor in (".", ".."):
            path = os.path.join(root, key) if root else ""
        elif anchor == "~":
            path = os.path.join(self._home, rest)
        else:  # other places may be on a disk that is gone, and hang whoever looks
            near = any(key.startswith(one + "/") for one in (self._home, self._real_home, root) if one)
            path = key if near else ""
        try:
            real = os.path.realpath(path) if path else ""
        except (OSError, ValueError):
            return False
        return real == place.path or (place.fold and real.casefold() == place.path.casefold())

    def _fold(self, folder: str) -> bool:
        """Whether upper and lower case are the same below a folder, found out once."""
        if folder not in self._folds:
            self._folds[folder] = any(
                _same_in_other_case(path) for path in (os.path.join(folder, ".git"), folder) if os.path.exists(path)
            )
        return self._folds[folder]


def _below(path: str, folder: str) -> bool:
    return bool(folder) and path.startswith(folder.rstrip(os.sep) + os.sep)


def _same_in_other_case(path: str) -> bool:
    parent, name = os.path.split(path)
    other = os.path.join(parent, name.swapcase())
    try:
        return other != path and os.path.samefile(path, other)
    except OSError:
        return False


def _linked_tree(path: str, root: str) -> str:
    """The root of the linked work tree of the project that a file lies in; empty when it lies in none."""
    for folder in Path(path).parents if root else ():
        marker = folder / ".git"
        if str(folder) == root or os.path.isdir(marker):
            return ""
        if os.path.isfile(marker):
            return str(folder) if str(project_root(folder)) == root else ""
    return ""


def _without_common_end(one: str, other: str) -> tuple[str, str]:
    """Two spellings of a folder down to where they differ: what holds of them holds of all that lies below."""
    while os.path.basename(one) == os.path.basename(other) and os.path.basename(one):
        one, other = os.path.dirname(one), os.path.dirname(other)
    return one.rstrip(os.sep), other.rstrip(os.sep)


def _shown(path: str, tops: list[str], home: str) -> str:
    path = path.encode("utf-8", "backslashreplace").decode("utf-8")
    for top in reversed(tops):
        if _below(path, top):
            return path[len(top) + 1 :].replace(os.sep, "/")
    return "~" + path[len(home) :].replace(os.sep, "/") if _below(path, home) else path
