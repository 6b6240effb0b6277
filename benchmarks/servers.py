"""Servers as processes: started on a place's port, waited for, always stopped."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from kg_shim import state
from place import Place
from wire import INITIALIZE, Client

PATIENCE_S = 60.0
BETWEEN_S = 0.001
T = TypeVar("T")


class NoServer(Exception):
    """A server ended or did not answer in time; the text has the end of its log."""


@dataclass(frozen=True, slots=True)
class Server:
    """A running server and how it is spoken to."""

    place: Place
    process: subprocess.Popen[bytes]
    began: float
    token: str = ""

    def client(self, *, stays: bool = False) -> Client:
        """A client of its HTTP interface."""
        return Client(self.place.port, self.token, stays=stays)

    def age_ms(self) -> float:
        """Milliseconds since it was spawned."""
        return (time.perf_counter() - self.began) * 1000


@contextmanager
def running(place: Place, command: Sequence[str]) -> Iterator[Server]:
    """A server process; it is ended afterwards, and only it."""
    place.storage.mkdir(exist_ok=True)
    log = place.home / "server.log"
    with open(log, "ab") as output:
        began = time.perf_counter()
        process = subprocess.Popen(
            command,
            env=place.environ,
            cwd=place.storage,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
    try:
        yield Server(place, process, began)
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextmanager
def ours(place: Place, python: str) -> Iterator[Server]:
    """Our server as `kg start` runs it; entered as soon as it has left its token, before MCP is loaded."""
    with running(place, [python, "-P", "-m", "kg_server"]) as server:
        token = awaited(lambda: _token(place), server)
        yield Server(place, server.process, server.began, token)


def ready(server: Server) -> Server:
    """Wait for the first MCP answer."""
    awaited(lambda: answered(server, "/", INITIALIZE), server)
    return server


def answered(server: Server, path: str, body: bytes) -> bytes | None:
    """The answer, or None where nobody listens yet."""
    try:
        return server.client().post(path, body)
    except ConnectionError:
        return None


def awaited(attempt: Callable[[], T | None], server: Server) -> T:
    """Try again and again until there is an answer."""
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        found = attempt()
        if found is not None:
            return found
        if server.process.poll() is not None:
            break
        time.sleep(BETWEEN_S)
    raise NoServer(f"no answer from {server.process.args!r}: {_end_of(server.place.home / 'server.log')}")


def _token(place: Place) -> str | None:
    found = state.read_endpoint(state.state_folder(place.environ))
    return found.token if found and found.port == place.port else None


def _end_of(log: Path) -> str:
    return log.read_text(errors="replace")[-2_000:] if log.exists() else "no log"
