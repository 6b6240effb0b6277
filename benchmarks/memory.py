"""Resident memory of a process, from /proc."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Memory:
    """Megabytes: all pages, pages shared out among their users, pages of its own."""

    rss: float
    pss: float
    private: float


def memory_of(pid: int) -> Memory:
    """What a process holds now."""
    held: dict[str, int] = {}
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]:
        name, _, amount = line.partition(":")
        held[name] = int(amount.split()[0])
    return Memory(held["Rss"] / 1024, held["Pss"] / 1024, (held["Private_Clean"] + held["Private_Dirty"]) / 1024)


def available() -> bool:
    """Whether this system tells."""
    return Path("/proc/self/smaps_rollup").exists()
