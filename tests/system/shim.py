"""An MCP client that talks to one `kg mcp` process."""

from __future__ import annotations

import json
import queue
import subprocess
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

GIVE_UP_S = 60.0
PROTOCOL = "2025-11-25"
CLIENT = {"name": "claude-code", "version": "2.1.332"}


class Failed(Exception):
    """A tool call that was not carried out; the text is what the client gets to read."""


class Shim:
    """A running `kg mcp` that has been introduced to its client."""

    def __init__(self, command: Sequence[str], environ: Mapping[str, str], folder: Path) -> None:
        self.process = subprocess.Popen(
            command,
            env=dict(environ),
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
        )
        self._number = 0
        self._lines: queue.Queue[bytes] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def initialize(self) -> dict[str, Any]:
        """Introduce the client; the server's own introduction."""
        hello = {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": CLIENT}
        answer = self.ask("initialize", hello)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer

    def say(self, method: str, params: Mapping[str, Any]) -> None:
        """Send a request; its answer is left where it is."""
        self._number += 1
        self._send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": dict(params)})

    def ask(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """One request; its result. Failed with the sentence of an error."""
        self.say(method, params)
        answer = json.loads(self._lines.get(timeout=GIVE_UP_S) or b"{}")
        assert answer.get("id") == self._number, answer
        if "error" in answer:
            raise Failed(answer["error"]["message"])
        return dict(answer["result"])

    def call(self, tool: str, **arguments: Any) -> str:
        """The text of a tool's reply; Failed with the text of a refusal."""
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})
        text = str(result["content"][0]["text"])
        if result.get("isError"):
            raise Failed(text)
        return text

    def put(self, session: str, name: str, gist: str = "", **more: Any) -> str:
        """Write a node of the project."""
        gist = gist or f"What is to be known of {name}"
        return self.call("kg_put_node", session_id=session, level="project", id=name, gist=gist, **more)

    def finish(self) -> None:
        """End it as a client does, by closing its input; it must end well and without a complaint."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self._reader.join(GIVE_UP_S)
        assert self.process.stderr is not None
        assert (self.process.wait(GIVE_UP_S), self.process.stderr.read()) == (0, b"")

    def close(self) -> None:
        """End it at once, however it is."""
        self.process.kill()
        self.process.wait(GIVE_UP_S)
        self._reader.join(GIVE_UP_S)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()

    def _send(self, message: Mapping[str, Any]) -> None:
        assert self.process.stdin is not None
        rest = memoryview(json.dumps(message).encode() + b"\n")
        while rest:
            rest = rest[self.process.stdin.write(rest) :]

    def _read(self) -> None:
        assert self.process.stdout is not None
        with open(self.process.stdout.fileno(), "rb", closefd=False) as output:
            for line in output:
                self._lines.put(line)
        self._lines.put(b"")
