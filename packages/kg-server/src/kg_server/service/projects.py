"""Which project a folder belongs to, and the slug its graph is stored under."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path

from kg_server.graph.errors import InvalidEntry
from kg_server.graph.letters import is_mark
from kg_server.graph.names import shown
from kg_server.storage.engine import Storage
from kg_server.storage.layout import GraphKey

SLUG_CHARACTERS = 60
"""Leaves room for the hash of a second project of that name within the 255 bytes that a file name may have."""
PATH_CHARACTERS = 300
"""So much of a folder's name stands in an error."""
_SYSTEM = frozenset(("/", "/bin", "/boot", "/dev", "/etc", "/lib", "/proc", "/run", "/sbin", "/sys", "/usr", "/var"))


@dataclass(frozen=True, slots=True)
class Project:
    """A code base: its root folder and the key of its graph."""

    path: Path
    key: GraphKey


class Projects:
    """Maps folders to projects. Two roots never share a slug, one root never has two."""

    def __init__(self, storage: Storage, home: Path, roots: tuple[Path, ...] = ()) -> None:
        self._storage = storage
        self._home = _real(home)
        self._roots = tuple(_real(root) for root in roots)
        self._lock = threading.Lock()
        self._slugs: dict[str, str] | None = None

    def of(self, cwd: str, field: str = "cwd") -> Project | None:
        """The project of a folder; None where memory is the user's alone. InvalidEntry for no usable folder.

        `field` is what the caller calls the folder.
        """
        folder = checked_folder(cwd, field)
        root = self._own_graph(folder) or project_root(folder)
        if root == self._home:  # a home kept in git does not make one project of all that lies in it
            root = folder
        _refuse_no_text(root, field)
        if self._user_only(root) and self._known_slug(root) is None:
            return None
        return Project(root, GraphKey("project", self._slug(root)))

    def _own_graph(self, folder: Path) -> Path | None:
        """The nearest folder up to the work tree's root that has a graph of its own already."""
        top = project_root(folder)
        for candidate in (folder, *folder.parents):
            if self._known_slug(candidate) is not None:
                return candidate
            if candidate == top:
                return None
        return None

    def _user_only(self, root: Path) -> bool:
        if root == self._home or str(root) in _SYSTEM or root == _real(Path(tempfile.gettempdir())):
            return True
        return bool(self._roots) and not any(root.is_relative_to(allowed) for allowed in self._roots)

    def _known_slug(self, root: Path) -> str | None:
        with self._lock:
            return next((slug for slug, path in self._index().items() if is_same_folder(path, str(root))), None)

    def _slug(self, root: Path) -> str:
        known = self._known_slug(root)
        if known is not None:
            return known
        with self._lock:
            taken = self._index()
            name = root.name if taken.get(root.name) == "" else plain_name(root.name)
            if any(_clashes(name, slug, path) for slug, path in taken.items()):
                name = f"{name}-{hashlib.sha256(str(root).encode()).hexdigest()[:6]}"
            taken[name] = str(root)
        return name

    def _index(self) -> dict[str, str]:
        if self._slugs is None:
            stored = self._storage.project_slugs()
            self._slugs = {slug: os.path.realpath(path) if path else "" for slug, path in stored.items()}
        return self._slugs


def _clashes(name: str, slug: str, path: str) -> bool:
    """Whether a new project cannot be called `name`, as another folder's graph has that name already.

    Case is ignored, as some file systems do. A graph that says of no folder that it is its own (both its files are
    damaged, or it is an old one) is found by its name: better its error, or its content, than a second, empty graph.
    """
    return name.casefold() == slug.casefold() and (path != "" or name != slug)


def plain_name(name: str) -> str:
    """A folder's name as one plain path component: letters, digits and their marks, `_`, `.` and `-`."""
    kept = "".join(one if one.isalnum() or one in "_.-" or is_mark(one) else "\0" for one in name)
    return re.sub("\0+", "-", kept).strip(".-")[:SLUG_CHARACTERS] or "project"


def is_same_folder(one: str, other: str) -> bool:
    """Whether two resolved paths are one folder; on some file systems upper and lower case are the same."""
    try:
        return one == other or (
            len(one) == len(other) and one.casefold() == other.casefold() and os.path.samefile(one, other)
        )
    except OSError:
        return False


def checked_folder(cwd: str, field: str = "cwd") -> Path:
    """The folder with links resolved, or InvalidEntry that says what is wrong with it."""
    if "\0" in cwd:
        raise InvalidEntry(f"{field} holds a NUL character; send the absolute path of the project's folder")
    path = Path(cwd)
    if not path.is_absolute():
        raise InvalidEntry(
            f"{field} {shown(cwd, PATH_CHARACTERS)} is not absolute; send the absolute path of the project's folder"
        )
    if not os.path.isdir(path):  # unlike the path's own method it answers for a name that is too long
        raise InvalidEntry(
            f"{field} {shown(cwd, PATH_CHARACTERS)} is not an existing folder; send the project's folder as it is now"
        )
    return _real(path)


def _refuse_no_text(root: Path, field: str) -> None:
    """Such a name can be a folder's, but stands in no JSON file."""
    try:
        str(root).encode("utf-8")
    except UnicodeEncodeError:
        raise InvalidEntry(
            f"{field} {shown(str(root), PATH_CHARACTERS)} has a name that is no UTF-8 text: rename the folder, "
            "or send another one"
        ) from None


def project_root(folder: Path) -> Path:
    """The root of the git work tree that `folder` lies in (of a linked one: its main checkout), else the folder."""
    for candidate in (folder, *folder.parents):
        marker = candidate / ".git"
        if marker.is_dir():
            return candidate
        if marker.is_file():
            return _main_checkout(marker) or candidate
    return folder


def _main_checkout(marker: Path) -> Path | None:
    try:
        word, _, target = marker.read_text(encoding="utf-8").strip().partition(": ")
    except (OSError, UnicodeDecodeError):
        return None
    admin = marker.parent / target
    if word != "gitdir" or admin.parent.name != "worktrees":
        return None
    main = _real(admin.parent.parent)
    return main.parent if main.name == ".git" and main.is_dir() else None


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))
