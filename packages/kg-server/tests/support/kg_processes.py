"""Real server processes in a scratch home, with Acme installed beside them."""

from __future__ import annotations

import http.client
import json
import os
import select
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

GIVE_UP_S = 60.0
POLL_S = 0.01
SUPPORT = Path(__file__).parent


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def until(reached: Callable[[], bool], what: str) -> None:
    """Wait for something that another process does; a bounded time."""
    deadline = time.monotonic() + GIVE_UP_S
    while not reached():
        assert time.monotonic() < deadline, f"in vain: {what}"
        select.select([], [], [], POLL_S)


class ServerProcess(subprocess.Popen[bytes]):
    """`python -m kg_server`, its log in a file."""

    log_path: Path

    def log(self) -> str:
        """What it logged."""
        return self.log_path.read_text(encoding="utf-8", errors="replace")


class Machine:
    """A home folder with a storage root, a state folder and a port of its own, and the client Acme installed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.project = self.home / "app"
        self.store = folder / "store"
        self.packages = folder / "packages"
        self.port = free_port()
        self.state = folder / "state" / "knowledge-graph" / f"port-{self.port}"
        self.project.mkdir(parents=True)
        self._install_acme()
        self.environ = {
            "HOME": str(self.home),
            "PATH": os.defpath,
            "PYTHONPATH": os.pathsep.join([str(self.packages), str(SUPPORT)]),
            "XDG_STATE_HOME": str(folder / "state"),
            "KG_STORAGE_ROOT": str(self.store),
            "KG_HTTP_PORT": str(self.port),
            "KG_PLUGINS": "acme",
        }
        self._started: list[int] = []

    def _install_acme(self) -> None:
        info = self.packages / "acme_kg-7.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-kg\nVersion: 7.0\n", encoding="utf-8")
        (info / "entry_points.txt").write_text("[kg]\nacme = acme_plugin\n", encoding="utf-8")

    # --- the command line

    def run(
        self, *words: str, cwd: Path | None = None, payload: str = "", **environ: str
    ) -> subprocess.CompletedProcess[str]:
        """Run `kg` to its end, in the home folder unless told otherwise; an empty variable is taken away."""
        wanted = {**self.environ, **environ}
        return subprocess.run(
            [sys.executable, "-P", "-m", "kg_shim", *words],
            env={name: value for name, value in wanted.items() if value},
            cwd=cwd or self.home,
            input=payload,
            capture_output=True,
            encoding="utf-8",
            timeout=GIVE_UP_S,
            check=False,
        )

    def kg(self, *words: str, cwd: Path | None = None, **environ: str) -> str:
        """Run `kg`, which must end well; its output."""
        done = self.run(*words, cwd=cwd, **environ)
        assert (done.returncode, done.stderr) == (0, ""), (words, done)
        return done.stdout

    def refused(self, *words: str, cwd: Path | None = None, status: int = 1, **environ: str) -> str:
        """Run `kg`, which must end with one sentence on stderr and nothing else; the sentence."""
        done = self.run(*words, cwd=cwd, **environ)
        assert (done.returncode, done.stdout) == (status, ""), (words, done)
        (line,) = done.stderr.splitlines()
        assert line.startswith("kg: ")
        return line.removeprefix("kg: ")

    def python(self, code: str, cwd: Path) -> subprocess.CompletedProcess[str]:
        """Run a line of Python in the environment of `kg`."""
        return subprocess.run(
            [sys.executable, "-P", "-c", code],
            env=self.environ,
            cwd=cwd,
            capture_output=True,
            encoding="utf-8",
            timeout=GIVE_UP_S,
            check=False,
        )

    # --- the server process itself

    @contextmanager
    def server(self, **environ: str) -> Iterator[ServerProcess]:
        """A server in the foreground, answering; it is ended by its pid."""
        log = self.folder / f"foreground-{len(self._started)}.log"
        with log.open("wb") as output:
            process = ServerProcess(
                [sys.executable, "-P", "-m", "kg_server"],
                env={**self.environ, **environ},
                cwd=self.home,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )
        process.log_path = log
        self._started.append(process.pid)
        try:
            until(lambda: self._is_up(process), "the server answers")
            yield process
        finally:
            process.terminate()
            process.wait(GIVE_UP_S)

    def _is_up(self, process: ServerProcess) -> bool:
        assert process.poll() is None, f"the server ended: {process.log()}"
        return (self.state / "endpoint").exists() and self.health_or_none() is not None

    def failing_server(self, **environ: str) -> tuple[int, str]:
        """A server that must not come up: its exit status, and what it said."""
        done = subprocess.run(
            [sys.executable, "-P", "-m", "kg_server"],
            env={**self.environ, **environ},
            cwd=self.home,
            capture_output=True,
            encoding="utf-8",
            timeout=GIVE_UP_S,
            check=False,
        )
        return done.returncode, done.stderr

    # --- asking it

    def token(self) -> str:
        """The token that the server left."""
        return (self.state / "endpoint").read_text(encoding="ascii").split()[1]

    def health_or_none(self) -> dict[str, Any] | None:
        """What the server says of itself; None when nobody answers."""
        try:
            status, body = self.request("GET", "/health")
        except OSError:
            return None
        return dict(json.loads(body)) if status == 200 else None

    def health(self) -> dict[str, Any]:
        """What the running server says of itself."""
        found = self.health_or_none()
        assert found is not None
        return found

    def hook(self, event: str, payload: Mapping[str, Any]) -> tuple[int, bytes]:
        """A hook event of Acme's: status and output."""
        headers = {"Authorization": f"Bearer {self.token()}", "User-Agent": "kg-hook/1 (acme)"}
        return self.request("POST", f"/api/hook/{event}", json.dumps(payload), headers)

    def request(
        self, method: str, path: str, body: str | None = None, headers: Mapping[str, str] | None = None
    ) -> tuple[int, bytes]:
        """One exchange with the server."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=GIVE_UP_S)
        try:
            connection.request(method, path, body, dict(headers or {}))
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    # --- the end

    def processes(self) -> Sequence[psutil.Process]:
        """Living server processes of this machine, whoever started them."""
        found = []
        for process in psutil.process_iter():
            try:
                if process.status() != psutil.STATUS_ZOMBIE and self._is_ours(process):
                    found.append(process)
            except (psutil.NoSuchProcess, psutil.AccessDenied):
                continue
        return found

    def _is_ours(self, process: psutil.Process) -> bool:
        return "kg_server" in process.cmdline() and process.environ().get("KG_STORAGE_ROOT") == str(self.store)

    def close(self) -> None:
        """End every server that was started for this machine."""
        for process in self.processes() if self.store.exists() or any(self.folder.rglob("server.log")) else ():
            process.kill()  # who collects it is its parent's affair
