"""Server processes for outside programs: the app with the suite's plugin, and the server as users have it."""

from __future__ import annotations

import contextlib
import http.client
import os
import secrets
import select
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
GIVE_UP_S = 60.0


@dataclass(frozen=True)
class Server:
    """A running server; a request needs `token` unless it adds that by itself."""

    url: str
    token: str


@contextlib.contextmanager
def with_suite_plugin(folder: Path) -> Iterator[Server]:
    """The app with the suite's tools, loaded as any plugin is, and with the token added to every request."""
    info = folder / "packages" / "suite_kg-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: suite-kg\nVersion: 1.0\n", "utf-8")
    (info / "entry_points.txt").write_text("[kg]\nsuite = suite_plugin\n", "utf-8")
    path = os.pathsep.join([str(info.parent), str(HERE)])
    token = secrets.token_urlsafe(32)
    environ = {"PYTHONPATH": path, "KG_PLUGINS": "suite", "SUITE_TOKEN": token}
    with _serving(folder, [str(HERE / "suite_server.py")], environ) as port:
        yield Server(f"http://127.0.0.1:{port}/", token)


@contextlib.contextmanager
def as_users_have_it(folder: Path) -> Iterator[Server]:
    """The server itself."""
    with _serving(folder, ["-m", "kg_server"], {}) as port:
        (endpoint,) = (folder / "state").rglob("endpoint")
        yield Server(f"http://127.0.0.1:{port}/", endpoint.read_text("ascii").split()[1])


@contextlib.contextmanager
def _serving(folder: Path, arguments: list[str], environ: dict[str, str]) -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
    home, log = folder / "home", folder / "server.log"
    home.mkdir(parents=True)
    own = {
        "HOME": str(home),
        "PATH": os.defpath,
        "XDG_STATE_HOME": str(folder / "state"),
        "KG_STORAGE_ROOT": str(folder / "store"),
        "KG_HTTP_PORT": str(port),
    }
    with log.open("wb") as output:
        command = [sys.executable, "-P", *arguments]
        process = subprocess.Popen(command, env={**own, **environ}, cwd=home, stdout=output, stderr=output)
    try:
        _until_mcp_is_ready(process, port, log)
        yield port
    finally:
        process.terminate()
        process.wait(GIVE_UP_S)


def _until_mcp_is_ready(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline = time.monotonic() + GIVE_UP_S
    while not _is_ready(port):
        assert process.poll() is None, log.read_text("utf-8")
        assert time.monotonic() < deadline, f"in vain: MCP is ready\n{log.read_text('utf-8')}"
        select.select([], [], [], 0.02)


def _is_ready(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=GIVE_UP_S)
    try:
        connection.request("GET", "/health")
        return b'"mcp":"ready"' in connection.getresponse().read()
    except OSError:
        return False
    finally:
        connection.close()
