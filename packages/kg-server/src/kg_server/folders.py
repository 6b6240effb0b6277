"""The two folders that a server needs, made and tried before anything is put into them."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from kg_server.settings import Settings
from kg_server.storage.files import make_folder


class FolderUnusable(Exception):
    """A folder cannot be made, or not be written to; the text names it and the setting that chooses another."""


def make_storage_root(settings: Settings) -> None:
    """Make the folder of all memory files. FolderUnusable when it cannot be used."""
    _make(settings.storage_root, "KG_STORAGE_ROOT")


def make_state_folder(settings: Settings) -> None:
    """Make the folder for endpoint, pid and log. FolderUnusable when it cannot be used."""
    _make(settings.state_folder, "XDG_STATE_HOME")


def _make(folder: Path, variable: str) -> None:
    try:
        make_folder(folder)
        if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        raise FolderUnusable(
            f"{folder} cannot be used ({error.strerror}): it must be a folder that you may read and write. Mend that, "
            f"or choose another place with {variable}"
        ) from None
