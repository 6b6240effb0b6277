"""The storage engine that comes with the server: a JSON snapshot and a journal per graph."""

from __future__ import annotations

import itertools
import logging
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import orjson

from kg_server.graph.graph import Graph
from kg_server.graph.versions import ChangeSet
from kg_server.storage import journal as journals
from kg_server.storage import snapshot as snapshots
from kg_server.storage.errors import ChangedOutside, StorageBroken, StorageTooNew
from kg_server.storage.files import DISK, Disk, make_folder, write_atomic
from kg_server.storage.format import too_new
from kg_server.storage.journal import Journal
from kg_server.storage.layout import GraphKey, Layout
from kg_server.storage.snapshot import GraphCopy

log = logging.getLogger(__name__)

SEGMENT_BYTES = 1 << 20
"""A journal segment that has grown larger than this is closed."""
HISTORY_BYTES, HISTORY_DAYS = 8 << 20, 90
"""How much of a graph's closed segments is kept, beyond what no snapshot holds yet."""


class JsonFiles:
    """`Storage` in files below a root. `now` names the time that a damaged file is set aside with."""

    def __init__(self, layout: Layout, now: Callable[[], float] = time.time, disk: Disk = DISK) -> None:
        self.layout = layout
        self._disk = disk
        self._journal = Journal(disk)
        self._now = now
        self._stamps: dict[GraphKey, tuple[int, int] | None] = {}
        self._looked_at: dict[GraphKey, tuple[int, int] | None] = {}
        self._segment_bytes: dict[GraphKey, int] = {}
        self._behind: set[GraphKey] = set()
        make_folder(layout.root)

    def load(self, key: GraphKey) -> Graph:
        """Snapshot, or the one before it when it is damaged, plus the journal lines beyond it."""
        self._stamps[key] = _stamp(self.layout.snapshot(key))
        try:
            graph = self._load_snapshot(key)
            count = snapshots.replay(graph, self._journal_lines(key, graph.meta.get("seq", 0)))
        except OSError as error:  # not damaged, only out of reach: no older file may take its place
            raise StorageBroken(
                f"{error.filename or self.layout.snapshot(key)} cannot be read ({error.strerror or error}). "
                "Nothing was overwritten: make the file readable for this user, then restart the server"
            ) from error
        if count:
            log.info("%s: %d change(s) read back from the journal", key, count)
        has_fallen_back = self.layout.previous(key).exists() and not self.layout.snapshot(key).exists()
        (self._behind.add if count or has_fallen_back else self._behind.discard)(key)
        return graph

    def is_behind(self, key: GraphKey) -> bool:
        """See `Storage.is_behind`."""
        return key in self._behind

    def left_behind(self) -> list[GraphKey]:
        """See `Storage.left_behind`: told by the times of the files, read by nobody."""
        keys = (GraphKey("project", folder.name) for folder in _folders(self.layout.projects))
        return [key for key in keys if key not in self._stamps and self._journal_is_newer(key)]

    def _journal_is_newer(self, key: GraphKey) -> bool:
        closed = [path for _, path in self.layout.closed_journals(key)[-1:]]  # the open one may just have been closed
        found = [stamp for stamp in map(_stamp, [*closed, self.layout.journal(key)]) if stamp is not None and stamp[1]]
        saved = _stamp(self.layout.snapshot(key))
        return bool(found) and (saved is None or max(found)[0] > saved[0])

    def exists(self, key: GraphKey) -> bool:
        """Whether a snapshot, the one before it or a journal lies there."""
        places = (self.layout.snapshot, self.layout.previous, self.layout.journal)
        return any(place(key).exists() for place in places)

    def append(self, key: GraphKey, entry: ChangeSet) -> Future[None]:
        """See `Storage.append`; a segment that has grown large is closed behind the line."""
        segment, line = self.layout.journal(key), journals.encode(entry)
        before = self._segment_bytes.get(key)
        size = len(line) + (_size(segment) if before is None else before)
        done = self._journal.append(segment, line)
        if size > SEGMENT_BYTES:
            self._journal.rotate(segment, lambda last: self.layout.closed_journal(key, max(last, entry.seq)))
            size = 0
        self._segment_bytes[key] = size
        return done

    def write_snapshot(self, key: GraphKey, copy: GraphCopy) -> None:
        """Write the graph file, then drop what history need not keep any more."""
        target, previous = self.layout.snapshot(key), self.layout.previous(key)
        make_folder(target.parent)
        if self.changed_outside(key):
            raise ChangedOutside(str(target))
        known = self._stamps.get(key)
        write_atomic(target, snapshots.encode(copy), previous, self._disk)
        self._stamps[key] = _stamp(target)
        if known is not None and _stamp(previous) != known:  # written by somebody else in the very last moment
            log.warning("%s was changed outside while it was saved; that file is kept as %s", target, previous)
            self._keep_aside(previous, target)
        self._behind.discard(key)
        self._drop_old_segments(key, int(copy.meta.get("seq", 0)))

    def history(self, key: GraphKey) -> Iterator[ChangeSet]:
        """See `Storage.history`."""
        return self._journal_lines(key, -1)

    def forget(self, key: GraphKey, copy: GraphCopy, names: Collection[str]) -> None:
        """See `Storage.forget`: snapshot, the one before it, every journal segment; files set aside go as a whole."""
        target, previous = self.layout.snapshot(key), self.layout.previous(key)
        if self.changed_outside(key):
            raise ChangedOutside(str(target))
        for _ in range(2):  # the second writing makes the first one `.prev`
            write_atomic(target, snapshots.encode(copy), previous, self._disk)
            self._stamps[key] = _stamp(target)
        for path in target.parent.glob(f"{target.name}.*-*"):
            if any(orjson.dumps(name)[:-1] in path.read_bytes() for name in names):
                self._disk.unlink(path)
        closed = self.layout.closed_journals(key)
        # oldest first: a rename stays until what it leads back to is gone
        self._forget_in([*closed, (0, self.layout.journal(key))], names)
        self._forget_in([one for one in self.layout.closed_journals(key) if one not in closed], names)

    def _forget_in(self, segments: Sequence[tuple[int, Path]], names: Collection[str]) -> None:
        for _, path in segments:
            self._journal.rewrite(path, lambda line: journals.without(line, names)).result()

    def changed_outside(self, key: GraphKey) -> bool:
        """See `Storage.changed_outside`."""
        return key in self._stamps and _stamp(self.layout.snapshot(key)) not in (None, self._stamps[key])

    def load_snapshot(self, key: GraphKey) -> Graph:
        """See `Storage.load_snapshot`."""
        target = self.layout.snapshot(key)
        self._looked_at[key] = _stamp(target)
        try:
            return self._read(key, target)
        except (OSError, ValueError) as error:
            raise StorageBroken(f"{target} cannot be read: {error}") from error

    def taken_over(self, key: GraphKey) -> None:
        """See `Storage.taken_over`."""
        self._stamps[key] = self._looked_at[key]

    def set_aside(self, key: GraphKey, *, move: bool) -> str:
        """See `Storage.set_aside`."""
        target = self.layout.snapshot(key)
        if not move:
            return self._keep_aside(target, target)
        aside = self._aside(target)
        self._disk.replace(target, aside)
        self._stamps[key] = None
        self._behind.add(key)
        return str(aside)

    def project_slugs(self) -> dict[str, str]:
        """See `Storage.project_slugs`."""
        keys = [GraphKey("project", folder.name) for folder in _folders(self.layout.projects)]
        return {key.slug: self._project_path(key) for key in keys if self.exists(key)}

    def close(self) -> None:
        """See `Storage.close`."""
        self._journal.close()

    def _keep_aside(self, file: Path, target: Path) -> str:
        aside = self._aside(target)
        write_atomic(aside, [file.read_bytes()], disk=self._disk)
        return str(aside)

    def _aside(self, target: Path) -> Path:
        """A free name beside the graph file."""
        name = f"{target.name}.outside-{int(self._now())}"
        names = itertools.chain([name], (f"{name}-{number}" for number in itertools.count(2)))
        return next(path for path in map(target.with_name, names) if not path.exists())

    def _drop_old_segments(self, key: GraphKey, saved: int) -> None:
        """Keep closed segments up to their age and size, oldest first out, and all that is not in the snapshot."""
        oldest = self._now() - HISTORY_DAYS * 86_400
        size = 0
        for last, path in reversed(self.layout.closed_journals(key)):
            found = path.stat()
            size += found.st_size
            if last <= saved and (size > HISTORY_BYTES or found.st_mtime < oldest):
                self._disk.unlink(path)

    def _project_path(self, key: GraphKey) -> str:
        """The path as the snapshot says or, when it is damaged, the one before it: the slug must stay taken."""
        for file in (self.layout.snapshot(key), self.layout.previous(key)):
            try:
                content: Any = orjson.loads(file.read_bytes())
                path = content["_meta"]["project_path"]
            except (OSError, ValueError, LookupError, TypeError):
                continue
            if isinstance(path, str):
                return path
        return ""

    def _journal_lines(self, key: GraphKey, after: int) -> Iterator[ChangeSet]:
        """The change sets of all segments that reach beyond `after`, those of the open one last."""
        while True:
            closed = self.layout.closed_journals(key)
            newest = list(journals.read(self.layout.journal(key)))
            if closed == self.layout.closed_journals(key):  # else the open one was closed before it was read
                break
        older = (journals.read(path) for last, path in closed if last > after)
        return itertools.chain(itertools.chain.from_iterable(older), newest)

    def _load_snapshot(self, key: GraphKey) -> Graph:
        target, previous = self.layout.snapshot(key), self.layout.previous(key)
        try:
            return self._read(key, target)
        except FileNotFoundError:
            if not previous.exists():
                return Graph(key.level)
            problem = "is missing"
        except ValueError as error:
            problem = f"does not parse ({error})"
        try:
            graph = self._read(key, previous)
        except (FileNotFoundError, ValueError) as error:
            raise StorageBroken(
                f"{target} {problem} and {previous} cannot be used either ({error}). Nothing was overwritten: "
                f"put a good copy of the file in place (git or a backup), then restart the server"
            ) from error
        if target.exists():
            aside = target.with_name(f"{target.name}.corrupt-{int(self._now())}")
            self._disk.replace(target, aside)
            log.error("%s %s; kept as %s, %s is used instead", target, problem, aside, previous)
        return graph

    @staticmethod
    def _read(key: GraphKey, path: Path) -> Graph:
        try:
            return snapshots.decode(key.level, path.read_bytes())
        except StorageTooNew as error:
            raise too_new(path, error) from error


def _folders(path: Path) -> list[Path]:
    return sorted(path.iterdir()) if path.is_dir() else []


def _size(path: Path) -> int:
    found = _stamp(path)
    return found[1] if found else 0


def _stamp(path: Path) -> tuple[int, int] | None:
    """What tells one version of a file from another without reading it."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
