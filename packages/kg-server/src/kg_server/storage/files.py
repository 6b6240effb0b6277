"""Writing a file so that a reader, or a crash, finds the old one or the new one, whole."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

FILE_MODE, FOLDER_MODE = 0o600, 0o700


def make_folder(folder: Path) -> None:
    """Create a folder and its parents, readable by the user alone; an existing one is left as it is."""
    if not folder.parent.exists():
        make_folder(folder.parent)
    folder.mkdir(mode=FOLDER_MODE, exist_ok=True)


def write_atomic(target: Path, parts: Iterable[bytes], previous: Path | None = None) -> None:
    """Replace `target` by the joined `parts`, durably; what it held before stays as `previous`, if given."""
    temporary = target.with_name(target.name + ".tmp")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, FILE_MODE)
    try:
        for part in parts:
            write_all(descriptor, part)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    if previous is not None and target.exists():
        _keep(target, previous)
    os.replace(temporary, target)
    sync_folder(target.parent)


def write_all(descriptor: int, data: bytes) -> None:
    """Write every byte; `os.write` may take fewer."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def sync_folder(folder: Path) -> None:
    """Make a rename in `folder` durable (not needed, and not possible, on Windows)."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _keep(target: Path, previous: Path) -> None:
    temporary = previous.with_name(previous.name + ".tmp")
    temporary.unlink(missing_ok=True)
    try:
        os.link(target, temporary)
    except OSError:  # a file system without hard links
        shutil.copy2(target, temporary)
    os.replace(temporary, previous)
