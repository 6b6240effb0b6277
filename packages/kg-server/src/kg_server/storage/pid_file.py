"""The server's pid together with its start time: a pid alone may be another process's by the time it is read."""

from __future__ import annotations

from pathlib import Path

from kg_shim import state

from kg_server.storage.files import make_folder, write_atomic

SAME_START_S = 1.0


def write_pid(folder: Path, pid: int) -> None:
    """Leave the pid and start time of a running process in the state folder."""
    import psutil

    make_folder(folder)
    created = psutil.Process(pid).create_time()
    write_atomic(folder / state.PID_FILE, [f"{pid} {created:.2f}\n".encode()])


def read_pid(folder: Path) -> tuple[int, float] | None:
    """The pid and start time that were left; None when there are none."""
    try:
        pid, created = (folder / state.PID_FILE).read_text(encoding="ascii").split()
        left = int(pid), float(created)
    except (OSError, ValueError):
        return None
    return left if 0 < left[0] < 1 << 31 else None
