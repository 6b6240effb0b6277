"""A client as the demo plays it: hook events through `kg hook`, tool calls through `kg mcp`."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kg_server.plugins.manager import HarnessView
from kg_server.plugins.records import Event

PROTOCOL = "2025-11-25"
_KG = [sys.executable, "-P", "-m", "kg_shim"]


class DemoFailed(Exception):
    """A step of the demo did not go as it must; the text says which."""


class HookClient:
    """Sends one client's hook events the way the client does: a process, a payload on its standard input."""

    def __init__(self, harness: HarnessView, environ: Mapping[str, str]) -> None:
        self._harness = harness
        self._environ = dict(environ)

    def send(self, event: Event) -> dict[str, Any]:
        """The hook's output; empty for silence."""
        sample = self._harness.sample_payload(event)
        if sample is None:
            raise DemoFailed(f"the plugin for {self._harness.info.title} has no sample of {type(event).__name__}")
        name, payload = sample
        command = [*_KG, "hook", name, self._harness.info.name]
        done = subprocess.run(
            command, input=json.dumps(payload).encode(), capture_output=True, env=self._environ, check=False, timeout=30
        )
        if done.returncode or done.stderr:
            raise DemoFailed(f"kg hook {name} ended with {done.returncode}: {done.stderr.decode()[:500]}")
        output: dict[str, Any] = json.loads(done.stdout) if done.stdout else {}
        return output


class ToolClient:
    """An MCP client over the real stdio shim."""

    def __init__(self, environ: Mapping[str, str], folder: Path) -> None:
        self._process = subprocess.Popen(
            [*_KG, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=dict(environ), cwd=folder
        )
        self._number = 0
        hello = {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": {"name": "kg-demo", "version": "1"}}
        self._ask("initialize", hello)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def call(self, tool: str, **arguments: Any) -> str:
        """The text of a tool's reply."""
        result = self._ask("tools/call", {"name": tool, "arguments": arguments})
        text: str = result["content"][0]["text"]
        if result.get("isError"):
            raise DemoFailed(f"{tool}: {text}")
        return text

    def close(self) -> None:
        """End the shim as a client does: close its input."""
        self._process.communicate(timeout=30)

    def _ask(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        self._number += 1
        self._send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        assert self._process.stdout is not None
        answer = json.loads(self._process.stdout.readline() or b"{}")
        if "result" not in answer:
            raise DemoFailed(f"{method} was not answered: {answer}")
        result: dict[str, Any] = answer["result"]
        return result

    def _send(self, message: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()
