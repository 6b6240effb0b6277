"""One server per storage folder."""

from __future__ import annotations

import os
from pathlib import Path

import filelock

from kg_server.storage.files import FILE_MODE, make_folder, write_atomic


class StorageInUse(Exception):
    """Another server holds the storage folder; the text says which."""


class StorageLock:
    """An exclusive lock on a storage folder, held until `release` or the end of the process."""

    def __init__(self, path: Path) -> None:
        make_folder(path.parent)
        self._lock = filelock.FileLock(path, blocking=False, mode=FILE_MODE)
        self._holder = path.with_name(path.name + ".holder")
        try:
            self._lock.acquire()
        except filelock.Timeout:
            raise StorageInUse(
                f"{path.parent} is in use by another server{self._held_by()}, "
                "or give this one another folder with KG_STORAGE_ROOT"
            ) from None
        self._holder.unlink(missing_ok=True)  # a killed server's: it must not be named in our stead

    def announce(self, port: int) -> None:
        """Leave word of who holds the lock, for the message that a second server gives."""
        write_atomic(self._holder, [f"process {os.getpid()} on port {port}".encode()])

    def release(self) -> None:
        """Let the folder go."""
        self._holder.unlink(missing_ok=True)
        self._lock.release()

    def _held_by(self) -> str:
        """Who it is, and how to stop it: the port is what `kg stop` needs to know."""
        try:
            holder = self._holder.read_text(encoding="utf-8")
        except (OSError, ValueError):
            return "; stop that one with `kg stop`, with KG_HTTP_PORT set to its port"
        return f" ({holder}); stop that one with `KG_HTTP_PORT={holder.rpartition(' ')[2]} kg stop`"
