"""A process that is spoken to line by line, as an MCP client speaks to its server over stdio."""

from __future__ import annotations

import contextlib
import os
import select
import time
from collections.abc import Iterator, Mapping, Sequence

PATIENCE_S, LEAVE_S = 60.0, 1.0


class Silent(Exception):
    """The process ended, or said nothing in time."""


class Talker:
    """A spawned process with our ends of its standard input and output."""

    def __init__(self, command: Sequence[str], environ: Mapping[str, str]) -> None:
        source, self._input = os.pipe()
        self._output, sink = os.pipe()
        actions = [
            (os.POSIX_SPAWN_DUP2, source, 0),
            (os.POSIX_SPAWN_DUP2, sink, 1),
            (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
        ]
        self._command = command
        self._held = b""
        self.began = time.perf_counter_ns()
        self.pid = os.posix_spawn(command[0], list(command), dict(environ), file_actions=actions)
        os.close(source)
        os.close(sink)

    def ask(self, line: bytes) -> bytes:
        """Send a line, answer the line that comes back."""
        os.write(self._input, line + b"\n")
        while b"\n" not in self._held:
            if not select.select([self._output], [], [], PATIENCE_S)[0]:
                raise Silent(f"{self._command!r} said nothing for {PATIENCE_S:.0f} s")
            part = os.read(self._output, 262_144)
            if not part:
                raise Silent(f"{self._command!r} ended without an answer to {line[:80]!r}")
            self._held += part
        answer, _, self._held = self._held.partition(b"\n")
        return answer

    def age_ms(self) -> float:
        """Milliseconds since it was spawned."""
        return (time.perf_counter_ns() - self.began) / 1e6

    def close(self) -> None:
        """End it as a client does, by closing its input; one that does not mind is killed."""
        os.close(self._input)
        until = time.monotonic() + LEAVE_S
        while os.waitpid(self.pid, os.WNOHANG) == (0, 0):
            if time.monotonic() > until:
                os.kill(self.pid, 9)
                os.waitpid(self.pid, 0)
                break
            time.sleep(0.002)
        os.close(self._output)


@contextlib.contextmanager
def talking(command: Sequence[str], environ: Mapping[str, str]) -> Iterator[Talker]:
    """A talker that is ended afterwards."""
    talker = Talker(command, environ)
    try:
        yield talker
    finally:
        talker.close()
