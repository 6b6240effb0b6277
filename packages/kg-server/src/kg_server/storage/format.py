"""The number of the file format, so that an older version never mistakes what a newer one wrote."""

from __future__ import annotations

from pathlib import Path

from kg_server.storage.errors import StorageTooNew

FORMAT = 1
"""In the `_meta` of a graph file; one without it, as other writers of this layout leave it, counts as 1.

A version that writes journal lines of another shape puts its number into each of them.
"""


def too_new(path: Path, error: StorageTooNew) -> StorageTooNew:
    """What to tell the person of a file that `refuse_newer` refused."""
    return StorageTooNew(
        f"{path} was written by a newer version of kg: {error}. Nothing was changed: update kg, "
        "or name another folder in KG_STORAGE_ROOT"
    )


def refuse_newer(meta: object) -> None:
    """StorageTooNew when a `_meta` or a journal line names a format that this version does not know."""
    written = meta.get("format") if isinstance(meta, dict) else None
    if isinstance(written, int) and written > FORMAT:
        raise StorageTooNew(f"it has format {written}, and this version of kg knows formats up to {FORMAT}")
