"""The append-only journal: one thread for all graphs, writers that arrive together share one sync.

A line is `{"crc":N,"c":{…}}`, the checksum over the bytes of the inner object as they stand in the file.
"""

from __future__ import annotations

import logging
import os
import queue
import threading
import zlib
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import orjson

from kg_server.graph.model import Change
from kg_server.graph.versions import ChangeSet
from kg_server.storage.errors import StorageTooNew
from kg_server.storage.files import DISK, Disk, make_folder, sync_folder, write_all, write_atomic
from kg_server.storage.format import refuse_newer, too_new

log = logging.getLogger(__name__)

_HEAD, _MIDDLE, _TAIL = b'{"crc":', b',"c":', b"}"


def encode(entry: ChangeSet) -> bytes:
    """A change set as its journal line, with the line break."""
    content: dict[str, Any] = {
        "seq": entry.seq,
        "ts": entry.ts,
        "session": entry.session,
        "set": [[c.kind, c.key, c.before, c.after] for c in entry.changes],
    }
    if entry.moves:
        content["moves"] = entry.moves
    if entry.renames:
        content["renames"] = entry.renames
    if entry.upkeep:
        content["upkeep"] = True
    if entry.cause:
        content["cause"] = entry.cause
    body = orjson.dumps(content)
    return b"%b%d%b%b%b\n" % (_HEAD, zlib.crc32(body), _MIDDLE, body, _TAIL)


def decode(line: bytes) -> ChangeSet | None:
    """The change set of a journal line; None for a torn or foreign one. StorageTooNew for one of a newer version."""
    head, middle, rest = line.partition(_MIDDLE)
    body = rest[: -len(_TAIL)]
    if not (middle and rest.endswith(_TAIL) and head == b"%b%d" % (_HEAD, zlib.crc32(body))):
        return None
    try:
        content = orjson.loads(body)
        refuse_newer(content)
        return _change_set(content)
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def _change_set(content: Any) -> ChangeSet:
    changes = tuple(Change(kind, key, before, after) for kind, key, before, after in content["set"])
    moves = tuple((name, state) for name, state in content.get("moves", ()))
    renames = tuple((old, new) for old, new in content.get("renames", ()))
    return ChangeSet(
        content["seq"],
        content["ts"],
        content["session"],
        changes,
        moves,
        renames,
        bool(content.get("upkeep")),
        content.get("cause", ""),
    )


def without(line: bytes, names: Collection[str]) -> bytes:
    """A journal line without the changes of the named nodes and of edges that meet them; it keeps its number.

    Nothing of a line that does not hold: it is never read, and may hold a part of what must go.
    """
    entry = decode(line.rstrip(b"\n"))
    if entry is None:
        return b""
    kept = tuple(change for change in entry.changes if not _names_any(change, names))
    if len(kept) == len(entry.changes) and not any(name in names for pair in entry.renames for name in pair):
        return line
    moves = tuple(move for move in entry.moves if move[0] not in names)
    return encode(replace(entry, changes=kept, moves=moves, renames=()))


def _names_any(change: Change, names: Collection[str]) -> bool:
    if change.kind == "node":
        return change.key in names
    edge: Any = change.after or change.before or {}
    return edge.get("from") in names or edge.get("to") in names


def read(path: Path) -> Iterator[ChangeSet]:
    """The change sets of a journal file, in order; a line that does not hold is dropped with a log line."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return
    for number, line in enumerate(data.splitlines(), start=1):
        if not line:
            continue
        try:
            entry = decode(line)
        except StorageTooNew as error:
            raise too_new(path, error) from error
        if entry is None:
            log.warning("%s: line %d is torn or damaged and was left out", path, number)
        else:
            yield entry


def last_seq(path: Path) -> int:
    """Number of the last line of a journal file that holds; 0 when none does."""
    entries = (decode(line) for line in reversed(path.read_bytes().splitlines()))
    return next((entry.seq for entry in entries if entry is not None), 0)


def _ends_torn(path: Path) -> bool:
    """Whether the file ends in the middle of a line, as a crash or a full disk leaves it."""
    with path.open("rb") as file:
        if not file.seek(0, os.SEEK_END):
            return False
        file.seek(-1, os.SEEK_END)
        return file.read() != b"\n"


@dataclass(slots=True)
class _Work:
    path: Path
    data: bytes
    done: Future[None] = field(default_factory=Future)
    closed: Callable[[int], Path] | None = None
    keep: Callable[[bytes], bytes] | None = None

    def __post_init__(self) -> None:
        self.done.set_running_or_notify_cancel()  # a waiter that gives up must not break the thread's result

    @property
    def last_of_batch(self) -> bool:
        return self.closed is not None or self.keep is not None


class Journal:
    """Appends lines to journal files. `append` returns at once; its future resolves when the line is on disk."""

    def __init__(self, disk: Disk = DISK) -> None:
        self._disk = disk
        self._queue: queue.SimpleQueue[_Work | None] = queue.SimpleQueue()
        self._open: dict[Path, int] = {}
        self._torn: set[Path] = set()
        self.syncs = 0
        self._thread = threading.Thread(target=self._run, name="kg-journal", daemon=True)
        self._thread.start()

    def append(self, path: Path, line: bytes) -> Future[None]:
        """Queue a line for `path`; lines of one path reach the file in the order they were queued."""
        work = _Work(path, line)
        self._queue.put(work)
        return work.done

    def rewrite(self, path: Path, keep: Callable[[bytes], bytes]) -> Future[None]:
        """Replace a segment by what `keep` makes of each of its lines (nothing: the line goes), atomically."""
        work = _Work(path, b"", keep=keep)
        self._queue.put(work)
        return work.done

    def rotate(self, path: Path, closed: Callable[[int], Path]) -> Future[None]:
        """Close the segment at `path` after all lines queued before; `closed` names it by its last line's number."""
        work = _Work(path, b"", closed=closed)
        self._queue.put(work)
        return work.done

    def close(self) -> None:
        """Write what is queued and end the thread."""
        self._queue.put(None)
        self._thread.join()
        for descriptor in self._open.values():
            os.close(descriptor)
        self._open.clear()

    def _run(self) -> None:
        ending = False
        while not ending:
            batch: list[_Work] = []
            item = self._queue.get()
            while True:
                if item is None:
                    ending = True
                    break
                batch.append(item)
                if item.last_of_batch or self._queue.empty():
                    break
                item = self._queue.get()
            self._write(batch)

    def _write(self, batch: list[_Work]) -> None:
        by_path: dict[Path, list[_Work]] = {}
        for work in batch:
            by_path.setdefault(work.path, []).append(work)
        for path, works in by_path.items():
            try:
                self._perform(path, works)
            except Exception as error:  # this batch fails, the thread goes on
                log.error("%s: %d change(s) not written: %s", path, len(works), error)
                self._let_go(path)
                for work in works:
                    work.done.set_exception(error)
            else:
                for work in works:
                    work.done.set_result(None)

    def _perform(self, path: Path, works: list[_Work]) -> None:
        self._append(path, b"".join(work.data for work in works))
        last = works[-1]  # a rotation or a rewrite always ends its batch
        if last.closed is not None:
            self._rename(path, last.closed)
        if last.keep is not None:
            self._rewrite(path, last.keep)

    def _append(self, path: Path, data: bytes) -> None:
        if not data:
            return
        descriptor = self._descriptor(path)
        if path in self._torn:  # end whatever a crash or a failed append left, so that the next line stands alone
            data = b"\n" + data
        write_all(descriptor, data, self._disk)
        self._disk.sync_data(descriptor)
        self.syncs += 1
        self._torn.discard(path)

    def _descriptor(self, path: Path) -> int:
        descriptor = self._open.get(path)
        if descriptor is None:
            make_folder(path.parent)
            is_new = not path.exists()
            descriptor = self._disk.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            self._open[path] = descriptor
            if not is_new and _ends_torn(path):
                self._torn.add(path)
            if is_new:  # the file's name must be as durable as its lines
                sync_folder(path.parent, self._disk)
        return descriptor

    def _let_go(self, path: Path) -> None:
        """Close the file; how it ends is looked up when it is next opened."""
        self._torn.discard(path)
        descriptor = self._open.pop(path, None)
        if descriptor is not None:
            os.close(descriptor)

    def _rename(self, path: Path, closed: Callable[[int], Path]) -> None:
        self._let_go(path)
        if path.exists():
            self._disk.replace(path, closed(last_seq(path)))
            sync_folder(path.parent, self._disk)

    def _rewrite(self, path: Path, keep: Callable[[bytes], bytes]) -> None:
        self._let_go(path)
        if path.exists():
            lines = path.read_bytes().splitlines(keepends=True)
            kept = [keep(line) for line in lines]
            if kept != lines:
                write_atomic(path, kept, disk=self._disk)
        left = path.with_name(path.name + ".tmp")
        if left.exists():  # by a rewrite that stopped half way
            self._disk.unlink(left)
