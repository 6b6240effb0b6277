"""The append-only journal: one thread for all graphs, writers that arrive together share one sync.

A line is `{"crc":N,"c":{…}}`, the checksum over the bytes of the inner object as they stand in the file.
"""

from __future__ import annotations

import logging
import os
import queue
import threading
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from kg_server.graph.model import Change
from kg_server.graph.versions import ChangeSet
from kg_server.storage.files import FILE_MODE, make_folder, write_all

log = logging.getLogger(__name__)

_HEAD, _MIDDLE, _TAIL = b'{"crc":', b',"c":', b"}"


def encode(entry: ChangeSet) -> bytes:
    """A change set as its journal line, with the line break."""
    body = orjson.dumps(
        {
            "seq": entry.seq,
            "ts": entry.ts,
            "session": entry.session,
            "set": [[c.kind, c.key, c.before, c.after] for c in entry.changes],
        }
    )
    return b"%b%d%b%b%b\n" % (_HEAD, zlib.crc32(body), _MIDDLE, body, _TAIL)


def decode(line: bytes) -> ChangeSet | None:
    """The change set of a journal line; None for a torn or foreign one."""
    head, middle, rest = line.partition(_MIDDLE)
    body = rest[: -len(_TAIL)]
    number = head[len(_HEAD) :]
    if not (middle and head.startswith(_HEAD) and number.isdigit() and rest.endswith(_TAIL)):
        return None
    if zlib.crc32(body) != int(number):
        return None
    content: Any = orjson.loads(body)
    changes = tuple(Change(kind, key, before, after) for kind, key, before, after in content["set"])
    return ChangeSet(content["seq"], content["ts"], content["session"], changes)


def read(path: Path) -> Iterator[ChangeSet]:
    """The change sets of a journal file, in order; a line that does not hold is dropped with a log line."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return
    for number, line in enumerate(data.splitlines(), start=1):
        if not line:
            continue
        entry = decode(line)
        if entry is None:
            log.warning("%s: line %d is torn or damaged and was left out", path, number)
        else:
            yield entry


@dataclass(slots=True)
class _Work:
    path: Path
    data: bytes
    done: Future[None] = field(default_factory=Future)
    closed: Path | None = None


class Journal:
    """Appends lines to journal files. `append` returns at once; its future resolves when the line is on disk."""

    def __init__(self, sync: Callable[[int], None] | None = None) -> None:
        self._sync = sync or (os.fdatasync if hasattr(os, "fdatasync") else os.fsync)
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

    def rotate(self, path: Path, closed: Path) -> Future[None]:
        """Close the segment at `path` under the name `closed`, after all lines queued before."""
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
                if item.closed is not None or self._queue.empty():
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
                self._give_up(path)
                for work in works:
                    work.done.set_exception(error)
            else:
                for work in works:
                    work.done.set_result(None)

    def _perform(self, path: Path, works: list[_Work]) -> None:
        self._append(path, b"".join(work.data for work in works))
        closed = works[-1].closed  # a rotation always ends its batch
        if closed is not None:
            self._rename(path, closed)

    def _append(self, path: Path, data: bytes) -> None:
        if not data:
            return
        descriptor = self._descriptor(path)
        if path in self._torn:  # end whatever a failed append left behind, so that the next line stands alone
            data = b"\n" + data
        write_all(descriptor, data)
        self._sync(descriptor)
        self.syncs += 1
        self._torn.discard(path)

    def _descriptor(self, path: Path) -> int:
        descriptor = self._open.get(path)
        if descriptor is None:
            make_folder(path.parent)
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, FILE_MODE)
            self._open[path] = descriptor
        return descriptor

    def _give_up(self, path: Path) -> None:
        self._torn.add(path)
        descriptor = self._open.pop(path, None)
        if descriptor is not None:
            os.close(descriptor)

    def _rename(self, path: Path, closed: Path) -> None:
        descriptor = self._open.pop(path, None)
        if descriptor is not None:
            os.close(descriptor)
        if path.exists():
            os.replace(path, closed)
