"""Writing a file so that a reader, or a crash, finds the old one or the new one, whole."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

FILE_MODE, FOLDER_MODE = 0o600, 0o700
_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EXDEV)


class Disk:
    """The calls that change a file system, in one place: a test can fail or stop at any of them."""

    def open(self, path: Path, flags: int) -> int:
        """Open a file for writing, readable by the user alone."""
        return os.open(path, flags, FILE_MODE)

    def write(self, descriptor: int, data: bytes | memoryview) -> int:
        """Write some of the bytes; returns how many."""
        return os.write(descriptor, data)

    def sync(self, descriptor: int) -> None:
        """Make what was written durable, the file's size and times included."""
        os.fsync(descriptor)

    def sync_data(self, descriptor: int) -> None:
        """Make what was appended durable."""
        (os.fdatasync if hasattr(os, "fdatasync") else os.fsync)(descriptor)

    def replace(self, source: Path, target: Path) -> None:
        """Rename a file over another."""
        os.replace(source, target)

    def link(self, source: Path, target: Path) -> None:
        """Give a file a second name."""
        os.link(source, target)

    def unlink(self, path: Path) -> None:
        """Delete a file."""
        path.unlink(missing_ok=True)


DISK = Disk()


def make_folder(folder: Path) -> None:
    """Create a folder and its parents, readable by the user alone; an existing one is left as it is."""
    if folder.is_dir():
        return
    if not folder.parent.exists():
        make_folder(folder.parent)
    folder.mkdir(mode=FOLDER_MODE, exist_ok=True)
    sync_folder(folder.parent)


def write_atomic(target: Path, parts: Iterable[bytes], previous: Path | None = None, disk: Disk = DISK) -> None:
    """Replace `target` by the joined `parts`, durably; what it held before stays as `previous`, if given."""
    temporary = target.with_name(target.name + ".tmp")
    descriptor = disk.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    try:
        for part in parts:
            write_all(descriptor, part, disk)
        disk.sync(descriptor)
    finally:
        os.close(descriptor)
    if previous is not None and target.exists():
        _keep(target, previous, disk)
    disk.replace(temporary, target)
    sync_folder(target.parent, disk)


def write_all(descriptor: int, data: bytes, disk: Disk = DISK) -> None:
    """Write every byte; one call may take fewer."""
    view = memoryview(data)
    while view:
        view = view[disk.write(descriptor, view) :]


def sync_folder(folder: Path, disk: Disk = DISK) -> None:
    """Make a rename in `folder` durable (not needed, and not possible, on Windows)."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        disk.sync(descriptor)
    finally:
        os.close(descriptor)


def _keep(target: Path, previous: Path, disk: Disk) -> None:
    temporary = previous.with_name(previous.name + ".tmp")
    if temporary.exists():  # left by a save that stopped half way
        disk.unlink(temporary)
    try:
        disk.link(target, temporary)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        shutil.copy2(target, temporary)
    disk.replace(temporary, previous)
