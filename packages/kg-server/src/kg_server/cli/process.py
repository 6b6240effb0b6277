"""The server as a process: found, started, stopped. Only a process that is ours is ever stopped."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import filelock
import psutil
from kg_shim import state

from kg_server.settings import Settings
from kg_server.storage.files import FILE_MODE, make_folder, write_atomic
from kg_server.storage.pid_file import SAME_START_S, read_pid, write_pid

START_S, STOP_S, LOCK_S = 15.0, 10.0, 30.0
POLL_S = 0.02
LOG_BYTES = 4 << 20


class Failed(Exception):
    """A start or stop that did not work; the text says why and what to do."""


def health(settings: Settings, timeout_s: float = 2.0) -> dict[str, Any] | None:
    """What the server on our port says of itself; None when no kg server answers there."""
    connection = http.client.HTTPConnection(settings.host, settings.port, timeout=timeout_s)
    try:
        connection.request("GET", "/health")
        answer = connection.getresponse()
        content = json.loads(answer.read(1 << 20))
    except (OSError, ValueError, http.client.HTTPException):
        return None
    finally:
        connection.close()
    return content if isinstance(content, dict) and "storage_root" in content else None


def own_server(settings: Settings) -> dict[str, Any] | None:
    """As `health`, for our storage root; Failed when the server on our port keeps another memory."""
    found = health(settings)
    if found is not None and os.path.realpath(found["storage_root"]) != os.path.realpath(settings.storage_root):
        raise Failed(
            f"the server on port {settings.port} keeps the memory in {found['storage_root']}, not in "
            f"{settings.storage_root}. Choose another port with KG_HTTP_PORT, or stop that server where it was started"
        )
    return found


@contextlib.contextmanager
def lifecycle(settings: Settings) -> Iterator[None]:
    """Held while starting or stopping, so that ten starts at once make one server."""
    make_folder(settings.state_folder)
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
        except OSError as error:
            failed = Failed(
                f"the server could not be started: {error.filename}: {error.strerror}. Put that right and try again"
            )
            _record(settings, failed)
            raise failed from error
        (settings.state_folder / state.START_ERROR_FILE).unlink(missing_ok=True)
        return found


def _record(settings: Settings, error: Failed) -> None:
    """Leave the cause for the session-start hook to read out."""
    detail = f"{error}\n\n{time.strftime('%Y-%m-%d %H:%M:%S')}\n{log_file(settings)}\n"
    write_atomic(settings.state_folder / state.START_ERROR_FILE, [detail.encode()])


def stop(settings: Settings) -> bool:
    """Stop our server; False when none runs."""
    with lifecycle(settings):
        process = _our_process(settings)
        if process is None:
            return False
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(STOP_S)
        except psutil.TimeoutExpired:
            process.kill()
            process.wait(STOP_S)
        (settings.state_folder / state.PID_FILE).unlink(missing_ok=True)
        return True


def log_file(settings: Settings) -> Path:
    """Where the server's log lies."""
    return settings.state_folder / state.LOG_FILE


def _spawn_and_wait(settings: Settings) -> dict[str, Any]:
    log = log_file(settings)
    if log.exists() and log.stat().st_size > LOG_BYTES:
        log.replace(log.with_name(log.name + ".prev"))
    begins_at = log.stat().st_size if log.exists() else 0
    make_folder(settings.storage_root)
    with open(log, "ab", opener=lambda path, flags: os.open(path, flags, FILE_MODE)) as output:
        child = subprocess.Popen(  # detached: it outlives this terminal and holds none of its streams
            [sys.executable, "-P", "-m", "kg_server"],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd=settings.storage_root,
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
    """The running server: the process in the pid file if it is the one that wrote it, else whoever answers as ours."""
    left = read_pid(settings.state_folder)
    with contextlib.suppress(psutil.NoSuchProcess):
        if left is not None:
            process = psutil.Process(left[0])
            if abs(process.create_time() - left[1]) < SAME_START_S:
                return process
        found = own_server(settings)
        if found is not None:
            return psutil.Process(found["pid"])
    return None
