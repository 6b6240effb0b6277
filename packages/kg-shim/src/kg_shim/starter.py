"""Starts the server from the shim: `kg start` in a process of its own. Imported when a server is found to be down."""

from __future__ import annotations

import _thread
import importlib.util
import os
import sys
import time

from kg_shim import state

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

NOT_INSTALLED = (
    "The memory server is not running and not installed beside `kg`, so there is no memory. Install the package "
    "kg-server and your client's plugin package into the environment that kg-shim is in, as the README of kg says, "
    "then reconnect."
)


def can_start() -> bool:
    """Tell whether the server is installed in this interpreter's environment."""
    return importlib.util.find_spec("kg_server") is not None


class Start:
    """One run of `kg start`."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._since = time.time() - 1  # some file systems round a time down to the second
        self.code: int | None = None  # None while it runs
        self._wait = _spawn([sys.executable, *_safe_path(), "-m", "kg_shim", "start"])
        _thread.start_new_thread(self._watch, ())

    def _watch(self) -> None:
        self.code = self._wait()

    def failure(self) -> str | None:
        """Answer why it failed in one sentence, None when it did not (yet)."""
        if not self.code:
            return None
        cause = state.read_start_error(self._folder, self._since) or f"`kg start` ended with exit code {self.code}"
        return f"The memory server did not start: {cause.rstrip('.')}. `kg logs` tells more."


def _safe_path() -> list[str]:
    """With -m the working folder would come first on the path, and a project's own json.py with it."""
    return ["-P"] if sys.version_info >= (3, 11) else []


def _spawn(command: list[str]) -> Callable[[], int]:
    """Run the command apart from the client: none of its streams, a session of its own. Answer: wait for its exit."""
    if sys.platform != "win32":
        null = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 1, 2)]
        try:
            child = os.posix_spawn(command[0], command, os.environ, file_actions=null, setsid=True)
        except NotImplementedError:
            pass  # a C library that cannot: `subprocess` forks instead, at the price of its import
        else:
            return lambda: _exit_code(child)
    import subprocess

    apart = getattr(subprocess, "CREATE_NO_WINDOW", 0) | getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)  # Windows
    null_stream = subprocess.DEVNULL
    return subprocess.Popen(
        command,
        stdin=null_stream,
        stdout=null_stream,
        stderr=null_stream,
        start_new_session=True,
        creationflags=apart,
    ).wait


def _exit_code(child: int) -> int:
    try:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    except ChildProcessError:
        return 0  # the client had us ignore our children's ends: how it ended is not known
