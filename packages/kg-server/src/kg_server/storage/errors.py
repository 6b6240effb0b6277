"""What is wrong with a store, in words for the person who keeps it."""

from __future__ import annotations


class StorageBroken(Exception):
    """A stored graph cannot be read; the text names the files and what to do. Nothing was overwritten."""


class StorageTooNew(StorageBroken):
    """A stored graph was written by a newer version of kg, in a format that this one does not know."""


class ChangedOutside(Exception):
    """Somebody else wrote the snapshot since it was last looked at: look again before writing over it."""
