"""One user's machine: a home, a project, a memory of its own, and the commands that a client starts there."""

from __future__ import annotations

import contextlib
import copy
import http.client
import json
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import kg_harness_claude
import psutil

from .recorded import VERSIONS, recorded
from .shim import GIVE_UP_S, Shim

PLUGIN = Path(kg_harness_claude.__file__).parent / "plugin"
COMMANDS = Path(sys.executable).parent
NEWEST = VERSIONS[-1]


def as_an_ordinary_user() -> Sequence[str]:
    """What a command begins with so that file modes hold for it: root may otherwise write to any folder."""
    setpriv = shutil.which("setpriv") if os.geteuid() == 0 else None
    return [setpriv, "--bounding-set=-dac_override,-dac_read_search"] if setpriv else []


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
    return port


def until(reached: Callable[[], bool], what: str) -> None:
    """Wait for something that another process does; a bounded time."""
    deadline = time.monotonic() + GIVE_UP_S
    while not reached():
        assert time.monotonic() < deadline, f"in vain: {what}"
        select.select([], [], [], 0.01)


def client_command(plugin: Path, event: str) -> tuple[list[str], int]:
    """How the plugin has its client start the hook of an event, and the seconds that the client gives it."""
    (group,) = json.loads((plugin / "hooks" / "hooks.json").read_text("utf-8"))["hooks"][event]
    (entry,) = group["hooks"]
    words = [word.replace("${CLAUDE_PLUGIN_ROOT}", str(plugin)) for word in (entry["command"], *entry["args"])]
    return words, entry["timeout"]


class Hook:
    """One hook process with its payload written."""

    def __init__(
        self, command: Sequence[str], payload: bytes, limit_s: int, environ: Mapping[str, str], folder: Path
    ) -> None:
        self._limit_s = limit_s
        self._process = subprocess.Popen(
            command,
            env=dict(environ),
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError), self._process.stdin as stdin:  # broken: it ended without reading
            stdin.write(payload)
        self._process.stdin = None

    def output(self) -> dict[str, Any]:
        """What it printed, `{}` for silence. It must end well, without a complaint, within the client's own limit."""
        try:
            out, err = self._process.communicate(timeout=self._limit_s)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()
            raise
        assert (self._process.returncode, err) == (0, b"")
        return dict(json.loads(out)) if out else {}


class House:
    """All that a client needs; each house is apart from every other. `commands` is the folder with `kg` and python3."""

    def __init__(
        self, folder: Path, commands: Path = COMMANDS, plugin: Path = PLUGIN, environ: Mapping[str, str] | None = None
    ) -> None:
        self.home, self.store, self.temporary = folder / "home", folder / "store", folder / "tmp"
        self.project = self.home / "work" / "shop"
        self.port = free_port()
        self.state = folder / "state" / "knowledge-graph" / f"port-{self.port}"
        self.plugin = plugin
        self._prefix = as_an_ordinary_user()
        for made in (self.project, self.temporary):
            made.mkdir(parents=True)
        self.environ = {
            "HOME": str(self.home),
            "PATH": os.pathsep.join([str(commands), os.defpath]),
            "TMPDIR": str(self.temporary),
            "XDG_STATE_HOME": str(folder / "state"),
            "KG_STORAGE_ROOT": str(self.store),
            "KG_HTTP_PORT": str(self.port),
            "KG_HOUSE": str(folder),  # marks every process that is started in this house
            **(environ or {}),
        }
        self._kg = str(commands / "kg")
        self._shims: list[Shim] = []

    def lodger(self, name: str) -> House:
        """Another project in this house, with the same home, memory and server."""
        lodger = copy.copy(self)
        lodger.project = self.project.with_name(name)
        lodger.project.mkdir()
        lodger._shims = []
        return lodger

    def leave(self) -> None:
        """End what a lodger started; the server stays."""
        for shim in self._shims:
            shim.close()

    # --- what a client sends

    def payload(self, name: str, session: str = "", version: str = NEWEST, **fields: Any) -> dict[str, Any]:
        """A recorded payload, of this house's project; sessions of one name in two projects are two."""
        session = session and f"{session}-of-{self.project.name}"
        return recorded(version, name, self.home, self.project, session, **fields)

    def start_hook(self, payload: Mapping[str, Any], **environ: str) -> Hook:
        """Start the hook process of a payload's event."""
        data = json.dumps(payload).encode()
        command, limit_s = client_command(self.plugin, payload["hook_event_name"])
        return Hook([*self._prefix, *command], data, limit_s, {**self.environ, **environ}, self.project)

    def hook(self, name: str, session: str = "", version: str = NEWEST, **fields: Any) -> dict[str, Any]:
        """Run the hook of a recorded payload to its end; its output."""
        return self.start_hook(self.payload(name, session, version, **fields)).output()

    def begin(self, session: str, version: str = NEWEST) -> str:
        """A conversation begins; the memory session that its preload names."""
        found = re.search(r"session_id: ([0-9a-f]{8})\b", context(self.hook("SessionStart.startup", session, version)))
        assert found, "the preload names no session"
        return found[1]

    def prompt(self, session: str, text: str, version: str = NEWEST) -> str:
        """A person types a prompt; what is added to it, '' for silence."""
        return context(self.hook("UserPromptSubmit", session, version, prompt=text))

    # --- what a client and a person start

    def shim(self, **environ: str) -> Shim:
        """A `kg mcp` that has been introduced to its client."""
        shim = Shim([*self._prefix, self._kg, "mcp"], {**self.environ, **environ}, self.project)
        self._shims.append(shim)
        shim.initialize()
        return shim

    def run(self, *words: str, **environ: str) -> subprocess.CompletedProcess[str]:
        """Run `kg` to its end."""
        return subprocess.run(
            [*self._prefix, self._kg, *words],
            env={**self.environ, **environ},
            cwd=self.project,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=GIVE_UP_S,
        )

    def kg(self, *words: str, **environ: str) -> str:
        """Run `kg`, which must end well and without a complaint; its output."""
        done = self.run(*words, **environ)
        assert (done.returncode, done.stderr) == (0, ""), (words, done)
        return done.stdout

    def refused(self, *words: str, **environ: str) -> str:
        """Run `kg`, which must fail with one sentence and nothing else; the sentence."""
        done = self.run(*words, **environ)
        assert done.returncode != 0, (words, done)
        assert done.stdout == ""
        (line,) = done.stderr.splitlines()
        assert line.startswith("kg: ")
        return line.removeprefix("kg: ")

    # --- the server

    def health(self) -> dict[str, Any]:
        """What the server says of itself."""
        status, body = self.request("GET", "/health")
        assert status == 200
        return dict(json.loads(body))

    def request(self, method: str, path: str, body: str = "", **headers: str) -> tuple[int, bytes]:
        """One exchange with the server, without a token."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=GIVE_UP_S)
        with contextlib.closing(connection):
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.read()

    def servers(self) -> list[psutil.Process]:
        """The living server processes of this house."""
        return [one for one in self.processes() if one.cmdline()[-2:] == ["-m", "kg_server"]]

    def kill_server(self) -> None:
        """End the server as a power cut does."""
        (server,) = self.servers()
        server.kill()
        until(lambda: not self.is_listened_to() and server not in self.processes(), "the killed server is gone")

    def is_listened_to(self) -> bool:
        """Whether anything takes connections on the port; a process that is ending still does, for a moment."""
        with contextlib.suppress(ConnectionError), socket.create_connection(("127.0.0.1", self.port), GIVE_UP_S):
            return True
        return False

    @contextlib.contextmanager
    def stopped_server(self) -> Iterator[None]:
        """The server takes connections meanwhile, as the system does that for it, and answers nothing."""
        (server,) = self.servers()
        server.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            server.send_signal(signal.SIGCONT)

    def processes(self) -> list[psutil.Process]:
        """Every living process that was started in this house."""
        found = []
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied):
                ours = process.environ().get("KG_HOUSE") == self.environ["KG_HOUSE"]
                if ours and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process)
        return found

    def falls_silent(self) -> bool:
        """Wait until no process of this house is left: a `kg start` outlives the hook that it was started by."""
        until(lambda: not self.processes(), "the last process of the house ends")
        return True

    def close(self) -> None:
        """End whatever is left."""
        self.leave()
        while left := self.processes():
            for process in left:
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.kill()

    # --- the files

    def remember(self, gists: Mapping[str, str], *, archived: bool = False) -> None:
        """Put nodes of the user level into the store, as a stopped server would have left them."""
        path = self.store / "user.json"
        self.store.mkdir(exist_ok=True)
        graph = json.loads(path.read_text("utf-8")) if path.exists() else {"nodes": {}, "edges": {}, "_meta": {}}
        tier = {"_archived": True} if archived else {}
        for name, gist in gists.items():
            graph["nodes"][name] = {"id": name, "gist": gist, "_created_ts": time.time(), **tier}
        path.write_text(json.dumps(graph, ensure_ascii=False), "utf-8")

    def fill(self) -> None:
        """Fill the user level almost to its budget, so that what is archived stays archived."""
        text = "an older lesson about the matter of that number, kept long enough to take up some room in the memory"
        self.remember({f"filler-{number:03d}": f"Filler {number}, {text}, {text}" for number in range(82)})

    @property
    def graph_file(self) -> Path:
        """The snapshot of the project."""
        return self.store / "projects" / self.project.name / "graph.json"

    @property
    def journal_file(self) -> Path:
        """The open journal of the project."""
        return self.graph_file.with_name("graph.journal.jsonl")

    def saved(self) -> dict[str, Any]:
        """The nodes of the project's snapshot, which is complete once the server has stopped."""
        return dict(json.loads(self.graph_file.read_text("utf-8"))["nodes"])


def context(output: Mapping[str, Any]) -> str:
    """What a hook's output adds to the conversation."""
    return str(output.get("hookSpecificOutput", {}).get("additionalContext", ""))


def together(*tasks: Callable[[], Any]) -> list[Any]:
    """Run the tasks at the same time; their results in order."""
    with ThreadPoolExecutor(len(tasks)) as pool:
        return [future.result(GIVE_UP_S) for future in [pool.submit(task) for task in tasks]]
