"""What the tests of the command line share: a memory with a lesson at each level, before any server runs."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pytest
from graph_builders import graph_of
from kg_processes import Machine
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
def environment(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """This process in the machine's environment."""
    for name, value in machine.environ.items():
        if name.startswith(("KG_", "XDG_")) or name == "HOME":
            monkeypatch.setenv(name, value)
    return machine


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
