"""A decision log: JSON lines, appended without a sync, rotated by size."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

import orjson

from kg_server.storage.files import FILE_MODE, make_folder, write_all, write_atomic

log = logging.getLogger(__name__)


class JsonLog:
    """Appends one object a line; beyond `most` bytes the file becomes `<name>.prev` and a new one begins."""

    def __init__(self, path: Path, most: int = 8 << 20) -> None:
        self._path = path
        self._previous = path.with_name(path.name + ".prev")
        self._most = most
        self._lock = threading.Lock()

    def write(self, entry: Mapping[str, object]) -> None:
        """Append an entry; a failure is logged and never reaches the caller."""
        try:
            line = orjson.dumps(entry, default=str) + b"\n"
            with self._lock:
                self._append(line)
        except (OSError, TypeError, ValueError) as error:
            log.warning("%s: a decision was not logged: %s", self._path, error)

    def lines(self) -> Iterator[bytes]:
        """The lines of the file before this one and of this one, oldest first, as they stand."""
        for path in (self._previous, self._path):
            if path.is_file():
                with path.open("rb") as file:
                    yield from file

    def forget(self, names: Collection[str]) -> None:
        """Take out every line that names one of these, in the file and the one before it."""
        quoted = [orjson.dumps(name) for name in names]
        with self._lock:
            for path in (self._path, self._previous):
                if path.is_file():
                    lines = path.read_bytes().splitlines(keepends=True)
                    kept = [line for line in lines if not any(name in line for name in quoted)]
                    if len(kept) < len(lines):
                        write_atomic(path, kept)

    def _append(self, line: bytes) -> None:
        make_folder(self._path.parent)
        descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, FILE_MODE)
        try:
            write_all(descriptor, line)
            full = os.fstat(descriptor).st_size > self._most
        finally:
            os.close(descriptor)
        if full:
            os.replace(self._path, self._previous)
