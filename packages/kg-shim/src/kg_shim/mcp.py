"""`kg mcp`: the MCP server that a client sees. Messages from standard input go to the memory server, answers come back.

Nothing but built-in modules is imported while all goes well: there is one such process for every client.
"""

from __future__ import annotations

import _queue
import _signal  # type: ignore[import-not-found]  # `signal` would import `enum`
import _thread
import os
import sys
import time

from kg_shim.carrier import Carrier
from kg_shim.server import choose

LAST_ANSWERS = 30.0  # seconds that answers on their way are waited for once the input has ended
PARENT_CHECK = 2.0  # seconds between two looks at whether the client is still there


class Output:
    """Standard output: whole lines, written by one thread, so a client that is slow to read holds up no message."""

    def __init__(self) -> None:
        self._lines: _queue.SimpleQueue[bytes | None] = _queue.SimpleQueue()
        self._done = _thread.allocate_lock()
        self._done.acquire()
        _thread.start_new_thread(self._write, ())

    def put(self, line: bytes) -> None:
        """Add a line, given without its end."""
        self._lines.put(line + b"\n")

    def close(self) -> None:
        """Come back when everything is written."""
        self._lines.put(None)
        self._done.acquire()

    def _write(self) -> None:
        while line := self._lines.get():
            rest = memoryview(line)
            try:
                while rest:
                    rest = rest[os.write(1, rest) :]
            except OSError:
                os._exit(0)  # nobody listens any more
        self._done.release()


def _end_with(parent: int) -> None:
    """End this process when its parent has: somebody else may hold the other end of our input open."""
    while os.getppid() == parent:
        time.sleep(PARENT_CHECK)
    os._exit(0)


def serve() -> None:
    """Carry messages until the input ends, then wait for the answers that are still on their way."""
    if sys.platform != "win32":
        _thread.start_new_thread(_end_with, (os.getppid(),))
    output = Output()
    carrier = Carrier(choose(os.environ), output.put)
    with open(0, "rb", buffering=65536, closefd=False) as messages:
        for line in messages:
            message = line.strip()
            if message:
                carrier.carry(message)
    carrier.wait(LAST_ANSWERS)
    output.close()


def main() -> None:
    """Run the command; it ends the process."""
    if os.isatty(0):
        print("kg mcp: reads MCP messages from standard input; a client starts it. Ctrl-D ends it.", file=sys.stderr)
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)  # an interrupt ends it at once and without a traceback
    serve()
    os._exit(0)
