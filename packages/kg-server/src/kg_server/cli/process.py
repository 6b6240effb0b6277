"""The server as a process: found, started, stopped. Only a process that is ours is ever stopped."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any

import filelock
import psutil
from kg_shim import state

from kg_server.folders import FolderUnusable, make_state_folder, make_storage_root
from kg_server.settings import Settings, stop_command, with_full_paths
from kg_server.storage.files import FILE_MODE, write_atomic
from kg_server.storage.pid_file import SAME_START_S, read_pid, write_pid

START_S, STOP_S, LOCK_S = 15.0, 10.0, 30.0
POLL_S = 0.02
LOG_BYTES = 4 << 20


class Failed(Exception):
    """A start or stop that did not work; the text says why and what to do."""


def health(settings: Settings, timeout_s: float = 2.0) -> dict[str, Any] | None:
    """What the server on our port says of itself; None when no kg server answers there."""
    return health_over(http.client.HTTPConnection(settings.host, settings.port, timeout=timeout_s))


def health_over(connection: http.client.HTTPConnection, path: str = "") -> dict[str, Any] | None:
    """As `health`, of the server at the other end of a connection, which is closed."""
    try:
        connection.request("GET", f"{path}/health")
        answer = connection.getresponse()
        content = json.loads(answer.read(1 << 20))
    except (OSError, ValueError, http.client.HTTPException):
        return None
    finally:
        connection.close()
    if not isinstance(content, dict):
        return None
    is_ours = isinstance(content.get("storage_root"), str) and isinstance(content.get("pid"), int)
    return content if is_ours else None


def is_port_taken(settings: Settings) -> bool:
    """Whether anything at all listens on our port."""
    with contextlib.suppress(OSError), socket.create_connection((settings.host, settings.port), 0.5):
        return True
    return False


def own_server(settings: Settings) -> dict[str, Any] | None:
    """As `health`, for our storage root; Failed when the server on our port keeps another memory."""
    found = health(settings)
    if found is not None and os.path.realpath(found["storage_root"]) != os.path.realpath(settings.storage_root):
        raise Failed(
            f"the server on port {settings.port} keeps the memory in {found['storage_root']}, not in "
            f"{settings.storage_root}. Choose another port with KG_HTTP_PORT, or stop that server with "
            f"`{stop_command(settings.port, found['storage_root'])}`"
        )
    return found


@contextlib.contextmanager
def lifecycle(settings: Settings) -> Iterator[None]:
    """Held while starting or stopping, so that ten starts at once make one server."""
    try:
        make_state_folder(settings)
    except FolderUnusable as error:
        raise Failed(str(error)) from None
    lock = filelock.FileLock(settings.state_folder / state.LIFECYCLE_LOCK_FILE, timeout=LOCK_S, mode=FILE_MODE)
    try:
        with lock:
            yield
    except filelock.Timeout:
        raise Failed(f"another `kg start` or `kg stop` has been at work for {LOCK_S:.0f} s; try again") from None


def start(settings: Settings) -> dict[str, Any]:
    """Make sure our server runs and answers; returns what it says of itself."""
    with lifecycle(settings):
        running = own_server(settings)
        if running is not None:
            return running
        try:
            found = _spawn_and_wait(settings)
        except Failed as error:
            _record(settings, error)
            raise
        except (FolderUnusable, OSError) as error:
            why = f"the server could not be started: {error}. Mend that and try again"
            failed = Failed(str(error) if isinstance(error, FolderUnusable) else why)
            _record(settings, failed)
            raise failed from error
        (settings.state_folder / state.START_ERROR_FILE).unlink(missing_ok=True)
        return found


def _record(settings: Settings, error: Failed) -> None:
    """Leave the cause for the session-start hook to read out."""
    detail = f"{error}\n\n{time.strftime('%Y-%m-%d %H:%M:%S')}\n{log_file(settings)}\n"
    with contextlib.suppress(OSError):  # a full disk may be the very cause
        write_atomic(settings.state_folder / state.START_ERROR_FILE, [detail.encode()])


class Stopped(Enum):
    """What became of a stop."""

    ENDED = "The server is stopped."
    KILLED = f"The server did not end within {STOP_S:.0f} s and was killed; every acknowledged write is on disk."
    NONE = "No server was running."


def stop(settings: Settings) -> Stopped:
    """Stop our server, which first answers what it was asked and writes what it holds."""
    with lifecycle(settings):
        process = _our_process(settings)
        if process is None:
            return Stopped.NONE
        try:
            process.send_signal(signal.SIGTERM)
            outcome = Stopped.ENDED if _has_ended(process) else Stopped.KILLED
            if outcome is Stopped.KILLED:
                process.kill()
                _has_ended(process)
        except psutil.AccessDenied:
            raise Failed(f"the server is process {process.pid} of another user, who alone can stop it") from None
        except psutil.NoSuchProcess:  # by itself, in this moment
            outcome = Stopped.ENDED
        (settings.state_folder / state.PID_FILE).unlink(missing_ok=True)
        return outcome


def _has_ended(process: psutil.Process) -> bool:
    """Wait for the end of a process; False when it still runs after the bound."""
    until = time.monotonic() + STOP_S
    while _is_alive(process):
        if time.monotonic() > until:
            return False
        time.sleep(POLL_S)
    return True


def _is_alive(process: psutil.Process) -> bool:
    """Whether it runs; one that has ended and only waits to be collected by its parent does not."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def log_file(settings: Settings) -> Path:
    """Where the server's log lies."""
    return settings.state_folder / state.LOG_FILE


def _spawn_and_wait(settings: Settings) -> dict[str, Any]:
    log = log_file(settings)
    if log.exists() and log.stat().st_size > LOG_BYTES:
        log.replace(log.with_name(log.name + ".prev"))
    begins_at = log.stat().st_size if log.exists() else 0
    make_storage_root(settings)
    with open(log, "ab", opener=lambda path, flags: os.open(path, flags, FILE_MODE)) as output:
        child = subprocess.Popen(  # detached: it outlives this terminal and holds none of its streams
            [sys.executable, "-P", "-m", "kg_server"],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd=settings.storage_root,
            env=with_full_paths(os.environ, settings),
            start_new_session=True,
        )
    until = time.monotonic() + START_S
    while time.monotonic() < until:
        if child.poll() is not None:
            raise Failed(_cause(log, begins_at, child.returncode))
        endpoint = state.read_endpoint(str(settings.state_folder))
        found = health(settings, 0.5) if endpoint else None
        if found is not None and found["pid"] == child.pid:
            write_pid(settings.state_folder, child.pid)
            return found
        time.sleep(POLL_S)
    child.terminate()
    raise Failed(f"the server did not answer within {START_S:.0f} s and was ended; its log is {log}")


def _cause(log: Path, begins_at: int, status: int) -> str:
    """The sentence the server ended with, else its exit status and the log's place."""
    with open(log, "rb") as file:
        file.seek(begins_at)
        lines = file.read(1 << 20).decode("utf-8", "replace").splitlines()
    for line in reversed(lines):
        if line.startswith("kg: "):
            return line.removeprefix("kg: ")
    return f"the server ended with status {status} while starting; its log is {log}"


def _our_process(settings: Settings) -> psutil.Process | None:
    """The running server: the process in the pid file if it is the one that wrote it, else whoever answers as ours.

    Failed where the server on our port keeps another memory.
    """
    found = own_server(settings)
    left = read_pid(settings.state_folder)
    with contextlib.suppress(psutil.NoSuchProcess):
        if left is not None:
            process = psutil.Process(left[0])
            if abs(process.create_time() - left[1]) < SAME_START_S and _is_alive(process):
                return process
        if found is not None:  # it has not left its pid yet; whoever listens could name any process
            process = psutil.Process(found["pid"])
            if _listens(process, settings.port):
                return process
            raise Failed(f"what listens on port {settings.port} says that it is process {process.pid}, which is not so")
    return None


def _listens(process: psutil.Process, port: int) -> bool:
    try:
        connections = process.net_connections("tcp")
    except psutil.AccessDenied:
        raise Failed(f"the server is process {process.pid} of another user, who alone can stop it") from None
    return any(one.status == psutil.CONN_LISTEN and one.laddr.port == port for one in connections)
