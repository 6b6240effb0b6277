"""One process from its start to its exit, timed from outside: posix_spawn, then wait4."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence

PIPE_BYTES = 60_000
"""What certainly fits into a pipe: payloads and outputs beyond it would need a reader beside the clock."""


class Misbehaved(Exception):
    """A process did not do what its row is about, so its time means nothing."""


def timed(
    command: Sequence[str], environ: Mapping[str, str], payload: Callable[[], bytes], check: Callable[[bytes], bool]
) -> Callable[[], float]:
    """A measurement: run the command with a payload on its standard input, answer milliseconds."""

    def measure() -> float:
        milliseconds, output, status = run(command, environ, payload())
        if status or not check(output):
            raise Misbehaved(f"{os.path.basename(command[0])} ended with {status} and printed {output[:200]!r}")
        return milliseconds

    return measure


def run(command: Sequence[str], environ: Mapping[str, str], payload: bytes) -> tuple[float, bytes, int]:
    """Run a command; answer milliseconds, standard output and exit status."""
    if len(payload) > PIPE_BYTES:
        raise ValueError(f"a payload of {len(payload)} bytes does not fit into a pipe")
    source, sink = os.pipe()
    out, back = os.pipe()
    try:
        os.write(sink, payload)
        os.close(sink)
        actions = [
            (os.POSIX_SPAWN_DUP2, source, 0),
            (os.POSIX_SPAWN_DUP2, back, 1),
            (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
        ]
        began = time.perf_counter_ns()
        child = os.posix_spawn(command[0], list(command), dict(environ), file_actions=actions)
        _, status, _ = os.wait4(child, 0)
        took = time.perf_counter_ns() - began
        os.set_blocking(out, False)
        return took / 1e6, _held(out), os.waitstatus_to_exitcode(status)
    finally:
        for end in (source, out, back):
            os.close(end)


def _held(end: int) -> bytes:
    try:
        return os.read(end, PIPE_BYTES + 10_000)
    except BlockingIOError:
        return b""


def nothing(output: bytes) -> bool:
    """The process printed nothing."""
    return not output


def anything(output: bytes) -> bool:
    """The process printed something."""
    return bool(output)
