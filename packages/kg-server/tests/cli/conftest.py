"""What the tests of the command line share: a memory with a lesson at each level, before any server runs."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from graph_builders import graph_of
from kg_processes import Machine
from kg_server.cli.main import main
from kg_server.graph.model import Node
from kg_server.storage.json_files import JsonFiles
from kg_server.storage.layout import USER, GraphKey, Layout
from kg_server.storage.snapshot import copy_of


@pytest.fixture
def remembering(machine: Machine) -> Machine:
    """A machine whose user level knows `habit` and whose project knows `lesson`."""
    storage = JsonFiles(Layout(machine.store))
    habit: Node = {"id": "habit", "gist": "A habit."}
    lesson: Node = {"id": "lesson", "gist": "A lesson."}
    storage.write_snapshot(USER, copy_of(graph_of(habit, level="user")))
    meta = {"project_path": str(machine.project)}
    storage.write_snapshot(GraphKey("project", "app"), copy_of(graph_of(lesson, meta=meta)))
    storage.close()
    return machine


@pytest.fixture
def served(remembering: Machine) -> Machine:
    """The same, with its server running."""
    remembering.kg("start")
    return remembering


@pytest.fixture
def environment(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """This process in the machine's environment."""
    for name, value in machine.environ.items():
        if name.startswith(("KG_", "XDG_")) or name == "HOME":
            monkeypatch.setenv(name, value)
    return machine


class Here:
    """`kg` carried out in this process: the same words and answers as `Machine.run`, without a new interpreter."""

    def __init__(self, machine: Machine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._machine = machine
        self._monkeypatch = monkeypatch
        self._capsys = capsys

    def run(self, *words: str, cwd: Path | None = None, **environ: str) -> tuple[int, str, str]:
        """Exit status, output and errors; an empty variable is taken away."""
        with self._monkeypatch.context() as patch:
            for name, value in environ.items():
                patch.setenv(name, value) if value else patch.delenv(name, raising=False)
            patch.chdir(cwd or self._machine.home)
            patch.setattr("sys.argv", ["kg", *words])
            with pytest.raises(SystemExit) as end:
                main()
        said = self._capsys.readouterr()
        return int(end.value.code or 0), said.out, said.err

    def kg(self, *words: str, cwd: Path | None = None, **environ: str) -> str:
        """A command that must end well; its output."""
        status, out, err = self.run(*words, cwd=cwd, **environ)
        assert (status, err) == (0, ""), words
        return out

    def refused(self, *words: str, cwd: Path | None = None, status: int = 1, **environ: str) -> str:
        """A command that must end with one sentence on stderr and nothing else; the sentence."""
        ended, out, err = self.run(*words, cwd=cwd, **environ)
        assert (ended, out) == (status, ""), words
        (line,) = err.splitlines()
        assert line.startswith("kg: ")
        return line.removeprefix("kg: ")


@pytest.fixture
def here(environment: Machine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Here:
    """`kg` in this process, in the machine's environment."""
    return Here(environment, monkeypatch, capsys)


@contextmanager
def _foreign(body: bytes, status: int = 200, port: int = 0) -> Iterator[int]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            return

    with http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


@pytest.fixture
def foreign() -> Callable[..., AbstractContextManager[int]]:
    """Run a program that is no kg server: foreign(body, status, port) answers every GET in this way; gives its port."""
    return _foreign
